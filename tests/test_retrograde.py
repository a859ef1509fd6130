"""The solver against the slow twin, on every slot: moving and placing, all rules, small boards."""

from itertools import product

import numpy as np
import oracle
import pytest
from conftest import MemoryTables, canonical_masks, tables_of, twin_positions, twin_rules

from solver import retrograde
from solver.board import Board, boards
from solver.build import all_targets
from solver.errors import DepthOverflowError
from solver.retrograde import solve_together
from solver.subspace import Subspace, placing_subspaces
from solver.values import decode
from solver.variant import Variant, get_variant

SIX = get_variant("six")
NINE = get_variant("nine")


def slots(tables, subspace):
    """The oracle's position and the solver's value of every slot, the value as ("win", 5)."""
    variant = tables.variant
    row_stones = subspace.own if subspace.rows_are_own else subspace.opponent
    positions = twin_positions(variant, subspace, canonical_masks(variant.board, row_stones))
    meaning = [(str(outcome), depth) for outcome, depth in (decode(code, tables.width) for code in range(1 << 8 * tables.width))]
    values = [meaning[code] for code in tables.values[subspace].tolist()]
    assert len(values) == len(positions)
    return list(zip(positions, values))


def compare_everything(tables, solution):
    """Every slot of every table has the oracle's value; returns how many there were."""
    n = 0
    for subspace in tables.values:
        for position, value in slots(tables, subspace):
            assert value == solution[position], f"{subspace.name}: {position}"
            n += 1
    return n


def solve_both(variant, workers):
    """A game's tables, and the oracle's solution of every arrangement in them."""
    tables = MemoryTables(variant, workers).solve()
    positions = [position for subspace in tables.values for position, _ in slots(tables, subspace)]
    return tables, oracle.solve(twin_rules(variant), positions)


@pytest.mark.parametrize(
    "variant",
    [
        get_variant("three"),
        SIX.with_overrides(stones=3),
        SIX.with_overrides(stones=3, fly_at=3),
        SIX.with_overrides(stones=3, capture_in_mills="none"),
        SIX.with_overrides(stones=3, place_and_slide=True),
        SIX.with_overrides(stones=3, place_and_slide=True, fly_at=3, capture_in_mills="none"),
        get_variant("three").with_overrides(place_and_slide=True),
        get_variant("three").with_overrides(stones=4, fly_at=3),
        get_variant("four"),
        SIX.with_overrides(stones=4, fly_at=4),
        *(pytest.param(variant, marks=pytest.mark.slow) for variant in (
            NINE.with_overrides(stones=3, place_and_slide=True),
            NINE.with_overrides(stones=3, place_and_slide=True, capture_in_mills="none"),
            SIX.with_overrides(stones=4, place_and_slide=True),
            SIX.with_overrides(stones=5, place_and_slide=True),
            get_variant("twelve").with_overrides(stones=3),
            get_variant("morabaraba").with_overrides(stones=3),
        )),
    ],
    ids=lambda variant: variant.name,
)  # fmt: skip
def test_whole_games(variant, workers):
    tables, solution = solve_both(variant, workers)
    assert set(tables.values) >= set(tables_of(variant, all_targets(variant)))
    assert compare_everything(tables, solution) > 300


#: One square: so small that the board fills up, and all rules can be combined.
SQUARE = "a3 b3 c3 c2 c1 b1 a1 a2"


@pytest.fixture
def square(monkeypatch):
    points = tuple(SQUARE.split())
    sides = tuple(tuple(sorted((i, i + 1, (i + 2) % 8))) for i in range(0, 8, 2))
    edges = tuple(tuple(sorted((i, (i + 1) % 8))) for i in range(8))
    monkeypatch.setitem(boards(), "square", Board("square", (points,), tuple(sorted(edges)), tuple(sorted(sides))))
    mills = ", ".join(" ".join(points[i % 8] for i in range(start, start + 3)) for start in range(0, 8, 2))
    monkeypatch.setitem(oracle.BOARDS, "square", oracle._board(SQUARE, mills))
    return Variant("square", "one square", "square", 4)


@pytest.mark.parametrize(
    "fly_at, capture, slide, full", list(product((0, 3), ("any", "none"), (False, True), ("loss", "draw"))), ids=str
)
def test_all_rules_combined_on_one_square(square, fly_at, capture, slide, full, workers):
    variant = square.with_overrides(fly_at=fly_at, capture_in_mills=capture, place_and_slide=slide, full_board=full)
    tables, solution = solve_both(variant, workers)
    assert compare_everything(tables, solution) > 1000
    blocked = {decode(code, 1)[0].value for code in tables.values[Subspace(4, 4)].tolist()}
    assert blocked == {full}  # nobody can move


def test_flying_nine_with_three_stones_each(workers):
    tables = MemoryTables(NINE, workers).solve([Subspace(3, 3)])
    solution = oracle.solve_subspace_closure(twin_rules(NINE), 3, 3)
    assert compare_everything(tables, solution) == 158 * 1330


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nine", "nine-nofly", "nine-strict"])
def test_nine_with_four_and_three_stones(name, workers):
    variant = get_variant(name)
    tables = MemoryTables(variant, workers).solve([Subspace(3, 3), Subspace(4, 3)])
    solution = oracle.solve_subspace_closure(twin_rules(variant), 4, 3)
    assert compare_everything(tables, solution) == 158 * 1330 + 2 * 757 * 1140


# ---------------------------------------------------------------- how the pass goes


def test_a_frontier_in_many_parts_changes_nothing(workers, monkeypatch):
    whole = MemoryTables(SIX.with_overrides(stones=5), workers).solve()
    monkeypatch.setattr(retrograde, "FRONTIER_LIMIT", 50)
    parts = MemoryTables(whole.variant, workers).solve()
    assert all(np.array_equal(values, parts.values[s]) for s, values in whole.values.items())


def test_progress_never_goes_back_and_ends(workers):
    tables = MemoryTables(SIX, workers).solve([Subspace(3, 3), Subspace(4, 3)])
    for file in (Subspace(4, 4), Subspace(5, 3), placing_subspaces(SIX)[0]):
        if file.is_placing:
            continue
        shares = []
        solve_together(SIX, file, 1, tables.load, workers, shares.append)
        assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 3


def test_depths_that_do_not_fit_are_an_error(workers, monkeypatch):
    deepest = max(
        decode(code, 1)[1] or 0 for values in MemoryTables(SIX, workers).solve([Subspace(3, 3)]).values.values() for code in values
    )
    for room in range(2, deepest + 1, 4):
        monkeypatch.setitem(retrograde.MOST_DEPTHS, 1, room)
        with pytest.raises(DepthOverflowError):
            MemoryTables(SIX, workers).solve([Subspace(3, 3)])


@pytest.mark.slow
def test_two_bytes_a_slot_say_the_same(workers):
    for variant in (get_variant("three"), SIX.with_overrides(stones=4, place_and_slide=True)):
        narrow, wide = (MemoryTables(variant, workers, width).solve() for width in (1, 2))
        for subspace, values in narrow.values.items():
            codes = wide.values[subspace]
            assert codes.dtype == np.uint16
            assert [decode(a, 1) for a in values.tolist()] == [decode(b, 2) for b in codes.tolist()]
