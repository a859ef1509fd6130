"""The quick twin: every value of a finished game recomputed on bit masks, without importing anything of the package.

The slow twin in `oracle.py` solves games by itself, on sets of point names, and that ends at a few million positions.  This
one takes boards and rules from there, and the tables from their files as `data/FORMAT.md` describes them, and compares
every slot with what its successors' slots imply.  Where all agree the tables are right: by induction on the depth no win
or loss is false or too short, and by induction on the true depth none is missing or too long, so what is left is drawn.
"""

from concurrent.futures import ThreadPoolExecutor
from math import comb
from typing import NamedTuple

import h5py
import numba
import numpy as np
import oracle

LOST, DRAWN = 0, 128
#: Stands for a table that is not there.
MISSING = -1


class Game(NamedTuple):
    """What the kernels need.

    may_break: mills, where all stones stand in some; may_slide: also while stones are in hand; neighbours: int64[points],
    masks; others: int64[points, 4], the two other points of each mill through a point, 0 behind the last; row_of,
    symmetry_of: by mask, the number of its orbit among those of as many stones, and a symmetry that leads to the
    smallest of its images; images: int64[symmetries, 3, 256], images of a mask's three bytes; binomials: int64[25, 25];
    values: uint8[...], all tables after each other; offsets: int64 by stones of the side to move and of the other and by
    their hands; one_ply_on: uint8[256], what a child's value means for its parent.
    """

    n_points: int
    fly_at: int
    may_break: bool
    may_slide: bool
    full_board: int
    neighbours: np.ndarray
    others: np.ndarray
    row_of: np.ndarray
    symmetry_of: np.ndarray
    images: np.ndarray
    binomials: np.ndarray
    values: np.ndarray
    offsets: np.ndarray
    one_ply_on: np.ndarray


def _compiled(function):
    return numba.njit(nogil=True)(function)


@_compiled
def _count(mask):
    mask = mask - (mask >> 1 & 0x555555)
    mask = (mask & 0x333333) + (mask >> 2 & 0x333333)
    mask = mask + (mask >> 4) & 0x0F0F0F
    return mask + (mask >> 8) + (mask >> 16) & 31


@_compiled
def _lowest(mask):
    """The number of the lowest point in a mask."""
    return _count((mask & -mask) - 1)


@_compiled
def _image(images, g, mask):
    return images[g, 0, mask & 255] | images[g, 1, mask >> 8 & 255] | images[g, 2, mask >> 16]


@_compiled
def _number_orbits(images, inverse, most, row_of, symmetry_of, smallest, n_rows):
    """Goes over all masks of up to so many stones, ascending: the first of an orbit is the smallest of its images."""
    for mask in range(len(row_of)):
        n = _count(mask)
        if n > most or row_of[mask] >= 0:
            continue
        for g in range(len(images)):
            image = _image(images, g, mask)
            row_of[image] = n_rows[n]
            symmetry_of[image] = inverse[g]
        smallest[n, n_rows[n]] = mask
        n_rows[n] += 1


@_compiled
def _rows_are_own(own, opponent, own_hand, opponent_hand):
    return own > opponent or (own == opponent and own_hand >= opponent_hand)


@_compiled
def _value(game, own, opponent, own_hand, opponent_hand):
    """The stored value of a position for its side to move."""
    n_own, n_opponent = _count(own), _count(opponent)
    if n_own + own_hand < 3:
        return LOST
    offset = game.offsets[n_own, n_opponent, own_hand, opponent_hand]
    if offset < 0:
        return MISSING
    x, y, k = (
        (own, opponent, n_opponent)
        if _rows_are_own(n_own, n_opponent, own_hand, opponent_hand)
        else (opponent, own, n_own)
    )
    g = game.symmetry_of[x]
    full = (1 << game.n_points) - 1
    free = full & ~_image(game.images, g, x)
    y = _image(game.images, g, y)
    column, n = 0, 0
    while y:
        n += 1
        column += game.binomials[_count(free & (y & -y) - 1), n]
        y &= y - 1
    return game.values[offset + game.row_of[x] * game.binomials[_count(free), k] + column]


