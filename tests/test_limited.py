"""Questions under a limit: what tables say at every count, and games in which the rule is played."""

import doctest
from random import Random

import numpy as np
import pytest
from conftest import build_tables, tables_of
from test_query import owed_positions, random_positions

from solver import limited
from solver.adjudication import DrawRules, LiveGame
from solver.build import Builder, moving_targets
from solver.errors import InputError, MissingTableError
from solver.indexing import Indexer
from solver.limited import LimitedTables, MillValue
from solver.metric import Metric
from solver.moves import legal_turns, play
from solver.position import Position, parse_own_form, start
from solver.query import open_tables
from solver.recheck import verify_file
from solver.values import Outcome
from solver.variant import get_variant

SIX, NINE = get_variant("six"), get_variant("nine")
LIMIT = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The moving phase of six with a limit of 10 and of 50."""
    folder = tmp_path_factory.mktemp("limited")
    for limit in (LIMIT, 50):
        build_tables(folder, SIX, moving_targets(SIX), metric=Metric("dtm", limit))
    return folder


@pytest.fixture(scope="module")
def six(folder):
    with LimitedTables(folder, SIX, LIMIT) as tables:
        yield tables


def test_the_example_in_the_docstring_runs(folder):
    names = {"folder": folder, "LimitedTables": LimitedTables, "get_variant": get_variant, "parse_own_form": parse_own_form}
    assert doctest.testmod(limited, extraglobs=names).failed == 0


def test_a_position_is_worth_its_best_turn_at_every_count(six):
    decided = set()
    for position in random_positions(SIX, 150, 12, 31):
        values = [six.probe(position, count) for count in range(LIMIT)]
        for count, value in enumerate(values):
            ranked = six.moves(position, count)
            assert [t.turn for t in ranked] != [] or value in (MillValue(Outcome.LOSS, 0), MillValue(Outcome.DRAW))
            if ranked:
                assert (ranked[0].outcome, ranked[0].dtm_plies) == value
            at_0 = values[0]
            in_time = at_0.dtm_plies is not None and at_0.dtm_plies <= LIMIT - count
            assert value == (at_0 if in_time else MillValue(Outcome.DRAW))
        decided |= set(values)
    assert {value.outcome for value in decided} == {Outcome.WIN, Outcome.LOSS, Outcome.DRAW}


def test_losers_who_must_close_a_mill(six):
    """Odd losses, and the even wins before them, are rare; all of them, by the rules."""
    indexer, seen = Indexer(SIX.board), set()
    for s in tables_of(SIX, moving_targets(SIX)):
        table = six.store.table(s)
        codes = table.read()
        for slot in np.flatnonzero((codes < 128) & (codes % 2 == 1) | (codes > 128) & (codes % 2 == 1)).tolist():
            own, opponent = indexer.masks_at(s, *divmod(slot, table.n_columns), table.file.row_masks)
            position = Position(int(own), int(opponent))
            value, ranked = six.probe(position), six.moves(position)
            assert (ranked[0].outcome, ranked[0].dtm_plies) == value
            assert value.dtm_plies % 2 == (value.outcome is Outcome.LOSS)
            if value == MillValue(Outcome.LOSS, 1):
                assert all(entry.turn.captured is not None and entry.outcome is Outcome.LOSS for entry in ranked)
            seen.add(value)
    assert {MillValue(Outcome.LOSS, 1), MillValue(Outcome.WIN, 2)} <= seen


def test_tables_stand_up_to_verification(folder):
    builder = Builder(SIX, folder, 1, metric=Metric("dtm", LIMIT))
    findings = [finding for file in moving_targets(SIX) for _, finding in verify_file(builder, file)]
    builder.close()
    assert len(findings) == 16 and all(finding.is_right for finding in findings)


def test_an_owed_capture_is_worth_its_best_removal_at_a_count_of_0(six):
    for position in owed_positions(SIX, 8, 200):
        if position.subspace.is_placing:
            continue
        replies = [play(SIX, position, turn) for turn in legal_turns(SIX, position)]
        values = [six.probe(after) if not after.subspace.is_over else MillValue(Outcome.LOSS, 0) for after in replies]
        best = Outcome.WIN if any(v.outcome is Outcome.LOSS for v in values) else None
        if best is None:
            best = Outcome.DRAW if any(v.outcome is Outcome.DRAW for v in values) else Outcome.LOSS
        assert six.probe(position, 7) == (best, None if best is Outcome.DRAW else 1)


def played(six, position, count, winner_is_own, lots, winner_best, loser_best):
    """A game under the rule from a position with some plies without a mill played before; the result for its side to move."""
    game = LiveGame(SIX, DrawRules(no_mill_turns=LIMIT), position)
    game._states[0] = game._states[0]._replace(quiet_turns=count)
    while not game.end:
        own = game.position.white_to_move == position.white_to_move
        state = game._states[-1]
        plays_best = winner_best if own == winner_is_own else loser_best
        ranked = six.moves(game.position, state.quiet_turns)
        game.play(ranked[0].turn if plays_best else lots.choice(ranked).turn)
    mark = game.end.result if position.white_to_move else game.end.result[::-1]
    return {"1-0": Outcome.WIN, "0-1": Outcome.LOSS, "1/2-1/2": Outcome.DRAW, "2/1-2/1": Outcome.DRAW}[mark]


def test_a_win_in_time_is_won_under_the_rule_and_one_too_slow_is_not(six, small_tables):
    lots = Random(5)
    kept_long = lost_to_rule = 0
    with open_tables(small_tables, "six") as deep:
        for position in random_positions(SIX, 500, 12, 33):
            value, without_rule = six.probe(position), deep.probe(position)
            if value.outcome is Outcome.WIN:
                assert without_rule.outcome is Outcome.WIN
                count = lots.randrange(LIMIT - value.dtm_plies + 1)  # as late as the table says
                for count in (count, LIMIT - value.dtm_plies):
                    if count < LIMIT:
                        assert played(six, position, count, True, lots, True, lots.random() < 0.5) is Outcome.WIN
                kept_long += without_rule.dtw_plies > LIMIT
            elif without_rule.outcome is Outcome.WIN:
                assert value.outcome is Outcome.DRAW
                assert played(six, position, 0, True, lots, lots.random() < 0.5, True) is not Outcome.WIN
                lost_to_rule += 1
            if value.outcome is Outcome.WIN and 1 < value.dtm_plies:
                late = LIMIT - value.dtm_plies + 1  # one ply too late
                if late < LIMIT:
                    assert six.probe(position, late).outcome is Outcome.DRAW
                    assert played(six, position, late, True, lots, True, True) is not Outcome.WIN
    assert kept_long > 20 and lost_to_rule > 5


def test_a_limit_of_50_keeps_more(folder, six):
    with LimitedTables(folder, SIX, 50) as roomy:
        pairs = [(six.probe(p), roomy.probe(p)) for p in random_positions(SIX, 300, 12, 34)]
    assert all(tight.outcome in (wide.outcome, Outcome.DRAW) for tight, wide in pairs)
    assert any(tight.outcome is not wide.outcome for tight, wide in pairs)


def test_what_cannot_be_asked(six, tmp_path):
    position = parse_own_form("WW.W.B../B.BB.... w 0,0", SIX)
    with pytest.raises(InputError, match="stones are in hand"):
        six.probe(start(SIX))
    for count, reason in ((LIMIT, "a draw already"), (-1, "from 0")):
        with pytest.raises(InputError, match=reason):
            six.moves(position, count)
    with LimitedTables(tmp_path, SIX, None) as free:
        with pytest.raises(InputError, match="where there is a limit"):
            free.probe(position, 3)
        with pytest.raises(MissingTableError, match="morris build -V six --metric dtm --data [^ ]* --subspace 3-4'"):
            free.probe(position)
    with LimitedTables(tmp_path, SIX, 50) as none, pytest.raises(MissingTableError, match="--metric dtm --no-mill-limit 50 --data"):
        none.probe(position)
    with pytest.raises(InputError, match="positive"):
        LimitedTables(tmp_path, SIX, 0)
    with pytest.raises(InputError, match="may remove nothing"):
        LimitedTables(tmp_path, get_variant("nine-strict"), 50)
    with pytest.raises(InputError, match="LimitedTables"):
        open_tables(tmp_path, "six", metric=Metric("dtm", 50))
