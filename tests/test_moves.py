"""Turns: the rules one by one, counts from outside, symmetry, the slow twin, and the text of a turn."""

from collections import Counter

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_position import arranged, played, quick

from solver.errors import InputError
from solver.moves import Turn, check_turn, closes_mill, format_playok_turn, format_turn, is_over, legal_turns
from solver.moves import no_turn_outcome, parse_turn, play, read_turn, turn_image
from solver.position import check_position, format_own_form, image, parse_own_form, points_of, start
from solver.values import Outcome
from solver.variant import get_variant

NINE = get_variant("nine")
LASKER = get_variant("lasker")


def turns_of(text, variant=NINE):
    """The legal turns of a position as text."""
    position = parse_own_form(text, variant)
    return [format_turn(variant.board, turn) for turn in legal_turns(variant, position)]


# --- counts -----------------------------------------------------------------------------------


def test_number_of_games_and_of_positions_by_symmetry():
    # Handed values for the standard game: sequences of 1 to 5 turns, positions after 0 to 4 plies.
    symmetries = range(len(NINE.board.symmetries))
    layer, n_games, n_positions = Counter({start(NINE): 1}), [], []
    for ply in range(5):
        n_positions.append(len(layer))
        n_games.append(sum(ways * len(legal_turns(NINE, position)) for position, ways in layer.items()))
        after = Counter()
        for position, ways in layer.items() if ply < 4 else ():
            for turn in legal_turns(NINE, position):
                reached = play(NINE, position, turn)
                after[min(image(reached, NINE.board, s) for s in symmetries)] += ways
        layer = after
    assert n_games == [24, 552, 12144, 255024, 5140800]
    assert n_positions == [1, 4, 46, 428, 4200]


@pytest.mark.parametrize(
    "text, n_turns",
    [
        ("..BBBBB./W......./WW.W.... w 0,0", 12),
        ("....BBB./W..B...B/WW.W.... w 0,0", 7),
        ("WBWWBWWB/WBWBWBBW/......BB w 0,0", 0),
        ("WWWB...B/BWWB.B../BBB..... w 0,0", 0),
        ("WBWB.BWB/......../........ w 0,0", 51),
        ("WBWBWBWB/......../........ w 0,0", 0),
        ("BB..W.../....W.../...W...B w 0,0", 54),
        ("WW.W..WB/BB....../........ w 0,0", 7),
        ("......../......../........ w 9,9", 24),
        (".......W/......../........ b 8,9", 23),
        ("..B...../..W.WBWB/........ w 6,6", 20),
    ],
)
def test_number_of_legal_turns(text, n_turns):
    assert len(turns_of(text)) == n_turns


# --- the rules one by one ---------------------------------------------------------------------


def test_placing_before_moving():
    assert all("-" not in turn for turn in turns_of("W......./B......./........ w 8,8"))


def test_a_turn_may_place_or_slide_in_laskers_game():
    turns = turns_of("W......./B......./........ w 9,9", LASKER)
    assert len(turns) == 22 + 2 and turns[-2:] == ["a7-d7", "a7-a4"]


def test_nobody_flies_while_a_stone_is_in_hand():
    turns = turns_of("W.W.W.../B.B.B.../........ w 1,2", LASKER)
    assert sum("-" in turn for turn in turns) == 6 and "a7-c4" not in turns


def test_flying_takes_exactly_three_stones_and_a_variant_that_flies():
    text = "W..W..../B.B.B.B./.....W.. w"
    assert len(turns_of(text)) == 3 * 17
    assert len(turns_of(text, get_variant("nine-nofly"))) == 2 + 3 + 3
    assert len(turns_of("W..W..../B.B.B.B./.....W.. b")) == 4 * 2
    assert "a7-a1" in turns_of("W.W..W../B.BB..../........ w 0,0")


def test_stones_in_mills_are_taken_last():
    turns = turns_of("....BBB./W..B...B/WW.W.... w 0,0")
    assert {turn for turn in turns if "x" in turn} == {"e4-e5xf4", "e4-e5xb4"}


