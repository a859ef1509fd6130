"""Histograms: every orbit counted once, every raw position once, whatever the slots."""

import random
from itertools import combinations

import numpy as np
import pytest
from conftest import canonical_masks, slot_masks

from solver.subspace import Subspace, count_canonical, count_raw
from solver.tally import histograms
from solver.values import DTYPES
from solver.variant import get_variant

THREE, SIX, NINE = map(get_variant, ("three", "six", "nine"))


def smallest_image(board, own, opponent):
    return min((board.image(own, g), board.image(opponent, g)) for g in range(len(board.symmetries)))


def arrangements(board, own, opponent):
    """All pairs of masks."""
    for chosen in combinations(range(board.n_points), own):
        free = [p for p in range(board.n_points) if p not in chosen]
        for others in combinations(free, opponent):
            yield sum(1 << p for p in chosen), sum(1 << p for p in others)


@pytest.mark.parametrize("width", DTYPES)
@pytest.mark.parametrize(
    "variant, subspace",
    [
        (THREE, Subspace(3, 3)),
        (THREE, Subspace(2, 3, 1, 0)),
        (THREE, Subspace(1, 2, 2, 1)),
        (THREE, Subspace(0, 0, 3, 3)),
        (SIX, Subspace(2, 2, 4, 4)),
        (SIX, Subspace(1, 2, 5, 4)),
        (NINE, Subspace(1, 1, 8, 8)),
        (NINE, Subspace(0, 1, 9, 8)),
    ],
)
def test_against_a_count_one_by_one(variant, subspace, width, workers):
    board, choose = variant.board, random.Random(10)
    value_of_orbit = {}
    raw = np.zeros(1 << 8 * width, np.int64)
    for pair in arrangements(board, subspace.own, subspace.opponent):
        value = value_of_orbit.setdefault(smallest_image(board, *pair), choose.randrange(1 << 8 * width))
        raw[value] += 1
    by_orbit = np.bincount(list(value_of_orbit.values()), minlength=1 << 8 * width)

    row_stones = subspace.own if subspace.rows_are_own else subspace.opponent
    own, opponent = slot_masks(variant, subspace, canonical_masks(board, row_stones))
    slots = [value_of_orbit[smallest_image(board, *pair)] for pair in zip(own.tolist(), opponent.tolist())]
    counted = histograms(variant, subspace, np.array(slots, DTYPES[width]), workers)
    assert np.array_equal(counted[0], by_orbit) and np.array_equal(counted[1], raw)
    assert counted[0].sum() == count_canonical(variant, subspace)
    assert counted[1].sum() == count_raw(variant, subspace)


def test_stored_tallies_are_those_of_the_values(nine_store, six_store, workers):
    for store, names in ((nine_store, ((4, 3), (3, 4), (3, 3))), (six_store, ((6, 5), (4, 4, 1, 1), (5, 6)))):
        for counts in names:
            subspace = Subspace(*counts)
            table = store.table(subspace)
            counted = histograms(store.variant, subspace, table.read(), workers)
            assert np.array_equal(counted[0], table.histogram()) and np.array_equal(counted[1], table.histogram(raw=True))
            assert table.positions == count_canonical(store.variant, subspace)
            assert table.raw_positions == count_raw(store.variant, subspace)
