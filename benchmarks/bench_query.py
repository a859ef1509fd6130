"""Questions: one position with its chunk in memory and without, many at once, and the command from the shell.

A cold probe finds its file open and in the system's page cache; it decompresses one chunk.  The expected codes come
from whole tables through the kernels' index, which shares nothing with the way questions go but the tables.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

from solver.combinatorics import columns
from solver.errors import InputError
from solver.notation import parse_position
from solver.position import Position, format_own_form
from solver.query import TableSet
from solver.subspace import solved_together
from solver.symmetry import orbits
from solver.values import decode
from solver.worth import OUTCOMES

from .answers import published_rows
from .bench_index import fill_slots, random_positions
from .measuring import BenchmarkError, Measurement, Setting, timed

#: Single probes, and positions given as text, for each million of the batch.
PROBES, TEXTS = 2_000, 50_000
CHECKED = "whole tables, by the kernels' index"


def measure(setting: Setting):
    variant = setting.variant
    # Rather one with two tables: probes that go from one to the other never find the chunk they need.
    pair = max(setting.pairs, key=lambda s: (s != s.twin, s.stones_on_board, s.own))
    case = f"{variant.name} {pair.name}"
    tables = TableSet(setting.data, variant)
    try:
        positions, codes, width = _questions(setting, tables, pair)
        expected = [decode(code, width) for code in codes]
        masks = np.array([(p.white, p.black) for p in positions], np.uint32).T
        n_single = max(2, min(len(positions), PROBES * setting.batch // 1_000_000))
        yield _probes(
            "probe cold", case, TableSet(setting.data, variant, cache_bytes=1), positions[:n_single], expected
        )
        singles = TableSet(setting.data, variant)
        for position in positions[:n_single]:
            singles.probe(position)
        yield _probes("probe warm", case, singles, positions[:n_single], expected)

        answers = tables.probe_arrays(*masks, True)
        seconds = timed(setting, lambda: tables.probe_arrays(*masks, True))
        _compare(answers.values(), expected)
        amounts = {"probes": len(positions)}
        yield Measurement("batch arrays", case, 1, seconds, CHECKED, amounts)
        texts = [format_own_form(p, variant) for p in positions[: max(2, TEXTS * setting.batch // 1_000_000)]]
        _compare(tables.probe_many(texts).values(), expected[: len(texts)])
        seconds = timed(setting, lambda: tables.probe_many(texts))
        yield Measurement("batch texts", case, 1, seconds, CHECKED, {"probes": len(texts)})
        yield from _from_shell(setting, tables)
    finally:
        tables.close()


def _questions(setting: Setting, tables: TableSet, pair) -> tuple[list[Position], list[int], int]:
    """Random positions of a pair, White to move, by turns with either side's row; their codes, and the width."""
    together = solved_together(setting.variant, pair)
    orb, n_points = orbits(setting.variant.board), setting.variant.board.n_points
    per_side, found = setting.batch // 10 // len(together), []
    for subspace in together:
        table = tables.store.table(subspace)
        row_stones, column_stones = subspace.table_sides
        xs, ys = random_positions(setting, subspace, max(1, per_side))
        slots = np.empty(len(xs), np.int64)
        fill_slots(orb, columns(n_points - row_stones, column_stones), xs, ys, slots)
        own, opponent = (xs, ys) if subspace.rows_are_own else (ys, xs)
        codes = table.read()[slots].tolist()
        found.append([(Position(w, b), code) for w, b, code in zip(own.tolist(), opponent.tolist(), codes)])
    by_turns = [one for several in zip(*found) for one in several]
    return [p for p, _ in by_turns], [code for _, code in by_turns], table.width


def _probes(name: str, case: str, tables: TableSet, positions, expected) -> Measurement:
    seconds, values = [], []
    with tables:
        tables.probe(positions[0]), tables.probe(positions[1])  # opens the file
        for position in positions:
            started = time.perf_counter()
            value = tables.probe(position)
            seconds.append(time.perf_counter() - started)
            values.append(value)
    _compare(values, expected[: len(values)])
    percentiles = {f"p{q}_us": round(float(np.percentile(seconds, q)) * 1e6, 1) for q in (50, 90, 99, 100)}
    # One run of many probes: the mean stands for the run, single times are in the percentiles.
    return Measurement(name, case, 1, [sum(seconds)], CHECKED, {"probes": len(seconds)}, percentiles)


def _compare(values, expected) -> None:
    for number, (value, (outcome, depth)) in enumerate(zip(values, expected, strict=True)):
        if (value.outcome, value.dtw_plies) != (outcome, depth) or value.outcome is OUTCOMES[-1]:
            raise BenchmarkError(f"probe {number} gave {value} where the table says {outcome} {depth}")


def _from_shell(setting: Setting, tables: TableSet):
    """`morris query` as a process of its own, for a published position whose tables are there."""
    for row in published_rows(f"positions_{setting.variant.name}"):
        try:
            position = parse_position(row["position"], setting.variant)
        except InputError:
            continue
        if position.capture_owed or position.subspace.is_over or not tables.store.has(position.subspace):
            continue
        command = [
            sys.executable, "-c", "from solver.cli import main; main()", "query", row["position"], "--json",
            "--data", str(setting.data), "-V", setting.variant.name,
        ]  # fmt: skip
        seconds, answers = [], []
        for _ in range(max(2, setting.repeat) + 1):
            started = time.perf_counter()
            done = subprocess.run(
                command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
            )
            seconds.append(time.perf_counter() - started)
            if done.returncode:
                raise BenchmarkError(f"morris query answered {done.returncode}: {done.stderr.strip()}")
            answers.append(json.loads(done.stdout))
        given = answers[0]["outcome"], answers[0]["dtw_plies"]
        if given != (row["outcome"], int(row["dtw_plies"]) if row["dtw_plies"] else None):
            raise BenchmarkError(f"morris query gave {given} for {row['position']}")
        yield Measurement("query from the shell", setting.variant.name, 1, seconds[1:], "the published value")
        return
