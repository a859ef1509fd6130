"""What a position or a turn is worth: outcome and depth, in which order they are liked, and many of them as arrays.

A depth may be unknown, None, also where the outcome is not: some tables hold outcomes alone, and a search finds no more.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

import numpy as np

from .errors import MissingTableError
from .moves import Turn
from .position import Position
from .values import Outcome

#: Outcomes as `Answers` numbers them.
OUTCOMES = (Outcome.LOSS, Outcome.DRAW, Outcome.WIN, Outcome.UNKNOWN)
#: Won and lost outcomes as the other side sees them.
REVERSED = {Outcome.WIN: Outcome.LOSS, Outcome.LOSS: Outcome.WIN}


class Value(NamedTuple):
    """Outcome for the side to move and DTW in plies (None for a draw, and where it is not known)."""

    outcome: Outcome
    dtw_plies: int | None = None

    @property
    def own_turns(self) -> int | None:
        """Turns that the side itself has still to make within these plies.

        >>> Value(Outcome.WIN, 9).own_turns, Value(Outcome.LOSS, 22).own_turns
        (5, 11)
        """
        return None if self.dtw_plies is None else (self.dtw_plies + 1) // 2

    def for_mover(self) -> "Value":
        """The value of the turn that leads to a position of this value, for the side that makes the turn.

        >>> Value(Outcome.LOSS, 0).for_mover(), Value(Outcome.DRAW).for_mover()
        (Value(outcome=<Outcome.WIN: 'win'>, dtw_plies=1), Value(outcome=<Outcome.DRAW: 'draw'>, dtw_plies=None))
        """
        plies = None if self.dtw_plies is None else self.dtw_plies + 1
        return Value(REVERSED.get(self.outcome, self.outcome), plies)


LOST = Value(Outcome.LOSS, 0)
UNKNOWN = Value(Outcome.UNKNOWN)


class RankedTurn(NamedTuple):
    """A legal turn with its value for the side that makes it; ``dtw_plies`` counts the turn itself."""

    turn: Turn
    outcome: Outcome
    dtw_plies: int | None

    @property
    def value(self) -> Value:
        return Value(self.outcome, self.dtw_plies)


class LineStep(NamedTuple):
    """One turn of a line, its value for the side that makes it, and the position it leads to."""

    turn: Turn
    outcome: Outcome
    dtw_plies: int | None
    position: Position


class Answers(NamedTuple):
    """Values of many positions.

    outcomes: uint8[n], index into `OUTCOMES`; dtw_plies: int32[n], -1 where there is none; missing: one error for each
    table that was needed and is not there, its positions are unknown.
    """

    outcomes: np.ndarray
    dtw_plies: np.ndarray
    missing: tuple[MissingTableError, ...]

    def values(self) -> list[Value]:
        """The same as a list of `Value`, in order."""
        pairs = zip(self.outcomes.tolist(), self.dtw_plies.tolist())
        return [Value(OUTCOMES[outcome], None if plies < 0 else plies) for outcome, plies in pairs]


def liking(value: Value) -> tuple[int, float]:
    """Sorts the best value first: quickest win, draw, slowest loss; unknown last.

    A win of unknown depth stands behind those that are known, a loss of unknown depth before them.
    """
    outcome, plies = value
    if outcome is Outcome.WIN:
        return 0, inf if plies is None else plies
    if outcome is Outcome.LOSS:
        return 2, -inf if plies is None else -plies
    return 1 if outcome is Outcome.DRAW else 3, 0


def rank_turns(turns: Iterable[RankedTurn]) -> list[RankedTurn]:
    """Turns in order of their values, best first; equal ones stay in their order."""
    return sorted(turns, key=lambda turn: liking(turn.value))


def best_of(values: Iterable[Value]) -> Value:
    """The value of a position, from those of all its turns; known as far as no unknown one among them could change it.

    >>> best_of([Value(Outcome.WIN, 5), Value(Outcome.WIN), Value(Outcome.DRAW)])
    Value(outcome=<Outcome.WIN: 'win'>, dtw_plies=None)
    """
    values = list(values)
    best = min(values, key=liking)
    if best.outcome is not Outcome.WIN:
        return UNKNOWN if UNKNOWN in values else best
    is_settled = best.dtw_plies == 1 or not {UNKNOWN, Value(Outcome.WIN)} & set(values)
    return best if is_settled else Value(Outcome.WIN)


def could_equal(first: Value, second: Value) -> bool:
    """Whether two values have one outcome, and one depth as far as both are known."""
    depths = {first.dtw_plies, second.dtw_plies} - {None}
    return first.outcome is second.outcome and len(depths) < 2


def as_numbers(value: Value) -> tuple[int, int]:
    """A value as `Answers` holds it."""
    return OUTCOMES.index(value.outcome), -1 if value.dtw_plies is None else value.dtw_plies


def all_unknown(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrays for so many values, all of them unknown, as `Answers` holds them."""
    return np.full(n, OUTCOMES.index(Outcome.UNKNOWN), np.uint8), np.full(n, -1, np.int32)
