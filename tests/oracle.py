"""The slow and obvious twin: rules and solution on sets of point names.

It shares no code with the package, so the two can only agree by both being right. A position is
seen from the side to move: its stones, the other side's stones, and what both have in hand. The
solution is the plain fixed point: give every position the value that its successors imply, again
and again, until no value changes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np

# ---------------------------------------------------------------------------------------- boards


@dataclass(frozen=True)
class Board:
    """Points in text order, a row for each part between slashes; `lines` make edges, some make mills."""

    rows: tuple[tuple[str, ...], ...]
    mills: frozenset[frozenset[str]]
    edges: frozenset[frozenset[str]]

    @property
    def points(self) -> tuple[str, ...]:
        return sum(self.rows, ())


def _board(rows: str, mills: str, spokes: str = "") -> Board:
    """Neighbours are the points that follow one another in a mill or in a spoke."""
    mill_lines = [line.split() for line in mills.split(",")]
    spoke_lines = [line.split() for line in spokes.split(",")]
    return Board(
        rows=tuple(tuple(row.split()) for row in rows.split("/")),
        mills=frozenset(frozenset(line) for line in mill_lines),
        edges=frozenset(frozenset(pair) for line in mill_lines + spoke_lines for pair in pairwise(line)),
    )


_RING3_ROWS = "a7 d7 g7 g4 g1 d1 a1 a4 / b6 d6 f6 f4 f2 d2 b2 b4 / c5 d5 e5 e4 e3 d3 c3 c4"
_RING3_MILLS = (
    "a7 d7 g7, g7 g4 g1, g1 d1 a1, a1 a4 a7,"
    "b6 d6 f6, f6 f4 f2, f2 d2 b2, b2 b4 b6,"
    "c5 d5 e5, e5 e4 e3, e3 d3 c3, c3 c4 c5,"
    "d7 d6 d5, g4 f4 e4, d1 d2 d3, a4 b4 c4"
)

BOARDS = {
    "ring3": _board(_RING3_ROWS, _RING3_MILLS),
    "ring3-diagonal": _board(_RING3_ROWS, _RING3_MILLS + ", a7 b6 c5, g7 f6 e5, g1 f2 e3, a1 b2 c3"),
    "ring2": _board(
        "a5 c5 e5 e3 e1 c1 a1 a3 / b4 c4 d4 d3 d2 c2 b2 b3",
        "a5 c5 e5, e5 e3 e1, e1 c1 a1, a1 a3 a5, b4 c4 d4, d4 d3 d2, d2 c2 b2, b2 b3 b4",
        spokes="c5 c4, e3 d3, c1 c2, a3 b3",
    ),
    "grid3": _board(
        "a3 b3 c3 / a2 b2 c2 / a1 b1 c1",
        "a3 b3 c3, a2 b2 c2, a1 b1 c1, a1 a2 a3, b1 b2 b3, c1 c2 c3, a1 b2 c3, a3 b2 c1",
    ),
}


@cache
def symmetries(board: Board) -> tuple[dict[str, str], ...]:
    """Turns, reflections and the exchange of outer and inner ring, as far as they keep edges and mills."""
    middle = (max(int(point[1]) for point in board.points) + 1) // 2
    place = {p: ("abcdefg".index(p[0]) + 1 - middle, int(p[1]) - middle) for p in board.points}
    name = {xy: point for point, xy in place.items()}
    rings = {max(abs(x), abs(y)) for x, y in name} - {0}
    found = []
    for flip_x, flip_y, transpose, exchange in product((1, -1), (1, -1), (False, True), (False, True)):
        image = {}
        for point, (x, y) in place.items():
            ring = max(abs(x), abs(y))
            if exchange and ring:
                other = min(rings) + max(rings) - ring
                x, y = x // ring * other, y // ring * other
            x, y = flip_x * x, flip_y * y
            image[point] = name[(y, x) if transpose else (x, y)]
        if image not in found and all(
            {frozenset(map(image.get, line)) for line in lines} == lines for lines in (board.edges, board.mills)
        ):
            found.append(image)
    return tuple(found)


# ----------------------------------------------------------------------------------------- rules


@dataclass(frozen=True)
class Rules:
    """One variant. The defaults are standard nine men's morris."""

    board: str = "ring3"
    stones: int = 9
    fly_at: int = 3  # with an empty hand and at most so many stones a side flies; 0: never
    capture_in_mills: str = "when_all"  # stones in mills, if no others are left: "when_all" any goes, "never" none
    place_and_slide: bool = False  # while stones are in hand a turn may also slide
    full_board: str = "loss"  # what the side to move gets when the board is full: "loss" or "draw"
    captures_while_placing: bool = True  # False: a placement removes nothing

    @property
    def graph(self) -> Board:
        return BOARDS[self.board]


