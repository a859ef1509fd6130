"""Edges of the index: every change of one stone, against the same change made on masks point by point."""

import random
from math import comb

import numpy as np
import pytest

from solver.board import boards
from solver.combinatorics import columns, deposit_bits, extract_bits, rank_pattern
from solver.edges import (
    NEVER, closes_mill, column_steps, fill_column_map, fill_packed_lines, fill_points, lines, place_edges, rank_of, removal_edges,
    slide_edges, stones_in_mills,
)  # fmt: skip
from solver.symmetry import orbits
from solver.variant import get_variant

NINE = get_variant("nine")
STRICT = get_variant("nine-strict")
TWELVE = get_variant("twelve")
SIX = get_variant("six")
THREE = get_variant("three")
RING3 = NINE.board


def closed_by(board, mask, goal):
    """Whether the stone on ``goal`` stands in a mill."""
    return any(mill & goal and mask & mill == mill for mill in board.mill_masks)


def points(mask):
    return [1 << p for p in range(mask.bit_length()) if mask >> p & 1]


def edges_of_row(edges, row):
    """A row's edges as (origin, goal, target, symmetry, closes), sorted."""
    return sorted(
        (int(edges.origin[e]), int(edges.goal[e]), int(edges.target[e]), int(edges.symmetry[e]), bool(edges.closes[e]))
        for e in range(edges.first[row], edges.first[row + 1])
    )


def expected_edges(board, stones_after, changes, mask):
    """The same from the definition, for changes (origin, goal) of a mask."""
    rows = orbits(board).rows(stones_after).tolist()
    found = []
    for origin, goal in changes:
        after = mask ^ origin ^ goal
        smallest, symmetry = board.canonical(after)
        found.append((origin, goal, rows.index(smallest), symmetry, closed_by(board, after, goal)))
    return sorted(found)


def some_rows(board, stones, n=60):
    masks = orbits(board).rows(stones).tolist()
    rows = range(len(masks)) if len(masks) <= n else sorted(random.Random(6).sample(range(len(masks)), n))
    return [(row, masks[row]) for row in rows]


@pytest.mark.parametrize(
    "variant, stones, flying",
    [(NINE, 3, True), (NINE, 3, False), (NINE, 4, False), (NINE, 9, False), (TWELVE, 5, False), (SIX, 6, False), (THREE, 3, False)],
    ids=str,
)  # fmt: skip
def test_slides(variant, stones, flying):
    board = variant.board
    edges = slide_edges(variant, stones, flying)
    for row, mask in some_rows(board, stones):
        changes = [
            (origin, goal)
            for origin in points(mask)
            for goal in points(board.full_mask ^ mask)
            if flying or board.neighbour_masks[origin.bit_length() - 1] & goal
        ]
        assert edges_of_row(edges, row) == expected_edges(board, stones, changes, mask)


@pytest.mark.parametrize("variant, stones", [(NINE, 0), (NINE, 2), (NINE, 5), (TWELVE, 3), (SIX, 5), (THREE, 2)])
def test_placements(variant, stones):
    board = variant.board
    edges = place_edges(board, stones)
    for row, mask in some_rows(board, stones):
        changes = [(0, goal) for goal in points(board.full_mask ^ mask)]
        assert edges_of_row(edges, row) == expected_edges(board, stones + 1, changes, mask)


@pytest.mark.parametrize("variant", [NINE, STRICT, TWELVE, SIX], ids=lambda variant: variant.name)
@pytest.mark.parametrize("stones", [3, 4, 5, 6])
def test_removals(variant, stones):
    board = variant.board
    edges = removal_edges(variant, stones)
    for row, mask in some_rows(board, stones):
        outside = [stone for stone in points(mask) if not closed_by(board, mask, stone)]
        if not outside and variant.capture_in_mills == "any":
            outside = points(mask)
        found = edges_of_row(edges, row)
        assert found == expected_edges(board, stones - 1, [(stone, 0) for stone in outside], mask)


@pytest.mark.parametrize(
    "variant, stones, removable",
    [
        (NINE, "a7 d7 g7", "a7 d7 g7"),  # all in one mill: any
        (STRICT, "a7 d7 g7", ""),
        (NINE, "a7 d7 g7 d2", "d2"),  # one outside goes first
        (STRICT, "a7 d7 g7 d2", "d2"),
        (NINE, "a7 d7 g7 d6 d5", "a7 d7 g7 d6 d5"),  # two mills that share a stone
        (STRICT, "a7 d7 g7 d6 d5", ""),
        (NINE, "a7 d7 d6 d5 b6", "a7 b6"),
        (NINE, "a7 b6 c5", "a7 b6 c5"),
        (TWELVE, "a7 b6 c5 d7", "d7"),  # the diagonal is a mill there
    ],
)
def test_removals_by_hand(variant, stones, removable):
    board = variant.board
    mask = board.mask_of(stones.split())
    row = int(orbits(board).row_of[mask])
    there, symmetry = board.canonical(mask)
    edges = removal_edges(variant, mask.bit_count())
    assert orbits(board).rows(mask.bit_count())[row] == there
    found = sorted(origin for origin, *_ in edges_of_row(edges, row))
    assert found == sorted(board.image(board.mask_of([name]), symmetry) for name in removable.split())


