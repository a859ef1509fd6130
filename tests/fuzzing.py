"""Random and damaged input for everything that reads what others wrote; `scripts/fuzz` runs it for minutes.

A target makes one example and looks at what comes of it.  Whatever is refused must be refused with a `MorrisError`
of one line, or by the command line with one line and an exit code it has told of; what is accepted must mean the same
when it is written and read again.  Anything else, a slow example too, is a finding.
"""

import argparse
import asyncio
import contextlib
import faulthandler
import io
import json
import platform
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote_plus

import h5py
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from solver.attributes import write_attributes
from solver.cli import main
from solver.errors import InputError, MorrisError, TableError
from solver.header import write_header
from solver.moves import format_turn, legal_turns, parse_turn, play
from solver.notation import format_mfen, format_moves, format_sanmill, parse_moves, parse_position
from solver.position import check_position, format_own_form, start
from solver.server import CODES, make_app
from solver.service import Service
from solver.store import SHIPPED_TABLES
from solver.tablefile import TableFile
from solver.variant import VARIANTS, get_variant

#: Seconds of processor time that one example may take; a command may search, so it has more.
MOST_SECONDS, MOST_COMMAND_SECONDS = 2.0, 10.0
#: Seconds by the clock after which an example is broken off, whatever it does.
HANG = 60
NINE, THREE = get_variant("nine"), get_variant("three")


class Finding(AssertionError):
    """What should not have happened."""


def is_one_line(error: Exception) -> bool:
    text = str(error)
    return bool(text) and "\n" not in text and "\r" not in text and len(text) < 1000


def refused(error: MorrisError) -> None:
    if not is_one_line(error):
        raise Finding(f"no single line: {str(error)[:200]!r}")


# ---------------------------------------------------------------- what is written


def random_game(choose: random.Random, variant, plies: int) -> list:
    position, turns = start(variant), []
    for _ in range(plies):
        legal = legal_turns(variant, position)
        if not legal:
            break
        turns.append(choose.choice(legal))
        position = play(variant, position, turns[-1])
    return turns


def games() -> list[str]:
    """Records of games and positions in every notation: what damage starts from."""
    choose, texts = random.Random(9), []
    for variant in (NINE, THREE, get_variant("six"), get_variant("lasker")):
        for plies in (0, 1, 7, 18, 40):
            turns = random_game(choose, variant, plies)
            position = start(variant)
            for turn in turns:
                position = play(variant, position, turn)
            texts += [format_own_form(position, variant), " ".join(format_turn(variant.board, t) for t in turns)]
            if variant.board.n_points == 24:
                texts += [format_mfen(position, variant), format_sanmill(position, variant)]
                texts += [format_moves(turns, variant, style) for style in ("algebraic", "playok")]
    return texts


WRITTEN = games()
WORDS = [
    *"wbWBpmo-xX.,/*O@+() \t\n0123456789", "MFEN/1.0", "mill24-state-v1", "w 9,9", "d6", "d6-d5", "g1xd2", "1/2-1/2", "1-0",
    "xd2", "1.", "...", "a7", "24", "25", "-1", "\u0661", "\u00b2", "\ud800", "\x00", "\u2028", "9" * 40, "(", "; {", "--",
]  # fmt: skip


