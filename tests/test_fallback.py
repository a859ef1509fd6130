"""The search that answers placement positions while their tables are missing, compared with the tables."""

import random

import pytest

from solver.build import Builder, all_targets, moving_targets, plan
from solver.errors import MissingTableError
from solver.fallback import search_values
from solver.moves import is_over, legal_turns, play
from solver.position import start
from solver.query import TableSet
from solver.values import Outcome
from solver.variant import get_variant

VARIANTS = [get_variant("nine").with_overrides(stones=4), get_variant("six").with_overrides(stones=5)]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: v.name)
def both(request, tmp_path_factory):
    """The same game with moving tables only, and complete."""
    opened = []
    for targets in (moving_targets, all_targets):
        folder = tmp_path_factory.mktemp("fallback")
        builder = Builder(request.param, folder, 1)
        builder.build(plan(request.param, builder.store, targets(request.param)))
        builder.close()
        opened.append(TableSet(folder, request.param))
    yield opened
    for tables in opened:
        tables.close()


def placing_positions(variant, n: int, seed: int):
    """Positions with stones in hand from random games; also such as owe a capture."""
    rng = random.Random(seed)
    found = []
    while len(found) < n:
        position = start(variant)
        while position.subspace.is_placing and not is_over(variant, position):
            found.append(position)
            turns = legal_turns(variant, position)
            if not turns:
                break
            turn = rng.choice(turns)
            if turn.captured is not None and turn.target is not None:
                owed = play(variant, position, turn._replace(captured=None))
                found.append(owed)
            position = play(variant, position, turn)
    return rng.sample(found, n)


def test_search_gives_the_outcomes_of_the_tables(both):
    moving, complete = both
    for position in placing_positions(moving.variant, 12, seed=5):
        value, turns = search_values(moving, position, time_limit=60, jobs=2)
        assert value.outcome is complete.probe(position).outcome
        expected = {turn.turn: turn.outcome for turn in complete.moves(position)}
        assert {turn.turn: turn.outcome for turn in turns} == expected
        assert [t.outcome for t in turns] == sorted((t.outcome for t in turns), key=["win", "draw", "loss"].index)


def test_depth_is_unknown_unless_a_table_tells(both):
    moving, _ = both
    value, turns = search_values(moving, start(moving.variant), time_limit=60, jobs=1)
    assert value.dtw_plies is None
    assert all(turn.dtw_plies is None for turn in turns)


def test_no_time_gives_unknown_and_never_a_draw(both):
    moving, _ = both
    value, turns = search_values(moving, start(moving.variant), time_limit=1e-9, jobs=1)
    assert value.outcome is Outcome.UNKNOWN
    assert {turn.outcome for turn in turns} == {Outcome.UNKNOWN}


def test_a_missing_moving_table_is_named(tmp_path):
    variant = get_variant("nine").with_overrides(stones=5)
    with TableSet(tmp_path, variant) as tables, pytest.raises(MissingTableError, match="is missing"):
        search_values(tables, start(variant), time_limit=60, jobs=1)
