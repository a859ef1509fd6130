"""Commands that ask the tables: query, convert, annotate.

`query --batch` answers many lines: each block of input is read, probed as arrays and written as a whole, because one
position at a time would be far slower.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ..errors import InputError, MissingTableError, TableError
from ..moves import play
from ..notation import format_mfen, format_moves, format_sanmill, parse_moves, parse_position
from ..position import Position, format_own_form, shown, unreachable_note
from . import data_option, metric_options, variant_options

#: Bytes read at a time, and the longest line of a batch (the rest of a longer one is dropped, and it is refused).
BLOCK_BYTES, MOST_LINE_BYTES = 1 << 20, 1 << 16
#: Seconds for a search, unless `query --time-limit` says otherwise.
SEARCH_SECONDS = 60
#: Longest game record that `annotate` reads, in bytes.
MOST_GAME_BYTES = 1 << 20


@click.command()
@click.argument("position", nargs=-1)
@click.option("--moves", "record", metavar="TURNS", help='Position after these turns from the start; "" is the start.')
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--line", "with_line", is_flag=True, help="Also play the best line to its end.")
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the board and its turns.")
@click.option("--png", type=click.Path(dir_okay=False), metavar="FILE", help="The same as PNG; needs the extra images.")
@click.option("--batch", type=click.File("rb"), metavar="FILE", help="Answer each line of a file (- is stdin) in JSON.")
@click.option("--with-moves", is_flag=True, help="With --batch: all turns, too (much slower).")
@click.option(
    "--time-limit", type=click.FloatRange(0), show_default=f"{SEARCH_SECONDS}",
    help="Seconds for searching a placement position whose tables are missing; 0: do not search.",
)
@click.option("--plies-without-mill", type=click.IntRange(0), default=0, metavar="C", help="Count so far, for --no-mill-limit.")
@metric_options
@data_option
@variant_options
def query(
    variant, data, metric, position, record, as_json, with_line, svg, png, batch, with_moves, time_limit, plies_without_mill
) -> None:
    """What is a position worth, and each of its turns?

    POSITION is in own form, MFEN 1.0 or Sanmill FEN.  Outcomes are win, draw or loss for the side to move (of turns:
    for the side that makes them), or unknown where a table is missing.  Depths are plies to the end of the game.

    Where a table with depths is missing, one of outcomes answers, without depths.

    With --no-mill-limit: can a win be forced before so many moving turns without a mill are played?  Depths are then plies
    to the next mill, by either side, or to the end of the game.

    A line of a batch is a position, or JSON: a string, or an object with "position" or "moves".

    \b
    morris query "BB..W.../....W.../...W...B w 0,0"
    morris query --moves "d6 f4 b4 g4 e4 f6" --line
    morris query "BB..W.../....W.../...W...B w 0,0" --no-mill-limit 50 --plies-without-mill 40
    """
    if sum((bool(position), record is not None, batch is not None)) != 1:
        raise InputError("give one of: a position, --moves, --batch")
    if batch and (with_line or svg or png):
        raise InputError("--line, --svg and --png are for a single position")
    if with_moves and not batch:
        raise InputError("--with-moves belongs to --batch; a single position is always answered with its turns")
    if time_limit is not None and (batch or metric.to_mill):
        raise InputError("--time-limit is for searching a single position, and not for depths to the next mill")
    if metric.to_mill:
        if batch or with_line or svg or png:
            raise InputError("--batch, --line, --svg and --png tell depths to the end of the game; leave out --no-mill-limit")
        place = _read_position(variant, position, record)
        _answer_limited(variant, data, metric.limit, place, as_json, plies_without_mill)
        return
    if plies_without_mill:
        raise InputError("--plies-without-mill belongs to --no-mill-limit")
    from ..query import open_tables

    with open_tables(data, variant, metric=metric) as tables:
        if batch:
            _answer_batch(tables, batch, with_moves)
        else:
            place = _read_position(variant, position, record)
            seconds = SEARCH_SECONDS if time_limit is None else time_limit
            _answer_one(tables, place, record, as_json, with_line, svg, png, seconds)


def _read_position(variant, words, record: str | None) -> Position:
    if record is not None:
        return parse_moves(record, variant, allow_owed=True).position
    return parse_position(" ".join(words), variant)


def _answer_one(tables, position: Position, record, as_json: bool, with_line: bool, svg, png, time_limit: float) -> None:
    from ..render import answer_data, answer_text, line_text, png_board, svg_board, turns_data
    from ..worth import UNKNOWN

    variant, missing, steps, searched = tables.variant, None, None, False
    ranked = tables.moves(position)
    try:
        value = tables.probe(position)
    except MissingTableError as error:
        missing = _explained(error, position)
        value = tables.value_or_unknown(position)
    notes = []
    if missing and position.subspace.is_placing and time_limit and not variant.place_and_slide:
        try:
            value, ranked = _search(tables, position, time_limit)
            searched = True
            missing = None if value != UNKNOWN else missing
            notes.append("Found by search, since the placement tables are missing: outcomes only, depths are not known.")
        except MissingTableError as error:
            missing = MissingTableError(missing.subspace, f"{missing}; a search instead needs the moving phase: {error}")
    if with_line and not missing:
        try:
            steps = tables.line(position)
        except MissingTableError as error:
            if searched:
                command = tables.store.build_command(phase="placing")
                notes.append(f"The best line needs the placement tables; '{command}' makes them.")
            else:
                missing = _explained(error, position)
    if record is not None and position.capture_owed:
        notes.append("The last turn closes a mill and names no removal; which stone to remove is the question here.")
    note = unreachable_note(position, variant)
    if note:
        notes.append(f"Cannot arise in play: {note}.")
    if as_json:
        answer = answer_data(variant, position, value, ranked)
        if with_line:
            answer["line"] = None if steps is None else turns_data(variant, steps)
        click.echo(json.dumps(answer))
        for note in notes:
            click.echo(f"morris: note: {note}", err=True)
    else:
        if value == UNKNOWN:
            notes.insert(0, f"{str(missing)[0].upper()}{str(missing)[1:]}.")
        click.echo(answer_text(variant, position, value, ranked, notes))
        if steps is not None:
            click.echo("\n" + line_text(variant, position, steps))
    if svg or png:
        drawing = svg_board(position, variant, ranked)
        if svg:
            Path(svg).write_text(drawing, encoding="utf-8")
        if png:
            Path(png).write_bytes(png_board(drawing))
    if missing:
        raise missing


def _answer_limited(variant, data, limit: int | None, position: Position, as_json: bool, plies_without_mill: int) -> None:
    from ..limited import LimitedTables
    from ..render import limited_data, limited_text

    note = unreachable_note(position, variant)
    notes = [f"Cannot arise in play: {note}."] * bool(note)
    with LimitedTables(data, variant, limit) as tables:
        answer = tables.probe(position, plies_without_mill), tables.moves(position, plies_without_mill)
        if as_json:
            click.echo(json.dumps(limited_data(tables, position, plies_without_mill, *answer)))
            for note in notes:
                click.echo(f"morris: note: {note}", err=True)
        else:
            click.echo(limited_text(tables, position, plies_without_mill, *answer, notes))


def _search(tables, position: Position, time_limit: float):
    """Value and turns from moving tables alone, by search; see `fallback`."""
    import os

    from ..fallback import search_values

    return search_values(tables, position, time_limit, os.cpu_count() or 1)


def _explained(error: MissingTableError, position: Position) -> MissingTableError:
    """The error, with a word on the phase whose tables are not there."""
    if not position.subspace.is_placing:
        return error
    return MissingTableError(error.subspace, f"a position with stones in hand needs the placement tables; {error}")


# ---------------------------------------------------------------- batch


def _answer_batch(tables, stream, with_moves: bool) -> None:
    batch = _Batch(tables, with_moves)
    for lines in _blocks(stream):
        sys.stdout.write("\n".join(batch.answers(lines)) + "\n")
        sys.stdout.flush()
    if batch.damage:
        raise batch.damage
    if batch.missing:
        names = " ".join(list(batch.missing)[:8]) + " ..." * (len(batch.missing) > 8)
        counts = f"{batch.n_unknown} of {batch.n_lines} answers are unknown"
        message = f"{counts}: tables of {tables.variant.name} missing are {names}"
        raise MissingTableError(next(iter(batch.missing)), message)


def _blocks(stream) -> Iterator[list[bytes]]:
    """Lines of a stream, as many at a time as are there to read."""
    rest = b""
    while block := stream.read1(BLOCK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        rest = rest[: MOST_LINE_BYTES + 1]
        if lines:
            yield lines
    if rest:
        yield [rest]


class _Batch:
    """Answers lines, and remembers what is to be said at the end: unknown answers, missing tables, a damaged one."""

    def __init__(self, tables, with_moves: bool):
        self.tables, self.with_moves = tables, with_moves
        self.n_lines = self.n_unknown = 0
        self.missing: dict[str, MissingTableError] = {}
        self.damage: TableError | None = None

    def answers(self, lines: list[bytes]) -> list[str]:
        """One JSON text for each line."""
        texts, positions, at = [""] * len(lines), [], []
        for i, line in enumerate(lines):
            try:
                positions.append(_parse_line(line, self.tables.variant))
                at.append(i)
            except InputError as error:
                texts[i] = _error_text("input", error, self.n_lines + i + 1)
        for i, text in zip(at, self._probe(positions, [self.n_lines + i + 1 for i in at])):
            texts[i] = text
        self.n_lines += len(lines)
        return texts

    def _probe(self, positions: list[Position], numbers: list[int]) -> list[str]:
        """Answers to positions; where a table is damaged, only those that need it get an error."""
        try:
            return self._probe_whole(positions)
        except TableError as error:
            self.damage = self.damage or error
            if len(positions) == 1:
                return [_error_text("damaged", error, numbers[0])]
        half = len(positions) // 2
        return self._probe(positions[:half], numbers[:half]) + self._probe(positions[half:], numbers[half:])

    def _probe_whole(self, positions: list[Position]) -> list[str]:
        from ..render import own_forms, turns_data
        from ..values import Outcome
        from ..worth import OUTCOMES

        variant = self.tables.variant
        found = self.tables.probe_checked(positions)
        moves = [""] * len(positions)
        if self.with_moves:
            moves = [f', "moves": {json.dumps(turns_data(variant, self.tables.moves(p)))}' for p in positions]
        self.n_unknown += int((found.outcomes == OUTCOMES.index(Outcome.UNKNOWN)).sum())
        self.missing |= {error.subspace: error for error in found.missing}
        name, words = json.dumps(variant.name), [f'"{outcome.value}"' for outcome in OUTCOMES]
        sides = ["white" if position.white_to_move else "black" for position in positions]
        each = zip(own_forms(positions, variant), sides, found.outcomes.tolist(), found.dtw_plies.tolist(), moves)
        # Written by hand rather than by json, which takes several times as long; nothing in it needs escapes.
        return [
            f'{{"variant": {name}, "position": "{form}", "to_move": "{side}", "outcome": {words[outcome]}, '
            f'"dtw_plies": {"null" if plies < 0 else plies}{more}}}'
            for form, side, outcome, plies, more in each
        ]


def _error_text(code: str, error: Exception, line: int) -> str:
    return json.dumps({"error": str(error), "code": code, "line": line})


def _parse_line(line: bytes, variant) -> Position:
    """A line of a batch: a position, or JSON with one."""
    text = line.decode("utf-8", "replace").strip()
    if len(line) > MOST_LINE_BYTES:
        raise InputError("the line is too long")
    if text[:1] not in ("{", '"'):
        return parse_position(text, variant)
    try:
        question = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {str(error)[:80]}") from None
    if isinstance(question, str):
        return parse_position(question, variant)
    if question.get("variant", variant.name) != variant.name:
        raise InputError(f"variant {shown(str(question['variant']))} is asked for; these are tables of {variant.name}")
    position, moves = question.get("position"), question.get("moves")
    if isinstance(position, str) and moves is None:
        return parse_position(position, variant)
    if isinstance(moves, str) and position is None:
        return parse_moves(moves, variant, allow_owed=True).position
    raise InputError('a question has either "position" or "moves", as a string')


# ---------------------------------------------------------------- convert, annotate


@click.command()
@click.argument("position", nargs=-1)
@click.option("--moves", "record", metavar="TURNS", help="Position after these turns from the start.")
@click.option(
    "--to", "form", type=click.Choice(["own", "mfen", "sanmill", "algebraic", "playok"]), default="own",
    show_default=True, help="Notation to write; the last two are for the turns of --moves.",
)  # fmt: skip
@variant_options
def convert(variant, position, record, form) -> None:
    """Writes a position or a list of turns in another notation.

    \b
    morris convert --to sanmill ".......W/......../........ b 8,9"
    morris convert --to playok --moves "d6 f4 b4 g4"
    """
    if bool(position) == (record is not None):
        raise InputError("give one of: a position, --moves")
    if form in ("algebraic", "playok"):
        if record is None:
            raise InputError(f"{form} is a way to write turns; give them with --moves")
        game = parse_moves(record, variant, allow_owed=True)
        click.echo(format_moves(game.turns, variant, form, black_first=not game.start.white_to_move))
        return
    write = {"own": format_own_form, "mfen": format_mfen, "sanmill": format_sanmill}[form]
    click.echo(write(_read_position(variant, position, record), variant))


@click.command()
@click.argument("game", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_option
@variant_options
def annotate(variant, data, game, as_json) -> None:
    """What every turn of a game was worth, and the first losing turn of each side.

    GAME is a list of turns, or a file with one (- is stdin): move numbers, comments in braces, tags and a result are
    understood.

    \b
    morris annotate "1. d6 f4 2. b4 g4 3. e4 f6"
    """
    record = parse_moves(_read_game(game), variant)
    from ..annotate import annotate as annotated
    from ..query import open_tables
    from ..render import annotation_data, annotation_text

    with open_tables(data, variant) as tables:
        plies = annotated(tables, record)
        if as_json:
            click.echo(json.dumps(annotation_data(variant, plies, record.result)))
        else:
            click.echo(annotation_text(variant, plies))
        for ply in plies:
            if not ply.is_known:  # asking again raises the error that names the missing table
                for position in (ply.position, play(variant, ply.position, ply.turn)):
                    try:
                        tables.probe(position)
                    except MissingTableError as error:
                        raise _explained(error, position) from None


def _read_game(words: tuple[str, ...]) -> str:
    """The text of a game, from the command line, a file or stdin."""
    if words == ("-",):
        raw = sys.stdin.buffer.read(MOST_GAME_BYTES + 1)
    else:
        text = " ".join(words)
        try:
            with open(text, "rb") as file:
                raw = file.read(MOST_GAME_BYTES + 1)
        except (OSError, ValueError):  # no such file, or no name of one: it is the game itself
            return text
    if len(raw) > MOST_GAME_BYTES:
        raise InputError(f"a game record of more than {MOST_GAME_BYTES >> 20} MiB is not read")
    return raw.decode("utf-8", "replace")