class Position(NamedTuple):
    """Seen from the side to move."""

    own: frozenset[str]
    opponent: frozenset[str]
    own_hand: int = 0
    opponent_hand: int = 0


class Turn(NamedTuple):
    """A placement has no origin; a turn that captures nothing has no removed stone."""

    origin: str | None
    target: str
    removed: str | None

    def __str__(self) -> str:
        moved = f"{self.origin}-{self.target}" if self.origin else self.target
        return f"{moved}x{self.removed}" if self.removed else moved


def start(rules: Rules) -> Position:
    """The empty board."""
    return Position(frozenset(), frozenset(), rules.stones, rules.stones)


def has_lost(stones: frozenset[str], hand: int) -> bool:
    """Fewer than three stones, in hand or on board, never make a mill again."""
    return len(stones) + hand < 3


def is_drawn(rules: Rules, position: Position) -> bool:
    """A full board, where the rules call that a draw."""
    full = len(position.own) + len(position.opponent) == len(rules.graph.points)
    return full and rules.full_board == "draw" and not has_lost(position.own, position.own_hand)


def in_mills(board: Board, stones: frozenset[str]) -> frozenset[str]:
    """Those of the stones that stand in a mill."""
    return frozenset().union(*(mill for mill in board.mills if mill <= stones))


@cache
def removable(rules: Rules, stones: frozenset[str]) -> frozenset[str]:
    """Which of the opponent's stones a completed mill may take: those outside mills come first."""
    outside = stones - in_mills(rules.graph, stones)
    if outside or rules.capture_in_mills == "never":
        return outside
    return stones


@cache
def steps(rules: Rules, stones: frozenset[str], hand: int) -> list[tuple[str | None, str, frozenset[str], bool]]:
    """What these stones could do on a board without opponent: origin, target, stones after it, captures?"""
    board = rules.graph
    free = [point for point in board.points if point not in stones]
    found = []
    if hand:
        found += [(None, target) for target in free]
    if not hand and len(stones) <= rules.fly_at:
        found += [(origin, target) for origin in stones for target in free]
    elif not hand or rules.place_and_slide:
        found += [(origin, target) for origin in stones for target in free if {origin, target} in board.edges]
    result = []
    for origin, target in found:
        after = stones - {origin} | {target}
        mill = target in in_mills(board, after)
        result.append((origin, target, after, mill and (origin is not None or rules.captures_while_placing)))
    return result


def successors(rules: Rules, position: Position) -> Iterator[tuple[Turn, Position]]:
    """Every legal turn with the position it leads to; none when the game is over."""
    own, opponent, hand, other_hand = position
    if has_lost(own, hand):
        return
    if has_lost(opponent, other_hand):
        raise ValueError("the side that is not to move has lost already")
    for origin, target, after, captures in steps(rules, own, hand):
        if target in opponent:
            continue
        hand_after = hand - 1 if origin is None else hand
        for removed in (captures and removable(rules, opponent)) or (None,):
            left = opponent - {removed} if removed else opponent
            yield Turn(origin, target, removed), Position(left, after, other_hand, hand_after)


