"""Answers as text, as plain data for JSON, and as a drawing of the board.

Outcome is never shown by colour alone: in drawings every turn carries a letter (W, D, L, or ? where a table is missing)
with its plies, and lines differ in their strokes.
"""

from collections.abc import Sequence
from html import escape
from math import hypot

import numpy as np

from .annotate import AnnotatedPly, first_losing_ply
from .board import Board
from .errors import ResourceError, adding
from .limited import LimitedTables, MillTurn, MillValue
from .moves import format_turn, is_over, legal_turns
from .position import Position, describe_turn, draw_board, format_own_form, points_of
from .values import Outcome
from .variant import Variant
from .worth import LineStep, RankedTurn, Value

# ---------------------------------------------------------------- plain data


def answer_data(variant: Variant, position: Position, value: Value, ranked: Sequence[RankedTurn] | None = None) -> dict:
    """What ``query --json`` prints; without ``ranked`` the list of moves is left out."""
    answer = {
        "variant": variant.name,
        "position": format_own_form(position, variant),
        "to_move": position.own_name.lower(),
        "outcome": value.outcome.value,
        "dtw_plies": value.dtw_plies,
    }
    if ranked is not None:
        answer["moves"] = turns_data(variant, ranked)
    return answer


def own_forms(positions: Sequence[Position], variant: Variant) -> list[str]:
    """`format_own_form` of many positions."""
    board = variant.board
    masks = np.array([(p.white, p.black) for p in positions], np.int64).reshape(-1, 2)
    ends = np.cumsum([len(ring) + 1 for ring in board.rings])  # one past the slash behind each ring
    letters = np.full((len(positions), ends[-1] - 1), ord("/"), np.uint8)
    points = [p + ring for ring, names in enumerate(board.rings) for p in map(board.index_of.__getitem__, names)]
    bits = masks[:, :, None] >> np.arange(board.n_points) & 1
    letters[:, points] = np.array([ord("."), ord("W"), ord("B")], np.uint8)[bits[:, 0] + 2 * bits[:, 1]]
    text, width = letters.tobytes().decode(), letters.shape[1]
    return [
        f"{text[i * width : (i + 1) * width]} {'w' if p[2] else 'b'} {p[3]},{p[4]}{' x' if p[5] else ''}"
        for i, p in enumerate(positions)
    ]


def turns_data(variant: Variant, turns: Sequence[RankedTurn] | Sequence[LineStep]) -> list[dict]:
    """Turns with their values for those who make them."""
    return [
        {"move": format_turn(variant.board, turn.turn), "outcome": turn.outcome.value, "dtw_plies": turn.dtw_plies}
        for turn in turns
    ]


def annotation_data(variant: Variant, plies: Sequence[AnnotatedPly], result: str | None) -> dict:
    """What ``annotate --json`` prints."""
    return {
        "variant": variant.name,
        "plies": [
            {
                "ply": number,
                "side": ply.position.own_name.lower(),
                "move": format_turn(variant.board, ply.turn),
                "position": format_own_form(ply.position, variant),
                "before": {"outcome": ply.before.outcome.value, "dtw_plies": ply.before.dtw_plies},
                "after": {"outcome": ply.after.outcome.value, "dtw_plies": ply.after.dtw_plies},
                "lost": f"{ply.before.outcome} to {ply.after.outcome}" if ply.lost_outcome else None,
                "lost_plies": ply.lost_plies,
                "best": [format_turn(variant.board, turn) for turn in ply.best],
            }
            for number, ply in enumerate(plies, 1)
        ],
        "first_losing_ply": {"white": first_losing_ply(plies, True), "black": first_losing_ply(plies, False)},
        "result": result,
    }


def limited_data(
    tables: LimitedTables, position: Position, plies_without_mill: int, value: MillValue, ranked: Sequence[MillTurn]
) -> dict:
    """What ``query --json`` prints where depths are those to the next mill."""
    board = tables.variant.board
    return {
        "variant": tables.variant.name,
        "position": format_own_form(position, tables.variant),
        "to_move": position.own_name.lower(),
        "no_mill_limit": tables.limit,
        "plies_without_mill": plies_without_mill,
        "outcome": value.outcome.value,
        "dtm_plies": value.dtm_plies,
        "moves": [
            {"move": format_turn(board, t.turn), "outcome": t.outcome.value, "dtm_plies": t.dtm_plies} for t in ranked
        ],
    }


# ---------------------------------------------------------------- text


