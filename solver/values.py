"""The value code: one unsigned integer per slot that holds outcome and depth.

A value is seen from the side to move.  DTW (depth to win) counts plies to the end of the game,
the winner hurrying and the loser delaying; 0 means already lost, wins are odd, losses even.
The code orders values by how much the side to move likes them, so the best of several turns is
a plain maximum:

    width 1 byte     0    1    2  ...  126 | 128  | 129 ...  254  255
    meaning         L0   L2   L4  ... L252 | draw | W253 ...  W3   W1

With a width of two bytes the same picture has its draw at 32768.  ``seen_by_mover`` turns the
value of a position into the value of the turn that leads to it, one ply earlier.

DTM (depth to the next mill, by either side, or the end of the game) has depths of either parity,
and so a code of its own, in the same order:

    width 1 byte     0    1    2  ...  125 | 128  | 129 ...  253  254
    meaning         L0   L1   L2  ... L125 | draw | W126 ...  W2   W1

This module is the only owner of both codes: how an outcome and a depth become a number, and back, is written here.
Others know that losses lie below the draw and wins above it, and that the larger of two codes is the better one.

It needs no numba.  Functions that take the code of a draw in place of a width work on ints and, compiled, inside
kernels, which compile them for themselves and give them signed integers.
"""

from enum import Enum

import numpy as np

from .errors import DepthOverflowError


class Outcome(str, Enum):
    """Outcome for the side to move.  UNKNOWN stands where a table is missing; it is never a draw."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


#: Code of "the side to move has already lost", also the neutral element of ``max``; that of ``min`` is `largest_code`.
LOST = 0

DTYPES = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}


def draw_code(width: int) -> int:
    """Code of a draw for tables of ``width`` bytes per slot."""
    return 1 << (8 * width - 1)


def top_code(width: int) -> int:
    """Code of a win in one ply, the largest code of that width."""
    return largest_code(draw_code(width))


def largest_code(draw):
    """`top_code` of the width with that draw code.

    >>> largest_code(128)
    255
    """
    return 2 * draw - 1


def code_without_turns(draw):
    """What the least code after a side's turns is where it has none: larger than all codes, and `LOST` to `turn_value`.

    >>> code_without_turns(128), turn_value(code_without_turns(128), 128, 255)
    (256, 0)
    """
    return 2 * draw


def max_depth(width: int) -> int:
    """Deepest loss whose parent's win still fits: 252 plies for one byte."""
    return 2 * (draw_code(width) - 2)


def encode(outcome: Outcome, depth: int | None, width: int) -> int:
    """Code of an outcome with its DTW in plies (ignored for a draw).

    >>> encode(Outcome.WIN, 1, 1), encode(Outcome.LOSS, 0, 1), encode(Outcome.DRAW, None, 1)
    (255, 0, 128)
    """
    if outcome is Outcome.DRAW:
        return draw_code(width)
    if depth is None or depth < 0 or depth % 2 != (outcome is Outcome.WIN):
        raise ValueError(f"a {outcome} cannot have depth {depth}")
    if depth > max_depth(width) + 1:
        raise DepthOverflowError(f"{depth} plies do not fit {width} byte(s) per slot")
    return top_code(width) - depth // 2 if outcome is Outcome.WIN else depth // 2


def decode(code: int, width: int) -> tuple[Outcome, int | None]:
    """Outcome and DTW in plies (None for a draw) of a code.

    >>> decode(254, 1), decode(13, 1), decode(128, 1)
    ((<Outcome.WIN: 'win'>, 3), (<Outcome.LOSS: 'loss'>, 26), (<Outcome.DRAW: 'draw'>, None))
    """
    draw = draw_code(width)
    code = int(code)
    if code == draw:
        return Outcome.DRAW, None
    return Outcome.WIN if code > draw else Outcome.LOSS, depth_of(code, draw)


def depth_of(code, draw):
    """DTW in plies of a decided value's code; meaningless for the draw's.

    >>> depth_of(254, 128), depth_of(13, 128)
    (3, 26)
    """
    if code > draw:
        return 2 * (2 * draw - 1 - code) + 1
    return 2 * code


def depths_of(codes: np.ndarray, width: int) -> np.ndarray:
    """`depth_of` for an array of codes, of a signed type with room for twice the largest; that is the result's type."""
    return np.where(codes > draw_code(width), 2 * (top_code(width) - codes) + 1, 2 * codes)


def code_of_depth(depth: int, width: int) -> int:
    """Code of the decided value with that DTW: odd depths are wins, even ones losses."""
    return encode(Outcome.WIN if depth % 2 else Outcome.LOSS, depth, width)


def seen_by_mover(code, draw):
    """Value, for the side that moves into a position, of that turn, from the position's ``code``.

    ``draw`` is the draw code of the width.  Works on ints and, compiled, inside kernels:
    a loss in d becomes a win in d + 1, a win in d a loss in d + 1, a draw stays.

    >>> seen_by_mover(0, 128), seen_by_mover(255, 128), seen_by_mover(128, 128)
    (255, 1, 128)
    """
    if code < draw:
        return 2 * draw - 1 - code
    return 2 * draw - code


