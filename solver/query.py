"""What people ask: values of positions, all turns ranked, the best line.

A `TableSet` answers from finished tables.  What is over is known without any table; what needs a table that is not
there is *unknown*, which is never mistaken for a draw: ``probe`` raises, ``get`` gives a default, and in lists of turns
the unknown ones stand last under their own name.

Values are seen from the side to move, those of turns from the side that makes them.  Where a capture is owed, the
choice of the stone to remove is the turn.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np

from .errors import InputError, MissingTableError, TableError
from .indexing import Indexer, grouped
from .metric import DTW, Metric
from .moves import has_turn, legal_turns, no_turn_outcome, play
from .notation import parse_position
from .position import Position, check_position
from .store import TableStore
from .subspace import Subspace
from .values import Outcome
from .variant import Variant, get_variant
from .worth import (
    LOST, UNKNOWN, Answers, LineStep, RankedTurn, Value, all_unknown, as_numbers, best_of, could_equal,
    rank_turns,
)  # fmt: skip

#: Memory for decompressed chunks, by default.
CACHE_BYTES = 256 << 20


class _ChunkCache:
    """Decompressed chunks, the least recently used dropped first when they outgrow the limit.  Thread-safe."""

    def __init__(self, limit: int):
        self.limit, self.size = limit, 0
        self._chunks: OrderedDict[tuple, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def chunk(self, table, number: int) -> np.ndarray:
        key = table.metric, table.subspace, number
        with self._lock:
            if key in self._chunks:
                self._chunks.move_to_end(key)
                return self._chunks[key]
        values = table.chunk(number)  # outside the lock; two threads may read the same one, which does no harm
        with self._lock:
            if key not in self._chunks:
                self._chunks[key] = values
                self.size += values.nbytes
            while self.size > self.limit and len(self._chunks) > 1:
                self.size -= self._chunks.popitem(last=False)[1].nbytes
        return values

    def clear(self) -> None:
        with self._lock:
            self._chunks.clear()
            self.size = 0


class TableSet:
    """The tables of one variant, for asking.  Threads may share one; memory is bounded by ``cache_bytes``.

    Where a table with depths is missing, one of outcomes answers; depths are then None.  With ``metric`` OUTCOME only
    those are asked.

    Positions are `Position` or text in any notation that `parse_position` reads; they are checked, and an `InputError`
    says what is wrong with them.
    """

    def __init__(
        self, data: Path | str, variant: Variant | str = "nine", cache_bytes: int = CACHE_BYTES, metric: Metric = DTW
    ):
        self.variant = get_variant(variant) if isinstance(variant, str) else variant
        if metric.to_mill:
            raise InputError("a TableSet tells depths to the end of the game; for those to a mill see LimitedTables")
        self.store = TableStore(Path(data), self.variant, metric=metric, or_outcomes=True)
        self._indexer = Indexer(self.variant.board)
        self._cache = _ChunkCache(cache_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files and frees the cache."""
        self._cache.clear()
        self.store.close()

    # ---------------------------------------------------------------- one position

    def probe(self, position: Position | str) -> Value:
        """Outcome and DTW for the side to move; `MissingTableError` names the table that is not there.

        >>> with open_tables(folder, "six") as tables:
        ...     tables.probe("......../........ w 6,6")
        Value(outcome=<Outcome.DRAW: 'draw'>, dtw_plies=None)
        """
        return self._value(self._checked(position))

    def get(self, position: Position | str, default=None):
        """Like `probe`, but gives a default where the table is missing.

        >>> with open_tables("nowhere") as tables:
        ...     tables.get("......../......../........ w 9,9", "not built")
        'not built'
        """
        try:
            return self.probe(position)
        except MissingTableError:
            return default

    def value_or_unknown(self, position: Position | str) -> Value:
        """Like `probe`, but the value is *unknown* where the table is missing."""
        return self.get(position, UNKNOWN)

    def moves(self, position: Position | str) -> list[RankedTurn]:
        """All legal turns with their values for the side to move, best first; unknown ones last.

        >>> with open_tables(folder, "six") as tables:
        ...     best = tables.moves("WW.W.B../B.BB.... w 0,0")[0]
        >>> best.outcome, best.dtw_plies
        (<Outcome.WIN: 'win'>, 5)
        """
        position = self._checked(position)
        ranked = []
        for turn in legal_turns(self.variant, position):
            try:
                value = self._value(play(self.variant, position, turn)).for_mover()
            except MissingTableError:
                value = UNKNOWN
            ranked.append(RankedTurn(turn, *value))
        return rank_turns(ranked)

    def line(self, position: Position | str, limit: int = 300) -> list[LineStep]:
        """The line of best turns: to the end of the game where it is decided, else until a position comes again.

        Outcomes alternate and depths fall by one at each ply; among equals the first turn of `moves` is taken.
        ``limit``: most plies of a drawn line.
        """
        position = self._checked(position)
        value, steps, seen = self._value(position), [], {position}
        while ranked := self.moves(position):
            best = next((entry for entry in ranked if could_equal(entry.value, value)), None)
            if best is None:
                # The turn that is worth it must be among the unknown ones; ask one to get the missing table's name.
                if ranked[-1].outcome is Outcome.UNKNOWN:
                    self._value(play(self.variant, position, ranked[-1].turn))
                raise TableError(f"tables of {self.variant.name} contradict each other: {value} without such a turn")
            position = play(self.variant, position, best.turn)
            steps.append(LineStep(*best, position))
            if position in seen or value.dtw_plies is None and len(steps) >= limit:
                break
            seen.add(position)
            value = self._value(position)
        return steps

    def _checked(self, position: Position | str) -> Position:
        if isinstance(position, str):
            return parse_position(position, self.variant)
        check_position(position, self.variant)
        return position

    def _value(self, position: Position) -> Value:
        """Value of a position that is known to make sense."""
        if position.capture_owed:
            turns = legal_turns(self.variant, position)
            return best_of(self._value(play(self.variant, position, t)).for_mover() for t in turns)
        subspace = position.subspace
        if subspace.is_over:
            return LOST
        try:
            table = self.store.table(subspace)
        except MissingTableError:
            if has_turn(self.variant, position):
                raise
            return _without_turn(self.variant, position)
        row, column = self._indexer.slot_of(subspace, position.own_mask, position.opponent_mask, table.file.row_masks)
        chunk = self._cache.chunk(table, row // table.chunk_rows)
        return Value(*table.metric.decode(chunk[row % table.chunk_rows, column], table.width))

    # ---------------------------------------------------------------- many positions

    def probe_many(self, positions: Iterable[Position | str]) -> Answers:
        """Values of many positions, in order; where a table is missing they are unknown.

        >>> with open_tables(folder, "six") as tables:
        ...     tables.probe_many(["WW.W.B../B.BB.... w 0,0", "......../........ w 6,6"]).values()
        [Value(outcome=<Outcome.WIN: 'win'>, dtw_plies=5), Value(outcome=<Outcome.DRAW: 'draw'>, dtw_plies=None)]
        """
        return self.probe_checked([self._checked(position) for position in positions])

    def probe_arrays(self, white, black, white_to_move, white_hand=0, black_hand=0) -> Answers:
        """Like `probe_many`, for positions given by arrays, or single numbers, which then hold for all.

        white, black: masks of stones, uint32[n]; white_to_move: bool[n]; white_hand, black_hand: stones in hand.  No
        capture is owed.
        """
        given = (white, black, white_to_move, white_hand, black_hand)
        white, black, white_to_move, white_hand, black_hand = (np.atleast_1d(a) for a in np.broadcast_arrays(*given))
        full = self.variant.board.full_mask
        wrong = (white & black != 0) | (white < 0) | (white > full) | (black < 0) | (black > full)
        if wrong.any():
            raise InputError(f"position {wrong.argmax()}: the masks share a point or leave the board")
        for hand in (white_hand, black_hand):
            wrong = (hand < 0) | (hand > self.variant.stones)
            if wrong.any():
                raise InputError(f"position {wrong.argmax()}: {hand[wrong.argmax()]} stones in hand")
        white, black = white.astype(np.uint32), black.astype(np.uint32)
        own, opponent = np.where(white_to_move, white, black), np.where(white_to_move, black, white)
        hands = np.where(white_to_move, (white_hand, black_hand), (black_hand, white_hand))
        # Whether counts and hands make sense is the same question for all positions with the same ones.
        for _, at in grouped(_count_key(own, opponent, *hands) * 2 + np.asarray(white_to_move, bool)):
            i = at[0]
            example = (int(white[i]), int(black[i]), bool(white_to_move[i]), int(white_hand[i]), int(black_hand[i]))
            try:
                check_position(Position(*example), self.variant)
            except InputError as error:
                raise InputError(f"position {i}: {error}") from None
        return self._answer(own, opponent, *hands)

    def probe_checked(self, positions: Sequence[Position]) -> Answers:
        """`probe_many` for positions that have been checked already, as those that were parsed are."""
        outcomes, plies = all_unknown(len(positions))
        plain = [i for i, position in enumerate(positions) if not position.capture_owed]
        numbers = [(p.own_mask, p.opponent_mask, p.own_hand, p.opponent_hand) for p in positions if not p.capture_owed]
        own, opponent, *hands = np.array(numbers, np.int64).reshape(-1, 4).T
        answers = self._answer(own.astype(np.uint32), opponent.astype(np.uint32), *hands)
        outcomes[plain], plies[plain] = answers.outcomes, answers.dtw_plies
        missing = {error.subspace: error for error in answers.missing}
        for i, position in enumerate(positions):
            if position.capture_owed:
                try:
                    outcomes[i], plies[i] = as_numbers(self._value(position))
                except MissingTableError as error:
                    missing[error.subspace] = error
        return Answers(outcomes, plies, tuple(missing.values()))

    def _answer(self, own, opponent, own_hand, opponent_hand) -> Answers:
        outcomes, plies = all_unknown(len(own))
        missing = []
        for _, at in grouped(_count_key(own, opponent, own_hand, opponent_hand)):
            i = at[0]
            hands = int(own_hand[i]), int(opponent_hand[i])
            subspace = Subspace(int(own[i]).bit_count(), int(opponent[i]).bit_count(), *hands)
            try:
                outcomes[at], plies[at] = self._look_up(subspace, own[at], opponent[at])
            except MissingTableError as error:
                needed = False
                for i in at:
                    position = Position(int(own[i]), int(opponent[i]), True, *hands)
                    if has_turn(self.variant, position):
                        needed = True
                    else:
                        outcomes[i], plies[i] = as_numbers(_without_turn(self.variant, position))
                missing += [error] * needed
        return Answers(outcomes, plies, tuple(missing))

    def _look_up(self, subspace: Subspace, own: np.ndarray, opponent: np.ndarray):
        """Outcome numbers and plies of positions of one subspace."""
        if subspace.is_over:
            return as_numbers(LOST)
        table = self.store.table(subspace)
        rows, columns = self._indexer.slots_of(subspace, own, opponent, table.file.row_masks)
        codes = np.empty(len(rows), table.dtype)
        for number, at in grouped(rows // table.chunk_rows):
            chunk = self._cache.chunk(table, int(number))
            codes[at] = chunk[rows[at] - number * table.chunk_rows, columns[at]]
        outcomes, plies = _decoded(table.metric, table.width)
        return outcomes[codes], plies[codes]


def open_tables(
    data: Path | str, variant: Variant | str = "nine", cache_bytes: int = CACHE_BYTES, metric: Metric = DTW
) -> TableSet:
    """The tables of a variant in a data folder; use it in a ``with`` statement.

    >>> with open_tables(folder, "nine") as tables:
    ...     tables.probe("BB..W.../....W.../...W...B w 0,0").dtw_plies
    9
    """
    return TableSet(data, variant, cache_bytes, metric)


@cache
def _decoded(metric: Metric, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Outcome number and plies (-1 for none) of every code of that width."""
    values = [as_numbers(Value(*metric.decode(code, width))) for code in range(1 << 8 * width)]
    outcomes, plies = np.array(values, np.int32).T
    return outcomes.astype(np.uint8), plies.copy()


def _count_key(own, opponent, own_hand, opponent_hand) -> np.ndarray:
    """One number for each combination of stones on board and in hand, that is for each subspace."""
    key = np.bitwise_count(own).astype(np.int64)
    for count in (np.bitwise_count(opponent), own_hand, opponent_hand):
        key = key * 32 + count
    return key


def _without_turn(variant: Variant, position: Position) -> Value:
    """Value of a position whose side to move has no turn."""
    outcome = Outcome(no_turn_outcome(variant, position))
    return LOST if outcome is Outcome.LOSS else Value(outcome)
