"""Tables on disk: writing and reading whole ones, with the compression and the checksums that belong to it.

A file just written is read from the system's page cache; what a disk adds is not measured.
"""

import tempfile
from pathlib import Path

import numpy as np

from solver.jit import Workers
from solver.store import TableStore, table_path
from solver.subspace import solved_together
from solver.tablefile import write_tables

from .measuring import BenchmarkError, Measurement, Setting, timed


def measure(setting: Setting):
    store = TableStore(setting.data, setting.variant)
    try:
        for pair in setting.pairs:
            for jobs in setting.workers:
                workers = Workers(jobs)
                try:
                    yield from _measure_pair(setting, store, workers, pair)
                finally:
                    workers.close()
    finally:
        store.close()


def _measure_pair(setting: Setting, store: TableStore, workers: Workers, pair):
    variant = setting.variant
    stored = {s: store.table(s) for s in solved_together(variant, pair)}
    values = {s: table.read(workers.pool) for s, table in stored.items()}
    tallies = {s: (table.histogram(), table.histogram(raw=True)) for s, table in stored.items()}
    masks = next(iter(stored.values())).file.row_masks
    case = f"{variant.name} {pair.name}"
    amounts = {"positions": sum(t.positions for t in stored.values()), "bytes": sum(v.nbytes for v in values.values())}
    with tempfile.TemporaryDirectory(prefix="morris-bench-") as folder:
        path = table_path(Path(folder), variant, pair)
        seconds = timed(setting, lambda: write_tables(path, variant, masks, values, tallies, workers.pool))
        copies = TableStore(Path(folder), variant, with_shipped=False)
        try:
            tables = [copies.table(s) for s in values]
            amounts["stored_bytes"] = sum(t.stored_bytes for t in tables)
            for subspace, table in zip(values, tables):
                if table.values_sha256 != stored[subspace].values_sha256:
                    raise BenchmarkError(f"{subspace.name}: the table written has another checksum")
            yield Measurement(
                "write",
                case,
                workers.jobs,
                seconds,
                "the checksum of the values",
                amounts,
                {"file_bytes": path.stat().st_size},
            )
            seconds = timed(setting, lambda: [table.read(workers.pool) for table in tables])
            if not all(np.array_equal(t.read(workers.pool), v) for t, v in zip(tables, values.values())):
                raise BenchmarkError(f"{pair.name}: other values were read than written")
            yield Measurement("read", case, workers.jobs, seconds, "the values written", amounts)
        finally:
            copies.close()
