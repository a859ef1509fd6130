"""Commands that make tables or recompute them: solve, build, verify."""

import functools
import sys
import time

import click
from tqdm import tqdm

from ..errors import InputError, Interrupted, TableError
from ..subspace import Subspace, count_canonical, parse_subspace, solved_together
from . import data_option, jobs_option, metric_options, subspace_option, variant_options


#: Memory for the proof's tables of answers, unless `morris prove --memory` says otherwise.
PROOF_MEMORY = 1 << 30


def parse_bytes(text: str | None) -> int | None:
    """Bytes of a size such as 8G or 900M."""
    if text is None:
        return None
    units = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
    number, unit = (text[:-1], units.get(text[-1:].upper())) if text[-1:].isalpha() else (text, 1)
    try:
        if unit is None or not 0 < float(number) < 2**40:
            raise ValueError
        return int(float(number) * unit)
    except ValueError:
        raise InputError(f"--memory {text}: write a size such as 8G or 900M") from None


def build_options(command):
    """What `solve` and `build` share."""
    for option in (
        click.option(
            "--scheduler", metavar="ADDRESS",
            help="Build on the Dask cluster of this scheduler, e.g. tcp://host:8786; -j and --memory are then each worker's.",
        ),
        click.option("--memory", metavar="SIZE", help="Most memory to build with, e.g. 8G; default: what is free."),
        jobs_option,
        subspace_option,
        click.option("--max-stones", type=click.IntRange(6), help="Only pairs with at most so many stones on board together."),
        click.option(
            "--phase", type=click.Choice(["moving", "placing"]),
            help="moving, the default of a build, or placing: also every position with stones in hand.",
        ),
        metric_options,
        data_option,
        variant_options,
    ):  # fmt: skip
        command = option(command)
    return command


class Bars:
    """Progress of a build: two bars on a terminal, a line per subspace elsewhere.

    seconds: what the build is thought to take, for the time left as long as hardly anything has been done.
    """

    def __init__(self, files, positions: int, seconds: float):
        self.on_terminal = sys.stderr.isatty()
        self.files, self.done_files, self.started = files, 0, time.monotonic()
        self.positions, self.done_positions, self.seconds = positions, 0, seconds
        self.total = self.pair = None
        if self.on_terminal:
            style = {"unit": "pos", "unit_scale": True, "leave": True, "dynamic_ncols": True}
            self.total = tqdm(total=positions, desc="all", position=0, **style)
            self.pair = tqdm(total=1, desc="", position=1, **style)

    def begin(self, subspace: Subspace, positions: int) -> None:
        self.at = positions
        if self.pair is not None:
            self.pair.reset(total=positions)
            self.pair.set_description(subspace.name)

    def share(self, share: float) -> None:
        if self.pair is not None:
            for bar, n in ((self.pair, share * self.at), (self.total, self.done_positions + share * self.at)):
                bar.n = int(n)
                bar.refresh()

    def done(self, subspace: Subspace, positions: int, seconds: float) -> None:
        self.done_files += 1
        self.done_positions += positions
        if self.pair is not None:
            self.share(0)
            return
        share = self.done_positions / max(1, self.positions)
        whole = self.seconds if share < 0.01 else (time.monotonic() - self.started) / share
        click.echo(
            f"{self.done_files}/{len(self.files)} {subspace.name}: {positions:,} positions in {seconds:.1f} s, "
            f"{share:.0%} done, {_clock(whole * (1 - share))} left",
            err=True,
        )

    def close(self) -> None:
        for bar in (self.pair, self.total):
            if bar is not None:
                bar.close()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


def _announce_compiling() -> None:
    from ..jit import CACHE_FOLDER

    if not any(CACHE_FOLDER.rglob("*.nbc")):
        click.echo("compiling the kernels, once (under a minute)", err=True)


def chosen_targets(variant, metric, phase, max_stones, subspace) -> list[Subspace]:
    """What the options ask for, the moving phase by default; `InputError` where they contradict each other."""
    if subspace is not None and (phase or max_stones is not None):
        raise InputError("--subspace asks for one subspace and what it needs; leave out --phase, --all and --max-stones")
    if phase == "placing" and max_stones is not None:
        raise InputError("--max-stones is for the moving phase alone: placing begins with the empty board, which needs every table")
    targets = [parse_subspace(subspace, variant)] if subspace is not None else []
    metric.require(variant, phase == "placing" or bool(targets) and targets[0].is_placing)
    from ..build import all_targets, moving_targets

    return targets or (all_targets(variant) if phase == "placing" else moving_targets(variant, max_stones))