def legal_turns(rules: Rules, position: Position) -> list[str]:
    """All legal turns as text: 'd6', 'd6-d5', 'g1xd2', 'a4-a7xd2'."""
    return sorted(str(turn) for turn, _ in successors(rules, position))


def play(rules: Rules, position: Position, turn: str) -> Position:
    """The position after a turn given as text."""
    for legal, after in successors(rules, position):
        if str(legal) == turn:
            return after
    raise ValueError(f"{turn} is not a legal turn")


# ------------------------------------------------------------------------------------- text form


def read(rules: Rules, text: str) -> Position:
    """Position from text such as '......../......../........ w 9,9'."""
    stones, mover, *hands = text.split()
    sides = {"W": set(), "B": set()}
    for point, mark in zip(rules.graph.points, stones.replace("/", ""), strict=True):
        if mark != ".":
            sides[mark].add(point)
    white_hand, black_hand = map(int, hands[0].split(",")) if hands else (0, 0)
    white, black = (frozenset(sides["W"]), white_hand), (frozenset(sides["B"]), black_hand)
    (own, own_hand), (opponent, opponent_hand) = (white, black) if mover == "w" else (black, white)
    return Position(own, opponent, own_hand, opponent_hand)


def write(rules: Rules, position: Position, mover: str) -> str:
    """The text form, when 'w' or 'b' is to move."""
    own, opponent, own_hand, opponent_hand = position
    marks = ("W", "B") if mover == "w" else ("B", "W")
    white_hand, black_hand = (own_hand, opponent_hand) if mover == "w" else (opponent_hand, own_hand)
    rows = (
        "".join(marks[0] if point in own else marks[1] if point in opponent else "." for point in row)
        for row in rules.graph.rows
    )
    return f"{'/'.join(rows)} {mover} {white_hand},{black_hand}"


# -------------------------------------------------------------------------------------- solution


class Value(NamedTuple):
    """Outcome for the side to move, and the plies to the end when it is not a draw."""

    outcome: str
    dtw: int | None


class Reduction:
    """Gives stone sets numbers in order of appearance, and each position one key for all its images.

    Of all images the one counts whose own stones have the smallest number, then whose opponent's do.
    """

    def __init__(self, maps: Iterable[dict[str, str]]):
        self.maps = tuple(maps)
        self.stones: list[frozenset[str]] = []
        self._numbers: dict[frozenset[str], int] = {}
        self._images: list[tuple[int, ...]] = []  # by number: the image's number under each map
        self._first: list[tuple[int, list[int]]] = []  # by number: the smallest of these, and the maps that give it

    def _enter(self, stones: frozenset[str]) -> None:
        """Give a stone set and all its images their numbers, unless they have them."""
        if stones in self._numbers:
            return
        orbit = dict.fromkeys(frozenset(map(image.get, stones)) for image in self.maps)
        for member in orbit:
            self._numbers[member] = len(self.stones)
            self.stones.append(member)
        for member in orbit:
            images = tuple(self._numbers[frozenset(map(image.get, member))] for image in self.maps)
            self._images.append(images)
            self._first.append((min(images), [m for m, n in enumerate(images) if n == min(images)]))

    def key(self, position: Position) -> tuple[int, int, int, int]:
        """The same for all images of a position and for no other."""
        own, opponent, own_hand, opponent_hand = position
        if own not in self._numbers or opponent not in self._numbers:
            self._enter(own), self._enter(opponent)
        first, maps = self._first[self._numbers[own]]
        images = self._images[self._numbers[opponent]]
        second = images[maps[0]] if len(maps) == 1 else min(images[m] for m in maps)
        return first, second, own_hand, opponent_hand

    def position(self, key: tuple[int, int, int, int]) -> Position:
        """The image that the key stands for."""
        return Position(self.stones[key[0]], self.stones[key[1]], *key[2:])

    def orbit_size(self, key: tuple[int, int, int, int]) -> int:
        """How many different images the position has."""
        images = self._images[key[1]]
        fixing = sum(images[m] == key[1] for m in self._first[key[0]][1])
        return len(self.maps) // fixing


