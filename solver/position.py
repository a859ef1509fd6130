"""Positions: stones on points, stones in hand, whose turn it is; their own text form and picture.

The own form groups the points as ``board.rings`` does, in bit order:

    <outer>/<middle>/<inner> <w|b> [<white hand>,<black hand>] [x]

``W`` and ``B`` are stones, ``.`` is a free point; hands default to ``0,0``.  A final ``x`` says that
the side to move has closed a mill and still owes the removal of a stone.

A position is checked where it enters (`check_position`), so that everything behind may trust it.
Refused is what makes the question meaningless, such as too many stones or hands that fit no order
of play.  What is well formed but cannot arise in play is let through, and `unreachable_note` says so.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from .board import Board
from .errors import InputError
from .subspace import Subspace
from .variant import MIN_STONES, Variant

#: No notation of a position comes near; longer text is refused before anything looks at it.
MAX_TEXT = 400


class Position(NamedTuple):
    """Stones of both sides as masks over the points, the side to move, and the stones in hand.

    ``capture_owed``: the side to move has just closed a mill and has only to remove a stone.
    """

    white: int
    black: int
    white_to_move: bool = True
    white_hand: int = 0
    black_hand: int = 0
    capture_owed: bool = False

    @property
    def own_mask(self) -> int:
        """Stones of the side to move."""
        return self.white if self.white_to_move else self.black

    @property
    def opponent_mask(self) -> int:
        return self.black if self.white_to_move else self.white

    @property
    def own_hand(self) -> int:
        return self.white_hand if self.white_to_move else self.black_hand

    @property
    def opponent_hand(self) -> int:
        return self.black_hand if self.white_to_move else self.white_hand

    @property
    def occupied_mask(self) -> int:
        return self.white | self.black

    @property
    def own_name(self) -> str:
        """``White`` or ``Black``: the side to move, for messages."""
        return "White" if self.white_to_move else "Black"

    @property
    def opponent_name(self) -> str:
        return "Black" if self.white_to_move else "White"

    @property
    def subspace(self) -> Subspace:
        """The subspace of the stones as they stand; an owed capture is not yet taken off."""
        return Subspace(
            self.own_mask.bit_count(), self.opponent_mask.bit_count(), self.own_hand, self.opponent_hand
        )


def start(variant: Variant) -> Position:
    """The empty board with White to move."""
    return Position(0, 0, True, variant.stones, variant.stones)


def image(position: Position, board: Board, symmetry: int) -> Position:
    """The position after applying a symmetry of the board, by number."""
    return position._replace(
        white=board.image(position.white, symmetry), black=board.image(position.black, symmetry)
    )


def points_of(mask: int) -> list[int]:
    """Bit numbers of a mask, ascending.

    >>> points_of(0b10110)
    [1, 2, 4]
    """
    return [p for p in range(mask.bit_length()) if mask >> p & 1]


def stones_in_mills(board: Board, stones: int) -> int:
    """Mask of those of one side's stones that stand in a mill."""
    found = 0
    for mill in board.mill_masks:
        if stones & mill == mill:
            found |= mill
    return found


def removable_mask(variant: Variant, stones: int) -> int:
    """Which of one side's stones a mill of the other side may remove.

    Stones outside mills; when there are none, any stone or no stone, as the variant says.
    """
    outside = stones & ~stones_in_mills(variant.board, stones)
    if outside or variant.capture_in_mills == "none":
        return outside
    return stones


def parse_own_form(text: str, variant: Variant) -> Position:
    """Reads the own form; an `InputError` gives the reason in one line.

    >>> from solver.variant import get_variant
    >>> parse_own_form("......../BBWW..../.....BWB b", get_variant("nine")).subspace.name
    '4-3'
    """
    board = variant.board
    match = _own_form_pattern(tuple(map(len, board.rings))).fullmatch(text) if len(text) <= MAX_TEXT else None
    if not match:
        raise InputError(_own_form_problem(text, board))
    stones, side, white_hand, black_hand, owed = match.groups()
    white, black = stone_masks(stones.replace("/", ""), "W", "B", ".")
    position = Position(white, black, side in "wW", int(white_hand or 0), int(black_hand or 0), bool(owed))
    check_position(position, variant)
    return position


def format_own_form(position: Position, variant: Variant) -> str:
    """Writes the own form, hands always included.

    >>> from solver.variant import get_variant
    >>> format_own_form(start(get_variant("six")), get_variant("six"))
    '......../........ w 6,6'
    """
    letters = iter(stone_letters(position, variant.board, "W", "B", "."))
    groups = "/".join("".join(next(letters) for _ in ring) for ring in variant.board.rings)
    owed = " x" if position.capture_owed else ""
    side = "w" if position.white_to_move else "b"
    return f"{groups} {side} {position.white_hand},{position.black_hand}{owed}"


