"""Two variants side by side: every count against a slow one, position by position."""

from collections import Counter

import pytest
from conftest import build_tables

from solver.compare import compare_tables
from solver.errors import InputError
from solver.indexing import Indexer
from solver.jit import Workers
from solver.reindex import widened
from solver.store import TableStore, table_path
from solver.subspace import Subspace, moving_pairs, solved_together
from solver.symmetry import orbits
from solver.tablefile import write_tables
from solver.tally import histograms
from solver.values import decode
from solver.variant import get_variant

SIX, FLYING = get_variant("six"), get_variant("six-fly")
TARGETS = [pair for pair in moving_pairs(SIX) if pair.stones_on_board <= 8]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    opened = []
    for variant in (SIX, FLYING):
        build_tables(folder, variant, TARGETS)
        opened.append(TableStore(folder, variant, with_shipped=False))
    yield opened
    for store in opened:
        store.close()


def values_by_position(store, subspace):
    """{(own mask, opponent mask), the smallest of its images: (outcome, depth)}."""
    table, board = store.table(subspace), store.variant.board
    indexer, found = Indexer(board), {}
    for slot, code in enumerate(table.read().tolist()):
        row, column = divmod(slot, table.n_columns)
        masks = indexer.masks_at(subspace, row, column, table.file.row_masks)
        images = (
            tuple(sum(1 << image[p] for p in range(board.n_points) if mask >> p & 1) for mask in masks)
            for image in board.symmetries
        )
        outcome, depth = decode(code, table.width)
        found[min(images)] = (str(outcome), depth)
    return found


def test_every_count(stores, workers):
    found = {row["subspace"]: row for row in compare_tables(*stores, workers)}
    assert list(found) == [s.name for pair in TARGETS for s in solved_together(SIX, pair)]
    for name in ("3-3", "4-3", "3-4"):
        subspace = Subspace(*map(int, name.split("-")))
        before, after = (values_by_position(store, subspace) for store in stores)
        assert len(before) == found[name]["positions"] and before.keys() == after.keys()
        changes = Counter((before[p][0], after[p][0]) for p in before if before[p] != after[p])
        assert {pair: n for pair, n in changes.items() if pair[0] != pair[1]} == {
            (a, b): found[name][f"{a}_to_{b}"]
            for a in ("loss", "draw", "win") for b in ("loss", "draw", "win") if a != b and found[name][f"{a}_to_{b}"]
        }  # fmt: skip
        assert found[name]["changed_depth"] == sum(n for (a, b), n in changes.items() if a == b)
        assert found[name]["changed_outcome"] == sum(n for (a, b), n in changes.items() if a != b) > 0


def test_the_width_of_a_table_is_no_change(stores, workers, tmp_path):
    pair = Subspace(4, 3)
    tables = {s: widened(stores[0].table(s).read(), 2) for s in solved_together(SIX, pair)}
    tallies = {s: histograms(SIX, s, values, workers) for s, values in tables.items()}
    write_tables(table_path(tmp_path, SIX, pair), SIX, orbits(SIX.board).rows(4), tables, tallies)
    wide = TableStore(tmp_path, SIX, with_shipped=False)
    for stores_compared in ((stores[0], wide), (wide, stores[0])):
        rows = list(compare_tables(*stores_compared, workers))
        assert [row["subspace"] for row in rows] == ["4-3", "3-4"]
        assert not any(n for row in rows for name, n in row.items() if name not in ("subspace", "positions"))
    wide.close()


def test_other_boards_are_refused(stores, tmp_path):
    workers = Workers(1)
    with pytest.raises(InputError, match="different boards"):
        list(compare_tables(stores[0], TableStore(tmp_path, get_variant("nine")), workers))
    workers.close()
