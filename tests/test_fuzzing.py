"""A small share of `scripts/fuzz`, and that it notices what it looks for."""

import json
import subprocess
import sys

import fuzzing
import pytest
from conftest import ROOT
from hypothesis import strategies as st

from solver.errors import InputError

RECORD = ROOT / "benchmarks" / "results" / "fuzz.jsonl"


@pytest.mark.parametrize("name", ["positions", "moves", "turns", "convert", "tables", "server", "commands"])
def test_a_share_of_the_examples(name, tmp_path):
    every = fuzzing.targets(tmp_path)
    assert len(every) == 7
    n = 4 if name == "commands" else 60
    tried, found = fuzzing.run_target(*every[name], n, number=0)
    assert found is None and tried >= n


def raises(error):
    def target(example):
        if example > 5:
            raise error

    return target


@pytest.mark.parametrize(
    "target, words",
    [
        (raises(ValueError("oh")), "ValueError: oh"),
        (raises(RecursionError()), "RecursionError"),
        (lambda example: fuzzing.refused(InputError("two\nlines")), "no single line"),
        (lambda example: fuzzing.refused(InputError("x" * 2000)), "no single line"),
        (lambda example: sum(range(4_000_000)), " s for "),
    ],
)
def test_what_should_not_happen_is_found(target, words):
    tried, found = fuzzing.run_target(st.integers(0, 100), target, 0.01, 50, number=0)
    assert words in found and tried <= 50


def test_a_library_that_never_comes_back_ends_the_run():
    """It holds the lock of the interpreter, and no signal reaches it: the place is printed and the process ends."""
    code = (
        "import ctypes, signal, fuzzing; from hypothesis import strategies as st; fuzzing.HANG = 1\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\n"
        "fuzzing.run_target(st.integers(), lambda example: ctypes.PyDLL(None).sleep(600), 9.0, 1, number=7)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests", capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "Timeout" in done.stderr and "in run_target" in done.stderr


@pytest.mark.parametrize("broken, target", [("parse_position", fuzzing.read_position), ("parse_moves", fuzzing.read_moves)])
def test_a_parser_that_fails_is_found(broken, target, monkeypatch):
    honest = getattr(fuzzing, broken)

    def careless(text, *rest, **options):
        if "-" in text:
            raise IndexError("string index out of range")
        return honest(text, *rest, **options)

    monkeypatch.setattr(fuzzing, broken, careless)
    written = st.tuples(fuzzing.anything_written(), fuzzing.variants)
    _, found = fuzzing.run_target(written, target, fuzzing.MOST_SECONDS, 100, number=0)
    assert found.startswith("IndexError")


def test_a_command_without_a_reason_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing.CommandLine, "is_warm", True)
    command = fuzzing.CommandLine(tmp_path)
    for end in (SystemExit(3), SystemExit(77)):
        monkeypatch.setattr(fuzzing, "main", lambda end=end: (_ for _ in ()).throw(end))
        with pytest.raises(fuzzing.Finding, match="exit code"):
            command((["info"], ["-V", "nine"], ""))


def test_the_record_is_of_at_least_ten_minutes_and_found_nothing():
    lines = [json.loads(line) for line in RECORD.read_text().splitlines()]
    clean = [line for line in lines if not line["findings"]]
    assert sum(line["seconds"] for line in clean) >= 600
    for line in clean:
        assert line["executions"] == sum(target["executions"] for target in line["targets"].values())
        assert line["resident_mib"]["end"] < 1.1 * line["resident_mib"]["after_a_fifth"] + 20
