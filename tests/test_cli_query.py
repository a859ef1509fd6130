"""The commands query, convert and annotate: their whole output, exit codes, and one line for every error."""

import json
import shutil
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import published
import pytest
from conftest import build_tables
from test_query import random_positions

from solver import cli
from solver.build import moving_targets
from solver.cli import asking
from solver.limited import LimitedTables
from solver.metric import Metric
from solver.moves import format_turn
from solver.notation import format_mfen, format_sanmill
from solver.position import format_own_form, parse_own_form, start
from solver.query import open_tables
from solver.render import mark, own_forms, png_board, svg_board
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")
WON = "BB..W.../....W.../...W...B w 0,0"
SMALL_WIN = "WW.W.B../B.BB.... w 0,0"


@pytest.fixture
def morris(small_tables, monkeypatch, capfd, tmp_path):
    """Runs a command line in this process, on the small tables; gives exit code, stdout and stderr."""
    monkeypatch.setenv("MORRIS_DATA", str(small_tables))

    def run(*arguments, stdin=b""):
        given = tmp_path / "stdin"
        given.write_bytes(stdin)
        with open(given, "rb") as file:
            monkeypatch.setattr(sys, "argv", ["morris", *map(str, arguments)])
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file, isatty=lambda: False))
            with pytest.raises(SystemExit) as stop:
                cli.main()
        out, err = capfd.readouterr()
        return SimpleNamespace(code=stop.value.code or 0, out=out, err=err)

    return run


def refused(result, code):
    """An error is one line, and nothing else."""
    assert result.code == code, result
    assert result.err.startswith("morris: ") and result.err.count("\n") == 1 and len(result.err) < 400
    return result.err


# ---------------------------------------------------------------- query


def test_text(morris):
    result = morris("query", "-V", "six", SMALL_WIN)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "5   W-------W-------.\n"
        "    |       |       |\n"
        "4   |   B---.---B   |\n"
        "    |   |       |   |\n"
        "3   .---.       B---W\n"
        "    |   |       |   |\n"
        "2   |   .---.---.   |\n"
        "    |       |       |\n"
        "1   .-------B-------.\n"
        "    a   b   c   d   e\n"
        "White to move\n"
        "\n"
        "White wins in 5 plies, 3 own turns.\n"
        "\n"
        "8 turns of White, best first:\n"
        "  turn      outcome  plies  own turns\n"
        "  e3-e5xd4  win          5          3\n"
        "  e3-e5xd3  win          5          3\n"
        "  a5-a3     loss         4          2\n"
        "  c5-e5     loss         4          2\n"
        "  c5-c4     loss         4          2\n"
        "  e3-e5xc1  loss         4          2\n"
        "  e3-e5xb4  loss         4          2\n"
        "  e3-e1     loss         4          2\n"
    )


def test_line_is_printed(morris):
    result = morris("query", "-V", "six", "--line", SMALL_WIN)
    assert result.code == 0
    assert result.out.partition("\nBest line:\n")[2] == (
        "  ply  side   turn      outcome  plies  own turns\n"
        "    1  White  e3-e5xd4  win          5          3\n"
        "    2  Black  c1-e1     loss         4          2\n"
        "    3  White  a5-a3     win          3          2\n"
        "    4  Black  e1-e3     loss         2          1\n"
        "    5  White  a3-a5xe3  win          1          1\n"
        "The game ends: Black has only 2 stones left.\n"
    )
    drawn = morris("query", "-V", "six", "--line", "--moves", "")
    assert drawn.out.splitlines()[-1].startswith("Then the position before ply ")


def test_json_is_exactly_that_object(morris):
    result = morris("query", "--json", WON)
    assert (result.code, result.err, result.out.count("\n")) == (0, "", 1)
    answer = json.loads(result.out)
    moves = answer.pop("moves")
    assert answer == {"variant": "nine", "position": WON, "to_move": "white", "outcome": "win", "dtw_plies": 9}
    assert len(moves) == 54 and all(list(m) == ["move", "outcome", "dtw_plies"] for m in moves)
    assert moves[:3] == [
        {"move": "e4-g7", "outcome": "win", "dtw_plies": 9},
        {"move": "f2-g7", "outcome": "win", "dtw_plies": 17},
        {"move": "g1-g7", "outcome": "loss", "dtw_plies": 4},
    ]
    with_line = json.loads(morris("query", "--json", "--line", WON).out)
    assert [m["dtw_plies"] for m in with_line.pop("line")] == list(range(9, 0, -1))
    assert with_line == {**answer, "moves": moves}


