"""Players and matches: sparring's weights on hand-made positions; perfect, which keeps values in hundreds of games."""

import shutil
from random import Random

import pytest

from solver.adjudication import DrawRules, LiveGame
from solver.errors import InputError, MissingTableError
from solver.match import MATCH_RULES, Score, Tally, play_game, play_match
from solver.moves import format_turn, legal_turns, play
from solver.notation import parse_position
from solver.players import PLAYERS, WEIGHTS, get_player, sparring_score
from solver.position import Position, start
from solver.query import open_tables
from solver.values import Outcome
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")


@pytest.fixture(scope="module")
def six(small_tables):
    with open_tables(small_tables, "six") as tables:
        yield tables


@pytest.fixture(scope="module")
def nine(small_tables):
    """Only up to 8 stones, nothing placed."""
    with open_tables(small_tables, "nine") as tables:
        yield tables


@pytest.fixture(scope="module")
def no_tables(tmp_path_factory):
    with open_tables(tmp_path_factory.mktemp("nothing"), "nine") as tables:
        yield tables


def written(variant, turns):
    return " ".join(format_turn(variant.board, turn) for turn in turns)


# ---------------------------------------------------------------- sparring


def test_the_published_weights():
    assert WEIGHTS == (100, 220, 45, -60, 300, -300)


@pytest.mark.parametrize(
    "position, white, black",
    [
        ("......../......../........ w 9,9", 0, 0),
        ("W......./......../........ b 8,9", 0, 0),  # stones in hand are stones
        ("W...B.../.B...W../........ w 7,7", 0, 0),  # no two stones of a side on one line
        ("WB.WB.../B......./........ w 6,6", -100, 100),
        ("W.W.B.../B......./........ w 7,7", 45, -60),  # a7 g7 with d7 free
        ("WBW.B.../......../..B...W. w 6,6", 0, 0),  # a7 g7 with a black stone between them
        ("WWW.BB../.B....../........ w 6,6", 220 - 60, 45),  # a mill; g1 d1 with a1 free
        ("WWW.BB../......../........ w 6,7 x", 220 - 60 + 300, 45 - 300),  # White takes a stone
        ("BBB.WW../.W....../........ b 6,6 x", 45 - 300, 220 - 60 + 300),  # Black takes one
        ("WWWW..../.B.BB.../........ w 0,0", 100 + 220 + 45 - 60, -100 - 60 + 45),  # g7 g4 with g1 free, f4 f2 with f6
        ("WWW.W.../B......./B....... w 3,3", 200 + 220 + 45, -200 - 60),  # g7 g1 with g4 free; b6 c5 on no line
    ],
)
def test_score_of_hand_made_positions(position, white, black):
    position = parse_position(position, NINE)
    assert (sparring_score(NINE, position, True), sparring_score(NINE, position, False)) == (white, black)


def test_every_weight_counts_what_it_says():
    # White: a7 d7 g7, g7 g1 with g4 free.
    position = parse_position("WWW.W.../B......./........ w 3,4 x", NINE)
    for for_white, counts in [(True, (2, 1, 1, 0, 1, 0)), (False, (-2, 0, 0, 1, 0, 1))]:
        for name, count in zip(WEIGHTS._fields, counts):
            more = WEIGHTS._replace(**{name: getattr(WEIGHTS, name) + 1000})
            difference = sparring_score(NINE, position, for_white, more) - sparring_score(NINE, position, for_white)
            assert difference == 1000 * count, name


@pytest.mark.parametrize(
    "position, best",
    [
        # It closes a mill rather than block one, and takes the stone that leaves Black no open two.
        ("WW..BB../......../........ w 7,7", "g7xg1 g7xd1"),
        # It blocks an open two (60) rather than make one (45).
        ("....BB../......../W....... w 7,7", "a1"),
        # It makes an open two.
        ("....B.../......../W....... w 8,8", "d5 e5 c3 c4"),
        # A capture that is owed: it breaks the open two f6 f4.
        ("WWW..B../..BB...B/........ w 0,0 x", "xf6 xf4"),
    ],
)
def test_what_sparring_chooses(no_tables, position, best):
    position = parse_position(position, NINE)
    assert written(NINE, get_player("sparring", no_tables).best_turns(position)) == best