def run_build(variant, data, metric, max_stones, subspace, jobs, memory, phase, scheduler) -> None:
    """Builds what is missing among the targets that the options name."""
    memory = parse_bytes(memory)
    targets = chosen_targets(variant, metric, phase, max_stones, subspace)
    from ..store import require_writable, table_folder

    require_writable(table_folder(data, variant, metric))
    if scheduler is None:
        _announce_compiling()
    from ..build import Builder, plan
    from ..planning import plan_build

    name = metric.folder_name(variant.name)
    builder = Builder(variant, data, jobs, memory, metric)
    try:
        files = plan(variant, builder.store, targets)
        need = builder.check_resources(files) if scheduler is None else plan_build(variant, jobs, files, metric=metric)
        if not files:
            click.echo(f"{name}: all tables asked for are there", err=True)
            return
        workers = f"{jobs} workers" if scheduler is None else f"{jobs} threads on one machine"
        click.echo(
            f"{name}: {len(files)} files, {need.positions:,} positions; about {_clock(need.seconds)} with "
            f"{workers}, {need.memory(1) / 2**30:.1f} GiB of memory ({need.memory(2) / 2**30:.1f} if depths need two bytes), "
            f"{need.disk / 1e9:.2f} GB of disk",
            err=True,
        )
        bars = Bars(files, need.positions, need.seconds)
        started = time.monotonic()
        try:
            if scheduler is None:
                builder.build(files, bars)
            else:
                from ..cluster import build_on_cluster

                say = functools.partial(click.echo, err=True)
                build_on_cluster(variant, data, files, scheduler, bars, jobs, memory, say, metric)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; finished tables are kept, the same command goes on where it stopped") from None
        finally:
            bars.close()
        click.echo(f"built in {_clock(time.monotonic() - started)}", err=True)
    finally:
        builder.close()


@click.command()
@click.option("--estimate", is_flag=True, help="Print what is still needed, by default for the whole game, and build nothing.")
@build_options
def build(estimate, **options) -> None:
    """Build all missing tables, in order.

    Finished tables are kept; an interrupted one is begun again.

    \b
    morris build --max-stones 10
    morris build -V six --phase placing
    morris build -V lasker-nine --phase placing --metric outcome
    morris build --max-stones 10 --no-mill-limit 50
    morris build -V lasker --estimate
    morris build --phase placing --scheduler tcp://host:8786 -j 8 --memory 10G
    """
    if estimate:
        print_estimate(**options)
    else:
        run_build(**options)


def print_estimate(variant, data, metric, max_stones, subspace, jobs, memory, phase, scheduler) -> None:
    """What the options' targets still need, or without any the whole game, for ``jobs`` workers on one machine."""
    if memory is not None or scheduler is not None:
        raise InputError("--estimate builds nothing; leave out --memory and --scheduler")
    if phase is None and max_stones is None and subspace is None and not metric.to_mill:
        phase = "placing"
    targets = chosen_targets(variant, metric, phase, max_stones, subspace)
    from ..build import plan
    from ..planning import plan_build, plan_lines
    from ..store import TableStore

    store = TableStore(data, variant, with_shipped=False, metric=metric)
    missing = set(plan(variant, store, targets))
    files = [file for file in plan(variant, None, targets) if file in missing or store.has(file)]
    for line in plan_lines(plan_build(variant, jobs, files, store, metric=metric)):
        click.echo(line)


@click.command()
@click.option("--all", "everything", is_flag=True, help="The placement phase too, as --phase placing.")
@build_options
@click.pass_context
def solve(context, everything, **options) -> None:
    """Build all missing tables, print what they say, and prove what the empty board is worth.

    The proof takes up to 1 GiB for its answers, or --memory where that is less, and two bits a position at the end of
    the placing.

    \b
    morris solve                       the whole moving phase of nine men's morris
    morris solve -V six --all          the complete game of six men's morris
    morris solve --subspace 5-4        one pair and what it needs
    """
    if everything and options["phase"] == "moving":
        raise InputError("--all is --phase placing; leave out one of --all and --phase moving")
    if everything:
        options["phase"] = "placing"
    run_build(**options)
    from ..position import start
    from .proving import print_proof
    from .reporting import print_verdict

    variant, data, metric = options["variant"], options["data"], options["metric"]
    print_verdict(variant, data, metric)
    if options["subspace"] is None and options["max_stones"] is None and not variant.place_and_slide and not metric.to_mill:
        memory = min(PROOF_MEMORY, parse_bytes(options["memory"]) or PROOF_MEMORY)
        print_proof(variant, data, start(variant), options["jobs"], memory, metric=metric)


