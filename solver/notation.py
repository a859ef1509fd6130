"""Notations of other programs: MFEN 1.0, Sanmill FEN, and game records in letters or PlayOK numbers.

`parse_position` recognises every position form; all of them pass the same check.  A game record is a
list of turns as people write it: move numbers, comments in braces, PGN tags and a result are
understood, and an error names the ply, the turn and the reason.

MFEN, Sanmill FEN and PlayOK number the 24 points of the three-ring boards and exist for no other.
They carry counters (plies, plies without a mill) that no position here knows.  What is written for
them is the least that fits; the tables know no move limit, so nothing depends on it.
"""

import re
from typing import Iterable, NamedTuple

from .board import Board
from .errors import InputError
from .moves import Turn, check_turn, format_playok_turn, format_turn, is_over, legal_turns
from .moves import need_24_points, no_turn_outcome, play, read_turn
from .position import MAX_TEXT, Position, check_position, parse_own_form, removable_mask, shown, start
from .position import stone_letters, stone_masks
from .variant import Variant


def parse_position(text: str, variant: Variant) -> Position:
    """Reads a position in own form, MFEN 1.0 or Sanmill FEN, whichever it is.

    >>> from solver.variant import get_variant
    >>> parse_position("********/********/******O* b p p 1 8 0 9 0 0 -1 -1 -1 -1 0 0 1", get_variant("nine"))
    Position(white=128, black=0, white_to_move=False, white_hand=8, black_hand=9, capture_owed=False)
    """
    if len(text) > MAX_TEXT:
        raise InputError(f"{len(text)} characters are too many for a position")
    fields = text.split()
    if fields and fields[0].upper().startswith("MFEN"):
        return parse_mfen(text, variant)
    if fields and re.search("[*O@X]", fields[0]):
        return parse_sanmill(text, variant)
    return parse_own_form(text, variant)


def _side(text: str) -> bool:
    if text not in ("w", "b"):
        raise InputError(f"the side to move is w or b, not {shown(text)}")
    return text == "w"


def _eights(text: str, letters: str) -> str:
    """The 24 letters of a board field, checked."""
    groups = text.split("/")
    for letter in "".join(groups):
        if letter not in letters:
            raise InputError(f"{shown(letter)} in the board field is none of {' '.join(letters)}")
    if list(map(len, groups)) != [8, 8, 8]:
        raise InputError(f"{shown(text)} is not three groups of eight points")
    return "".join(groups)


def _check_phase(phase: str, position: Position) -> None:
    """A phase that contradicts the hands means that one of them was mistyped."""
    in_hand = position.white_hand + position.black_hand
    if phase == "p" and not in_hand and not position.capture_owed:
        raise InputError("phase p says that stones are placed, but no stone is in hand")
    if phase == "m" and in_hand:
        raise InputError(f"phase m says that all stones are placed, but {in_hand} are in hand")


# --- MFEN -------------------------------------------------------------------------------------

#: Ends after which the loser is to move, so that the side to move can be read back.
_LOSSES = ("fewer-than-minimum", "no-legal-move", "no-legal-primary-action")


def format_mfen(position: Position, variant: Variant) -> str:
    """Writes MFEN 1.0.  A lost position is written as finished, all others as going on.

    (The finished form has no side to move.  A loss gives it back, a draw on a full board does not.)

    >>> from solver.variant import get_variant
    >>> format_mfen(start(get_variant("nine")), get_variant("nine"))
    'MFEN/1.0 mill24-state-v1 ......../......../........ w p p 9,9 - 0 0 -'
    """
    board = variant.board
    need_24_points(board, "MFEN")
    own, opponent = ("w", "b") if position.white_to_move else ("b", "w")
    phase = "p" if position.white_hand or position.black_hand else "m"
    side, action, obligations, outcome = own, phase, "-", "-"
    if position.capture_owed:
        action, obligations = "r", _obligation(position, variant)
    elif not legal_turns(variant, position) and no_turn_outcome(variant, position) == "loss":
        side, phase, action = "-", "o", "o"
        outcome = f"{opponent}:{_LOSSES[0] if is_over(variant, position) else _LOSSES[1]}"
    stones = stone_letters(position, board, "W", "B", ".")
    hands = f"{position.white_hand},{position.black_hand}"
    return (
        f"MFEN/1.0 mill24-state-v1 {stones[:8]}/{stones[8:16]}/{stones[16:]} {side} {phase} {action} "
        f"{hands} {obligations} 0 {2 * variant.stones - position.white_hand - position.black_hand} {outcome}"
    )


