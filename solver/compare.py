"""Two variants side by side: which positions have another value under other rules."""

from collections.abc import Iterator

import numpy as np

from .combinatorics import columns
from .errors import InputError
from .jit import Workers
from .reindex import widened
from .store import TableStore
from .subspace import Subspace, moving_pairs, placing_subspaces, solved_together
from .symmetry import orbits
from .values import draw_code
from .tally import fill_histograms

_OUTCOMES = ("loss", "draw", "win")


def compare_tables(first: TableStore, second: TableStore, workers: Workers) -> Iterator[dict]:
    """For every subspace that both have: how many canonical positions change outcome, which way, and depth alone.

    Yields one dict a subspace, counts under names such as ``win_to_draw``.  Needs one board and one index.
    """
    if first.variant.board != second.variant.board:
        raise InputError(f"{first.variant.name} and {second.variant.name} are played on different boards")
    there = {s for f in moving_pairs(second.variant) + placing_subspaces(second.variant) for s in solved_together(second.variant, f)}
    for file in moving_pairs(first.variant) + placing_subspaces(first.variant):
        for subspace in solved_together(first.variant, file):
            if subspace in there and first.has(subspace) and second.has(subspace):
                yield {"subspace": subspace.name, **_changes(first, second, subspace, workers)}


def _changes(first, second, subspace: Subspace, workers) -> dict:
    tables = [store.table(subspace) for store in (first, second)]
    width = max(table.width for table in tables)
    before, after = (table.read(workers.pool) for table in tables)
    draw = draw_code(width)
    changes = np.empty(before.size, np.uint8)
    n_rows, n_columns = tables[0].n_rows, tables[0].n_columns

    def compare(start, stop):
        part = slice(start * n_columns, stop * n_columns)
        a, b = (widened(values[part], width) for values in (before, after))
        codes = (a != b).view(np.uint8) << np.uint8(4)  # then 3 x outcome before + outcome after, in _OUTCOMES' order
        for side, weight in ((a, 3), (b, 1)):
            for reached in (side >= draw, side > draw):
                codes += reached.view(np.uint8) * np.uint8(weight)
        changes[part] = codes

    workers.map_rows(compare, n_rows, n_columns)
    counts = _count_orbits(first.variant, subspace, changes, workers)
    found = {"positions": int(counts.sum()), "changed_outcome": 0, "changed_depth": 0}
    for i, before in enumerate(_OUTCOMES):
        for j, after in enumerate(_OUTCOMES):
            if i != j:
                found[f"{before}_to_{after}"] = int(counts[16 + 3 * i + j])
                found["changed_outcome"] += int(counts[16 + 3 * i + j])
            else:
                found["changed_depth"] += int(counts[16 + 3 * i + j])
    return found


def _count_orbits(variant, subspace, codes: np.ndarray, workers) -> np.ndarray:
    orb = orbits(variant.board)
    row_stones, column_stones = subspace.table_sides
    masks, stabilisers = orb.rows(row_stones), orb.stabilisers(row_stones)
    cols = columns(variant.board.n_points - row_stones, column_stones)

    def count(start, stop):
        by_orbit = np.zeros(256, np.int64)
        fill_histograms(orb, masks, stabilisers, cols, codes, start, stop, by_orbit, np.zeros(256, np.int64))
        return by_orbit

    return sum(workers.map_rows(count, len(masks), cols.size))
