"""Verification: every slot recomputed from its successors' stored values.  Loading is timed apart and taken out."""

import time

from solver.reindex import exchanged
from solver.subspace import count_canonical, solved_together
from solver.verify import verify_subspace

from .counting import count_edges
from .loading import Loader
from .measuring import BenchmarkError, Measurement, Setting


def measure(setting: Setting):
    for pair in setting.pairs:
        for jobs in setting.workers:
            with Loader(setting.variant, setting.data, jobs) as loader:
                yield _measure_pair(setting, loader, pair)


def _measure_pair(setting: Setting, loader: Loader, pair) -> Measurement:
    subspaces = solved_together(setting.variant, pair)
    tables = {s: loader.store.table(s).read(loader.workers.pool) for s in subspaces}
    seconds, child_bytes = [], 0
    for _ in setting.runs():
        loader.reset()
        started = time.perf_counter()
        for subspace, values in tables.items():
            finding = verify_subspace(
                setting.variant,
                subspace,
                values,
                lambda s, own, w=values.itemsize: loader.load(s, own, w),
                loader.workers,
            )
            if finding.wrong or finding.slots != values.size:
                raise BenchmarkError(f"{subspace.name}: {finding.wrong:,} of {finding.slots:,} slots are wrong")
        seconds.append(time.perf_counter() - started - loader.seconds)
        child_bytes = loader.bytes
    # A pair of twins has both sides in its two tables; a subspace that is its own twin has one, with half the turns.
    edges = count_edges(setting.variant, pair, *_both_sides(setting, loader, tables, pair), loader.workers)
    turns = (edges.quiet + edges.closing) * len(subspaces) // 2
    amounts = {
        "positions": sum(count_canonical(setting.variant, s) for s in subspaces),
        "slots": sum(v.size for v in tables.values()),
        "edges": turns,
        "must_move": child_bytes + sum(v.nbytes for v in tables.values()),
        "accesses": turns,
    }
    case = f"{setting.variant.name} {pair.name}"
    return Measurement("verify", case, loader.workers.jobs, seconds, "no slot found wrong", amounts)


def _both_sides(setting: Setting, loader: Loader, tables: dict, pair):
    """Values with the row side to move and with the column side to move, in one index."""
    if pair == pair.twin:
        return tables[pair], exchanged(setting.variant, pair.own, pair.own, tables[pair], loader.workers)
    return tables[pair], tables[pair.twin]