def test_any_stone_is_taken_when_all_stand_in_mills():
    text = "..BBBBB./W......./WW.W.... w 0,0"
    captures = {turn for turn in turns_of(text) if turn.startswith("e4-e5")}
    assert captures == {f"e4-e5x{point}" for point in ("g7", "g4", "g1", "d1", "a1")}
    assert "e4-e5" in turns_of(text, get_variant("nine-strict"))


def test_two_mills_at_once_remove_one_stone():
    turns = turns_of("W.W...../.W..B.../.WB.B... w 5,5")
    assert {turn for turn in turns if turn.startswith("d7")} == {"d7xf2", "d7xe5", "d7xe3"}


def test_a_mill_with_all_opponent_stones_in_hand_removes_nothing():
    assert "g7" in turns_of("WW....../......../........ w 7,7")


def test_opening_a_mill_and_closing_it_again_counts_again():
    position = parse_own_form("WWW....W/...BB.B./...B.... w", NINE)
    for text in ("g7-g4", "f4-f6", "g4-g7xe4"):
        position = play(NINE, position, parse_turn(text, NINE, position))
    assert position.black.bit_count() == 3


def test_a_mill_that_the_moved_stone_leaves_does_not_count():
    board = NINE.board
    own = board.mask_of(["a7", "d7", "g7", "d6"])
    assert not closes_mill(board, own, board.index_of["a7"], board.index_of["a4"])
    assert not closes_mill(board, board.mask_of(["a7", "d7", "g4"]), 1, 2)  # d7-g7 takes d7 out of the row
    assert closes_mill(board, board.mask_of(["a7", "d7", "g4"]), 3, 2)


def test_the_side_with_two_stones_has_lost():
    over = parse_own_form("WW....../BBB...../........ w", NINE)
    assert is_over(NINE, over) and legal_turns(NINE, over) == [] and no_turn_outcome(NINE, over) == "loss"
    with pytest.raises(InputError, match="the game is over, White has lost"):
        parse_turn("d7-g7", NINE, over)


def test_two_stones_on_board_and_one_in_hand_play_on():
    assert not is_over(NINE, parse_own_form("WW....../BBB...../........ w 1,1", NINE))


def test_a_full_board_is_a_loss_or_a_draw():
    text = "WBWBWBWB/BWBWBWBW/WBWBWBWB w 0,0"
    for name, outcome in (("twelve", Outcome.DRAW), ("morabaraba", "draw")):
        variant = get_variant(name)
        full = parse_own_form(text, variant)
        assert legal_turns(variant, full) == [] and no_turn_outcome(variant, full) == outcome
    loss = get_variant("twelve").with_overrides(full_board="loss")
    assert no_turn_outcome(loss, parse_own_form(text, loss)) == Outcome.LOSS


def test_a_blocked_side_on_a_board_with_free_points_has_lost_everywhere():
    # White's stones in the corner have no free neighbour.
    twelve = get_variant("twelve")
    blocked = parse_own_form("WWB..BBW/WBB....B/B....... w 0,0", twelve)
    assert legal_turns(twelve, blocked) == [] and no_turn_outcome(twelve, blocked) == "loss"


def test_an_owed_capture_is_the_only_choice():
    position = parse_own_form("WWW...../BB....../........ w 6,7 x", NINE)
    assert legal_turns(NINE, position) == [Turn(captured=8), Turn(captured=9)]
    after = play(NINE, position, Turn(captured=8))
    assert format_own_form(after, NINE) == "WWW...../.B....../........ b 6,7"


def test_a_turn_in_two_steps_leads_where_the_whole_turn_leads():
    position = parse_own_form("WW....../BB....../........ w 7,7", NINE)
    owed = play(NINE, position, Turn(None, 2))
    assert format_own_form(owed, NINE) == "WWW...../BB....../........ w 6,7 x"
    assert play(NINE, owed, Turn(captured=9)) == play(NINE, position, Turn(None, 2, 9))


# --- laws -------------------------------------------------------------------------------------


