"""Subspaces: names, twins, what leads where, and how many positions each has."""

from collections import Counter
from itertools import combinations, product

import oracle
import published
import pytest
from conftest import tables_of, twin_rules

from solver.errors import InputError
from solver.subspace import (
    Subspace, conversions, count_canonical, count_raw, dependencies, moving_pairs, parse_subspace, placing_subspaces,
    solved_together, start_subspace,
)  # fmt: skip
from solver.variant import VARIANTS, get_variant

NINE = get_variant("nine")
LASKER = get_variant("lasker-nine")
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("text, subspace", [("5-4", (5, 4, 0, 0)), ("3-4+6-5", (3, 4, 6, 5)), (" 0-0+9-9 ", (0, 0, 9, 9))])
def test_names_are_read_and_written(text, subspace):
    assert parse_subspace(text, NINE) == subspace
    assert Subspace(*subspace).name == text.strip()


@every_variant
def test_every_name_of_a_game_is_read_back(variant):
    for subspace in tables_of(variant, moving_pairs(variant) + placing_subspaces(variant)):
        assert parse_subspace(subspace.name, variant) == subspace


@pytest.mark.parametrize(
    "text",
    ["", "5", "5-", "-4", "5-4-3", "5-4+", "5-4+1", "5-4 +1-1", "5–4", "five-four", "10-3", "3-2", "2-3", "9-9+1-1", "0-0+2-9",
     "5-4+5-0", "99-99", "100-3", "٣-٣x", "5-4\n3-3", "5-4+1-1+2-2", "x" * 5000],
)  # fmt: skip
def test_what_is_no_subspace_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        parse_subspace(text, NINE)
    assert "\n" not in str(error.value) and len(str(error.value)) < 6000


def test_twin_and_row_side():
    assert Subspace(3, 4, 6, 5).twin == Subspace(4, 3, 5, 6)
    assert Subspace(5, 4).rows_are_own and not Subspace(4, 5).rows_are_own and Subspace(4, 4).rows_are_own
    assert Subspace(3, 3, 2, 1).rows_are_own and not Subspace(3, 3, 1, 2).rows_are_own
    for subspace in map(lambda counts: Subspace(*counts), product(range(5), range(5), range(3), range(3))):
        assert subspace.twin.twin == subspace
        if subspace != subspace.twin:  # both index the same way: rows from one and the same side
            assert subspace.rows_are_own != subspace.twin.rows_are_own
            assert subspace.table_sides == subspace.twin.table_sides


def test_stones_of_the_row_side_and_of_the_column_side():
    assert Subspace(5, 4).table_sides == Subspace(4, 5).table_sides == (5, 4)
    assert Subspace(3, 4, 6, 5).table_sides == (4, 3)
    assert Subspace(5, 4).sides(True) == (5, 4) and Subspace(5, 4).sides(False) == (4, 5)


def test_over_is_below_three_on_board_and_in_hand():
    assert Subspace(2, 5).is_over and Subspace(1, 5, 1, 0).is_over
    assert not Subspace(3, 5).is_over and not Subspace(0, 0, 9, 9).is_over and not Subspace(2, 5, 1, 0).is_over


# ---------------------------------------------------------------- what leads where


def test_what_is_solved_together():
    def names(variant, text):
        return [s.name for s in solved_together(variant, parse_subspace(text, variant))]

    assert names(NINE, "4-5") == names(NINE, "5-4") == ["5-4", "4-5"]
    assert names(NINE, "4-4") == ["4-4"]
    assert names(NINE, "3-4+6-5") == ["3-4+6-5"]
    assert names(LASKER, "3-4+6-5") == names(LASKER, "4-3+5-6") == ["4-3+5-6", "3-4+6-5"]
    assert names(LASKER, "3-3+2-2") == ["3-3+2-2"]


@pytest.mark.parametrize(
    "variant, text, expected",
    [
        (NINE, "5-4", {"3-5"}),
        (NINE, "4-5", {"4-4"}),
        (NINE, "4-3", set()),  # the third-last stone: the game is over
        (NINE, "0-0+9-9", {"0-1+9-8"}),
        (NINE, "2-3+7-6", {"3-3+6-6", "2-3+6-6"}),
        (NINE, "8-9+1-0", {"9-9", "8-9"}),
        (NINE, "2-2+7-7", {"2-3+7-6", "1-3+7-6"}),
        (LASKER, "3-3+6-6", {"3-4+6-5", "2-4+6-5", "2-3+6-6"}),
        (get_variant("three"), "2-3+1-0", {"3-3"}),
    ],
)
def test_captures_and_placements(variant, text, expected):
    assert {s.name for s in conversions(variant, parse_subspace(text, variant))} == expected


@every_variant
def test_files_come_after_what_they_need(variant):
    done = set()
    for file in moving_pairs(variant) + placing_subspaces(variant):
        assert file not in done
        for subspace in solved_together(variant, file):
            assert {solved_together(variant, c)[0] for c in conversions(variant, subspace)} <= done | {file}
        assert set(dependencies(variant, file)) <= done
        assert file not in dependencies(variant, file)
        done.add(file)
    assert solved_together(variant, start_subspace(variant))[0] in done


