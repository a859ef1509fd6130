"""Values side by side: their order, and what is known of a position when not all of its turns are."""

from itertools import permutations

import pytest

from solver.values import Outcome
from solver.worth import LOST, UNKNOWN, RankedTurn, Value, best_of, could_equal, rank_turns

WIN, DRAW, LOSS = Value(Outcome.WIN), Value(Outcome.DRAW), Value(Outcome.LOSS)


def win(plies):
    return Value(Outcome.WIN, plies)


def loss(plies):
    return Value(Outcome.LOSS, plies)


def test_turns_are_ranked_by_outcome_then_by_the_depth_that_is_known():
    order = [win(1), win(7), WIN, DRAW, LOSS, loss(8), loss(2), UNKNOWN]
    for shuffled in (order[::-1], order[1::2] + order[::2]):
        assert [turn.value for turn in rank_turns(RankedTurn(None, *value) for value in shuffled)] == order


def test_turns_of_unknown_depths_stay_in_their_order():
    turns = [RankedTurn(number, *value) for number, value in enumerate([LOSS, WIN, DRAW, WIN, LOSS])]
    assert [turn.turn for turn in rank_turns(turns)] == [1, 3, 2, 0, 4]


@pytest.mark.parametrize(
    "values, best",
    [
        ([win(5), win(3), DRAW], win(3)),
        ([win(5), WIN], WIN),  # the other one may be quicker
        ([win(1), WIN, UNKNOWN], win(1)),  # nothing is
        ([win(5), UNKNOWN], WIN),
        ([DRAW, LOSS, loss(4)], DRAW),
        ([DRAW, UNKNOWN], UNKNOWN),
        ([loss(4), loss(8)], loss(8)),
        ([loss(4), LOSS], LOSS),
        ([loss(4), UNKNOWN], UNKNOWN),
        ([LOST], LOST),
    ],
)
def test_a_position_is_known_as_far_as_its_turns_settle_it(values, best):
    for order in permutations(values):
        assert best_of(order) == best


def test_values_could_be_equal_where_depths_are_unknown():
    assert could_equal(win(5), win(5)) and could_equal(win(5), WIN) and could_equal(WIN, WIN) and could_equal(DRAW, DRAW)
    assert not could_equal(win(5), win(7)) and not could_equal(win(5), LOSS) and not could_equal(DRAW, UNKNOWN)
