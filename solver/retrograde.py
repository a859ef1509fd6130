"""Retrograde pass over subspaces that quiet moves connect.

A pair's two tables, one for each side to move, share one index.  Every slot starts with the best value its
conversions give and with a count of its quiet moves.  Then depth by depth, from 0 upwards: a position lost in d
makes its predecessors wins in d + 1, if they are not better already; a position won in d takes one move from its
predecessors' counts, and one whose count comes to zero is lost, in d + 1 or as late as its captures allow.  What is
never reached is a draw.

Work is cut by the rows that are *written*: the owner of a row looks along the row's own forward edges for successors
decided at this depth.  No two workers write the same slot, whatever their number, and predecessors are by construction
exactly the inverse of the forward moves, also where a row has symmetries of its own.
"""

import numpy as np

from .bits import deposit, extract, lowest_bit, prefetch
from .combinatorics import columns
from .conversions import conversion_values, mover_value, shape_of
from .counting import (
    BLOCK, Ground, Side, count_column_moves, count_row_moves, decided_depth, enter, fill_decided, tally_decided,
)  # fmt: skip
from .edges import fill_packed_lines, fill_points, lines, rank_of, slide_edges, stones_in_mills
from .errors import DepthOverflowError, MorrisError
from .jit import Workers, inlined, kernel
from .subspace import Subspace, solved_together
from .symmetry import image_of, orbits
from .values import code_of_depth, draw_code, max_depth
from .variant import Variant

#: Most frontier stones kept at a time (uint32 each); see `frontier_limit`.
FRONTIER_LIMIT = 1 << 26
#: Predecessors of a row that are listed, and their lines asked for, before they are looked at.
BATCH = 1024
#: No row has more edges: as many as stones times free points, of 32 at most.
MOST_EDGES = 16 * 16
#: Pairs of points that fit a machine word, so that all moves along them are found with one exclusive or.
WORD = 62