def counts_from_the_start(variant):
    """(white, black, white hand, black hand, White to move) that turns can lead to, on the counts alone."""
    found, todo = set(), [(0, 0, variant.stones, variant.stones, True)]
    while todo:
        state = todo.pop()
        white, black, white_hand, black_hand, white_moves = state
        if state in found or white + white_hand < 3 or black + black_hand < 3:
            continue
        found.add(state)
        own, other, hand, other_hand = (white, black, white_hand, black_hand) if white_moves else (black, white, black_hand, white_hand)
        after = []
        if hand and own + other < variant.board.n_points:
            after.append((own + 1, hand - 1))
        if own and (variant.place_and_slide or not hand):
            after.append((own, hand))
        for n, left in after:
            for lost in (0, 1) if n >= 3 and other else (0,):
                sides = (n, other - lost, left, other_hand) if white_moves else (other - lost, n, other_hand, left)
                todo.append((*sides, not white_moves))
    return found


@every_variant
def test_placing_subspaces_are_those_that_turns_lead_to(variant):
    expected = set()
    for white, black, white_hand, black_hand, white_moves in counts_from_the_start(variant):
        if white_hand or black_hand:
            subspace = Subspace(white, black, white_hand, black_hand)
            expected.add(subspace if white_moves else subspace.twin)
    listed = tables_of(variant, placing_subspaces(variant))
    assert len(listed) == len(set(listed))
    assert expected <= set(listed)
    if not variant.place_and_slide:
        assert expected == set(listed)
    # Where turns slide, a file holds both sides to move, also where counts allow only one, and that one needs its own.


@pytest.mark.parametrize(
    "variant",
    [
        get_variant("six").with_overrides(stones=3),
        get_variant("four"),
        get_variant("six").with_overrides(stones=3, place_and_slide=True),
        get_variant("three").with_overrides(stones=4, fly_at=3, capture_in_mills="none"),
    ],
    ids=lambda variant: variant.name,
)
def test_every_position_of_play_lies_in_a_subspace(variant):
    listed = set(tables_of(variant, moving_pairs(variant) + placing_subspaces(variant)))
    reached = set()
    for position, _, _ in oracle.solve_game(twin_rules(variant)):
        reached.add(Subspace(len(position.own), len(position.opponent), position.own_hand, position.opponent_hand))
    assert {s for s in reached if not s.is_over} <= listed


def test_placing_subspaces_of_three():
    names = [s.name for s in placing_subspaces(get_variant("three"))]
    assert names == ["2-3+1-0", "2-2+1-1", "1-2+2-1", "1-1+2-2", "0-1+3-2", "0-0+3-3"]


# ---------------------------------------------------------------- sizes


def brute_force_count(board, own, opponent):
    orbits = set()
    for chosen in combinations(range(board.n_points), own):
        x = sum(1 << p for p in chosen)
        for others in combinations([p for p in range(board.n_points) if p not in chosen], opponent):
            y = sum(1 << p for p in others)
            orbits.add(min((board.image(x, g), board.image(y, g)) for g in range(len(board.symmetries))))
    return len(orbits)


@pytest.mark.parametrize("name, own, opponent", [("three", 3, 3), ("three", 2, 3), ("six", 2, 2), ("nine", 2, 1), ("twelve", 1, 2)])
def test_burnside_counts_what_is_there(name, own, opponent):
    variant = get_variant(name)
    assert count_canonical(variant, Subspace(own, opponent)) == brute_force_count(variant.board, own, opponent)


def test_totals_of_whole_phases():
    for row in published.rows("totals"):
        if row["phase"] == "both" or row["what"] != "positions":
            continue
        variant = get_variant(row["variant"])
        if row["phase"] == "moving":
            subspaces = tables_of(variant, moving_pairs(variant))
            assert len(subspaces) == (variant.stones - 2) ** 2
        else:  # as published: all splits of the stones, whether or not turns lead there
            subspaces = [
                Subspace(own, opponent, hand, other)
                for hand in range(1, variant.stones + 1)
                for other in (hand, hand - 1)
                for own in range(variant.stones - hand + 1)
                for opponent in range(variant.stones - other + 1)
            ]
            assert set(placing_subspaces(variant)) <= set(subspaces)
        distinct = Counter((s.own, s.opponent) for s in subspaces)
        total = sum(n * count_canonical(variant, Subspace(*counts)) for counts, n in distinct.items())
        assert total == row["canonical_positions"], row


def test_counts_of_published_subspaces():
    for row in published.rows("subspaces_nine") + published.rows("placement_nine") + published.rows("subspaces_variants"):
        positions = count_canonical(NINE, Subspace(row["own"], row["opponent"]))
        assert positions == row["wins"] + row["losses"] + row["draws"]
    for row in published.rows("subspaces_raw_nine"):
        assert count_raw(NINE, Subspace(row["own"], row["opponent"])) == row["positions"]
