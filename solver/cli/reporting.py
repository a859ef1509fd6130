"""Commands that report what is there: stats, check, info, variants, compare, doctor."""

import csv
import io
import json
import os
import platform
import sys

import click

from .. import __version__
from ..errors import InputError, MissingTableError, TableError
from ..stats import COLUMNS, finished_subspaces, game_files, start_value, subspace_statistics
from ..store import TableStore
from ..subspace import count_canonical, parse_subspace, solved_together
from ..variant import VARIANTS, get_variant
from . import data_option, jobs_option, metric_options, subspace_option, variant_options


def print_verdict(variant, data, metric) -> None:
    """The table of all finished subspaces, and the value of the empty board where it is known."""
    store = TableStore(data, variant, metric=metric)
    try:
        for phase in COLUMNS:
            subspaces = [s for s in finished_subspaces(store) if s.is_placing == (phase == "placing")]
            if subspaces:
                click.echo(f"{phase} phase")
                click.echo(_as_table([_columns(subspace_statistics(store, s), phase) for s in subspaces]))
        value = start_value(store)
        if value:
            click.echo(f"The empty board of {variant.name} is a {value}.")
    finally:
        store.close()


def _columns(row: dict, phase: str) -> dict:
    return {column: row[column] for column in COLUMNS[phase]}


def _as_table(rows: list[dict]) -> str:
    if not rows:
        return "no tables"
    total = {c: "" for c in rows[0]}
    total_free = ("own", "opponent", "own_hand", "opponent_hand", "subspace")
    summed = [c for c in rows[0] if c not in total_free and not c.startswith("longest")]
    total.update({next(iter(rows[0])): "all"}, **{c: sum(r[c] for r in rows) for c in summed})
    cells = [list(rows[0])] + [[_cell(r[c]) for c in r] for r in [*rows, total]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in cells)


def _cell(value) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("--raw", is_flag=True, help="Count without symmetry.")
@click.option("--phase", type=click.Choice(["moving", "placing"]), default="moving", show_default=True)
@subspace_option
@metric_options
@data_option
@variant_options
def stats(variant, data, metric, form, raw, phase, subspace) -> None:
    """Wins, losses, draws and longest win and loss, by subspace.

    Counts are canonical positions, every arrangement of the stones, also those that play cannot reach.

    \b
    morris stats --format csv
    """
    wanted = parse_subspace(subspace, variant) if subspace else None
    if wanted:
        phase = "placing" if wanted.is_placing else "moving"
    metric.require(variant, phase == "placing")
    store = TableStore(data, variant, metric=metric)
    if wanted:
        subspaces = [wanted] if wanted == wanted.twin or wanted.is_placing else [wanted, wanted.twin]
    else:
        subspaces = [s for s in finished_subspaces(store) if s.is_placing == (phase == "placing")]
        if not subspaces:
            name = metric.folder_name(variant.name)
            command = store.build_command(phase=phase)
            raise MissingTableError("", f"no {phase} tables of {name} in {data}; '{command}' makes them")
    rows = [subspace_statistics(store, s, raw) for s in subspaces]
    store.close()
    rows = [_columns(row, phase) for row in rows]
    if form == "table":
        click.echo(_as_table(rows))
    elif form == "json":
        click.echo(json.dumps(rows))
    else:
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS[phase], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        click.echo(out.getvalue(), nl=False)


@click.command()
@jobs_option
@subspace_option
@metric_options
@data_option
@variant_options
def check(variant, data, metric, subspace, jobs) -> None:
    """Compare the structure and every byte of the table files with their checksums.

    The values of tables with depths are also compared with the checksums that come with morris (data/checksums), for
    the games that have some.

    \b
    morris check
    """
    from concurrent.futures import ThreadPoolExecutor

    from tqdm import tqdm

    from ..checking import check_tables, recorded_checksums
    from ..metric import DTW

    metric.require(variant)
    name, recorded = metric.folder_name(variant.name), recorded_checksums(variant) if metric == DTW else {}
    store = TableStore(data, variant, metric=metric)
    files = [solved_together(variant, parse_subspace(subspace, variant))[0]] if subspace else game_files(store)
    if not files:
        raise InputError(f"there are no tables of {name} in {data}; '{store.build_command()}' makes them")
    damaged = []
    size = on_record = 0
    sizes = {file: path.stat().st_size if (path := store.path(file)).exists() else 0 for file in files}
    bar = tqdm(total=sum(sizes.values()), unit="B", unit_scale=True, disable=not sys.stderr.isatty(), leave=False)
    with ThreadPoolExecutor(jobs) as pool, bar:
        for file in files:
            bar.set_description(file.name)
            try:
                on_record += check_tables(store, file, recorded, pool)
                size += sizes[file]
            except TableError as error:
                damaged.append(str(error))
            bar.update(sizes[file])
    store.close()
    if damaged:
        raise TableError("; ".join(damaged))
    known = f"; the values of {on_record:,} tables are those on record" if on_record else ""
    click.echo(f"{name}: {len(files)} files, {size / 1e6:,.1f} MB, all as they were written{known}")


