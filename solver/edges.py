"""Edges of the index: how turns change rows and columns.

A turn of the *row side* changes the row: it moves, adds or removes one of its stones, and the new mask is
canonicalised by some symmetry.  Which row it leads to, and whether it closes a mill, depends on the row
alone; what it does to the column is a permutation of bits, written out by ``fill_column_map``.
A turn of the *column side* stays in its row; on columns it is an exchange of two bits, a new bit or a bit
less, the same in every row; the last two come from small tables (``ColumnSteps``).
"""

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from .bits import bit_count
from .board import Board
from .combinatorics import columns, patterns_with
from .jit import inlined
from .symmetry import image_of, orbits
from .variant import Variant

#: No mask contains all these bits, so a padded mill test with it never succeeds.
NEVER = 0x7FFFFFFF
#: Bit that marks a pattern which an edge cannot carry over (a stone stands where the row side goes).
INVALID_BIT = 1 << 30


class Lines(NamedTuple):
    """Mills and neighbours as kernels take them.

    mills: int64[M], masks; others: int64[points, Q], for each mill through a point the mask of its other
    points, padded with NEVER; neighbours: int64[points], masks; anywhere: int64[points], all points, the
    neighbours of a flying stone.
    """

    mills: np.ndarray
    others: np.ndarray
    neighbours: np.ndarray
    anywhere: np.ndarray


class RowEdges(NamedTuple):
    """Changes of one stone of the row side, by source row.

    first: int64[rows + 1]; row r owns edges [first[r], first[r + 1]).  target: uint32, row reached;
    symmetry: uint8, the one that canonicalises; origin, goal: int64, masks of the point left and the point
    reached (0 for a placement's origin and a removal's goal); closes: uint8, whether goal completes a mill.
    """

    first: np.ndarray
    target: np.ndarray
    symmetry: np.ndarray
    origin: np.ndarray
    goal: np.ndarray
    closes: np.ndarray


class ColumnSteps(NamedTuple):
    """Changes of one stone of the column side, as columns; k stones on n free points.

    place_from, place_to: uint32[n, C(n-1, k)]: columns without bit i, and the (n, k + 1) columns with it.
    drop: uint32[C(n, k), k]: the (n, k - 1) columns without the first, second, ... bit.
    """

    place_from: np.ndarray
    place_to: np.ndarray
    drop: np.ndarray


@lru_cache(maxsize=None)
def lines(board: Board) -> Lines:
    """Mills and neighbours of a board as arrays."""
    most = max(len(mills) for mills in board.mills_through)
    others = np.full((board.n_points, max(1, most)), NEVER, np.int64)
    for p, mills in enumerate(board.mills_through):
        for i, mill in enumerate(mills):
            others[p, i] = mill ^ (1 << p)
    return Lines(
        np.array(board.mill_masks, np.int64),
        others,
        np.array(board.neighbour_masks, np.int64),
        np.array([board.full_mask ^ (1 << p) for p in range(board.n_points)], np.int64),
    )


@inlined
def stones_in_mills(mills, mask):
    """Mask of those stones in ``mask`` that stand in a mill."""
    found = np.int64(0)
    for i in range(len(mills)):
        if mask & mills[i] == mills[i]:
            found |= mills[i]
    return found


@inlined
def closes_mill(others, stones, point):
    """Whether a stone arriving at ``point`` completes a mill with the stones of a mask (without it)."""
    closed = False
    for i in range(others.shape[1]):
        closed |= stones & others[point, i] == others[point, i]
    return closed


def _row_edges(board: Board, stones: int, changes: list[tuple[int, int]]) -> RowEdges:
    """Edges from all rows with that many stones, for changes given as (origin mask, goal mask)."""
    orb = orbits(board)
    masks = orb.rows(stones).astype(np.int64)
    found = []
    for origin, goal in changes:
        rows = np.flatnonzero((masks & origin == origin) & (masks & goal == 0))
        reached = masks[rows] ^ origin | goal
        closed = np.zeros(len(rows), np.uint8)
        for mill in board.mill_masks:
            if mill & goal:
                closed |= reached & mill == mill
        ones = np.ones(len(rows), np.int64)
        found.append(
            (rows, orb.row_of[reached], orb.symmetry_of[reached], ones * origin, ones * goal, closed)
        )
    rows, *rest = (np.concatenate(column) for column in zip(*found))
    order = np.argsort(rows, kind="stable")
    first = np.searchsorted(rows[order], np.arange(len(masks) + 1))
    return RowEdges(first.astype(np.int64), *(column[order] for column in rest))


@lru_cache(maxsize=4)
def slide_edges(variant: Variant, stones: int, flying: bool) -> RowEdges:
    """Moves of one stone along an edge, or to any free point when flying."""
    arrays = lines(variant.board)
    reach = arrays.anywhere if flying else arrays.neighbours
    n = variant.board.n_points
    pairs = [(1 << p, 1 << q) for p in range(n) for q in range(n) if reach[p] >> q & 1]
    return _row_edges(variant.board, stones, pairs)


@lru_cache(maxsize=2)
def place_edges(board: Board, stones: int) -> RowEdges:
    """Placements of one more stone on any free point."""
    return _row_edges(board, stones, [(0, 1 << q) for q in range(board.n_points)])


