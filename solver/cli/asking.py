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
from ..notation import parse_moves, parse_position
from ..position import Position, shown, unreachable_note
from . import data_option, variant_options

#: Bytes read at a time, and the longest line of a batch (the rest of a longer one is dropped, and it is refused).
BLOCK_BYTES, MOST_LINE_BYTES = 1 << 20, 1 << 16
#: Longest game record that `annotate` reads, in bytes.
MOST_GAME_BYTES = 1 << 20


@click.command()
@click.argument("position", nargs=-1)
@click.option("--moves", "record", metavar="TURNS", help='Position after these turns from the start; "" is the start.')
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--line", "with_line", is_flag=True, help="Also play the best line to its end.")
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the board and its turns.")
@click.option("--png", type=click.Path(dir_okay=False), metavar="FILE", help="The same as PNG; needs morris[images].")
@click.option("--batch", type=click.File("rb"), metavar="FILE", help="Answer each line of a file (- is stdin) in JSON.")
@click.option("--with-moves", is_flag=True, help="With --batch: all turns, too (much slower).")
@data_option
@variant_options
def query(variant, data, position, record, as_json, with_line, svg, png, batch, with_moves) -> None:
    """What is a position worth, and each of its turns?

    POSITION is in own form, MFEN 1.0 or Sanmill FEN.  Outcomes are win, draw or loss for the side to move (of turns:
    for the side that makes them), or unknown where a table is missing.  Depths are plies to the end of the game.

    A line of a batch is a position, or JSON: a string, or an object with "position" or "moves".

    \b
    morris query "BB..W.../....W.../...W...B w 0,0"
    morris query --moves "d6 f4 b4 g4 e4 f6" --line
    """
    if sum((bool(position), record is not None, batch is not None)) != 1:
        raise InputError("give one of: a position, --moves, --batch")
    if batch and (with_line or svg or png):
        raise InputError("--line, --svg and --png are for a single position")
    if with_moves and not batch:
        raise InputError("--with-moves belongs to --batch; a single position is always answered with its turns")
    from ..query import open_tables

    with open_tables(data, variant) as tables:
        if batch:
            _answer_batch(tables, batch, with_moves)
        else:
            _answer_one(tables, _read_position(variant, position, record), record, as_json, with_line, svg, png)


def _read_position(variant, words, record: str | None) -> Position:
    if record is not None:
        return parse_moves(record, variant, allow_owed=True).position
    return parse_position(" ".join(words), variant)


def _answer_one(tables, position: Position, record, as_json: bool, with_line: bool, svg, png) -> None:
    from ..query import UNKNOWN
    from ..render import answer_data, answer_text, line_text, png_board, svg_board, turns_data

    variant, missing, steps = tables.variant, None, None
    ranked = tables.moves(position)
    try:
        value = tables.probe(position)
        steps = tables.line(position) if with_line else None
    except MissingTableError as error:
        missing = _explained(error, position)
        value = tables.value_or_unknown(position)
    notes = []
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


def _explained(error: MissingTableError, position: Position) -> MissingTableError:
    """The error, with a word on the phase whose tables are not there."""
    if not position.subspace.is_placing:
        return error
    return MissingTableError(error.subspace, f"a position with stones in hand needs the placement tables; {error}")


# ---------------------------------------------------------------- batch


def _answer_batch(tables, stream, with_moves: bool) -> None:
    n_lines, n_unknown, missing = 0, 0, {}
    for lines in _blocks(stream):
        answers, unknown, errors = _answer_lines(tables, lines, n_lines + 1, with_moves)
        sys.stdout.write("\n".join(answers) + "\n")
        sys.stdout.flush()
        n_lines += len(lines)
        n_unknown += unknown
        missing |= {error.subspace: error for error in errors}
    if missing:
        names = " ".join(list(missing)[:8]) + " ..." * (len(missing) > 8)
        raise MissingTableError(next(iter(missing)), f"{n_unknown} of {n_lines} answers are unknown: tables missing are {names}")


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


def _answer_lines(tables, lines: list[bytes], first: int, with_moves: bool) -> tuple[list[str], int, tuple]:
    """Answers as JSON texts, how many are unknown, and an error for each missing table; ``first``: number of the first line."""
    variant = tables.variant
    answers, positions, at = [""] * len(lines), [], []
    for i, line in enumerate(lines):
        try:
            positions.append(_parse_line(line, variant))
            at.append(i)
        except InputError as error:
            answers[i] = _error_text("input", error, first + i)
    try:
        found = tables.probe_checked(positions)
    except TableError:
        return _answer_singly(tables, lines, first, with_moves)
    from ..query import OUTCOMES
    from ..render import own_forms, turns_data
    from ..values import Outcome

    name, words = json.dumps(variant.name), [outcome.value for outcome in OUTCOMES]
    forms = own_forms(positions, variant)
    for i, position, form, number, plies in zip(at, positions, forms, found.outcomes.tolist(), found.dtw_plies.tolist()):
        side, depth = "white" if position.white_to_move else "black", "null" if plies < 0 else plies
        moves = ""
        if with_moves:
            moves = f', "moves": {json.dumps(turns_data(variant, tables.moves(position)))}'
        answers[i] = (
            f'{{"variant": {name}, "position": "{form}", "to_move": "{side}", "outcome": "{words[number]}", '
            f'"dtw_plies": {depth}{moves}}}'
        )
    unknown = int((found.outcomes == OUTCOMES.index(Outcome.UNKNOWN)).sum())
    return answers, unknown, found.missing


def _answer_singly(tables, lines: list[bytes], first: int, with_moves: bool) -> tuple[list[str], int, tuple]:
    """`_answer_lines` where a table is damaged: only the lines that need it get an error."""
    answers, unknown, missing = [], 0, ()
    for number, line in enumerate(lines, first):
        ...
    return answers, unknown, missing


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