def score_after(position, turn):
    """What sparring thinks after a stone is brought, and after one is taken: it looks at one, then the other."""
    steps = (turn._replace(captured=None), turn) if turn.target is not None else (turn,)
    return [sparring_score(NINE, play(NINE, position, step), position.white_to_move) for step in steps]


def test_sparring_takes_exactly_the_best_in_random_games(no_tables):
    sparring = get_player("sparring", no_tables)
    for seed in range(20):
        lots, game = Random(seed), LiveGame(NINE, MATCH_RULES)
        while not game.end:
            position = game.position
            turns = legal_turns(NINE, position)
            best = sparring.best_turns(position)
            first = max(score_after(position, turn)[0] for turn in turns)
            for step in {turn[:2] for turn in turns}:
                after = {turn: score_after(position, turn) for turn in turns if turn[:2] == step}
                last = max(scores[-1] for scores in after.values())
                expected = {turn for turn, scores in after.items() if scores[0] == first and scores[-1] == last}
                assert {turn for turn in best if turn[:2] == step} == expected
            assert best == [turn for turn in turns if turn in best]
            game.play(lots.choice(best if lots.random() < 0.5 else turns))


# ---------------------------------------------------------------- random


def test_random_takes_every_turn_sooner_or_later(no_tables):
    lots, player, position = Random(1), get_player("random", no_tables), start(NINE)
    assert {player.choose(position, lots) for _ in range(400)} == set(legal_turns(NINE, position))


# ---------------------------------------------------------------- perfect


def holding_replies(tables, position):
    """How many turns of the side to move keep the draw, one probe after the other."""
    return sum(entry.outcome is Outcome.DRAW for entry in tables.moves(position))


def positions_of_random_games(variant, n, seed=0):
    for number in range(n):
        lots, game = Random(f"{seed} {number}"), LiveGame(variant, MATCH_RULES)
        while not game.end:
            yield game.position
            game.play(lots.choice(legal_turns(variant, game.position)))


def test_perfect_takes_the_quickest_win_the_slowest_loss_and_the_draw_that_is_hardest_to_hold(six):
    perfect, seen = get_player("perfect", six), set()
    for position in positions_of_random_games(SIX, 12):
        ranked = six.moves(position)
        value = six.probe(position)
        best = [entry.turn for entry in ranked if entry.value == value]
        if value.outcome is Outcome.DRAW:
            replies = {turn: holding_replies(six, play(SIX, position, turn)) for turn in best}
            best = [turn for turn in best if replies[turn] == min(replies.values())]
            seen.add(len(set(replies.values())) > 1)
        assert sorted(perfect.best_turns(position), key=str) == sorted(best, key=str)
        seen.add(value.outcome)
    assert seen == {Outcome.WIN, Outcome.DRAW, Outcome.LOSS, True, False}


def test_a_draw_that_ends_the_game_comes_last():
    with open_tables("nowhere", "morabaraba") as tables:
        full = Position((1 << 12) - 1, (1 << 24) - (1 << 12))
        assert get_player("perfect", tables)._count_holding_replies([full, full]) == [float("inf")] * 2


