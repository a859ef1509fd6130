"""How many turns a pass counts and follows, exactly, from the finished values.

The pass follows, for every decided slot, all quiet turns that lead there.  How many those are stands in the position
alone: for the column side, each stone that is in no mill and each free point it can have come from; for the row side,
the row graph's edges into this row whose origin is free.  Summed over all slots they are all quiet turns of the
subspaces, which the scan counts; summed over the decided ones, the edges that the propagation follows.
"""

from typing import NamedTuple

import numpy as np

from solver.bits import bit_count
from solver.board import Board
from solver.combinatorics import Columns, columns
from solver.conversions import shape_of
from solver.edges import RowEdges, fill_packed_lines, fill_points, lines, slide_edges, stones_in_mills
from solver.jit import Workers, kernel
from solver.subspace import Subspace
from solver.symmetry import image_of, orbits
from solver.values import draw_code
from solver.variant import Variant


class EdgeCounts(NamedTuple):
    """Turns of both sides in all slots of a pass: quiet, quiet into a decided slot, closing a mill."""

    quiet: int
    followed: int
    closing: int


@kernel
def count_column_arrivals(orb, masks, cols, mills, reach, quiet_mills, values, draw, start, stop):
    """Quiet turns of the column side into the slots of rows [start, stop): all, and those into decided slots.

    values: of the row side to move, who is next; reach: int64[points].  See `counting.Ground` for the rest.
    """
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    near = np.empty(32, np.int64)
    full = (np.int64(1) << orb.n_points) - 1
    total, decided = 0, 0
    for row in range(start, stop):
        x = np.int64(masks[row])
        n_free = fill_points(full ^ x, points)
        n_mills = fill_packed_lines(mills, full ^ x, points, n_free, packed)
        if quiet_mills and stones_in_mills(mills, x) == x:
            n_mills = 0
        for i in range(n_free):
            near[i] = 0
            for j in range(n_free):
                if i != j and (reach[points[j]] >> points[i]) & 1:
                    near[i] |= np.int64(1) << j
        for c in range(cols.size):
            pattern = np.int64(cols.patterns[c])
            movable = pattern
            for m in range(n_mills):
                if pattern & packed[m] == packed[m]:
                    movable &= ~packed[m]
            n = 0
            for i in range(n_free):
                if (movable >> i) & 1:
                    n += bit_count(near[i] & ~pattern)
            total += n
            if values[row * cols.size + c] != draw:
                decided += n
    return total, decided


@kernel
def fill_arrivals(orb, masks, edges, closing, by_origin):
    """by_origin[row, i] = edges into a row, with that ``closes``, whose origin is the row's free point i."""
    for source in range(len(masks)):
        for e in range(edges.first[source], edges.first[source + 1]):
            if edges.closes[e] == closing:
                target = np.int64(edges.target[e])
                origin = image_of(orb.images, np.int64(edges.symmetry[e]), edges.origin[e])
                by_origin[target, bit_count((origin - 1) & ~np.int64(masks[target]))] += 1


@kernel
def count_row_arrivals(orb, masks, cols, mills, quiet_mills, by_origin, closing_by_origin, values, draw, start, stop):
    """The same for turns of the row side; values: of the column side to move."""
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    full = (np.int64(1) << orb.n_points) - 1
    total, decided = 0, 0
    for row in range(start, stop):
        free = full ^ np.int64(masks[row])
        n_free = fill_points(free, points)
        n_mills = fill_packed_lines(mills, free, points, n_free, packed)
        for c in range(cols.size):
            pattern = np.int64(cols.patterns[c])
            in_mills = np.int64(0)
            if quiet_mills:
                for m in range(n_mills):
                    if pattern & packed[m] == packed[m]:
                        in_mills |= packed[m]
            n = 0
            for i in range(n_free):
                if (pattern >> i) & 1 == 0:
                    n += by_origin[row, i]
                    if quiet_mills and in_mills == pattern:
                        n += closing_by_origin[row, i]
            total += n
            if values[row * cols.size + c] != draw:
                decided += n
    return total, decided


def count_edges(
    variant: Variant, subspace: Subspace, row_values: np.ndarray, column_values: np.ndarray, workers: Workers
) -> EdgeCounts:
    """Turns in the pass over a pair; ``subspace`` is the one with the row side to move.

    row_values, column_values: final values with the row side and the column side to move, in the pair's one index.
    """
    board, orb = variant.board, orbits(variant.board)
    arrays, draw = lines(board), draw_code(row_values.itemsize)
    shape = shape_of(variant, subspace.own, subspace.opponent)
    masks, cols = orb.rows(subspace.own), columns(board.n_points - subspace.own, subspace.opponent)
    strict = variant.capture_in_mills == "none"
    flies = [
        variant.can_fly(n) and not hand
        for n, hand in ((subspace.own, subspace.own_hand), (subspace.opponent, subspace.opponent_hand))
    ]
    edges = slide_edges(variant, subspace.own, flies[0])
    reach = arrays.anywhere if flies[1] else arrays.neighbours
    by_origin = np.zeros((2, shape.n_rows, board.n_points), np.int64)
    for closing in (0, 1):
        fill_arrivals(orb, masks, edges, closing, by_origin[closing])
    counts = workers.map_rows(
        lambda a, b: (
            *count_column_arrivals(orb, masks, cols, arrays.mills, reach, strict, row_values, draw, a, b),
            *count_row_arrivals(orb, masks, cols, arrays.mills, strict, *by_origin, column_values, draw, a, b),
        ),
        shape.n_rows, shape.n_columns,
    )  # fmt: skip
    by_columns, by_columns_decided, by_rows, by_rows_decided = (int(sum(part)) for part in zip(*counts))
    quiet = by_columns + by_rows
    return EdgeCounts(quiet, by_columns_decided + by_rows_decided, _all_turns(board, masks, cols, edges, reach) - quiet)


def _all_turns(board: Board, masks: np.ndarray, cols: Columns, edges: RowEdges, reach: np.ndarray) -> int:
    """Slides of both sides in all slots: each row edge and each pair of points leaves the other stones any place."""
    free = np.int64(board.full_mask) ^ masks.astype(np.int64)
    pairs = sum(int((np.bitwise_count(free & reach[p]) * (free >> p & 1)).sum()) for p in range(board.n_points))
    of_rows = len(edges.target) * columns(cols.n - 1, cols.k).size
    of_columns = pairs * columns(cols.n - 2, cols.k - 1).size if cols.k else 0
    return of_rows + of_columns