@st.composite
def damaged(draw, texts) -> str:
    """One of the texts after a few cuts, doublings, exchanges and insertions."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 5))):
        a = draw(st.integers(0, len(text)))
        b = min(len(text), a + draw(st.integers(0, 12)))
        word = draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)))
        change = draw(st.integers(0, 3))
        middle = {0: word, 1: text[a:b] + word, 2: text[a:b] * 2, 3: text[a:b][::-1]}[change]
        text = text[:a] + middle + text[b:]
    return text


def anything_written():
    return st.one_of(damaged(WRITTEN), damaged(WRITTEN), st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join))


variants = st.sampled_from(list(VARIANTS.values()))


# ---------------------------------------------------------------- targets: a strategy and what is done with an example


def read_position(example) -> None:
    text, variant = example
    try:
        position = parse_position(text, variant)
    except InputError as error:
        return refused(error)
    check_position(position, variant)
    written = [format_own_form(position, variant)]
    if variant.board.n_points == 24:
        written += [format_mfen(position, variant)] if not position.capture_owed or legal_turns(variant, position) else []
    for again in written:
        if parse_position(again, variant) != position:
            raise Finding(f"{text!r} was written as {again!r}, which is another position")
    return None


def read_moves(example) -> None:
    text, variant = example
    try:
        game = parse_moves(text, variant, allow_owed=True)
    except InputError as error:
        return refused(error)
    position = game.start
    for turn in game.turns:
        position = play(variant, position, turn)
    if position != game.position:
        raise Finding(f"{text!r} ends in another position than its turns")
    return None


def read_turn(example) -> None:
    text, seed = example
    choose = random.Random(seed)
    variant = choose.choice([NINE, THREE])
    position = start(variant)
    for turn in random_game(choose, variant, choose.randrange(40)):
        position = play(variant, position, turn)
    try:
        turn = parse_turn(text, variant, position)
    except InputError as error:
        return refused(error)
    if turn not in legal_turns(variant, position):
        raise Finding(f"{text!r} was read as a turn that is not legal")
    return None


class Converter:
    def __init__(self):
        self.service = Service(SHIPPED_TABLES)

    def __call__(self, example) -> None:
        text, variant = example
        try:
            answer, _ = self.service.convert(variant=variant.name, text=text)
        except InputError as error:
            return refused(error)
        json.dumps(answer)
        return None


class Tables:
    """Bytes, attributes and lists of a table file changed; where its header is made right again, HDF5 has to cope."""

    def __init__(self, folder: Path):
        self.path = folder / THREE.name / "3-3.h5"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.content = (SHIPPED_TABLES / THREE.name / "3-3.h5").read_bytes()
        self.path.write_bytes(self.content)
        self.expected = self._read()

    def _read(self) -> list[bytes]:
        file = TableFile(self.path, THREE)
        try:
            tables = list(file.tables.values())
            parts = [part for t in tables for part in (t.read(), t.histogram(), t.histogram(raw=True))]
            return [file.row_masks.tobytes(), *(part.tobytes() for part in parts)]
        finally:
            file.close()

    def __call__(self, example) -> None:
        changes, sealed, attribute = example
        content = bytearray(self.content)
        for at, value in changes:
            content[at % len(content)] = value
        self.path.write_bytes(content)
        if attribute is not None:
            self._change_attribute(*attribute)
        if sealed:
            write_header(self.path)
        try:
            read = self._read()
        except TableError as error:
            return refused(error)
        # Values may only differ where somebody made all checksums anew, which a few random bytes do not.
        if read != self.expected:
            raise Finding(f"other values after {changes}, {attribute}")
        return None

    def _change_attribute(self, node: str, name: str, value) -> None:
        with contextlib.suppress(OSError, KeyError, ValueError, RuntimeError, TypeError), h5py.File(self.path, "r+") as file:
            if isinstance(value, str):
                write_attributes(file[node], {name: value})
            else:
                file[node].attrs[name] = value


ATTRIBUTES = [
    "variant", "rules", "fingerprint", "subspaces", "index_scheme", "metric", "unit", "software", "own", "opponent", "own_hand",
    "opponent_hand", "row_side", "width", "positions", "raw_positions", "values_sha256", "attributes_crc32", "other",
]  # fmt: skip
table_changes = st.tuples(
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=4),
    st.booleans(),
    st.none() | st.tuples(
        st.sampled_from(["/", "/3-3"]), st.sampled_from(ATTRIBUTES),
        st.one_of(st.text(max_size=20), st.integers(-(2**63), 2**64 - 1), st.floats(), st.booleans(), st.binary(max_size=9),
                  st.lists(st.integers(0, 9), max_size=3).map(np.array)),
    ),
)  # fmt: skip


class CommandLine:
    """Commands with arguments from a heap; those that would work for minutes get a small game."""

    #: Commands with arguments that keep them short.
    COMMANDS = (
        ["query"], ["query", "--time-limit", "0"], ["convert"], ["annotate"], ["stats"], ["check"], ["info"], ["variants"], ["doctor"],
        ["compare"], ["build", "--estimate"], ["verify", "-V", "three", "-j", "1"], ["prove", "-V", "three", "-j", "1"],
        ["match", "-V", "three", "--games", "2"], ["match", "random", "sparring", "--games", "1"], ["play", "-V", "three"],
        ["serve", "--nonsense"], ["bench", "--nonsense"], ["nonsense"], [],
    )  # fmt: skip
    OPTIONS = (
        "-h", "--help", "--version", "-V", "--variant", "--set", "--data", "--subspace", "--phase", "--format", "--raw", "--json",
        "--line", "--moves", "--batch", "--with-moves", "--memory", "--max-stones", "--seed", "--games", "--position", "--repetition",
        "-", "--", "--to", "--as", "--against", "--hints", "--time-limit", "--notation", "--nonsense",
    )  # fmt: skip
    VALUES = (
        "three", "six", "nine", "lasker", "no such game", "fly_at=0", "stones=4", "stones=99", "full_board=loss", "stones=" + "9" * 5000,
        "moving", "placing", "all", "csv", "json", "table", "5-4", "3-3", "3-4+6-5", "99-99", "1K", "8G", "nan", "inf", "-1", "0", "7",
        "1e400", "9" * 30, "/dev/null", "", " ", "perfect", "random", "d6 f4 b4", "d2 d3",
    )  # fmt: skip
    ENDS = {0, 1, 2, 3, 4}
    is_warm = False

    def __init__(self, folder: Path):
        self.folder = folder
        shutil.copytree(SHIPPED_TABLES / "three", folder / "three", dirs_exist_ok=True)
        if not self.is_warm:  # what has to be compiled is no part of an example
            CommandLine.is_warm = True
            for command in self.COMMANDS:
                self((command, [], ""))

    def strategy(self):
        argument = st.one_of(st.sampled_from(self.OPTIONS), st.sampled_from(self.VALUES), damaged(WRITTEN), st.text(max_size=6))
        return st.tuples(st.sampled_from(self.COMMANDS), st.lists(argument, max_size=5), damaged(WRITTEN))

    def __call__(self, example) -> None:
        command, arguments, typed = example
        if any(text in ("serve", "bench", "solve") for text in arguments) or "\x00" in "".join(arguments):
            return  # a group takes no second command, and no shell hands on a zero byte
        line = ["morris", *command, *arguments]
        if "--data" not in arguments and command and command[0] not in ("convert", "annotate", "variants", "nonsense", "serve", "bench"):
            line += ["--data", str(self.folder)] if "--" not in arguments else []
        out, err, code = self._run(line, typed, self.folder)
        if code not in self.ENDS:
            raise Finding(f"{line}: exit code {code}")
        if "Traceback" in out + err or "internal error" in err:
            raise Finding(f"{line}: {err[-300:]}")
        reasons = [part for part in err.splitlines() if part.startswith("morris: ")]
        if code and not reasons and not (code == 2 and len(line) < 4):
            raise Finding(f"{line}: exit code {code} without a reason; {err[-300:]!r}")

    @staticmethod
    def _run(line: list[str], typed: str, folder: Path) -> tuple[str, str, int]:
        before = sys.argv, sys.stdin
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))  # as Python has them
        sys.argv, sys.stdin = line, io.TextIOWrapper(io.BytesIO(typed.encode("utf-8", "surrogatepass")), "utf-8", errors="replace")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
                main()
            code = 0
        except SystemExit as stop:
            code = stop.code
        finally:
            sys.argv, sys.stdin = before
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))
        return *texts, code


class Server:
    """Requests as a socket would hand them on, straight to the application."""

    PATHS = ("/v1/position", "/v1/line", "/v1/stats", "/v1/tables", "/v1/variants", "/v1/convert", "/healthz", "/", "/x", "//", "/v1/")
    NAMES = ("variant", "position", "moves", "details", "subspace", "phase", "text", "other", "")

    def __init__(self):
        self.app, self.loop = make_app(SHIPPED_TABLES), asyncio.new_event_loop()

    def strategy(self):
        value = st.one_of(anything_written(), st.sampled_from(CommandLine.VALUES))
        pairs = st.lists(st.tuples(st.sampled_from(self.NAMES), value), max_size=4)
        query = st.one_of(pairs.map(self._query), pairs.map(self._query), st.binary(max_size=30))
        method = st.sampled_from(["GET"] * 8 + ["HEAD", "POST", "PUT", "NONSENSE"])
        return st.tuples(method, st.sampled_from(self.PATHS), query)

    @staticmethod
    def _query(pairs) -> bytes:
        return "&".join(f"{name}={quote_plus(value.encode('utf-8', 'surrogatepass'))}" for name, value in pairs).encode()

    def __call__(self, example) -> None:
        method, path, query = example
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": query, "root_path": "", "headers": [], "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }  # fmt: skip
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        self.loop.run_until_complete(self.app(scope, receive, send))
        status = sent[0]["status"]
        body = b"".join(message.get("body", b"") for message in sent[1:])
        if status >= 500 or status not in {200, *CODES.values()}:
            raise Finding(f"{method} {path}?{query[:200]}: status {status}, {body[:200]}")
        if status >= 400 and method != "HEAD" and json.loads(body).get("code") not in CODES:
            raise Finding(f"{method} {path}?{query[:200]}: status {status} without a code")


def targets(folder: Path) -> dict[str, tuple[object, Callable, float]]:
    """Name -> strategy, what is done with an example, and its most seconds; ``folder`` takes the files they need."""
    command, server = CommandLine(folder / "commands"), Server()
    written = st.tuples(anything_written(), variants)
    return {
        "positions": (written, read_position, MOST_SECONDS),
        "moves": (written, read_moves, MOST_SECONDS),
        "turns": (st.tuples(anything_written(), st.integers(0, 10**6)), read_turn, MOST_SECONDS),
        "convert": (written, Converter(), MOST_SECONDS),
        "tables": (table_changes, Tables(folder / "tables"), MOST_SECONDS),
        "commands": (command.strategy(), command, MOST_COMMAND_SECONDS),
        "server": (server.strategy(), server, MOST_SECONDS),
    }


def timed(target: Callable, most: float) -> Callable:
    """The target, with a finding for an example that takes too much of the processor's time."""

    def run(example) -> None:
        started = time.process_time()
        signal.alarm(HANG)
        faulthandler.dump_traceback_later(2 * HANG, exit=True, file=sys.__stderr__)  # inside a library no signal is seen
        try:
            target(example)
        finally:
            signal.alarm(0)
            faulthandler.cancel_dump_traceback_later()
        seconds = time.process_time() - started
        if seconds > most:
            raise Finding(f"{seconds:.1f} s for {str(example)[:300]}")

    return run