@quick
@given(arranged() | played(), st.integers(0, 15))
def test_symmetry_commutes_with_turns(case, number):
    variant, position = case
    board = variant.board
    number %= len(board.symmetries)
    moved = image(position, board, number)
    turns = legal_turns(variant, position)
    assert {turn_image(turn, board, number) for turn in turns} == set(legal_turns(variant, moved))
    for turn in turns[::7]:
        after = play(variant, moved, turn_image(turn, board, number))
        assert after == image(play(variant, position, turn), board, number)


@quick
@given(arranged() | played())
def test_legal_turns_lead_to_sound_positions(case):
    variant, position = case
    turns = legal_turns(variant, position)
    assert len(set(turns)) == len(turns)
    for turn in turns:
        check_turn(turn, variant, position)
        after = play(variant, position, turn)
        check_position(after, variant)
        assert after.white_to_move != position.white_to_move and not after.capture_owed
        placed = turn.target is not None and turn.origin is None
        assert after.opponent_hand == position.own_hand - placed
        assert after.own_mask == position.opponent_mask & ~(0 if turn.captured is None else 1 << turn.captured)


def twin_rules(variant):
    """The variant as the slow twin writes it."""
    return oracle.Rules(
        board=variant.board_name,
        stones=variant.stones,
        fly_at=variant.fly_at,
        capture_in_mills={"any": "when_all", "none": "never"}[variant.capture_in_mills],
        place_and_slide=variant.place_and_slide,
        full_board=variant.full_board,
    )


def twin_position(variant, position):
    names = variant.board.points
    own, opponent = (frozenset(names[p] for p in points_of(m)) for m in (position.own_mask, position.opponent_mask))
    return oracle.Position(own, opponent, position.own_hand, position.opponent_hand)


@quick
@given(arranged() | played())
def test_the_slow_twin_finds_the_same_turns(case):
    variant, position = case
    if position.capture_owed:
        return
    rules, twin = twin_rules(variant), twin_position(variant, position)
    turns = {format_turn(variant.board, turn): turn for turn in legal_turns(variant, position)}
    assert sorted(turns) == oracle.legal_turns(rules, twin)
    for text, after in oracle.successors(rules, twin):
        assert twin_position(variant, play(variant, position, turns[str(text)])) == after
    if not turns:
        assert (no_turn_outcome(variant, position) == "draw") == oracle.is_drawn(rules, twin)


# --- text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, turn",
    [
        ("d6", Turn(None, 9)),
        (" D6 ", Turn(None, 9)),
        ("d6-d5", Turn(9, 17)),
        ("d6d5", Turn(9, 17)),
        ("D6 - D5", Turn(9, 17)),
        ("g1xd2", Turn(None, 4, 13)),
        ("g1 X d2", Turn(None, 4, 13)),
        ("a4-a7xd2", Turn(7, 0, 13)),
        ("A4a7 xD2", Turn(7, 0, 13)),
        ("xb4", Turn(None, None, 15)),
        ("x b4", Turn(None, None, 15)),
        ("4", Turn(None, 8)),
        ("3x4", Turn(None, 2, 8)),
        ("10-11x5", Turn(7, 15, 9)),
        ("x24", Turn(None, None, 4)),
    ],
)
def test_what_a_turn_says(text, turn):
    assert read_turn(text, NINE.board) == turn


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "'' is no turn"),
        ("d", "is no turn"),
        ("d6-", "is no turn"),
        ("d6 d5", "is no turn"),
        ("d6-d5-d4", "is no turn"),
        ("g1xd2xd3", "is no turn"),
        ("d6" + " " * 5000 + "-d5", "is no turn"),
        ("d4", "the board has no point d4"),
        ("h8", "the board has no point h8"),
        ("d6xd4", "the board has no point d4"),
        ("25", "points are numbered 1 to 24, there is no 25"),
        ("0", "there is no 0"),
    ],
)
def test_text_that_is_no_turn(text, reason):
    with pytest.raises(InputError) as error:
        read_turn(text, NINE.board)
    assert reason in str(error.value) and len(str(error.value)) < 120


