"""Orbits of masks under the board's symmetry group: the rows of the index.

A mask is canonical when it is the smallest of its images.  The canonical masks with m stones, in
ascending order, are the rows of every table whose row side has m stones on board.  ``Orbits`` holds
for each of the 2^points masks the row it belongs to and the first symmetry that makes it canonical.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .board import Board
from .indexing import image_tables
from .jit import inlined, kernel


class Orbits(NamedTuple):
    """Orbit tables of one board, as kernels take them.

    images: uint32[symmetries, 3, 256], image of a mask by its bytes; inverse: int64[symmetries];
    row_of: uint32[2^points], number among the canonical masks with as many stones; symmetry_of:
    uint8[2^points]; masks: uint32[...], all canonical masks by number of stones, those with m stones at
    masks[first[m]:first[m + 1]]; stabiliser: uint8, as masks, how many symmetries keep each.
    """

    n_points: int
    images: np.ndarray
    inverse: np.ndarray
    row_of: np.ndarray
    symmetry_of: np.ndarray
    masks: np.ndarray
    first: np.ndarray
    stabiliser: np.ndarray

    def rows(self, stones: int) -> np.ndarray:
        """Canonical masks with that many stones, ascending."""
        return self.masks[self.first[stones] : self.first[stones + 1]]

    def stabilisers(self, stones: int) -> np.ndarray:
        """For each of these rows, the number of symmetries that leave its mask unchanged."""
        return self.stabiliser[self.first[stones] : self.first[stones + 1]]


@inlined
def image_of(images, symmetry, mask):
    """Image of a mask (int64) under a symmetry, from the byte tables ``images``."""
    return np.int64(
        images[symmetry, 0, mask & 255]
        | images[symmetry, 1, (mask >> 8) & 255]
        | images[symmetry, 2, (mask >> 16) & 255]
    )


@kernel
def fill_canonical(images, start, stop, is_canonical, symmetry_of, stabiliser):
    """For masks in [start, stop): is it canonical, which symmetry first makes it so, how many keep it."""
    for mask in range(start, stop):
        best, chosen, kept = mask, 0, 0
        for g in range(images.shape[0]):
            image = image_of(images, g, mask)
            if image < best:
                best, chosen = image, g
            kept += image == mask
        is_canonical[mask] = best == mask
        symmetry_of[mask] = chosen
        stabiliser[mask] = kept


@kernel
def fill_rows(images, start, stop, symmetry_of, row_of):
    """Completes ``row_of`` of the masks in [start, stop), those of canonical masks being there already."""
    for mask in range(start, stop):
        g = symmetry_of[mask]
        if g != 0:
            row_of[mask] = row_of[image_of(images, g, mask)]


@lru_cache(maxsize=2)
def orbits(board: Board) -> Orbits:
    """The orbit tables of a board (80 MB for 24 points, about a second to make)."""
    n = board.n_points
    images = image_tables(board)
    is_canonical = np.zeros(1 << n, np.bool_)
    symmetry_of = np.zeros(1 << n, np.uint8)
    stabiliser = np.zeros(1 << n, np.uint8)
    fill_canonical(images, 0, 1 << n, is_canonical, symmetry_of, stabiliser)
    canonical = np.flatnonzero(is_canonical).astype(np.uint32)
    stones = np.bitwise_count(canonical)
    order = np.argsort(stones, kind="stable")
    masks = canonical[order]
    first = np.searchsorted(stones[order], np.arange(n + 2))
    row_of = np.zeros(1 << n, np.uint32)
    row_of[masks] = np.arange(len(masks)) - first[stones[order]]
    fill_rows(images, 0, 1 << n, symmetry_of, row_of)
    return Orbits(
        n, images, np.array(board.inverse_of, np.int64), row_of, symmetry_of, masks,
        first.astype(np.int64), stabiliser[masks],
    )