def test_every_notation_is_read(morris):
    position = parse_own_form(WON, NINE)
    expected = morris("query", "--json", WON).out
    for text in (format_mfen(position, NINE), format_sanmill(position, NINE), f"  {WON}  "):
        assert morris("query", "--json", text).out == expected
    assert morris("query", "--json", *WON.split()).out == expected  # without quotes


def test_published_positions_by_json(morris):
    for row in published.rows("positions_nine"):
        answer = morris("query", "--json", row["position"])
        got = json.loads(answer.out)
        if got["outcome"] == "unknown":
            assert answer.code == 3 and got["dtw_plies"] is None
        else:
            assert (got["outcome"], got["dtw_plies"]) == (row["outcome"], row["dtw_plies"])


def test_missing_table(morris):
    text = morris("query", "--moves", "d6 f4")
    assert "\nUnknown.\n" in text.out
    assert "needs the placement tables; the table 1-1+8-8 of nine is missing" in text.out
    assert "1-1+8-8" in refused(text, 3)
    for tokens in (["--moves", ""], [format_own_form(start(NINE), NINE)]):
        answer = morris("query", "--json", *tokens)
        assert "needs the placement tables" in refused(answer, 3)
        got = json.loads(answer.out)
        assert (got["outcome"], got["dtw_plies"], len(got["moves"])) == ("unknown", None, 24)
        assert {(m["outcome"], m["dtw_plies"]) for m in got["moves"]} == {("unknown", None)}
    assert "4-5" in refused(morris("query", "WWWW..../BBBB...B/........ w 0,0"), 3)
    lined = morris("query", "--json", "--line", "WWWW..../BBBB...B/........ w 0,0")
    assert lined.code == 3 and json.loads(lined.out)["line"] is None


def test_a_line_needs_the_placement_tables_and_the_value_does_not(morris, small_tables, tmp_path, monkeypatch):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    monkeypatch.setenv("MORRIS_DATA", str(tmp_path))
    (tmp_path / "six").mkdir()
    for pair in moving_targets(SIX):
        shutil.copy(small_tables / "six" / f"{pair.name}.h5", tmp_path / "six")
    words = "query", "-V", "six", "--moves", "a5 e1 c5 a1", "--line"
    told = morris(*words)
    assert (told.code, told.err) == (0, "") and "White wins; in how many plies is not known." in told.out
    assert "The best line needs the placement tables; 'morris build -V six --phase placing' makes them." in told.out
    assert "Found by search" in told.out and "Best line:" not in told.out
    answer = morris(*words, "--json")
    found = json.loads(answer.out)
    assert (answer.code, found["outcome"], found["line"]) == (0, "win", None) and "The best line needs" in answer.err
    assert "e5xe1" in [m["move"] for m in found["moves"] if m["outcome"] == "win"]
    unsearched = morris(*words, "--time-limit", 0)
    assert unsearched.code == 3 and "\nUnknown.\n" in unsearched.out


def test_changed_rules_that_have_a_name_are_answered_from_its_tables(morris):
    answer = json.loads(morris("query", "-V", "ten", "--set", "stones=9", "--json", WON).out)
    assert (answer["variant"], answer["dtw_plies"]) == ("nine", 9)


def test_finished_positions(morris):
    blocked = morris("query", "WBWBWBWB/......../........ w 0,0")
    assert blocked.code == 0 and "White has lost (loss in 0 plies, 0 own turns): White has no legal turn." in blocked.out
    few = morris("query", "--line", "BBB...../WW....../........ w 0,0")
    assert "White has only 2 stones left." in few.out and "The game is over" in few.out