def test_what_leads_there_is_what_comes_from_there():
    """Slides can be taken back: quiet edges of a row, counted with their targets, balance over the whole graph."""
    edges = slide_edges(NINE, 4, False)
    orb = orbits(RING3)
    kept = orb.stabilisers(4).astype(np.int64)
    source = np.repeat(np.arange(len(kept)), np.diff(edges.first))
    forward = np.bincount(source, minlength=len(kept)) * (16 // kept)
    backward = np.bincount(edges.target, weights=(16 // kept)[source], minlength=len(kept))
    assert np.array_equal(forward, backward)


# ---------------------------------------------------------------- columns


def slow_column_map(board, source, target, symmetry, goal, column_stones, n_target):
    """For each column of a row the column it becomes, stone by stone."""
    free, target_free = board.full_mask ^ source, board.full_mask ^ target
    there = []
    for pattern in columns(board.n_points - source.bit_count(), column_stones).patterns.tolist():
        stones = deposit_bits(pattern, free)
        moved = board.image(stones, symmetry)
        there.append(n_target if stones & goal else rank_pattern(extract_bits(moved, target_free)))
    return there


@pytest.mark.parametrize(
    "variant, edges_from, stones, after, column_stones",
    [
        (NINE, slide_edges, 3, 3, 3),
        (NINE, slide_edges, 5, 5, 4),
        (NINE, place_edges, 4, 5, 3),
        (NINE, removal_edges, 5, 4, 3),
        (TWELVE, slide_edges, 10, 10, 3),
        (SIX, place_edges, 2, 3, 4),
        (THREE, slide_edges, 3, 3, 3),
        (THREE, place_edges, 0, 1, 2),
    ],
)
def test_column_maps(variant, edges_from, stones, after, column_stones):
    board = variant.board
    arguments = {slide_edges: (variant, stones, False), place_edges: (board, stones), removal_edges: (variant, stones)}[edges_from]
    edges = edges_from(*arguments)
    orb, n = orbits(board), board.n_points
    here, there = columns(n - stones, column_stones), columns(n - after, column_stones)
    scratch, out = np.empty((2, 4096), np.int64), np.empty(here.size, np.uint32)
    source_of = np.repeat(np.arange(len(edges.first) - 1), np.diff(edges.first))
    for e in random.Random(7).sample(range(len(source_of)), min(12, len(source_of))):
        source, target = int(orb.rows(stones)[source_of[e]]), int(orb.rows(after)[edges.target[e]])
        symmetry, goal = int(edges.symmetry[e]), int(edges.goal[e])
        fill_column_map(orb.images, symmetry, source, target, goal, here, there, scratch[0], scratch[1], out)
        assert out.tolist() == slow_column_map(board, source, target, symmetry, goal, column_stones, there.size)


@pytest.mark.parametrize("n, k", [(6, 3), (13, 2), (14, 4), (5, 1), (4, 4), (7, 0), (1, 1), (0, 0)])
def test_column_steps(n, k):
    steps = column_steps(n, k)
    here, more = columns(n, k).patterns.tolist(), columns(n, k + 1).patterns.tolist()
    fewer = columns(n, k - 1).patterns.tolist() if k else []
    for i in range(n):
        pairs = {(here.index(p), more.index(p | 1 << i)) for p in here if not p >> i & 1}
        assert set(zip(steps.place_from[i].tolist(), steps.place_to[i].tolist())) == pairs
    assert steps.drop.shape == (comb(n, k), k)
    for column, pattern in enumerate(here):
        stones = points(pattern)
        assert steps.drop[column].tolist() == [fewer.index(pattern ^ stone) for stone in stones]


def test_rank_in_kernels():
    for n, k in ((21, 3), (13, 6), (9, 2), (5, 0)):
        cols = columns(n, k)
        for column in range(0, cols.size, max(1, cols.size // 40)):
            assert rank_of(cols, int(cols.patterns[column])) == column


# ---------------------------------------------------------------- mills


@pytest.mark.parametrize("board", boards().values(), ids=list(boards()))
def test_lines_as_arrays(board):
    arrays = lines(board)
    assert arrays.mills.tolist() == list(board.mill_masks)
    assert arrays.neighbours.tolist() == list(board.neighbour_masks)
    for p in range(board.n_points):
        assert {int(m) for m in arrays.others[p] if m != NEVER} == {mill ^ 1 << p for mill in board.mills_through[p]}
        assert arrays.anywhere[p] == board.full_mask ^ 1 << p


def test_mills_in_kernels():
    arrays = lines(RING3)
    choose = random.Random(8)
    for _ in range(300):
        mask = RING3.mask_of(choose.sample(RING3.points, choose.randrange(3, 13)))
        expected = sum(stone for stone in points(mask) if closed_by(RING3, mask, stone))
        assert stones_in_mills(arrays.mills, mask) == expected
        goal = choose.choice(points(RING3.full_mask ^ mask))
        assert closes_mill(arrays.others, mask, goal.bit_length() - 1) == closed_by(RING3, mask | goal, goal)


def test_mills_on_free_points_as_patterns():
    arrays = lines(RING3)
    choose = random.Random(9)
    numbers, packed = np.empty(32, np.int64), np.empty(32, np.int64)
    for _ in range(100):
        free = RING3.mask_of(choose.sample(RING3.points, 18))
        n_free = fill_points(free, numbers)
        assert numbers[:n_free].tolist() == [p for p in range(24) if free >> p & 1]
        n = fill_packed_lines(arrays.mills, free, numbers, n_free, packed)
        expected = [extract_bits(mill, free) for mill in RING3.mill_masks if mill & free == mill]
        assert packed[:n].tolist() == expected
