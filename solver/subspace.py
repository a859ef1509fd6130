"""Subspaces: all positions with the same stones on board and in hand.

Written ``own-opponent``, with stones in hand ``own-opponent+own_hand-opponent_hand``, seen from
the side to move.  The *twin* has the two sides exchanged; a subspace of the moving phase and its
twin form a pair, share one index and one file, and lead into each other by quiet moves.

    5-4 <-> 4-5           a pair, named after the twin with more own stones
    3-4+6-5               placing: who is to move follows from the hands, so it stands alone
"""

import re
from functools import lru_cache
from math import comb
from typing import NamedTuple

from .board import Board
from .errors import InputError
from .variant import MIN_STONES, Variant


class Subspace(NamedTuple):
    """Stones on board and in hand of the side to move (own) and the other side (opponent)."""

    own: int
    opponent: int
    own_hand: int = 0
    opponent_hand: int = 0

    @property
    def name(self) -> str:
        hands = f"+{self.own_hand}-{self.opponent_hand}" if self.is_placing else ""
        return f"{self.own}-{self.opponent}{hands}"

    @property
    def twin(self) -> "Subspace":
        return Subspace(self.opponent, self.own, self.opponent_hand, self.own_hand)

    @property
    def is_placing(self) -> bool:
        """Whether any stone is still in hand."""
        return bool(self.own_hand or self.opponent_hand)

    @property
    def is_over(self) -> bool:
        """Whether the side to move has too few stones left: every position in it is lost in 0."""
        return self.own + self.own_hand < MIN_STONES

    @property
    def rows_are_own(self) -> bool:
        """Whether the index takes its rows from the side to move (else from the other side).

        Rows come from the side with more stones on board; when equal, from the one with more in hand;
        when that is equal too, from the side to move.  With this choice a placement leads to a table with
        the same row side, and so does a capture, but for one subspace in three.
        """
        return (self.own, self.own_hand) >= (self.opponent, self.opponent_hand)

    def sides(self, rows_own: bool) -> tuple[int, int]:
        """Stones on board of the row side and of the column side, the rows being the side to move's or the other's."""
        return (self.own, self.opponent) if rows_own else (self.opponent, self.own)

    @property
    def table_sides(self) -> tuple[int, int]:
        """Stones on board of the row side and of the column side in the index; see `rows_are_own`."""
        return self.sides(self.rows_are_own)

    @property
    def stones_on_board(self) -> int:
        return self.own + self.opponent


def solved_together(variant: Variant, subspace: Subspace) -> tuple[Subspace, ...]:
    """The subspaces that share one file and one retrograde pass with this one, the file's name first.

    A pair where quiet moves lead from one to the other and back; a subspace alone where there are
    none (placing without sliding) or where it is its own twin.
    """
    if subspace.is_placing and not variant.place_and_slide or subspace == subspace.twin:
        return (subspace,)
    return tuple(sorted((subspace, subspace.twin), reverse=True))


def parse_subspace(text: str, variant: Variant) -> Subspace:
    """Reads ``5-4`` or ``3-4+6-5`` and checks that the variant can have such a subspace."""
    match = re.fullmatch(r"(\d{1,2})-(\d{1,2})(?:\+(\d{1,2})-(\d{1,2}))?", text.strip())
    if not match:
        raise InputError(f"{text[:40]!r} is no subspace; write 5-4, or 3-4+6-5 with stones in hand")
    subspace = Subspace(*(int(g or 0) for g in match.groups()))
    for on_board, hand in (subspace[::2], subspace[1::2]):
        if not MIN_STONES <= on_board + hand <= variant.stones:
            raise InputError(
                f"{variant.name} has no subspace {text}: a side has {MIN_STONES} to {variant.stones} "
                "stones on board and in hand"
            )
    return subspace


