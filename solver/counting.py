"""The state of a retrograde pass, and how it begins: every slot's count of quiet moves.

While a pass runs, a slot's value means
    above the draw      a win, final once the pass has reached its depth
    draw                a capture draws: never a loss (its count starts high enough never to reach zero)
    below the draw      a loss only when the count is zero; until then the latest loss among its captures
"""

from typing import NamedTuple

import numpy as np

from .combinatorics import Columns
from .conversions import fill_closing_tests
from .edges import RowEdges, fill_packed_lines, fill_points, stones_in_mills
from .jit import inlined, kernel
from .symmetry import Orbits

#: Added to the count of a slot where a capture draws: more than any number of quiet moves.
NEVER_LOST = 128
#: Columns that share one set of marks.
BLOCK = 64


class Side(NamedTuple):
    """The table of one side to move during a pass.

    values: uint8 or uint16[slots]; counts: uint8[slots], quiet moves not yet known to lose;
    at_depth: uint16 or uint32[depths, rows], how many slots of a row are decided at a depth;
    marks: int64[rows, blocks], for each block of 64 columns the set of depths modulo 64 that were ever entered
    in it, so that the slots of one depth are found without reading all values.
    """

    values: np.ndarray
    counts: np.ndarray
    at_depth: np.ndarray
    marks: np.ndarray


class Ground(NamedTuple):
    """What all kernels of a pass need: index, edges, mills and the two capture rules of a strict game.

    column_reach: int64[points], where a stone of the column side can go; quiet_mills: whether a mill removes nothing
    when all opponent stones stand in mills, so that closing one is a quiet move there.
    """

    orb: Orbits
    masks: np.ndarray
    cols: Columns
    edges: RowEdges
    mills: np.ndarray
    others: np.ndarray
    column_reach: np.ndarray
    quiet_mills: bool
    draw: int


@inlined
def depth_of(value, draw):
    """DTW of a decided value's code."""
    return 2 * (2 * draw - 1 - value) + 1 if value > draw else 2 * value


@kernel
def count_row_moves(ground, start, stop, values, counts):
    """counts = quiet moves of the row side, raised by NEVER_LOST where the conversions draw."""
    cols = ground.cols
    size = cols.size
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        free = full ^ np.int64(ground.masks[row])
        n_free = fill_points(free, points)
        here = counts[row * size : (row + 1) * size]
        here[:] = 0
        for i in range(n_free):
            goal = np.int64(1) << points[i]
            quiet = np.uint8(0)
            closing = np.uint8(0)
            for e in range(ground.edges.first[row], ground.edges.first[row + 1]):
                if ground.edges.goal[e] == goal:
                    if ground.edges.closes[e]:
                        closing += np.uint8(1)
                    else:
                        quiet += np.uint8(1)
            bit = np.uint32(1) << np.uint32(i)
            if quiet:
                for c in range(size):
                    here[c] += quiet if cols.patterns[c] & bit == 0 else np.uint8(0)
            if closing and ground.quiet_mills:
                n_mills = fill_packed_lines(ground.mills, free, points, n_free, packed)
                for c in range(size):
                    pattern = np.int64(cols.patterns[c])
                    if pattern & np.int64(bit) == 0 and _all_in_mills(packed, n_mills, pattern):
                        here[c] += closing
        for c in range(size):
            here[c] += np.uint8(NEVER_LOST) if values[row * size + c] == ground.draw else np.uint8(0)


@inlined
def _all_in_mills(packed, n_mills, pattern):
    found = np.int64(0)
    for i in range(n_mills):
        if pattern & packed[i] == packed[i]:
            found |= packed[i]
    return found == pattern


@kernel
def count_column_moves(ground, start, stop, values, counts):
    """counts = quiet moves of the column side, raised by NEVER_LOST where the conversions draw."""
    cols = ground.cols
    size = cols.size
    points = np.empty(32, np.int64)
    tests = np.empty(8, np.int64)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        x = np.int64(ground.masks[row])
        free = full ^ x
        n_free = fill_points(free, points)
        here = counts[row * size : (row + 1) * size]
        here[:] = 0
        closing_is_quiet = ground.quiet_mills and stones_in_mills(ground.mills, x) == x
        for j in range(n_free):
            for i in range(n_free):
                if i == j or (ground.column_reach[points[i]] >> points[j]) & 1 == 0:
                    continue
                origin = np.uint32(1) << np.uint32(i)
                both = origin | np.uint32(1) << np.uint32(j)
                n_tests = 0
                if not closing_is_quiet:
                    usable = free ^ (np.int64(1) << points[i])
                    n_tests = fill_closing_tests(ground.others, points[j], usable, points, n_free, tests)
                # At most three mills meet in a point; a test with all bits never holds.
                never = np.uint32(0xFFFFFFFF)
                t0 = np.uint32(tests[0]) if n_tests > 0 else never
                t1 = np.uint32(tests[1]) if n_tests > 1 else never
                t2 = np.uint32(tests[2]) if n_tests > 2 else never
                for c in range(size):
                    p = cols.patterns[c]
                    quiet = (p & both == origin) & (p & t0 != t0) & (p & t1 != t1) & (p & t2 != t2)
                    here[c] += np.uint8(quiet)
        for c in range(size):
            here[c] += np.uint8(NEVER_LOST) if values[row * size + c] == ground.draw else np.uint8(0)


@kernel
def tally_decided(start, stop, size, draw, side):
    """Enters all slots that are decided before the pass begins into ``side.at_depth``.

    Returns 1 where any value, also of a slot not yet decided, is deeper than that table has room for, else 0.
    """
    for row in range(start, stop):
        for slot in range(row * size, (row + 1) * size):
            value = np.int64(side.values[slot])
            if value == draw:
                continue
            depth = depth_of(value, draw)
            if depth >= side.at_depth.shape[0]:
                return 1
            if value > draw or side.counts[slot] == 0:
                enter(side, row, depth, slot - row * size)
    return 0


@inlined
def enter(side, row, depth, column):
    """Books a slot as decided at a depth."""
    side.at_depth[depth, row] += 1
    side.marks[row, column // BLOCK] |= np.int64(1) << (depth % 64)