@pytest.mark.parametrize("opponent, n_games", [("random", 150), ("sparring", 150), ("perfect", 20)])
def test_perfect_keeps_the_value_at_every_ply(six, opponent, n_games):
    perfect, other = get_player("perfect", six), get_player(opponent, six)
    score, n_values = Score(), {}
    for number, (game, is_white) in enumerate(play_match(SIX, perfect, other, n_games, 7)):
        score.add(game, is_white)
        position = game.start
        for turn in game.turns:
            following = play(SIX, position, turn)
            if position.white_to_move == is_white:
                before, after = six.probe(position), six.probe(following).for_mover()
                assert after == before, (number, position)
                n_values[before.outcome] = n_values.get(before.outcome, 0) + 1
            position = following
    assert score.total.losses == 0
    assert sum(n_values.values()) >= n_games * 5 and n_values[Outcome.DRAW] and Outcome.LOSS not in n_values


def test_decided_positions_end_as_the_tables_say(six):
    perfect, sparring = get_player("perfect", six), get_player("sparring", six)
    n = {Outcome.WIN: 0, Outcome.LOSS: 0}
    for position in positions_of_random_games(SIX, 30, seed=1):
        outcome, plies = six.probe(position)
        if outcome is Outcome.DRAW or n[outcome] >= 60:
            continue
        n[outcome] += 1
        own_side, white_wins = position.white_to_move, position.white_to_move == (outcome is Outcome.WIN)
        among_perfect = play_game(perfect, perfect, LiveGame(SIX, start=position), Random(1))
        assert among_perfect.end.result == ("1-0" if white_wins else "0-1") and len(among_perfect.turns) == plies
        if outcome is Outcome.WIN:
            players = (perfect, sparring) if own_side else (sparring, perfect)
            against_sparring = play_game(*players, LiveGame(SIX, start=position), Random(1))
            assert against_sparring.end.result == among_perfect.end.result and len(against_sparring.turns) <= plies
    assert min(n.values()) == 60


# ---------------------------------------------------------------- missing tables


def test_perfect_refuses_to_start_without_tables(no_tables):
    message = "^perfect needs all tables of the game: the table 0-0.9-9 of nine is missing"
    with pytest.raises(MissingTableError, match=message) as caught:
        get_player("perfect", no_tables).require(start(NINE))
    assert caught.value.subspace == "0-0+9-9"


@pytest.mark.parametrize("missing", ["0-0+6-6", "5-3+1-1", "3-3", "4-3", "6-6"])
def test_perfect_names_the_table_that_is_missing(small_tables, tmp_path, monkeypatch, missing):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    shutil.copytree(small_tables / "six", tmp_path / "six")
    (tmp_path / "six" / f"{missing}.h5").unlink()
    with open_tables(tmp_path, "six") as tables, pytest.raises(MissingTableError) as caught:
        next(play_match(SIX, get_player("random", tables), get_player("perfect", tables), 1, 1))
    assert caught.value.subspace == missing


def test_perfect_starts_where_all_it_needs_is_there(nine):
    perfect = get_player("perfect", nine)
    position = parse_position("BB..W.../.W..W.../..BW...B w 0,0", NINE)
    perfect.require(position)
    games = [game for game, _ in play_match(NINE, perfect, get_player("sparring", nine), 2, 1, start=position)]
    assert all(game.end for game in games)
    with pytest.raises(MissingTableError) as caught:
        perfect.require(parse_position("BB..W.../WW..W.../..BW...B w 0,0", NINE))
    assert caught.value.subspace == "5-4"


def test_perfect_with_an_owed_capture_needs_the_tables_behind_it(nine):
    perfect = get_player("perfect", nine)
    perfect.require(parse_position("WWW...../BB.B.B../B....... w 0,0 x", NINE))  # leads to 4-3
    perfect.require(parse_position("WWW...../BB.B..../........ w 0,0 x", NINE))  # ends the game
    with pytest.raises(MissingTableError) as caught:
        perfect.require(parse_position("WWW.W.W./BB.B.B../B....... w 0,0 x", NINE))
    assert caught.value.subspace == "5-4"