def answer_text(
    variant: Variant, position: Position, value: Value, ranked: Sequence[RankedTurn], notes: Sequence[str] = ()
) -> str:
    """The board, the value in words, and all turns, best first."""
    lines = [draw_board(position, variant), "", describe_value(variant, position, value), *notes]
    if ranked:
        lines += ["", f"{len(ranked)} turn{'s' * (len(ranked) > 1)} of {position.own_name}, best first:"]
        cells = [["turn", "outcome", "plies", "own turns"]]
        cells += [[format_turn(variant.board, t.turn), t.outcome.value, *_depth(t.value)] for t in ranked]
        lines += _aligned(cells, "<<>>")
    return "\n".join(lines)


def describe_value(variant: Variant, position: Position, value: Value) -> str:
    """The value of a position in one sentence."""
    name, outcome = position.own_name, value.outcome
    if outcome is Outcome.UNKNOWN:
        return "Unknown."
    if value.dtw_plies == 0 or not legal_turns(variant, position):
        result = "Draw" if outcome is Outcome.DRAW else f"{name} has lost (loss in 0 plies, 0 own turns)"
        return f"{result}: {end_reason(variant, position)}."
    if outcome is Outcome.DRAW:
        return "Draw."
    plies, turns = value.dtw_plies, value.own_turns
    verb = "wins" if outcome is Outcome.WIN else "loses"
    if plies is None:
        return f"{name} {verb}; in how many plies is not known."
    return f"{name} {verb} in {plies} {'plies' if plies > 1 else 'ply'}, {turns} own turn{'s' * (turns > 1)}."


def limited_text(
    tables: LimitedTables, position: Position, plies_without_mill: int, value: MillValue, ranked: Sequence[MillTurn],
    notes: Sequence[str] = (),
) -> str:  # fmt: skip
    """The board, the value in words, and all turns, where depths are those to the next mill."""
    variant, limit, plies = tables.variant, tables.limit, value.dtm_plies
    rule = f"{limit} plies without a mill are a draw, {plies_without_mill} are played" if limit else "no limit without a mill"
    if not ranked:
        words = describe_value(variant, position, Value(value.outcome, plies))
    elif value.outcome is Outcome.DRAW:
        words = f"Draw, no side can force a win in time: {rule}." if limit else "Draw."
    else:
        verb = "wins" if value.outcome is Outcome.WIN else "loses"
        words = f"{position.own_name} {verb}; next mill or end in {plies} {'plies' if plies > 1 else 'ply'}: {rule}."
    lines = [draw_board(position, variant), "", words, *notes]
    if ranked:
        lines += ["", f"{len(ranked)} turn{'s' * (len(ranked) > 1)} of {position.own_name}, best first:"]
        cells = [["turn", "outcome", "plies to a mill"]]
        cells += [[format_turn(variant.board, t.turn), t.outcome.value, str(t.dtm_plies or "")] for t in ranked]
        lines += _aligned(cells, "<<>")
    return "\n".join(lines)


def end_reason(variant: Variant, position: Position) -> str:
    """Why the game ends in a position without turns."""
    if is_over(variant, position):
        left = position.own_mask.bit_count() + position.own_hand
        return f"{position.own_name} has only {left} stones left"
    if position.occupied_mask == variant.board.full_mask:
        return "no point is free"
    return f"{position.own_name} has no legal turn"


def line_text(variant: Variant, position: Position, steps: Sequence[LineStep]) -> str:
    """A line, one turn a line, and how it ends."""
    if not steps:
        return f"The game is over: {end_reason(variant, position)}."
    cells = [["ply", "side", "turn", "outcome", "plies", "own turns"]]
    white = position.white_to_move
    for number, step in enumerate(steps, 1):
        side, turn = "White" if white else "Black", format_turn(variant.board, step.turn)
        cells.append([str(number), side, turn, step.outcome.value, *_depth(Value(step.outcome, step.dtw_plies))])
        white = step.position.white_to_move
    last = steps[-1].position
    if not legal_turns(variant, last):
        end = f"The game ends: {end_reason(variant, last)}."
    else:
        seen = [position, *(step.position for step in steps[:-1])]
        end = f"Then the position before ply {seen.index(last) + 1} is there again." if last in seen else "And so on."
    return "\n".join(["Best line:", *_aligned(cells, "><<<>>"), end])


