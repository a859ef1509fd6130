"""Tasks: what one machine of a cluster does at a time, a file or some rows of one (see `cluster`).

A task works in a folder of its own beside the tables and moves the finished file into place.  So a task that runs
twice, because its worker was given up and was still alive, does not write into its own file; what a lost worker
leaves behind is never taken for a table; and a task that finds its file in place has nothing to do.  Tasks take no
lock: the process that asked for the build holds it.
"""

import os
import shutil
import socket
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import __version__
from .build import Builder, Progress, available_memory, in_narrowest
from .conversions import conversion_values, table_shape
from .errors import InputError, ResourceError
from .jit import Workers
from .metric import DTW, Metric
from .store import table_path
from .subspace import Subspace, dependencies, parse_subspace
from .symmetry import orbits
from .tablefile import TableFile, write_tables
from .tally import histograms
from .values import deepest, max_depth
from .variant import Variant

#: Seconds until a file that another machine has finished must be seen; network file systems remember absence.
SEEN_AFTER = 90.0


@dataclass(frozen=True)
class Job:
    """What every task of a build is told: the game, the folders, the threads that a task may use, and the metric."""

    variant: Variant
    data: Path
    scratch: Path
    jobs: int
    metric: Metric = DTW
    version: str = __version__

    @property
    def sign(self) -> Path:
        """A file that is there while the build goes on."""
        return self.scratch / "at-work"

    def place(self, file: Subspace) -> Path:
        """Where a finished file belongs."""
        return table_path(self.data, self.variant, file, self.metric)

    def part(self, file: Subspace, rows: tuple[int, int]) -> Path:
        """Where some rows of a table wait to be joined; named as `TableFile` wants it."""
        return self.scratch / file.name / f"{rows[0]}-{rows[1]}" / f"{file.name}.h5"


class Share:
    """Workers that do a share of a table's rows only.

    A call over another number of rows belongs to another table and is done whole: where the row side places, each
    row needs the captures owed in many rows with one stone more.  (See `schedule.can_be_cut`.)
    """

    def __init__(self, workers: Workers, n_rows: int, rows: tuple[int, int]):
        self.workers, self.n_rows = workers, n_rows
        self.first, self.last = rows

    def map_rows(self, function, n_rows: int, row_size: int) -> list:
        if n_rows != self.n_rows:
            return self.workers.map_rows(function, n_rows, row_size)
        return self.workers.map_rows(
            lambda start, stop: function(self.first + start, self.first + stop), self.last - self.first, row_size
        )


class TaskBuilder(Builder):
    """Builds one file in a folder of its own, from the tables of the data folder."""

    def __init__(self, job: Job, file: Subspace, folder: Path, memory: int | None):
        super().__init__(job.variant, folder, job.jobs, memory, job.metric)
        self.store._folders.append(job.data)  # reads what is finished there, writes here
        self.file, self.parts = file, {}  # parts: their numbers of rows by path

    def build_rows(self, rows: tuple[int, int]) -> None:
        """Solves some rows and writes them as a table that has no others."""
        shape = table_shape(self.variant, self.file)
        share = Share(self.workers, shape.n_rows, rows)
        values = self.metric.kept(self._values_of_rows(share))
        tallies = {self.file: histograms(self.variant, self.file, values, share)}
        some = {self.file: values[rows[0] * shape.n_columns : rows[1] * shape.n_columns]}
        masks = orbits(self.variant.board).rows(shape.row_stones)[slice(*rows)]
        write_tables(self.store.path(self.file), self.variant, masks, some, tallies, self.workers.pool, self.metric)

    def _values_of_rows(self, share: Share) -> np.ndarray:
        return in_narrowest(
            lambda width: conversion_values(
                self.variant, self.file, self.file.rows_are_own, width,
                lambda s, rows_own: self.load(s, rows_own, width), share,
            )
        )  # fmt: skip

    def _solve(self, file: Subspace, progress: Progress) -> tuple[dict, dict]:
        """Joins the file's parts where there are any."""
        if not self.parts:
            return super()._solve(file, progress)
        opened = [TableFile(path, self.variant, self.metric, n_rows) for path, n_rows in self.parts.items()]
        try:
            tables = [part.tables[file] for part in opened]
            by_orbit, raw = (sum(table.histogram(raw) for table in tables) for raw in (False, True))
            width = tables[0].width
            if deepest(by_orbit)[1] > max_depth(width):
                return super()._solve(file, progress)  # it needs a wider code: as a whole, then
            values = np.concatenate([table.read(self.workers.pool) for table in tables])
        finally:
            for part in opened:
                part.close()
        return {file: values}, {file: (by_orbit, raw)}


