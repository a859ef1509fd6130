"""The drawing rules at their exact boundaries, take back, and a slow twin that recounts the whole game at every ply."""

from itertools import cycle, islice
from random import Random

import pytest

from solver.adjudication import DrawRules, LiveGame
from solver.errors import InputError
from solver.moves import legal_turns, parse_turn, play
from solver.notation import parse_moves, parse_position
from solver.position import Position, start
from solver.variant import get_variant

NINE, SIX, LASKER = get_variant("nine"), get_variant("six"), get_variant("lasker-nine")
#: Three stones each; White goes to and fro between a5 and c5, Black between e1 and c1, and nobody gets near a mill.
SHUFFLE = "W...B.../B..WB..W w 0,0"
#: Twelve placements without a mill, and four turns after which the position is there again.
PLACEMENTS = "a5 e5 c5 e1 e3 b4 a1 d3 d4 c2 d2 b2"
AFTER_PLACEMENTS = "a5-a3 b2-b3 a3-a5 b3-b2"


def new_game(variant, rules=DrawRules(), position=None):
    return LiveGame(variant, rules, None if position is None else parse_position(position, variant))


def ply_of_end(game, turns):
    """Makes turns until the game is over; the number of the last ply, or None if it is not over after all of them."""
    for text in turns:
        game.play(parse_turn(text, game.variant, game.position))
        if game.end:
            return len(game.turns)
    return None


def shuffle(n, turns="a5-c5 e1-c1 c5-a5 c1-e1"):
    """The first n turns of endless shuffling."""
    return islice(cycle(turns.split()), n)


# ---------------------------------------------------------------- the rules as settings


def test_all_rules_are_off_by_default():
    assert str(DrawRules()) == "none"
    assert ply_of_end(new_game(SIX, position=SHUFFLE), shuffle(400)) is None


@pytest.mark.parametrize("wrong", [{"repetition": -1}, {"no_mill_plies": -3}, {"no_mill_turns": -1}, {"repetition": 1}])
def test_numbers_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError):
        DrawRules(**wrong)


def test_rules_are_written_in_words():
    expected = "the same position 3 times, 120 plies without a mill, 50 moving turns without a mill"
    assert str(DrawRules(3, 120, 50)) == expected


def test_which_rules_end_every_game():
    assert not DrawRules().end_every_game(NINE)
    assert all(rules.end_every_game(NINE) for rules in (DrawRules(3), DrawRules(0, 120), DrawRules(0, 0, 50)))
    strict = get_variant("nine-strict")  # a mill that removes nothing can be closed again and again
    assert DrawRules(3).end_every_game(strict) and not DrawRules(0, 120, 50).end_every_game(strict)


# ---------------------------------------------------------------- repetition


@pytest.mark.parametrize("times, ply", [(2, 4), (3, 8), (4, 12)])
def test_repetition_counts_the_first_position(times, ply):
    game = new_game(SIX, DrawRules(repetition=times), SHUFFLE)
    assert ply_of_end(game, shuffle(40)) == ply
    assert game.end == ("1/2-1/2", "repetition", f"the same position {times} times")


def test_repetition_counts_every_position():
    # The first position never comes again; the one after ply 1 does after plies 5 and 9.
    turns = ["d3-d4", "e1-c1", *shuffle(12, "a5-c5 c1-e1 c5-a5 e1-c1")]
    assert ply_of_end(new_game(SIX, DrawRules(repetition=3), SHUFFLE), turns) == 9


def test_the_other_side_to_move_makes_another_position():
    # All fly.  White is back after three turns, Black after two: the same points, but Black is to move.
    game = new_game(NINE, DrawRules(repetition=2), "W.W.B.../B..W.B../........ w 0,0")
    assert ply_of_end(game, "a7-d7 g1-g4 d7-f6 g4-g1 f6-a7".split()) is None
    assert game.position == game.start._replace(white_to_move=False)


def test_stones_in_hand_make_no_other_position():
    # Each closes a mill and removes the stone by which the other closed the last one.
    game = new_game(NINE, DrawRules(repetition=2), "WW..BBB./......../........ w 5,5")
    assert ply_of_end(game, ["g7xd1", "d1xg7"]) == 2
    assert game.end.kind == "repetition" and game.position == game.start._replace(white_hand=4, black_hand=4)


# ---------------------------------------------------------------- plies and moving turns without a mill


@pytest.mark.parametrize("number", [1, 2, 7, 120])
@pytest.mark.parametrize("rule, name", [("no_mill_plies", "plies"), ("no_mill_turns", "moving turns")])
def test_play_without_a_mill_ends_exactly_at_the_number(rule, name, number):
    game = new_game(SIX, DrawRules(**{rule: number}), SHUFFLE)
    assert ply_of_end(game, shuffle(number + 5)) == number
    assert game.end == ("1/2-1/2", rule.replace("_", "-"), f"{number} {name} without a mill")


