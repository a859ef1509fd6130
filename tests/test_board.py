"""Boards: the facts everybody can count, the oracle's point names, and the symmetry group."""

import random
from collections import Counter
from itertools import product

import oracle
import pytest

from solver.board import boards

RING3 = boards()["ring3"]
every_board = pytest.mark.parametrize("board", boards().values(), ids=list(boards()))


@pytest.mark.parametrize(
    "name, points, edges, mills, degrees, symmetries",
    [
        ("ring3", 24, 32, 16, {2: 12, 3: 8, 4: 4}, 16),
        ("ring3-diagonal", 24, 40, 20, {3: 16, 4: 8}, 16),
        ("ring2", 16, 20, 8, {2: 8, 3: 8}, 16),
        ("grid3", 9, 16, 8, {3: 8, 8: 1}, 8),
    ],
)
def test_sizes(name, points, edges, mills, degrees, symmetries):
    board = boards()[name]
    assert (board.n_points, len(board.edges), len(board.mills)) == (points, edges, mills)
    assert Counter(mask.bit_count() for mask in board.neighbour_masks) == degrees
    assert len(board.symmetries) == symmetries


@every_board
def test_the_oracle_has_the_same_lines(board):
    twin = oracle.BOARDS[board.name]

    def named(lines):
        return {frozenset(board.points[p] for p in line) for line in lines}

    assert set(board.points) == set(twin.points)
    assert named(board.edges) == twin.edges
    assert named(board.mills) == twin.mills


@every_board
def test_masks_say_what_the_lines_say(board):
    for p, q in product(range(board.n_points), repeat=2):
        joined = tuple(sorted((p, q))) in board.edges
        assert bool(board.neighbour_masks[p] >> q & 1) == joined
    assert [board.mask_of(board.points[p] for p in mill) for mill in board.mills] == list(board.mill_masks)
    for p, through in enumerate(board.mills_through):
        assert set(through) == {mask for mask, mill in zip(board.mill_masks, board.mills) if p in mill}
    assert [board.index_of[name] for name in board.points] == list(range(board.n_points))
    assert board.full_mask.bit_count() == board.n_points


def test_bits_follow_the_text_form():
    assert RING3.points == tuple("a7 d7 g7 g4 g1 d1 a1 a4 b6 d6 f6 f4 f2 d2 b2 b4 c5 d5 e5 e4 e3 d3 c3 c4".split())


def test_mills_of_the_standard_board():
    rings = [set(ring) for ring in RING3.rings]
    inside = [mill for mill in RING3.mills if any({RING3.points[p] for p in mill} <= ring for ring in rings)]
    assert (len(inside), len(RING3.mills) - len(inside)) == (12, 4)  # sides of squares, spokes
    assert all(len(through) == 2 for through in RING3.mills_through)


def test_diagonals_join_the_corners():
    added = set(boards()["ring3-diagonal"].mills) - set(RING3.mills)
    names = {frozenset(RING3.points[p] for p in mill) for mill in added}
    corners = ("a7 b6 c5", "g7 f6 e5", "g1 f2 e3", "a1 b2 c3")
    assert names == {frozenset(corner.split()) for corner in corners}
    assert set(RING3.edges) < set(boards()["ring3-diagonal"].edges)


def test_running_mills():
    # A stone runs along p-q and completes one mill on p, another on q, with no stone in common.
    ways = {
        (p, q, first ^ 1 << p, second ^ 1 << q)
        for p, q in RING3.edges
        for first in RING3.mills_through[p]
        for second in RING3.mills_through[q]
        if not first & second
    }
    assert len(ways) == 32
    assert all((a | b).bit_count() == 4 for _, _, a, b in ways)


@every_board
def test_symmetries_are_a_group_of_automorphisms(board):
    edges, mills = (set(map(frozenset, lines)) for lines in (board.edges, board.mills))
    group = set(board.symmetries)
    assert len(group) == len(board.symmetries) and board.symmetries[0] == tuple(range(board.n_points))
    for images in group:
        assert {frozenset(images[p] for p in edge) for edge in edges} == edges
        assert {frozenset(images[p] for p in mill) for mill in mills} == mills
    for a, b in product(group, repeat=2):
        assert tuple(a[b[p]] for p in range(board.n_points)) in group


@every_board
def test_the_oracle_finds_the_same_symmetries(board):
    found = {tuple(board.index_of[image[name]] for name in board.points) for image in oracle.symmetries(oracle.BOARDS[board.name])}
    assert found == set(board.symmetries)


@every_board
def test_inverse_symmetries(board):
    for images, inverse in zip(board.symmetries, board.inverse_of):
        back = board.symmetries[inverse]
        assert [back[image] for image in images] == list(range(board.n_points))


@every_board
def test_canonical_is_the_smallest_image_by_the_first_symmetry(board):
    choose = random.Random(1)
    for mask in [0, board.full_mask] + [choose.getrandbits(board.n_points) for _ in range(200)]:
        images = [board.image(mask, g) for g in range(len(board.symmetries))]
        smallest, symmetry = board.canonical(mask)
        assert smallest == min(images) and symmetry == images.index(smallest)
        assert {board.canonical(image)[0] for image in images} == {smallest}
        assert all(image.bit_count() == mask.bit_count() for image in images)
