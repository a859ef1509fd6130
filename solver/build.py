"""Building tables: what is missing, in which order, within which memory, and how to go on after a stop.

A build walks the files in an order in which every conversion leads to a finished one, solves each and writes it while
the next is being solved.  Moving tables that another variant with the same moving phase has in the data folder are taken
over rather than solved again.  Finished files are kept; an interrupted one leaves nothing behind but a name that the
next build removes.  One build at a time works in a folder; readers are never disturbed.
"""

import fcntl
import math
import os
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .conversions import shape_of
from .errors import DepthOverflowError, MorrisError, ResourceError, TableError
from .jit import Workers
from .metric import DTW, Metric
from .planning import BuildPlan, memory_needed, plan_build
from .reindex import exchanged, widened
from .retrograde import solve_together
from .store import TableStore, require_writable, table_folder
from .subspace import (
    Subspace, count_canonical, dependencies, moving_pairs, placing_subspaces, solved_together,
)  # fmt: skip
from .symmetry import orbits
from .tablefile import write_tables
from .tally import histograms
from .to_mill import solve_to_mill
from .values import DTYPES
from .variant import Variant, relatives
from .wholefile import UNFINISHED


class Progress:
    """What a build reports; the command line draws it, others may ignore it."""

    def begin(self, subspace: Subspace, positions: int) -> None:
        """A file's solution begins; ``positions`` are canonical."""

    def share(self, share: float) -> None:
        """How much of it is done, between 0 and 1."""

    def done(self, subspace: Subspace, positions: int, seconds: float) -> None:
        """It is solved (and being written)."""


def plan(variant: Variant, store: TableStore | None, targets: list[Subspace]) -> list[Subspace]:
    """The files to build, in order, so that all targets are there in the end; each named by its first subspace.

    store: where finished files are, which are left out; None for all files.
    """
    order: list[Subspace] = []
    seen: set[Subspace] = set()

    def visit(file: Subspace) -> None:
        if file in seen or store is not None and store.has(file):
            return
        seen.add(file)
        for needed in dependencies(variant, file):
            visit(needed)
        order.append(file)

    for target in targets:
        visit(solved_together(variant, target)[0])
    return order


def moving_targets(variant: Variant, max_stones: int | None = None) -> list[Subspace]:
    """The pairs of the moving phase, all or those with at most so many stones together."""
    pairs = moving_pairs(variant)
    return [s for s in pairs if max_stones is None or s.stones_on_board <= max_stones]


def all_targets(variant: Variant) -> list[Subspace]:
    """Every file of a game, the moving phase first."""
    return moving_pairs(variant) + placing_subspaces(variant)


