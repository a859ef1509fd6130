"""The answers over HTTP: the same as the command line's, errors with stable codes, limits, and nothing but what is listed."""

import asyncio
import csv
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
import warnings

import pytest
from click.testing import CliRunner
from conftest import ROOT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

from solver import __version__
from solver.cli import group
from solver.errors import MorrisError, adding
from solver.server import CODES, MOST_QUERY, make_app, web_files
from solver.service import MOST_MOVES, Service
from solver.subspace import moving_pairs, placing_subspaces
from solver.variant import VARIANTS, get_variant

MILL_IN_ONE = "BB..W.../....W.../...W...B b 0,0"


def client_of(app):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of starlette prefer another client
        from starlette.testclient import TestClient
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture(scope="module")
def client(small_tables):
    with client_of(make_app(small_tables)) as client:
        yield client


def command(*words):
    """What a command prints, and its exit code."""
    result = CliRunner().invoke(group, words)
    code = result.exception.exit_code if isinstance(result.exception, MorrisError) else result.exit_code
    return result.stdout, code


# ---------------------------------------------------------------- answers

QUESTIONS = [
    ("six", {"moves": ""}),
    ("six", {"moves": "a5 c5 e5 e3 e1"}),
    ("six", {"moves": "a5 b4 c5 c4 e5"}),  # a capture is owed
    ("six", {"position": "WW.W.B../B.BB.... w 0,0"}),
    ("nine", {"position": "BB..W.../....W.../...W...B w 0,0"}),
    ("nine", {"position": MILL_IN_ONE}),
    ("nine", {"position": "**O***@*/***O****/@**O***@ w m s 3 0 3 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes"}),
    ("nine", {"position": "WWW...../BB....../........ b 0,0"}),  # Black has lost
    ("nine", {"moves": ""}),  # its table is missing
    ("nine", {"moves": "d6 f4 b4 g4 e4 f6 f2 d2 b2 b6 g7 a7 a1 g1 d1"}),
]


def asked(variant, question):
    """The same question on the command line."""
    words = ["--moves", question["moves"]] if "moves" in question else [question["position"]]
    return ["query", "--json", "-V", variant, *words]


@pytest.mark.parametrize("variant, question", QUESTIONS)
def test_position_answers_as_query_does(client, small_tables, variant, question):
    response = client.get("/v1/position", params={"variant": variant, **question})
    printed, code = command(*asked(variant, question), "--time-limit", "0", "--data", str(small_tables))
    assert response.status_code == 200
    assert response.json() == json.loads(printed)
    assert ("morris-missing-tables" in response.headers) == ("unknown" in printed)
    assert (code == 3) == (response.json()["outcome"] == "unknown")


@pytest.mark.parametrize("variant, question", QUESTIONS)
def test_line_answers_as_query_does(client, small_tables, variant, question):
    response = client.get("/v1/line", params={"variant": variant, **question})
    printed, _ = command(*asked(variant, question), "--line", "--data", str(small_tables))
    answer = response.json()
    assert answer == json.loads(printed)
    if answer["outcome"] in ("win", "loss"):
        assert [step["dtw_plies"] for step in answer["line"]] == list(range(answer["dtw_plies"], 0, -1))


def test_nine_is_the_default(client):
    assert client.get("/v1/position", params={"position": MILL_IN_ONE}).json()["variant"] == "nine"


def test_unknown_is_not_draw_and_the_table_is_named(client):
    response = client.get("/v1/position?moves=&details=1")
    answer = response.json()
    assert (answer["outcome"], answer["dtw_plies"]) == ("unknown", None)
    assert {turn["outcome"] for turn in answer["moves"]} == {"unknown"}
    assert response.headers["morris-missing-tables"] == "0-0+9-9 0-1+9-8"
    assert answer["details"]["missing"] == ["0-0+9-9", "0-1+9-8"]


def test_moves_are_played_from_a_position(client):
    def ask(**question):
        return client.get("/v1/position", params={"variant": "six", **question}).json()

    assert ask(position="WB....../........ w 5,5", moves="e5 e3") == ask(moves="a5 c5 e5 e3")
    assert ask(position="WB....../........ w 5,5", moves="") == ask(moves="a5 c5")
    owed = ask(position="WW....../BB...... w 4,4", moves="e5")
    assert owed["position"].endswith(" x") and {turn["move"] for turn in owed["moves"]} == {"xb4", "xc4"}
    assert ask(position=owed["position"], moves="xb4") == ask(position="WW....../BB...... w 4,4", moves="e5 xb4")
    # A position in the moves themselves does not win over the one that is given.
    tagged = '[FEN "B......./W....... w 5,5"] e5'
    assert ask(position="WB....../........ w 5,5", moves=tagged)["position"] == "WBW...../........ b 4,5"


