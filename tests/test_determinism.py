"""The same tables with any number of workers, in every run, with and without the processor's bit instructions."""

import csv
import hashlib

import pytest
from conftest import ROOT, build_tables, contents, tables_of

from solver import jit
from solver.build import all_targets, moving_targets
from solver.stats import finished_subspaces
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_any_number_of_workers(tmp_path, small_tables, monkeypatch, jobs):
    monkeypatch.setattr(jit, "MIN_SLICE_SLOTS", 2000)  # many slices, also of small tables
    build_tables(tmp_path, NINE, moving_targets(NINE, 7), jobs)
    build_tables(tmp_path, SIX, all_targets(SIX), jobs)
    expected = contents(small_tables / "nine")
    assert contents(tmp_path / "nine") == {name: expected[name] for name in ("3-3.h5", "4-3.h5")}
    assert contents(tmp_path / "six") == contents(small_tables / "six")


@pytest.mark.parametrize("name", ["nine", "six"])
def test_values_are_those_that_were_recorded(name, nine_store, six_store):
    """Contents of tables do not change with the program: they are written down in data/checksums."""
    store = {"nine": nine_store, "six": six_store}[name]
    with open(ROOT / "data" / "checksums" / f"{name}.csv", newline="") as file:
        recorded = {row["subspace"]: row for row in csv.DictReader(file)}
    built = finished_subspaces(store)
    assert {s.name for s in tables_of(store.variant, all_targets(store.variant))} == set(recorded)
    for subspace in built:
        table, row = store.table(subspace), recorded[subspace.name]
        assert table.values_sha256 == row["values_sha256"] == hashlib.sha256(table.read()).hexdigest()
        assert table.positions == int(row["canonical_positions"])
    assert len(built) == {"nine": 6, "six": len(recorded)}[name]


def test_a_slice_for_each_row_and_one_for_all():
    workers = jit.Workers(3)
    for n_rows, row_size in ((1, 10**9), (5, 1), (1000, 10**6), (158, 1330), (0, 5)):
        slices = workers.map_rows(lambda a, b: (a, b), n_rows, row_size)
        assert [a for a, _ in slices][1:] == [b for _, b in slices][:-1]
        assert slices[0][0] == 0 and slices[-1][1] == n_rows
    workers.close()


BUILD = """
import sys
from solver import bits
from solver.build import Builder, all_targets, moving_targets, plan
from solver.variant import get_variant
assert not bits.USES_INSTRUCTIONS
for name, targets in (("nine", lambda v: moving_targets(v, 7)), ("three", all_targets)):
    variant = get_variant(name)
    if name not in sys.argv[2:]:
        continue
    builder = Builder(variant, sys.argv[1], 1)
    builder.build(plan(variant, builder.store, targets(variant)))
    builder.close()
"""


def test_without_compiled_code(run_python, tmp_path):
    run_python(BUILD, tmp_path / "plain", "three", NUMBA_DISABLE_JIT="1")
    build_tables(tmp_path / "compiled", get_variant("three"), all_targets(get_variant("three")))
    assert contents(tmp_path / "plain" / "three") == contents(tmp_path / "compiled" / "three")
    assert len(contents(tmp_path / "plain" / "three")) == 7


def test_without_bit_instructions(run_python, tmp_path, small_tables):
    # Kernels compiled with the instructions must not be taken from the cache, so this run has one of its own.
    cache = jit.CACHE_FOLDER.parent / "without-instructions"
    run_python(BUILD, tmp_path, "nine", MORRIS_NO_PEXT="1", MORRIS_CACHE=str(cache))
    expected = contents(small_tables / "nine")
    assert contents(tmp_path / "nine") == {name: expected[name] for name in ("3-3.h5", "4-3.h5")}


def test_kernels_without_bit_instructions_have_a_cache_of_their_own(run_python):
    code = "from solver import jit; print(jit.CACHE_FOLDER)"
    assert run_python(code).strip() != run_python(code, MORRIS_NO_PEXT="1").strip()
