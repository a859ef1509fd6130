"""Opponents: players that choose a turn for the side to move.

A player has no memory; what it draws lots with is handed to it, so the same seed gives the same game.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple, Protocol

import numpy as np

from .errors import InputError, MissingTableError
from .moves import Turn, legal_turns, play
from .position import Position
from .query import TableSet
from .subspace import dependencies, solved_together
from .values import Outcome
from .variant import Variant
from .worth import OUTCOMES


class Player(Protocol):
    """What a game asks of its players."""

    name: str

    def require(self, position: Position) -> None:
        """Raises `MissingTableError` where a game from this position may need a table that is not there."""

    def choose(self, position: Position, lots: Random) -> Turn:
        """A legal turn; the position must have one."""


class RandomPlayer:
    """Every legal turn is as likely as any other."""

    name = "random"

    def __init__(self, variant: Variant):
        self.variant = variant

    def require(self, position: Position) -> None:
        """Needs no table."""

    def choose(self, position: Position, lots: Random) -> Turn:
        return lots.choice(legal_turns(self.variant, position))


class PerfectPlayer:
    """Never lets go of a value; wins as quickly, and loses as slowly, as the tables allow.

    Among draws it takes a turn that leaves the opponent the fewest replies that hold the draw; a draw that ends the
    game, in which nobody can go wrong any more, comes last.  Among what is left lots decide.  It plays the game of the
    tables and knows nothing of drawing rules.
    """

    name = "perfect"

    def __init__(self, tables: TableSet):
        self.tables, self.variant = tables, tables.variant

    def require(self, position: Position) -> None:
        """Raises `MissingTableError` for the first table missing among all that play from here can lead to."""
        variant, store = self.variant, self.tables.store
        if position.capture_owed:
            # All choices lead to the same counts.
            position = play(variant, position, legal_turns(variant, position)[0])
        if position.subspace.is_over:
            return
        open_ones, seen = [solved_together(variant, position.subspace)[0]], set()
        while open_ones:
            file = open_ones.pop(0)  # from the top, because to build the first one missing builds what lies below it
            if file in seen:
                continue
            seen.add(file)
            if not store.has_depths(file):
                try:
                    store.table(file)
                except MissingTableError as error:
                    message = f"{self.name} needs all tables of the game: {error}"
                else:  # with outcomes alone a win might be put off for ever
                    message = (
                        f"{self.name} needs depths, and of {file.name} only outcomes are there; "
                        f"'{store.build_command(file)}' makes the rest"
                    )
                raise MissingTableError(file.name, message)
            open_ones += dependencies(variant, file)

    def choose(self, position: Position, lots: Random) -> Turn:
        return lots.choice(self.best_turns(position))

    def best_turns(self, position: Position) -> list[Turn]:
        """The turns between which it makes no difference."""
        ranked = self.tables.moves(position)
        if ranked[-1].outcome is Outcome.UNKNOWN:  # ask for it once more, for the table's name
            self.tables.probe(play(self.variant, position, ranked[-1].turn))
        best = [entry.turn for entry in ranked if entry.value == ranked[0].value]
        if ranked[0].outcome is not Outcome.DRAW or len(best) == 1:
            return best
        holding = self._count_holding_replies([play(self.variant, position, turn) for turn in best])
        return [turn for turn, n in zip(best, holding) if n == min(holding)]

    def _count_holding_replies(self, positions: list[Position]) -> list[float]:
        """For drawn positions, how many turns keep the draw; infinity where the game is over."""
        replies = [[play(self.variant, p, turn) for turn in legal_turns(self.variant, p)] for p in positions]
        answers = self.tables.probe_checked([position for of_one in replies for position in of_one])
        if (answers.outcomes == OUTCOMES.index(Outcome.UNKNOWN)).any():
            raise answers.missing[0]
        holds = answers.outcomes == OUTCOMES.index(Outcome.DRAW)
        parts = np.split(holds, np.cumsum([len(of_one) for of_one in replies])[:-1])
        return [int(part.sum()) if len(part) else float("inf") for part in parts]


class SparringWeights(NamedTuple):
    """What `sparring_score` adds up."""

    stone: int = 100
    mill: int = 220
    open_two: int = 45
    opponent_open_two: int = -60
    capture_owed: int = 300
    opponent_capture_owed: int = -300


WEIGHTS = SparringWeights()


def sparring_score(variant: Variant, position: Position, for_white: bool, weights: SparringWeights = WEIGHTS) -> int:
    """What the sparring player thinks of a position, for one side.

    100 for each stone, on board and in hand, that the side has more than the other; 220 for each own completed mill; 45
    for each line with two own stones and no enemy stone; -60 for each line with two enemy stones and no own one; 300
    where the side has just closed a mill and has still to take the stone owed to it, -300 where the other has.

    >>> from solver.position import parse_own_form
    >>> from solver.variant import get_variant
    >>> nine = get_variant("nine")
    >>> position = parse_own_form("WWW...../BB....../........ w 6,7 x", nine)
    >>> sparring_score(nine, position, True), sparring_score(nine, position, False)
    (460, -255)
    """
    own, enemy = (position.white, position.black) if for_white else (position.black, position.white)
    own_hand, enemy_hand = (position.white_hand, position.black_hand)[:: 1 if for_white else -1]
    score = weights.stone * (own.bit_count() + own_hand - enemy.bit_count() - enemy_hand)
    for line in variant.board.mill_masks:
        n_own, n_enemy = (own & line).bit_count(), (enemy & line).bit_count()
        if n_own == 3:
            score += weights.mill
        elif n_own == 2 and not n_enemy:
            score += weights.open_two
        elif n_enemy == 2 and not n_own:
            score += weights.opponent_open_two
    if position.capture_owed:
        score += weights.capture_owed if position.white_to_move == for_white else weights.opponent_capture_owed
    return score


class SparringPlayer:
    """Looks one step ahead with `sparring_score`: first for the stone it brings, then for the stone it takes.

    A step that closes a mill is so judged by the capture that it is owed, and the removal by what it leaves.  Lots
    decide among equals.
    """

    name = "sparring"

    def __init__(self, variant: Variant):
        self.variant = variant

    def require(self, position: Position) -> None:
        """Needs no table."""

    def choose(self, position: Position, lots: Random) -> Turn:
        return lots.choice(self.best_turns(position))

    def best_turns(self, position: Position) -> list[Turn]:
        """The turns between which it makes no difference to this player."""
        turns = legal_turns(self.variant, position)
        if not position.capture_owed:
            scores = {turn[:2]: self._score(position, turn._replace(captured=None)) for turn in turns}
            best = max(scores.values())
            turns = [turn for turn in turns if scores[turn[:2]] == best]
        removals = {turn: self._score(position, turn) for turn in turns}
        # Steps are equal by now; each is followed by the removal that is best after it.
        best_after: dict[tuple, int] = {}
        for turn, score in removals.items():
            best_after[turn[:2]] = max(score, best_after.get(turn[:2], score))
        return [turn for turn in turns if removals[turn] == best_after[turn[:2]]]

    def _score(self, position: Position, turn: Turn) -> int:
        return sparring_score(self.variant, play(self.variant, position, turn), position.white_to_move)


#: Name -> how to make the player from a variant's tables, which only `perfect` looks into.
PLAYERS: dict[str, Callable[[TableSet], Player]] = {
    "perfect": PerfectPlayer,
    "random": lambda tables: RandomPlayer(tables.variant),
    "sparring": lambda tables: SparringPlayer(tables.variant),
}


def get_player(name: str, tables: TableSet) -> Player:
    """The player of that name, or an `InputError` that lists the names."""
    if name not in PLAYERS:
        raise InputError(f"no player is called {name!r}; there are {', '.join(PLAYERS)}")
    return PLAYERS[name](tables)