# ---------------------------------------------------------------- the two tasks


def solve_file(job: Job, name: str, cuts: list[tuple[int, int]], *needed: float) -> float:
    """Solves a file, or joins its parts, and moves it among the tables.  Returns the seconds of all its work."""
    started = time.monotonic()
    file = parse_subspace(name, job.variant)
    with _at_work(job, file, job.place(file)) as builder:
        if builder:
            builder.parts = {job.part(file, (first, last)): last - first for first, last in cuts}
            _wait_for(builder.parts)
            builder.build([file])
    shutil.rmtree(job.scratch / file.name, ignore_errors=True)
    return time.monotonic() - started + (sum(needed) if cuts else 0.0)


def solve_rows(job: Job, name: str, rows: tuple[int, int], *needed: float) -> float:
    """Solves the rows [first, last) of a file, for `solve_file` to join.  Returns the seconds it took."""
    started = time.monotonic()
    file = parse_subspace(name, job.variant)
    if not job.place(file).exists():  # else this is a second run and the parts are joined already
        with _at_work(job, file, job.part(file, rows)) as builder:
            if builder:
                builder.build_rows(rows)
    return time.monotonic() - started


@contextmanager
def _at_work(job: Job, file: Subspace, place: Path):
    """Gives a builder whose file goes to its place in the end, or None where it is there already."""
    if job.version != __version__:
        raise InputError(f"{socket.gethostname()} runs morris {__version__}, the build {job.version}; they must be equal")
    _wait_for([job.sign])
    if place.exists():
        yield None
        return
    _wait_for([job.place(needed) for needed in dependencies(job.variant, file)])
    folder = job.scratch / f"{file.name}.{uuid.uuid4().hex}"
    builder = TaskBuilder(job, file, folder, _allowed_memory())
    try:
        builder.check_resources([file])
        yield builder
        if not job.sign.exists():
            raise ResourceError(f"{file.name} is finished too late: the build has ended")
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(builder.store.path(file), place)
    finally:
        builder.close()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(paths: list[Path]) -> None:
    """Returns when all these are seen from this machine."""
    deadline = time.monotonic() + SEEN_AFTER
    for path in paths:
        while not path.exists():
            if time.monotonic() > deadline:
                raise ResourceError(f"{socket.gethostname()} does not see {path}; all machines must share the data folder")
            time.sleep(0.1)


# ---------------------------------------------------------------- what a worker is

#: Name under which a Dask worker states how much memory its tasks may take together.
MEMORY = "morris-memory"


def memory_limit(worker, memory: int | None) -> int:
    """Bytes that the tasks on a Dask worker may take: ``memory``, its own limit, or what its machine has free."""
    limits = [limit for limit in (memory, worker.memory_manager.memory_limit) if limit]
    return min(limits) if limits else available_memory() or 1 << 62


def _allowed_memory() -> int | None:
    from distributed import get_worker

    return get_worker().state.total_resources.get(MEMORY)


def greet(folder: Path, memory: int | None, dask_worker) -> tuple[str, int, bool, str]:
    """What a Dask worker says of itself: machine, memory, whether it sees a folder, version of morris."""
    return socket.gethostname(), memory_limit(dask_worker, memory), Path(folder).exists(), __version__
