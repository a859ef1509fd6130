"""Turns: which are legal, what they lead to, and how they are written.

This is the readable statement of the rules, for everything that handles single positions.
A turn is written ``d6`` (place) or ``d6-d5`` (move), with ``xb4`` behind it for the stone it removes;
where only a capture is owed it is ``xb4`` alone.  PlayOK's numbers for points are understood as well.
"""

import re
from typing import Iterator, NamedTuple, Sequence

from .board import Board
from .errors import InputError
from .position import Position, points_of, removable_mask, shown
from .variant import MIN_STONES, Variant


class Turn(NamedTuple):
    """One turn by bit numbers of points: placing has no origin, an owed capture only ``captured``."""

    origin: int | None = None
    target: int | None = None
    captured: int | None = None


def is_over(variant: Variant, position: Position) -> bool:
    """Whether a side has too few stones left on board and in hand.  In play that is the side to move."""
    own = position.own_mask.bit_count() + position.own_hand
    opponent = position.opponent_mask.bit_count() + position.opponent_hand
    return min(own, opponent) < MIN_STONES


def legal_turns(variant: Variant, position: Position) -> list[Turn]:
    """All legal turns, in the order of their points; none if the game is over or the side blocked.

    >>> from solver.position import parse_own_form
    >>> from solver.variant import get_variant
    >>> nine = get_variant("nine")
    >>> position = parse_own_form("W.W...../B..B..../........ w 7,7", nine)
    >>> [format_turn(nine.board, t) for t in legal_turns(nine, position)][:3]
    ['d7xb6', 'd7xf4', 'g4']
    """
    if is_over(variant, position):
        return []
    removable = points_of(removable_mask(variant, position.opponent_mask))
    if position.capture_owed:
        return [Turn(captured=point) for point in removable]
    own = position.own_mask
    turns = []
    for origin, target in _steps(variant, position):
        if closes_mill(variant.board, own, origin, target):
            # Nothing to remove: the opponent's stones are all protected, or all still in hand.
            turns += [Turn(origin, target, captured) for captured in removable or (None,)]
        else:
            turns.append(Turn(origin, target))
    return turns


def _steps(variant: Variant, position: Position) -> Iterator[tuple[int | None, int]]:
    """Origin and target of every turn, whatever it removes."""
    board, own = variant.board, position.own_mask
    free = board.full_mask & ~position.occupied_mask
    if position.own_hand:
        for target in points_of(free):
            yield None, target
        if not variant.place_and_slide:
            return
    flies = not position.own_hand and variant.can_fly(own.bit_count())
    for origin in points_of(own):
        for target in points_of(free if flies else free & board.neighbour_masks[origin]):
            yield origin, target


def closes_mill(board: Board, own: int, origin: int | None, target: int) -> bool:
    """Whether a stone that comes to ``target``, from hand or from ``origin``, completes a mill."""
    if origin is not None:
        own &= ~(1 << origin)
    own |= 1 << target
    return any(own & mill == mill for mill in board.mills_through[target])


def play(variant: Variant, position: Position, turn: Turn) -> Position:
    """The position after a turn, which must be legal.

    One thing more is allowed: a turn that closes a mill and leaves out the removal leads to the
    position in which the same side still owes it.
    """
    own, opponent = position.own_mask, position.opponent_mask
    own_hand, opponent_hand = position.own_hand, position.opponent_hand
    owed = False
    if turn.target is not None:
        closes = turn.captured is None and closes_mill(variant.board, own, turn.origin, turn.target)
        owed = closes and removable_mask(variant, opponent) != 0
        if turn.origin is None:
            own_hand -= 1
        else:
            own &= ~(1 << turn.origin)
        own |= 1 << turn.target
    if turn.captured is not None:
        opponent &= ~(1 << turn.captured)
    if position.white_to_move:
        return Position(own, opponent, owed, own_hand, opponent_hand, owed)
    return Position(opponent, own, not owed, opponent_hand, own_hand, owed)


def has_turn(variant: Variant, position: Position) -> bool:
    """Whether the side to move can place or move a stone, where the game is not over and no capture is owed."""
    own, board = position.own_mask, variant.board
    free = board.full_mask & ~position.occupied_mask
    if position.own_hand and (free or not variant.place_and_slide):
        return bool(free)
    if not position.own_hand and variant.can_fly(own.bit_count()):
        return bool(free)
    return any(free & board.neighbour_masks[p] for p in points_of(own))


def no_turn_outcome(variant: Variant, position: Position) -> str:
    """What the side to move gets when it has no legal turn: ``loss``, or ``draw``.

    A draw only where the variant gives one for a full board, the board is full, and nobody has lost.
    The strings are the values of `solver.values.Outcome`, which needs numpy and is left alone here.
    """
    full = position.occupied_mask == variant.board.full_mask
    if full and variant.full_board == "draw" and not is_over(variant, position):
        return "draw"
    return "loss"


def turn_image(turn: Turn, board: Board, symmetry: int) -> Turn:
    """The turn after applying a symmetry of the board, by number."""
    images = board.symmetries[symmetry]
    return Turn(*(None if point is None else images[point] for point in turn))


# --- text -------------------------------------------------------------------------------------

# x is no file, so that the x of a removal ends a point; whether a point exists the board says.
_TURN = re.compile("(?:P(?:-?P)?)?(?:xP)?".replace("P", "([a-wyz][0-9])"))
_PLAYOK_TURN = re.compile("(?:P(?:-P)?)?(?:xP)?".replace("P", "([0-9]{1,2})"))


def format_turn(board: Board, turn: Turn) -> str:
    """Writes a turn: ``d6``, ``d6-d5``, ``g1xd2``, ``a4-a7xd2``, ``xb4``."""
    return _write(turn, board.points)


