"""Alpha-beta over the placement phase: what is a position with stones in hand worth, from moving tables alone?

The value is settled by two yes-or-no questions, each a search of its own with a null window: does White hold at least
a draw, and does Black?  In such a search one side (the *holder*) looks for one turn that holds, the other for one that
breaks it.  At the end of the placing stands a probe of a moving-phase table, of which only one bit a slot is kept in
memory: does the holder hold.

Depth is settled by the same two questions with a limit: does a side hold out for so many plies?  Placing takes as many
plies as there are stones in hand, so for the tables it is one number of plies, whatever happened before.

The transposition table keeps canonical positions only, each with the answer that was proved for it, as one word that holds
the position in full.  Each question has a table of its own, which only one kernel at a time uses; whose question it
is, and therefore which bound the entry is, belongs to the table as a whole.
"""

import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .bits import bit_count, lowest_bit
from .edges import lines, stones_in_mills
from .errors import InputError
from .jit import Workers, inlined, kernel
from .leaves import NOT_LOADED, Leaves, LeafStore, LoadingStoppedError, probe_leaf
from .symmetry import Orbits, image_of, orbits
from .values import Outcome
from .variant import MIN_STONES, Variant

#: Entries that share a cache line and are looked at together.
BUCKET = 8
MOST_TURNS = 512
BROKEN, HOLDS, STOPPED = 0, 1, 2

# Places in the control array that kernel and caller share.
STOP, MISSING, NODES, PROBES, HITS = range(5)


class Game(NamedTuple):
    """Rules and index as the search needs them; tests: int64[points, Q], see `Lines.others`."""

    orb: Orbits
    mills: np.ndarray
    others: np.ndarray
    degree: np.ndarray
    may_break: bool
    full_board_holds: bool


@inlined
def canonical_key(orb, white, black, hands):
    """Smallest image of a position as one word: white in the low bits, black above, stones in hand on top."""
    g = np.int64(orb.symmetry_of[white])
    w = image_of(orb.images, g, white)
    b = image_of(orb.images, g, black)
    row = orb.first[bit_count(w)] + np.int64(orb.row_of[w])
    if orb.stabiliser[row] > 1:
        placed = b
        for s in range(1, orb.images.shape[0]):
            if image_of(orb.images, s, w) == w:
                b = min(b, image_of(orb.images, s, placed))
    return w | b << 24 | hands << 48


