"""Finished tables for the benchmarks that need some: from the data folder, or built for the occasion."""

import time
from pathlib import Path

from solver.build import Builder, plan
from solver.conversions import shape_of
from solver.reindex import exchanged
from solver.retrograde import solve_together
from solver.store import TableStore
from solver.subspace import Subspace, dependencies, solved_together
from solver.variant import Variant


def needed_files(variant: Variant, files: list[Subspace], themselves: bool) -> list[Subspace]:
    """What the solution of these files needs, and with ``themselves`` the files too."""
    found = {d for file in files for d in dependencies(variant, file)}
    return sorted(found | {solved_together(variant, f)[0] for f in files} if themselves else found)


def provide(variant: Variant, files: list[Subspace], data: Path, spare: Path, jobs: int) -> tuple[Path, float]:
    """A folder with all these files, and the seconds it took to build them.

    ``data`` where it has them all, or the tables that come with morris; else ``spare``, filled now.
    """
    store = TableStore(data, variant)
    try:
        if all(store.has(file) for file in files):
            return data, 0.0
    finally:
        store.close()
    started = time.perf_counter()
    builder = Builder(variant, spare, jobs)
    try:
        builder.build(plan(variant, builder.store, files))
    finally:
        builder.close()
    return spare, time.perf_counter() - started


class Loader:
    """Loads finished values as a build does, and keeps count of the seconds and bytes that went into it."""

    def __init__(self, variant: Variant, data: Path, jobs: int):
        self._builder = Builder(variant, data, jobs)
        self._builder.store = TableStore(data, variant)
        self.variant, self.store, self.workers = variant, self._builder.store, self._builder.workers
        self.seconds, self.bytes = 0.0, 0

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *exception) -> None:
        self._builder.close()

    def reset(self) -> None:
        self.seconds, self.bytes = 0.0, 0

    def load(self, subspace: Subspace, rows_own: bool, width: int = 1):
        """Values of a subspace, see `Builder.load`."""
        started = time.perf_counter()
        values = self._builder.load(subspace, rows_own, width)
        self.seconds += time.perf_counter() - started
        self.bytes += values.nbytes
        return values

    def solve(self, subspace: Subspace, width: int) -> dict:
        """Values of all that is solved together with a subspace, with so many bytes a slot."""
        return solve_together(
            self.variant, subspace, width, lambda s, rows_own: self.load(s, rows_own, width), self.workers
        )

    def load_beside(self, tables: dict):
        """``load`` for `verify_subspace`: the values just made where those are asked for, all others from `load`."""

        def load(subspace: Subspace, rows_own: bool):
            if subspace not in tables:
                return self.load(subspace, rows_own, next(iter(tables.values())).itemsize)
            values = tables[subspace]
            if rows_own == subspace.rows_are_own:
                return values
            row_stones, column_stones = subspace.table_sides
            return exchanged(self.variant, row_stones, column_stones, values, self.workers)

        return load


def pass_slots(variant: Variant, subspace: Subspace) -> int:
    """Slots with either side to move that a pass over a pair works on."""
    return 2 * shape_of(variant, *sorted(subspace[:2], reverse=True)).size
