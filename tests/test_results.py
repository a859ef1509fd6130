"""Counts of solved variants in data/results: complete, consistent, and equal to what a test can build."""

import csv

import pytest
from conftest import ROOT, build_tables, tables_of

from solver.build import moving_targets
from solver.metric import DTW, OUTCOME
from solver.stats import COLUMNS, subspace_statistics
from solver.store import TableStore
from solver.subspace import Subspace, count_canonical, moving_pairs, placing_subspaces
from solver.variant import get_variant

RESULTS = ROOT / "data" / "results"
OUTCOMES = ("wins", "losses", "draws")


def rows_of(path):
    with open(path, newline="") as file:
        return [{name: int(cell) if cell.isdigit() else cell for name, cell in row.items()} for row in csv.DictReader(file)]


def moving_rows(name):
    return {Subspace(row["own"], row["opponent"]): row for row in rows_of(RESULTS / f"moving_{name}.csv")}


def placing_rows(name):
    rows = rows_of(RESULTS / f"placing_{name}.csv")
    return {Subspace(row["own"], row["opponent"], row["own_hand"], row["opponent_hand"]): row for row in rows}


def assert_built_alike(folder, variant, files, rows, metric):
    """Builds these files and compares their counts with the rows of results."""
    build_tables(folder, variant, files, metric=metric)
    store = TableStore(folder, variant, with_shipped=False, metric=metric)
    for subspace in tables_of(variant, files):
        found = subspace_statistics(store, subspace)
        assert {column: found[column] if found[column] is not None else "" for column in rows[subspace]} == rows[subspace]
    store.close()


VARIANTS = sorted(path.stem.removeprefix("moving_") for path in RESULTS.glob("moving_*.csv"))
PLACED = sorted(path.stem.removeprefix("placing_") for path in RESULTS.glob("placing_*.csv"))
COMPARED = sorted(path.stem.removeprefix("nine_against_") for path in RESULTS.glob("nine_against_*.csv"))


def test_there_are_results():
    assert {"nine-nofly", "nine-strict", "ten", "eleven", "morabaraba", "twelve"} <= set(VARIANTS) and PLACED and COMPARED


@pytest.mark.parametrize("name", VARIANTS)
def test_every_subspace_is_there_with_all_its_positions(name):
    variant, rows = get_variant(name), moving_rows(name)
    assert list(rows) == tables_of(variant, moving_pairs(variant))
    for subspace, row in rows.items():
        assert tuple(row) == COLUMNS["moving"]
        assert sum(row[outcome] for outcome in OUTCOMES) == count_canonical(variant, subspace)
        assert row["longest_win_plies"] == "" or row["longest_win_plies"] % 2 == 1 and row["wins"]
        assert row["longest_loss_plies"] == "" or row["longest_loss_plies"] % 2 == 0 and row["losses"]


@pytest.mark.parametrize("name", VARIANTS)
def test_small_subspaces_are_built_again(tmp_path, name):
    variant, rows = get_variant(name), moving_rows(name)
    targets = moving_targets(variant, 8)
    assert_built_alike(tmp_path, variant, targets, rows, DTW)


@pytest.mark.parametrize("name", PLACED)
def test_every_subspace_of_placing_is_there(name):
    variant, rows = get_variant(name), placing_rows(name)
    assert list(rows) == tables_of(variant, placing_subspaces(variant))
    for subspace, row in rows.items():
        assert sum(row[outcome] for outcome in OUTCOMES) == row["canonical_positions"] == count_canonical(variant, subspace)
        assert row["longest_win_plies"] == row["longest_loss_plies"] == ""


@pytest.mark.parametrize("name", PLACED)
def test_small_subspaces_of_placing_are_built_again(tmp_path, name):
    variant, rows = get_variant(name), placing_rows(name)
    targets = [s for s in placing_subspaces(variant) if max(s.own + s.own_hand, s.opponent + s.opponent_hand) <= 4]
    assert_built_alike(tmp_path, variant, targets, rows, OUTCOME)


def test_ten_begins_as_nine_does():
    nine = {Subspace(row["own"], row["opponent"]): row for row in rows_of(ROOT / "data" / "published" / "subspaces_nine.csv")}
    ten, compared = moving_rows("ten"), 0
    for subspace, row in nine.items():
        assert [ten[subspace][outcome] for outcome in OUTCOMES] == [row[outcome] for outcome in OUTCOMES]
        compared += 1
    assert compared == 34


@pytest.mark.parametrize("name", COMPARED)
def test_changes_add_up(name):
    """What nine has of an outcome, less what leaves it, and what comes to it, is what the other game has."""
    ten, other = moving_rows("ten"), moving_rows(name)  # up to nine stones, ten's moving phase is nine's
    for row in rows_of(RESULTS / f"nine_against_{name}.csv"):
        subspace = Subspace(*map(int, row["subspace"].split("-")))
        changes = {pair: n for pair, n in row.items() if "_to_" in pair}
        assert len(changes) == 6 and sum(changes.values()) == row["changed_outcome"]
        for outcome, column in (("win", "wins"), ("loss", "losses"), ("draw", "draws")):
            leaves = sum(n for pair, n in changes.items() if pair.startswith(f"{outcome}_to_"))
            comes = sum(n for pair, n in changes.items() if pair.endswith(f"_to_{outcome}"))
            assert ten[subspace][column] - leaves + comes == other[subspace][column]