@inlined
def _bucket_of(key, n_entries):
    mixed = key * np.int64(-7046029254386353131)
    mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    mixed *= np.int64(-4658895280553007687)
    return ((mixed >> 20) & 0x7FFFFFFFFFF) % (n_entries // BUCKET) * BUCKET


@inlined
def recall(table, key):
    """The answer kept for a position, or -1."""
    start = _bucket_of(key, len(table))
    for i in range(start, start + BUCKET):
        if table[i] >> 1 == key:
            return table[i] & 1
    return np.int64(-1)


@inlined
def _remember(table, key, answer):
    """Keeps an answer; in a full bucket the position with the fewest stones in hand gives way."""
    start = _bucket_of(key, len(table))
    at = start
    for i in range(start, start + BUCKET):
        if table[i] >> 1 == key or table[i] == 0:
            at = i
            break
        if table[i] >> 49 < table[at] >> 49:
            at = i
    table[at] = key << 1 | answer


@inlined
def _lines_open_to(others, stones, blockers, point):
    """Lines through a point that hold a stone of ``stones`` and none of ``blockers``."""
    n = 0
    for m in range(others.shape[1]):
        n += (stones & others[point, m] != 0) & (blockers & others[point, m] == 0) & (others[point, m] < 1 << 24)
    return n


@inlined
def fill_turns(game, own, opponent, history, owns, opponents, scores):
    """Writes own and opponent masks after every placement, with a score that orders them; returns how many."""
    full = (np.int64(1) << game.orb.n_points) - 1
    free = full ^ own ^ opponent
    removable = np.int64(-1)
    n = 0
    while free:
        q = lowest_bit(free)
        goal = np.int64(1) << q
        free ^= goal
        closes = False
        blocks = False
        for m in range(game.others.shape[1]):
            closes |= own & game.others[q, m] == game.others[q, m]
            blocks |= opponent & game.others[q, m] == game.others[q, m]
        score = game.degree[q] * 4 + min(history[q] >> 8, 40)
        score += 12 * _lines_open_to(game.others, own, opponent, q) + 6 * _lines_open_to(game.others, opponent, own, q)
        score += 100000 * blocks
        if closes:
            if removable == -1:
                inside = stones_in_mills(game.mills, opponent)
                removable = opponent & ~inside
                if removable == 0 and game.may_break:
                    removable = opponent
            rest = removable
            while rest:
                p = lowest_bit(rest)
                rest &= rest - 1
                owns[n] = own | goal
                opponents[n] = opponent ^ (np.int64(1) << p)
                scores[n] = score + 1000000 + 12 * _lines_open_to(game.others, opponent, own | goal, p)
                n += 1
            if removable:
                continue
        owns[n] = own | goal
        opponents[n] = opponent
        scores[n] = score
        n += 1
    return n


@kernel
def search(game, leaves, table, history, control, stack, white, black, white_hand, black_hand, white_moves, holder):
    """Does the holder (0 White, 1 Black) keep at least a draw?  HOLDS, BROKEN or STOPPED.

    stack: int64[3, plies, MOST_TURNS], scratch; control: int64[5], see the module's head; history: int64[2, points], cut-offs
    by point; a position with a side below three stones in all is not passed in.
    """
    if white_hand == 0 and black_hand == 0:
        control[PROBES] += 1
        holds = probe_leaf(game.orb, leaves, white, black)
        if holds == NOT_LOADED:
            control[MISSING] = bit_count(white) << 8 | bit_count(black)
            return np.int64(STOPPED)
        return holds
    if control[STOP]:
        return np.int64(STOPPED)
    hands = white_hand + black_hand
    key = canonical_key(game.orb, white, black, hands)
    known = recall(table, key)
    if known >= 0:
        control[HITS] += 1
        return known
    control[NODES] += 1
    own, opponent = (white, black) if white_moves else (black, white)
    mover_holds = (holder == 0) == white_moves
    owns, opponents, scores = stack[0, hands], stack[1, hands], stack[2, hands]
    side = 0 if white_moves else 1
    n = fill_turns(game, own, opponent, history[side], owns, opponents, scores)
    if n == 0:  # no point is free
        return np.int64(HOLDS if game.full_board_holds or not mover_holds else BROKEN)
    opponent_hand = black_hand if white_moves else white_hand
    wanted = np.int64(HOLDS if mover_holds else BROKEN)
    answer = np.int64(1 - wanted)
    next_white_hand = white_hand - 1 if white_moves else white_hand
    next_black_hand = black_hand if white_moves else black_hand - 1
    # A turn that is known to settle the matter, before any is searched.
    settled = False
    if hands > 3:
        for i in range(n):
            w, b = (owns[i], opponents[i]) if white_moves else (opponents[i], owns[i])
            if bit_count(opponents[i]) + opponent_hand < MIN_STONES:
                settled = True
                break
            known = recall(table, canonical_key(game.orb, w, b, hands - 1))
            if known == wanted:
                settled = True
                break
            if known >= 0:
                scores[i] = -1
    if settled:
        _remember(table, key, wanted)
        return wanted
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if scores[j] > scores[best]:
                best = j
        if scores[best] < 0:
            break
        o, p = owns[best], opponents[best]
        owns[best], opponents[best], scores[best] = owns[i], opponents[i], scores[i]
        scores[i] = -2
        if bit_count(p) + opponent_hand < MIN_STONES:
            result = wanted
        else:
            w, b = (o, p) if white_moves else (p, o)
            result = search(
                game, leaves, table, history, control, stack, w, b, next_white_hand, next_black_hand, not white_moves, holder
            )
        if result == STOPPED:
            return np.int64(STOPPED)
        if result == wanted:
            history[side, lowest_bit(o & ~own)] += hands
            answer = wanted
            break
    _remember(table, key, answer)
    return answer


class Question:
    """Does one side (0 White, 1 Black) keep at least a draw?  Its table of answers lives as long as the object."""

    def __init__(self, variant: Variant, leaf_store: LeafStore, holder: int, table_bytes: int):
        if variant.place_and_slide:
            raise InputError(f"{variant.name} lets stones slide while placing; its positions come from tables only")
        arrays = lines(variant.board)
        degree = np.array([m.bit_count() for m in variant.board.neighbour_masks], np.int64)
        self.game = Game(
            orbits(variant.board), arrays.mills, arrays.others, degree,
            variant.capture_in_mills == "any", variant.full_board == "draw",
        )  # fmt: skip
        self.variant, self.leaf_store, self.holder = variant, leaf_store, holder
        self.table = np.zeros(max(1 << 10, table_bytes // (8 * BUCKET)) * BUCKET, np.int64)
        self.history = np.zeros((2, variant.board.n_points), np.int64)
        self.control = np.zeros(5, np.int64)
        self.seconds = 0.0

    @property
    def leaves(self) -> Leaves:
        return self.leaf_store.leaves[self.holder]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Positions searched, table probes, transposition hits so far."""
        return tuple(int(self.control[i]) for i in (NODES, PROBES, HITS))

    def stop(self) -> None:
        """Makes a search that runs in another thread return soon, without an answer."""
        self.control[STOP] = 1

    def load_missing(self) -> None:
        """Loads the table that stopped the kernel, unless `stop` is called meanwhile."""
        missing, self.control[MISSING] = int(self.control[MISSING]), 0
        with suppress(LoadingStoppedError):
            self.leaf_store.load(missing >> 8, missing & 255, stopped=lambda: self.control[STOP])

    def answer(self, position) -> bool | None:
        """Whether the holder holds the position; None where `stop` was called first."""
        started = time.monotonic()
        stack = np.empty((3, 2 * self.variant.stones + 1, MOST_TURNS), np.int64)
        result = STOPPED
        while result == STOPPED and not self.control[STOP]:
            result = search(
                self.game, self.leaves, self.table, self.history, self.control, stack,
                np.int64(position.white), np.int64(position.black), position.white_hand, position.black_hand,
                position.white_to_move, self.holder,
            )  # fmt: skip
            if self.control[MISSING]:
                self.load_missing()
        self.seconds += time.monotonic() - started
        return None if result == STOPPED else result == HOLDS


@dataclass
class Proof:
    """Who keeps at least a draw, or holds out for the plies asked for; None where that was stopped or not needed."""

    white_holds: bool | None
    black_holds: bool | None

    @property
    def white_outcome(self) -> Outcome:
        """Outcome for White: a draw where both hold, unknown where the answers do not settle it.

        With a limit of plies a win or loss comes within them, and a draw says that neither does.
        """
        if self.white_holds is False:
            return Outcome.LOSS
        if self.black_holds is False:
            return Outcome.WIN
        return Outcome.DRAW if self.white_holds and self.black_holds else Outcome.UNKNOWN


class Prover:
    """Settles values of placement positions from moving-phase tables alone.

    table_bytes: for the answers of both questions together; the bits of the moving tables come on top, a quarter of a
    byte a slot.  What was learnt on one position serves the next.  plies: a side holds that is not beaten in so many
    plies after the last placement; None is for ever.
    """

    def __init__(self, variant: Variant, store, workers: Workers, table_bytes: int = 1 << 30, plies: int | None = None):
        self.variant, self.workers = variant, workers
        self.leaf_store = LeafStore(variant, store, workers, plies)
        self.questions = tuple(Question(variant, self.leaf_store, holder, table_bytes // 2) for holder in (0, 1))

    def prove(self, position, time_limit: float | None = None) -> Proof:
        """Settles a `Position` with stones in hand and no capture owed.

        Raises `MissingTableError` naming the first table that is not there.  With a ``time_limit`` in seconds
        the outcome may stay unknown.
        """
        if not (position.white_hand or position.black_hand):
            raise InputError("this position has no stone in hand; its value is in the tables ('morris query')")
        if position.capture_owed:
            raise InputError("a capture is still owed; prove the positions after it one by one")
        if position.white.bit_count() + position.white_hand < MIN_STONES:
            return Proof(False, True)
        if position.black.bit_count() + position.black_hand < MIN_STONES:
            return Proof(True, False)
        for question in self.questions:
            question.control[STOP] = 0
        deadline = None if time_limit is None else time.monotonic() + time_limit
        at_once = 2 if self.workers.jobs > 1 else 1
        with ThreadPoolExecutor(at_once, "morris-search") as pool:
            pending = {pool.submit(q.answer, position): q for q in self.questions}
            answers: dict[int, bool | None] = {}
            try:
                while pending:
                    done, _ = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                    for future in done:
                        answers[pending.pop(future).holder] = future.result()
                    # One side that loses settles the matter; so does the end of the time.
                    if False in answers.values() or (deadline is not None and time.monotonic() > deadline):
                        for question in self.questions:
                            question.stop()
            except BaseException:
                for question in self.questions:
                    question.stop()
                raise
        return Proof(answers.get(0), answers.get(1))
