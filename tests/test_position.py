"""Positions: the own form, what is refused, what cannot arise, and the picture."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.errors import InputError
from solver.moves import legal_turns, play
from solver.position import (
    Position,
    check_position,
    draw_board,
    format_own_form,
    image,
    parse_own_form,
    points_of,
    removable_mask,
    start,
    stones_in_mills,
    unreachable_note,
)
from solver.variant import VARIANTS, get_variant

NINE = get_variant("nine")
LASKER = get_variant("lasker")

#: The same examples in every run.
quick = settings(max_examples=120, deadline=None, derandomize=True, database=None)


def play_out(variant, seed, n_plies):
    """Positions of a random game, each turn that captures in two steps, the capture owed between them."""
    choose = random.Random(seed)
    position, seen = start(variant), []
    for _ in range(n_plies):
        seen.append(position)
        turns = legal_turns(variant, position)
        if not turns:
            break
        # Half the time a capture if there is one: few stones are where the rules differ most.
        captures = [turn for turn in turns if turn.captured is not None]
        turn = choose.choice(captures if captures and choose.random() < 0.5 else turns)
        if turn.captured is not None and turn.target is not None:
            seen.append(play(variant, position, turn._replace(captured=None)))
        position = play(variant, position, turn)
    return seen


@st.composite
def played(draw, names=tuple(VARIANTS)):
    """A variant and a position from one of its games."""
    variant = get_variant(draw(st.sampled_from(names)))
    return variant, draw(st.sampled_from(play_out(variant, draw(st.integers(0, 10**6)), 70)))


@st.composite
def arranged(draw, names=tuple(VARIANTS)):
    """A variant and any well-formed position of it, reachable or not."""
    variant = get_variant(draw(st.sampled_from(names)))
    n, white_to_move = variant.stones, draw(st.booleans())
    if variant.place_and_slide:
        hands = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
    else:
        white_hand = draw(st.integers(0, n - 1))
        hands = white_hand, white_hand + (not white_to_move and (white_hand > 0 or draw(st.booleans())))
    lost, least = draw(st.integers(0, 9)) == 0, [3, 3]
    least[not white_to_move] -= lost
    counts = [draw(st.integers(max(0, low - hand), n - hand)) for low, hand in zip(least, hands)]
    points = random.Random(draw(st.integers(0, 10**6))).sample(range(variant.board.n_points), sum(counts))
    white = sum(1 << p for p in points[: counts[0]])
    black = sum(1 << p for p in points[counts[0] :])
    return variant, Position(white, black, white_to_move, *hands)


@pytest.mark.parametrize(
    "name, text, canonical",
    [
        ("nine", "......../......../........ w 9,9", None),
        ("nine", "..BBBBB./W......./WW.W.... w 0,0", None),
        ("nine", " ..BBBBB./W......./WW.W....\tW \n", "..BBBBB./W......./WW.W.... w 0,0"),
        ("nine", "WWW...../....B.../.....B.. w 6,7 X", "WWW...../....B.../.....B.. w 6,7 x"),
        ("six", "WWB...../...B.... w 4,4", None),
        ("morabaraba", "W......./......../........ b 11,12", None),
        ("three", "W......./B w 2,2", None),
        ("lasker", "W......./B......./........ w 9,3", None),
    ],
)
def test_own_form_is_read_and_written(name, text, canonical):
    variant = get_variant(name)
    assert format_own_form(parse_own_form(text, variant), variant) == (canonical or text)


def test_fields_of_a_position():
    position = parse_own_form("W......B/......../.......W b 7,8", NINE)
    assert position == Position(1 | 1 << 23, 1 << 7, False, 7, 8)
    assert (position.own_mask, position.opponent_mask) == (1 << 7, 1 | 1 << 23)
    assert (position.own_hand, position.opponent_hand) == (8, 7)
    assert (position.own_name, position.opponent_name) == ("Black", "White")
    assert position.subspace.name == "1-2+8-7"
    assert start(NINE).subspace == (0, 0, 9, 9)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("." * 5000, "5000 characters are too many"),
        ("......../......../....... w 9,9", "has 23 points; this board has 24"),
        ("......../......../......... w 9,9", "has 25 points"),
        ("......../......./......... w 9,9", "is not grouped as ......../......../........"),
        ("........................ w 9,9", "is not grouped"),
        ("......../...x..../........ w 9,9", "'x' in '......../...x..../........' is neither W nor B"),
        ("......../......../........", "side to move is missing"),
        ("......../......../........ x 9,9", "side to move is w or b, not 'x'"),
        ("......../......../........ w 9", "stones in hand are written 3,4 (White, Black), not '9'"),
        ("......../......../........ w 9,-9", "stones in hand are written"),
        ("......../......../........ w \u0669,\u0669", "stones in hand are written"),
        ("......../......../........ w 9,9 y", "nothing but x"),
        ("......../......../........ w 10,10", "White has 0 on board and 10 in hand; nine has 9 stones a side"),
        ("WWWWWWWW/WWB...../........ w 0,0", "White has 10 on board and 0 in hand"),
        ("WWB...../......../........ w 8,8", "White has 2 on board and 8 in hand"),
        ("......../......../........ w 0,0", "White has 0 on board and in hand; a game ends at 2"),
        ("WWW...../......../........ w 0,0", "Black has 0 on board and in hand"),
        ("WWW...../BB....../........ w 0,0", "Black has only 2 left and has lost; White cannot be to move"),
        ("WW....../BB....../........ w 0,0", "Black has only 2 left and has lost"),
        ("......../......../........ w 8,9", "hands 8,9 fit no order of play: before White's turn both have the same"),
        ("......../......../........ b 9,9", "hands 9,9 fit no order of play: before Black's turn Black has one more"),
        ("W......./......../........ b 9,8", "White has 1 on board and 9 in hand"),
        ("W......./......../........ b 8,7", "fit no order of play"),
        ("WWW...../....B.../.....B.. w 6,6 x", "fit no order of play"),
        ("WW....../....B.../.....B.. w 6,7 x", "White owes a capture but has no mill"),
    ],
)
def test_refused_with_the_reason_in_one_line(text, reason):
    with pytest.raises(InputError) as error:
        parse_own_form(text, NINE)
    assert reason in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 250


@pytest.mark.parametrize(
    "position, reason",
    [
        (Position(1, 1, True, 8, 8), "a7 holds a white and a black stone"),
        (Position(1 << 24, 1, True, 8, 8), "beyond the 24 points"),
        (Position(0, 0, True, -1, -1), "-1 in hand"),
    ],
)
def test_positions_made_by_hand_are_checked_too(position, reason):
    with pytest.raises(InputError, match=reason):
        check_position(position, NINE)


@pytest.mark.parametrize(
    "hands, side, fits",
    [
        ((10, 10), "w", True),
        ((10, 9), "w", False),
        ((9, 10), "w", False),
        ((3, 7), "w", True),
        ((10, 10), "b", False),
        ((9, 10), "b", True),
        ((8, 10), "b", False),
        ((9, 3), "b", True),
        ((5, 9), "b", True),
    ],
)
def test_hands_drift_apart_where_a_turn_may_slide(hands, side, fits):
    text = f"W......./B......./........ {side} {hands[0]},{hands[1]}"
    text = text.replace("W", ".") if hands[0] == 10 else text
    text = text.replace("B", ".") if hands[1] == 10 else text
    if fits:
        parse_own_form(text, LASKER)
    else:
        with pytest.raises(InputError, match="fit no order of play"):
            parse_own_form(text, LASKER)


def test_a_strict_mill_over_protected_stones_owes_nothing():
    text = "WWW...../BBB...../........ w 5,6 x"
    parse_own_form(text, NINE)
    with pytest.raises(InputError, match="may remove no stone of Black"):
        parse_own_form(text, get_variant("nine-strict"))


def test_stones_that_may_be_removed():
    board, strict = NINE.board, get_variant("nine-strict")
    mill, loose = board.mask_of(["a7", "d7", "g7"]), board.mask_of(["d6", "f2"])
    assert stones_in_mills(board, mill | loose) == mill
    assert removable_mask(NINE, mill | loose) == removable_mask(strict, mill | loose) == loose
    assert removable_mask(NINE, mill) == mill
    assert removable_mask(strict, mill) == 0


@quick
@given(arranged())
def test_own_form_round_trip(case):
    variant, position = case
    check_position(position, variant)
    assert parse_own_form(format_own_form(position, variant), variant) == position


@quick
@given(arranged(), st.integers(0, 15))
def test_image_and_inverse_are_the_identity(case, number):
    variant, position = case
    board = variant.board
    number %= len(board.symmetries)
    moved = image(position, board, number)
    check_position(moved, variant)
    assert moved.subspace == position.subspace
    assert unreachable_note(moved, variant) == unreachable_note(position, variant)
    assert image(moved, board, board.inverse_of[number]) == position


@settings(quick, max_examples=400)
@given(st.text("WB./ wb09,x\n", max_size=40) | st.text(max_size=40), st.sampled_from(tuple(VARIANTS)))
def test_any_text_is_read_or_refused(text, name):
    variant = get_variant(name)
    try:
        position = parse_own_form(text, variant)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert parse_own_form(format_own_form(position, variant), variant) == position


@pytest.mark.parametrize(
    "name, text, note",
    [
        ("nine", "WWW...../BB.B..../........ w 6,6", "White has more mills than black stones have been removed (0)"),
        ("nine", "WWW.WWW./BB.BB.B./........ w 3,3", "White has more mills than black stones have been removed (1)"),
        ("nine", "W......./......../........ w 8,8", "black stones missing: 1, more than White can have"),
        ("nine", "WW.W..../B......./........ b 6,7", None),
        ("nine", "WWW...../B......./........ b 6,7", None),
        ("nine", "WWW...../......../........ b 6,7", "black stones missing: 2"),
        ("nine", "WW.W..../BBB.B.../........ w 0,0", None),
        ("nine", "WWB...../BB....../........ w 0,0", "White has lost a stone last turn, but Black has no mill"),
        ("nine", "WW....../BBB...../........ w 0,0", None),
        ("nine", "WWWW..../BBB...../........ w 5,6 x", "Black has more mills than white stones"),
        ("nine", "WWW...../B..B..../........ w 6,7 x", None),
        ("nine-strict", "WWW...../BBB...../........ w 6,6", None),
        ("lasker", "W......./......../........ w 9,9", "black stones missing: 1"),
        ("twelve", "WBWBWBWB/BWBWBWBW/WBWBWBWB b 0,0", "no point is free"),
        ("twelve", "WBWBWBWB/BWBWBWBW/WBWBWBWB w 0,0", None),
    ],
)
def test_what_cannot_arise_is_marked(name, text, note):
    variant = get_variant(name)
    found = unreachable_note(parse_own_form(text, variant), variant)
    assert found == note if note is None else note in found


@settings(quick, max_examples=60)
@given(st.sampled_from(tuple(VARIANTS)), st.integers(0, 10**6))
def test_what_arises_is_never_marked(name, seed):
    variant = get_variant(name)
    for position in play_out(variant, seed, 60):
        check_position(position, variant)
        assert unreachable_note(position, variant) is None


@pytest.mark.parametrize("changes", [{}, {"place_and_slide": True}, {"capture_in_mills": "none", "fly_at": 3}])
def test_nothing_that_arises_on_the_small_board_is_marked(changes):
    variant = get_variant("three").with_overrides(**changes) if changes else get_variant("three")
    layer, seen = {start(variant)}, set()
    while layer:
        seen |= layer
        after = set()
        for position in layer:
            check_position(position, variant)
            assert unreachable_note(position, variant) is None
            for turn in legal_turns(variant, position):
                after.add(play(variant, position, turn))
                if turn.target is not None:  # and once more in two steps, with the capture owed between them
                    after.add(play(variant, position, turn._replace(captured=None)))
        layer = after - seen
    assert len(seen) > 3000


def test_points_of_a_mask():
    assert points_of(0) == [] and points_of(1 << 23 | 5) == [0, 2, 23]


PICTURES = {
    "nine": """
