"""Results on disk and side by side: JSON lines, one for the machine of a run and one for each measurement.

Appended as they come, so that an interrupted run keeps what it has.  ``README.md`` in the results folder describes the
fields.  Nothing here needs the solver.
"""

import json
import statistics
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "results"


def default_path() -> Path:
    """Today's file."""
    return FOLDER / time.strftime("%Y-%m-%d.jsonl", time.gmtime())


class ResultsFile:
    """Appends the records of one run."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def add(self, kind: str, record: dict) -> dict:
        record = {"kind": kind, "run": self.run, **record}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        return record


def measurement_record(measurement) -> dict:
    """A `Measurement` as plain data, with its rates."""
    return {
        "benchmark": measurement.benchmark, "case": measurement.case, "workers": measurement.workers,
        "n": len(measurement.seconds), "min": measurement.best, "median": measurement.median,
        "seconds": measurement.seconds, "checked": measurement.checked, "amounts": measurement.amounts,
        "rates": measurement.rates(), "notes": measurement.notes,
    }  # fmt: skip


def read_records(path: Path) -> list[dict]:
    """All records of a file; a `ValueError` names the first line that is none."""
    records = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            kind = record["kind"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}: line {number} is no benchmark record") from None
        if kind == "measurement" and not {"benchmark", "case", "workers", "seconds"} <= record.keys():
            raise ValueError(f"{path}: line {number} lacks a field of a measurement")
        records.append(record)
    return records


def latest(records: list[dict]) -> dict[tuple, dict]:
    """The last measurement of every benchmark, case and number of workers."""
    return {(r["benchmark"], r["case"], r["workers"]): r for r in records if r["kind"] == "measurement"}


def as_table(rows: list[list[str]]) -> str:
    """Rows of text in columns; the first row is the heading, the first column stands on the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def ratios(new: list[dict], old: list[dict]) -> list[tuple[tuple, float, float, float, float]]:
    """For what both have: key, quickest seconds old and new, and the ratios new / old of quickest and median run."""
    news, olds = latest(new), latest(old)
    found = []
    for key in news:
        if key in olds:
            a, b = olds[key]["seconds"], news[key]["seconds"]
            found.append((key, min(a), min(b), min(b) / min(a), statistics.median(b) / statistics.median(a)))
    return found


def ratio_table(new: list[dict], old: list[dict]) -> str:
    """Two results as ratios of time: below 1 the new one is quicker.  A `ValueError` where they share nothing."""
    found = ratios(new, old)
    if not found:
        raise ValueError("the two results have no benchmark in common")
    rows = [["benchmark", "workers", "old s", "new s", "ratio", "of medians"]]
    for (benchmark, case, workers), a, b, quickest, median in found:
        rows.append([f"{benchmark} {case}", str(workers), f"{a:.4g}", f"{b:.4g}", f"{quickest:.3f}", f"{median:.3f}"])
    geometric = statistics.geometric_mean(f[3] for f in found)
    rows.append([f"geometric mean of {len(found)}", "", "", "", f"{geometric:.3f}", ""])
    note = _differences(new, old)
    return as_table(rows) + (f"\nnot the same in both: {note}" if note else "")


def _differences(new: list[dict], old: list[dict]) -> str:
    """What the last machine records differ in, what changes with every run left out."""
    machines = [next((r for r in reversed(records) if r["kind"] == "machine"), {}) for records in (old, new)]
    ignored = {"run", "kind", "load", "source", "commit", "compile_s", "compiled"}
    names = [k for k in machines[1] if k not in ignored and k in machines[0] and machines[0][k] != machines[1][k]]
    return ", ".join(f"{k} ({machines[0][k]} then, {machines[1][k]} now)" for k in names)


def speed_ups(records: list[dict]) -> str:
    """How much quicker two and more workers were than one; empty where nothing ran with both."""
    found, rows = latest(records), [["benchmark", "workers", "1 worker s", "s", "times as fast"]]
    for (benchmark, case, workers), record in found.items():
        one = found.get((benchmark, case, 1))
        if workers > 1 and one:
            a, b = min(one["seconds"]), min(record["seconds"])
            rows.append([f"{benchmark} {case}", str(workers), f"{a:.4g}", f"{b:.4g}", f"{a / b:.2f}"])
    return as_table(rows) if len(rows) > 1 else ""