def reduction(rules: Rules, symmetric: bool) -> Reduction:
    """By all symmetries of the board, or by none."""
    points = rules.graph.points
    return Reduction(symmetries(rules.graph) if symmetric else [dict(zip(points, points))])


class Solution:
    """Values of a set of positions that is closed under legal turns."""

    def __init__(self, rules: Rules, positions: Iterable[Position], symmetric: bool):
        self.rules = rules
        self.reduction = reduction(rules, symmetric)
        self._index: dict[tuple[int, int, int, int], int] = {}
        for position in positions:
            self._index.setdefault(self.reduction.key(position), len(self._index))
        self._n_given = len(self._index)
        self._number_children()
        self._settle()

    def _number_children(self) -> None:
        """Follow all turns; keep for each position the numbers of those that it leads to, one after the other."""
        index, key, position_of = self._index, self.reduction.key, self.reduction.position
        todo = list(index)
        children, n_children, ends = array("i"), array("i"), array("b")
        for parent in todo:  # grows on the way
            position = position_of(parent)
            found = set()
            for _, after in successors(self.rules, position):
                after_key = key(after)
                number = index.setdefault(after_key, len(todo))
                if number == len(todo):
                    todo.append(after_key)
                found.add(number)
            children.extend(found)
            n_children.append(len(found))
            ends.append(not found and not is_drawn(self.rules, position))
        self._children = np.array(children, np.int32)
        self._n_children = np.array(n_children, np.int32)
        self._is_lost = np.array(ends, bool)

    # A score is 0 for a draw, _MOST - plies for a win and plies - _MOST for a loss: more is better.
    _MOST = 30_000

    def _settle(self) -> None:
        """Sweep over all positions until nothing changes.

        After k sweeps all that ends within k plies is exact and all else still stands as a draw.
        """
        inner = np.flatnonzero(self._n_children)
        firsts = (np.cumsum(self._n_children) - self._n_children)[inner]
        scores = np.where(self._is_lost, -self._MOST, 0).astype(np.int16)
        while inner.size:
            one_ply_on = np.sign(scores) - scores  # seen by the other side, one ply nearer to a draw
            settled = np.maximum.reduceat(one_ply_on[self._children], firsts)
            if np.array_equal(settled, scores[inner]):
                break
            scores[inner] = settled
        self._scores = scores

    def _value(self, number: int) -> Value:
        score = int(self._scores[number])
        if score == 0:
            return Value("draw", None)
        return Value("win" if score > 0 else "loss", self._MOST - abs(score))

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, position: Position) -> bool:
        return self.reduction.key(position) in self._index

    def __getitem__(self, position: Position) -> Value:
        return self._value(self._index[self.reduction.key(position)])

    def __iter__(self) -> Iterator[tuple[Position, Value, int]]:
        """One position of each orbit, its value, the size of the orbit."""
        for key, number in self._index.items():
            yield self.reduction.position(key), self._value(number), self.reduction.orbit_size(key)

    def best_turns(self, position: Position) -> list[str]:
        """The turns that keep the value, winning soonest and losing latest."""
        value = self[position]
        reply = {"win": "loss", "loss": "win", "draw": "draw"}[value.outcome]
        wanted = Value(reply, None if value.dtw is None else value.dtw - 1)
        return sorted(str(turn) for turn, after in successors(self.rules, position) if self[after] == wanted)

    def n_colours(self) -> list[int]:
        """How many sides can have each position, in the order of iteration, when White begins from those given.

        In the moving phase the same stones may arise with White and with Black to move.
        """
        parents = np.repeat(np.arange(len(self)), self._n_children)
        moves = np.zeros((2, len(self)), bool)  # for White and for Black: it may be this side's turn
        moves[0, : self._n_given] = True
        before = -1
        while moves.sum() != before:
            before = moves.sum()
            for mover in (0, 1):
                moves[1 - mover, self._children[moves[mover, parents]]] = True
        return moves.sum(axis=0).tolist()


