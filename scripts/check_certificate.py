#!/usr/bin/env python3
"""Checks the certificate of a placement position's value against the moving-phase tables.

    scripts/check_certificate.py draw.h5 --data data/tables

A certificate (format: solver/certificate.py) holds a strategy for one side or for each.  It is followed from the root:
the chosen turns must be legal, every reply of the other side must lead to a position with an entry, every entry must be
needed, and where all stones are placed the tables must bear the claim out.

To be worth something this shares no code with the solver: rules come as data from the certificate; turns, symmetries
and slots (data/FORMAT.md) are worked out here.  Exit codes: 0 proved, 1 refused, 3 a table is missing.
"""

import argparse
import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import comb
from pathlib import Path
from typing import NamedTuple

import h5py
import numba
import numpy as np

FORMAT, INDEX_SCHEME = "morris-certificate 2", "orbit-row x colex-column, version 1"
MIN_STONES, MOST_TURNS, STEP = 3, 512, 1 << 14
FINE, UNANSWERED, LOST, NO_ROW = range(4)
MASK = (1 << 24) - 1
BINOMIAL = np.array([[comb(n, k) for k in range(25)] for n in range(25)])
kernel = numba.njit(nogil=True)


class Refusal(Exception):
    """What is wrong and where, in one line, and the exit code."""


class Game(NamedTuple):
    """Rules for kernels; images: uint32[symmetries, 3, 256], images of masks by byte."""

    n_points: int
    mills: np.ndarray
    may_break_mills: bool
    full_board_draws: bool
    images: np.ndarray


class Table(NamedTuple):
    """Values [row, column] of the positions with so many stones and White to move; draw: the code of a draw.

    Unpacked outcomes may have up to three columns too many, which stand for nothing.
    """

    n_white: int
    n_black: int
    values: np.ndarray
    row_of: np.ndarray  # int32[2^points], -1 for masks that are no row
    rows_are_white: bool
    draw: int


# ---------------------------------------------------------------- rules


@kernel
def count(mask):
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@kernel
def smallest(game, first, second):
    """The image with the smallest first mask and, among several of these, the smallest second one."""
    best, other = np.int64(1) << 24, np.int64(0)
    for g in range(len(game.images)):
        lows, middles, highs = game.images[g, 0], game.images[g, 1], game.images[g, 2]
        a = np.int64(lows[first & 255] | middles[first >> 8 & 255] | highs[first >> 16])
        if a <= best:
            b = np.int64(lows[second & 255] | middles[second >> 8 & 255] | highs[second >> 16])
            if a < best or b < other:
                best, other = a, b
    return best, other


@kernel
def find_removable(game, own, opponent, stone):
    """The stones of which a side that has just placed ``stone`` must remove one; 0 if it removes none."""
    protected, closes = np.int64(0), False
    for mill in game.mills:
        closes |= (mill & stone != 0) & (own & mill == mill)
        if opponent & mill == mill:
            protected |= mill
    outside = opponent & ~protected
    if not closes:
        return np.int64(0)
    return opponent if outside == 0 and game.may_break_mills else outside


@kernel
def fill_turns(game, white, black, white_moves, whites, blacks):
    """Writes the masks of both sides after every legal placement; returns how many."""
    own, opponent = (white, black) if white_moves else (black, white)
    n = 0
    for p in range(game.n_points):
        stone = np.int64(1) << p
        if (own | opponent) & stone:
            continue
        removable = find_removable(game, own | stone, opponent, stone)
        for q in range(game.n_points if removable else 1):
            if removable >> q & 1 or not removable:
                left = opponent & ~(removable & np.int64(1) << q)
                whites[n], blacks[n] = (own | stone, left) if white_moves else (left, own | stone)
                n += 1
    return n


# ---------------------------------------------------------------- following a strategy


