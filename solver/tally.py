"""Counting a table: how often each value occurs, over orbits and over raw positions.

A row whose mask is kept by s > 1 symmetries holds some positions more than once.  An orbit is counted at the one of
its slots whose column mask is smallest under those s symmetries; each slot stands for symmetries / s raw positions.
"""

import numpy as np

from .bits import deposit
from .combinatorics import columns
from .jit import Workers, kernel
from .subspace import Subspace
from .symmetry import image_of, orbits
from .variant import Variant


@kernel
def fill_histograms(orb, masks, stabilisers, cols, values, start, stop, orbit_counts, raw_counts):
    """Adds the slots of rows [start, stop) to both histograms (int64, by value code)."""
    full = (np.int64(1) << orb.n_points) - 1
    n_symmetries = orb.images.shape[0]
    size = cols.size
    keeping = np.empty(n_symmetries, np.int64)
    # Rows that only the identity keeps, in two halves: neighbours are often equal, and a counter waits for itself.
    upper = np.zeros_like(orbit_counts)
    lower = np.zeros_like(orbit_counts)
    for row in range(start, stop):
        kept = np.int64(stabilisers[row])
        begin = row * size
        if kept == 1:
            half = size // 2
            for c in range(half):
                upper[values[begin + c]] += 1
                lower[values[begin + half + c]] += 1
            if size % 2:
                upper[values[begin + size - 1]] += 1
            continue
        x = np.int64(masks[row])
        n_keeping = 0
        for g in range(1, n_symmetries):
            keeping[n_keeping] = g
            n_keeping += image_of(orb.images, g, x) == x
        for c in range(size):
            value = values[begin + c]
            raw_counts[value] += n_symmetries // kept
            y = deposit(np.int64(cols.patterns[c]), full ^ x)
            smallest = True
            for i in range(n_keeping):
                smallest &= image_of(orb.images, keeping[i], y) >= y
            orbit_counts[value] += smallest
    for value in range(len(orbit_counts)):
        orbit_counts[value] += upper[value] + lower[value]
        raw_counts[value] += (upper[value] + lower[value]) * n_symmetries


def histograms(variant: Variant, subspace: Subspace, values: np.ndarray, workers: Workers) -> tuple[np.ndarray, np.ndarray]:
    """How many orbits and how many raw positions have each value code: two int64 arrays of length 256 or 65536."""
    orb = orbits(variant.board)
    row_stones, column_stones = subspace.table_sides
    masks, stabilisers = orb.rows(row_stones), orb.stabilisers(row_stones)
    cols = columns(variant.board.n_points - row_stones, column_stones)
    length = 1 << (8 * values.itemsize)

    def count(start, stop):
        by_orbit, raw = np.zeros(length, np.int64), np.zeros(length, np.int64)
        fill_histograms(orb, masks, stabilisers, cols, values, start, stop, by_orbit, raw)
        return by_orbit, raw

    parts = workers.map_rows(count, len(masks), cols.size)
    return sum(p[0] for p in parts), sum(p[1] for p in parts)
