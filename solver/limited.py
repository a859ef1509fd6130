"""Questions under the rule that so many moving turns without a mill are a draw.

Tables of the metric `dtm` tell, for the moving phase, whether a win can be forced in time, and in how many plies the next
mill, by either side, or the end of the game comes.  They are exact for their own limit only: what a mill leads to has to
be won in time as well.
"""

from pathlib import Path
from typing import NamedTuple, Self

from .errors import InputError
from .indexing import Indexer
from .metric import get_metric
from .moves import Turn, legal_turns, play
from .position import Position, check_position
from .store import TableStore
from .values import Outcome
from .variant import Variant
from .worth import Value, liking


class MillValue(NamedTuple):
    """Outcome for the side to move, and plies to the next mill or the end of the game; None for a draw."""

    outcome: Outcome
    dtm_plies: int | None = None


class MillTurn(NamedTuple):
    """A legal turn with its value for the side that makes it; ``dtm_plies`` counts the turn itself."""

    turn: Turn
    outcome: Outcome
    dtm_plies: int | None


class LimitedTables:
    """The tables of one variant and limit, for asking; ``limit`` None is the game without the rule.

    >>> with LimitedTables(folder, get_variant("six"), 50) as tables:
    ...     tables.probe(parse_own_form("WW.W.B../B.BB.... w 0,0", tables.variant))
    MillValue(outcome=<Outcome.WIN: 'win'>, dtm_plies=1)
    """

    def __init__(self, data: Path | str, variant: Variant, limit: int | None):
        metric = get_metric("dtm", limit)
        metric.require(variant)
        self.variant, self.limit = variant, limit
        self.store = TableStore(Path(data), variant, metric=metric)
        self._indexer = Indexer(variant.board)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception) -> None:
        self.store.close()

    def probe(self, position: Position, plies_without_mill: int = 0) -> MillValue:
        """The value after so many moving turns without a mill.

        `MissingTableError` names the table that is not there; `InputError` says what cannot be asked.
        """
        self._check(position, plies_without_mill)
        if position.capture_owed:  # the mill is closed; what is left is which stone to remove
            best = self.moves(position, plies_without_mill)[0]
            return MillValue(best.outcome, best.dtm_plies)
        return self._in_time(self._stored(position), plies_without_mill)

    def moves(self, position: Position, plies_without_mill: int = 0) -> list[MillTurn]:
        """All legal turns with their values for the side to move, best first."""
        self._check(position, plies_without_mill)
        turns = (self._turn(position, turn, plies_without_mill) for turn in legal_turns(self.variant, position))
        return sorted(turns, key=lambda turn: liking(Value(turn.outcome, turn.dtm_plies)))

    def _turn(self, position: Position, turn: Turn, plies_without_mill: int) -> MillTurn:
        stored = self._stored(play(self.variant, position, turn))
        closes = turn.captured is not None  # with these rules every mill removes a stone
        after = stored if closes else self._in_time(stored, plies_without_mill + 1)
        outcome = Value(after.outcome).for_mover().outcome
        if outcome is Outcome.DRAW:
            return MillTurn(turn, outcome, None)
        return MillTurn(turn, outcome, 1 if closes else after.dtm_plies + 1)

    def _in_time(self, value: MillValue, plies_without_mill: int) -> MillValue:
        """A value at a count of 0 as it is at a greater one."""
        if self.limit is None or value.dtm_plies is None or value.dtm_plies <= self.limit - plies_without_mill:
            return value
        return MillValue(Outcome.DRAW)

    def _stored(self, position: Position) -> MillValue:
        subspace = position.subspace
        if subspace.is_over:
            return MillValue(Outcome.LOSS, 0)
        table = self.store.table(subspace)
        row, column = self._indexer.slot_of(subspace, position.own_mask, position.opponent_mask, table.file.row_masks)
        chunk = table.chunk(row // table.chunk_rows)
        return MillValue(*table.metric.decode(chunk[row % table.chunk_rows, column], table.width))

    def _check(self, position: Position, plies_without_mill: int) -> None:
        check_position(position, self.variant)
        if position.subspace.is_placing:
            raise InputError("depths to the next mill are known for the moving phase only, and here stones are in hand")
        if plies_without_mill < 0:
            raise InputError("plies without a mill are counted from 0")
        if plies_without_mill and self.limit is None:
            raise InputError("plies without a mill matter only where there is a limit")
        if self.limit is not None and plies_without_mill >= self.limit:
            raise InputError(f"after {plies_without_mill} plies without a mill the game is a draw already; the limit is {self.limit}")