@kernel
def fill_after(game, keys, turns, white_moves, opponent_hand, after):
    """Writes the position after each turn, -1 where it wins; returns the number of the first illegal turn, or -1."""
    for i in range(len(keys)):
        own, opponent = (keys[i] & MASK, keys[i] >> 24) if white_moves else (keys[i] >> 24, keys[i] & MASK)
        target, removal = np.int64(turns[i]) & 255, np.int64(turns[i]) >> 8
        if target >= game.n_points or (own | opponent) >> target & 1 or removal > game.n_points:
            return i
        own |= np.int64(1) << target
        removable = find_removable(game, own, opponent, np.int64(1) << target)
        removed = np.int64(1) << removal >> 1  # 0 stands for no removal
        if removed & ~removable or removable and not removed:
            return i
        opponent ^= removed
        after[i] = (own | opponent << 24) if white_moves else (opponent | own << 24)
        if count(opponent) + opponent_hand < MIN_STONES:
            after[i] = -1
    return -1


@kernel
def follow(game, after, white_replies, hand, keys, reached):
    """Plays all replies and marks the entries they lead to; returns FINE or what is wrong, where, and how many replies.

    hand: what the strategy's side has in hand; it has lost with fewer than three stones left.
    """
    whites, blacks = np.empty(MOST_TURNS, np.int64), np.empty(MOST_TURNS, np.int64)
    replies = 0
    for position in after:
        n = fill_turns(game, position & MASK, position >> 24, white_replies, whites, blacks)
        for j in range(n):
            if count(blacks[j] if white_replies else whites[j]) + hand < MIN_STONES:
                return LOST, whites[j] | blacks[j] << 24, replies
            white, black = smallest(game, whites[j], blacks[j])
            at = np.searchsorted(keys, white | black << 24)
            if at == len(keys) or keys[at] != white | black << 24:
                return UNANSWERED, white | black << 24, replies
            reached[at] = True
        replies += n
    return FINE, np.int64(-1), replies


@kernel
def judge_leaves(game, after, is_white, win_claimed, table, needed):
    """Looks up the leaves with as many stones as the table: the positions where all stones are placed.  Before these
    Black, who places last, replies to a strategy of White's.

    With a table of no stones it marks in needed[white stones, black stones] what there is to look up, and judges only
    what needs no table: a side has lost, or no point is free for White.
    Returns FINE or LOST, where, and how many leaves were looked up or are to be.
    """
    whites, blacks = np.empty(MOST_TURNS, np.int64), np.empty(MOST_TURNS, np.int64)
    looking_up, n_leaves = table.n_white > 0, 0
    for position in after:
        placed, removed = table.n_black - count(position >> 24), count(position & MASK) - table.n_white
        if looking_up and (placed != is_white or removed < 0 or removed > is_white):
            continue
        whites[0], blacks[0] = position & MASK, position >> 24
        for j in range(fill_turns(game, whites[0], blacks[0], False, whites, blacks) if is_white else 1):
            white, black = whites[j], blacks[j]
            n_white, n_black = count(white), count(black)
            liking = 0  # White's, who is to move: -1 loss, 0 draw, 1 win
            if looking_up:
                if n_white != table.n_white or n_black != table.n_black:
                    continue
                x, y = smallest(game, white, black) if table.rows_are_white else smallest(game, black, white)
                row, column, free, k = table.row_of[x], np.int64(0), 0, 0
                if row < 0:
                    return NO_ROW, white | black << 24, n_leaves
                for p in range(game.n_points):  # colex rank of y among the points that x leaves free
                    k += y >> p & 1
                    column += BINOMIAL[free, k] * (y >> p & 1)
                    free += 1 - (x >> p & 1)
                code = np.int64(table.values[row, column])
                liking = int(code > table.draw) - int(code < table.draw)
            elif min(n_white, n_black) < MIN_STONES:
                return LOST, white | black << 24, n_leaves
            elif n_white + n_black == game.n_points:
                liking = 0 if game.full_board_draws else -1
                n_leaves -= 1
            else:
                needed[n_white, n_black] = True
                liking = 1 if is_white else -1  # not judged yet
            n_leaves += 1
            if (liking if is_white else -liking) < win_claimed:
                return LOST, white | black << 24, n_leaves
    return FINE, np.int64(-1), n_leaves


# ---------------------------------------------------------------- files


