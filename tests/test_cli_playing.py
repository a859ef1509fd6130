"""The commands play and match: whole transcripts of games from a pipe, scores, and one line for every error."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from solver import cli
from solver.cli import playing
from solver.notation import parse_moves
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")


@pytest.fixture
def morris(small_tables, monkeypatch, capsys):
    """Runs a command line in this process, on the small tables; gives exit code, stdout and stderr."""
    monkeypatch.setenv("MORRIS_DATA", str(small_tables))

    def run(*arguments, lines=()):
        monkeypatch.setattr(sys, "argv", ["morris", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stop.value.code or 0, out=out, err=err)

    return run


def refused(result, code):
    """An error is one line, and nothing else."""
    assert (result.code, result.out) == (code, ""), result
    assert result.err.startswith("morris: ") and result.err.count("\n") == 1
    return result.err


def talk(result):
    """What was said, without the boards."""
    assert (result.code, result.err) == (0, "")
    return [line for line in result.out.splitlines() if not re.match(r"[1-7]   [.WB|]|    ", line)]


# ---------------------------------------------------------------- play, whole transcripts


def test_a_game_won_against_the_tables(morris):
    lines = [
        "back", "hint", "e3-e5", "e3-e5xd4", "moves", "c5-c4", "c4-c5xb4", "c5-c4", "back", "quit", "c5-c4",
    ]  # fmt: skip
    result = morris("play", "-V", "six", "WW.W.B../B.BB.... w 0,0", "--hints", "--seed", 1, lines=lines)
    assert (result.code, result.err) == (0, "")
    assert result.out == GAME_WON


GAME_WON = """\
six, White against perfect; drawn by: none; 'help' lists the words.
5   W-------W-------.
    |       |       |
4   |   B---.---B   |
    |   |       |   |
3   .---.       B---W
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------B-------.
    a   b   c   d   e
White to move
White wins in 5 plies, 3 own turns. Best turns, 2 of 8: e3-e5xd4 e3-e5xd3
White> back
No: there is no turn of yours to take back.
White> hint
White wins in 5 plies, 3 own turns. Best turns, 2 of 8: e3-e5xd4 e3-e5xd3
White> e3-e5
No: e3-e5 closes a mill and names no removal; add one of xc1 xb4 xd4 xd3.
White> e3-e5xd4
Black plays c1-c2
5   W-------W-------W
    |       |       |
4   |   B---.---.   |
    |   |       |   |
3   .---.       B---.
    |   |       |   |
2   |   .---B---.   |
    |       |       |
1   .-------.-------.
    a   b   c   d   e
White to move
White wins in 3 plies, 2 own turns. Best turns, 3 of 3: a5-a3 c5-c4 e5-e3
White> moves
win in 3 plies, 2 own turns: a5-a3 c5-c4 e5-e3
White> c5-c4
Black plays c2-c1
5   W-------.-------W
    |       |       |
4   |   B---W---.   |
    |   |       |   |
3   .---.       B---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------B-------.
    a   b   c   d   e
White to move
White wins in 1 ply, 1 own turn. Best turns, 3 of 8: c4-c5xc1 c4-c5xb4 c4-c5xd3
White> c4-c5xb4
5   W-------W-------W
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   .---.       B---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------B-------.
    a   b   c   d   e
Black to move
Game over, 1-0: Black has only 2 stones left.
game over> c5-c4
No: the game is over; 'back' takes back your last turn.
game over> back
5   W-------.-------W
    |       |       |
4   |   B---W---.   |
    |   |       |   |
3   .---.       B---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------B-------.
    a   b   c   d   e
White to move
White wins in 1 ply, 1 own turn. Best turns, 3 of 8: c4-c5xc1 c4-c5xb4 c4-c5xd3
White> quit
Moves: [FEN "WW.W.B../B.BB.... w 0,0"] 1. e3-e5xd4 c1-c2 2. c5-c4 c2-c1 *
"""


def test_black_plays_takes_back_and_leaves(morris):
    lines = ["a1", "BACK", "back", "moves", "board", "quit", "a5"]
    result = morris("play", "-V", "six", "--as", "black", "--against", "sparring", "--seed", 3, lines=lines)
    assert (result.code, result.err) == (0, "")
    assert result.out == GAME_LEFT


GAME_LEFT = """\
six, Black against sparring; drawn by: none; 'help' lists the words.
White plays a3
5   .-------.-------.
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   W---.       .---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------.-------.
    a   b   c   d   e