def test_details(client):
    def details(**question):
        return client.get("/v1/position", params={"details": "1", **question}).json()["details"]

    found = details(position="BB..W.../....W.../...W...B w 0,0")
    assert found["words"] == "White wins in 9 plies, 5 own turns."
    assert (found["own_turns"], found["subspace"], found["missing"], found["note"]) == (5, "3-3", [], None)
    assert found["notations"]["mfen"].startswith("MFEN/1.0 mill24-state-v1 BB..W.../....W.../...W...B w m m 0,0")
    assert found["notations"]["sanmill"].startswith("**O***@*/***O****/@**O***@ w m s 3 0 3 0 0 0")
    owed = details(variant="six", moves="a5 b4 c5 c4 e5")
    assert owed["capture_owed"] and owed["subspace"] == "1-3+4-3"
    assert owed["notations"]["mfen"] is None
    assert details(position=MILL_IN_ONE, moves="c4-g7")["subspace"] is None  # any removal ends the game
    assert "more mills than" in details(variant="six", position="WWW...../BBB..... w 3,3")["note"]


def test_stats_of_all_subspaces(client, small_tables):
    for phase in ("moving", "placing"):
        found = client.get("/v1/stats", params={"variant": "six", "phase": phase}).json()["subspaces"]
        printed, _ = command("stats", "-V", "six", "--phase", phase, "--format", "csv", "--data", str(small_tables))
        rows = list(csv.DictReader(io.StringIO(printed)))
        assert [{k: "" if row[k] is None else str(row[k]) for k in rows[0]} for row in found] == rows
        again = client.get("/v1/stats", params={"variant": "six", "phase": phase}).json()["subspaces"]
        assert again == found


@pytest.mark.parametrize("variant, subspace", [("nine", "3-3"), ("six", "3-4+2-2"), ("six", "3-4 2-2")])
def test_depths_of_a_subspace(client, variant, subspace):
    (row,) = client.get("/v1/stats", params={"variant": variant, "subspace": subspace}).json()["subspaces"]
    depths = row["depths"]
    assert row["subspace"] == subspace.replace(" ", "+")
    assert sum(n for _, n in depths["win"]) == row["wins"] and max(depths["win"])[0] == row["longest_win_plies"]
    assert sum(n for _, n in depths["loss"]) == row["losses"] and max(depths["loss"])[0] == row["longest_loss_plies"]
    assert depths["draw"] == row["draws"]
    assert all(plies % 2 for plies, _ in depths["win"]) and not any(plies % 2 for plies, _ in depths["loss"])


def test_tables(client, nine_store):
    answer = client.get("/v1/tables").json()
    nine = get_variant("nine")
    assert [t["subspace"] for t in answer["tables"]] == [s.name for s in moving_pairs(nine) + placing_subspaces(nine)]
    present = [t["subspace"] for t in answer["tables"] if t["present"]]
    assert present == [s.name for s in moving_pairs(nine) if s.stones_on_board <= 8]
    assert answer["present"] == len(present) and answer["missing"] == len(answer["tables"]) - len(present)
    assert all((t["bytes"] is not None) == t["present"] for t in answer["tables"])
    assert answer["fingerprint"] == nine.fingerprint


def test_variants(client):
    answer = client.get("/v1/variants").json()
    assert [v["variant"] for v in answer] == list(VARIANTS)
    for found in answer:
        board = get_variant(found["variant"]).board
        assert [tuple(ring) for ring in found["rings"]] == list(board.rings)
        assert len(found["edges"]) == len(board.edges)
    assert {v["variant"] for v in answer if v["has_tables"]} >= {"nine", "six"}


def test_convert(client):
    def convert(text, variant="nine"):
        return client.get("/v1/convert", params={"variant": variant, "text": text}).json()

    game = convert("1. d6 f4 {good} 2. B4 g4 3. 19 10")
    assert (game["start"], game["moves"]) == ("......../......../........ w 9,9", ["d6", "f4", "b4", "g4", "b2", "a4"])
    for form in (game["position"], game["mfen"], game["sanmill"]):
        again = convert(form)
        assert again["position"] == again["start"] == game["position"] and again["moves"] == []
    assert convert("a5 b4 c5 c4 e5", "six")["position"].endswith(" x")
    assert convert('[FEN "WW....../BB...... w 4,4"] e5xb4', "six")["start"] == "WW....../BB...... w 4,4"
    assert convert("") == convert("......../......../........ w 9,9")
    assert convert("WWW...../BBB..... w 3,3", "six")["note"]


def test_health(client):
    assert client.get("/healthz").json() == {"status": "ok", "version": __version__}


