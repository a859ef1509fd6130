"""Orbits: rows and symmetries of all masks against the slow search for the smallest image."""

import random

import numpy as np
import pytest
from conftest import canonical_masks

from solver.board import boards
from solver.symmetry import image_tables, orbits

every_board = pytest.mark.parametrize("board", boards().values(), ids=list(boards()))


def some_masks(board, n):
    """All masks of a small board, else random ones, some with few and some with many stones."""
    if board.n_points < 10:
        return list(range(1 << board.n_points))
    choose = random.Random(5)
    points = range(board.n_points)
    return [0, board.full_mask] + [sum(1 << p for p in choose.sample(points, choose.randrange(len(points)))) for _ in range(n)]


@every_board
def test_row_and_symmetry_of_a_mask(board):
    orb = orbits(board)
    for mask in some_masks(board, 1200):
        smallest, symmetry = board.canonical(mask)
        assert orb.symmetry_of[mask] == symmetry
        assert orb.rows(mask.bit_count())[orb.row_of[mask]] == smallest


@every_board
def test_images_by_bytes(board):
    tables = image_tables(board)
    for mask in some_masks(board, 60):
        for g in range(len(board.symmetries)):
            image = tables[g, 0, mask & 255] | tables[g, 1, mask >> 8 & 255] | tables[g, 2, mask >> 16]
            assert image == board.image(mask, g)
    assert np.array_equal(orbits(board).images, tables)
    assert orbits(board).inverse.tolist() == list(board.inverse_of)


def test_numbers_of_rows():
    counts = [158, 757, 2_830, 8_774, 22_188, 46_879, 82_880]
    assert [len(orbits(boards()["ring3"]).rows(stones)) for stones in range(3, 10)] == counts


@every_board
def test_rows_are_the_canonical_masks_ascending(board):
    orb = orbits(board)
    assert len(orb.masks) == orb.first[-1] and orb.first[0] == 0
    for stones in range(board.n_points + 1):
        rows = orb.rows(stones)
        assert (np.diff(rows.astype(np.int64)) > 0).all() and (np.bitwise_count(rows) == stones).all()
    for stones in range(5):
        assert np.array_equal(orb.rows(stones), canonical_masks(board, stones))


@every_board
def test_orbits_cover_all_masks(board):
    """An orbit has as many masks as there are symmetries, divided by those that keep one of them."""
    orb = orbits(board)
    sizes = len(board.symmetries) // orb.stabiliser.astype(np.int64)
    assert sizes.sum() == 1 << board.n_points
    stones = np.bitwise_count(np.arange(1 << board.n_points, dtype=np.uint32))
    found = np.bincount(orb.first[stones] + orb.row_of, minlength=len(orb.masks))
    assert np.array_equal(found, sizes)


@every_board
def test_stabilisers(board):
    orb = orbits(board)
    for stones in (0, 1, 2, 3, board.n_points // 2, board.n_points):
        rows, kept = orb.rows(stones)[:300].tolist(), orb.stabilisers(stones)[:300].tolist()
        assert kept == [sum(board.image(mask, g) == mask for g in range(len(board.symmetries))) for mask in rows]