def stone_masks(letters: str, white: str, black: str, free: str) -> tuple[int, int]:
    """Masks of both sides from one letter a point, in bit order."""
    digits = letters[::-1].replace(free, "0")  # the first point is the lowest bit, so the last digit
    white_digits, black_digits = digits.replace(black, "0"), digits.replace(white, "0")
    return int(white_digits.replace(white, "1"), 2), int(black_digits.replace(black, "1"), 2)


def stone_letters(position: Position, board: Board, white: str, black: str, free: str) -> str:
    """One letter a point, in bit order."""
    return "".join(
        white if position.white >> p & 1 else black if position.black >> p & 1 else free
        for p in range(board.n_points)
    )


def shown(text: str) -> str:
    """Input as it is quoted in a message: escaped, on one line, and short."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


@lru_cache(maxsize=None)
def _own_form_pattern(sizes: tuple[int, ...]) -> re.Pattern:
    groups = "/".join(f"[WB.]{{{size}}}" for size in sizes)
    return re.compile(rf"\s*({groups})\s+([wbWB])(?:\s+([0-9]{{1,3}}),([0-9]{{1,3}}))?(?:\s+([xX]))?\s*")


def _own_form_problem(text: str, board: Board) -> str:
    """Why a text that does not match is no own form."""
    if len(text) > MAX_TEXT:
        return f"{len(text)} characters are too many for a position"
    fields = text.split()
    form = "/".join("." * len(ring) for ring in board.rings)
    if not fields:
        return f"the position is empty; a position is written as {form} w 0,0"
    groups = fields[0].split("/")
    letters = "".join(groups)
    for letter in letters:
        if letter not in "WB.":
            return f"{shown(letter)} in {shown(fields[0])} is neither W nor B nor ."
    if len(letters) != board.n_points:
        return f"{shown(fields[0])} has {len(letters)} points; this board has {board.n_points}: {form}"
    if list(map(len, groups)) != list(map(len, board.rings)):
        return f"{shown(fields[0])} is not grouped as {form}"
    if len(fields) == 1:
        return "the side to move is missing: w or b after the points"
    if fields[1] not in ("w", "b", "W", "B"):
        return f"the side to move is w or b, not {shown(fields[1])}"
    if len(fields) == 2 or not re.fullmatch(r"[0-9]{1,3},[0-9]{1,3}", fields[2]):
        return f"stones in hand are written 3,4 (White, Black), not {shown(' '.join(fields[2:3]))}"
    return f"nothing but x (a capture is owed) may follow the stones in hand, not {shown(' '.join(fields[3:]))}"


def check_position(position: Position, variant: Variant) -> None:
    """Raises an `InputError` with the reason if the position makes no sense in this variant."""
    white, black, white_to_move, white_hand, black_hand, owed = position
    if white & black:
        twice = variant.board.points[points_of(white & black)[0]]
        raise InputError(f"{twice} holds a white and a black stone")
    if (white | black) >> variant.board.n_points:
        raise InputError(f"a stone stands beyond the {variant.board.n_points} points of the board")
    for name, stones, hand in (("White", white, white_hand), ("Black", black, black_hand)):
        on_board = stones.bit_count()
        if hand < 0 or on_board + hand > variant.stones:
            have = f"{name} has {on_board} on board and {hand} in hand"
            raise InputError(f"{have}; {variant.name} has {variant.stones} stones a side")
        if on_board + hand < MIN_STONES - 1:
            raise InputError(f"{name} has {on_board + hand} on board and in hand; a game ends at {MIN_STONES - 1}")
    # Whoever owes a capture has made his stone's move already: the hands are those of the other's turn.
    problem = _hands_problem(variant, white_to_move != owed, white_hand, black_hand)
    if problem:
        raise InputError(f"hands {white_hand},{black_hand} fit no order of play: {problem}")
    opponent_stones = position.opponent_mask.bit_count() + position.opponent_hand
    if opponent_stones < MIN_STONES:
        lost = f"{position.opponent_name} has only {opponent_stones} left and has lost"
        raise InputError(f"{lost}; {position.own_name} cannot be to move")
    if owed and not stones_in_mills(variant.board, position.own_mask):
        raise InputError(f"{position.own_name} owes a capture but has no mill")
    if owed and not removable_mask(variant, position.opponent_mask):
        raise InputError(f"{position.own_name} owes a capture but may remove no stone of {position.opponent_name}")


def _hands_problem(variant: Variant, white_next: bool, white_hand: int, black_hand: int) -> str | None:
    """What is wrong with the hands before White's (or Black's) turn; None if they fit."""
    if not variant.place_and_slide:
        # Both place turn by turn, White first, until both hands are empty.
        if white_next:
            return None if white_hand == black_hand else "before White's turn both have the same"
        if black_hand == white_hand + 1 or white_hand == black_hand == 0:
            return None
        return "before Black's turn Black has one more, unless both have none"
    # A side may slide instead, so hands drift apart.  Fixed is only the beginning: nobody can slide
    # without a stone, so each side's first turn places.
    full = variant.stones
    if white_next:
        if (white_hand == full) != (black_hand == full):
            return "before White's turn both have placed a stone or none has"
        return None
    if white_hand == full:
        return "before Black's turn White has placed a stone"
    if black_hand == full and white_hand != full - 1:
        return "before Black's first turn White has placed exactly one stone"
    return None


def unreachable_note(position: Position, variant: Variant) -> str | None:
    """Why the position cannot arise in play from the empty board; None where that is not known.

    A handful of counting arguments, each a proof.  Silence proves nothing: many positions without
    a note cannot arise either.

    >>> from solver.variant import get_variant
    >>> nine = get_variant("nine")
    >>> unreachable_note(parse_own_form("WWW...../BBB...../........ w 6,6", nine), nine)
    'White has more mills than black stones have been removed (0)'
    """
    board = variant.board
    sides = (
        ("White", "black", position.white, position.black, position.white_hand, position.black_hand),
        ("Black", "white", position.black, position.white, position.black_hand, position.white_hand),
    )
    for name, other, stones, other_stones, hand, other_hand in sides:
        owed = position.capture_owed and name == position.own_name
        placed = variant.stones - hand
        removed = variant.stones - other_hand - other_stones.bit_count()
        # Every mill on board was closed by some turn, and every such turn removed a stone, the owed
        # capture excepted.  One turn closes several mills only if they share the stone it brought.
        # (Where mills may remove nothing this does not hold.)
        mills = [mill for mill in board.mill_masks if stones & mill == mill]
        if variant.capture_in_mills == "any" and removed < _hitting_number(mills) - owed:
            return f"{name} has more mills than {other} stones have been removed ({removed})"
        # The first two stones close no mill, and while only placing a side has one turn a stone.
        only_placing = not variant.place_and_slide and (hand or other_hand)
        if removed > 0 and (placed < MIN_STONES or only_placing and removed > placed - 2 - owed):
            return f"{other} stones missing: {removed}, more than {name} can have removed with {placed} placed"
    # The removal that ended the game was the last turn, so its mill still stands.
    over = position.own_mask.bit_count() + position.own_hand < MIN_STONES
    if over and not stones_in_mills(board, position.opponent_mask):
        return f"{position.own_name} has lost a stone last turn, but {position.opponent_name} has no mill"
    # Black places last, so once all are placed White's turns are moves, and each leaves a point free.
    white_was_last = position.white_to_move == position.capture_owed
    if position.occupied_mask == board.full_mask and white_was_last and not variant.place_and_slide:
        return "no point is free, but White's last turn left one"
    return None


def _hitting_number(mills: list[int]) -> int:
    """Least number of points such that each mill holds one of them."""
    if not mills:
        return 0
    return 1 + min(_hitting_number([mill for mill in mills if not mill >> p & 1]) for p in points_of(mills[0]))


def draw_board(position: Position, variant: Variant) -> str:
    """The board as lines of text, with coordinates, edges, stones, and a line on turn and hands.

    >>> from solver.variant import get_variant
    >>> print(draw_board(Position(1, 1 << 8, True, 2, 2), get_variant("three")))
    3   W---.---.
        | \\ | / |
    2   .---B---.
        | / | \\ |
    1   .---.---.
        a   b   c
    White to move, in hand: White 2, Black 2
    """
    board = variant.board
    files = sorted({name[0] for name in board.points})
    ranks = sorted({int(name[1:]) for name in board.points}, reverse=True)
    place = [(2 * ranks.index(int(name[1:])), 4 * files.index(name[0])) for name in board.points]
    canvas = [[" "] * (4 * len(files) - 3) for _ in range(2 * len(ranks) - 1)]
    for a, b in board.edges:
        (row, column), (end_row, end_column) = sorted((place[a], place[b]))
        down, across = end_row - row, end_column - column
        stroke = "-" if not down else "|" if not across else "\\" if across > 0 else "/"
        # A diagonal has room for one stroke on each line between two ranks.
        steps = abs(across) if not down else down
        for i in range(1, steps):
            canvas[row + down * i // steps][column + across * i // steps] = stroke
    for (row, column), letter in zip(place, stone_letters(position, board, "W", "B", ".")):
        canvas[row][column] = letter
    labels = [str(ranks[i // 2]) if i % 2 == 0 else "" for i in range(len(canvas))]
    lines = [f"{label:<4}{''.join(row)}".rstrip() for label, row in zip(labels, canvas)]
    lines.append(" " * 4 + "   ".join(files))
    return "\n".join([*lines, describe_turn(position)])


def describe_turn(position: Position) -> str:
    """Whose turn it is and what is in hand, in one line."""
    line = f"{position.own_name} to {'remove a stone' if position.capture_owed else 'move'}"
    if position.white_hand or position.black_hand:
        line += f", in hand: White {position.white_hand}, Black {position.black_hand}"
    return line
