"""The lower bound: how long each stage had to take at least on this machine, and how far above it is.

Two things cannot be avoided.  Every byte of the tables read and written passes through memory at least once, at the
bandwidth that a plain copy has with as many workers.  Every edge followed leads to one table entry whose place is known
only when the one before has been worked out: one dependent access in the first cache, shared by the workers.  The bound
is the larger of the two, since both may go on at once.

What it leaves out: working out places (bits and ranks), removals behind a closed mill, rows that leave the cache before
they come again.  And a processor that has several edges in flight may go below the second part; "overlapping counts"
among the memory benchmarks shows how far.
"""

from .results import as_table, latest


def bound(record: dict, found: dict[tuple, dict]) -> tuple[float, float] | None:
    """Seconds for the bytes and for the accesses of a measurement, or None where the machine was not measured."""
    amounts, workers = record["amounts"], record["workers"]
    copy, access = found.get(("memory", "copy", workers)), found.get(("memory", "dependent L1", 1))
    if not copy or not access or not amounts.get("must_move"):
        return None
    per_byte = copy["min"] / copy["amounts"]["bytes"]
    per_access = access["min"] / access["amounts"]["accesses"]
    return amounts["must_move"] * per_byte, amounts.get("accesses", 0) * per_access / workers


def bound_table(records: list[dict]) -> str:
    """Every stage of the records against its bound; empty where none has one."""
    found = latest(records)
    rows = [["stage", "workers", "measured s", "bytes s", "accesses s", "times the bound"]]
    for (benchmark, case, workers), record in found.items():
        least = bound(record, found)
        if least and benchmark != "memory":
            best = min(record["seconds"])
            cells = (f"{x:.4g}" for x in (best, *least))
            rows.append([f"{benchmark} {case}", str(workers), *cells, f"{best / max(least):.1f}"])
    return as_table(rows) if len(rows) > 1 else ""
