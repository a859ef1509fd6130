"""Variants: the rules of one game as data.

Nothing in the solver knows a variant by name; it reads the fields below.  The fingerprint is a
hash of everything that can change a value, stands in every table, and is checked on opening.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property

from .board import Board, boards
from .errors import InputError

#: A side with fewer stones than this on board and in hand has lost: it can build no mill.
MIN_STONES = 3


@dataclass(frozen=True)
class Variant:
    """Rules of one game of the family.

    ``fly_at``: a side with an empty hand and at most so many stones moves to any free point; 0 = never.
    ``capture_in_mills``: what a mill removes when all opponent stones stand in mills:
    ``any`` of them, or ``none``.
    ``place_and_slide``: while stones are in hand a turn may place or slide (Lasker's game).
    ``full_board``: what the side to move gets when no point is free: ``loss`` (it is blocked) or ``draw``.
    """

    name: str
    summary: str
    board_name: str
    stones: int
    fly_at: int = 3
    capture_in_mills: str = "any"
    place_and_slide: bool = False
    full_board: str = "loss"

    def __post_init__(self) -> None:
        if self.board_name not in boards():
            raise InputError(f"no board is called {self.board_name}; there are {', '.join(boards())}")
        if self.stones < MIN_STONES:
            raise InputError(f"{self.stones} stones cannot build a mill; at least {MIN_STONES} are needed")
        if 2 * self.stones > self.board.n_points:
            raise InputError(
                f"2 x {self.stones} stones do not fit on the {self.board.n_points} points of {self.board_name}"
            )
        if self.fly_at and self.fly_at < MIN_STONES:
            raise InputError(f"a side with {self.fly_at} stones has lost and cannot fly")
        if self.capture_in_mills not in ("any", "none"):
            raise InputError("capture_in_mills is 'any' or 'none'")
        if self.full_board not in ("loss", "draw"):
            raise InputError("full_board is 'loss' or 'draw'")

    @property
    def board(self) -> Board:
        return boards()[self.board_name]

    def rules(self) -> dict:
        """Everything that can change a value, as plain data; what the fingerprint is made of."""
        board = self.board
        return {
            "board": [list(ring) for ring in board.rings],
            "edges": [list(edge) for edge in board.edges],
            "mills": [list(mill) for mill in board.mills],
            "stones": self.stones,
            "fly_at": self.fly_at,
            "capture_in_mills": self.capture_in_mills,
            "place_and_slide": self.place_and_slide,
            "full_board": self.full_board,
        }

    def rules_that_matter(self, placing: bool) -> dict:
        """The rules that can change a value of a position with stones in hand, or of one without.

        How many stones there were never matters, and once all are placed not what a turn could do before.
        """
        past = ("stones",) if placing else ("stones", "place_and_slide")
        return {rule: value for rule, value in self.rules().items() if rule not in past}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the rules, 16 hex digits, equal exactly where two variants have the same tables."""
        canonical = json.dumps(self.rules(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def options(self) -> str:
        """What a command line needs to mean this game, with a space before it.

        >>> VARIANTS["nine"].with_overrides(stones=7, fly_at=0).options
        ' -V nine --set fly_at=0 --set stones=7'
        """
        name, *changes = self.name.split(",")
        return f" -V {name}" + "".join(f" --set {change}" for change in changes)

    @property
    def known(self) -> str:
        """What is known of the empty board, and how; for people, not for programs."""
        return KNOWN.get(self.name, "unknown")

    def can_fly(self, stones_on_board: int) -> bool:
        """Whether a side with that many stones on board and none in hand may move anywhere."""
        return stones_on_board <= self.fly_at

    def with_overrides(self, **changes) -> "Variant":
        """The same game with some fields changed, under a name that lists the changes.

        >>> VARIANTS["nine"].with_overrides(stones=7, fly_at=0).name
        'nine,fly_at=0,stones=7'
        """
        rules = {name: type(getattr(self, name)) for name in self.__dataclass_fields__ if name not in ("name", "summary")}
        for rule, value in changes.items():
            if rule not in rules:
                raise InputError(f"a variant has no rule called {rule!r}; there are {', '.join(rules)}")
            if type(value) is not rules[rule]:
                raise InputError(f"{rule} is of type {rules[rule].__name__}; {value!r} is not")
        suffix = "".join(f",{key}={value}" for key, value in sorted(changes.items()))
        return replace(self, name=self.name + suffix, summary=f"{self.name} with {suffix[1:]}", **changes)


_NINE = Variant("nine", "nine men's morris, the standard game", "ring3", 9)
_SIX = Variant("six", "two squares, six stones, no flying", "ring2", 6, fly_at=0)
_TWELVE = Variant(
    "twelve", "diagonals, twelve stones, no flying, a full board is a draw",
    "ring3-diagonal", 12, fly_at=0, full_board="draw",
)

_ALL = (
    _NINE,
    replace(_NINE, name="nine-nofly", summary="nine without flying (also called Lusalos)", fly_at=0),
    replace(
        _NINE, name="nine-strict", capture_in_mills="none",
        summary="nine, but a mill removes nothing while all opponent stones stand in mills",
    ),
    replace(
        _NINE, name="lasker", stones=10, place_and_slide=True,
        summary="ten stones; a turn may place or slide while stones are in hand",
    ),
    replace(
        _NINE, name="lasker-nine", place_and_slide=True,
        summary="nine stones; a turn may place or slide while stones are in hand",
    ),
    replace(_TWELVE, name="morabaraba", fly_at=3, summary="diagonals, twelve stones, flying, a full board is a draw"),
    _TWELVE,
    replace(_NINE, name="ten", stones=10, summary="nine's board with ten stones"),
    replace(_TWELVE, name="eleven", stones=11, fly_at=3, summary="the diagonal board with eleven stones, flying"),
    _SIX,
    replace(_SIX, name="six-fly", fly_at=3, summary="two squares, six stones, flying"),
    replace(_SIX, name="five", stones=5, summary="two squares, five stones, no flying"),
    replace(_SIX, name="four", stones=4, summary="two squares, four stones, no flying"),
    Variant("three", "3x3 board with diagonals, three stones, no flying; a row wins at once", "grid3", 3, fly_at=0),
)

#: Every named variant, in the order in which the documents list them.
VARIANTS: dict[str, Variant] = {variant.name: variant for variant in _ALL}


#: What is known of the empty board, by name of the variant.
KNOWN = {
    "nine": "draw (Gasser 1996); proved here, and by complete tables",
    "nine-nofly": "draw, proved here from the complete moving phase",
    "nine-strict": "draw, proved here from the complete moving phase",
    "lasker": "draw (Stahlhacke 2003); by complete tables of outcomes here too",
    "lasker-nine": "draw, by complete tables of outcomes",
    "morabaraba": "win for the first player in 49 plies (Gévay and Danner 2014); proved here from the complete moving phase",
    "twelve": "win for the first player in 47 plies, proved here from the complete moving phase",
    "ten": "draw (Gévay and Danner 2014); proved here from the complete moving phase",
    "eleven": "win for the first player (Gévay and Danner 2014), in 45 plies; proved here from the complete moving phase",
    "six": "draw, by complete tables",
    "six-fly": "draw, by complete tables",
    "five": "draw, by complete tables",
    "four": "draw, by complete tables",
    "three": "win for the first player in 9 plies, by complete tables",
}


def relatives(variant: Variant, placing: bool) -> list[Variant]:
    """The named variants with other rules whose tables, with stones in hand or without, hold the same values.

    >>> [relative.name for relative in relatives(VARIANTS["nine"], placing=False)]
    ['lasker', 'lasker-nine', 'ten']
    >>> [relative.name for relative in relatives(VARIANTS["nine"], placing=True)]
    ['ten']
    """
    rules = variant.rules_that_matter(placing)
    return [
        other for other in VARIANTS.values()
        if other.fingerprint != variant.fingerprint and other.rules_that_matter(placing) == rules
    ]  # fmt: skip


def as_named(variant: Variant) -> Variant:
    """The named variant of the same rules, whose tables are this one's; the variant itself where none is.

    >>> as_named(VARIANTS["nine"].with_overrides(fly_at=0)).name
    'nine-nofly'
    """
    return next((named for named in VARIANTS.values() if named.fingerprint == variant.fingerprint), variant)


def get_variant(name: str) -> Variant:
    """The variant of that name, or an `InputError` that lists the names."""
    if name not in VARIANTS:
        raise InputError(f"no variant is called {name!r}; there are {', '.join(VARIANTS)}")
    return VARIANTS[name]
