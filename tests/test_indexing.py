"""The index in plain Python: agrees with the kernels' tables, with itself on arrays, and goes there and back."""

import random
import time

import numpy as np
import pytest

from solver.bits import extract
from solver.combinatorics import columns
from solver.edges import rank_of
from solver.errors import TableError
from solver import indexing
from solver.indexing import BLOCK, Indexer, checked_rows, grouped, image_tables
from solver.subspace import Subspace
from solver.symmetry import image_of, orbits
from solver.symmetry import image_tables as kernel_image_tables
from solver.variant import get_variant

NINE, SIX, THREE = (get_variant(name).board for name in ("nine", "six", "three"))


def random_masks(board, own, opponent, n, seed):
    """Two uint32[n], masks of both sides of random positions."""
    order = np.random.default_rng(seed).random((n, board.n_points)).argsort(axis=1)
    bits = np.uint32(1) << order.astype(np.uint32)
    return bits[:, :own].sum(1).astype(np.uint32), bits[:, own : own + opponent].sum(1).astype(np.uint32)


@pytest.mark.parametrize("name", ["nine", "morabaraba", "six", "three"])
def test_canonical_is_the_boards_canonical(name):
    board = get_variant(name).board
    indexer, choose = Indexer(board), random.Random(1)
    for _ in range(300):
        mask = choose.getrandbits(board.n_points) & choose.getrandbits(board.n_points)
        assert indexer.canonical(mask) == board.canonical(mask)
    assert (image_tables(board) == kernel_image_tables(board)).all()