@contextmanager
def reading(path: Path):
    """Opens an HDF5 file; whatever a damaged one leads to becomes a refusal."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except Refusal:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise Refusal(f"{path} cannot be read: {reason}", 1) from None


def require(condition, message: str) -> None:
    if not condition:
        raise Refusal(message, 1)


def find_symmetries(n: int, edges, mills) -> list[list[int]]:
    """All permutations of the points that keep edges and mills; refuses a board where the search would have no end."""
    near = [{b for edge in edges for b in edge if a in edge and a != b} for a in range(n)]
    lines, found, begun = {frozenset(mill) for mill in mills}, [], []

    def extend(images):
        p = len(images)
        begun.append(p)
        require(len(begun) < 100_000, "the board has too few edges to tell its points apart")
        if p == n and {frozenset(images[q] for q in line) for line in lines} == lines:
            found.append(images)
        for i in set(range(n)) - set(images):
            if len(near[i]) == len(near[p]) and all((q in near[p]) == (images[q] in near[i]) for q in range(p)):
                extend([*images, i])

    extend([])
    return found


def attribute(node, name: str):
    """An attribute of a file.  Text of variable length is refused unread: HDF5 may wait for ever where it is damaged."""
    require(node.attrs.get_id(name).dtype.kind in "iuS", f"{name} is no integer and no text of a fixed length")
    value = node.attrs[name]
    return value.decode() if isinstance(value, bytes) else value


class Certificate:
    """What a certificate says: the rules, the root, and the levels of its strategies."""

    def __init__(self, file):
        made = attribute(file, "format")
        require(made == FORMAT, f"the format is {made!r}, not {FORMAT!r}")
        self.file, self.variant, rules = file, attribute(file, "variant"), json.loads(attribute(file, "rules"))
        text = json.dumps(rules, sort_keys=True, separators=(",", ":"))
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
        require(attribute(file, "fingerprint") == self.fingerprint, "the fingerprint is not that of the rules")
        require(Path(self.variant).name == self.variant, "the variant's name is no file name")
        self.rings, n, stones = rules["board"], sum(map(len, rules["board"])), int(rules["stones"])
        only_placing = not rules["place_and_slide"] and n <= 24 and MIN_STONES <= stones <= n // 2
        require(only_placing, "this is no game that begins with placing only")
        symmetries = find_symmetries(n, rules["edges"], rules["mills"])
        images = np.zeros((len(symmetries), 3, 256), np.uint32)
        for g, symmetry in enumerate(symmetries):
            for p, image in enumerate(symmetry):
                images[g, p // 8] |= (np.arange(256, dtype=np.uint32) >> p % 8 & 1) << image
        mills = np.array([sum(1 << p for p in mill) for mill in rules["mills"]], np.int64)
        self.game = Game(n, mills, rules["capture_in_mills"] == "any", rules["full_board"] == "draw", images)
        white, black, white_hand, black_hand, white_moves = map(int, attribute(file, "root"))
        counts = white.bit_count() + white_hand, black.bit_count() + black_hand
        fits = white_moves in (0, 1) and black_hand - white_hand == 1 - white_moves and black_hand > 0
        fits &= not white & black and 0 <= white | black < 1 << n and all(MIN_STONES <= c <= stones for c in counts)
        require(fits, "the root is no position of this game with stones in hand")
        self.hands = white_hand + black_hand
        white, black = smallest(self.game, white, black)
        self.root = int(white | black << 24)

    def show(self, key: int, hands: int) -> str:
        """A position as text, given how many stones both sides together have in hand."""
        letters = iter("W" if key >> p & 1 else "B" if key >> 24 + p & 1 else "." for p in range(24))
        rows = "/".join("".join(next(letters) for _ in ring) for ring in self.rings)
        return f"{rows} {'wb'[hands % 2]} {hands // 2},{hands - hands // 2}"

    def level(self, side: str, hands: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and turns; none where the level is not in the file."""
        where, name = f"{side}, {hands} stones in hand", f"{hands:02d}"
        if name not in self.file[side]:
            return np.zeros(0, np.int64), np.zeros(0, np.uint16)
        keys, turns = self.file[side][name]["positions"][()], self.file[side][name]["turns"][()]
        typed = (keys.dtype, turns.dtype, keys.ndim) == (np.uint64, np.uint16, 1) and keys.shape == turns.shape
        require(typed, f"{where}: positions and turns are no lists of equal length")
        require((keys[1:] > keys[:-1]).all(), f"{where}: the positions do not ascend")
        require(not len(keys) or keys[-1] < 1 << 48, f"{where}: the last position is none")
        return keys.view(np.int64), turns