def parse_mfen(text: str, variant: Variant) -> Position:
    """Reads MFEN 1.0 with profile mill24-state-v1; what belongs to other rules is refused."""
    need_24_points(variant.board, "MFEN")
    fields = text.split()
    if fields[:2] != ["MFEN/1.0", "mill24-state-v1"]:
        raise InputError(f"only MFEN/1.0 mill24-state-v1 is read, not {shown(' '.join(fields[:2]))}")
    if len(fields) < 11:
        raise InputError(f"MFEN has 11 fields, from MFEN/1.0 to the outcome, not {len(fields)}")
    if len(fields) > 11:
        raise InputError(f"the MFEN extension {shown(fields[11])} belongs to rules that {variant.name} has not")
    board, side, phase, action, hands, obligations, no_progress, ply, outcome = fields[2:]
    if re.search("[wb]", board):
        raise InputError("lower-case w and b on the board belong to rules with delayed removal")
    white, black = stone_masks(_eights(board, "WB."), "W", "B", ".")
    if not re.fullmatch("[0-9]{1,3},[0-9]{1,3}", hands):
        raise InputError(f"stones in hand are written 9,9, not {shown(hands)}")
    white_hand, black_hand = map(int, hands.split(","))
    if not re.fullmatch("[0-9]{1,16} [0-9]{1,16}", f"{no_progress} {ply}"):
        raise InputError(f"no-progress and primary-ply are numbers, not {shown(f'{no_progress} {ply}')}")
    if side == "-":
        winner, _, reason = outcome.partition(":")
        if (phase, action, obligations) != ("o", "o", "-"):
            raise InputError("a finished MFEN has side -, phase o, action o and no obligation")
        if winner not in ("w", "b") or reason not in _LOSSES:
            raise InputError(f"outcome {shown(outcome)} does not say whose turn it would be")
        white_to_move = winner == "b"
    else:
        white_to_move = _side(side)
        if phase not in ("p", "m") or outcome != "-":
            raise InputError(f"with {side} to move MFEN has phase p or m and outcome -")
        if action != (phase if obligations == "-" else "r"):
            raise InputError(f"action {shown(action)} does not fit phase {phase} and obligations {shown(obligations)}")
    position = Position(white, black, white_to_move, white_hand, black_hand, obligations != "-")
    if obligations not in ("-", _obligation(position, variant)):
        expected = _obligation(position, variant)
        raise InputError(f"obligations {shown(obligations)}: {variant.name} could only have {expected} here")
    check_position(position, variant)
    _check_phase(phase, position)
    if side == "-" and (legal_turns(variant, position) or no_turn_outcome(variant, position) != "loss"):
        raise InputError(f"outcome {shown(outcome)}, but by the rules of {variant.name} the game goes on or is drawn")
    return position


def _obligation(position: Position, variant: Variant) -> str:
    """The one obligation that these rules know: one opponent stone on board, after a mill."""
    own, opponent = ("w", "b") if position.white_to_move else ("b", "w")
    return f"{own}:mill:b:{opponent}:1:{removable_mask(variant, position.opponent_mask):06x}:{opponent}"


# --- Sanmill FEN ------------------------------------------------------------------------------


def _sanmill_order(board: Board) -> list[int]:
    """Bit numbers in Sanmill's order: inner ring first, each from the middle of its top side."""
    return [8 * ring + (i + 1) % 8 for ring in (2, 1, 0) for i in range(8)]