@click.command()
@subspace_option
@click.option("--from", "first", metavar="6-5", help="Begin with this subspace, where an earlier run was interrupted.")
@click.option("--phase", type=click.Choice(["moving", "placing", "all"]), default="all", show_default=True)
@jobs_option
@metric_options
@data_option
@variant_options
def verify(variant, data, metric, jobs, subspace, first, phase) -> None:
    """Recompute every slot of the tables from its successors' stored values.

    Where the data folder has no table and one comes with morris, that is verified.

    Exits with 4 and names the first wrong slot if there is one.  Tables of outcomes are solved once more where that
    is needed for a proof.

    \b
    morris verify --subspace 5-4
    morris verify -V twelve --from 8-7
    """
    if subspace and first:
        raise InputError("--subspace and --from exclude each other")
    metric.require(variant, phase == "placing")
    wanted = parse_subspace(subspace or first, variant) if subspace or first else None
    from ..build import Builder, all_targets

    name = metric.folder_name(variant.name)
    builder = Builder(variant, data, jobs, metric=metric, with_shipped=True)
    try:
        wanted_file = solved_together(variant, wanted)[0] if wanted else None
        if subspace:
            files = [wanted_file]
        else:
            files = [s for s in all_targets(variant) if builder.store.has(s)]
            files = [s for s in files if phase == "all" or s.is_placing == (phase == "placing")]
        if first and wanted_file in files:
            files = files[files.index(wanted_file) :]
        elif first:
            raise InputError(f"--from {first}: its table is not among those to be verified")
        if not files:
            command = builder.store.build_command(phase=phase)
            raise InputError(f"there are no tables of {name} in {data}; '{command}' makes them")
        _verify_files(builder, name, files)
    finally:
        builder.close()


def _verify_files(builder, name: str, files) -> None:
    """Verifies file by file, telling how far it is; a `TableError` says what is wrong, with the first wrong slot."""
    from ..recheck import verify_file

    variant, slots, started = builder.variant, 0, time.monotonic()
    positions = {s: count_canonical(variant, s) for file in files for s in solved_together(variant, file)}
    with tqdm(total=sum(positions.values()), unit="pos", unit_scale=True, disable=not sys.stderr.isatty()) as bar:
        try:
            for file in files:
                bar.set_description(file.name)
                for s, finding in verify_file(builder, file):
                    slots += finding.slots
                    if not finding.is_right:
                        complaint = _what_is_wrong(variant, builder.store.table(s), finding)
                        raise TableError(f"{builder.store.path(s)}: {complaint}")
                    bar.update(positions[s])
                    if bar.disable:
                        click.echo(f"{s.name}: {finding.slots:,} slots right", err=True)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the same command with --from {file.name} goes on where it stopped") from None
    click.echo(f"{name}: {slots:,} slots in {len(positions)} tables verified in {_clock(time.monotonic() - started)}")


def _what_is_wrong(variant, table, finding) -> str:
    """One sentence on a finding that is not right."""
    from ..indexing import Indexer
    from ..verify import Fault

    s = table.subspace
    if finding.fault is Fault.TALLY:
        return f"all {finding.slots:,} slots of {s.name} are right, but their tally is not; delete it and build it again"
    if finding.fault is Fault.TOO_DEEP:
        return (
            f"all {finding.slots:,} slots of {s.name} are right, but the depths leave no room in {8 * table.width} bits "
            "for those of the positions that lead there; delete it and build it again"
        )
    row, column = divmod(finding.first, table.n_columns)
    own, opponent = Indexer(variant.board).masks_at(s, row, column, table.file.row_masks)
    return (
        f"{finding.wrong:,} of {finding.slots:,} slots of {s.name} are wrong; the first is slot {finding.first}, "
        f"own stones {_points(variant, own)}, opponent {_points(variant, opponent)}"
    )


def _points(variant, mask: int) -> str:
    return " ".join(p for i, p in enumerate(variant.board.points) if mask >> i & 1)