# ---------------------------------------------------------------- errors

ERRORS = [
    ("/v1/position", "input"),
    ("/v1/position?variant=fifteen&moves=", "input"),
    ("/v1/position?position=", "input"),
    ("/v1/position?position=W", "input"),
    ("/v1/position?position=%00%ff", "input"),
    ("/v1/position?position=......../......../........%20w%208,9", "input"),
    ("/v1/position?moves=d6%20d6", "input"),
    ("/v1/position?moves=d6&moves=d7", "input"),
    ("/v1/position?moves=d6&move=d7", "input"),
    ("/v1/position?moves=&details=yes", "input"),
    ("/v1/position?" + "&".join(f"a{i}=1" for i in range(20)), "input"),
    ("/v1/position?position=" + "W" * 500, "input"),
    ("/v1/position?moves=" + "a" * (MOST_MOVES + 1), "too-long"),
    ("/v1/position?position=" + "W" * MOST_QUERY, "too-long"),
    ("/v1/convert?text=" + "a" * (MOST_MOVES + 1), "too-long"),
    ("/v1/convert", "input"),
    ("/v1/convert?text=zz", "input"),
    ("/v1/line", "input"),
    ("/v1/stats?subspace=99-99", "input"),
    ("/v1/stats?subspace=9-9", "missing-table"),
    ("/v1/stats?phase=sleeping", "input"),
    ("/v1/tables?variant=..%2Fnine", "input"),
    ("/v1/variants?x=1", "input"),
    ("/v1/nothing", "not-found"),
    ("/v1/position/", "not-found"),
    ("/web/index.html", "not-found"),
    ("/index.html", "not-found"),
    ("/../server.py", "not-found"),
    ("/..%2fserver.py", "not-found"),
    ("//etc/passwd", "not-found"),
    ("/%2e%2e/%2e%2e/etc/passwd", "not-found"),
    ("/nine/3-3.h5", "not-found"),
]


@pytest.mark.parametrize("path, code", ERRORS, ids=lambda value: value[:50])
def test_errors_are_json_with_a_stable_code(client, small_tables, path, code):
    response = client.get(path)
    assert (response.status_code, response.json()["code"]) == (CODES[code], code)
    message = response.json()["error"]
    assert message and "\n" not in message and len(message) < 400
    assert str(small_tables) not in response.text and "Traceback" not in response.text
    if code == "missing-table":
        assert response.json()["table"] == "9-9"


def test_only_get(client):
    for method in ("post", "put", "delete", "options"):
        response = client.request(method, "/v1/position?moves=")
        assert (response.status_code, response.json()["code"]) == (405, "method")


def test_reason_of_a_bad_game(client):
    message = client.get("/v1/position?moves=d6 f4 b4 f4").json()["error"]
    assert message == "ply 4: f4 is occupied (turn f4)"


def test_damaged_table(small_tables, tmp_path, capsys):
    shutil.copytree(small_tables / "nine", tmp_path / "nine")
    path = tmp_path / "nine" / "3-3.h5"
    path.write_bytes(path.read_bytes()[:-100])
    with client_of(make_app(tmp_path)) as client:
        response = client.get("/v1/position", params={"position": "BB..W.../....W.../...W...B w 0,0"})
    assert (response.status_code, response.json()["code"]) == (500, "damaged-table")
    assert str(tmp_path) not in response.text
    assert str(path) in capsys.readouterr().err  # for the owner


def test_a_fault_of_ours_is_told_without_its_text(small_tables, monkeypatch):
    def broken(self, **question):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Service, "position", broken)
    with client_of(make_app(small_tables)) as client:
        response = client.get("/v1/position?moves=")
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert "secret" not in response.text


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("path, at_once", [("/v1/position", 3), ("/v1/line", 3)])
def test_requests_at_once(small_tables, monkeypatch, path, at_once):
    go = threading.Event()

    def waiting(self, **question):
        assert go.wait(30)
        return {"done": True}, []

    monkeypatch.setattr(Service, path.rpartition("/")[2], waiting)
    app = make_app(small_tables, at_once)

    async def get(path):
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"moves=", "headers": []}
        await app({**scope, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send)
        return sent[0]["status"], json.loads(sent[1]["body"]), dict(sent[0]["headers"])

    async def many():
        waiting = [asyncio.create_task(get(path)) for _ in range(at_once)]
        await asyncio.sleep(0.05)
        refused = await get(path)
        go.set()
        return refused, await asyncio.gather(*waiting), await get(path)

    refused, served, after = asyncio.run(many())
    assert (refused[0], refused[1]["code"], refused[2][b"retry-after"]) == (503, "busy", b"1")
    assert [status for status, _, _ in served] == [200] * at_once
    assert after[0] == 200 and app.at_work == 0


# ---------------------------------------------------------------- the page's files and the description


def test_page_is_whole_and_needs_nothing_from_outside(client):
    contents = web_files()
    for path, content in contents.items():
        response = client.get(path)
        assert response.status_code == 200
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert client.get(path, headers={"If-None-Match": response.headers["etag"]}).status_code == 304
        if path == "/openapi.json":
            continue
        text = content.decode()
        assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}
        linked = re.findall(r'(?:href|src)="([^"#]+)"|from "\./([^"]+)"', text)
        for name in ("".join(pair) for pair in linked):
            assert f"/{name}" in contents, f"{path} needs {name}"
    assert client.get("/").headers["content-type"].startswith("text/html")