@pytest.mark.parametrize("number, ply", [(2, 2), (3, 6), (4, 7)])
@pytest.mark.parametrize("rule", ["no_mill_plies", "no_mill_turns"])
def test_a_mill_begins_the_count_anew(rule, number, ply):
    # Ply 3 closes a mill, also where it would have been the last one without.
    game = new_game(SIX, DrawRules(**{rule: number}), "W.W.B.B./.W.BB..W w 0,0")
    assert ply_of_end(game, "b3-b2 e1-c1 c4-c5xd2 c1-e1 b2-b3 e1-c1 b3-b2".split()) == ply


@pytest.mark.parametrize("number, ply", [(4, 4), (5, 10)])
def test_placements_are_plies(number, ply):
    game = new_game(SIX, DrawRules(no_mill_plies=number))
    assert ply_of_end(game, "a5 b4 e5 d2 c5xb4 b2 a1 d4 d3 e3".split()) == ply


@pytest.mark.parametrize("number, ply", [(1, 13), (2, 14), (50, 62)])
def test_placements_are_no_moving_turns(number, ply):
    game = new_game(SIX, DrawRules(no_mill_turns=number))
    assert ply_of_end(game, [*PLACEMENTS.split(), *shuffle(60, AFTER_PLACEMENTS)]) == ply


def test_a_placement_does_not_interrupt_moving_turns():
    game = new_game(LASKER, DrawRules(no_mill_turns=3))
    assert ply_of_end(game, "a7 g1 a7-d7 b2 d7-a7 g1-d1".split()) == 6


def test_a_mill_closed_by_placing_begins_the_count_of_moving_turns_anew():
    # Moving turns are plies 4, 7, 8, 9; the mill is closed at ply 5.
    game = new_game(LASKER, DrawRules(no_mill_turns=3))
    assert ply_of_end(game, "a7 b2 d7 b2-d2 g7xd2 f2 g7-g4 f2-f4 g4-g1".split()) == 9


def test_a_mill_that_removes_nothing_is_a_mill():
    strict = get_variant("nine-strict")
    game = new_game(strict, DrawRules(no_mill_plies=1), "WW.W..../......../BBB..... w 0,0")
    assert ply_of_end(game, ["g4-g7", "d5-d6"]) == 2


def test_an_owed_removal_belongs_to_a_mill():
    game = new_game(NINE, DrawRules(2, 1, 1), "WWW...../BB.B.B../........ w 0,0 x")
    assert ply_of_end(game, ["xb6", "d6-a1"]) == 2


@pytest.mark.parametrize("number, half", [(120, 60), (7, 3), (2, 1)])
def test_plies_without_a_mill_are_announced_once_at_half(number, half):
    game, announced = new_game(SIX, DrawRules(no_mill_plies=number), SHUFFLE), {}
    for ply, text in enumerate(shuffle(number), 1):
        game.play(parse_turn(text, SIX, game.position))
        if game.notice:
            announced[ply] = game.notice
    unit = "plies" if half > 1 else "ply"
    assert announced == {half: f"{half} {unit} without a mill; at {number} the game is a draw"}


@pytest.mark.parametrize("rules", [DrawRules(), DrawRules(no_mill_plies=1), DrawRules(3, 0, 120)])
def test_nothing_else_is_announced(rules):
    game = new_game(SIX, rules, SHUFFLE)
    for text in shuffle(60):
        assert game.notice is None
        if ply_of_end(game, [text]):
            break
    assert game.notice is None


# ---------------------------------------------------------------- ends by the rules of the game


def test_a_game_that_is_over_is_not_drawn():
    game = new_game(SIX, DrawRules(no_mill_plies=1), "BBW...WB/..W....W w 0,0")
    assert ply_of_end(game, ["d4-c4"]) == 1
    assert game.end == ("1-0", "blocked", "Black has no legal turn")


def test_too_few_stones_end_the_game():
    game = new_game(NINE, position="BB.B..../W......./WW...... b 0,0")
    assert ply_of_end(game, ["g4-g7xb6"]) == 1
    assert game.end == ("0-1", "stones", "White has only 2 stones left")


def test_a_full_board_is_a_draw_where_the_variant_says_so():
    white, black = ((1 << 13) - 2, (1 << 24) - (1 << 13))  # all points but a7
    game = LiveGame(get_variant("morabaraba"), DrawRules(), Position(white, black, False, 0, 1))
    assert ply_of_end(game, ["a7"]) == 1
    assert game.end == ("1/2-1/2", "full-board", "no point is free")


def test_a_game_can_be_over_before_it_begins():
    game = new_game(SIX, position="BBW...WB/.W.....W b 0,0")
    assert game.end.result == "1-0"
    with pytest.raises(InputError, match="the game is over: Black has no legal turn"):
        game.play(None)


# ---------------------------------------------------------------- turns, take back, records


