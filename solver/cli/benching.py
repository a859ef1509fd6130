"""The benchmark command: bench.  The benchmarks themselves stand beside the package, in a checkout's ``benchmarks``."""

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from ..errors import InputError, MorrisError, adding
from . import data_option, variant_options


def find_checkout() -> Path:
    """The folder that holds the package and ``benchmarks``; an error where only the package is installed."""
    root = Path(__file__).resolve().parent.parent.parent
    if not (root / "benchmarks" / "running.py").exists():
        raise MorrisError("benchmarks come with the source, not with the installed package; run this in a checkout")
    return root


@click.command()
@click.option(
    "--only",
    metavar="NAMES",
    help="These benchmarks, with commas: memory, index, pass, placing, store, verify, query, proof.",
)
@click.option("--pairs", metavar="5-4,6-5", help="Pairs to solve, with commas, or 'all'.")
@click.option("--full", is_flag=True, help="Pairs up to 8-8 and large placement subspaces: an hour and 6 GiB.")
@click.option("--workers", metavar="1,2", default="1,2", show_default=True, help="Numbers of workers, with commas.")
@click.option("--repeat", type=click.IntRange(1, 1000), default=3, show_default=True, help="Runs of each case.")
@click.option(
    "--budget",
    type=click.FloatRange(0),
    default=120,
    show_default=True,
    help="Seconds after which a case is not run again.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Results file; default: today's in benchmarks/results.",
)
@click.option(
    "--read",
    "given",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Measure nothing, take the results of this file.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare with the results of this file, as ratios of time.",
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw time against positions; needs the extra plots."
)
@data_option
@variant_options
def bench(variant, data, only, pairs, full, workers, repeat, budget, out, given, against, plot) -> None:
    """Measure what each part of morris costs on this machine, every answer checked.

    Tables of the data folder are used where they are there; what is missing is built for the occasion and dropped.
    Results are appended to benchmarks/results as JSON lines.

    \b
    morris bench                                        a few minutes
    morris bench --only pass --pairs all --repeat 1 --plot growth.png
    morris bench --read new.jsonl --against old.jsonl   two results as ratios
    """
    sys.path.insert(0, str(find_checkout()))
    from benchmarks.results import default_path

    older = _read(against) if against else None
    if given:
        _refuse_idle_options(click.get_current_context())
        records = _read(given)
        if older is None and not plot:
            raise InputError("--read alone does nothing; add --against or --plot")
    else:
        records = _measure(variant, data, only, pairs, full, _numbers(workers), repeat, budget, out or default_path())
    if older is not None:
        _compare(records, older)
    if plot:
        _draw(records, plot)


def _refuse_idle_options(context) -> None:
    """Raises `InputError` where options were given that say what to measure, beside --read."""
    used = ("given", "against", "plot")
    idle = [
        option.opts[-1] for option in context.command.params
        if option.name not in used and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]  # fmt: skip
    if idle:
        raise InputError(f"--read measures nothing; leave out {', '.join(idle)}")


def _measure(variant, data, only, pairs, full, workers, repeat, budget, out) -> list[dict]:
    from benchmarks.measuring import Setting
    from benchmarks.running import BENCHMARKS, choose_cases, proofs_possible, run

    names = list(BENCHMARKS)
    if only:
        names = [name.strip() for name in only.split(",")]
        for name in names:
            if name not in BENCHMARKS:
                raise InputError(f"no benchmark is called {name!r}; there are {', '.join(BENCHMARKS)}")
    chosen, placing = choose_cases(variant, pairs, full)
    setting = Setting(
        variant,
        data,
        chosen,
        placing if "placing" in names else [],
        proofs_possible(variant, data),
        workers,
        repeat,
        budget,
    )
    return run(setting, names, out, click.echo)


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 256 for part in parts):
        raise InputError(f"--workers {text}: write numbers from 1 to 256 with commas, such as 1,2")
    return sorted({int(part) for part in parts})


def _read(path: Path) -> list[dict]:
    from benchmarks.results import read_records

    try:
        return read_records(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(str(error)) from None


def _compare(records: list[dict], older: list[dict]) -> None:
    from benchmarks.results import ratio_table

    try:
        click.echo(ratio_table(records, older))
    except ValueError as error:
        raise InputError(str(error)) from None


def _draw(records: list[dict], path: Path) -> None:
    from benchmarks.plot import draw

    try:
        lines = draw(records, path)
    except ImportError:
        raise InputError(f"--plot needs matplotlib; {adding('plots')}") from None
    except ValueError as error:
        raise InputError(str(error)) from None
    click.echo("\n".join([*lines, f"{path}: drawn"]))
