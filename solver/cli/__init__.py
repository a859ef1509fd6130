"""The command line: the only place that knows click and tqdm.

Commands live in the modules beside this one and are imported when they are called, so that asking a question does
not wait for the solver's kernels.
"""

import functools
import importlib
import os
import sys
from pathlib import Path

import click

from .. import __version__
from ..errors import InputError, MorrisError

#: Command -> module of this package that defines it, in the order in which help lists them.
COMMANDS = {
    "solve": "building",
    "build": "building",
    "prove": "proving",
    "query": "asking",
    "convert": "asking",
    "annotate": "asking",
    "play": "playing",
    "match": "playing",
    "serve": "serving",
    "stats": "reporting",
    "verify": "building",
    "check": "reporting",
    "info": "reporting",
    "variants": "reporting",
    "doctor": "reporting",
    "compare": "reporting",
    "bench": "benching",
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use."""

    def list_commands(self, context):
        return list(COMMANDS)

    def get_command(self, context, name):
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[name]}", __package__)
        return getattr(module, name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="morris")
def group() -> None:
    """Solve nine men's morris and its family, and ask the solution.

    \b
    morris solve --max-stones 8        build small tables
    morris query --moves "d6 f4 b4"    what is this position worth?
    """


def main() -> None:
    """Entry point of ``morris``: runs a command and turns errors into one line and an exit code."""
    try:
        code = group.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _stop("interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        hint = f" (see '{error.ctx.command_path} --help')" if getattr(error, "ctx", None) else ""
        _stop(error.format_message().replace("\n", " ") + hint, 2)
    except MorrisError as error:
        _stop(str(error), error.exit_code)
    except BrokenPipeError:  # the reader of a pipe has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _stop(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        _stop("out of memory; build with fewer stones or a smaller --memory", 1)
    except Exception as error:  # a defect: one line for people, the whole story for those who ask
        if os.environ.get("MORRIS_DEBUG"):
            raise
        _stop(f"internal error, {type(error).__name__}: {error} (MORRIS_DEBUG=1 shows where)".replace("\n", " "), 1)


def _stop(message: str, code: int) -> None:
    print(f"morris: {message}", file=sys.stderr)
    sys.exit(code)


# ---------------------------------------------------------------- shared options


def variant_options(command):
    """-V/--variant and --set; the command receives ``variant``, a Variant."""

    @functools.wraps(command)
    def with_variant(*args, variant, changes, **options):
        from ..variant import as_named, get_variant

        chosen = get_variant(variant)
        if changes:
            chosen = as_named(chosen.with_overrides(**dict(_rule_change(text) for text in changes)))
        return command(*args, variant=chosen, **options)

    for option in (
        click.option("--set", "changes", multiple=True, metavar="RULE=VALUE", help="Change a rule, e.g. --set fly_at=0."),
        click.option("-V", "--variant", default="nine", show_default=True, help="The game, see 'morris variants'."),
    ):
        with_variant = option(with_variant)
    return with_variant


def _rule_change(text: str) -> tuple[str, object]:
    rule, equals, value = text.partition("=")
    if len(text) > 100:
        raise InputError(f"--set {text[:20]}...: {len(text)} characters are too many for a rule and its value")
    if not equals:
        raise InputError(f"--set {text}: write RULE=VALUE, for example fly_at=0")
    words = {"true": True, "false": False}
    return rule.strip(), int(value) if value.strip().isdecimal() else words.get(value.strip().lower(), value.strip())


def metric_options(command):
    """--metric and --no-mill-limit; the command receives ``metric``, a `Metric`."""

    @functools.wraps(command)
    def with_metric(*args, metric, no_mill_limit, **options):
        from ..metric import get_metric

        return command(*args, metric=get_metric(metric, no_mill_limit), **options)

    for option in (
        click.option(
            "--no-mill-limit", type=click.IntRange(1), metavar="N",
            help="So many moving turns in a row without a mill are a draw; with --metric dtm, which it stands for.",
        ),
        click.option(
            "--metric", type=click.Choice(["dtw", "outcome", "dtm"]),
            help="What tables hold: plies to the end of the game (dtw, default), outcomes alone, or plies to the next mill (dtm).",
        ),
    ):  # fmt: skip
        with_metric = option(with_metric)
    return with_metric


def data_option(command):
    """--data; the command receives ``data``, a Path."""
    from ..store import DATA_VARIABLE, DEFAULT_DATA

    return click.option(
        "--data", envvar=DATA_VARIABLE, default=DEFAULT_DATA, show_default=True, show_envvar=True,
        type=click.Path(path_type=Path), help="Folder of the tables.",
    )(command)  # fmt: skip


def jobs_option(command):
    """-j/--jobs; the command receives ``jobs``, a positive int."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, show_default="all cores",
        help="Worker threads.",
    )(command)  # fmt: skip


def subspace_option(command):
    """--subspace; the command receives ``subspace``, text or None."""
    return click.option("--subspace", metavar="5-4", help="Only this subspace (and its twin).")(command)