def annotation_text(variant: Variant, plies: Sequence[AnnotatedPly]) -> str:
    """One line a ply, and the first losing turn of each side."""
    cells = [["ply", "side", "turn", "before", "after", "lost", "better"]]
    for number, ply in enumerate(plies, 1):
        lost = better = ""
        if ply.lost_outcome or ply.lost_plies:
            lost = f"{ply.before.outcome} to {ply.after.outcome}" if ply.lost_outcome else f"{ply.lost_plies} plies"
            better = " ".join(format_turn(variant.board, turn) for turn in ply.best[:3]) + " ..." * (len(ply.best) > 3)
        turn = format_turn(variant.board, ply.turn)
        cells.append([str(number), ply.position.own_name, turn, _short(ply.before), _short(ply.after), lost, better])
    lines = [*_aligned(cells, "><<<<<<"), "Values are for the side that makes the turn, depths in plies."]
    for side in ("White", "Black"):
        number = first_losing_ply(plies, side == "White")
        if number:
            turn = format_turn(variant.board, plies[number - 1].turn)
            lines.append(f"First losing turn of {side}: ply {number}, {turn}.")
        else:
            known = "" if all(ply.is_known for ply in plies) else " where values are known"
            lines.append(f"{side} makes no losing turn{known}.")
    return "\n".join(lines)


def _short(value: Value) -> str:
    return value.outcome.value if value.dtw_plies is None else f"{value.outcome} {value.dtw_plies}"


def _depth(value: Value) -> tuple[str, str]:
    """Plies and own turns as text; a dash where there are such and they are not known."""
    if value.dtw_plies is None:
        return ("-", "-") if value.outcome in (Outcome.WIN, Outcome.LOSS) else ("", "")
    return str(value.dtw_plies), str(value.own_turns)