def undecided_codes(plies: int | None, width: int) -> tuple[int, int]:
    """Smallest and largest DTW code of a value with which nobody wins within so many plies; None is any number of them.

    >>> undecided_codes(3, 1), undecided_codes(None, 1)  # not L0, L2, W3, W1
    ((2, 253), (128, 128))
    """
    draw = draw_code(width)
    if plies is None:
        return draw, draw
    return min(plies // 2 + 1, draw), max(top_code(width) - (plies + 1) // 2, draw)


def widening(narrow: int, wide: int) -> np.ndarray:
    """For each code of ``narrow`` bytes the code of ``wide`` bytes that means the same; holds for DTW and DTM."""
    draw = draw_code(narrow)
    codes = np.arange(1 << 8 * narrow, dtype=np.int64)
    codes[draw + 1 :] += top_code(wide) - top_code(narrow)  # losses count from the lower end, wins from the upper
    codes[draw] = draw_code(wide)
    return codes.astype(DTYPES[wide])


def turn_value(code, draw, quickest):
    """``seen_by_mover`` for either code; ``quickest`` is that code's win in one ply.

    >>> turn_value(0, 128, 255), turn_value(255, 128, 255)  # DTW: lost, won in 1
    (255, 1)
    >>> turn_value(3, 128, 254), turn_value(253, 128, 254)  # DTM: lost in 3 is won in 4, won in 2 is lost in 3
    (251, 3)
    """
    if code < draw:
        return quickest - code
    return 2 * draw - code


def max_depth_to_mill(width: int) -> int:
    """Deepest DTM whose predecessor's still fits: 125 plies for one byte."""
    return draw_code(width) - 3


def encode_to_mill(outcome: Outcome, depth: int | None, width: int) -> int:
    """Code of an outcome with its DTM in plies (ignored for a draw).

    >>> encode_to_mill(Outcome.WIN, 1, 1), encode_to_mill(Outcome.LOSS, 3, 1), encode_to_mill(Outcome.DRAW, None, 1)
    (254, 3, 128)
    """
    if outcome is Outcome.DRAW:
        return draw_code(width)
    if depth is None or depth < (outcome is Outcome.WIN):
        raise ValueError(f"a {outcome} cannot have depth {depth}")
    if depth > max_depth_to_mill(width):
        raise DepthOverflowError(f"{depth} plies do not fit {width} byte(s) per slot")
    return top_code(width) - depth if outcome is Outcome.WIN else depth


def codes_to_mill(won: np.ndarray, depths: np.ndarray, width: int) -> np.ndarray:
    """`encode_to_mill` for arrays: whether slots are won, and their DTM in plies (signed, -1 for a draw).

    Depths beyond `max_depth_to_mill` are not noticed.
    """
    codes = np.where(won, top_code(width) - depths, depths)
    return np.where(depths < 0, draw_code(width), codes).astype(DTYPES[width])


def undecided_codes_to_mill(plies: int, width: int) -> tuple[int, int]:
    """`undecided_codes` for codes of DTM.

    >>> undecided_codes_to_mill(3, 1)  # not L0 to L3, W3 to W1
    (4, 251)
    """
    draw = draw_code(width)
    return min(plies + 1, draw), max(top_code(width) - plies - 1, draw)


def decode_to_mill(code: int, width: int) -> tuple[Outcome, int | None]:
    """Outcome and DTM in plies (None for a draw) of a code.

    >>> decode_to_mill(254, 1), decode_to_mill(3, 1)
    ((<Outcome.WIN: 'win'>, 1), (<Outcome.LOSS: 'loss'>, 3))
    """
    draw, code = draw_code(width), int(code)
    if code == draw:
        return Outcome.DRAW, None
    return (Outcome.WIN, top_code(width) - code) if code > draw else (Outcome.LOSS, code)


def outcome_counts(histogram: np.ndarray) -> tuple[int, int, int]:
    """Wins, losses and draws in a histogram over all codes (length 256 or 65536)."""
    draw = len(histogram) // 2
    return int(histogram[draw + 1 :].sum()), int(histogram[:draw].sum()), int(histogram[draw])


def deepest(histogram: np.ndarray) -> tuple[int, int]:
    """Longest win and longest loss in plies that occur in a histogram; 0 where there is none."""
    draw = len(histogram) // 2
    wins = np.flatnonzero(histogram[draw + 1 :])
    losses = np.flatnonzero(histogram[:draw])
    longest_win = depth_of(draw + 1 + int(wins[0]), draw) if len(wins) else 0
    return longest_win, depth_of(int(losses[-1]), draw) if len(losses) else 0


def deepest_to_mill(histogram: np.ndarray) -> tuple[int, int]:
    """`deepest` for a histogram over codes of DTM."""
    draw = len(histogram) // 2
    wins = np.flatnonzero(histogram[draw + 1 :])
    losses = np.flatnonzero(histogram[:draw])
    longest_win = len(histogram) - 1 - (draw + 1 + int(wins[0])) if len(wins) else 0
    return longest_win, int(losses[-1]) if len(losses) else 0