# ---------------------------------------------------------------- runs

#: Examples of a target at a time; a command takes a hundred times as long as a position.
ROUND, COMMAND_ROUND = 400, 25
RECORD = Path(__file__).parent.parent / "benchmarks" / "results" / "fuzz.jsonl"


def hang(number, frame):
    raise Finding(f"an example took more than {HANG} s")


def run_target(strategy, target: Callable, most: float, n: int, number: int) -> tuple[int, str | None]:
    """Tries ``n`` examples drawn from a seed; how many were tried, and what was found first."""
    tried, within = 0, timed(target, most)
    signal.signal(signal.SIGALRM, hang)

    @seed(number)
    @settings(
        max_examples=n, deadline=None, database=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def examples(example):
        nonlocal tried
        tried += 1
        within(example)

    try:
        examples()
    except Exception as error:
        return tried, f"{type(error).__name__}: {error}"[:1000]
    return tried, None


def resident() -> float:
    """MiB of memory that this process holds."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def run(seconds: float, names: list[str] | None = None, first_seed: int = 1) -> dict:
    """Goes round the targets until the time is over; what is recorded of it."""

    with tempfile.TemporaryDirectory() as folder:
        chosen = {name: rest for name, rest in targets(Path(folder)).items() if not names or name in names}
        begun = time.monotonic()
        results = {name: {"executions": 0, "seconds": 0.0, "findings": []} for name in chosen}
        number, settled = first_seed, None
        while time.monotonic() - begun < seconds:
            for name, (strategy, target, most) in chosen.items():
                print(f"{name}, seed {number:<9}", end="\r", file=sys.stderr, flush=True)  # what hangs stays on the screen
                started = time.monotonic()
                n, found = run_target(strategy, target, most, COMMAND_ROUND if name == "commands" else ROUND, number)
                results[name]["executions"] += n
                results[name]["seconds"] = round(results[name]["seconds"] + time.monotonic() - started, 1)
                if found and found not in results[name]["findings"]:
                    results[name]["findings"].append(found)
            number += 1
            if settled is None and time.monotonic() - begun > seconds / 5:
                settled = resident()  # by then all modules are loaded and all caches are full
    return {
        "run": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": round(time.monotonic() - begun), "engine": "hypothesis",
        "executions": sum(r["executions"] for r in results.values()), "findings": sum(len(r["findings"]) for r in results.values()),
        "first_seed": first_seed, "rounds": number - first_seed, "targets": results,
        "resident_mib": {"after_a_fifth": round(settled or resident(), 1), "end": round(resident(), 1)},
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "h5py", "click", "starlette", "hypothesis", "morris")},
    }  # fmt: skip


def command_line() -> None:
    parser = argparse.ArgumentParser(description="Random and damaged input for minutes; adds a line to the record.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--target", action="append", help="only this one; may be given again")
    parser.add_argument("--seed", type=int, default=1, help="where the seeds of the rounds begin")
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args()
    line = run(60 * chosen.minutes, chosen.target, chosen.seed)
    with open(chosen.record, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line, indent=1))
    sys.exit(1 if line["findings"] else 0)


if __name__ == "__main__":
    command_line()