@click.command()
@metric_options
@data_option
@variant_options
def info(variant, data, metric) -> None:
    """Variant, tables present and missing, sizes, and this machine.

    \b
    morris info -V six
    """
    store = TableStore(data, variant, metric=metric)
    click.echo(f"variant      {variant.name}: {variant.summary}; fingerprint {variant.fingerprint}")
    click.echo(f"metric       {metric}")
    click.echo(f"data folder  {data}")
    from ..subspace import moving_pairs, placing_subspaces

    phases = [("moving", moving_pairs(variant))]
    if not metric.to_mill:
        phases.append(("placing", placing_subspaces(variant)))
    for phase, files in phases:
        there = [f for f in files if store.has(f)]
        missing = [f.name for f in files if not store.has(f)]
        size = sum(store.path(f).stat().st_size for f in there)
        positions = sum(count_canonical(variant, s) for f in there for s in solved_together(variant, f))
        click.echo(f"{phase:12} {len(there)} of {len(files)} files, {size / 1e6:,.1f} MB, {positions:,} positions")
        shipped = sum(map(store.is_shipped, there))
        if shipped:
            click.echo(f"  shipped    {shipped} of these files come with morris")
        if missing:
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            click.echo(f"  missing    {' '.join(missing[:8])}{more}")
    click.echo(
        f"machine      {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, morris {__version__}"
    )
    sys.stdout.flush()


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One object a line instead.")
@jobs_option
def variants(as_json, jobs) -> None:
    """The games morris knows: rules, positions, time and disk for complete tables, and the value of the empty board.

    \b
    morris variants
    morris variants -j 8
    """
    from ..planning import plan_build
    from ..subspace import moving_pairs, placing_subspaces

    for variant in VARIANTS.values():
        phases = {"moving": moving_pairs(variant), "placing": placing_subspaces(variant)}
        plans = {phase: plan_build(variant, jobs, files) for phase, files in phases.items()}
        if as_json:
            facts = {phase: {"positions": p.positions, "seconds": round(p.seconds), "bytes": p.disk} for phase, p in plans.items()}
            click.echo(json.dumps({"variant": variant.name, "rules": variant.summary, "empty_board": variant.known, **facts}))
            continue
        click.echo(f"{variant.name:12} {variant.summary}")
        for phase, p in plans.items():
            click.echo(f"{'':12} {p.positions:,} positions {phase}: about {_duration(p.seconds)}, {_size(p.disk)}")
        click.echo(f"{'':12} empty board: {variant.known}")
    if not as_json:
        click.echo(f"Times are estimates for {jobs} workers; sizes are those of tables with depths.")


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.1f} MB"


def _duration(seconds: float) -> str:
    return "a second" if seconds < 1.5 else f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@jobs_option
@metric_options
@data_option
def compare(first, second, form, jobs, data, metric) -> None:
    """How many positions change their value between two variants on one board.

    Counts canonical positions of every subspace for which both have a finished table: from the outcome in FIRST to the
    outcome in SECOND, and where only the depth differs.

    \b
    morris compare nine nine-strict
    """
    from ..compare import compare_tables
    from ..jit import Workers

    stores = [TableStore(data, get_variant(name), metric=metric) for name in (first, second)]
    workers = Workers(jobs)
    try:
        rows = list(compare_tables(*stores, workers))
    finally:
        workers.close()
        for store in stores:
            store.close()
    if not rows:
        raise MissingTableError("", f"{first} and {second} have no finished table in common in {data}")
    click.echo(json.dumps(rows) if form == "json" else _as_table(rows))


#: Packages whose versions matter; the last ones are optional.
_PACKAGES = ("numpy", "numba", "llvmlite", "h5py", "deflate", "click", "tqdm", "starlette", "uvicorn", "matplotlib", "distributed")


@click.command()
@data_option
def doctor(data) -> None:
    """Print what matters about this machine and these tables, and what will go wrong.

    \b
    morris doctor
    """
    import shutil
    from importlib.metadata import PackageNotFoundError, version

    from ..bits import USES_INSTRUCTIONS
    from ..build import available_memory, existing_parent, moving_targets, plan
    from ..errors import MorrisError
    from ..jit import CACHE_FOLDER, JIT_DISABLED
    from ..planning import plan_build
    from ..store import require_writable, table_folder

    troubles = []
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            pass
    cores = os.cpu_count() or 1
    memory = available_memory()
    free = shutil.disk_usage(existing_parent(data)).free
    click.echo(f"morris     {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    click.echo(f"packages   {', '.join(found)}")
    click.echo(f"processor  {cores} threads, pext and pdep {'in use' if USES_INSTRUCTIONS else 'not used (byte tables instead)'}")
    click.echo(f"kernels    cached in {CACHE_FOLDER}, {'compiled' if any(CACHE_FOLDER.rglob('*.nbc')) else 'not yet compiled'}")
    click.echo(f"memory     {memory / 2**30:.1f} GiB free" if memory is not None else "memory     not told by this system")
    click.echo(f"disk       {free / 1e9:.1f} GB free for {data}")
    if JIT_DISABLED:
        troubles.append("NUMBA_DISABLE_JIT is set: everything will run thousands of times slower")
    for variant in VARIANTS.values():
        store = TableStore(data, variant)
        files = game_files(store)
        size = sum(store.path(f).stat().st_size for f in files)
        if files:
            click.echo(f"tables     {variant.name}: {len(files)} files, {size / 1e6:,.1f} MB")
        for file in files:
            try:
                store.table(file)
            except MorrisError as error:
                troubles.append(str(error))
        store.close()
    try:
        require_writable(table_folder(data, VARIANTS["nine"]).parent)
    except InputError as error:
        troubles.append(str(error))
    nine = VARIANTS["nine"]
    need = plan_build(nine, cores, plan(nine, TableStore(data, nine, with_shipped=False), moving_targets(nine)))
    if memory is not None and memory < need.memory():
        troubles.append(f"what is missing of nine's moving phase needs {need.memory() / 2**30:.1f} GiB of memory")
    if free < need.disk:
        troubles.append(f"what is missing of nine's moving phase needs {need.disk / 1e9:.1f} GB of disk")
    for trouble in troubles:
        click.echo(f"trouble    {trouble}")
    if not troubles:
        click.echo("no trouble in sight")
