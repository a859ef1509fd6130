"""Verification: recomputes every slot from its successors' stored values.

Nothing here is shared with the retrograde pass but the rules (mills, neighbours) and the index (rows, columns,
symmetries).  Turns are generated forwards, position by position, and the best of them must be the stored value, depth
included.

Agreement in every slot, with the tables below it right, proves a table right.  By induction on the true depth d: a
position truly lost in d has only successors truly won in less, whose values are right, so its own must be a loss in
d; a position truly won in d has a successor truly lost in d - 1, and none lost sooner.  So every win and loss is
there with its depth.  The other way, a stored win or loss of depth d rests on stored values of smaller depths, down
to positions that are over.  What is left is neither, which is a draw.
"""

from typing import NamedTuple

import numpy as np

from .bits import deposit, extract, lowest_bit
from .combinatorics import Columns, columns
from .edges import closes_mill, lines, rank_of, stones_in_mills
from .jit import Workers, inlined, kernel
from .subspace import Subspace
from .symmetry import Orbits, image_of, orbits
from .tally import histograms
from .values import LOST, draw_code, seen_by_mover
from .variant import MIN_STONES, Variant

_seen_by_mover = inlined(seen_by_mover)


class View(NamedTuple):
    """A finished table as a lookup: values, canonical row masks, columns."""

    values: np.ndarray
    masks: np.ndarray
    cols: Columns


class Setting(NamedTuple):
    """Rules and index of a check.

    others: see `Lines`; reach: int64[points], where a stone of the mover may slide to; sliding: whether the turns of this round slide (else
    they place); may_break: whether a stone may be taken from a mill when all stand in mills.
    """

    orb: Orbits
    mills: np.ndarray
    others: np.ndarray
    reach: np.ndarray
    sliding: bool
    may_break: bool
    draw: int


@inlined
def _look_up(orb, view, row, symmetry, column_mask):
    """Value in a table at a row, for column stones given in the frame before ``symmetry`` is applied."""
    full = (np.int64(1) << orb.n_points) - 1
    moved = image_of(orb.images, symmetry, column_mask)
    pattern = extract(moved, full ^ np.int64(view.masks[row]))
    return np.int64(view.values[row * view.cols.size + rank_of(view.cols, pattern)])


@inlined
def _removable(setting, stones):
    inside = stones_in_mills(setting.mills, stones)
    if inside == stones and setting.may_break:
        return stones
    return stones & ~inside


@kernel
def best_row_turns(setting, masks, cols, quiet, taken, start, stop, best):
    """best = max(best, turns of the row side), for the slots of rows [start, stop).

    quiet: View after a turn without capture; taken: View after one with.  best: uint16[(stop - start) * columns].
    """
    orb = setting.orb
    full = (np.int64(1) << orb.n_points) - 1
    column_masks = np.empty(cols.size, np.uint32)
    for row in range(start, stop):
        x = np.int64(masks[row])
        begin = (row - start) * cols.size
        for c in range(cols.size):
            column_masks[c] = deposit(np.int64(cols.patterns[c]), full ^ x)
        for p in range(orb.n_points if setting.sliding else 1):
            if setting.sliding and (x >> p) & 1 == 0:
                continue
            left = x ^ (np.int64(1) << p) if setting.sliding else x
            goals = (full ^ x) & (setting.reach[p] if setting.sliding else full)
            while goals:
                q = lowest_bit(goals)
                goal = np.int64(1) << q
                goals ^= goal
                target = np.int64(orb.row_of[left | goal])
                symmetry = np.int64(orb.symmetry_of[left | goal])
                closes = closes_mill(setting.others, left, q)
                if not closes:
                    free = full ^ np.int64(quiet.masks[target])
                    first = target * quiet.cols.size
                    for c in range(cols.size):
                        moved = image_of(orb.images, symmetry, np.int64(column_masks[c]))
                        # Where a stone stands on the goal the rank means nothing; it only has to stay in the row.
                        rank = min(rank_of(quiet.cols, extract(moved, free)), quiet.cols.size - 1)
                        value = _seen_by_mover(np.int64(quiet.values[first + rank]), setting.draw)
                        legal = column_masks[c] & goal == 0
                        best[begin + c] = max(np.int64(best[begin + c]), value if legal else np.int64(0))
                    continue
                for c in range(cols.size):
                    y = np.int64(column_masks[c])
                    if y & goal:
                        continue
                    removable = _removable(setting, y)
                    value = np.int64(best[begin + c])
                    if removable == 0:
                        value = max(value, _seen_by_mover(_look_up(orb, quiet, target, symmetry, y), setting.draw))
                    while removable:
                        stone = removable & -removable
                        removable ^= stone
                        code = _look_up(orb, taken, target, symmetry, y ^ stone)
                        value = max(value, _seen_by_mover(code, setting.draw))
                    best[begin + c] = value