def format_playok_turn(board: Board, turn: Turn) -> str:
    """Writes a turn with PlayOK's numbers, 1 to 24 in reading order: ``4``, ``10-11``, ``10-11x5``."""
    order = _playok_order(board)
    return _write(turn, [str(order.index(p) + 1) for p in range(24)])


def _write(turn: Turn, names: Sequence[str]) -> str:
    step = "-".join(names[p] for p in turn[:2] if p is not None)
    return step if turn.captured is None else f"{step}x{names[turn.captured]}"


def read_turn(text: str, board: Board) -> Turn:
    """What the text of one turn says, legal or not; capitals and a missing dash are accepted."""
    compact = re.sub(r"\s*([-x])\s*", r"\1", text.strip().lower()) if len(text) <= 100 else ""
    match = _TURN.fullmatch(compact)
    if match:
        for name in match.groups():
            if name and name not in board.index_of:
                raise InputError(f"the board has no point {name}")
        points = [name and board.index_of[name] for name in match.groups()]
    else:
        match = _PLAYOK_TURN.fullmatch(compact)
        if match:
            order = _playok_order(board)
            for number in match.groups():
                if number and not 1 <= int(number) <= 24:
                    raise InputError(f"points are numbered 1 to 24, there is no {number}")
            points = [number and order[int(number) - 1] for number in match.groups()]
    if not compact or not match:
        raise InputError(f"{shown(text)} is no turn; write d6, d6-d5, or d6-d5xb4 with a removal")
    first, second, captured = points
    return Turn(None, first, captured) if second is None else Turn(first, second, captured)


def _playok_order(board: Board) -> list[int]:
    """Bit numbers as one reads: line by line from the top, from left to right."""
    need_24_points(board, "PlayOK numbering")
    return sorted(range(24), key=lambda p: (-int(board.points[p][1:]), board.points[p]))


def need_24_points(board: Board, notation: str) -> None:
    """Raises an `InputError` for a board of another size, for notations that know only this one."""
    if list(map(len, board.rings)) != [8, 8, 8]:
        raise InputError(f"{notation} exists only for boards of 24 points; this one has {board.n_points}")


def parse_turn(text: str, variant: Variant, position: Position) -> Turn:
    """Reads a turn that is legal in the position; otherwise an `InputError` says why it is not.

    >>> from solver.position import start
    >>> from solver.variant import get_variant
    >>> nine = get_variant("nine")
    >>> parse_turn("D6", nine, start(nine))
    Turn(origin=None, target=9, captured=None)
    >>> parse_turn("d6-d5", nine, start(nine))
    Traceback (most recent call last):
    solver.errors.InputError: White still has 9 stones to place
    """
    turn = read_turn(text, variant.board)
    check_turn(turn, variant, position)
    return turn


def check_turn(turn: Turn, variant: Variant, position: Position, removal_may_follow: bool = False) -> None:
    """Raises an `InputError` with the reason if a turn is not legal.

    ``removal_may_follow``: a turn that closes a mill need not name the stone it removes.
    """
    if is_over(variant, position):
        raise InputError(f"the game is over, {position.own_name} has lost")
    if turn.target is None:
        if not position.capture_owed:
            raise InputError(f"{position.own_name} has closed no mill, so no stone is removed")
    elif position.capture_owed:
        raise InputError(f"{position.own_name} has closed a mill and must remove a stone first")
    else:
        problem = _step_problem(turn, variant, position)
        if problem:
            raise InputError(problem)
    problem = _removal_problem(turn, variant, position, removal_may_follow)
    if problem:
        raise InputError(problem)


def _step_problem(turn: Turn, variant: Variant, position: Position) -> str | None:
    """Why a stone cannot come to the target."""
    own_name, hand = position.own_name, position.own_hand
    names = variant.board.points
    if turn.origin is None:
        if not hand:
            return f"{own_name} has no stone left to place"
    else:
        if hand and not variant.place_and_slide:
            return f"{own_name} still has {hand} stone{'s' * (hand > 1)} to place"
        if not position.own_mask >> turn.origin & 1:
            return f"there is no {own_name.lower()} stone on {names[turn.origin]}"
        if turn.origin == turn.target:
            return f"a move ends on another point than {names[turn.origin]}"
    if position.occupied_mask >> turn.target & 1:
        return f"{names[turn.target]} is occupied"
    if (turn.origin, turn.target) not in _steps(variant, position):
        reason = f"{names[turn.origin]} and {names[turn.target]} are not adjacent"
        if variant.fly_at:
            reason += f", and only a side with at most {variant.fly_at} stones and none in hand flies"
        return reason
    return None


def _removal_problem(turn: Turn, variant: Variant, position: Position, may_follow: bool) -> str | None:
    """Why the turn may not remove what it says, or must remove what it leaves out."""
    board, opponent = variant.board, position.opponent_mask
    removable = removable_mask(variant, opponent)
    closes = turn.target is None or closes_mill(board, position.own_mask, turn.origin, turn.target)
    if turn.captured is None:
        if closes and removable and not may_follow:
            choice = " ".join("x" + board.points[p] for p in points_of(removable))
            return f"{format_turn(board, turn)} closes a mill and names no removal; add one of {choice}"
        return None
    name, color = board.points[turn.captured], position.opponent_name.lower()
    if not closes:
        return f"{format_turn(board, turn._replace(captured=None))} closes no mill, so no stone is removed"
    if not opponent >> turn.captured & 1:
        return f"there is no {color} stone on {name} to remove"
    if not removable:
        return f"all {color} stones stand in mills, so the mill removes nothing"
    if not removable >> turn.captured & 1:
        return f"the stone on {name} stands in a mill, and other {color} stones do not"
    return None