Black to move, in hand: White 5, Black 6
Black> a1
White plays d3
5   .-------.-------.
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   W---.       W---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   B-------.-------.
    a   b   c   d   e
Black to move, in hand: White 4, Black 5
Black> BACK
5   .-------.-------.
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   W---.       .---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------.-------.
    a   b   c   d   e
Black to move, in hand: White 5, Black 6
Black> back
No: there is no turn of yours to take back.
Black> moves
draw: a5 c5 e5 e3 e1 c1 a1 b4 c4 d4 d3 d2 c2 b2 b3
Black> board
5   .-------.-------.
    |       |       |
4   |   .---.---.   |
    |   |       |   |
3   W---.       .---.
    |   |       |   |
2   |   .---.---.   |
    |       |       |
1   .-------.-------.
    a   b   c   d   e
Black to move, in hand: White 5, Black 6
.......W/........ b 5,6
Black> quit
Moves: 1. a3 *
"""


def test_without_tables_the_game_goes_on_and_says_so(morris, small_tables):
    result = morris("play", "--against", "random", "--hints", "--seed", 1, lines=["d6", "moves"])
    missing = "Value unknown: the table {0} of nine is missing in {1}; 'morris build -V nine --subspace {0}' makes it."
    assert talk(result) == [
        "nine, White against random; drawn by: none; 'help' lists the words.",
        "White to move, in hand: White 9, Black 9",
        missing.format("0-0+9-9", small_tables),
        "White> d6",
        "Black plays g1",
        "White to move, in hand: White 8, Black 8",
        missing.format("1-1+8-8", small_tables),
        "White> moves",
        "unknown: a7 d7 g7 g4 d1 a1 a4 b6 f6 f4 f2 d2 b2 b4 c5 d5 e5 e4 e3 d3 c3 c4",
        "White> ",
        "Moves: 1. d6 g1 *",
    ]


# ---------------------------------------------------------------- play, the rest


def test_help_lists_every_word(morris):
    said = morris("play", "-V", "six", lines=["help", "?"]).out
    assert said.count(playing.HELP) == 2
    for word in ("hint", "moves", "board", "back", "quit"):
        assert f"\n{word} " in playing.HELP


@pytest.mark.parametrize(
    "typed, answer",
    [
        ("c5", ["No: c5 is occupied."]),
        ("b4-b3", ["No: White still has 5 stones to place."]),
        ("c9", ["No: the board has no point c9."]),
        ("hello there", ["No: 'hello there' is no turn; write d6, d6-d5, or d6-d5xb4 with a removal."]),
        ("xb4", ["No: White has closed no mill, so no stone is removed."]),
        ("7", ["No: PlayOK numbering exists only for boards of 24 points; this one has 16."]),
        ("x" * 5000, [f"No: '{'x' * 37}...' is no turn; write d6, d6-d5, or d6-d5xb4 with a removal."]),
        ("", []),
        (" ", []),
    ],
)
def test_what_cannot_be_done_is_answered_with_the_reason(morris, typed, answer):
    said = talk(morris("play", "-V", "six", "--against", "sparring", "--seed", 1, lines=["c5", typed]))
    assert said[:3] == ["six, White against sparring; drawn by: none; 'help' lists the words.", said[1], "White> c5"]
    assert said[5:-2] == [f"White> {typed.strip()}", *answer]


def test_turns_are_read_in_every_notation(morris):
    said = talk(morris("play", "--against", "random", "--moves", "a7 b6", "--seed", 1, lines=["D7", "3 x b6"]))
    assert said[-1].startswith("Moves: 1. a7 b6 2. d7")


def test_a_drawn_game_is_announced_and_can_be_taken_back(morris):
    lines = ["a5-c5", "c5-a5", "back", "back", "back", "moves", "hint", "quit"]
    position = "W...B.../B..WB..W w 0,0"
    options = ["-V", "six", "--against", "sparring", "--no-mill-plies", 4, "--seed", 1]
    said = talk(morris("play", position, *options, lines=lines))
    assert said == [
        "six, White against sparring; drawn by: 4 plies without a mill; 'help' lists the words.",
        "White to move",
        "White> a5-c5",
        "Black plays e1-c1",
        "2 plies without a mill; at 4 the game is a draw.",
        "White to move",
        "White> c5-a5",
        "Black plays c1-c2",
        "White to move",
        "Game over, 1/2-1/2: 4 plies without a mill.",
        "game over> back",
        "White to move",
        "White> back",
        "White to move",
        "White> back",
        "No: there is no turn of yours to take back.",
        "White> moves",
        "win in 9 plies, 5 own turns: d3-e3",
        "draw: a5-c5 a5-a3 d3-d4 b3-b2",
        "loss in 8 plies, 4 own turns: b3-a3",
        "White> hint",
        "White wins in 9 plies, 5 own turns. Best turns, 1 of 6: d3-e3",
        "White> quit",
        'Moves: [FEN "W...B.../B..WB..W w 0,0"] *',
    ]


@pytest.mark.parametrize(
    "options, kind",
    [
        (["--repetition", 2], "the same position 2 times"),
        (["--no-mill-plies", 6], "6 plies without a mill"),
        (["--no-mill-turns", 6], "6 moving turns without a mill"),
    ],
)
def test_drawing_rules_are_options(morris, options, kind):
    position = "W...B.../B..WB..W w 0,0"
    lines = ["a5-c5", "c5-a5"] * 20
    said = talk(morris("play", "-V", "six", position, "--against", "perfect", *options, "--seed", 1, lines=lines))
    assert f"six, White against perfect; drawn by: {kind}; 'help' lists the words." == said[0]
    assert f"Game over, 1/2-1/2: {kind}." in said


def test_drawing_rules_are_off_by_default(morris):
    said = talk(morris("play", "-V", "six", lines=[]))
    assert said[0] == "six, White against perfect; drawn by: none; 'help' lists the words."


def test_hints_say_what_a_turn_lets_go(morris):
    said = talk(morris("play", "-V", "six", "WW.W.B../B.BB.... w 0,0", "--hints", "--seed", 1, lines=["a5-a3"]))
    assert "That turn makes a win a loss." in said


def test_without_hints_nothing_is_given_away(morris):
    said = talk(morris("play", "-V", "six", "WW.W.B../B.BB.... w 0,0", "--seed", 1, lines=["a5-a3"]))
    assert not any("win" in line or "Best" in line for line in said)


def test_an_owed_capture_is_the_first_turn(morris):
    position = "WWW...../BB.B.B../........ w 0,0 x"
    said = talk(morris("play", position, "--against", "sparring", "--seed", 1, lines=["d7", "xb6"]))
    assert said[1:4] == [
        "White to remove a stone",
        "White> d7",
        "No: White has closed a mill and must remove a stone first.",
    ]
    assert said[4:6] == ["White> xb6", said[5]] and said[5].startswith("Black plays ")


def test_a_record_is_gone_on_with(morris):
    said = talk(morris("play", "--moves", "1. d6 f4 2. d2", "--against", "random", "--seed", 1, lines=["back", "quit"]))
    assert said[1].startswith("Black plays ")
    assert "No: there is no turn of yours to take back." in said
    assert len(parse_moves(said[-1].removeprefix("Moves: "), NINE).turns) == 4


def test_a_finished_position_is_over_at_once(morris):
    said = talk(morris("play", "-V", "six", "BBW...WB/.W.....W b 0,0", "--as", "black", lines=["a5-a3"]))
    assert said[1:] == [
        "Black to move",
        "Game over, 1-0: Black has no legal turn.",
        "game over> a5-a3",
        "No: the game is over; 'back' takes back your last turn.",
        "game over> ",
        'Moves: [FEN "BBW...WB/.W.....W b 0,0"] 1-0',
    ]


def test_a_whole_game_against_perfect_from_the_empty_board(morris):
    """Random turns until the game is over: the record is read back and ends as it says."""
    from random import Random

    from solver.adjudication import LiveGame
    from solver.moves import format_turn, legal_turns

    lots, lines = Random(5), []
    for _ in range(60):
        said = talk(morris("play", "-V", "six", "--seed", 1, "--as", "black", lines=lines))
        record = parse_moves(said[-1].removeprefix("Moves: "), SIX)
        if record.result != "*":
            break
        assert len(record.turns) == len(lines) * 2 + 1
        lines.append(format_turn(SIX.board, lots.choice(legal_turns(SIX, record.position))))
    game = LiveGame(SIX, turns=record.turns)
    assert game.end.result == record.result == "1-0"
    assert f"Game over, 1-0: {game.end.reason}." in said


def test_a_real_pipe(small_tables):
    """Bytes that are no text are no turn; the prompt and what was typed stand on one line."""
    start = "from solver.cli import main; main()"
    command = [sys.executable, "-c", start, *"play -V six --against sparring --seed 1".split()]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, input=b"\xff\xfe\nc5\n\x00\n", capture_output=True, timeout=60, cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode().splitlines()
    assert "White> \\xff\\xfe" in said and "White> c5" in said
    assert said[-2:] == ["White> ", said[-1]] and said[-1].startswith("Moves: 1. c5 ")


# ---------------------------------------------------------------- play, refused


def test_perfect_refuses_to_play_without_tables(morris, small_tables):
    assert refused(morris("play"), 3) == (
        f"morris: perfect needs all tables of the game: the table 0-0+9-9 of nine is missing in {small_tables}; "
        "'morris build -V nine --subspace 0-0+9-9' makes it\n"
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--as", "red"], "'red' is not one of 'white', 'black'"),
        (["--against", "god"], "'god' is not one of 'perfect', 'random', 'sparring'"),
        (["nonsense"], "'nonsense'"),
        (["......../......../........ w 9,9", "--moves", "d6"], "give a position or --moves, not both"),
        (["--moves", "d6 d6"], "ply 2: d6 is occupied"),
        (["--repetition", "1"], "a repetition counts from 2"),
        (["--repetition", "-3"], "-3 is not in the range"),
        (["--moves", "d6 f4 b4", "--no-mill-plies", "2"], "ply 3: the game is over: 2 plies without a mill"),
    ],
)
def test_unusable_input_is_refused(morris, arguments, words):
    assert words in refused(morris("play", *arguments), 2)


# ---------------------------------------------------------------- match


def test_score(morris):
    result = morris("match", "perfect", "sparring", "--games", 40, "--seed", 1, "-V", "six")
    assert (result.code, result.err) == (0, "")
    assert result.out == SCORE


SCORE = """\
six, perfect against sparring, 40 games, seed 1
drawn by: the same position 3 times, 50 moving turns without a mill
perfect   wins  draws  losses
as White    20      0       0
as Black    20      0       0
all         40      0       0
ends: blocked 21, stones 19
plies a game: 23.2, at most 67
"""


def test_score_as_json(morris):
    options = ["--games", 9, "--seed", 4, "-V", "six", "--no-mill-plies", 30, "--json"]
    result = morris("match", "random", "sparring", *options)
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        "variant": "six",
        "players": ["random", "sparring"],
        "games": 9,
        "seed": 4,
        "position": None,
        "rules": {"repetition": 3, "no_mill_plies": 30, "no_mill_turns": 50},
        "score": {
            "white": {"wins": 0, "draws": 5, "losses": 0},
            "black": {"wins": 0, "draws": 2, "losses": 2},
            "all": {"wins": 0, "draws": 7, "losses": 2},
        },
        "ends": {"no-mill-plies": 7, "stones": 2},
        "plies": {"mean": 44.33, "longest": 72},
    }


def test_the_seed_decides(morris):
    def score(seed, games=10):
        return morris("match", "random", "random", "-V", "six", "--seed", seed, "--games", games, "--json").out

    assert score(1) == score(1) != score(2)


def test_a_match_can_begin_anywhere(morris):
    position = "BB..W.../.W..W.../..BW...B w 0,0"
    answer = json.loads(morris("match", "perfect", "sparring", "--position", position, "--games", 4, "--json").out)
    assert answer["position"] == position and answer["variant"] == "nine"
    assert answer["score"]["all"]["losses"] == 0


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["perfect", "random"], 3, "the table 0-0+9-9 of nine is missing"),
        (["random", "perfect"], 3, "perfect needs all tables of the game"),
        (["random"], 2, "Missing argument"),
        (["random", "god"], 2, "'god' is not one of"),
        (["random", "random", "--games", "0"], 2, "0 is not in the range"),
        (["random", "random", "--repetition", "0", "--no-mill-turns", "0"], 2, "needs a drawing rule that ends every"),
        (["random", "random", "-V", "six", "--position", "BBW...WB/.W.....W b 0,0"], 2, "the game is over in this"),
    ],
)
def test_matches_that_cannot_be_played(morris, arguments, code, words):
    assert words in refused(morris("match", *arguments), code)


@pytest.mark.parametrize("command", ["play", "match"])
def test_help_has_an_example_and_the_drawing_rules(morris, command):
    text = morris(command, "--help").out
    assert f"\n  morris {command} " in text
    for option in ("--repetition", "--no-mill-plies", "--no-mill-turns"):
        assert option in text