def _aligned(cells: list[list[str]], sides: str) -> list[str]:
    """Rows of cells as lines with aligned columns; ``sides`` has < or > for each column."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ("  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths)) for row in cells)
    return ["  " + line.rstrip() for line in lines]


# ---------------------------------------------------------------- drawing

UNIT, MARGIN, STONE = 90, 60, 21
LIST_ROWS, LIST_WIDTH = 24, 132
#: More moves than this (a flying side has many) are not drawn as lines; the list beside the board has them all.
MOST_LINES = 20
#: Colour, letter and stroke of each outcome; the colours also differ in brightness.
STYLES = {
    Outcome.WIN: ("#14703a", "W", ""),
    Outcome.DRAW: ("#2456a6", "D", "9 5"),
    Outcome.LOSS: ("#b3123a", "L", "2 5"),
    Outcome.UNKNOWN: ("#5b6068", "?", "1 7"),
}

LEGEND = "W win, D draw, L loss, ? unknown; numbers are plies; x removes a stone"


def mark(value: Value) -> str:
    """A value as drawings show it: ``W9``, ``D``, ``L22``, or ``?``."""
    return STYLES[value.outcome][1] + ("" if value.dtw_plies is None else str(value.dtw_plies))


def svg_board(position: Position, variant: Variant, ranked_turns: Sequence[RankedTurn] | None = None) -> str:
    """The board as SVG, with the turns coloured and marked W, D, L and their plies, and a list of them beside it.

    Turns that differ only in the stone they remove are one line on the board, under the best of them and an x.  Where
    there are too many moves for lines, each point carries the best of those that end there.
    """
    board, ranked = variant.board, list(ranked_turns or ())
    place, side = _places(board)
    columns = -(-len(ranked) // LIST_ROWS)
    width, height = max(side + columns * LIST_WIDTH, 500 * bool(ranked)), side + 34 + 26 * bool(ranked)
    summary = f"{variant.name}: {format_own_form(position, variant)}. {describe_turn(position)}."
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    font = 'font-family="DejaVu Sans, Verdana, sans-serif"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{escape(summary)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fbf7ee"/>',
        *_grid(board, place, side),
        *_stones(position, place),
        *_turn_marks(place, ranked),
        *_turn_list(variant, ranked, side),
        _text(side / 2, side + 18, describe_turn(position), 17),
        *([_text(width / 2, side + 42, LEGEND, 13)] if ranked else []),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def png_board(svg: str) -> bytes:
    """A drawing as PNG, by the optional library cairosvg."""
    try:
        import cairosvg
    except (ImportError, OSError):  # OSError: the library is there, but not the cairo it calls
        raise ResourceError(f"PNG needs the library cairosvg, --svg does not; {adding('images')}") from None
    return cairosvg.svg2png(bytestring=svg.encode(), scale=2)


def _places(board: Board) -> tuple[list[tuple[int, int]], int]:
    """Where the points are drawn, and the side of the square that holds them."""
    files, ranks = sorted({name[0] for name in board.points}), sorted({int(name[1:]) for name in board.points})
    last = len(ranks) - 1
    steps = [(files.index(name[0]), last - ranks.index(int(name[1:]))) for name in board.points]
    return [(MARGIN + UNIT * across, MARGIN + UNIT * down) for across, down in steps], 2 * MARGIN + UNIT * last


def _text(x: float, y: float, text: str, size: int, fill: str = "#222", anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'


def _grid(board: Board, place, side: int) -> list[str]:
    parts = [
        '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="#6b5b45" stroke-width="3"/>'.format(*place[a], *place[b])
        for a, b in board.edges
    ]
    parts += [f'<circle cx="{x}" cy="{y}" r="6" fill="#6b5b45"/>' for x, y in place]
    for (x, y), name in zip(place, board.points):
        parts += [_text(18, y + 6, name[1:], 16), _text(x, side - 12, name[0], 16)]
    return list(dict.fromkeys(parts))  # each file and rank is written once


def _stones(position: Position, place) -> list[str]:
    parts = []
    for mask, fill, name in ((position.white, "#ffffff", "white"), (position.black, "#1d1d1d", "black")):
        look = f'class="{name}" r="{STONE}" fill="{fill}" stroke="#1d1d1d" stroke-width="2.5"'
        parts += ['<circle cx="{}" cy="{}" {}/>'.format(*place[p], look) for p in points_of(mask)]
    return parts


def _turn_marks(place, ranked: Sequence[RankedTurn]) -> list[str]:
    """Lines and labels of the turns; the best are drawn last, so on top."""
    best: dict[tuple[int | None, int], RankedTurn] = {}
    for entry in ranked:  # best first, so the first of a group is its best
        origin, target, captured = entry.turn
        best.setdefault((origin, target) if target is not None else (None, captured), entry)
    if len(best) > MOST_LINES:
        by_target: dict[int, RankedTurn] = {}
        for entry in best.values():
            by_target.setdefault(entry.turn.target, entry)
        best = {(None, target): entry for target, entry in by_target.items()}
    drawn = []
    for (origin, target), entry in best.items():
        colour, _, dashes = STYLES[entry.outcome]
        label = mark(entry.value) + "x" * (entry.turn.captured is not None)
        (x, y), parts = place[target], []
        if origin is not None:
            from_x, from_y = place[origin]
            share = STONE / hypot(x - from_x, y - from_y)
            start_x, start_y = from_x + (x - from_x) * share, from_y + (y - from_y) * share
            parts.append(
                f'<line x1="{start_x:.1f}" y1="{start_y:.1f}" x2="{x}" y2="{y}" stroke="{colour}" stroke-width="4" '
                f'stroke-dasharray="{dashes or "none"}" stroke-opacity="0.8"/>'
            )
            x, y = (x + from_x) / 2, (y + from_y) / 2
        elif entry.turn.target is None:  # only a stone to remove: the label stands on it
            parts.append(f'<circle cx="{x}" cy="{y}" r="{STONE + 4}" fill="none" stroke="{colour}" stroke-width="4"/>')
        half = 5 + 5 * len(label)
        corner = f'x="{x - half:.1f}" y="{y - 11:.1f}"'
        parts.append(f'<rect {corner} width="{2 * half}" height="22" rx="7" fill="{colour}" stroke="#ffffff"/>')
        parts.append(_text(round(x, 1), round(y + 5, 1), label, 14, "#ffffff"))
        drawn.append("\n".join(parts))
    return drawn[::-1]


def _turn_list(variant: Variant, ranked: Sequence[RankedTurn], side: int) -> list[str]:
    parts = []
    step = (side - 40) / LIST_ROWS
    for i, entry in enumerate(ranked):
        x, y = side + LIST_WIDTH * (i // LIST_ROWS), 36 + step * (i % LIST_ROWS)
        colour, label = STYLES[entry.outcome][0], mark(entry.value)
        parts.append(f'<rect x="{x}" y="{y - 12:.1f}" width="38" height="17" rx="5" fill="{colour}"/>')
        parts.append(_text(x + 19, round(y + 1, 1), label, 12, "#ffffff"))
        parts.append(_text(x + 44, round(y + 1, 1), format_turn(variant.board, entry.turn), 13, anchor="start"))
    return parts