@_compiled
def _is_in_mill(others, stones, point):
    for m in range(others.shape[1]):
        if others[point, m] and others[point, m] & stones == others[point, m]:
            return True
    return False


@_compiled
def _best(game, own, opponent, own_hand, opponent_hand):
    """What the successors' values make of a position, or MISSING."""
    if _count(own) + own_hand < 3:
        return LOST
    full = (1 << game.n_points) - 1
    empty = full & ~(own | opponent)
    if not empty:
        return game.full_board
    flies = not own_hand and _count(own) <= game.fly_at
    best = LOST
    removable = 0
    stones = opponent
    while stones:
        if not _is_in_mill(game.others, opponent, _lowest(stones)):
            removable |= stones & -stones
        stones &= stones - 1
    if not removable and game.may_break:
        removable = opponent
    places = own_hand > 0
    origins = own if not own_hand or game.may_slide else 0
    while places or origins:
        lifted, targets, hand = 0, empty, own_hand - 1
        if not places:
            lifted, hand = origins & -origins, own_hand
            origins ^= lifted
            targets = empty if flies else empty & game.neighbours[_lowest(lifted)]
        places = False
        while targets:
            after = own ^ lifted | targets & -targets
            taken = removable if _is_in_mill(game.others, after, _lowest(targets)) else 0
            targets &= targets - 1
            while True:  # once with each stone that may be taken, or with none
                child = _value(game, opponent & ~(taken & -taken), after, opponent_hand, hand)
                if child < 0:
                    return MISSING
                best = max(best, game.one_ply_on[child])
                taken &= taken - 1
                if taken <= 0:
                    break
    return best


@_compiled
def deposited(pattern, free, n_points):
    mask, i = 0, 0
    for p in range(n_points):
        if free >> p & 1:
            mask |= (pattern >> i & 1) << p
            i += 1
    return mask