def test_perfect_never_guesses(nine):
    # 5-4 is missing, and all turns but the mill stay there.
    position = parse_position("WW.W..../BB..B.../..W..B.W w 0,0", NINE)
    perfect = get_player("perfect", nine)
    assert {entry.outcome for entry in nine.moves(position)} > {Outcome.UNKNOWN}
    with pytest.raises(MissingTableError) as caught:
        perfect.choose(position, Random(1))
    assert caught.value.subspace in ("4-5", "5-4")


def test_unknown_players_are_refused(no_tables):
    with pytest.raises(InputError, match="no player is called 'god'; there are perfect, random, sparring"):
        get_player("god", no_tables)
    assert [get_player(name, no_tables).name for name in PLAYERS] == list(PLAYERS)


# ---------------------------------------------------------------- matches


def records(variant, tables, first, second, n, seed, **more):
    players = get_player(first, tables), get_player(second, tables)
    return [(game.record(), is_white) for game, is_white in play_match(variant, *players, n, seed, **more)]


@pytest.mark.parametrize("first, second", [("perfect", "random"), ("sparring", "sparring"), ("random", "perfect")])
def test_the_same_seed_gives_the_same_games(six, first, second):
    games = records(SIX, six, first, second, 6, 1)
    assert records(SIX, six, first, second, 6, 1) == games
    assert records(SIX, six, first, second, 3, 1) == games[:3]
    assert records(SIX, six, first, second, 6, 2) != games
    assert len(set(games)) > 1
    assert [is_white for _, is_white in games] == [True, False] * 3


def test_sides_alternate(six):
    # Sparring wins nothing against perfect, whichever side it has.
    score = Score()
    for game, is_white in play_match(SIX, get_player("sparring", six), get_player("perfect", six), 20, 3):
        score.add(game, is_white)
    assert score.total.wins == 0
    for tally in (score.as_white, score.as_black):
        assert tally.wins + tally.draws + tally.losses == 10


def test_a_score_counts_from_the_first_players_side():
    score = Score()
    white_wins = LiveGame(SIX, start=parse_position("BBW...WB/.W.....W b 0,0", SIX))
    black_wins = LiveGame(SIX, start=parse_position("WWB...BW/.B.....B w 0,0", SIX))
    drawn = LiveGame(get_variant("morabaraba"), start=Position((1 << 12) - 1, (1 << 24) - (1 << 12)))
    for game, n_as_white, n_as_black in [(white_wins, 1, 2), (black_wins, 4, 8)]:
        for number in range(n_as_white + n_as_black):
            score.add(game, first_is_white=number < n_as_white)
    score.add(drawn, True)
    assert (score.as_white, score.as_black, score.total) == (Tally(1, 1, 4), Tally(8, 0, 2), Tally(9, 1, 6))
    assert score.ends == {"blocked": 15, "full-board": 1} and score.longest_plies == 0


@pytest.mark.parametrize("rules", [DrawRules(2), DrawRules(0, 10), DrawRules(0, 0, 5)])
def test_every_single_rule_ends_a_match(six, rules):
    perfect = get_player("perfect", six)
    ends = {game.end.kind for game, _ in play_match(SIX, perfect, perfect, 3, 1, rules)}
    assert ends == {name.replace("_", "-") for name, number in vars(rules).items() if number}


def test_matches_without_an_end_are_refused(no_tables):
    sparring = get_player("sparring", no_tables)
    with pytest.raises(InputError, match="a match of nine needs a drawing rule"):
        next(play_match(NINE, sparring, sparring, 1, 1, DrawRules()))
    with pytest.raises(InputError, match="the game is over in this position"):
        next(play_match(SIX, sparring, sparring, 1, 1, start=parse_position("BBW...WB/.W.....W b 0,0", SIX)))


def test_perfect_wants_depths(outcome_tables, tmp_path, monkeypatch):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    with open_tables(outcome_tables, "six") as tables, pytest.raises(MissingTableError, match="needs depths, and of 0-0.6-6 only"):
        get_player("perfect", tables).require(start(SIX))
