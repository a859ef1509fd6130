"""Position <-> slot in plain Python and numpy, for everything that asks tables and must not wait for compiled code.

A slot is a row and a column.  The *row side* is the side with more stones (`Subspace.rows_are_own`); its mask is
made canonical, and its place among the canonical masks of the file (``row_masks``, ascending) is the row.  The other
side's mask goes through the same symmetry; the colex rank of the result among the free points is the column:

    own, opponent --rows_are_own--> row side x, column side y
    row    = number of canonical(x) in row_masks, by the first symmetry g that leads there
    column = rank of g(y), packed to the points that g(x) leaves free

The kernels do the same with tables over all masks (`symmetry.orbits`, `edges.rank_of`); the two are tested to agree.
"""

from functools import lru_cache
from math import comb

import numpy as np

from .board import Board
from .combinatorics import deposit_bits, extract_bits, rank_pattern, unrank_pattern
from .errors import TableError
from .subspace import Subspace

#: Positions that the array functions handle at a time, so that what they touch stays in the cache.
BLOCK = 1 << 14


#: Row lists that were found right: {(board, stones): uint32 masks}, one for all files that have it.
_row_lists: dict[tuple[Board, int], np.ndarray] = {}


@lru_cache(maxsize=8)
def image_tables(board: Board) -> np.ndarray:
    """uint32[symmetries, 3, 256]: the images of all masks, by byte.  One array for all who ask; only for reading."""
    tables = np.zeros((len(board.symmetries), 3, 256), np.uint32)
    values = np.arange(256)
    for g, symmetry in enumerate(board.symmetries):
        for p, image in enumerate(symmetry):
            tables[g, p // 8] |= ((values >> (p % 8) & 1) << image).astype(np.uint32)
    return tables


def checked_rows(board: Board, stones: int, masks: np.ndarray) -> np.ndarray | None:
    """The row masks read from a file (uint32, as many as there are rows), shared with all other files; None if wrong.

    A list of the right length that ascends and holds only canonical masks with so many stones is the one and only.
    """
    known = _row_lists.get((board, stones))
    if known is None:
        ascending = bool((masks[1:] > masks[:-1]).all())
        if not ascending or (np.bitwise_count(masks) != stones).any() or not _are_canonical(board, masks):
            return None
        masks.flags.writeable = False
        known = _row_lists.setdefault((board, stones), masks)
    return known if np.array_equal(known, masks) else None


def _are_canonical(board: Board, masks: np.ndarray) -> bool:
    if int(masks.max(initial=0)) > board.full_mask:
        return False
    low, middle, high = ((masks >> shift & 255).astype(np.intp) for shift in (0, 8, 16))
    images = (lows[low] | middles[middle] | highs[high] for lows, middles, highs in image_tables(board))
    return not any((image < masks).any() for image in images)


class Indexer:
    """Finds slots on one board.  ``row_masks`` is always uint32, the canonical masks in a table's file, ascending."""

    def __init__(self, board: Board):
        self.board = board
        self._images = image_tables(board)
        self._image_lists = [tuple(by_byte) for by_byte in self._images.tolist()]
        most = board.n_points
        # _ranks[(n, k)]: C(n, k) places below a stone that is the k-th (from 1) and stands on the n-th free point
        # (from 0).  The array functions step through it with one index, n * _stride + k.
        self._stride = most + 1
        self._ranks = np.array([[comb(n, k) for k in range(most + 1)] for n in range(most + 1)], np.int64).ravel()

    # ---------------------------------------------------------------- one position

    def canonical(self, mask: int) -> tuple[int, int]:
        """Smallest image of a mask and the first symmetry that leads to it, as `Board.canonical`, by bytes."""
        low, middle, high = mask & 255, mask >> 8 & 255, mask >> 16
        best, chosen = mask, 0
        for g, (lows, middles, highs) in enumerate(self._image_lists):
            image = lows[low] | middles[middle] | highs[high]
            if image < best:
                best, chosen = image, g
        return best, chosen

    def slot_of(self, subspace: Subspace, own: int, opponent: int, row_masks: np.ndarray) -> tuple[int, int]:
        """Row and column of a position given by the masks of both sides."""
        x, y = (own, opponent) if subspace.rows_are_own else (opponent, own)
        row_mask, g = self.canonical(x)
        lows, middles, highs = self._image_lists[g]
        moved = lows[y & 255] | middles[y >> 8 & 255] | highs[y >> 16]
        row = int(row_masks.searchsorted(np.uint32(row_mask)))
        if row == len(row_masks) or row_masks[row] != row_mask:
            raise TableError(f"the row masks in the file of {subspace.name} lack {row_mask:#x}")
        return row, rank_pattern(extract_bits(moved, self.board.full_mask ^ row_mask))

    def masks_at(self, subspace: Subspace, row: int, column: int, row_masks: np.ndarray) -> tuple[int, int]:
        """Masks of the side to move and the other side at a slot, the inverse of `slot_of` up to symmetry."""
        x = int(row_masks[row])
        _, column_stones = subspace.table_sides
        y = deposit_bits(unrank_pattern(column, column_stones), self.board.full_mask ^ x)
        return (x, y) if subspace.rows_are_own else (y, x)

    # ---------------------------------------------------------------- arrays of positions

    def slots_of(
        self, subspace: Subspace, own: np.ndarray, opponent: np.ndarray, row_masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns, int64[n], of positions of one subspace given by uint32[n] masks of both sides."""
        rows, columns = np.empty(len(own), np.int64), np.empty(len(own), np.int64)
        x, y = (own, opponent) if subspace.rows_are_own else (opponent, own)
        for start in range(0, len(own), BLOCK):
            part = slice(start, start + BLOCK)
            masks, symmetries = self._canonical_array(x[part])
            rows[part] = row_masks.searchsorted(masks)
            if (row_masks.take(rows[part], mode="clip") != masks).any():
                raise TableError(f"the row masks in the file of {subspace.name} are not those of its board")
            columns[part] = self._rank_array(self._image_array(symmetries, y[part]), masks)
        return rows, columns

    def _canonical_array(self, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`canonical` for uint32[n]: the smallest images, and the numbers of the first symmetries to reach them."""
        low, middle, high = masks & 255, masks >> 8 & 255, masks >> 16
        best, chosen = masks.copy(), np.zeros(len(masks), np.intp)
        for g, (lows, middles, highs) in enumerate(self._images):
            image = lows[low] | middles[middle] | highs[high]
            smaller = image < best
            chosen[smaller] = g
            np.minimum(best, image, out=best)
        return best, chosen

    def _image_array(self, symmetries: np.ndarray, masks: np.ndarray) -> np.ndarray:
        lows, middles, highs = self._images.transpose(1, 0, 2)
        return lows[symmetries, masks & 255] | middles[symmetries, masks >> 8 & 255] | highs[symmetries, masks >> 16]

    def _rank_array(self, masks: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Colex ranks of masks among the points that are not taken, without packing them first."""
        ranks, at = np.zeros(len(masks), np.int64), np.zeros(len(masks), np.int64)
        for p in range(self.board.n_points):
            stone = (masks >> p & 1).astype(np.int64)
            at += stone
            ranks += self._ranks[at] * stone
            at += (taken >> p & 1 ^ 1) * np.int64(self._stride)
        return ranks


def grouped(keys: np.ndarray):
    """Groups equal keys: yields each key with the indices at which it stands.

    >>> [(int(key), at.tolist()) for key, at in grouped(np.array([7, 3, 7]))]
    [(3, [1]), (7, [0, 2])]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(keys) else []
    for start, end in zip(starts, [*starts[1:], len(keys)]):
        yield ordered[start], order[start:end]
