"""A table with its rows taken from the other side.

The index of a subspace takes its rows from one side and its columns from the other.  Where a solver needs the
values of a finished subspace the other way round, they are gathered here, slot by slot.
"""

import numpy as np

from .bits import deposit, extract
from .combinatorics import columns
from .edges import rank_of
from .errors import DepthOverflowError
from .jit import Workers, kernel
from .symmetry import image_of, orbits
from .values import DTYPES, widening
from .variant import Variant


@kernel
def gather_exchanged(orb, sources, targets, source_columns, target_columns, values, start, stop, out):
    """For target rows [start, stop): out[slot] = values of the same position in the exchanged index.

    targets: canonical masks of the new row side; sources: those of the new column side, rows of ``values``.
    """
    full = (np.int64(1) << orb.n_points) - 1
    size = target_columns.size
    for row in range(start, stop):
        a = np.int64(targets[row])
        free = full ^ a
        for c in range(size):
            b = deposit(np.int64(target_columns.patterns[c]), free)
            source_row = np.int64(orb.row_of[b])
            moved = image_of(orb.images, np.int64(orb.symmetry_of[b]), a)
            pattern = extract(moved, full ^ np.int64(sources[source_row]))
            out[row * size + c] = values[source_row * source_columns.size + rank_of(source_columns, pattern)]


def exchanged(variant: Variant, row_stones: int, column_stones: int, values: np.ndarray, workers: Workers) -> np.ndarray:
    """The values of a table with ``row_stones`` and ``column_stones``, indexed with rows and columns exchanged."""
    orb, n = orbits(variant.board), variant.board.n_points
    source_columns = columns(n - row_stones, column_stones)
    target_columns = columns(n - column_stones, row_stones)
    sources, targets = orb.rows(row_stones), orb.rows(column_stones)
    out = np.empty(len(targets) * target_columns.size, values.dtype)
    workers.map_rows(
        lambda a, b: gather_exchanged(orb, sources, targets, source_columns, target_columns, values, a, b, out),
        len(targets), target_columns.size,
    )  # fmt: skip
    return out


def widened(values: np.ndarray, width: int) -> np.ndarray:
    """The same values in a code of ``width`` bytes; `DepthOverflowError` where that is narrower than theirs."""
    if values.dtype == DTYPES[width]:
        return values
    if values.itemsize > width:
        raise DepthOverflowError(f"values of {values.itemsize} bytes a slot do not fit {width}")
    return widening(values.itemsize, width)[values]
