"""The state of a retrograde pass, how it begins (every slot's count of quiet moves), and what is decided when.

While a pass runs, a slot's value means
    above the draw      a win, final once the pass has reached its depth
    draw                a capture draws: never a loss (its count starts high enough never to reach zero)
    below the draw      a loss only when the count is zero; until then the latest loss among its captures
"""

from typing import NamedTuple

import numpy as np

from .bits import extract, lowest_bit, matches, prefetch
from .combinatorics import Columns
from .conversions import fill_closing_tests
from .edges import RowEdges, fill_packed_lines, fill_points, stones_in_mills
from .jit import inlined, kernel
from .planes import DIGITS, add_to, fill_containing, fill_planes, words_for, write_sums
from .symmetry import Orbits
from .values import depth_of

#: Added to the count of a slot where a capture draws: more than any number of quiet moves.
NEVER_LOST = 128
#: Columns that share one set of marks: as many as `matches` compares.
BLOCK = 64

decided_depth = inlined(depth_of)


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
    """What all kernels of a pass need: index, edges, mills and the rules of capture.

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


@kernel
def count_row_moves(ground, start, stop, values, counts):
    """counts = quiet moves of the row side, raised by NEVER_LOST where the conversions draw."""
    cols = ground.cols
    size = cols.size
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    n_words = words_for(size)
    planes = np.empty((cols.n, n_words), np.int64)
    fill_planes(cols, planes)
    movable = np.empty(n_words, np.int64)
    digits = np.empty((DIGITS, n_words), np.int64)
    eights = np.empty(8 * n_words, np.int64)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        free = full ^ np.int64(ground.masks[row])
        digits[:] = 0
        n_digits = 0
        n_quiet = 0
        n_closing = 0
        for e in range(ground.edges.first[row], ground.edges.first[row + 1]):
            if ground.edges.closes[e]:
                n_closing += 1
                continue
            taken = planes[lowest_bit(extract(ground.edges.goal[e], free))]
            for w in range(n_words):
                movable[w] = ~taken[w]
            n_quiet += 1
            if n_quiet >> n_digits and n_digits < DIGITS:
                n_digits += 1
            add_to(digits, n_digits, movable)
        counted = counts[row * size : (row + 1) * size]
        write_sums(digits, n_digits, eights, counted)
        if n_closing and ground.quiet_mills:
            n_free = fill_points(free, points)
            n_mills = fill_packed_lines(ground.mills, free, points, n_free, packed)
            for c in range(size):
                pattern = np.int64(cols.patterns[c])
                if not _all_in_mills(packed, n_mills, pattern):
                    continue
                for e in range(ground.edges.first[row], ground.edges.first[row + 1]):
                    if ground.edges.closes[e] and pattern & extract(ground.edges.goal[e], free) == 0:
                        counted[c] += np.uint8(1)
        _raise_drawn(values[row * size : (row + 1) * size], ground.draw, counted)


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
    n_words = words_for(size)
    planes = np.empty((cols.n, n_words), np.int64)
    fill_planes(cols, planes)
    movable = np.empty(n_words, np.int64)
    either = np.empty(n_words, np.int64)
    closing = np.empty(n_words, np.int64)
    digits = np.empty((DIGITS, n_words), np.int64)
    eights = np.empty(8 * n_words, np.int64)
    full = (np.int64(1) << ground.orb.n_points) - 1
    for row in range(start, stop):
        x = np.int64(ground.masks[row])
        free = full ^ x
        n_free = fill_points(free, points)
        closing_is_quiet = ground.quiet_mills and stones_in_mills(ground.mills, x) == x
        digits[:] = 0
        n_digits = 0
        n_pairs = 0
        for j in range(n_free):
            for i in range(j):
                if (ground.column_reach[points[i]] >> points[j]) & 1 == 0:
                    continue
                either[:] = 0  # of the two directions at most one is open in a column
                for direction in range(2):
                    goal, origin = (j, i) if direction == 0 else (i, j)
                    there, here = planes[goal], planes[origin]
                    for w in range(n_words):
                        movable[w] = here[w] & ~there[w]
                    if not closing_is_quiet:
                        usable = free ^ (np.int64(1) << points[origin])
                        n_tests = fill_closing_tests(ground.others, points[goal], usable, points, n_free, tests)
                        for t in range(n_tests):
                            fill_containing(planes, tests[t], closing)
                            for w in range(n_words):
                                movable[w] &= ~closing[w]
                    for w in range(n_words):
                        either[w] |= movable[w]
                n_pairs += 1
                if n_pairs >> n_digits and n_digits < DIGITS:
                    n_digits += 1
                add_to(digits, n_digits, either)
        counted = counts[row * size : (row + 1) * size]
        write_sums(digits, n_digits, eights, counted)
        _raise_drawn(values[row * size : (row + 1) * size], ground.draw, counted)


@inlined
def _raise_drawn(values, draw, counts):
    drawn = values.dtype.type(draw)
    for c in range(len(counts)):
        counts[c] += np.uint8(NEVER_LOST) if values[c] == drawn else np.uint8(0)


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
            depth = decided_depth(value, draw)
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


@inlined
def fill_decided(side, row, size, depth, code, found):
    """Writes the columns of a row that are decided at ``depth`` (value ``code``); returns how many.

    found: scratch, as long as a row and its blocks.
    """
    n_blocks = side.marks.shape[1]
    marks = side.marks.reshape(-1)
    bit = np.int64(1) << (depth % 64)
    is_win = depth % 2 == 1
    begin = row * size
    m = 0  # the marked blocks stand at the end of ``found``, which the columns do not reach before they are read
    for first in range(0, n_blocks, 64):
        marked = matches(marks, row * n_blocks + first, bit, bit)
        if first + 64 > n_blocks:
            marked &= (np.int64(1) << (n_blocks - first)) - 1
        while marked:
            i = lowest_bit(marked)
            marked ^= np.int64(1) << i
            c = (first + i) * BLOCK
            prefetch(side.values, begin + c)
            prefetch(side.values, begin + c + BLOCK - 1)
            if not is_win:
                prefetch(side.counts, begin + c)
                prefetch(side.counts, begin + c + BLOCK - 1)
            found[size + m] = c
            m += 1
    n = 0
    for j in range(m):
        c = np.int64(found[size + j])
        hits = matches(side.values, begin + c, -1, code)
        if hits and not is_win:
            hits &= matches(side.counts, begin + c, -1, 0)
        if c + BLOCK > size:
            hits &= (np.int64(1) << (size - c)) - 1
        while hits:
            i = lowest_bit(hits)
            hits ^= np.int64(1) << i
            found[n] = c + i
            n += 1
    return n