7   W-----------.-----------B
    |           |           |
6   |   .-------.-------.   |
    |   |       |       |   |
5   |   |   .---.---.   |   |
    |   |   |       |   |   |
4   .---.---.       .---.---.
    |   |   |       |   |   |
3   |   |   .---.---.   |   |
    |   |       |       |   |
2   |   .-------.-------.   |
    |           |           |
1   .-----------.-----------.
    a   b   c   d   e   f   g
White to move, in hand: White 8, Black 8""",
    "twelve": """
7   W-----------.-----------B
    | \\         |         / |
6   |   .-------.-------.   |
    |   | \\     |     / |   |
5   |   |   .---.---.   |   |
    |   |   |       |   |   |
4   .---.---.       .---.---.
    |   |   |       |   |   |
3   |   |   .---.---.   |   |
    |   | /     |     \\ |   |
2   |   .-------.-------.   |
    | /         |         \\ |
1   .-----------.-----------.
    a   b   c   d   e   f   g
White to move, in hand: White 11, Black 11""",
    "six": """
5   W-------.-------B
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   .---.       .---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------.-------.
    a   b   c   d   e
White to move, in hand: White 5, Black 5""",
    "three": """
3   W---.---B
    | \\ | / |
2   .---.---.
    | / | \\ |
1   .---.---.
    a   b   c
White to move, in hand: White 2, Black 2""",
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_of_each_board(name):
    variant = get_variant(name)
    position = Position(1, 1 << 2, True, variant.stones - 1, variant.stones - 1)
    assert "\n" + draw_board(position, variant) == PICTURES[name]


def test_the_picture_says_what_is_to_be_done():
    owed = parse_own_form("WWW...../....B.../.....B.. w 6,7 x", NINE)
    assert draw_board(owed, NINE).endswith("White to remove a stone, in hand: White 6, Black 7")
    assert draw_board(parse_own_form("WWW...../BBB...../........ b", NINE), NINE).endswith("\nBlack to move")