def frontier_limit(slots: int) -> int:
    """Frontier stones kept at a time for a table with so many slots; a larger frontier is taken in several parts.

    How many there will be depends on the values; a sixteenth is little beside the tables and still few parts.
    """
    return min(FRONTIER_LIMIT, max(1 << 20, slots // 16))


@kernel
def fill_frontier(ground, start, stop, side, depth, code, first, base, stones):
    """Writes the column-side masks of all slots decided at ``depth`` in rows [start, stop) into ``stones``.

    first: int64[rows + 1], where each row's share begins, counted from ``base``.  Returns in how many rows the slots
    found are not as many as were booked: none, unless the machine's memory is at fault.
    """
    cols = ground.cols
    miscounted = 0
    found = np.empty(cols.size + side.marks.shape[1], np.uint32)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        if first[row] == first[row + 1]:
            continue
        free = full ^ np.int64(ground.masks[row])
        at = first[row] - base
        booked = first[row + 1] - first[row]
        n = fill_decided(side, row, cols.size, depth, code, found)
        miscounted += n != booked
        for i in range(booked):
            stones[at + i] = deposit(np.int64(cols.patterns[found[i]]), free) if i < n else 0
    return miscounted


@inlined
def _read_first(side, depth):
    """What `_improve` reads first of the slots, as bytes, and how many bytes a slot has there.

    Chosen once, before the loops that prefetch from it: with the choice inside, those for two bytes a slot take more
    than twice the time.
    """
    if depth % 2:
        return side.counts, np.int64(1)
    return side.values.view(np.uint8), np.int64(side.values.itemsize)


@inlined
def _improve(side, reached, n, row, size, depth, turn, draw, changed, before):
    """Enters what a successor decided at ``depth`` means for the columns ``reached[:n]`` of a row.

    turn: int64, the value of the turn that leads to it, as seen by the mover; changed, before: scratch, as long as
    ``reached``.  Which slots change is not to be foretold, so they are first listed without a branch.
    """
    m = 0
    values = side.values[row * size : (row + 1) * size]
    if depth % 2:  # the successor is won: one move less
        counts = side.counts[row * size : (row + 1) * size]
        for i in range(n):
            c = reached[i]
            left = counts[c] - np.uint8(1)
            counts[c] = left
            changed[m] = c
            m += left == 0
        for i in range(m):
            c = changed[i]
            if values[c] < draw:
                value = max(np.int64(values[c]), turn)
                values[c] = value
                enter(side, row, decided_depth(value, draw), np.int64(c))
    else:  # the successor is lost: a win
        for i in range(n):
            c = reached[i]
            value = np.int64(values[c])
            values[c] = max(value, turn)
            changed[m] = c
            before[m] = value
            m += value < turn
        for i in range(m):
            value = np.int64(before[i])
            if value > draw:
                side.at_depth[decided_depth(value, draw), row] -= 1
            enter(side, row, depth + 1, np.int64(changed[i]))


@kernel
def propagate_row_moves(ground, start, stop, side, depth, code, first, row_from, row_to, base, stones):
    """Carries a frontier back along the row side's quiet moves, into rows [start, stop) of its table.

    The frontier (of the column side's table) holds rows [row_from, row_to); see `fill_frontier`.
    """
    cols = ground.cols
    edges = ground.edges
    size = cols.size
    busy = np.empty(MOST_EDGES, np.int64)
    reached = np.empty(size + BATCH, np.uint32)
    changed = np.empty(size + BATCH, np.uint32)
    before = np.empty(size + BATCH, np.uint16)
    turn = mover_value(np.int64(code), ground.draw)
    asked, item = _read_first(side, depth)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        free = full ^ np.int64(ground.masks[row])
        n_busy = 0
        for e in range(edges.first[row], edges.first[row + 1]):
            target = np.int64(edges.target[e])
            if target < row_from or target >= row_to or (edges.closes[e] and not ground.quiet_mills):
                continue
            prefetch(stones, first[target] - base)
            busy[n_busy] = e
            n_busy += first[target] != first[target + 1]
        n = 0
        for b in range(n_busy):
            e = busy[b]
            target = np.int64(edges.target[e])
            closes = edges.closes[e] != 0
            begin, end = first[target] - base, first[target + 1] - base
            back = ground.orb.inverse[edges.symmetry[e]]
            origin = edges.origin[e]
            for i in range(begin, end):
                y = image_of(ground.orb.images, back, np.int64(stones[i]))
                column = rank_of(cols, extract(y, free))
                prefetch(asked, (row * size + column) * item)
                reached[n] = column
                legal = y & origin == 0
                if closes:
                    legal &= stones_in_mills(ground.mills, y) == y
                n += legal
            if n >= BATCH:
                _improve(side, reached, n, row, size, depth, turn, ground.draw, changed, before)
                n = 0
        _improve(side, reached, n, row, size, depth, turn, ground.draw, changed, before)


@kernel
def propagate_column_moves(ground, start, stop, decided, depth, code, side):
    """Carries the slots of ``decided`` at ``depth`` back along the column side's quiet moves, within rows.

    Returns in how many rows they are not as many as were booked, as `fill_frontier`.
    """
    cols = ground.cols
    miscounted = 0
    size = cols.size
    full = (np.int64(1) << ground.orb.n_points) - 1
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    pairs = np.empty(512, np.int64)
    reached = np.empty(512 + BATCH, np.uint32)
    changed = np.empty(512 + BATCH, np.uint32)
    before = np.empty(512 + BATCH, np.uint16)
    touching = np.empty(32, np.int64)
    found = np.empty(size + decided.marks.shape[1], np.uint32)
    turn = mover_value(np.int64(code), ground.draw)
    asked, item = _read_first(side, depth)
    for row in range(start, stop):
        if decided.at_depth[depth, row] == 0:
            continue
        x = np.int64(ground.masks[row])
        free = full ^ x
        n_free = fill_points(free, points)
        n_mills = fill_packed_lines(ground.mills, free, points, n_free, packed)
        if ground.quiet_mills and stones_in_mills(ground.mills, x) == x:
            n_mills = 0
        n_pairs = 0
        for j in range(n_free):
            touching[j] = 0
        for j in range(n_free):
            rest = extract(ground.column_reach[points[j]] & free, free) & ((np.int64(1) << j) - 1)
            while rest:
                i = lowest_bit(rest)
                rest &= rest - 1
                pairs[n_pairs] = np.int64(1) << i | np.int64(1) << j
                if n_pairs < WORD:
                    touching[i] |= np.int64(1) << n_pairs
                    touching[j] |= np.int64(1) << n_pairs
                n_pairs += 1
        n_found = fill_decided(decided, row, size, depth, code, found)
        miscounted += n_found != np.int64(decided.at_depth[depth, row])
        n = 0
        for f in range(n_found):
            pattern = np.int64(cols.patterns[found[f]])
            in_mills = np.int64(0)  # a stone now in a mill came by closing it: no quiet move
            for m in range(n_mills):
                in_mills |= packed[m] if pattern & packed[m] == packed[m] else 0
            if n_pairs <= WORD:
                # The pairs with exactly one stone, less those where it stands in a mill.
                open_pairs = np.int64(0)
                rest = pattern
                for _ in range(cols.k):
                    open_pairs ^= touching[lowest_bit(rest)]
                    rest &= rest - 1
                while in_mills:
                    open_pairs &= ~touching[lowest_bit(in_mills)]
                    in_mills &= in_mills - 1
                while open_pairs:
                    column = rank_of(cols, pattern ^ pairs[lowest_bit(open_pairs)])
                    prefetch(asked, (row * size + column) * item)
                    reached[n] = column
                    n += 1
                    open_pairs &= open_pairs - 1
            else:
                for p in range(n_pairs):
                    arrived = pattern & pairs[p]
                    if arrived != 0 and arrived != pairs[p] and arrived & in_mills == 0:
                        column = rank_of(cols, pattern ^ pairs[p])
                        prefetch(asked, (row * size + column) * item)
                        reached[n] = column
                        n += 1
            if n >= BATCH:
                _improve(side, reached, n, row, size, depth, turn, ground.draw, changed, before)
                n = 0
        _improve(side, reached, n, row, size, depth, turn, ground.draw, changed, before)
    return miscounted


@kernel
def settle_draws(start, stop, size, draw, side):
    """Turns all slots that were never decided into draws."""
    values = side.values[start * size : stop * size]
    counts = side.counts[start * size : stop * size]
    drawn = values.dtype.type(draw)
    for i in range(len(values)):
        values[i] = drawn if (values[i] < drawn) & (counts[i] != 0) else values[i]


def solve_together(variant: Variant, subspace: Subspace, width: int, load, workers: Workers, progress=None) -> dict:
    """Values of all subspaces that quiet moves connect with this one, as {subspace: flat array}.

    ``load(subspace, rows_own)`` gives finished values, see `conversion_values`; ``progress(share)`` is told how far
    the work has come, between 0 and 1.  Raises `DepthOverflowError` where a depth does not fit ``width`` bytes.
    """
    report = progress or (lambda share: None)
    together = solved_together(variant, subspace)
    first = together[0]
    if first.is_placing and not variant.place_and_slide:
        values = conversion_values(variant, first, first.rows_are_own, width, load, workers)
        report(1.0)
        return {first: values}
    first, by_rows, by_columns = pair_conversions(variant, first, width, load, workers, report)
    settle(variant, first, width, by_rows, by_columns, workers, report)
    return {first: by_rows, first.twin: by_columns} if first != first.twin else {first: by_rows}


def pair_conversions(variant: Variant, first: Subspace, width: int, load, workers: Workers, report):
    """What a pass begins with: the twin whose rows are its own side's, and the conversions' values of it and the other."""
    if not first.rows_are_own:
        first = first.twin
    by_rows = conversion_values(variant, first, True, width, load, workers)
    report(0.1)
    by_columns = conversion_values(variant, first.twin, False, width, load, workers)
    report(0.2)
    return first, by_rows, by_columns


#: Depths a pass has room for, by width.  One byte's code ends earlier, two bytes' much later.
MOST_DEPTHS = {1: 256, 2: 1024}


def settle(variant, first: Subspace, width: int, row_values, column_values, workers: Workers, report) -> None:
    """The pass itself: turns the conversions' values of both sides (see `pair_conversions`) into final ones, in place."""
    draw = draw_code(width)
    shape = shape_of(variant, first.own, first.opponent)
    arrays = lines(variant.board)
    reach = [
        arrays.anywhere if variant.can_fly(stones) and not hand else arrays.neighbours
        for stones, hand in ((first.own, first.own_hand), (first.opponent, first.opponent_hand))
    ]
    ground = Ground(
        orbits(variant.board), orbits(variant.board).rows(first.own),
        columns(variant.board.n_points - first.own, first.opponent),
        slide_edges(variant, first.own, reach[0] is arrays.anywhere),
        arrays.mills, arrays.others, reach[1], variant.capture_in_mills == "none" or not first.opponent, draw,
    )  # fmt: skip

    def on_rows(function):
        return workers.map_rows(function, shape.n_rows, shape.n_columns)

    tally_type = np.uint16 if shape.n_columns <= 0xFFFF else np.uint32
    rows, cols = (
        Side(
            values, np.empty(shape.size, np.uint8), np.zeros((MOST_DEPTHS[width], shape.n_rows), tally_type),
            np.zeros((shape.n_rows, -(-shape.n_columns // BLOCK)), np.int64),
        )
        for values in (row_values, column_values)
    )
    on_rows(lambda a, b: count_row_moves(ground, a, b, rows.values, rows.counts))
    on_rows(lambda a, b: count_column_moves(ground, a, b, cols.values, cols.counts))
    for side in (rows, cols):
        if any(on_rows(lambda a, b, side=side: tally_decided(a, b, shape.n_columns, draw, side))):
            raise DepthOverflowError(f"a capture in {first.name} is deeper than {width} byte(s) hold")
    report(0.3)
    decided = 0
    for depth in range(MOST_DEPTHS[width]):
        row_count, column_count = (side.at_depth[depth].sum(dtype=np.int64) for side in (rows, cols))
        if not row_count and not column_count:
            continue
        if depth > min(max_depth(width) + 1, MOST_DEPTHS[width] - 2):
            raise DepthOverflowError(f"{first.name} has depths beyond what {width} byte(s) hold")
        code = code_of_depth(depth, width)
        if row_count:
            _check_counts(on_rows(lambda a, b: propagate_column_moves(ground, a, b, rows, depth, code, cols)))
        if column_count:
            _carry_frontier(ground, rows, cols, depth, code, on_rows)
        decided += row_count + column_count
        report(0.3 + 0.7 * float(decided) / (2 * shape.size))
    for side in (rows, cols):
        on_rows(lambda a, b, side=side: settle_draws(a, b, shape.n_columns, draw, side))
    report(1.0)


def _carry_frontier(ground, rows, cols, depth, code, on_rows) -> None:
    """Lists the column side's slots decided at a depth and carries them back along the row side's moves."""
    per_row = cols.at_depth[depth].astype(np.int64)
    first = np.concatenate([[0], np.cumsum(per_row)])
    row_from, limit = 0, frontier_limit(len(cols.values))
    stones = np.empty(min(int(first[-1]), limit + int(per_row.max())), np.uint32)
    while row_from < len(per_row):
        base = int(first[row_from])
        row_to = int(np.searchsorted(first, base + limit, side="right")) - 1
        row_to = min(max(row_to, row_from + 1), len(per_row))

        def fill(a, b, row_from=row_from, row_to=row_to, base=base):
            a, b = max(a, row_from), min(b, row_to)
            return fill_frontier(ground, a, b, cols, depth, code, first, base, stones) if a < b else 0

        def carry(a, b, row_from=row_from, row_to=row_to, base=base):
            propagate_row_moves(ground, a, b, rows, depth, code, first, row_from, row_to, base, stones)

        _check_counts(on_rows(fill))
        on_rows(carry)
        row_from = row_to


def _check_counts(miscounted: list[int]) -> None:
    if any(miscounted):
        raise MorrisError("values changed in memory while they were computed; the machine may be faulty, build again")