def test_owed_capture_and_impossible_positions_are_marked(morris):
    owed = morris("query", "-V", "six", "--moves", "a5 e1 c5 a1 e5")
    assert owed.code == 0 and "White to remove a stone" in owed.out
    assert "The last turn closes a mill and names no removal" in owed.out and "  xe1 " in owed.out
    impossible = "WWW...../BBB..... w 3,3"
    text = morris("query", "-V", "six", impossible)
    assert "Cannot arise in play: " in text.out
    answer = morris("query", "-V", "six", "--json", impossible)
    assert list(json.loads(answer.out)) == ["variant", "position", "to_move", "outcome", "dtw_plies", "moves"]
    assert "Cannot arise in play: " in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        [""], ["d4"], ["." * 23 + " w 0,0"], ["W" * 5000], ["X*******/********/******** w p p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1"],
        ["WWWWWWWW/WW....../BBB..... w 0,0"], [".......W/......../........ w 9,9"], ["--moves", "d6 d6"], ["--moves", "d4"],
        ["--moves", "a7 b6 d7 d6 g7 xf2"], [], [WON, "--moves", ""], ["-V", "chess", WON], ["--nothing", WON],
        ["--batch", "/does/not/exist"], ["--with-moves", WON], ["--moves", "", "--batch", "-"], ["--batch", "-", "--line"],
        ["--batch", "-", "--time-limit", "5"],
        ["--moves", "x\n\ny"], ["\x00"],
    ],
    ids=repr,
)  # fmt: skip
def test_bad_input_is_one_line(morris, arguments):
    result = morris("query", *arguments)
    refused(result, 2)
    assert result.out == ""


def test_a_game_that_goes_wrong_names_the_ply(morris):
    placed = "f2 b2 d7 d6 e3 e4 c5 f4 c4 a4 b4 d1 d5 g1 b6 g7 a7 c3"
    assert "ply 19: White has no stone left to place" in refused(morris("query", "--moves", f"{placed} e5"), 2)


def test_damaged_table(morris, small_tables, tmp_path):
    folder = tmp_path / "nine"
    folder.mkdir()
    for file in (small_tables / "nine").glob("*.h5"):
        (folder / file.name).write_bytes(file.read_bytes()[:-100])
    assert "4-3.h5" in refused(morris("query", "--data", tmp_path, "WWWW..../BBB...../........ w 0,0"), 4)
    result = morris("query", "--data", tmp_path, "--batch", "-", stdin=f"bad\n{WON}\nWBWBWBWB/......../........ w 0,0\n".encode())
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 4 and [a.get("code") for a in answers] == ["input", "damaged", "damaged"]


# ---------------------------------------------------------------- drawings


def test_svg(morris, tmp_path):
    file = tmp_path / "board.svg"
    assert morris("query", "-V", "six", "--svg", file, SMALL_WIN).code == 0
    drawing = ElementTree.fromstring(file.read_text())
    texts = [node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"W5", "W5x", "L4", "e3-e5xd4", "a5-a3", "White to move"} <= set(texts)
    circles = [node.get("class") for node in drawing.iter("{http://www.w3.org/2000/svg}circle")]
    assert circles.count("white") == 3 and circles.count("black") == 4
    refused(morris("query", "--svg", tmp_path / "no" / "board.svg", WON), 1)


