"""The rules against the public package OpenSpiel, on random games of nine men's morris.

OpenSpiel plays a turn that captures as two actions of the same side, numbers the points in reading
order, and breaks a game off as a draw after 200 turns; its positions are compared up to there.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import oracle
import pytest

from solver.moves import format_turn, is_over, legal_turns, play
from solver.position import format_own_form, parse_own_form
from solver.variant import get_variant

pyspiel = pytest.importorskip("pyspiel")

RING_ORDER = oracle.BOARDS["ring3"].points
READING_ORDER = sorted(RING_ORDER, key=lambda point: (-int(point[1]), point[0]))
MAX_TURNS = 200
#: Games of the usual run, and positions of the long one.
N_GAMES, N_POSITIONS = 60, 100_000


# --------------------------------------------------- implementations to compare, each one function


def successors_by_oracle(text: str) -> dict[str, str]:
    """Every legal turn and the position after it, both as text; empty when the side to move has lost."""
    rules = oracle.Rules()
    after_mover = "b" if " w " in text else "w"
    position = oracle.read(rules, text)
    return {str(turn): oracle.write(rules, after, after_mover) for turn, after in oracle.successors(rules, position)}


def successors_by_solver(text: str) -> dict[str, str]:
    """The same by the package, whose positions are masks."""
    nine = get_variant("nine")
    position = parse_own_form(text, nine)
    if is_over(nine, position):
        return {}
    return {
        format_turn(nine.board, turn): format_own_form(play(nine, position, turn), nine)
        for turn in legal_turns(nine, position)
    }


IMPLEMENTATIONS = [successors_by_oracle, successors_by_solver]


# ------------------------------------------------------------------------------- OpenSpiel's side


def text_of(state) -> str:
    """OpenSpiel's position in the text form of the project."""
    picture, facts = str(state).split("Current player: ")
    marks = dict(zip(READING_ORDER, re.findall("[WB.]", picture), strict=True))
    board = "".join(marks[point] for point in RING_ORDER)
    white_hand, black_hand = re.search(r"Men to deploy: (\d) (\d)", facts).groups()
    return f"{board[:8]}/{board[8:16]}/{board[16:]} {facts[0].lower()} {white_hand},{black_hand}"


def action_text(action: int) -> str:
    """A placement is the number of its point; 24 + 24 * origin + target is a move."""
    if action < 24:
        return READING_ORDER[action]
    origin, target = divmod(action - 24, 24)
    return f"{READING_ORDER[origin]}-{READING_ORDER[target]}"


def turns_of(state) -> dict:
    """Every turn as text, a capture included, with OpenSpiel's state after it."""
    mover = state.current_player()
    turns = {}
    for action in state.legal_actions():
        after = state.child(action)
        if after.current_player() == mover:  # a mill was closed
            for capture in after.legal_actions():
                turns[f"{action_text(action)}x{action_text(capture)}"] = after.child(capture)
        else:
            turns[action_text(action)] = after
    return turns


def random_game(rng: random.Random) -> Iterator[tuple]:
    """The states of one game with the turns from each.

    In a third of the games turns are random; in the others both sides capture whenever they can, or
    White leaves the fewest replies, so that games end by the loss of stones and by a block.
    """
    state = pyspiel.load_game("nine_mens_morris").new_initial_state()
    style = rng.choice(["random", "capturing", "blocking"])
    for _ in range(MAX_TURNS - 1):
        turns = turns_of(state)
        yield state, turns
        if not turns:
            return
        choice = list(turns)
        if style == "capturing":
            choice = [turn for turn in turns if "x" in turn] or choice
        if style == "blocking" and state.current_player() == 0:
            n_replies = {turn: len(after.legal_actions()) for turn, after in turns.items()}
            choice = [turn for turn in n_replies if n_replies[turn] == min(n_replies.values())]
        state = turns[rng.choice(choice)]


def positions_of_games(rng: random.Random, n_games: int) -> Iterator[tuple[str, dict[str, str], str | None]]:
    """Each position once: its text, the positions after each turn, and who won if the game is over."""
    seen = set()
    for _ in range(n_games):
        for state, turns in random_game(rng):
            text = text_of(state)
            if text not in seen:
                seen.add(text)
                winner = {(1, -1): "w", (-1, 1): "b"}[tuple(state.returns())] if state.is_terminal() else None
                yield text, {turn: text_of(after) for turn, after in turns.items()}, winner


@pytest.fixture(scope="module")
def games() -> list[tuple[str, dict[str, str], str | None]]:
    return list(positions_of_games(random.Random(1), N_GAMES))


def test_the_games_show_every_part_of_the_rules(games):
    assert len(games) > 3000
    ends = [text for text, _, winner in games if winner]
    assert any(min(text.count("W"), text.count("B")) == 2 for text in ends)
    assert any(min(text.count("W"), text.count("B")) > 3 for text in ends), "nobody was blocked"
    assert any(text.endswith("0,0") and len(turns) > 40 for text, turns, _ in games), "nobody flew"
    captures = [turn for _, turns, _ in games for turn in turns if "x" in turn]
    assert any("-" in turn for turn in captures) and any("-" not in turn for turn in captures)


@pytest.mark.parametrize("successors", IMPLEMENTATIONS, ids=lambda function: function.__name__)
def test_same_turns_to_the_same_positions(games, successors):
    for text, turns, _ in games:
        assert successors(text) == turns, text


@pytest.mark.parametrize("successors", IMPLEMENTATIONS, ids=lambda function: function.__name__)
def test_same_winner(games, successors):
    for text, _, winner in games:
        loser = text.split()[1] if not successors(text) else None
        assert winner == {"w": "b", "b": "w", None: None}[loser], text


@pytest.mark.slow
def test_a_hundred_thousand_positions(capsys):
    """Turns, captures, positions reached and results, as OpenSpiel, the oracle and the package see them."""
    counts, other = Counter(), {"w": "b", "b": "w"}
    for text, turns, winner in islice(positions_of_games(random.Random(2), N_POSITIONS), N_POSITIONS):
        for successors in IMPLEMENTATIONS:
            found = successors(text)
            assert found == turns, text
            assert winner == (None if found else other[text.split()[1]]), text
        counts["positions"] += 1
        counts["turns"] += len(turns)
        counts["captures"] += sum("x" in turn for turn in turns)
        counts["finished"] += winner is not None
    assert counts["positions"] == N_POSITIONS and counts["captures"] > 100_000 and counts["finished"] > 300
    with capsys.disabled():
        print(f" {dict(counts)}")