@_compiled
def next_pattern(pattern):
    """The next larger number with as many bits set."""
    low = pattern & -pattern
    ripple = pattern + low
    return ripple | ((pattern ^ ripple) // low >> 2) if low else 0


@_compiled
def _count_wrong(game, smallest, own, opponent, own_hand, opponent_hand, start, stop, example):
    """How many slots of rows [start, stop) differ from what their successors imply; example: own and opponent of one."""
    are_own = _rows_are_own(own, opponent, own_hand, opponent_hand)
    k = opponent if are_own else own
    n_free = game.n_points - (own if are_own else opponent)
    n_columns = game.binomials[n_free, k]
    offset = game.offsets[own, opponent, own_hand, opponent_hand]
    wrong = 0
    for row in range(start, stop):
        x = smallest[row]
        pattern = (1 << k) - 1
        for column in range(n_columns):
            y = deposited(pattern, ~x, game.n_points)
            a, b = (x, y) if are_own else (y, x)
            if _best(game, a, b, own_hand, opponent_hand) != game.values[offset + row * n_columns + column]:
                wrong += 1
                example[0], example[1] = a, b
            pattern = next_pattern(pattern)
    return wrong


class MaskTwin:
    """All tables of one game, read from a folder of files; values of one byte only."""

    def __init__(self, rules: oracle.Rules, folder):
        assert rules.captures_while_placing
        board = rules.graph
        points = board.points
        number = {name: p for p, name in enumerate(points)}
        mask = lambda names: sum(1 << number[name] for name in names)
        maps = [tuple(number[image[name]] for name in points) for image in oracle.symmetries(board)]
        images = np.zeros((len(maps), 3, 256), np.int64)
        for g, image in enumerate(maps):
            for byte in range(3):
                for bits in range(256):
                    there = [8 * byte + i for i in range(8) if bits >> i & 1]
                    images[g, byte, bits] = sum(1 << image[p] for p in there if p < len(points))
        inverse = np.array([maps.index(tuple(image.index(p) for p in range(len(points)))) for image in maps])
        self.smallest = np.zeros((rules.stones + 1, comb(len(points), min(rules.stones, len(points) // 2))), np.int64)
        self.n_rows = np.zeros(rules.stones + 1, np.int64)
        row_of, symmetry_of = np.full(1 << len(points), -1, np.int32), np.zeros(1 << len(points), np.uint8)
        _number_orbits(images, inverse, rules.stones, row_of, symmetry_of, self.smallest, self.n_rows)
        others = np.zeros((len(points), 4), np.int64)
        for p, name in enumerate(points):
            through = sorted(mask(mill - {name}) for mill in board.mills if name in mill)
            others[p, : len(through)] = through
        neighbours = np.array([mask(q for q in points if {name, q} in board.edges) for name in points], np.int64)
        binomials = np.array([[comb(n, k) for k in range(25)] for n in range(25)], np.int64)
        values, offsets = self._read(folder, rules)
        self.game = Game(
            len(points), rules.fly_at, rules.capture_in_mills == "when_all", rules.place_and_slide,
            DRAWN if rules.full_board == "draw" else LOST, neighbours, others, row_of, symmetry_of, images, binomials,
            values, offsets, _one_ply_on(),
        )  # fmt: skip

    def _read(self, folder, rules):
        offsets = np.full((rules.stones + 1,) * 4, -1, np.int64)
        parts, used = [], 0
        for path in sorted(folder.glob("*.h5")):
            with h5py.File(path, "r", locking=False) as file:
                for name in file.attrs["subspaces"].decode().split():
                    table = file[name]
                    key = tuple(int(table.attrs[word]) for word in ("own", "opponent", "own_hand", "opponent_hand"))
                    assert table.attrs["row_side"] == (b"own" if _rows_are_own(*key) else b"opponent")
                    assert table.attrs["width"] == 1 and file.attrs["metric"] == b"dtw"
                    stones = max(key[:2])
                    assert file["rows"][()].tolist() == self.smallest[stones, : self.n_rows[stones]].tolist()
                    values = table["values"][()]
                    assert values.shape == (self.n_rows[stones], comb(len(rules.graph.points) - stones, min(key[:2])))
                    parts.append(values.ravel())
                    offsets[key] = used
                    used += len(parts[-1])
        return np.concatenate(parts), offsets

    def subspaces(self):
        """Those that are there, as (own, opponent, own hand, opponent's hand)."""
        return [tuple(key) for key in np.argwhere(self.game.offsets >= 0).tolist()]

    def wrong_slots(self, subspace, jobs=2):
        """How many slots of one table differ, and masks of both sides in one of them."""
        stones = max(subspace[:2])
        n_rows = int(self.n_rows[stones])
        bounds = [n_rows * i // 64 for i in range(65)]
        example = np.zeros(2, np.int64)
        with ThreadPoolExecutor(jobs) as pool:
            counts = pool.map(
                lambda a, b: _count_wrong(self.game, self.smallest[stones], *subspace, a, b, example),
                bounds,
                bounds[1:],
            )
            return sum(counts), example.tolist()

    def n_slots(self, subspace):
        n_free = self.game.n_points - max(subspace[:2])
        return int(self.n_rows[max(subspace[:2])]) * comb(n_free, min(subspace[:2]))


def _one_ply_on():
    """By value of a child, the value that a turn to it gives: a loss in n is a win in n + 1, a win in n a loss in n + 1."""
    table = np.zeros(256, np.uint8)
    for code in range(256):
        if code < DRAWN:
            plies = 2 * code + 1
            table[code] = 255 - (plies - 1) // 2
        elif code == DRAWN:
            table[code] = DRAWN
        else:
            plies = 2 * (255 - code) + 1 + 1
            table[code] = plies // 2
    return table
