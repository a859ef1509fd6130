"""benchmarks/schedule.py: what more machines gain, simulated from the time that each file takes on one.

    python benchmarks/schedule.py benchmarks/results/file_seconds_nine.csv
    python benchmarks/schedule.py build.log --plot schedule.png          # what `morris build` printed into 2> build.log
    python benchmarks/schedule.py -V twelve                              # from estimated times, nothing measured

List scheduling: whenever a worker is free it takes, of the tasks whose tables are there, the one with the longest
chain of others behind it.  A worker is a machine like the one on which the times were measured.  Two columns: every
file whole, and with files of the placement phase cut by rows where `solver.cluster` would cut them.

No number of workers can beat the longest chain of files that need each other; it is printed, and drawn as a line.
What the simulation leaves out: reading tables over a network, writing them (which a build on one machine hides behind
the next file), and that Dask places tasks by estimates.
"""

import argparse
import csv
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from solver.build import all_targets, plan
from solver.errors import InputError
from solver.planning import plan_build
from solver.schedule import can_be_cut, choose_cuts, longest_chain, simulate, task_graph
from solver.store import TableStore
from solver.subspace import Subspace, parse_subspace, solved_together
from solver.variant import Variant, get_variant

WORKERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def read_times(path: Path, variant: Variant) -> dict[Subspace, float]:
    """Seconds by file, from a CSV with columns ``file`` and ``seconds``, a JSON object, or lines of `morris build`."""
    text = path.read_text()
    if path.suffix == ".json":
        found = json.loads(text).items()
    elif path.suffix == ".csv":
        found = [(row["file"], row["seconds"]) for row in csv.DictReader(text.splitlines())]
    else:
        found = re.findall(r"^(?:\d+/\d+ )?([\d+-]+): [\d,]+ positions in ([\d.]+) s", text, re.MULTILINE)
    times = {parse_subspace(name, variant): float(seconds) for name, seconds in found}
    if not times:
        raise InputError(f"{path}: no times of files in it")
    wrong = [file.name for file in times if solved_together(variant, file)[0] != file]
    if wrong:
        raise InputError(f"{path}: {wrong[0]} is no file of {variant.name}")
    return times


def clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes}:{seconds:02d}"


def print_table(rows: list[tuple], work: float) -> None:
    print("workers  whole files times faster  busy  cut by rows times faster files cut")
    for n, whole, cut, n_cut in rows:
        print(
            f"{n:7}  {clock(whole):>11} {work / whole:12.2f} {work / whole / n:5.0%}  "
            f"{clock(cut):>11} {work / cut:12.2f} {n_cut:9}"
        )


def draw(path: Path, rows: list[tuple], work: float, chain: float, title: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import ScalarFormatter

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    n = [row[0] for row in rows]
    axes.plot(n, [work / i / 60 for i in n], "--", color="grey", label="all work shared equally")
    axes.axhline(chain / 60, linestyle=":", color="black", label=f"longest chain of whole files, {clock(chain)}")
    axes.plot(n, [row[1] / 60 for row in rows], "o-", label="whole files")
    axes.plot(n, [row[2] / 60 for row in rows], "s-", label="cut by rows")
    axes.set(xscale="log", xlabel="workers", ylabel="minutes", title=title, ylim=(0, work / 60 * 1.05))
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64])
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter("")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110, metadata={"Software": None} if path.suffix == ".png" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="?", type=Path, help="measured seconds by file: CSV, JSON, or the lines of a build")
    parser.add_argument("-V", "--variant", default="nine")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw time against workers (needs matplotlib)")
    options = parser.parse_args()
    variant = get_variant(options.variant)
    order = plan(variant, TableStore(Path("/nonexistent"), variant, with_shipped=False), all_targets(variant))
    if options.times:
        seconds = read_times(options.times, variant)
        source = "measured"
    else:
        seconds = {file: plan_build(variant, 1, [file]).seconds for file in order}
        source = "estimated"
    files = [file for file in order if file in seconds]
    work = sum(seconds[file] for file in files)
    whole = task_graph(variant, files, seconds, {})
    chain = [task.file for task in longest_chain(whole)]
    bound = sum(seconds[file] for file in chain)
    fixed = sum(seconds[file] for file in chain if not can_be_cut(variant, file))
    print(f"{variant.name}: {len(files)} files, {clock(work)} of work on one machine ({source})")
    most = f"whole files are never more than {work / bound:.2f} times faster"
    print(f"longest chain: {clock(bound)} in {len(chain)} files; {most}")
    print("  " + " ".join(f"{file.name} {seconds[file]:.0f}s" for file in chain if seconds[file] >= bound / 100))
    print(f"  of it {clock(fixed)} in files that cannot be cut")
    rows = []
    for n in WORKERS:
        cuts = choose_cuts(variant, files, seconds, n)
        times = [simulate(graph, n) for graph in (whole, task_graph(variant, files, seconds, cuts))]
        assert max(work / n, bound) <= times[0] * (1 + 1e-9) and times[1] <= times[0] <= work * (1 + 1e-9)
        rows.append((n, *times, len(cuts)))
    print_table(rows, work)
    if options.plot:
        draw(options.plot, rows, work, bound, f"{variant.name}: building all tables on several machines ({source} times)")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"schedule: {error}")