def test_every_position_can_be_drawn(small_tables):
    """Placing, sliding, flying, removing, unknown and finished; all turns are in the list beside the board."""
    with open_tables(small_tables, "six") as six, open_tables(small_tables) as nine:
        for tables, text in (
            (six, "......../........ w 6,6"), (six, "WWW...../.B..B... w 3,4 x"), (nine, WON),
            (nine, "......../......../........ w 9,9"), (nine, "WBWBWBWB/......../........ w 0,0"),
        ):  # fmt: skip
            position, ranked = parse_own_form(text, tables.variant), tables.moves(text)
            drawing = ElementTree.fromstring(svg_board(position, tables.variant, ranked))
            texts = [node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
            for entry in ranked:
                assert format_turn(tables.variant.board, entry.turn) in texts and mark(entry.value) in texts
            ElementTree.fromstring(svg_board(position, tables.variant))


def test_png(morris, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)  # as if it were not installed
    assert "pip install -e '.[images]'" in refused(morris("query", "--png", tmp_path / "board.png", WON), 1)
    monkeypatch.undo()
    pytest.importorskip("cairosvg")
    assert png_board(svg_board(start(NINE), NINE))[:4] == b"\x89PNG"


# ---------------------------------------------------------------- batch


def test_batch_answers_in_order(morris, small_tables):
    positions = random_positions(SIX, 120, 12, 31, placing=True)
    forms = [format_own_form(p, SIX) for p in positions]
    lines = [json.dumps({"position": f}) if i % 3 == 0 else json.dumps(f) if i % 3 == 1 else f for i, f in enumerate(forms)]
    result = morris("query", "-V", "six", "--batch", "-", stdin="\n".join(lines).encode())
    assert (result.code, result.err) == (0, "")
    answers = [json.loads(line) for line in result.out.splitlines()]
    with open_tables(small_tables, "six") as six:
        for position, form, answer in zip(positions, forms, answers, strict=True):
            value = six.probe(position)
            assert answer == {
                "variant": "six", "position": form, "to_move": "white" if position.white_to_move else "black",
                "outcome": str(value.outcome), "dtw_plies": value.dtw_plies,
            }  # fmt: skip


def test_batch_with_moves_equals_single_answers(morris, tmp_path):
    forms = [SMALL_WIN, "......../........ w 6,6", "WWW...../.B..B... w 3,4 x"]
    file = tmp_path / "positions.txt"
    file.write_text("".join(f + "\r\n" for f in forms))
    result = morris("query", "-V", "six", "--batch", file, "--with-moves")
    assert result.out == "".join(morris("query", "-V", "six", "--json", form).out for form in forms)


def test_batch_never_stops_at_a_bad_line(morris):
    lines = [
        b"bad", b"", WON.encode(), b"{", b'{"position": 5}', b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"W" * 200_000,
        b'{"moves": "d6 d6"}', b'{"variant": "six", "position": "x"}', b"null", b'{"moves": "d6"}', WON.encode(),
        b"{} {}", b'{"position": "' + b"1" * 5000 + b'"}', b"1" * 5000,
    ]  # fmt: skip
    result = morris("query", "--batch", "-", stdin=b"\n".join(lines) + b"\n")
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert len(answers) == len(lines)
    assert [i for i, answer in enumerate(answers) if "error" not in answer] == [2, 12, 13]
    assert answers[2] == answers[13] and answers[2]["dtw_plies"] == 9
    for number, answer in enumerate(answers, 1):
        if "error" in answer:
            assert list(answer) == ["error", "code", "line"] and answer["line"] == number and answer["code"] == "input"
            assert "\n" not in answer["error"] and len(answer["error"]) < 300
    assert "ply 2" in answers[9]["error"]
    assert answers[12]["outcome"] == "unknown"
    assert "1 of 17 answers are unknown" in refused(result, 3) and "0-1+9-8" in result.err


def test_batch_of_nothing(morris):
    assert morris("query", "--batch", "-", stdin=b"").out == ""


def test_blocks_do_not_tear_lines(monkeypatch, tmp_path):
    monkeypatch.setattr(asking, "BLOCK_BYTES", 7)
    file = tmp_path / "lines"
    for text in (b"", b"a", b"a\n", b"abc\ndefghijklmnop\n\nq", b"\n\n", b"0123456\n0123456\n"):
        file.write_bytes(text)
        with open(file, "rb") as stream:
            lines = [line for block in asking._blocks(stream) for line in block]
        assert lines == (text[:-1] if text.endswith(b"\n") else text).split(b"\n") if text else lines == []


def test_own_forms_is_format_own_form():
    for name in ("nine", "six", "three", "lasker"):
        variant = get_variant(name)
        positions = random_positions(variant, 30, variant.board.n_points, 33, placing=name != "three")
        positions.append(positions[0]._replace(capture_owed=True))
        assert own_forms(positions, variant) == [format_own_form(p, variant) for p in positions]
        assert own_forms([], variant) == []


# ---------------------------------------------------------------- convert


def test_convert(morris):
    position = parse_own_form(".......W/......../........ b 8,9", NINE)
    forms = {"own": format_own_form(position, NINE), "mfen": format_mfen(position, NINE), "sanmill": format_sanmill(position, NINE)}
    for given in forms.values():
        for form, expected in forms.items():
            assert morris("convert", given, "--to", form).out == expected + "\n"
    assert morris("convert", "--moves", "a4").out == forms["own"] + "\n"
    assert morris("convert", "--to", "playok", "--moves", "d6 f4 b4").out == "1. 5 14 2. 11\n"
    assert morris("convert", "--to", "algebraic", "--moves", "1. 5 14 2. 11").out == "1. d6 f4 2. b4\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--to", "playok", WON], ["--to", "pgn", WON], ["bad"], [WON, "--moves", "d6"], ["-V", "six", SMALL_WIN, "--to", "mfen"]]
)
def test_convert_refuses(morris, arguments):
    assert morris("convert", *arguments).out == "" and refused(morris("convert", *arguments), 2)


