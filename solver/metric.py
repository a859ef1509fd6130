"""What the values of a table say: depth to the win, the outcome alone, or depth to the next mill.

A build chooses one metric; its tables have a folder of their own and name it, and no table is read as one of another.
In memory all values are codes of ``values``; here is which of them occur, what they mean, and how a row is stored.

Outcomes are stored in two bits, four slots to the byte from the lowest bits up, each row from a byte of its own.  Read
back they are the one-byte codes of a loss in 0, a draw and a win in 1, as if every table were one ply from the end: a
value of another table leads to the right outcome, and only to that.

Depth to the next mill may come with a limit: so many moving turns of both sides in a row without a mill are a draw.
"""

from dataclasses import dataclass

import numpy as np

from .errors import InputError, TableError
from .values import (
    LOST, Outcome, decode, decode_to_mill, deepest, deepest_to_mill, draw_code, encode, encode_to_mill, max_depth,
    max_depth_to_mill, top_code, undecided_codes_to_mill,
)  # fmt: skip

#: Slots of which outcomes are taken at a time.
PART = 1 << 20
#: Two-bit numbers of the outcomes as stored: loss, draw, win; and the one-byte codes that they are read back as.
_STORED = {0: LOST, 1: draw_code(1), 2: top_code(1)}


@dataclass(frozen=True)
class Metric:
    """One meaning of tables' values.

    name: ``dtw``, plies to the end of the game; ``outcome``, no depths at all; or ``dtm``, plies until either side
    closes a mill or the game ends.  limit: for ``dtm``, moving turns without a mill that make a draw; None for no rule.
    """

    name: str
    limit: int | None = None

    def __str__(self) -> str:
        """As it stands in a table's attributes and, but for the first, in its folder's name: ``dtm50``."""
        return f"{self.name}{self.limit or ''}"

    def folder_name(self, variant_name: str) -> str:
        """Name of the folder that holds a variant's tables."""
        return variant_name if self == DTW else f"{variant_name}.{self}"

    @property
    def options(self) -> str:
        """What a command line needs to mean this metric, with a space before it."""
        limit = f" --no-mill-limit {self.limit}" if self.limit else ""
        return "" if self == DTW else f" --metric {self.name}{limit}"

    @property
    def unit(self) -> str:
        return "plies" if self.has_depths else "outcome"

    @property
    def has_depths(self) -> bool:
        return self.name != "outcome"

    @property
    def to_mill(self) -> bool:
        return self.name == "dtm"

    def decode(self, code: int, width: int) -> tuple[Outcome, int | None]:
        """Outcome and depth of a value in a table with ``width`` bytes; no depth for a draw, and where none is known."""
        outcome, depth = (decode_to_mill if self.to_mill else decode)(code, width)
        return outcome, depth if self.has_depths else None

    def deepest(self, histogram: np.ndarray) -> tuple[int, int]:
        """Longest win and longest loss in a histogram over all codes; 0 where there is none, or none is known."""
        if not self.has_depths:
            return 0, 0
        return (deepest_to_mill if self.to_mill else deepest)(histogram)

    def max_depth(self, width: int) -> int:
        """Longest loss in plies that ``width`` bytes hold safely; a win may be one ply longer."""
        return (max_depth_to_mill if self.to_mill else max_depth)(width)

    def quickest(self, width: int) -> int:
        """Code of a win in one ply in a table with ``width`` bytes; see `turn_value`."""
        return (encode_to_mill if self.to_mill else encode)(Outcome.WIN, 1, width)

    def require(self, variant, placing: bool = False) -> None:
        """`InputError` where a variant, or its placement phase, cannot have tables of this metric."""
        if self.to_mill and placing:
            raise InputError("depths to the next mill belong to the moving phase")
        if self.to_mill and variant.capture_in_mills == "none":
            raise InputError(
                f"in {variant.name} a mill may remove nothing; depths to the next mill are known only where each mill does"
            )

    def kept(self, values: np.ndarray) -> np.ndarray:
        """What a table keeps of solved values: of depths, where it has none, the outcome."""
        return values if self.has_depths else outcome_codes(values)

    def led_to(self, values: np.ndarray) -> np.ndarray:
        """What a turn into a finished table counts: its values, or only their outcomes where a mill ends the count."""
        return outcome_codes(values) if self.to_mill else values

    def limited(self, values: np.ndarray, width: int) -> np.ndarray:
        """The values, in a code of ``width`` bytes, with what is deeper than the limit a draw."""
        if self.limit is None:
            return values
        least, most = undecided_codes_to_mill(self.limit, width)
        return np.where((values >= least) & (values <= most), values.dtype.type(draw_code(width)), values)

    # ---------------------------------------------------------------- rows as stored

    def stored_columns(self, n_columns: int) -> int:
        """Items of a row as stored."""
        return n_columns if self.has_depths else -(-n_columns // 4)

    def pack(self, rows: np.ndarray) -> np.ndarray:
        """Values [rows, columns] as they are stored."""
        if self.has_depths:
            return rows
        draw = draw_code(rows.itemsize)
        numbers = np.zeros((len(rows), 4 * self.stored_columns(rows.shape[1])), np.uint8)
        np.add(rows >= draw, rows > draw, out=numbers[:, : rows.shape[1]], dtype=np.uint8)
        quarters = numbers.reshape(len(rows), -1, 4)
        return quarters[..., 0] | quarters[..., 1] << 2 | quarters[..., 2] << 4 | quarters[..., 3] << 6

    def unpack(self, stored: np.ndarray, n_columns: int, place: str = "a table") -> np.ndarray:
        """The inverse of `pack`; `TableError`, with the place, where two bits mean nothing."""
        if self.has_depths:
            return stored
        if (stored & stored >> 1 & 0x55).any():
            raise TableError(f"{place} has two bits that are no outcome")
        return _FOUR_CODES[stored].view(np.uint8).reshape(len(stored), -1)[:, :n_columns]


DTW, OUTCOME = Metric("dtw"), Metric("outcome")
NAMES = ("dtw", "outcome", "dtm")


def outcome_codes(values: np.ndarray, draw: int | None = None) -> np.ndarray:
    """One-byte codes of the outcomes alone; ``draw`` is the code of a draw where it does not follow from the width."""
    draw = draw_code(values.itemsize) if draw is None else draw
    codes, flat = np.empty(values.shape, np.uint8), values.reshape(-1)
    for start in range(0, len(flat), PART):
        part, out = flat[start : start + PART], codes.reshape(-1)[start : start + PART]
        np.multiply(part >= draw, np.uint8(_STORED[1]), out=out)
        out |= (part > draw).view(np.uint8) * np.uint8(_STORED[2])
    return codes


#: For every byte as stored its four codes, taken as one number.
_FOUR_CODES = np.array(
    [[_STORED.get(byte >> shift & 3, 0) for shift in (0, 2, 4, 6)] for byte in range(256)], np.uint8
).view(np.uint32)[:, 0]


def get_metric(name: str | None = None, limit: int | None = None) -> Metric:
    """The metric of that name; without one, ``dtm`` where there is a limit, else ``dtw``."""
    name = name or ("dtw" if limit is None else "dtm")
    if name not in NAMES:
        raise InputError(f"no metric is called {name!r}; there are {', '.join(NAMES)}")
    if limit is not None and (name != "dtm" or limit < 1):
        raise InputError("a limit without a mill is a positive number of turns and belongs to the metric dtm")
    return Metric(name, limit)