CASES = [
    (NINE, Subspace(3, 3)), (NINE, Subspace(5, 4)), (NINE, Subspace(4, 5)), (NINE, Subspace(9, 9)), (NINE, Subspace(7, 8)),
    (NINE, Subspace(0, 1, 9, 8)), (NINE, Subspace(4, 4, 5, 4)), (NINE, Subspace(2, 2, 7, 7)), (SIX, Subspace(6, 6)),
    (SIX, Subspace(3, 5)), (SIX, Subspace(0, 0, 6, 6)), (SIX, Subspace(3, 3, 2, 3)), (THREE, Subspace(3, 3)),
    (THREE, Subspace(1, 2, 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize("board", [NINE, SIX, THREE], ids=lambda board: board.name)
def test_row_lists_are_taken_only_when_right(board, monkeypatch):
    for known in (False, True):  # by what they are, and beside one that was found right before
        monkeypatch.setattr(indexing, "_row_lists", {})
        for stones in range(min(6, board.n_points)):
            right = orbits(board).rows(stones).copy()
            if known:
                assert checked_rows(board, stones, right.copy()) is not None
            for i in random.Random(3).sample(range(len(right)), min(20, len(right))):
                for bit in range(32):
                    wrong = right.copy()
                    wrong[i] ^= np.uint32(1 << bit)
                    assert checked_rows(board, stones, wrong) is None
            if len(right) > 1:
                assert checked_rows(board, stones, right[::-1].copy()) is None
                assert checked_rows(board, stones, np.sort(np.r_[right[:-1], right[:1]])) is None
            found = checked_rows(board, stones, right)
            assert (found == right).all() and checked_rows(board, stones, right.copy()) is found


@pytest.mark.parametrize("board, subspace", CASES)
def test_slots_are_those_of_the_kernels(board, subspace):
    """Row and symmetry from the tables over all masks, column by the kernels' rank."""
    orb, indexer, n = orbits(board), Indexer(board), board.n_points
    row_stones, column_stones = subspace[:2] if subspace.rows_are_own else subspace[1::-1]
    row_masks, cols = orb.rows(row_stones), columns(n - row_stones, column_stones)
    own, opponent = random_masks(board, subspace.own, subspace.opponent, 400, seed=2)
    rows, cells = indexer.slots_of(subspace, own, opponent, row_masks)
    assert rows.dtype == cells.dtype == np.int64
    for i, (a, b) in enumerate(zip(own.tolist(), opponent.tolist())):
        x, y = (a, b) if subspace.rows_are_own else (b, a)
        row, symmetry = int(orb.row_of[x]), np.int64(orb.symmetry_of[x])
        moved = image_of(orb.images, symmetry, np.int64(y))
        pattern = extract(moved, np.int64(board.full_mask ^ int(row_masks[row])))
        expected = row, int(rank_of(cols, np.int64(pattern)))
        assert indexer.slot_of(subspace, a, b, row_masks) == expected
        assert (rows[i], cells[i]) == expected


@pytest.mark.parametrize("board, subspace", [(SIX, Subspace(4, 3)), (SIX, Subspace(2, 3, 4, 3)), (THREE, Subspace(3, 3))])
def test_every_slot_goes_there_and_back(board, subspace):
    orb, indexer = orbits(board), Indexer(board)
    row_stones, column_stones = subspace[:2] if subspace.rows_are_own else subspace[1::-1]
    row_masks = orb.rows(row_stones)
    n_columns = columns(board.n_points - row_stones, column_stones).size
    slots = [(row, column) for row in range(len(row_masks)) for column in range(n_columns)]
    masks = [indexer.masks_at(subspace, row, column, row_masks) for row, column in slots]
    for own, opponent in masks[:: len(masks) // 50]:
        assert not own & opponent
        assert (own.bit_count(), opponent.bit_count()) == (subspace.own, subspace.opponent)
    assert len(set(masks)) == len(slots)
    own, opponent = np.array(masks, np.uint32).T
    rows, cells = indexer.slots_of(subspace, own, opponent, row_masks)
    assert list(zip(rows.tolist(), cells.tolist())) == slots
    assert [indexer.slot_of(subspace, *pair, row_masks) for pair in masks[:200]] == slots[:200]


def test_images_share_a_slot_where_only_the_identity_keeps_the_row():
    orb, indexer, subspace = orbits(NINE), Indexer(NINE), Subspace(6, 4)
    row_masks = orb.rows(6)
    own, opponent = random_masks(NINE, 6, 4, 50, seed=3)
    for a, b in zip(own.tolist(), opponent.tolist()):
        row, _ = slot = indexer.slot_of(subspace, a, b, row_masks)
        if orb.stabilisers(6)[row] == 1:
            images = {(NINE.image(a, g), NINE.image(b, g)) for g in range(len(NINE.symmetries))}
            assert {indexer.slot_of(subspace, *pair, row_masks) for pair in images} == {slot}


def test_row_masks_of_another_board_are_refused():
    indexer, subspace = Indexer(NINE), Subspace(3, 3)
    for masks in (orbits(NINE).rows(3)[:-1], orbits(NINE).rows(4), np.zeros(0, np.uint32)):
        with pytest.raises(TableError, match="row masks"):
            for mask in orbits(NINE).rows(3).tolist():
                indexer.slot_of(subspace, mask, 1 << 23, masks)
    with pytest.raises(TableError, match="row masks"):
        indexer.slots_of(subspace, orbits(NINE).rows(3), np.full(158, 1 << 23, np.uint32), orbits(NINE).rows(4))


def test_arrays_are_fast():
    indexer, row_masks, n = Indexer(NINE), orbits(NINE).rows(8), 4 * BLOCK
    own, opponent = random_masks(NINE, 8, 7, n, seed=4)
    started = time.process_time()
    indexer.slots_of(Subspace(8, 7), own, opponent, row_masks)
    assert n / (time.process_time() - started) > 200_000


def test_no_position_at_all():
    rows, cells = Indexer(NINE).slots_of(Subspace(3, 3), np.zeros(0, np.uint32), np.zeros(0, np.uint32), orbits(NINE).rows(3))
    assert len(rows) == len(cells) == 0
    assert list(grouped(np.zeros(0, np.int64))) == []


def test_asking_needs_no_compiler(run_python):
    code = "import sys, solver.query, solver.render, solver.cli.asking; print({'numba', 'tqdm', 'solver.jit'} & set(sys.modules))"
    assert run_python(code).strip() == "set()"
