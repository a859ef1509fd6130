"""A game in hindsight: what every turn was worth, and which one gave the game away."""

from collections.abc import Sequence
from typing import NamedTuple

from .moves import Turn
from .notation import Game
from .position import Position
from .query import TableSet
from .values import Outcome
from .worth import Value


class AnnotatedPly(NamedTuple):
    """A turn of a game: the position before it and its value, the value of the turn for the same side, the best turns."""

    position: Position
    turn: Turn
    before: Value
    after: Value
    best: tuple[Turn, ...]

    @property
    def is_known(self) -> bool:
        return Outcome.UNKNOWN not in (self.before.outcome, self.after.outcome)

    @property
    def lost_outcome(self) -> bool:
        """Whether the turn gave away a better outcome."""
        return self.is_known and self.before.outcome is not self.after.outcome

    @property
    def lost_plies(self) -> int | None:
        """How much later a win, or earlier a loss, comes than it had to; None for a draw, a lost outcome or
        an unknown depth."""
        if not self.is_known or self.lost_outcome or None in (self.before.dtw_plies, self.after.dtw_plies):
            return None
        return abs(self.after.dtw_plies - self.before.dtw_plies)


def annotate(tables: TableSet, game: Game) -> list[AnnotatedPly]:
    """What every turn of a game was worth, and what it could have been."""
    plies, position = [], game.start
    for turn, following in game.plies:
        ranked = tables.moves(position)
        after = next(r.value for r in ranked if r.turn == turn)
        best = tuple(r.turn for r in ranked if r.value == ranked[0].value and r.outcome is not Outcome.UNKNOWN)
        plies.append(AnnotatedPly(position, turn, tables.value_or_unknown(position), after, best))
        position = following
    return plies


def first_losing_ply(plies: Sequence[AnnotatedPly], white: bool) -> int | None:
    """Number, from 1, of the first turn by which a side that had not lost yet lost; None where there is none.

    Turns whose value is unknown are passed over.
    """
    for number, ply in enumerate(plies, 1):
        if ply.position.white_to_move == white and ply.lost_outcome and ply.after.outcome is Outcome.LOSS:
            return number
    return None