# ---------------------------------------------------------------- annotate


def test_annotate(morris):
    result = morris("annotate", "-V", "six", "1. a5 e1 2. c5 a1 3. e5xe1")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "  ply  side   turn   before  after    lost          better\n"
        "    1  White  a5     draw    draw\n"
        "    2  Black  e1     draw    draw\n"
        "    3  White  c5     draw    draw\n"
        "    4  Black  a1     draw    loss 20  draw to loss  e5\n"
        "    5  White  e5xe1  win 19  win 19\n"
        "Values are for the side that makes the turn, depths in plies.\n"
        "White makes no losing turn.\n"
        "First losing turn of Black: ply 4, a1.\n"
    )


def test_annotate_json_and_files(morris, tmp_path):
    game, file = "a5 e1 c5 a1 e5xe1 1-0", tmp_path / "game.txt"
    file.write_text("1. a5 e1 {so far a draw}\n2. c5 a1 3. e5xe1 1-0\n")
    answer = json.loads(morris("annotate", "-V", "six", "--json", game).out)
    assert list(answer) == ["variant", "plies", "first_losing_ply", "result"] and answer["result"] == "1-0"
    assert answer["first_losing_ply"] == {"white": None, "black": 4}
    fourth = answer["plies"][3]
    assert fourth == {
        "ply": 4, "side": "black", "move": "a1", "position": "WW..B.../........ b 4,5", "before": {"outcome": "draw", "dtw_plies": None},
        "after": {"outcome": "loss", "dtw_plies": 20}, "lost": "draw to loss", "lost_plies": None, "best": ["e5"],
    }  # fmt: skip
    assert json.loads(morris("annotate", "-V", "six", "--json", file).out) == answer
    assert json.loads(morris("annotate", "-V", "six", "--json", "-", stdin=game.encode()).out) == answer
    assert json.loads(morris("annotate", "-V", "six", "--json", *game.split()).out) == answer


def test_annotate_says_what_is_missing_and_what_is_wrong(morris):
    result = morris("annotate", "d6 f4")
    assert result.out.count("unknown") == 4 and "where values are known" in result.out
    assert "0-0+9-9" in refused(result, 3)
    assert "ply 2: d6 is occupied" in refused(morris("annotate", "d6 d6"), 2)
    assert "names no removal" in refused(morris("annotate", "-V", "six", "a5 e1 c5 a1 e5"), 2)
    refused(morris("annotate"), 2)


# ---------------------------------------------------------------- from the shell


def test_a_question_from_the_shell_is_answered_quickly(run_python, small_tables):
    """The whole command in a new interpreter; processor time, because the machine may be busy."""
    code = (
        "import sys, time; sys.argv = ['morris', 'query', sys.argv[1]]; from solver.cli import main\n"
        "try: main()\n"
        "finally: print(time.process_time() < 0.6, 'numba' in sys.modules)"
    )
    out = run_python(code, WON, MORRIS_DATA=str(small_tables), OPENBLAS_NUM_THREADS="1")
    assert "White wins in 9 plies, 5 own turns." in out
    assert out.endswith("True False\n")


# ---------------------------------------------------------------- outcomes alone