@contextmanager
def build_lock(folder: Path):
    """Holds the folder's lock; a second build is refused with the holder's process number.

    The lock goes with its process, so a build that died never leaves one behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise ResourceError(f"another build (process {holder}) is at work in {folder}; wait for it") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def in_narrowest(solve):
    """Result of ``solve(width)`` for the fewest bytes a slot that its depths fit."""
    for width in DTYPES:
        try:
            return solve(width)
        except DepthOverflowError:
            if width == max(DTYPES):
                raise
    raise AssertionError("unreachable")


class Builder:
    """Builds files of one variant and metric in a data folder, one after the other.

    with_shipped: whether tables that come with morris stand in where the folder has none; not for a build.
    """

    def __init__(
        self, variant: Variant, data: Path, jobs: int, memory: int | None = None, metric: Metric = DTW,
        with_shipped: bool = False,
    ):  # fmt: skip
        self.variant, self.data, self.memory, self.metric = variant, Path(data), memory, metric
        self.store = TableStore(data, variant, with_shipped=with_shipped, metric=metric)
        self.workers = Workers(jobs)
        self._writer = ThreadPoolExecutor(1, "morris-writer")
        self._at_hand: dict[Subspace, np.ndarray] = {}
        self._pending: Future | None = None

    def close(self) -> None:
        self.workers.close()
        self._writer.shutdown()
        self.store.close()

    def check_resources(self, files: list[Subspace]) -> BuildPlan:
        """What these missing files will take; `ResourceError` where memory or disk will not do."""
        need = plan_build(self.variant, self.workers.jobs, files, metric=self.metric)
        allowed = self.memory if self.memory is not None else available_memory()
        if files and allowed is not None and need.memory() > allowed:
            raise ResourceError(
                f"{_gib(need.memory())} of memory are needed where {allowed / 2**30:.1f} GiB are allowed or free"
            )
        free = shutil.disk_usage(existing_parent(self.data)).free
        if need.disk > free:
            raise ResourceError(f"{need.disk / 1e9:.1f} GB of disk are needed where {free / 1e9:.1f} GB are free")
        return need

    def build(self, files: list[Subspace], progress: Progress | None = None) -> None:
        """Solves and writes these files, which must come in a workable order (see `plan`)."""
        progress = progress or Progress()
        folder = table_folder(self.data, self.variant, self.metric)
        require_writable(folder)
        with build_lock(folder):
            for leftover in folder.glob("*" + UNFINISHED):
                leftover.unlink()
            try:
                for file in files:
                    if not self.store.has(file):
                        self._build_one(file, progress)
                self._finish_writing()
            except BaseException:
                self.workers.close()  # the writer stops at its next chunk and removes its file
                self._writer.shutdown()
                raise

    def _build_one(self, file: Subspace, progress: Progress) -> None:
        started = time.monotonic()
        together = solved_together(self.variant, file)
        positions = sum(count_canonical(self.variant, s) for s in together)
        progress.begin(file, positions)
        tables = self._taken_over(file)
        if tables is None:
            tables, tallies = self._solve(file, progress)
        else:
            tallies = self._tallies(tables)
        for subspace in together:
            counted = int(tallies[subspace][0].sum())
            if counted != count_canonical(self.variant, subspace):
                raise MorrisError(f"{subspace.name} holds {counted} positions, which is not what Burnside's lemma gives")
        self._finish_writing()
        row_stones, _ = file.table_sides
        masks = orbits(self.variant.board).rows(row_stones)
        ordered = {s: tables[s] for s in together}
        job = self._writer.submit(
            write_tables, self.store.path(file), self.variant, masks, ordered, tallies, self.workers.pool, self.metric
        )
        self._at_hand, self._pending = ordered, job
        progress.done(file, positions, time.monotonic() - started)

    def _taken_over(self, file: Subspace) -> dict | None:
        """Tables that another variant's folder holds and that have the same values under these rules."""
        for relative in relatives(self.variant, file.is_placing):
            if max(file.own + file.own_hand, file.opponent + file.opponent_hand) <= relative.stones:
                store = TableStore(self.data, relative, with_shipped=False, metric=self.metric)
                try:
                    if store.has(file):
                        return {s: store.table(s).read(self.workers.pool) for s in solved_together(self.variant, file)}
                except TableError:  # damaged: that is told where it is asked for, and it can be computed
                    continue
                finally:
                    store.close()
        return None

    def _tallies(self, tables: dict) -> dict:
        return {s: histograms(self.variant, s, t, self.workers) for s, t in tables.items()}

    def _solve(self, file: Subspace, progress: Progress) -> tuple[dict, dict]:
        def solve(width: int):
            self._require_memory(file, width)
            tables = self.solve_depths(file, width, progress.share)
            tables = {s: self.metric.kept(tables.pop(s)) for s in list(tables)}
            tallies = self._tallies(tables)
            for s, (by_orbit, _) in tallies.items():
                most = self.metric.max_depth(tables[s].itemsize)
                if self.metric.deepest(by_orbit)[1] > most:
                    raise DepthOverflowError(f"{file.name} has losses deeper than {most} plies")
            return tables, tallies

        return in_narrowest(solve)

    def solve_depths(self, file: Subspace, width: int, report=None) -> dict[Subspace, np.ndarray]:
        """Values of a file's subspaces with depths, counted to the first table on the way that holds none."""

        def load(subspace, rows_own):
            return self.load(subspace, rows_own, width)

        if self.metric.to_mill:
            return solve_to_mill(self.variant, file, width, load, self.workers, self.metric, report)
        return solve_together(self.variant, file, width, load, self.workers, report)

    def _require_memory(self, file: Subspace, width: int) -> None:
        """Only a pass shows whether depths need more than one byte, so `check_resources` asked for one."""
        if width == min(DTYPES):
            return
        needed = memory_needed(self.variant, file, width, next(iter(self._at_hand), None), self.metric)
        allowed, free = self.memory, available_memory()
        if allowed is None and free is not None:
            allowed = free + held_memory()  # what is needed counts what this process has already
        if allowed is not None and needed > allowed:
            raise ResourceError(
                f"the depths in {file.name} need {width} bytes a slot, and so {_gib(needed)} of memory where "
                f"{allowed / 2**30:.1f} GiB are allowed or free; finished tables are kept"
            )

    def load(self, subspace: Subspace, rows_own: bool, width: int, as_stored: bool = False) -> np.ndarray:
        """Finished values of a subspace, its rows from the side asked for; with depths to a mill only their outcomes,
        which is what a turn that leads there counts, or else ``as_stored``."""
        row_stones, column_stones = subspace.sides(rows_own)
        if subspace.is_over:
            return np.zeros(shape_of(self.variant, row_stones, column_stones).size, DTYPES[width])
        if subspace in self._at_hand:
            values = self._at_hand[subspace]
        else:
            values = self.store.table(subspace).read(self.workers.pool)
        values = values if as_stored else widened(self.metric.led_to(values), width)
        if rows_own != subspace.rows_are_own:
            values = exchanged(self.variant, column_stones, row_stones, values, self.workers)
        return values

    def _finish_writing(self) -> None:
        if self._pending:
            self._pending.result()
            self._at_hand, self._pending = {}, None


def _gib(size: int) -> str:
    """A need, rounded up: so much is enough."""
    return f"{math.ceil(size / 2**30 * 10) / 10} GiB"


def available_memory() -> int | None:
    """Bytes of memory that can be had without swapping, or None where the system does not tell."""
    return _bytes_told("/proc/meminfo", "MemAvailable:")


def held_memory() -> int:
    """Bytes of memory that this process alone has, or 0 where the system does not tell."""
    return _bytes_told("/proc/self/status", "RssAnon:") or 0


def _bytes_told(path: str, name: str) -> int | None:
    """A number of KiB that the kernel tells by name in one of its files, in bytes."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), None)


def existing_parent(path: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    path = Path(path).absolute()
    while not path.exists():
        path = path.parent
    return path
