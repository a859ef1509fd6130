"""Subspaces with stones in hand, where every turn leads to a finished table: one gathering, no pass."""

import time

from solver.build import in_narrowest
from solver.subspace import count_canonical

from .answers import check_values
from .loading import Loader
from .measuring import BenchmarkError, Measurement, Setting


def measure(setting: Setting):
    for subspace in setting.placing:
        if setting.variant.place_and_slide:
            raise BenchmarkError(f"{setting.variant.name} slides while placing; its subspaces are solved by the pass")
        for jobs in setting.workers:
            with Loader(setting.variant, setting.data, jobs) as loader:
                yield _measure_one(setting, loader, subspace)


def _measure_one(setting: Setting, loader: Loader, subspace) -> Measurement:
    seconds, loads = [], []
    for _ in setting.runs():
        loader.reset()
        started = time.perf_counter()
        tables = in_narrowest(lambda width: loader.solve(subspace, width))
        seconds.append(time.perf_counter() - started - loader.seconds)
        loads.append(loader.seconds)
        child_bytes = loader.bytes
    values = tables[subspace]
    known = loader.store if setting.independent else None
    checked = check_values(setting.variant, subspace, values, known, loader.load_beside(tables), loader.workers)
    turns = values.size * (setting.variant.board.n_points - subspace.stones_on_board)
    amounts = {
        "positions": count_canonical(setting.variant, subspace), "slots": values.size, "edges": turns,
        "must_move": child_bytes + values.nbytes, "accesses": turns,
    }  # fmt: skip
    case = f"{setting.variant.name} {subspace.name}"
    return Measurement("placing", case, loader.workers.jobs, seconds, checked, amounts, {"load_s": min(loads)})
