"""The proof: what the empty board is worth, searched from moving-phase tables alone, loading included."""

import time

from solver.jit import Workers
from solver.position import start
from solver.search import Prover
from solver.store import TableStore

from .answers import published_outcome
from .measuring import BenchmarkError, Measurement, Setting

#: Memory for the answers of both questions.
TABLE_BYTES = 1 << 30


def measure(setting: Setting):
    for variant in setting.proofs:
        expected = published_outcome(variant)
        if expected is None:
            raise BenchmarkError(f"nobody has published what the empty board of {variant.name} is worth")
        for jobs in setting.workers:
            yield _measure_one(setting, variant, jobs, expected)


def _measure_one(setting: Setting, variant, jobs: int, expected: str) -> Measurement:
    seconds, counts = [], set()
    for _ in setting.runs():
        started = time.perf_counter()
        store, workers = TableStore(setting.data, variant), Workers(jobs)
        try:
            prover = Prover(variant, store, workers, min(TABLE_BYTES, setting.memory))
            proof = prover.prove(start(variant))
        finally:
            workers.close()
            store.close()
        seconds.append(time.perf_counter() - started)
        if proof.white_outcome.value != expected:
            raise BenchmarkError(f"{variant.name}: the proof says {proof.white_outcome}, published is {expected}")
        counts.add(tuple(question.counts for question in prover.questions))
    searched, probes, hits = ([question.counts[i] for question in prover.questions] for i in range(3))
    notes = {
        "white_searched": searched[0], "black_searched": searched[1], "table_probes": sum(probes),
        "white_hits": hits[0], "black_hits": hits[1],
        "load_s": prover.leaf_store.seconds, "question_s": [round(q.seconds, 3) for q in prover.questions],
        "subspaces": len(prover.leaf_store.subspaces), "same_counts_in_all_runs": len(counts) == 1,
    }  # fmt: skip
    amounts = {"searched": sum(searched)}
    return Measurement("proof", variant.name, jobs, seconds, f"published: {expected}", amounts, notes)