def test_outcomes_are_told_without_depths(morris, outcome_tables):
    result = morris("query", "-V", "six", SMALL_WIN, "--metric", "outcome", "--data", outcome_tables)
    assert (result.code, result.err) == (0, "")
    text = result.out.splitlines()
    assert "White wins; in how many plies is not known." in text
    turns = [line.split() for line in text[text.index("8 turns of White, best first:") + 2 :]]
    assert [row[1:] for row in turns] == [["win", "-", "-"]] * 2 + [["loss", "-", "-"]] * 6
    answer = json.loads(morris("query", "-V", "six", SMALL_WIN, "--json", "--metric", "outcome", "--data", outcome_tables).out)
    assert (answer["outcome"], answer["dtw_plies"]) == ("win", None)
    assert {(m["outcome"], m["dtw_plies"]) for m in answer["moves"]} == {("win", None), ("loss", None)}
    batch = morris(
        "query", "-V", "six", "--batch", "-", "--metric", "outcome", "--data", outcome_tables, stdin=SMALL_WIN.encode() + b"\n"
    )  # fmt: skip
    assert batch.code == 0 and json.loads(batch.out)["dtw_plies"] is None and json.loads(batch.out)["outcome"] == "win"


def test_outcomes_answer_where_depths_are_missing(morris, outcome_tables):
    won = json.loads(morris("query", WON, "--json", "--data", outcome_tables).out)
    assert (won["outcome"], won["dtw_plies"]) == ("win", None)
    annotated = morris("annotate", "1. d6 f4 2. b4 g4", "--data", outcome_tables)
    assert annotated.code == 3  # no placing tables of either kind
    six = morris("annotate", "-V", "six", "1. a5 b4 2. c5 c4", "--data", outcome_tables)
    assert six.code == 0 and "draw" in six.out


# ---------------------------------------------------------------- under a limit


def test_a_limit_is_told_with_the_plies_to_a_mill(morris, tmp_path):
    build_tables(tmp_path, SIX, moving_targets(SIX, 9), metric=Metric("dtm", 10))
    position = "WW.W.B../B..B.... w 0,0"  # e3-e5 closes a mill
    options = "query", "-V", "six", position, "--no-mill-limit", 10, "--data", tmp_path
    result = morris(*options)
    with LimitedTables(tmp_path, SIX, 10) as tables:
        value, ranked = tables.probe(parse_own_form(position, SIX)), tables.moves(parse_own_form(position, SIX))
        late = tables.moves(parse_own_form(position, SIX), 9)
    assert (result.code, result.err) == (0, "")
    assert f"White {'wins' if value.outcome == 'win' else 'loses'}; next mill or end in {value.dtm_plies} " in result.out
    assert "10 plies without a mill are a draw, 0 are played." in result.out
    rows = [line.split() for line in result.out.splitlines()[-len(ranked) :]]
    assert rows == [
        [format_turn(SIX.board, t.turn), t.outcome.value, *([str(t.dtm_plies)] if t.dtm_plies else [])] for t in ranked
    ]
    answer = json.loads(morris(*options, "--plies-without-mill", 9, "--json").out)
    assert list(answer) == [
        "variant", "position", "to_move", "no_mill_limit", "plies_without_mill", "outcome", "dtm_plies", "moves",
    ]  # fmt: skip
    assert (answer["no_mill_limit"], answer["plies_without_mill"]) == (10, 9)
    assert [(m["outcome"], m["dtm_plies"]) for m in answer["moves"]] == [(t.outcome.value, t.dtm_plies) for t in late]


def test_a_limit_without_its_tables_names_the_command(morris):
    error = refused(morris("query", WON, "--no-mill-limit", 50), 3)
    assert "'morris build -V nine --metric dtm --no-mill-limit 50 --subspace 3-3' makes it" in error


@pytest.mark.parametrize("more, reason", [
    (("--no-mill-limit", 50, "--line"), "leave out"),
    (("--no-mill-limit", 50, "--time-limit", 5), "a single position"),
    (("--no-mill-limit", 50, "--plies-without-mill", 50), "a draw already"),
    (("--plies-without-mill", 3), "belongs to"),
    (("--metric", "outcome", "--no-mill-limit", 50), "belongs to"),
])  # fmt: skip
def test_limits_that_make_no_sense(morris, more, reason):
    assert reason in refused(morris("query", WON, *more), 2)