def format_sanmill(position: Position, variant: Variant) -> str:
    """Writes Sanmill FEN in its present dialect.

    >>> from solver.variant import get_variant
    >>> format_sanmill(start(get_variant("nine")), get_variant("nine"))
    '********/********/******** w p p 0 9 0 9 0 0 -1 -1 -1 -1 0 0 1 ids:nodes'
    """
    board = variant.board
    need_24_points(board, "Sanmill FEN")
    stones = stone_letters(position, board, "O", "@", "*")
    letters = "".join(stones[p] for p in _sanmill_order(board))
    placing = position.white_hand or position.black_hand
    phase, action = ("p", "p") if placing else ("m", "s")
    if position.capture_owed:
        action = "r"
    elif not legal_turns(variant, position):
        phase, action = "o", "?"
    owed_by_white = int(position.capture_owed and position.white_to_move)
    owed_by_black = int(position.capture_owed) - owed_by_white
    # A move of the record is a turn of White and one of Black; an owed capture still belongs to its turn.
    move = variant.stones - position.black_hand + 1 - owed_by_black
    return (
        f"{letters[:8]}/{letters[8:16]}/{letters[16:]} {'w' if position.white_to_move else 'b'} {phase} {action} "
        f"{position.white.bit_count()} {position.white_hand} {position.black.bit_count()} {position.black_hand} "
        f"{owed_by_white} {owed_by_black} -1 -1 -1 -1 0 0 {move} ids:nodes"
    )


def parse_sanmill(text: str, variant: Variant) -> Position:
    """Reads Sanmill FEN, the present dialect (17 fields and ``ids:nodes``) and the older, shorter ones.

    Dialects differ behind the eighth field.  Eleven fields have one count of stones to remove, for the
    side to move, and the oldest of them give Black's stones first.  All others have a count for
    each side.  Last mills, mills mask and counters change nothing here and are not looked at.
    """
    need_24_points(variant.board, "Sanmill FEN")
    fields = text.split()
    if "X" in fields[0]:
        raise InputError("X marks a point in variants with other rules; such a position cannot be read")
    letters = _eights(fields[0], "O@*")
    n_core = next((i for i, field in enumerate(fields) if ":" in field), len(fields))
    for field in fields[n_core:]:
        if field != "ids:nodes":
            raise InputError(f"{shown(field)} belongs to rules that {variant.name} has not")
    if not 10 <= n_core <= 17:
        raise InputError(f"Sanmill FEN has 10 to 17 fields before ids:nodes, not {n_core}")
    white_to_move = _side(fields[1])
    phase, action = fields[2:4]
    if phase not in ("r", "p", "m", "o", "n") or action not in ("p", "s", "r", "?"):
        raise InputError(f"{shown(phase + ' ' + action)} is no phase (r p m o) and action (p s r ?)")
    order = _sanmill_order(variant.board)
    stones = "".join(letters[order.index(p)] for p in range(24))
    white, black = stone_masks(stones, "O", "@", "*")
    for field in fields[4:n_core]:
        if not re.fullmatch("-?[0-9]{1,20}", field):
            raise InputError(f"behind the action Sanmill FEN has only numbers, not {shown(field)}")
    is_old = n_core == 11
    hands = _sanmill_hands(fields, white.bit_count(), black.bit_count(), is_old and not variant.place_and_slide)
    owed = _sanmill_owed(fields, white_to_move, action, is_old)
    position = Position(white, black, white_to_move, *hands, owed)
    check_position(position, variant)
    _check_phase(phase, position)
    return position


def _sanmill_hands(fields: list[str], n_white: int, n_black: int, black_may_be_first: bool) -> tuple[int, int]:
    """Stones in hand of White and Black, after checking the counts on board against the board."""
    first, first_hand, second, second_hand = map(int, fields[4:8])
    if (first, second) == (n_white, n_black):
        # Which side comes first may not show on board, but White never has more in hand than Black.
        if black_may_be_first and n_white == n_black and first_hand > second_hand:
            return second_hand, first_hand
        return first_hand, second_hand
    if black_may_be_first and (second, first) == (n_white, n_black):
        return second_hand, first_hand
    raise InputError(f"the counts say {first} and {second} stones on board, but there are {n_white} and {n_black}")


def _sanmill_owed(fields: list[str], white_to_move: bool, action: str, is_old: bool) -> bool:
    """Whether the side to move owes a capture; counts that these rules cannot have are refused."""
    counts = [int(fields[8]), 0] if is_old else [int(field) for field in fields[8:10]]
    own, opponent = counts if white_to_move or is_old else counts[::-1]
    if opponent or own not in (0, 1):
        raise InputError("more is to be removed than one stone by the side to move; other rules are not read")
    if own and action != "r":
        raise InputError(f"a stone is to be removed, but the action is {action} and not r")
    return action == "r"