def read_table(data: Path, certificate: Certificate, n_white: int, n_black: int) -> Table:
    """The table with depths, or where there is none, the one of outcomes alone."""
    name = f"{max(n_white, n_black)}-{min(n_white, n_black)}.h5"
    paths = {"dtw": data / certificate.variant / name, "outcome": data / f"{certificate.variant}.outcome" / name}
    metric, path = next(((metric, path) for metric, path in paths.items() if path.exists()), (None, None))
    if path is None:
        raise Refusal(f"the table {n_white}-{n_black} of {certificate.variant} is missing in {data}", 3)
    with reading(path) as file:
        require(attribute(file, "fingerprint") == certificate.fingerprint, f"{path} was made for other rules")
        same = (attribute(file, "index_scheme"), attribute(file, "metric")) == (INDEX_SCHEME, metric)
        require(same, f"{path} has another index or metric")
        rows, group, n = file["rows"][()], file[f"{n_white}-{n_black}"], certificate.game.n_points
        rows_are_white = attribute(group, "row_side") == "own"
        row_stones, column_stones = (n_white, n_black) if rows_are_white else (n_black, n_white)
        n_columns, packed = comb(n - row_stones, column_stones), metric == "outcome"
        values = np.empty((len(rows), -(-n_columns // 4) if packed else n_columns), group["values"].dtype)
        fits = group["values"].shape == values.shape and values.dtype.kind == "u"
        fits &= values.itemsize == 1 or not packed
        require(fits, f"{path}: {n_white}-{n_black} is not as large as it must be")
        group["values"].read_direct(values)
        row_of = np.full(1 << n, -1, np.int32)
        row_of[rows] = np.arange(len(rows))
    if packed:
        return Table(n_white, n_black, unpacked(values, path), row_of, rows_are_white, 1)
    return Table(n_white, n_black, values, row_of, rows_are_white, 1 << 8 * values.itemsize - 1)


def unpacked(packed: np.ndarray, path: Path) -> np.ndarray:
    """Two-bit numbers of outcomes, four to a byte from its lowest bits up, as one byte each: loss 0, draw 1, win 2."""
    values = np.empty((len(packed), 4 * packed.shape[1]), np.uint8)
    for k in range(4):
        values[:, k::4] = packed >> 2 * k & 3
    require(not (values == 3).any(), f"{path} has two bits that are no outcome")
    return values


# ---------------------------------------------------------------- the check


def in_parts(pool, kernel_function, game: Game, positions: np.ndarray, *others) -> tuple[int, int, int]:
    """Runs a kernel on parts of many positions: kind and place of the first fault, and the sum of the counts."""
    parts = [positions[start : start + STEP] for start in range(0, len(positions), STEP)]
    results = list(pool.map(lambda part: kernel_function(game, part, *others), parts))
    kind, key = next((result[:2] for result in results if result[0] != FINE), (FINE, -1))
    return kind, int(key), sum(result[2] for result in results)


def walk(certificate: Certificate, side: str, pool) -> tuple[np.ndarray, str]:
    """Follows a strategy through all its levels; returns the positions after its last turns, and what it was."""
    game, is_white, digest = certificate.game, side == "white", hashlib.sha256()
    levels = [hands for hands in range(certificate.hands, 0, -1) if (hands % 2 == 0) == is_white]
    unknown = set(certificate.file[side]) - {f"{hands:02d}" for hands in levels}
    require(not unknown, f"{side}: {min(unknown, default='')} is no level of its strategy")
    after, n_entries, n_replies = np.array([certificate.root]), 0, 0
    for hands in levels:
        keys, turns = certificate.level(side, hands)
        digest.update(keys)
        digest.update(turns)
        if hands == certificate.hands:  # the root, before which nothing is played
            reached = keys == certificate.root
            kind, key, replies = FINE if reached.any() else UNANSWERED, certificate.root, 0
        else:
            reached, own_hand = np.zeros(len(keys), bool), hands - hands // 2
            kind, key, replies = in_parts(pool, follow, game, after, not is_white, own_hand, keys, reached)
        where = f"{side}, {hands} stones in hand"
        require(kind != UNANSWERED, f"{where}: no answer for position {certificate.show(key, hands)}")
        require(kind != LOST, f"{where}: lost in position {certificate.show(key, hands)}")
        idle = int(keys[np.argmin(reached)]) if len(keys) else 0
        require(reached.all(), f"{where}: an entry that is never reached, position {certificate.show(idle, hands)}")
        after = np.empty(len(keys), np.int64)
        i = fill_after(game, keys, turns, is_white, hands // 2, after)
        if i >= 0:
            position = certificate.show(int(keys[i]), hands)
            raise Refusal(f"{where}: illegal turn {turns[i]:#06x} in position {position}", 1)
        after = after[after >= 0]
        n_entries, n_replies = n_entries + len(keys), n_replies + replies
        print(f"{where}: {len(keys):,} positions answer {replies:,} replies", flush=True)
    same = attribute(certificate.file[side], "sha256") == digest.hexdigest()
    require(same, f"{side}: the entries differ from their sha256")
    return after, f"{n_entries:,} positions, {n_replies:,} replies answered"


def check(path: Path, data: Path, jobs: int) -> str:
    """What the certificate proves, as a sentence; raises `Refusal` where it proves nothing."""
    with ThreadPoolExecutor(jobs) as pool:
        with reading(path) as file:
            certificate = Certificate(file)
            claims = {side: attribute(group, "claim") for side, group in file.items()}
            known = set(claims) <= {"white", "black"} and set(claims.values()) <= {"draw", "win"}
            require(claims and known, "there is no strategy for White or Black to win or draw")
            walks = {side: walk(certificate, side, pool) for side in claims}
        needed, looked_up = np.zeros((25, 25), bool), dict.fromkeys(claims, 0)

        def judge(side: str, table: Table) -> int:
            rest = side == "white", claims[side] == "win", table, needed
            kind, key, n = in_parts(pool, judge_leaves, certificate.game, walks[side][0], *rest)
            position = certificate.show(key, 0)
            require(kind != NO_ROW, f"the table {table.n_white}-{table.n_black} has no row for position {position}")
            require(kind != LOST, f"{side}: position {position} is no {claims[side]} for {side}")
            return n

        nothing = Table(0, 0, np.zeros((1, 1), np.uint8), np.zeros(1, np.int32), True, 0)
        to_look_up = {side: judge(side, nothing) for side in claims}
        for n_white, n_black in np.argwhere(needed).tolist():
            table = read_table(data, certificate, n_white, n_black)
            done = {side: judge(side, table) for side in claims}
            print(f"table {n_white}-{n_black}: {sum(done.values()):,} positions hold", flush=True)
            looked_up = {side: looked_up[side] + n for side, n in done.items()}
    require(looked_up == to_look_up, "some positions were not looked up; this is a fault of the check")
    for side, (_, what) in walks.items():
        held = "wins" if claims[side] == "win" else "keeps at least a draw"
        print(f"{side.capitalize()} {held}: {what}, {looked_up[side]:,} positions after the last stone looked up")
    words = {"win": "a win", "draw": "at least a draw"}
    values = [f"{words[claim]} for {side.capitalize()}" for side, claim in claims.items()]
    value = "a draw" if list(claims.values()) == ["draw", "draw"] else " and ".join(values)
    return f"Proved: {certificate.show(certificate.root, certificate.hands)} of {certificate.variant} is {value}."


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--data", type=Path, default=Path("data/tables"), help="folder of the tables")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="threads")
    given = parser.parse_args(arguments)
    try:
        print(check(given.certificate, given.data, max(1, given.jobs)))
    except Refusal as refusal:
        message, code = refusal.args
        print(f"refused: {message}" if code == 1 else message, file=sys.stderr)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