@kernel
def best_column_turns(setting, masks, cols, quiet, taken, start, stop, best):
    """The same for turns of the column side."""
    orb = setting.orb
    full = (np.int64(1) << orb.n_points) - 1
    for row in range(start, stop):
        x = np.int64(masks[row])
        free = full ^ x
        removable = _removable(setting, x)
        first = row * quiet.cols.size
        for c in range(cols.size):
            y = deposit(np.int64(cols.patterns[c]), free)
            value = np.int64(best[(row - start) * cols.size + c])
            origins = y if setting.sliding else np.int64(1)
            while origins:
                p = lowest_bit(origins)
                origins &= origins - 1
                left = y ^ (np.int64(1) << p) if setting.sliding else y
                goals = free & ~y
                if setting.sliding:
                    goals &= setting.reach[p]
                while goals:
                    q = lowest_bit(goals)
                    goals &= goals - 1
                    after = left | np.int64(1) << q
                    rest = removable if closes_mill(setting.others, left, q) else np.int64(0)
                    if rest == 0:
                        code = np.int64(quiet.values[first + rank_of(quiet.cols, extract(after, free))])
                        value = max(value, _seen_by_mover(code, setting.draw))
                    while rest:
                        stone = rest & -rest
                        rest ^= stone
                        target = np.int64(orb.row_of[x ^ stone])
                        symmetry = np.int64(orb.symmetry_of[x ^ stone])
                        value = max(value, _seen_by_mover(_look_up(orb, taken, target, symmetry, after), setting.draw))
            best[(row - start) * cols.size + c] = value


@kernel
def count_wrong(values, offset, best):
    """How many of values[offset:] differ from ``best``, and where the first one is (-1: none)."""
    wrong, first = 0, -1
    for i in range(len(best)):
        if values[offset + i] != best[i]:
            if wrong == 0:
                first = offset + i
            wrong += 1
    return wrong, first


class Finding(NamedTuple):
    """Outcome of a verification: slots looked at, slots that are wrong, number of the first wrong slot (-1: none)."""

    slots: int
    wrong: int
    first: int


def verify_subspace(
    variant: Variant, subspace: Subspace, values: np.ndarray, load, workers: Workers, progress=None
) -> Finding:
    """Recomputes all values of a subspace from its successors.

    values: flat, in the subspace's own index; ``load(subspace, rows_own)`` gives the stored values of another one, flat,
    with rows from the side asked for, in the same width; ``progress(share)`` is told how far it has come.
    """
    rows_own = subspace.rows_are_own
    own, opponent, own_hand, opponent_hand = subspace
    row_stones, column_stones = (own, opponent) if rows_own else (opponent, own)
    orb, n = orbits(variant.board), variant.board.n_points
    masks, cols = orb.rows(row_stones), columns(n - row_stones, column_stones)
    draw = draw_code(values.itemsize)

    def view(after: Subspace) -> View:
        """Rows stay with the same colour, which after the turn is the other side."""
        on_rows, on_columns = (after.opponent, after.own) if rows_own else (after.own, after.opponent)
        return View(load(after, not rows_own), orb.rows(on_rows), columns(n - on_rows, on_columns))

    nowhere = View(values[:0], masks[:0], columns(n - row_stones, column_stones))
    rounds = []
    for sliding in (False, True):
        may_slide, may_place = not own_hand or variant.place_and_slide, own_hand and own + opponent < n
        if not (may_slide if sliding else may_place):
            continue
        placed = 0 if sliding else 1
        quiet = Subspace(opponent, own + placed, opponent_hand, own_hand - placed)
        can_take = own + placed >= MIN_STONES and opponent > 0
        taken = view(quiet._replace(own=opponent - 1)) if can_take else nowhere
        arrays = lines(variant.board)
        reach = arrays.anywhere if variant.can_fly(own) and not own_hand else arrays.neighbours
        setting = Setting(orb, arrays.mills, arrays.others, reach, sliding, variant.capture_in_mills == "any", draw)
        rounds.append((setting, view(quiet), taken))
    board_is_full = own + opponent == n
    nothing = draw if board_is_full and variant.full_board == "draw" else LOST
    best_turns = best_row_turns if rows_own else best_column_turns
    done = 0

    def check(start, stop):
        nonlocal done
        best = np.full((stop - start) * cols.size, nothing, np.uint16)
        for setting, quiet, taken in rounds:
            best_turns(setting, masks, cols, quiet, taken, start, stop, best)
        result = count_wrong(values, start * cols.size, best)
        done += stop - start
        if progress:
            progress(done / len(masks))
        return result

    parts = workers.map_rows(check, len(masks), cols.size)
    wrong = sum(w for w, _ in parts)
    return Finding(len(values), wrong, next((f for _, f in parts if f >= 0), -1))


def verify_table(variant: Variant, subspace: Subspace, store, load, workers: Workers, progress=None) -> Finding:
    """Verifies the stored table of a subspace, its tally included.

    ``load(subspace, rows_own, width)`` gives finished values.  A tally that differs from the values counts as one wrong
    slot (number 0).
    """
    table = store.table(subspace)
    values = table.read(workers.pool)
    finding = verify_subspace(
        variant, subspace, values, lambda s, rows_own: load(s, rows_own, table.width), workers, progress
    )
    for counted, raw in zip(histograms(variant, subspace, values, workers), (False, True)):
        if not finding.wrong and not np.array_equal(counted, table.histogram(raw)):
            return Finding(len(values), 1, 0)
    return finding