# --- game records -----------------------------------------------------------------------------

_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


class Ply(NamedTuple):
    """A turn of a game and the position after it."""

    turn: Turn
    position: Position


class Game(NamedTuple):
    """A game record: where it starts, its plies, and the result if one is written."""

    start: Position
    plies: tuple[Ply, ...]
    result: str | None = None

    @property
    def turns(self) -> list[Turn]:
        return [ply.turn for ply in self.plies]

    @property
    def position(self) -> Position:
        """The position at the end."""
        return self.plies[-1].position if self.plies else self.start


def parse_moves(text: str, variant: Variant, allow_owed: bool = False) -> Game:
    """Reads a game record, from the empty board or the position of a ``[FEN "..."]`` tag.

    ``allow_owed``: the last turn may close a mill and name no removal; the game then ends with the
    capture owed.  Elsewhere, and without it, such a turn is an error.

    >>> from solver.variant import get_variant
    >>> nine = get_variant("nine")
    >>> game = parse_moves("1. a7 b6 2. D7 d6 {a threat} 3. g7 xb6 *", nine)
    >>> format_moves(game.turns, nine)
    '1. a7 b6 2. d7 d6 3. g7xb6'
    >>> parse_moves("1. 1 4 2. 2 5 3. 3x4 6 4. 6", nine)
    Traceback (most recent call last):
    solver.errors.InputError: ply 7: f6 is occupied (turn 6)
    """
    start_position, tokens = _tokens(text, variant)
    position, plies, result = start_position, [], None
    n_turns = sum(token not in _RESULTS for token in tokens)
    for token in tokens:
        try:
            if result:
                raise InputError(f"nothing may follow the result {result}")
            if token in _RESULTS:
                result = token
                continue
            turn = read_turn(token, variant.board)
            check_turn(turn, variant, position, removal_may_follow=allow_owed and len(plies) + 1 == n_turns)
        except InputError as error:
            raise InputError(f"ply {len(plies) + 1}: {error} (turn {shown(token)[1:-1]})") from None
        position = play(variant, position, turn)
        plies.append(Ply(turn, position))
    return Game(start_position, tuple(plies), result)


def format_moves(
    turns: Iterable[Turn], variant: Variant, style: str = "algebraic", black_first: bool = False
) -> str:
    """Writes turns with move numbers, ``algebraic`` or with the numbers of ``playok``."""
    if style not in ("algebraic", "playok"):
        raise InputError(f"a style of writing turns is algebraic or playok, not {shown(style)}")
    words = []
    for ply, turn in enumerate(turns, int(black_first)):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        elif not words:
            words.append("1...")
        write = format_turn if style == "algebraic" else format_playok_turn
        words.append(write(variant.board, turn))
    return " ".join(words)


def _tokens(text: str, variant: Variant) -> tuple[Position, list[str]]:
    """The start of a game record and its turns and result, one string each, in small letters."""
    position = start(variant)
    bare = re.sub(r"\{[^{}]*\}", " ", text)
    if "{" in bare or "}" in bare:
        raise InputError("a comment in braces is not closed, or closed twice")
    for name, value in re.findall(r'\[\s*(\w+)\s*"([^"\[\]]*)"\s*\]', bare):
        if name.upper() == "FEN":
            position = parse_position(value, variant)
    bare = re.sub(r'\[\s*\w+\s*"[^"\[\]]*"\s*\]', " ", bare).lower()
    bare = re.sub("[\u2010-\u2015\u2212]", "-", bare).replace("\u00bd", "1/2").replace("\u00d7", "x")
    # Numbers go before removals are joined to their turn: 3. g7 3... xb6 is one turn.
    bare = " ".join(re.sub(r"(?<!\S)[0-9]{1,4}\s*\.+", " ", bare).split())
    bare = re.sub(" ?([-x]) ?", r"\1", bare)
    return position, [word for word in (word.rstrip("!?") for word in bare.split()) if word]