@lru_cache(maxsize=2)
def removal_edges(variant: Variant, stones: int) -> RowEdges:
    """Legal removals of one stone of the row side, by its opponent's mill.

    A row without any edge is one whose stones all stand in mills where the variant then removes nothing.
    """
    edges = _row_edges(variant.board, stones, [(1 << p, 0) for p in range(variant.board.n_points)])
    masks = orbits(variant.board).rows(stones).astype(np.int64)
    in_mills = np.zeros_like(masks)
    for mill in variant.board.mill_masks:
        in_mills |= np.where(masks & mill == mill, mill, 0)
    row = np.repeat(np.arange(len(masks)), np.diff(edges.first))
    legal = edges.origin & in_mills[row] == 0
    if variant.capture_in_mills == "any":
        legal |= (in_mills == masks)[row]
    first = np.concatenate([[0], np.cumsum(legal)])[edges.first]
    return RowEdges(first, *(column[legal] for column in edges[1:]))


@lru_cache(maxsize=4)
def column_steps(n: int, k: int) -> ColumnSteps:
    """The step tables for k stones on n free points."""
    here = columns(n, k)

    def insert(patterns, bit):
        low = (1 << bit) - 1
        return patterns & low | (patterns & ~low) << 1

    def rank(patterns, cols):
        return (cols.low[patterns & 4095] + cols.high[patterns >> 12]).astype(np.uint32)

    place_from = np.zeros((n, comb(n - 1, k) if n else 0), np.uint32)
    place_to = np.zeros_like(place_from)
    if place_from.size:
        more = columns(n, k + 1)
        for i in range(n):
            without = insert(patterns_with(n - 1, k).astype(np.int64), i)
            place_from[i] = rank(without, here)
            place_to[i] = rank(without | 1 << i, more)
    drop = np.zeros((here.size, k), np.uint32)
    if k:
        fewer = columns(n, k - 1)
        rest = here.patterns.astype(np.int64)
        for i in range(k):
            lowest = rest & -rest
            drop[:, i] = rank(here.patterns.astype(np.int64) ^ lowest, fewer)
            rest ^= lowest
    return ColumnSteps(place_from, place_to, drop)


@inlined
def rank_of(columns_, pattern):
    """Column of a pattern (int64) in `Columns`."""
    return np.int64(columns_.low[pattern & 4095]) + np.int64(columns_.high[pattern >> 12])


@inlined
def fill_points(mask, points):
    """Writes the numbers of the bits in ``mask`` ascending into ``points``; returns how many."""
    n = 0
    p = 0
    while mask:
        if mask & 1:
            points[n] = p
            n += 1
        mask >>= 1
        p += 1
    return n


@inlined
def fill_packed_lines(mills, free, points, n_free, packed):
    """Writes the mills that lie wholly on free points, as patterns, into ``packed``; returns how many."""
    n = 0
    for i in range(len(mills)):
        if mills[i] & ~free == 0:
            pattern = np.int64(0)
            for b in range(n_free):
                pattern |= ((mills[i] >> points[b]) & 1) << b
            packed[n] = pattern
            n += 1
    return n


@inlined
def fill_bit_maps(images, symmetry, source, target, goal, n, low_bits, high_bits):
    """Writes where each bit of a pattern of ``n`` free points goes; `moved_pattern` reads it.

    source, target: int64, canonical masks of the row side before and after; goal: int64, the point mask that the row
    side newly occupies (a pattern with a stone there gets INVALID_BIT), or 0; low_bits, high_bits: int64[2^12].
    """
    full = (np.int64(1) << (images.shape[1] * 8)) - 1
    half = n // 2
    low_bits[0] = 0
    high_bits[0] = 0
    free = full ^ source
    bit = 0
    p = 0
    while bit < n:
        if (free >> p) & 1:
            point = np.int64(1) << p
            if point == goal:
                moved = np.int64(INVALID_BIT)
            else:
                image = image_of(images, symmetry, point)
                below = (image - 1) & ~target
                moved = np.int64(1) << bit_count(below)
            if bit < half:
                size = np.int64(1) << bit
                for i in range(size):
                    low_bits[size + i] = low_bits[i] | moved
            else:
                size = np.int64(1) << (bit - half)
                for i in range(size):
                    high_bits[size + i] = high_bits[i] | moved
            bit += 1
        p += 1


@inlined
def moved_pattern(low_bits, high_bits, n, pattern):
    """The pattern that a pattern (int64) of ``n`` free points becomes."""
    half = n // 2
    return low_bits[pattern & ((np.int64(1) << half) - 1)] | high_bits[pattern >> half]


@inlined
def fill_column_map(images, symmetry, source, target, goal, source_columns, target_columns, low_bits, high_bits, out):
    """Writes for each column of a source row the column it becomes in the target row.

    As `fill_bit_maps`; columns with a stone at the goal become ``target_columns.size``; out: uint32[columns].
    """
    n = source_columns.n
    fill_bit_maps(images, symmetry, source, target, goal, n, low_bits, high_bits)
    for c in range(source_columns.size):
        moved = moved_pattern(low_bits, high_bits, n, np.int64(source_columns.patterns[c]))
        rank = rank_of(target_columns, moved & (INVALID_BIT - 1))
        out[c] = target_columns.size if moved & INVALID_BIT else rank