def conversions(variant: Variant, subspace: Subspace) -> list[Subspace]:
    """The subspaces that a single capture or placement leads to, finished ones (`is_over`) left out.

    Counts alone decide: a capture needs three stones of the mover on board after the turn and one to remove.
    """
    found = set()
    own, opponent, own_hand, opponent_hand = subspace
    if own_hand and subspace.stones_on_board < variant.board.n_points:
        found.add(Subspace(opponent, own + 1, opponent_hand, own_hand - 1))
        if own + 1 >= MIN_STONES and opponent:
            found.add(Subspace(opponent - 1, own + 1, opponent_hand, own_hand - 1))
    if (not own_hand or variant.place_and_slide) and own >= MIN_STONES and opponent:
        found.add(Subspace(opponent - 1, own, opponent_hand, own_hand))
    return sorted(s for s in found if not s.is_over)


def dependencies(variant: Variant, subspace: Subspace) -> list[Subspace]:
    """The files that must be finished before this one can be solved, by the subspace they are named after."""
    together = solved_together(variant, subspace)
    needed = {solved_together(variant, c)[0] for s in together for c in conversions(variant, s)}
    return sorted(needed - {together[0]})


def start_subspace(variant: Variant) -> Subspace:
    """The subspace of the empty board."""
    return Subspace(0, 0, variant.stones, variant.stones)


def placing_subspaces(variant: Variant) -> list[Subspace]:
    """All subspaces with stones in hand that can arise from the empty board, in an order fit for building.

    Found by following turns from the empty board on the counts alone: a placement, a placement or slide that
    captures (see `conversions`), and where a turn may slide, the twin.  Each file once.
    """
    found, open_ones = set(), [start_subspace(variant)]
    while open_ones:
        subspace = open_ones.pop()
        if subspace not in found and subspace.is_placing:
            found.add(subspace)
            open_ones += conversions(variant, subspace)
            if variant.place_and_slide:  # the twin shares the file, so it is solved, and needs its own
                open_ones.append(subspace.twin)
    files = {solved_together(variant, s)[0] for s in found}
    return sorted(files, key=lambda s: (s.own_hand + s.opponent_hand, s.stones_on_board, s))


def moving_pairs(variant: Variant) -> list[Subspace]:
    """The pairs of the moving phase in an order in which every conversion leads to an earlier one."""
    sizes = range(MIN_STONES, variant.stones + 1)
    pairs = [Subspace(a, b) for a in sizes for b in sizes if a >= b]
    return sorted(pairs, key=lambda s: (s.stones_on_board, s.own))


def count_canonical(variant: Variant, subspace: Subspace) -> int:
    """Positions of a subspace that are distinct under the board's symmetries."""
    return _count_orbits(variant.board, *sorted(subspace[:2]))


@lru_cache(maxsize=None)
def _count_orbits(board: Board, fewer: int, more: int) -> int:
    """Arrangements of so many stones of either side up to symmetry, by Burnside's lemma.

    A symmetry with cycles of lengths l1, l2, ... fixes as many arrangements as there are ways to colour whole
    cycles: the coefficient of x^fewer y^more in the product of (1 + x^l + y^l).
    """
    total = 0
    for symmetry in board.symmetries:
        ways = {(0, 0): 1}
        for length in _cycle_lengths(symmetry):
            grown = dict(ways)
            for (a, b), n in ways.items():
                for key in ((a + length, b), (a, b + length)):
                    if key[0] <= fewer and key[1] <= more:
                        grown[key] = grown.get(key, 0) + n
            ways = grown
        total += ways.get((fewer, more), 0)
    return total // len(board.symmetries)


def count_raw(variant: Variant, subspace: Subspace) -> int:
    """Positions of a subspace without symmetry."""
    n = variant.board.n_points
    return comb(n, subspace.own) * comb(n - subspace.own, subspace.opponent)


def _cycle_lengths(symmetry: tuple[int, ...]) -> list[int]:
    lengths, seen = [], set()
    for start in range(len(symmetry)):
        length, p = 0, start
        while p not in seen:
            seen.add(p)
            p = symmetry[p]
            length += 1
        if length:
            lengths.append(length)
    return lengths
