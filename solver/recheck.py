"""Verification of whole files, of any metric.

Values with depths prove themselves (see the head of `verify`), and so do outcomes where every turn leads to a finished
table.  Outcomes alone do not where quiet moves lead back: two positions that call each other won and lost, round a
cycle that never ends, agree with their successors in every slot.  There the depths are found once more, from the stored
tables below; `verify` proves them, slot by slot, with code of its own; and their outcomes are compared with those stored.

What `verify` looks up is loaded here, not by the builder: a fault in the builder's loading, for one where it exchanges
rows and columns, then shows as wrong slots.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from .bits import deposit, extract
from .build import Builder, in_narrowest
from .combinatorics import columns
from .edges import rank_of
from .errors import MorrisError, TableError
from .jit import Workers, kernel
from .metric import outcome_codes
from .planning import is_retrograde
from .subspace import Subspace, solved_together
from .symmetry import image_of, orbits
from .values import DTYPES, LOST, draw_code, top_code
from .variant import Variant
from .verify import Fault, Finding, count_wrong, verify_subspace, verify_table, with_tally


@kernel
def fill_turned(orb, row_masks, cols, stored_cols, values, start, stop, out):
    """For rows [start, stop) from the side that ``values`` has on the columns: the value of each position.

    row_masks, cols: rows and columns of ``out``; stored_cols: the columns of ``values``.
    """
    full = (np.int64(1) << orb.n_points) - 1
    images = np.empty(orb.images.shape[0], np.int64)
    for row in range(start, stop):
        x = np.int64(row_masks[row])
        for g in range(len(images)):
            images[g] = image_of(orb.images, g, x)
        here = out[row * cols.size : (row + 1) * cols.size]
        for c in range(cols.size):
            y = deposit(np.int64(cols.patterns[c]), full ^ x)
            symmetry = np.int64(orb.symmetry_of[y])
            pattern = extract(images[symmetry], full ^ image_of(orb.images, symmetry, y))
            here[c] = values[np.int64(orb.row_of[y]) * stored_cols.size + rank_of(stored_cols, pattern)]


def turned(variant: Variant, subspace: Subspace, values: np.ndarray, workers: Workers) -> np.ndarray:
    """The values of a subspace, flat, with rows from the side that its own index has on the columns."""
    on_rows, on_columns = subspace.sides(not subspace.rows_are_own)
    orb, n = orbits(variant.board), variant.board.n_points
    masks, cols, stored_cols = orb.rows(on_rows), columns(n - on_rows, on_columns), columns(n - on_columns, on_rows)
    out = np.empty(len(masks) * cols.size, values.dtype)
    workers.map_rows(
        lambda a, b: fill_turned(orb, masks, cols, stored_cols, values, a, b, out), len(masks), cols.size
    )  # fmt: skip
    return out


def loader(builder: Builder, as_stored=(), held: Mapping[Subspace, np.ndarray] | None = None):
    """``load(subspace, rows_own, width)`` for `verify`: finished values, flat, with rows from the side asked for.

    as_stored: subspaces whose values count as they are; of others with depths to a mill it is only the outcomes.
    held: values that stand in for stored ones.  `TableError` where a table has more bytes a slot than are asked for.
    """
    variant, store, workers, held = builder.variant, builder.store, builder.workers, held or {}

    def load(subspace: Subspace, rows_own: bool, width: int) -> np.ndarray:
        if subspace.is_over:
            on_rows, on_columns = subspace.sides(rows_own)
            n_columns = columns(variant.board.n_points - on_rows, on_columns).size
            return np.full(len(orbits(variant.board).rows(on_rows)) * n_columns, LOST, DTYPES[width])
        values = held[subspace] if subspace in held else store.table(subspace).read(workers.pool)
        if subspace not in as_stored:
            values = builder.metric.led_to(values)
        if values.itemsize > width:
            raise TableError(
                f"{store.path(subspace)}: {subspace.name} has {values.itemsize} bytes a slot, a table that leads there "
                f"{width}; delete both and build them again"
            )
        values = _in_bytes(values, width)
        return values if rows_own == subspace.rows_are_own else turned(variant, subspace, values, workers)

    return load


def _in_bytes(values: np.ndarray, width: int) -> np.ndarray:
    """The same values in a code of ``width`` bytes, no fewer than they have: losses count from 0, wins from the top."""
    narrow = values.itemsize
    if narrow == width:
        return values
    wide = values.astype(DTYPES[width])
    wide[values == draw_code(narrow)] = draw_code(width)
    wide[values > draw_code(narrow)] += DTYPES[width].type(top_code(width) - top_code(narrow))
    return wide


def verify_file(builder: Builder, file: Subspace) -> Iterator[tuple[Subspace, Finding]]:
    """Verifies the stored tables of a file, one after the other, their tallies included."""
    if not builder.metric.has_depths and is_retrograde(builder.variant, file):
        yield from _verify_outcomes(builder, file)
        return
    together = solved_together(builder.variant, file)
    load = loader(builder, as_stored=together)
    for subspace in together:
        finding = verify_table(builder.variant, subspace, builder.store, load, builder.workers)
        table = builder.store.table(subspace)
        longest_win, longest_loss = table.metric.deepest(table.histogram())
        most = table.metric.max_depth(table.width)
        if finding.is_right and (longest_win > most + 1 or longest_loss > most):
            finding = finding._replace(fault=Fault.TOO_DEEP)
        yield subspace, finding


def _verify_outcomes(builder: Builder, file: Subspace) -> Iterator[tuple[Subspace, Finding]]:
    variant, workers = builder.variant, builder.workers
    solved = in_narrowest(lambda width: builder.solve_depths(file, width))
    load = loader(builder, held=solved)
    for subspace, depths in solved.items():
        finding = verify_subspace(
            variant, subspace, depths, lambda s, rows_own, w=depths.itemsize: load(s, rows_own, w), workers
        )
        if finding.wrong:
            raise MorrisError(
                f"the depths of {subspace.name} found again contradict each other; the machine may be faulty"
            )
    for subspace in solved_together(variant, file):
        table = builder.store.table(subspace)
        values = table.read(workers.pool)
        finding = Finding(len(values), *map(int, count_wrong(values, 0, outcome_codes(solved[subspace]))))
        yield subspace, with_tally(variant, subspace, table, values, finding, workers)
