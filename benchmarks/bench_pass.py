"""The retrograde pass over one pair: scan (conversions and counts of quiet turns) and propagation.

The pass itself tells when a stage ends, by the share it reports; loading of finished tables is timed apart and taken
out.  Edges are counted exactly, from the finished values (`counting`).
"""

import time

from solver.build import in_narrowest
from solver.reindex import exchanged
from solver.retrograde import solve_together
from solver.subspace import Subspace, count_canonical, solved_together
from solver.tally import histograms

from .answers import check_values
from .counting import count_edges
from .loading import Loader, pass_slots
from .measuring import BenchmarkError, Measurement, Setting

#: Shares of the work after which a stage of `solve_together` is done.
CONVERSIONS_DONE, COUNTS_DONE, ALL_DONE = 0.2, 0.3, 1.0


class StageClock:
    """Called with each share of progress: remembers when, and how long loading had taken till then."""

    def __init__(self, loader: Loader):
        self.loader = loader
        loader.reset()
        self.started = time.perf_counter()
        self.marks: dict[float, float] = {}

    def __call__(self, share: float) -> None:
        self.marks[share] = time.perf_counter() - self.started - self.loader.seconds

    def stages(self) -> tuple[float, float, float]:
        """Seconds of conversions, counts and propagation, without loading."""
        try:
            conversions, counts, all_done = (self.marks[s] for s in (CONVERSIONS_DONE, COUNTS_DONE, ALL_DONE))
        except KeyError as missing:
            raise BenchmarkError(
                f"the pass no longer reports the share {missing}; benchmarks/bench_pass.py must follow"
            ) from None
        return conversions, counts - conversions, all_done - counts


def solve_timed(loader: Loader, pair: Subspace) -> tuple[dict, tuple[float, float, float], float]:
    """Values of both sides, seconds of the three stages, and seconds of loading."""

    def solve(width: int):  # where a build begins again with wider values, only the last attempt is timed
        clock = StageClock(loader)
        tables = solve_together(
            loader.variant, pair, width, lambda s, rows_own: loader.load(s, rows_own, width), loader.workers, clock
        )
        return tables, clock.stages(), loader.seconds

    return in_narrowest(solve)


def measure(setting: Setting):
    for pair in setting.pairs:
        for jobs in setting.workers:
            with Loader(setting.variant, setting.data, jobs) as loader:
                yield from _measure_pair(setting, loader, pair)


def _measure_pair(setting: Setting, loader: Loader, pair: Subspace):
    variant, jobs = setting.variant, loader.workers.jobs
    runs, loads, tallies, tables = [], [], [], {}
    for _ in setting.runs():
        tables.clear()  # a build, too, has no more than one solution in memory
        tables, stages, loading = solve_timed(loader, pair)
        runs.append(stages)
        loads.append(loading)
        child_bytes = loader.bytes
        started = time.perf_counter()
        for subspace, values in tables.items():
            histograms(variant, subspace, values, loader.workers)
        tallies.append(time.perf_counter() - started)
    known = loader.store if setting.independent else None
    checked = {
        check_values(variant, s, v, known, loader.load_beside(tables), loader.workers) for s, v in tables.items()
    }
    answer = "; ".join(sorted(checked))
    row_values = tables[pair]
    column_values = (
        tables[pair.twin] if pair != pair.twin else exchanged(variant, pair.own, pair.own, row_values, loader.workers)
    )
    edges = count_edges(variant, pair, row_values, column_values, loader.workers)
    size, width = row_values.size, row_values.itemsize
    amounts = {
        "positions": sum(count_canonical(variant, s) for s in solved_together(variant, pair)),
        "slots": pass_slots(variant, pair),
    }
    case = f"{variant.name} {pair.name}"

    def stage(name, seconds, **more):
        return Measurement(name, case, jobs, list(seconds), answer, {**amounts, **more})

    written = 2 * size * width
    conversions, counts, propagation = zip(*runs)
    yield stage(
        "conversions", conversions, edges=edges.closing, must_move=child_bytes + written, accesses=edges.closing
    )
    yield stage("counts", counts, edges=edges.quiet, must_move=written + 2 * size)
    scan = [a + b for a, b in zip(conversions, counts)]
    yield stage(
        "scan",
        scan,
        edges=edges.quiet + edges.closing,
        must_move=child_bytes + 2 * written + 2 * size,
        accesses=edges.closing,
    )
    yield stage(
        "propagate", propagation, edges=edges.followed, must_move=2 * (written + 2 * size), accesses=edges.followed
    )
    whole = [sum(stages) for stages in runs]
    yield stage(
        "pass",
        whole,
        edges=edges.followed,
        must_move=child_bytes + 4 * written + 6 * size,
        accesses=edges.closing + edges.followed,
    )
    stored = sum(v.size for v in tables.values())
    yield stage("tally", tallies, must_move=stored * width, accesses=stored)
    yield stage("load", loads, bytes=child_bytes)