@pytest.mark.parametrize(
    "turn, position, reason",
    [
        ("d6-d5", "......../......../........ w 9,9", "White still has 9 stones to place"),
        ("d6-d5", "WW...B../.BB...../........ w 1,1", "White still has 1 stone to place"),
        ("d6", "WW.W..../.BBB..../........ w", "White has no stone left to place"),
        ("a7", "W......./B......./........ w 8,8", "a7 is occupied"),
        ("a4-a1", "WW.W..../.BBB..../........ w", "there is no white stone on a4"),
        ("d6-b6", "WW.W..../.BBB..../........ w", "there is no white stone on d6"),
        ("d7-d7", "WW.W..../.BBB..../........ w", "a move ends on another point than d7"),
        ("d7-d6", "WW.WW.../.BBB..../........ w", "d6 is occupied"),
        ("d7-b2", "WW.WW.../.BBB..../........ w", "d7 and b2 are not adjacent, and only a side with at most 3"),
        ("g7", "WW....../BB....../........ w 7,7", "g7 closes a mill and names no removal; add one of xb6 xd6"),
        ("g4xb6", "WW....../BB....../........ w 7,7", "g4 closes no mill, so no stone is removed"),
        ("g7xb4", "WW....../BB....../........ w 7,7", "there is no black stone on b4 to remove"),
        ("g7xa7", "WW....../BB....../........ w 7,7", "there is no black stone on a7 to remove"),
        ("xb6", "WW....../BB....../........ w 7,7", "White has closed no mill"),
        ("g7xb6", "WW....../BBB.B.../........ w 5,5", "the stone on b6 stands in a mill, and other black"),
        ("d1", "WWW...../BB....../........ w 6,7 x", "White has closed a mill and must remove a stone first"),
        ("xd7", "WWW...../BB....../........ w 6,7 x", "there is no black stone on d7 to remove"),
    ],
)
def test_why_a_turn_is_not_legal(turn, position, reason):
    with pytest.raises(InputError) as error:
        parse_turn(turn, NINE, parse_own_form(position, NINE))
    assert reason in str(error.value)


def test_reasons_of_other_variants():
    strict, nofly = get_variant("nine-strict"), get_variant("nine-nofly")
    with pytest.raises(InputError, match="all black stones stand in mills, so the mill removes nothing"):
        parse_turn("g7xb6", strict, parse_own_form("WW....../BBB...../........ w 6,6", strict))
    with pytest.raises(InputError, match="d7 and b2 are not adjacent$"):
        parse_turn("d7-b2", nofly, parse_own_form("WW.W..../.BBB..../........ w", nofly))
    six = get_variant("six")
    with pytest.raises(InputError, match="PlayOK numbering exists only for boards of 24 points; this one has 16"):
        parse_turn("4", six, start(six))


@quick
@given(arranged() | played())
def test_every_legal_turn_is_written_and_read(case):
    variant, position = case
    turns = legal_turns(variant, position)
    for turn in turns:
        assert parse_turn(format_turn(variant.board, turn), variant, position) == turn
        assert parse_turn(format_turn(variant.board, turn).upper().replace("-", ""), variant, position) == turn
        if variant.board.n_points == 24:
            assert parse_turn(format_playok_turn(variant.board, turn), variant, position) == turn


point = st.none() | st.integers(0, 23)


@quick
@given(arranged(names=("nine", "lasker", "nine-strict", "twelve")) | played(names=("nine", "ten")), st.data())
def test_a_turn_is_legal_exactly_if_it_is_listed(case, data):
    variant, position = case
    turns = legal_turns(variant, position)
    for _ in range(20):
        turn = Turn(*data.draw(st.tuples(point, st.integers(0, 23), point)))
        if data.draw(st.booleans()) and turns:
            turn = data.draw(st.sampled_from(turns))._replace(captured=turn.captured)
        try:
            check_turn(turn, variant, position)
        except InputError:
            assert turn not in turns
        else:
            assert turn in turns


@quick
@given(st.text("abdg1467-x XB", max_size=12) | st.text(max_size=12), arranged() | played())
def test_any_text_is_a_legal_turn_or_refused(text, case):
    variant, position = case
    try:
        turn = parse_turn(text, variant, position)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert turn in legal_turns(variant, position)