def test_openapi_describes_what_is_there(client):
    description = client.get("/openapi.json").json()
    assert description["info"]["version"] == __version__
    routes = {route.path for route in make_app("nowhere").app.routes}
    assert set(description["paths"]) == {path for path in routes if path.startswith("/v1") or path in ("/healthz", "/openapi.json")}
    for path, item in description["paths"].items():
        named = [parameter["name"] for parameter in item["get"]["parameters"]]
        if path.startswith("/v1"):
            assert client.get(f"{path}?zz=1").json()["error"].endswith(f"there are {', '.join(named) or 'none'}")
        answer = item["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert answer
    assert set(description["components"]["schemas"]["Error"]["properties"]["code"]["enum"]) == set(CODES)


def test_answers_have_the_shape_that_is_described(client):
    description = client.get("/openapi.json").json()

    def check(value, schema, where):
        if "$ref" in schema:
            return check(value, description["components"]["schemas"][schema["$ref"].rpartition("/")[2]], where)
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kind = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", type(None): "null"}[type(value)]
        assert kind in kinds, where
        if kind == "object" and "properties" in schema:
            assert set(schema["required"]) <= set(value) <= set(schema["properties"]), where
            for name, part in value.items():
                check(part, schema["properties"][name], f"{where}.{name}")
        elif kind == "array":
            for part in value:
                check(part, schema["items"], f"{where}[]")
        elif "enum" in schema:
            assert value in schema["enum"], where
        return None

    for path in (
        "/v1/position?variant=six&moves=", "/v1/position?moves=&details=1", "/v1/line?variant=six&moves=a5", "/v1/line?moves=",
        "/v1/stats?variant=six", "/v1/stats?variant=six&subspace=3-3", "/v1/tables", "/v1/variants", "/v1/convert?text=d6", "/healthz",
    ):  # fmt: skip
        schema = description["paths"][path.partition("?")[0]]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        check(client.get(path).json(), schema, path)


# ---------------------------------------------------------------- the command


def test_serve_says_what_is_wrong(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(group, ["serve", "--port", str(taken.getsockname()[1]), "--data", str(tmp_path)])
        assert result.exception.exit_code == 2 and "cannot listen on '127.0.0.1'" in str(result.exception)
    result = CliRunner().invoke(group, ["serve", "--host", "300.1.1.1", "--data", str(tmp_path)])
    assert result.exception.exit_code == 2 and "\n" not in str(result.exception)
    for name in ("uvicorn", "starlette"):
        with monkeypatch.context() as missing:
            missing.setitem(sys.modules, name, None)
            result = CliRunner().invoke(group, ["serve"])
            assert result.exception.exit_code == 2
            assert str(result.exception) == f"serve needs the library {name}; {adding('web')}"


def test_serve_listens_on_loopback_and_ends_on_interrupt(small_tables):
    words = [sys.executable, "-c", "from solver.cli import main; main()", "serve", "--port", "0", "--data", str(small_tables)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=ROOT) as server:
        url = re.fullmatch(r"morris: (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)\n", server.stderr.readline())[1]
        with urllib.request.urlopen(url + "healthz", timeout=20) as response:
            assert json.load(response)["status"] == "ok"
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
        assert server.stderr.read() == ""


def test_tables_of_outcomes_have_no_depths(outcome_tables):
    service = Service(outcome_tables)
    answer, missing = service.stats("nine", subspace="4-4")
    row = answer["subspaces"][0]
    assert missing == [] and (row["wins"], row["longest_win_plies"]) == (159, None)
    assert row["depths"] == {"win": [[None, 159]], "loss": [[None, 29]], "draw": 3225409}
    won, missing = service.position("nine", "BB..W.../....W.../...W...B w 0,0", details="1")
    assert (won["outcome"], won["dtw_plies"], missing) == ("win", None, [])
    assert won["details"]["words"] == "White wins; in how many plies is not known."
    service.close()
