"""MFEN, Sanmill FEN and game records: examples from outside, round trips, and what is refused."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_position import arranged, played, quick

from solver.errors import InputError
from solver.moves import format_turn, legal_turns, play
from solver.notation import Game, format_mfen, format_moves, format_sanmill
from solver.notation import parse_mfen, parse_moves, parse_position, parse_sanmill
from solver.position import Position, format_own_form, parse_own_form, start
from solver.variant import VARIANTS, get_variant

NINE = get_variant("nine")
SIX = get_variant("six")
ON_24_POINTS = tuple(name for name, variant in VARIANTS.items() if variant.board.n_points == 24)

#: Eighteen placements without a mill, then ply 19 is White's.
PLACED = "f2 b2 d7 d6 e3 e4 c5 f4 c4 a4 b4 d1 d5 g1 b6 g7 a7 c3"


def own(text):
    return parse_own_form(text, NINE)


def refusal(function, *arguments):
    """The message of the `InputError`, which is one line."""
    with pytest.raises(InputError) as error:
        function(*arguments)
    assert "\n" not in str(error.value) and len(str(error.value)) < 250
    return str(error.value)


# --- positions --------------------------------------------------------------------------------

SAME_POSITION = [
    (
        "......../......../........ w 9,9",
        "MFEN/1.0 mill24-state-v1 ......../......../........ w p p 9,9 - 0 0 -",
        "********/********/******** w p p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1 ids:nodes",
    ),
    (
        ".......W/......../........ b 8,9",
        "MFEN/1.0 mill24-state-v1 .......W/......../........ b p p 8,9 - 0 1 -",
        "********/********/******O* b p p 1 8 0 9 0 0 -1 -1 -1 -1 0 0 1 ids:nodes",
    ),
    (  # after d7 a1 g7 d1 a7
        "WWW..BB./......../........ w 6,7 x",
        "MFEN/1.0 mill24-state-v1 WWW..BB./......../........ w p r 6,7 w:mill:b:b:1:000060:b 0 5 -",
        "********/********/OO**@@*O w p r 3 6 2 7 1 0 -1 -1 -1 -1 0 0 3 ids:nodes",
    ),
    (
        "WW.W..../...B.B../.......B b 0,0",
        "MFEN/1.0 mill24-state-v1 WW.W..../...B.B../.......B b m m 0,0 - 0 18 -",
        "******@*/**@*@***/O*O****O b m s 3 0 3 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes",
    ),
    (  # Black owes a capture after a move
        "W..WWW../BBB...../........ b 0,0 x",
        "MFEN/1.0 mill24-state-v1 W..WWW../BBB...../........ b m r 0,0 b:mill:b:w:1:000039:w 0 18 -",
        "********/@@*****@/**OOO**O b m r 4 0 3 0 0 1 -1 -1 -1 -1 0 0 9 ids:nodes",
    ),
    (  # lost by the last capture
        "WW....../BBB...../........ w 0,0",
        "MFEN/1.0 mill24-state-v1 WW....../BBB...../........ - o o 0,0 - 0 18 b:fewer-than-minimum",
        "********/@@*****@/O******O w o ? 2 0 3 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes",
    ),
    (  # blocked
        "WBWBWBWB/......../........ w 0,0",
        "MFEN/1.0 mill24-state-v1 WBWBWBWB/......../........ - o o 0,0 - 0 18 b:no-legal-move",
        "********/********/@O@O@O@O w o ? 4 0 4 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes",
    ),
]


@pytest.mark.parametrize("own_form, mfen, sanmill", SAME_POSITION)
def test_one_position_in_three_notations(own_form, mfen, sanmill):
    position = own(own_form)
    assert format_mfen(position, NINE) == mfen
    assert format_sanmill(position, NINE) == sanmill
    for text in (own_form, mfen, sanmill, f"  {sanmill}\n"):
        assert parse_position(text, NINE) == position


@pytest.mark.parametrize("letters", ["OO******/********/********", "********/********/O******O"])
def test_sanmill_counts_from_the_top_middle_of_the_inner_ring(letters):
    position = parse_position(f"{letters} w p p 2 7 0 7 0 0 -1 -1 -1 -1 0 0 3 ids:nodes", NINE)
    assert position.white == NINE.board.mask_of(["d5", "e5"] if letters[0] == "O" else ["d7", "a7"])


@settings(quick, max_examples=250)
@given(arranged(ON_24_POINTS) | played(ON_24_POINTS))
def test_positions_round_trip_in_every_notation(case):
    variant, position = case
    for write in (format_own_form, format_mfen, format_sanmill):
        assert parse_position(write(position, variant), variant) == position


@quick
@given(arranged() | played())
def test_other_boards_have_the_own_form_only(case):
    variant, position = case
    assert parse_position(format_own_form(position, variant), variant) == position
    if variant.board.n_points != 24:
        n_points = variant.board.n_points
        for write, name in ((format_mfen, "MFEN"), (format_sanmill, "Sanmill FEN")):
            reason = f"{name} exists only for boards of 24 points; this one has {n_points}"
            assert refusal(write, position, variant) == reason
        for own_form, mfen, sanmill in SAME_POSITION:
            assert "exists only for boards of 24 points" in refusal(parse_position, mfen, variant)
            assert "exists only for boards of 24 points" in refusal(parse_position, sanmill, variant)


@pytest.mark.parametrize(
    "text, own_form",
    [
        # 17 fields without the marker: other numbers for the last mills and a mills mask
        ("********/********/******O* b p p 1 8 0 9 0 0 0 0 0 0 0 0 1", ".......W/......../........ b 8,9"),
        ("********/********/OO**@@*O w p r 3 6 2 7 1 0 0 24 0 0 8589934592 0 3", "WWW..BB./......../........ w 6,7 x"),
        # 13 fields, 12 and 10, a count of stones to remove for each side
        ("********/********/******O* b p p 1 8 0 9 0 0 0 0 1", ".......W/......../........ b 8,9"),
        ("********/@@*****@/**OOO**O b m r 4 0 3 0 0 1 0 9", "W..WWW../BBB...../........ b 0,0 x"),
        ("********/********/******** w p p 0 9 0 9 0 0", "......../......../........ w 9,9"),
        # 11 fields: one count of stones to remove
        ("********/********/******O* b p p 1 8 0 9 0 0 1", ".......W/......../........ b 8,9"),
        ("********/@@*****@/**OOO**O b m r 4 0 3 0 1 0 9", "W..WWW../BBB...../........ b 0,0 x"),
        # the oldest of these give Black's stones first, which the counts or the hands show
        ("********/********/******O* b p p 0 9 1 8 0 0 1", ".......W/......../........ b 8,9"),
        ("********/********/O*****@* b p p 1 8 1 7 0 0 2", ".W.....B/......../........ b 7,8"),
        # phases r (ready) and o (over), an action that is not known
        ("********/********/******** w r p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1", "......../......../........ w 9,9"),
        ("********/@@*****@/**OOO**O b o ? 4 0 3 0 0 0 -1 -1 -1 -1 0 0 9", "W..WWW../BBB...../........ b 0,0"),
        # the action says that a capture is owed, the counts were not kept
        ("********/********/OO**@@*O w p r 3 6 2 7 0 0 -1 -1 -1 -1 0 0 3", "WWW..BB./......../........ w 6,7 x"),
    ],
)
def test_dialects_of_sanmill(text, own_form):
    assert parse_position(text, NINE) == own(own_form)


EMPTY = "********/********/********"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("X*******/********/******** w p p 0 9 0 9 0 0 0 0 1", "X marks a point in variants with other rules"),
        ("0*******/********/******** w p p 0 9 0 9 0 0 0 0 1", "'0' in the board field is none of O @ *"),
        ("*******/********/******** w p p 0 9 0 9 0 0 0 0 1", "is not three groups of eight points"),
        (f"{EMPTY} w p p 0 9 0 9", "10 to 17 fields before ids:nodes, not 8"),
        (f"{EMPTY} w p p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1 7", "10 to 17 fields"),
        (f"{EMPTY} w p p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1 c:w-0-", "'c:w-0-' belongs to rules that nine has not"),
        (f"{EMPTY} x p p 0 9 0 9 0 0 0 1", "the side to move is w or b, not 'x'"),
        (f"{EMPTY} w q p 0 9 0 9 0 0 0 1", "'q p' is no phase (r p m o) and action (p s r ?)"),
        (f"{EMPTY} w p p 0 nine 0 9 0 0 0 1", "only numbers, not 'nine'"),
        (f"{EMPTY} w p p 1 8 0 9 0 0 0 1", "the counts say 1 and 0 stones on board, but there are 0 and 0"),
        (f"{EMPTY} w p p 0 10 0 10 0 0 0 1", "White has 0 on board and 10 in hand"),
        (f"{EMPTY} b p p 0 9 0 9 0 0 0 1", "hands 9,9 fit no order of play"),
        (f"{EMPTY} w m s 0 9 0 9 0 0 0 1", "phase m says that all stones are placed, but 18 are in hand"),
        ("******@*/**@*@***/O*O****O b p p 3 0 3 0 0 0 0 9", "phase p says that stones are placed, but no stone"),
        ("********/********/OO**@@*O w p r 3 6 2 7 2 0 0 3", "more is to be removed than one stone"),
        ("********/********/OO**@@*O w p r 3 6 2 7 -1 0 0 3", "more is to be removed than one stone"),
        ("********/********/OO**@@*O w p r 3 6 2 7 0 1 0 3", "more is to be removed than one stone"),
        ("********/********/OO**@@*O w p p 3 6 2 7 1 0 0 3", "a stone is to be removed, but the action is p"),
        ("********/********/OO**@@** w p r 2 6 2 7 1 0 0 3", "White owes a capture but has no mill"),
    ],
)
def test_sanmill_that_is_refused(text, reason):
    assert reason in refusal(parse_position, text, NINE)


BARE = "MFEN/1.0 mill24-state-v1 ......../......../........"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("MFEN/0.4 mill24-state-v1 ......../......../........ w p p 9,9 - 0 0 -", "only MFEN/1.0 mill24-state-v1"),
        ("MFEN/1.0", "only MFEN/1.0 mill24-state-v1 is read, not 'MFEN/1.0'"),
        ("MFEN/1.0 mill16-state-v1 ......../........ w p p 6,6 - 0 0 -", "only MFEN/1.0 mill24-state-v1"),
        (f"{BARE} w p p 9,9 - 0 0", "MFEN has 11 fields, from MFEN/1.0 to the outcome, not 10"),
        (f"{BARE} w p p 9,9 - 0 0 - pc=0,0", "the MFEN extension 'pc=0,0' belongs to rules that nine has not"),
        ("MFEN/1.0 mill24-state-v1 w......./......../........ w p p 9,9 - 0 0 -", "delayed removal"),
        ("MFEN/1.0 mill24-state-v1 O......./......../........ w p p 9,9 - 0 0 -", "none of W B ."),
        ("MFEN/1.0 mill24-state-v1 ......./......../........ w p p 9,9 - 0 0 -", "not three groups of eight"),
        (f"{BARE} w p p 9 - 0 0 -", "stones in hand are written 9,9, not '9'"),
        (f"{BARE} w p p 9,9 - 0 -1 -", "no-progress and primary-ply are numbers"),
        (f"{BARE} b p p 9,9 - 0 0 -", "hands 9,9 fit no order of play"),
        (f"{BARE} x p p 9,9 - 0 0 -", "the side to move is w or b, not 'x'"),
        (f"{BARE} w o o 9,9 - 0 0 -", "with w to move MFEN has phase p or m and outcome -"),
        (f"{BARE} w p m 9,9 - 0 0 -", "action 'm' does not fit phase p and obligations '-'"),
        (f"{BARE} w m m 9,9 - 0 0 -", "phase m says that all stones are placed, but 18 are in hand"),
        (f"{BARE} - p p 9,9 - 0 0 w:no-legal-move", "a finished MFEN has side -, phase o, action o"),
        (f"{BARE} - o o 9,9 - 0 0 d:agreement", "outcome 'd:agreement' does not say whose turn"),
        (f"{BARE} - o o 9,9 - 0 0 w:resignation", "outcome 'w:resignation' does not say whose turn"),
        (f"{BARE} - o o 9,9 - 0 0 b:no-legal-move", "the game goes on or is drawn"),
        (
            "MFEN/1.0 mill24-state-v1 WWW..BB./......../........ w p r 6,7 w:mill:b:b:1:000020:b 0 5 -",
            "nine could only have w:mill:b:b:1:000060:b here",
        ),
        (
            "MFEN/1.0 mill24-state-v1 WWW..BB./......../........ w p r 6,7 w:custodian:b:b:1:000060:b 0 5 -",
            "nine could only have w:mill:b:b:1:000060:b here",
        ),
        ("MFEN/1.0 mill24-state-v1 WWW..BB./......../........ w p p 6,7 w:mill:b:b:1:000060:b 0 5 -", "action 'p'"),
    ],
)
def test_mfen_that_is_refused(text, reason):
    assert reason in refusal(parse_position, text, NINE)


def test_rules_decide_what_an_obligation_and_an_end_are():
    blocked = "MFEN/1.0 mill24-state-v1 WB.B..../B.....WW/........ - o o 0,0 - 0 18 b:no-legal-move"
    assert "goes on" in refusal(parse_position, blocked, NINE)
    full = "WBWBWBWB/BWBWBWBW/WBWBWBWB"
    twelve = get_variant("twelve")
    drawn = parse_own_form(f"{full} w", twelve)
    assert format_mfen(drawn, twelve).endswith("w m m 0,0 - 0 24 -")
    loss = f"MFEN/1.0 mill24-state-v1 {full} - o o 0,0 - 0 24 b:no-legal-move"
    assert "is drawn" in refusal(parse_mfen, loss, twelve)
    assert parse_mfen(loss, twelve.with_overrides(full_board="loss")) == drawn


def test_length_and_other_text():
    assert "5000 characters are too many" in refusal(parse_position, "*" * 5000, NINE)
    assert "is empty" in refusal(parse_position, "", NINE)
    assert "is neither W nor B" in refusal(parse_position, "d6 f4 b4", NINE)


sanmill_like = st.text("*O@X/ wbpmsro?0123456789-:ids", max_size=90)
mfen_like = st.text("WB./ wbpmro-0123456789,:mil", max_size=60).map("MFEN/1.0 mill24-state-v1 ".__add__)


@st.composite
def damaged(draw):
    """A written position with a few characters changed or fields dropped."""
    variant, position = draw(arranged(ON_24_POINTS) | played(ON_24_POINTS))
    text = draw(st.sampled_from((format_own_form, format_mfen, format_sanmill)))(position, variant)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", *" -x09wbOW:"])) + text[at + 1 :]
    return text


@settings(quick, max_examples=600)
@given(damaged() | sanmill_like | mfen_like | st.text(max_size=80), st.sampled_from(tuple(VARIANTS)))
def test_any_text_is_a_position_or_refused(text, name):
    variant = get_variant(name)
    try:
        position = parse_position(text, variant)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(position, Position)
        assert parse_position(format_own_form(position, variant), variant) == position


# --- game records -----------------------------------------------------------------------------

SHORT = "a7 b6 d7 d6 g7xb6 f6"


@pytest.mark.parametrize(
    "text",
    [
        SHORT,
        SHORT.upper(),
        "a7 b6 d7 d6 g7 xb6 f6",
        "a7 b6 d7 d6 g7 x b6 f6",
        "1. a7 b6 2. d7 d6 3. g7xb6 f6",
        "1.a7 b6 2.d7 d6 3.g7xb6 f6 *",
        "1. a7 1... b6 2. d7 2... d6 3. g7 {removes} xb6 3... f6 1-0",
        "1. a7 b6\n2. d7 d6\n3. g7xb6 f6 {both\nlines} 1/2-1/2",
        "a7! b6? d7 d6!? g7xb6!! f6 \u00bd-\u00bd",
        "1. 1 4 2. 2 5 3. 3x4 6",
        "1. 1 4 2. 2 5 3. 3 x4 6 0-1",
        "1 4 2 5 3x4 6",
        '[Event "a game"]\n[Result "1-0"]\n\n1. a7 b6 2. d7 d6 3. g7\u00d7b6 f6 1-0',
    ],
)
def test_one_game_as_people_write_it(text):
    game = parse_moves(text, NINE)
    assert [format_turn(NINE.board, turn) for turn in game.turns] == SHORT.split()
    assert format_own_form(game.position, NINE) == "WWW...../.BB...../........ w 6,6"
    assert [ply.position.white_to_move for ply in game.plies] == [False, True] * 3


def test_moves_of_stones_as_people_write_them():
    assert len(PLACED.split()) == 18
    texts = ["f2-d2", "f2d2", "F2 - D2", "f2\u2013d2", "10. f2-d2 *", "21-20"]
    for text in texts:
        game = parse_moves(f"{PLACED} {text}", NINE)
        assert format_turn(NINE.board, game.turns[-1]) == "f2-d2"


def test_results():
    for result in ("1-0", "0-1", "1/2-1/2", "*"):
        assert parse_moves(f"1. d6 {result}", NINE).result == result
    assert parse_moves("1. d6", NINE).result is None
    assert refusal(parse_moves, "1. d6 1-0 f4", NINE) == "ply 2: nothing may follow the result 1-0 (turn f4)"


def test_the_empty_record_is_the_start():
    for text in ("", "  \n", "{nothing yet}", "*"):
        game = parse_moves(text, NINE)
        assert game.plies == () and game.position == game.start == start(NINE)


def test_a_record_may_start_anywhere():
    for text in ("......../......../........ w 9,9", SAME_POSITION[2][2], SAME_POSITION[3][1]):
        game = parse_moves(f'[FEN "{text}"]', NINE)
        assert game.position == parse_position(text, NINE)
    owed = parse_moves(f'[FEN "{SAME_POSITION[2][0]}"] 3. xa1 f4', NINE)
    assert format_own_form(owed.position, NINE) == "WWW..B../...B..../........ w 6,6"
    assert "is neither W nor B" in refusal(parse_moves, '[FEN "hello"] d6', NINE)


@pytest.mark.parametrize(
    "text, message",
    [
        (PLACED + " g4", "ply 19: White has no stone left to place (turn g4)"),
        (PLACED + " e3-d3 b2-a1", "ply 20: b2 and a1 are not adjacent"),
        (PLACED + " f2", "ply 19: White has no stone left to place (turn f2)"),
        ("d6 d6", "ply 2: d6 is occupied (turn d6)"),
        ("d6 d4", "ply 2: the board has no point d4 (turn d4)"),
        ("d6 f4 hello", "ply 3: 'hello' is no turn"),
        ("a7 b6 d7 d6 g7 f6", "ply 5: g7 closes a mill and names no removal; add one of xb6 xd6 (turn g7)"),
        ("a7 b6 d7 d6 g7", "ply 5: g7 closes a mill and names no removal"),
        ("a7 xb6", "ply 1: a7 closes no mill, so no stone is removed (turn a7xb6)"),
        ("xb6", "ply 1: White has closed no mill, so no stone is removed (turn xb6)"),
        ("a7 b6 d7 d6 g7xb6 xd6", "ply 5: 'g7xb6xd6' is no turn"),
        ("1. 1 4 2. 25", "ply 3: points are numbered 1 to 24, there is no 25 (turn 25)"),
        ("d6 {open", "a comment in braces is not closed"),
        ("d6 open}", "a comment in braces is not closed"),
        ("d6 " + "z" * 5000, "ply 2: 'zzz"),
    ],
)
def test_a_record_that_goes_wrong_names_ply_turn_and_reason(text, message):
    assert message in refusal(parse_moves, text, NINE)


def test_the_game_is_over():
    text = "a3 a1 b3 b1 c3xa1 c1"
    game = parse_moves(text.rsplit(" ", 1)[0], get_variant("three"))
    assert game.position.subspace.is_over
    assert refusal(parse_moves, text, get_variant("three")) == "ply 6: the game is over, Black has lost (turn c1)"


def test_a_capture_may_be_left_owed_at_the_end_if_asked_for():
    game = parse_moves("d7 a1 g7 d1 a7 *", NINE, allow_owed=True)
    assert format_sanmill(game.position, NINE) == SAME_POSITION[2][2]
    assert "ply 5: a7 closes a mill" in refusal(lambda: parse_moves("d7 a1 g7 d1 a7 f4", NINE, allow_owed=True))


def test_playok_numbers_belong_to_24_points():
    assert "PlayOK numbering exists only for boards of 24 points" in refusal(parse_moves, "1. 1 4", SIX)
    game = parse_moves("a5 b4 c5", SIX)
    assert format_moves(game.turns, SIX) == "1. a5 b4 2. c5"
    assert "exists only for boards of 24 points" in refusal(format_moves, game.turns, SIX, "playok")


def test_styles():
    turns = parse_moves(SHORT, NINE).turns
    assert format_moves(turns, NINE) == "1. a7 b6 2. d7 d6 3. g7xb6 f6"
    assert format_moves(turns, NINE, style="playok") == "1. 1 4 2. 2 5 3. 3x4 6"
    assert format_moves(turns[1:3], NINE, black_first=True) == "1... b6 2. d7"
    assert format_moves([], NINE) == ""
    assert "style" in refusal(format_moves, turns, NINE, "morse")


@st.composite
def games(draw, names=tuple(VARIANTS)):
    """A random game, often from a position in the middle of one, and its text from there."""
    variant, position = draw(played(names))
    choose = random.Random(draw(st.integers(0, 10**6)))
    first, turns = position, []
    for _ in range(draw(st.integers(0, 40))):
        legal = legal_turns(variant, position)
        if not legal:
            break
        turns.append(choose.choice(legal))
        position = play(variant, position, turns[-1])
    return variant, first, turns, position


@quick
@given(games(), st.sampled_from(("algebraic", "playok")), st.sampled_from((str, str.upper)))
def test_games_round_trip(case, style, spelling):
    variant, first, turns, last = case
    if variant.board.n_points != 24:
        style = "algebraic"
    text = format_moves(turns, variant, style=style, black_first=not first.white_to_move)
    game = parse_moves(f'[FEN "{format_own_form(first, variant)}"] {spelling(text)}', variant)
    assert isinstance(game, Game)
    assert (game.start, game.turns, game.position) == (first, turns, last)
    spaced = spelling(text).replace("x", " x").replace("X", " X")
    assert parse_moves(f'[FEN "{format_own_form(first, variant)}"] {spaced}', variant) == game


@settings(quick, max_examples=400)
@given(st.text("abdg146 7-xX.{}[]\"*1/2\n", max_size=60) | st.text(max_size=60), st.sampled_from(tuple(VARIANTS)))
def test_any_text_is_a_record_or_refused(text, name):
    variant = get_variant(name)
    try:
        game = parse_moves(text, variant)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert parse_moves(format_moves(game.turns, variant), variant).position == game.position


@pytest.mark.parametrize("part", [" ", "{", "[", "x", "-", "1.", "[a", '[a "', "d6 ", "9 . ", "{}"])
def test_long_text_is_refused_quickly(part):
    # A pattern that backtracks would take minutes on one of these.
    try:
        parse_moves(part * (200_000 // len(part)), NINE)
    except InputError:
        pass


def test_sanmill_of_a_game_of_lasker_names_hands_apart():
    lasker = get_variant("lasker")
    position = parse_own_form("W......./B......./........ w 9,3", lasker)
    assert parse_sanmill(format_sanmill(position, lasker), lasker) == position
