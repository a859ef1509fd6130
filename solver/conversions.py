"""Conversions: turns that leave a subspace for one that is finished.

Captures and placements.  Their value does not change during a retrograde pass, so it is gathered once, for
all slots, whole rows at a time.  Where a subspace has no quiet moves (placing without sliding) this gathering
is the complete solution.

A capture is taken in two steps.  The position in which a mill has just been closed and a stone is still to be
removed has a slot too: its stones are those after the move.  Its value, the best over all removals, is found once
(``capture_owed``) and serves every turn that closes a mill in it.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from .bits import deposit
from .combinatorics import columns, patterns_with
from .edges import (
    column_steps, fill_bit_maps, fill_column_map, fill_packed_lines, fill_points, lines, moved_pattern,
    place_edges, rank_of, removal_edges, slide_edges,
)  # fmt: skip
from .jit import Workers, inlined, kernel
from .planes import fill_planes, list_with_mill, words_for
from .subspace import Subspace, count_canonical
from .symmetry import orbits
from .values import DTYPES, LOST, draw_code, largest_code, seen_by_mover
from .variant import MIN_STONES, Variant

mover_value = inlined(seen_by_mover)
_largest_code = inlined(largest_code)


class Shape(NamedTuple):
    """Rows and columns of a table: stones of the row side and of the column side, and their numbers."""

    row_stones: int
    column_stones: int
    n_rows: int
    n_columns: int

    @property
    def size(self) -> int:
        return self.n_rows * self.n_columns


def shape_of(variant: Variant, row_stones: int, column_stones: int) -> Shape:
    """Shape of the tables with that many stones on board."""
    n_rows = count_canonical(variant, Subspace(row_stones, 0))
    return Shape(row_stones, column_stones, n_rows, comb(variant.board.n_points - row_stones, column_stones))


def table_shape(variant: Variant, file: Subspace) -> Shape:
    """Rows and columns of the tables in a file."""
    return shape_of(variant, *file.table_sides)


@kernel
def merge_row_edges(orb, sources, targets, edges, closing, seen, source_columns, target_columns, table, start, stop, out):
    """out[slot] = max(out[slot], best of table over the row's edges), for rows in [start, stop).

    sources, targets: uint32, canonical masks of the rows before and after; edges: RowEdges; closing: only edges
    with that ``closes``, or 2 for all; seen: 0 to take the table's values as they are, else the draw code, to take
    them as seen by the mover; table, out: flat, of one dtype.
    """
    scratch_low = np.empty(4096, np.int64)
    scratch_high = np.empty(4096, np.int64)
    moved = np.empty(source_columns.size, np.uint32)
    values = np.zeros(target_columns.size + 1, table.dtype)
    size = source_columns.size
    for row in range(start, stop):
        best = out[row * size : (row + 1) * size]
        for e in range(edges.first[row], edges.first[row + 1]):
            if closing != 2 and edges.closes[e] != closing:
                continue
            target = np.int64(edges.target[e])
            fill_column_map(
                orb.images, np.int64(edges.symmetry[e]), np.int64(sources[row]), np.int64(targets[target]),
                edges.goal[e], source_columns, target_columns, scratch_low, scratch_high, moved,
            )  # fmt: skip
            _load_row(table, target, target_columns.size, seen, values)
            for c in range(size):
                best[c] = max(best[c], values[moved[c]])


@inlined
def _load_row(table, row, size, seen, values):
    """Copies a row, as seen by the mover if ``seen``; values[size] stays the neutral 0."""
    start = row * size
    if seen:
        for c in range(size):
            values[c] = mover_value(np.int64(table[start + c]), seen)
    else:
        for c in range(size):
            values[c] = table[start + c]


@kernel
def fill_row_removals(orb, sources, targets, edges, mills, cols, target_columns, draw, table, start, stop, out):
    """Best removal of a row-side stone, for all slots of rows [start, stop) in which the column side has a mill; others stay.

    edges: the legal removals; a row without any stays too.  table: values after the removal.
    """
    low_bits = np.empty(4096, np.int64)
    high_bits = np.empty(4096, np.int64)
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    size = cols.size
    planes = np.empty((cols.n, words_for(size)), np.int64)
    fill_planes(cols, planes)
    scratch = np.empty((2, words_for(size)), np.int64)
    listed = np.empty(size, np.uint32)
    worst = np.empty(size, table.dtype)
    full = (np.int64(1) << orb.n_points) - 1
    for row in range(start, stop):
        if edges.first[row] == edges.first[row + 1]:
            continue
        x = np.int64(sources[row])
        n_free = fill_points(full ^ x, points)
        n_mills = fill_packed_lines(mills, full ^ x, points, n_free, packed)
        n = list_with_mill(planes, packed, n_mills, scratch, listed)
        worst[:n] = _largest_code(draw)
        for e in range(edges.first[row], edges.first[row + 1]):
            target = np.int64(edges.target[e])
            fill_bit_maps(
                orb.images, np.int64(edges.symmetry[e]), x, np.int64(targets[target]), np.int64(0), cols.n, low_bits, high_bits
            )
            values = table[target * target_columns.size : (target + 1) * target_columns.size]
            for i in range(n):
                moved = moved_pattern(low_bits, high_bits, cols.n, np.int64(cols.patterns[listed[i]]))
                worst[i] = min(worst[i], values[rank_of(target_columns, moved)])
        for i in range(n):
            out[row * size + listed[i]] = mover_value(np.int64(worst[i]), draw)


@kernel
def fill_column_removals(orb, sources, mills, may_break, cols, fewer, drop, draw, quiet, table, start, stop, out):
    """Best removal of a column-side stone, for rows in [start, stop) whose row side has a mill; others stay.

    may_break: whether a stone may be removed from a mill when all stand in mills; drop: see ColumnSteps; table:
    values after the removal; quiet: values of the same slots when nothing is removed (length 0 where that cannot be).
    """
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    full = (np.int64(1) << orb.n_points) - 1
    size = cols.size
    k = cols.k
    largest = np.int64(_largest_code(draw))
    planes = np.empty((cols.n, words_for(size)), np.int64)
    fill_planes(cols, planes)
    scratch = np.empty((2, words_for(size)), np.int64)
    listed = np.empty(size, np.uint32)
    for row in range(start, stop):
        x = np.int64(sources[row])
        has_mill = False
        for i in range(len(mills)):
            has_mill |= x & mills[i] == mills[i]
        if not has_mill:
            continue
        values = table[row * fewer.size : (row + 1) * fewer.size]
        best = out[row * size : (row + 1) * size]
        for c in range(size):  # as if no stone stood in a mill
            worst = largest
            for i in range(k):
                worst = min(worst, np.int64(values[drop[c, i]]))
            best[c] = mover_value(worst, draw)
        n_free = fill_points(full ^ x, points)
        n_mills = fill_packed_lines(mills, full ^ x, points, n_free, packed)
        for j in range(list_with_mill(planes, packed, n_mills, scratch, listed)):
            c = np.int64(listed[j])
            pattern = np.int64(cols.patterns[c])
            in_mills = np.int64(0)
            for i in range(n_mills):
                in_mills |= packed[i] if pattern & packed[i] == packed[i] else 0
            if in_mills != pattern:
                worst = largest
                rest = pattern
                for i in range(k):
                    lowest = rest & -rest
                    rest ^= lowest
                    worst = min(worst, np.int64(values[drop[c, i]]) if in_mills & lowest == 0 else largest)
                best[c] = mover_value(worst, draw)
            elif not may_break:
                best[c] = mover_value(np.int64(quiet[row * size + c]), draw) if len(quiet) else LOST


@kernel
def merge_column_slides(orb, sources, others, reach, cols, idle, table, start, stop, out):
    """Slides of the column side that close a mill: out = max(out, table at the slot reached, unchanged).

    idle: uint32, the patterns of the stones that are neither moved nor in the mill: k - 3 on n - 4 points.
    """
    points = np.empty(32, np.int64)
    tests = np.empty(8, np.int64)
    full = (np.int64(1) << orb.n_points) - 1
    size = cols.size
    for row in range(start, stop):
        free = full ^ np.int64(sources[row])
        n_free = fill_points(free, points)
        best = out[row * size : (row + 1) * size]
        reached = table[row * size : (row + 1) * size]
        for j in range(n_free):
            for i in range(n_free):
                if i == j or (reach[points[i]] >> points[j]) & 1 == 0:
                    continue
                usable = free ^ (np.int64(1) << points[i])
                n_tests = fill_closing_tests(others, points[j], usable, points, n_free, tests)
                for t in range(n_tests):
                    before = tests[t] | np.int64(1) << i
                    after = tests[t] | np.int64(1) << j
                    elsewhere = ((np.int64(1) << n_free) - 1) ^ (before | after)
                    for s in range(len(idle)):
                        pattern = deposit(np.int64(idle[s]), elsewhere)
                        a = rank_of(cols, pattern | before)
                        best[a] = max(best[a], reached[rank_of(cols, pattern | after)])


@inlined
def fill_closing_tests(others, goal, usable, points, n_free, tests):
    """Writes, as patterns, the pairs of points which, both occupied, make a stone arriving at ``goal`` close a mill.

    usable: mask of the points where a stone of that side can stand.  Returns how many.
    """
    n = 0
    for m in range(others.shape[1]):
        if others[goal, m] & ~usable == 0:
            pattern = np.int64(0)
            for b in range(n_free):
                pattern |= ((others[goal, m] >> points[b]) & 1) << b
            tests[n] = pattern
            n += 1
    return n


@kernel
def merge_column_places(orb, sources, others, cols, more, place_from, place_to, draw, quiet, owed, start, stop, out):
    """Placements of the column side: the quiet ones from ``quiet`` as seen by the mover, those that close a mill
    from ``owed`` as it is (both over the same rows with one more column stone)."""
    points = np.empty(32, np.int64)
    tests = np.empty(8, np.int64)
    values = np.zeros(more.size + 1, quiet.dtype)
    full = (np.int64(1) << orb.n_points) - 1
    size = cols.size
    for row in range(start, stop):
        free = full ^ np.int64(sources[row])
        n_free = fill_points(free, points)
        best = out[row * size : (row + 1) * size]
        captures = owed[row * more.size : (row + 1) * more.size]
        _load_row(quiet, row, more.size, draw, values)
        for i in range(n_free):
            n_tests = fill_closing_tests(others, points[i], free, points, n_free, tests)
            for s in range(place_from.shape[1]):
                a = np.int64(place_from[i, s])
                b = np.int64(place_to[i, s])
                pattern = np.int64(cols.patterns[a])
                closed = False
                for t in range(n_tests):
                    closed |= pattern & tests[t] == tests[t]
                best[a] = max(best[a], captures[b] if closed else values[b])


def capture_owed(variant, owed: Subspace, rows_own: bool, width: int, load, workers: Workers, quiet=None) -> np.ndarray:
    """Values of the positions in which the side to move has closed a mill and must remove a stone.

    ``owed`` counts the stones before the removal; ``rows_own`` says whether the rows are the side to move's.
    ``load(subspace, rows_are_own)`` gives finished values;
    ``quiet`` those of the same slots where nothing can be removed, seen by the other side.  Slots in which
    no mill stands hold 0.
    """
    draw = draw_code(width)
    orb = orbits(variant.board)
    fewer = Subspace(owed.opponent - 1, owed.own, owed.opponent_hand, owed.own_hand)
    table = load(fewer, not rows_own)
    n = variant.board.n_points
    if rows_own:
        shape = shape_of(variant, owed.own, owed.opponent)
        out = np.zeros(shape.size, DTYPES[width])
        cols, less = columns(n - owed.own, owed.opponent), columns(n - owed.own, owed.opponent - 1)
        drop = column_steps(cols.n, cols.k).drop
        sources = orb.rows(owed.own)
        kept = out[:0] if quiet is None else quiet
        mills, may_break = lines(variant.board).mills, variant.capture_in_mills == "any"
        workers.map_rows(
            lambda a, b: fill_column_removals(
                orb, sources, mills, may_break, cols, less, drop, draw, kept, table, a, b, out
            ),
            shape.n_rows, shape.n_columns,
        )  # fmt: skip
        return out
    shape = shape_of(variant, owed.opponent, owed.own)
    out = np.zeros(shape.size, DTYPES[width])
    edges, mills = removal_edges(variant, owed.opponent), lines(variant.board).mills
    here, there = columns(n - owed.opponent, owed.own), columns(n - owed.opponent + 1, owed.own)
    sources, targets = orb.rows(owed.opponent), orb.rows(owed.opponent - 1)
    workers.map_rows(
        lambda a, b: fill_row_removals(orb, sources, targets, edges, mills, here, there, draw, table, a, b, out),
        shape.n_rows, shape.n_columns,
    )  # fmt: skip
    if quiet is not None:
        keep_where_nothing_is_removed(edges, shape.n_columns, quiet, draw, out)
    return out


@kernel
def keep_where_nothing_is_removed(edges, size, quiet, draw, out):
    """Rows of ``size`` columns from which no stone can be removed: out = quiet as seen by the mover; others stay."""
    for row in range(len(edges.first) - 1):
        if edges.first[row] == edges.first[row + 1]:
            _load_row(quiet, row, size, draw, out[row * size : (row + 1) * size])


def conversion_values(
    variant: Variant, subspace: Subspace, rows_own: bool, width: int, load, workers: Workers
) -> np.ndarray:
    """Best value over all conversions, for every slot of a subspace; 0 (lost) where there is none.

    ``load(subspace, rows_are_own)`` gives the finished values of another subspace, flat, with the rows from
    the side asked for; ``rows_own`` asks for the result's.  Returns uint8 or uint16[rows * columns] by ``width``.
    """
    shape = shape_of(variant, *subspace.sides(rows_own))
    board_is_full = subspace.stones_on_board == variant.board.n_points
    nothing = draw_code(width) if board_is_full and variant.full_board == "draw" else LOST
    out = np.full(shape.size, nothing, DTYPES[width])
    if subspace.own_hand and not board_is_full:
        _merge_places(variant, subspace, rows_own, shape, width, load, workers, out)
    if not subspace.own_hand or variant.place_and_slide:
        _merge_capturing_slides(variant, subspace, rows_own, shape, width, load, workers, out)
    return out


def _merge_places(variant, subspace, rows_own, shape, width, load, workers, out) -> None:
    draw = draw_code(width)
    orb, n = orbits(variant.board), variant.board.n_points
    after = Subspace(subspace.opponent, subspace.own + 1, subspace.opponent_hand, subspace.own_hand - 1)
    quiet = load(after, not rows_own)
    strict = variant.capture_in_mills == "none"
    if after.opponent >= MIN_STONES and after.own:
        owed = capture_owed(variant, after.twin, rows_own, width, load, workers, quiet if strict else None)
    else:
        owed = quiet[:0]  # too few stones for a mill, or none to remove: no placement captures
    sources = orb.rows(shape.row_stones)
    if rows_own:
        targets = orb.rows(shape.row_stones + 1)
        edges = place_edges(variant.board, shape.row_stones)
        here, there = columns(n - shape.row_stones, shape.column_stones), columns(n - shape.row_stones - 1, shape.column_stones)

        def merge(a, b):
            capturing = 0 if len(owed) else 2
            merge_row_edges(orb, sources, targets, edges, capturing, draw, here, there, quiet, a, b, out)
            if len(owed):
                merge_row_edges(orb, sources, targets, edges, 1, 0, here, there, owed, a, b, out)
    else:
        cols, more = columns(n - shape.row_stones, shape.column_stones), columns(n - shape.row_stones, shape.column_stones + 1)
        steps = column_steps(cols.n, cols.k)
        others = lines(variant.board).others if len(owed) else np.zeros((n, 0), np.int64)

        def merge(a, b):
            merge_column_places(
                orb, sources, others, cols, more, steps.place_from, steps.place_to, draw, quiet, owed, a, b, out
            )

    workers.map_rows(merge, shape.n_rows, shape.n_columns)


def _merge_capturing_slides(variant, subspace, rows_own, shape, width, load, workers, out) -> None:
    if subspace.own < MIN_STONES or not subspace.opponent:
        return
    orb, n = orbits(variant.board), variant.board.n_points
    owed = capture_owed(variant, subspace, rows_own, width, load, workers)
    flying = not subspace.own_hand and variant.can_fly(subspace.own)
    cols = columns(n - shape.row_stones, shape.column_stones)
    sources = orb.rows(shape.row_stones)
    if rows_own:
        edges = slide_edges(variant, subspace.own, flying)

        def merge(a, b):
            merge_row_edges(orb, sources, sources, edges, 1, 0, cols, cols, owed, a, b, out)
    else:
        arrays = lines(variant.board)
        reach = arrays.anywhere if flying else arrays.neighbours
        idle = patterns_with(cols.n - 4, cols.k - 3)

        def merge(a, b):
            merge_column_slides(orb, sources, arrays.others, reach, cols, idle, owed, a, b, out)

    workers.map_rows(merge, shape.n_rows, shape.n_columns)