def solve(rules: Rules, positions: Iterable[Position], symmetric: bool = True) -> Solution:
    """Exact values of these positions and of all that they lead to."""
    return Solution(rules, positions, symmetric)


def arrangements(rules: Rules, own: int, opponent: int, symmetric: bool = True) -> Iterator[Position]:
    """Every way to put so many stones on the board, hands empty; one of each set of own stones if symmetric."""
    board = rules.graph
    seen = set()
    for stones in map(frozenset, combinations(board.points, own)):
        if stones in seen:
            continue
        if symmetric:
            seen.update(frozenset(map(image.get, stones)) for image in symmetries(board))
        free = [point for point in board.points if point not in stones]
        for others in combinations(free, opponent):
            yield Position(stones, frozenset(others))


@cache
def solve_subspace_closure(rules: Rules, own: int, opponent: int, symmetric: bool = True) -> Solution:
    """All arrangements of so many stones and of fewer, down to three, with either side to move."""
    pairs = {(n, m) for n in range(3, own + 1) for m in range(3, opponent + 1)}
    pairs |= {(m, n) for n, m in pairs}
    return solve(rules, (p for n, m in sorted(pairs) for p in arrangements(rules, n, m, symmetric)), symmetric)


@cache
def solve_game(rules: Rules, symmetric: bool = True) -> Solution:
    """All positions that can arise from the empty board."""
    return solve(rules, [start(rules)], symmetric)


@dataclass
class Tally:
    """Counts of outcomes and the longest ways to a result; None where there is no such result."""

    wins: int = 0
    losses: int = 0
    draws: int = 0
    longest_win_plies: int | None = None
    longest_loss_plies: int | None = None


def tally(solution: Solution, chosen: Callable[[Position], bool] = lambda position: True, raw: bool = False) -> Tally:
    """Count the chosen positions: each orbit once, or if raw each of its members."""
    counts, longest = Counter(), {"win": None, "loss": None}
    for position, (outcome, dtw), orbit_size in solution:
        if chosen(position):
            counts[outcome] += orbit_size if raw else 1
            if dtw is not None:
                longest[outcome] = max(longest[outcome] or 0, dtw)
    return Tally(counts["win"], counts["loss"], counts["draw"], longest["win"], longest["loss"])


def reachable(rules: Rules, plies: int, symmetric: bool = True) -> list[Counter[Position]]:
    """For 0, 1, ... plies from the empty board: the positions, and in how many ways each comes about."""
    by_key = reduction(rules, symmetric)
    layers = [Counter({start(rules): 1})]
    for _ in range(plies):
        ways = Counter()
        for position, count in layers[-1].items():
            for _, after in successors(rules, position):
                ways[by_key.key(after)] += count
        layers.append(Counter({by_key.position(key): count for key, count in ways.items()}))
    return layers


def perft(rules: Rules, plies: int, symmetric: bool = True) -> int:
    """Number of sequences of so many turns from the empty board."""
    if plies == 0:
        return 1
    last = reachable(rules, plies - 1, symmetric)[-1]
    return sum(count * sum(1 for _ in successors(rules, position)) for position, count in last.items())


def loses_within(rules: Rules, position: Position, plies: int) -> bool:
    """Whether every turn lets the other side win soon enough, found by looking ahead."""

    @cache
    def loses(position: Position, plies: int) -> bool:
        if is_drawn(rules, position):
            return False
        return all(plies >= 2 and wins(after, plies - 1) for _, after in successors(rules, position))

    @cache
    def wins(position: Position, plies: int) -> bool:
        return plies >= 1 and any(loses(after, plies - 1) for _, after in successors(rules, position))

    return loses(position, plies)


def wins_within(rules: Rules, position: Position, plies: int) -> bool:
    """Whether some turn leaves the other side lost soon enough."""
    return plies >= 1 and any(loses_within(rules, after, plies - 1) for _, after in successors(rules, position))