def test_illegal_turns_are_refused_and_change_nothing():
    game = new_game(SIX)
    with pytest.raises(InputError, match="no stone left|still has 6"):
        game.play(parse_turn("a5", SIX, start(SIX))._replace(origin=3))
    assert game.turns == [] and game.position == start(SIX)


def test_a_record_that_goes_on_after_the_end_is_refused_with_the_ply():
    record = parse_moves("a5 b4 e5 d4 a1", SIX)
    with pytest.raises(InputError, match="^ply 4: the game is over: 3 plies without a mill$"):
        LiveGame(SIX, DrawRules(no_mill_plies=3), record.start, record.turns)


def test_nothing_is_taken_back_from_the_start():
    with pytest.raises(InputError, match="no turn to take back"):
        new_game(SIX).back()


def test_take_back_restores_every_counter():
    game = new_game(SIX, DrawRules(3, 20, 8), SHUFFLE)
    assert ply_of_end(game, shuffle(9)) == 8
    for _ in range(5):
        game.back()
    assert game.end is None and len(game.turns) == 3
    assert ply_of_end(game, ["c1-e1", "d3-d4", *shuffle(9, "e1-c1 a5-c5 c1-e1 c5-a5")]) == 8  # by moving turns
    assert game.end.kind == "no-mill-turns"


@pytest.mark.parametrize(
    "variant, position, moves, record",
    [
        (NINE, None, "d6 f4 b4", "1. d6 f4 2. b4 *"),
        (NINE, None, "", "*"),
        (SIX, "BBW...WB/..W....W w 0,0", "d4-c4", '[FEN "BBW...WB/..W....W w 0,0"] 1. d4-c4 1-0'),
        (SIX, "W..WB.../B...B..W b 0,0", "e1-c1 a5-c5", '[FEN "W..WB.../B...B..W b 0,0"] 1... e1-c1 2. a5-c5 *'),
        (
            NINE, "WWW...../BB.B.B../........ w 0,0 x", "xb6 d6-a1",
            '[FEN "WWW...../BB.B.B../........ w 0,0 x"] 1. xb6 d6-a1 *',
        ),
    ],
)  # fmt: skip
def test_records_are_read_back(variant, position, moves, record):
    game = new_game(variant, position=position)
    ply_of_end(game, moves.split())
    assert game.record() == record
    again = parse_moves(record, variant)
    assert (again.start, again.turns, again.position) == (game.start, game.turns, game.position)


# ---------------------------------------------------------------- the slow twin


def recounted(variant, rules, first, turns):
    """Which drawing rules apply after these turns, and plies without a mill, counted from the beginning."""
    positions, mills = [first], []
    for turn in turns:
        before = positions[-1]
        positions.append(play(variant, before, turn))
        own = positions[-1].white if before.white_to_move else positions[-1].black
        lines = (set(mill) for mill in variant.board.mills)
        closed = any(turn.target in line and all(own >> p & 1 for p in line) for line in lines)
        mills.append(closed or turn.target is None)
    keys = [(p.white, p.black, p.white_to_move) for p in positions if not p.capture_owed]
    quiet = turns[max((n for n, mill in enumerate(mills, 1) if mill), default=0) :]
    applies = set()
    if rules.repetition and keys.count(keys[-1]) >= rules.repetition:
        applies.add("repetition")
    if rules.no_mill_plies and len(quiet) >= rules.no_mill_plies:
        applies.add("no-mill-plies")
    if rules.no_mill_turns and sum(turn.origin is not None for turn in quiet) >= rules.no_mill_turns:
        applies.add("no-mill-turns")
    return positions[-1], applies, len(quiet)


@pytest.mark.parametrize("variant, position", [(SIX, SHUFFLE), (SIX, None), (NINE, None), (LASKER, None)])
def test_random_games_with_take_back_agree_with_the_recount(variant, position):
    kinds = set()  # that ended games
    for seed in range(25):
        lots = Random(seed)
        rules = DrawRules(lots.choice([0, 2, 3]), lots.choice([0, 4, 9, 30]), lots.choice([0, 3, 7, 20]))
        game = new_game(variant, rules, position)
        for _ in range(50):
            if game.turns and (game.end or lots.random() < 0.2):
                for _ in range(lots.randint(1, min(4, len(game.turns)))):
                    game.back()
            else:
                turns = legal_turns(variant, game.position)
                game.play(lots.choice(turns[:3] if lots.random() < 0.7 else turns))
            expected, applies, quiet = recounted(variant, rules, game.start, game.turns)
            assert game.position == expected
            over = not legal_turns(variant, expected)
            assert bool(game.end) == (over or bool(applies))
            if game.end:
                kinds.add(game.end.kind)
                assert over or game.end.kind in applies
            assert bool(game.notice) == (quiet == rules.no_mill_plies // 2 > 0 and not game.end)
    assert kinds == {"repetition", "no-mill-plies", "no-mill-turns"} or position is None
