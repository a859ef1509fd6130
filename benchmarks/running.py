"""A run of the benchmarks from beginning to end: choose cases, make kernels ready, measure, keep, summarise.

Each measurement is printed and appended to the results as it comes.  A benchmark that gives a wrong answer is named
at the end, the others still run.
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from solver.errors import InputError, MorrisError
from solver.jit import CACHE_FOLDER
from solver.store import SHIPPED_TABLES, TableStore
from solver.subspace import Subspace, moving_pairs, parse_subspace, solved_together
from solver.values import DTYPES
from solver.variant import Variant, get_variant

from . import bench_index, bench_memory, bench_pass, bench_placing, bench_proof, bench_query, bench_store, bench_verify
from .bounds import bound_table
from .loading import Loader, needed_files, provide
from .measuring import OTHER_RATES, RATED, BenchmarkError, Measurement, Neighbours, Setting, machine
from .results import ResultsFile, measurement_record, speed_ups

#: All benchmarks, in the order in which they run; the machine's own limits first, for the bound.
BENCHMARKS = {
    "memory": bench_memory, "index": bench_index, "pass": bench_pass, "placing": bench_placing,
    "store": bench_store, "verify": bench_verify, "query": bench_query, "proof": bench_proof,
}  # fmt: skip
#: Cases that a small machine solves in a minute or two, and those that take memory and an hour.
PAIRS = ("4-4", "5-4", "5-5", "6-5", "7-4")
LARGE_PAIRS = ("6-6", "7-5", "7-6", "7-7", "8-7", "8-8")
PLACING = ("4-4+1-0", "5-4+1-0", "5-5+1-0")
LARGE_PLACING = ("6-6+1-0", "7-7+1-0", "8-8+1-0")
#: What the warm-up works on.
TINY_PAIRS, TINY_PLACING, TINY_PROOF = ("3-3", "4-3", "4-4"), ("3-3+1-0",), "four"
#: The share of the cores that others may take without spoiling the times.
NEGLIGIBLE = 0.05
#: Cached kernels have this suffix.
COMPILED = "*.nbc"


def choose_cases(variant: Variant, pairs: str | None, full: bool) -> tuple[list[Subspace], list[Subspace]]:
    """Pairs and placement subspaces to measure, as far as the variant has them.

    pairs: names with commas between them, or "all"; None for the usual ones.
    """
    if pairs == "all":
        chosen = moving_pairs(variant)
    elif pairs is not None:
        chosen = [_pair(name, variant) for name in pairs.split(",")]
    else:
        chosen = _those_there(variant, PAIRS + (LARGE_PAIRS if full else ()))
    if variant.place_and_slide:
        return chosen, []
    return chosen, _those_there(variant, PLACING + (LARGE_PLACING if full else ()))


def _pair(name: str, variant: Variant) -> Subspace:
    subspace = parse_subspace(name, variant)
    if subspace.is_placing:
        raise InputError(f"--pairs {name}: write pairs of the moving phase, such as 5-4")
    return solved_together(variant, subspace)[0]


def _those_there(variant: Variant, names) -> list[Subspace]:
    found = []
    for name in names:
        try:
            found.append(parse_subspace(name, variant))
        except InputError:
            continue
    return found


def proofs_possible(variant: Variant, data: Path) -> list[Variant]:
    """Six, whose tables come with morris, and the variant itself where all its moving tables are there."""
    store = TableStore(data, variant)
    try:
        complete = all(store.has(pair) for pair in moving_pairs(variant))
    finally:
        store.close()
    chosen = [get_variant("six")] if (SHIPPED_TABLES / "six").exists() else []
    if complete and not variant.place_and_slide and variant not in chosen:
        chosen.append(variant)
    return chosen


def make_ready(setting: Setting, names: list[str]) -> dict:
    """Runs the benchmarks once on next to nothing, so that every kernel is compiled; says what that took."""
    before, started = len(list(CACHE_FOLDER.rglob(COMPILED))), time.perf_counter()
    tiny = replace(
        setting, pairs=_those_there(setting.variant, TINY_PAIRS),
        placing=_those_there(setting.variant, TINY_PLACING if setting.placing else ()),
        proofs=[get_variant(TINY_PROOF)] if setting.proofs else [],
        repeat=1, batch=2_000, memory=1 << 22, workers=setting.workers[:1],
    )  # fmt: skip
    for name in names:
        for _ in BENCHMARKS[name].measure(tiny):
            pass
    if {"pass", "placing"} & set(names):  # depths may need two bytes a slot, which are kernels of their own
        with Loader(tiny.variant, tiny.data, *tiny.workers) as loader:
            for file in [*tiny.pairs, *tiny.placing]:
                loader.solve(file, max(DTYPES))
    compiled = len(list(CACHE_FOLDER.rglob(COMPILED))) - before
    return {"compile_s": round(time.perf_counter() - started, 2), "compiled": compiled}


def measured_line(measurement: Measurement) -> str:
    """One measurement as a person reads it."""
    m, rates = measurement, measurement.rates()
    words = [
        f"{rates[f'ns_per_{one}']:,.4g} ns/{one} ({rates[f'{several}_per_s'] / 1e6:,.4g} M/s)"
        for several, one in RATED.items()
        if f"ns_per_{one}" in rates
    ]
    words += [f"{rates[name]:,.4g} {word}" for name, word in OTHER_RATES.items() if name in rates]
    words += [f"{name.removesuffix('_us')} {value:g} us" for name, value in m.notes.items() if name.endswith("_us")]
    who = f"{m.benchmark} {m.case}"
    runs = f"min {m.best:9.4g} s  median {m.median:9.4g} s of {len(m.seconds)}"
    return f"{who:32} {m.workers} worker{' ' if m.workers == 1 else 's'}  {runs}  {', '.join(words)}  [{m.checked}]"


def run(setting: Setting, names: list[str], out: Path, show=print) -> list[dict]:
    """Runs the named benchmarks; returns the records, which ``out`` holds too.

    ``setting.data`` need not have the tables: what is missing is built in a folder of its own.  Raises `BenchmarkError`
    at the end where an answer was wrong.
    """
    with tempfile.TemporaryDirectory(prefix="morris-bench-") as spare:
        tiny = [
            *_those_there(setting.variant, TINY_PAIRS),
            *_those_there(setting.variant, TINY_PLACING if setting.placing else ()),
        ]
        # A pass needs what it leads to, the benchmarks of whole tables the pairs themselves.
        pairs = [s for s in [*setting.pairs, *tiny] if not s.is_placing]
        placing = [s for s in [*setting.placing, *tiny] if s.is_placing]
        files = sorted({*needed_files(setting.variant, pairs, True), *needed_files(setting.variant, placing, False)})
        data, seconds = provide(setting.variant, files, setting.data, Path(spare), max(setting.workers))
        if seconds:
            show(f"built the tables needed for the occasion in {seconds:.1f} s (not in {setting.data})")
        return _run(replace(setting, data=data, independent=not seconds), names, ResultsFile(out), show)


def _run(setting: Setting, names: list[str], file: ResultsFile, show) -> list[dict]:
    facts = machine()
    facts |= make_ready(setting, names)
    records = [file.add("machine", {"variant": setting.variant.name, "workers": setting.workers, **facts})]
    for name, value in facts.items():
        show(f"{name:14} {value}")
    neighbours, failures = Neighbours(), []
    for name in names:
        before = len(list(CACHE_FOLDER.rglob(COMPILED)))
        try:
            for measurement in BENCHMARKS[name].measure(setting):
                records.append(file.add("measurement", measurement_record(measurement)))
                show(measured_line(measurement))
        except MorrisError as error:
            failures.append(f"{name}: {error}")
            show(f"{name}: FAILED: {error}")
        if late := len(list(CACHE_FOLDER.rglob(COMPILED))) - before:
            show(f"{name}: {late} kernels were compiled during the measurement; its first run is too slow")
    others = neighbours.cores()
    records.append(file.add("end", {"others": others, "failures": failures}))
    for title, table in (("speed-up", speed_ups(records)), ("lower bound", bound_table(records))):
        if table:
            show(f"\n{title}\n{table}")
    show(f"\nresults in {file.path}")
    if others is not None and others > facts["cores"] * NEGLIGIBLE:
        show(f"something else kept {others:g} of {facts['cores']} cores busy meanwhile: do not trust these times")
    if failures:
        raise BenchmarkError(f"{len(failures)} of {len(names)} benchmarks failed: {'; '.join(failures)}")
    return records

