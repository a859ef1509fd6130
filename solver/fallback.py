"""Placement positions without placement tables: outcomes by search, depths unknown.

Where only the moving phase has been built, `Prover` settles the outcome of a position with stones in hand and of its
turns.  What time does not suffice for stays unknown.
"""

import time

from .errors import MissingTableError
from .jit import Workers
from .moves import Turn, legal_turns, play
from .position import Position
from .query import TableSet
from .search import Prover
from .values import Outcome
from .worth import REVERSED, RankedTurn, Value, best_of, rank_turns


def search_values(tables: TableSet, position: Position, time_limit: float, jobs: int) -> tuple[Value, list[RankedTurn]]:
    """Value of a position and of its turns, best first, within ``time_limit`` seconds.

    Raises `MissingTableError` where a moving-phase table is not there.
    """
    deadline = time.monotonic() + time_limit
    workers = Workers(jobs)
    try:
        prover = Prover(tables.variant, tables.store, workers, table_bytes=1 << 29)
        value = _value(tables, prover, position, deadline)
        turns = [_after(tables, prover, position, turn, deadline) for turn in legal_turns(tables.variant, position)]
        return value, rank_turns(turns)
    finally:
        workers.close()


def _value(tables: TableSet, prover: Prover, position: Position, deadline: float) -> Value:
    try:
        return tables.probe(position)
    except MissingTableError:
        if not position.subspace.is_placing:
            raise
    left = deadline - time.monotonic()
    if left <= 0:
        return Value(Outcome.UNKNOWN)
    if position.capture_owed:
        values = [_after(tables, prover, position, turn, deadline) for turn in legal_turns(tables.variant, position)]
        return best_of(turn.value for turn in values)
    white = prover.prove(position, left).white_outcome
    return Value(white if position.white_to_move else REVERSED.get(white, white))


def _after(tables: TableSet, prover: Prover, position: Position, turn: Turn, deadline: float) -> RankedTurn:
    return RankedTurn(turn, *_value(tables, prover, play(tables.variant, position, turn), deadline).for_mover())
