"""Leaves of the placement search: one bit of every moving-phase position, for each of the two questions.

At the end of the placing stands a moving-phase position with White to move.  All that the search asks of it is whether
a side holds, at least a draw or (where depth is in question) for so many plies more, so of a table's value one bit a
slot is kept, for White and for Black.
"""

import threading
import time
from typing import NamedTuple

import numpy as np

from .bits import at_most, bit_count, extract
from .combinatorics import columns
from .errors import InputError
from .jit import Workers, inlined, kernel
from .metric import DTW
from .subspace import Subspace
from .symmetry import image_of, orbits
from .values import undecided_codes
from .variant import MIN_STONES, Variant

#: A leaf whose table has not been loaded.
NOT_LOADED = 2


class Leaves(NamedTuple):
    """One bit per slot of the moving tables with White to move: does the holder hold?

    words: int64[...], sets of columns, every row from a word of its own on, all tables after each other; offset:
    int64[stones + 1, stones + 1], first word of the table with so many white and black stones, -1 where it has not been
    loaded; low, high: the rank tables of `Columns`, row_words: words of a row, both by [free points, stones].
    """

    words: np.ndarray
    offset: np.ndarray
    low: np.ndarray
    high: np.ndarray
    row_words: np.ndarray


@inlined
def probe_leaf(orb, leaves, white, black):
    """The bit of a position in which all stones are placed and White is to move; NOT_LOADED where its table is not there."""
    n_white, n_black = bit_count(white), bit_count(black)
    offset = leaves.offset[n_white, n_black]
    if offset < 0:
        return np.int64(NOT_LOADED)
    row_mask, column_mask, k = (white, black, n_black) if n_white >= n_black else (black, white, n_white)
    g = np.int64(orb.symmetry_of[row_mask])
    row = np.int64(orb.row_of[row_mask])
    full = (np.int64(1) << orb.n_points) - 1
    free = full ^ image_of(orb.images, g, row_mask)
    pattern = extract(image_of(orb.images, g, column_mask), free)
    n = orb.n_points - max(n_white, n_black)
    rank = np.int64(leaves.low[pattern & 4095]) + np.int64(leaves.high[n, k, pattern >> 12])
    word = leaves.words[offset + row * leaves.row_words[n, k] + (rank >> 6)]
    return (word >> (rank & 63)) & 1


@kernel
def pack_holds(values, n_columns, least, most, white, black):
    """white, black: int64[rows, words], by row the columns whose code (White to move) is no less than ``least``, no more than
    ``most``.
    """
    for row in range(white.shape[0]):
        for word in range(white.shape[1]):
            start = row * n_columns + 64 * word
            left = n_columns - 64 * word
            within = np.int64(-1) if left >= 64 else (np.int64(1) << left) - 1
            white[row, word] = ~at_most(values, start, least - 1) & within
            black[row, word] = at_most(values, start, most) & within


class LoadingStoppedError(Exception):
    """The search that needed a table was stopped before all of it was read."""


class LeafStore:
    """The bits of the moving tables for both questions, loaded table by table when a search first needs one.

    plies: what a side holds out for after the last placement; None is for ever, and then tables of outcomes will do.
    leaves: for each holder (0 White, 1 Black) a `Leaves`; both share their layout, and a table is read once for both.
    """

    def __init__(self, variant: Variant, store, workers: Workers, plies: int | None = None):
        self.store, self.workers, self.plies = store, workers, plies
        self.subspaces: list[str] = []
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._used = 0
        n, stones = variant.board.n_points, variant.stones
        row_words = np.zeros((n + 1, stones + 1), np.int64)
        high = np.zeros((n + 1, stones + 1, 1 << max(0, n - MIN_STONES - 12)), np.int64)
        total = 0
        for a in range(MIN_STONES, stones + 1):
            for b in range(MIN_STONES, a + 1):
                cols = columns(n - a, b)
                row_words[n - a, b] = -(-cols.size // 64)
                high[n - a, b, : len(cols.high)] = cols.high
                total += len(orbits(variant.board).rows(a)) * row_words[n - a, b] * (1 if a == b else 2)
        offset = np.full((stones + 1, stones + 1), -1, np.int64)
        # Memory that is never written is never taken: only tables that get loaded count.
        self.leaves = tuple(
            Leaves(np.empty(total, np.int64), offset, columns(n, 3).low, high, row_words) for _ in range(2)
        )

    def load(self, n_white: int, n_black: int, stopped=lambda: False) -> None:
        """Loads the table with so many stones and White to move, unless it is there.

        Raises `LoadingStoppedError` soon after ``stopped()`` turns true; the table then counts as not loaded.
        """
        with self._lock:
            offsets = self.leaves[0].offset
            if offsets[n_white, n_black] >= 0:
                return
            started = time.monotonic()
            table = self.store.table(Subspace(n_white, n_black))
            if self.plies is not None and table.metric != DTW:
                raise InputError(f"{table.subspace.name} holds no depths to the end of the game; a limit of plies needs them")
            least, most = undecided_codes(self.plies, table.width)
            shape = table.n_rows, -(-table.n_columns // 64)
            end = self._used + shape[0] * shape[1]
            white, black = (leaves.words[self._used : end].reshape(shape) for leaves in self.leaves)

            def pack(first_row: int, values: np.ndarray) -> None:
                if stopped():
                    raise LoadingStoppedError  # nobody else packs on then, so the next table may have these words
                rows = slice(first_row, first_row + len(values) // table.n_columns)
                pack_holds(values, table.n_columns, least, most, white[rows], black[rows])

            table.for_each_part(pack, self.workers.pool)
            offsets[n_white, n_black] = self._used
            self._used = end
            self.subspaces.append(table.subspace.name)
            self.seconds += time.monotonic() - started
