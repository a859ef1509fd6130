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

from enum import Enum
from typing import NamedTuple

import numpy as np

from .bits import extract, lowest_bit
from .combinatorics import Columns, columns
from .edges import NEVER, closes_mill, fill_packed_lines, fill_points, lines, rank_of, stones_in_mills
from .jit import Workers, inlined, kernel
from .metric import DTW, Metric, outcome_codes
from .subspace import Subspace
from .symmetry import Orbits, image_of, orbits
from .tally import histograms
from .values import DTYPES, code_without_turns, draw_code, turn_value
from .variant import MIN_STONES, Variant

_turn_value = inlined(turn_value)
#: Above all codes.
NO_TURN = np.int32(1 << 30)


class View(NamedTuple):
    """A finished table as a lookup: values, canonical row masks, columns."""

    values: np.ndarray
    masks: np.ndarray
    cols: Columns


class Setting(NamedTuple):
    """Rules and index of a check.

    others: see `Lines`; reach: int64[points], where a stone of the mover may slide to; sliding: whether the turns of this
    round slide (else they place); may_break: whether a stone may be taken from a mill when all stand in mills.
    """

    orb: Orbits
    mills: np.ndarray
    others: np.ndarray
    reach: np.ndarray
    sliding: bool
    may_break: bool


@inlined
def _removable(setting, stones):
    inside = stones_in_mills(setting.mills, stones)
    if inside == stones and setting.may_break:
        return stones
    return stones & ~inside


@inlined
def _fill_carrying(images, symmetry, points, n_free, target_free, low, high):
    """Tables that carry a pattern of column stones to the frame of a target row, by its lower and upper half.

    points: the free points of the source row, n_free of them; target_free: mask of the free points of the target row.
    A stone on a point that is no longer free is lost on the way.
    """
    half = n_free // 2
    low[0] = high[0] = 0
    for i in range(n_free):
        carried = extract(image_of(images, symmetry, np.int64(1) << points[i]), target_free)
        size = np.int64(1) << (i if i < half else i - half)
        for j in range(size):
            if i < half:
                low[size + j] = low[j] | carried
            else:
                high[size + j] = high[j] | carried


@inlined
def _packed_removable(setting, packed, n_mills, pattern):
    """Stones of a pattern that a mill may remove; packed: the mills on free points, as patterns."""
    inside = np.int64(0)
    for i in range(n_mills):
        inside |= packed[i] if pattern & packed[i] == packed[i] else 0
    if inside == pattern and setting.may_break:
        return pattern
    return pattern & ~inside


@kernel
def least_after_row_turns(setting, masks, cols, quiet, taken, start, stop, least):
    """Lowers ``least`` to the codes after the turns of the row side, for the slots of rows [start, stop).

    quiet: View after a turn without capture; taken: View after one with.  least: int32[(stop - start) * columns].
    """
    orb = setting.orb
    full = (np.int64(1) << orb.n_points) - 1
    points = np.empty(32, np.int64)
    packed = np.empty(32, np.int64)
    low = np.empty(4096, np.int64)
    high = np.empty(4096, np.int64)
    half = cols.n // 2
    low_mask = (np.int64(1) << half) - 1
    for row in range(start, stop):
        x = np.int64(masks[row])
        n_free = fill_points(full ^ x, points)
        n_mills = fill_packed_lines(setting.mills, full ^ x, points, n_free, packed)
        here = least[(row - start) * cols.size : (row - start + 1) * cols.size]
        if quiet.cols.size == 0:  # no room for a stone: every column stands in the way
            continue
        for p in range(orb.n_points if setting.sliding else 1):
            if setting.sliding and (x >> p) & 1 == 0:
                continue
            left = x ^ (np.int64(1) << p) if setting.sliding else x
            for i in range(n_free):
                q = points[i]
                if setting.sliding and (setting.reach[p] >> q) & 1 == 0:
                    continue
                after = left | np.int64(1) << q
                target = np.int64(orb.row_of[after])
                symmetry = np.int64(orb.symmetry_of[after])
                _fill_carrying(orb.images, symmetry, points, n_free, full ^ image_of(orb.images, symmetry, after), low, high)
                goal = np.int64(1) << i
                # Where a stone stands on the goal the rank means nothing; it only has to stay in the row.
                last = quiet.cols.size - 1
                reached = quiet.values[target * quiet.cols.size : (target + 1) * quiet.cols.size]
                if not closes_mill(setting.others, left, q):
                    for c in range(cols.size):
                        pattern = np.int64(cols.patterns[c])
                        rank = min(rank_of(quiet.cols, low[pattern & low_mask] | high[pattern >> half]), last)
                        code = np.int32(reached[rank])
                        here[c] = min(here[c], code if pattern & goal == 0 else NO_TURN)
                    continue
                for c in range(cols.size):
                    pattern = np.int64(cols.patterns[c])
                    if pattern & goal:
                        continue
                    carried = low[pattern & low_mask] | high[pattern >> half]
                    removable = _packed_removable(setting, packed, n_mills, pattern)
                    if removable == 0:
                        here[c] = min(here[c], np.int32(reached[rank_of(quiet.cols, carried)]))
                    while removable:
                        stone = removable & -removable
                        removable ^= stone
                        left_over = carried ^ (low[stone & low_mask] | high[stone >> half])
                        slot = target * taken.cols.size + rank_of(taken.cols, left_over)
                        here[c] = min(here[c], np.int32(taken.values[slot]))


@inlined
def _fill_packed_rules(setting, free, points, n_free, reach, others):
    """For the free points of a row: where a stone may slide to, and the two other points of each mill, as patterns.

    reach: int64[n_free]; others: int64[n_free, Q] as in `Lines`, `NEVER` behind the last.
    """
    for i in range(n_free):
        reach[i] = extract(setting.reach[points[i]], free)
        n = 0
        for m in range(setting.others.shape[1]):
            mask = setting.others[points[i], m]
            if mask & ~free == 0:
                others[i, n] = extract(mask, free)
                n += 1
        others[i, n:] = NEVER


@kernel
def least_after_column_turns(setting, masks, cols, quiet, taken, start, stop, least):
    """The same for turns of the column side: the row stays, or loses one of its stones."""
    orb = setting.orb
    full = (np.int64(1) << orb.n_points) - 1
    points = np.empty(32, np.int64)
    reach = np.empty(32, np.int64)
    others = np.empty((32, setting.others.shape[1]), np.int64)
    half = cols.n // 2
    low_mask = (np.int64(1) << half) - 1
    # For each stone of the row that may be removed: the row that is left, and what carries a pattern to it.
    left_rows = np.empty(32, np.int64)
    low = np.empty((32, 4096), np.int64)
    high = np.empty((32, 4096), np.int64)
    for row in range(start, stop):
        x = np.int64(masks[row])
        free = full ^ x
        n_free = fill_points(free, points)
        _fill_packed_rules(setting, free, points, n_free, reach, others)
        n_removable = 0
        rest = _removable(setting, x) if len(taken.values) else np.int64(0)
        while rest:
            left = x ^ (rest & -rest)
            rest &= rest - 1
            symmetry = np.int64(orb.symmetry_of[left])
            target_free = full ^ image_of(orb.images, symmetry, left)
            _fill_carrying(orb.images, symmetry, points, n_free, target_free, low[n_removable], high[n_removable])
            left_rows[n_removable] = np.int64(orb.row_of[left]) * taken.cols.size
            n_removable += 1
        reached = quiet.values[row * quiet.cols.size : (row + 1) * quiet.cols.size]
        here = least[(row - start) * cols.size : (row - start + 1) * cols.size]
        for c in range(cols.size):
            pattern = np.int64(cols.patterns[c])
            lowest = here[c]
            origins = pattern if setting.sliding else np.int64(1)
            while origins:
                i = lowest_bit(origins)
                origins &= origins - 1
                left = pattern ^ (np.int64(1) << i) if setting.sliding else pattern
                goals = (reach[i] if setting.sliding else (np.int64(1) << n_free) - 1) & ~pattern
                while goals:
                    j = lowest_bit(goals)
                    goals &= goals - 1
                    after = left | np.int64(1) << j
                    closes = False
                    for m in range(others.shape[1]):
                        closes |= left & others[j, m] == others[j, m]
                    if not closes or n_removable == 0:
                        lowest = min(lowest, np.int32(reached[rank_of(quiet.cols, after)]))
                        continue
                    for r in range(n_removable):
                        carried = low[r, after & low_mask] | high[r, after >> half]
                        lowest = min(lowest, np.int32(taken.values[left_rows[r] + rank_of(taken.cols, carried)]))
            here[c] = lowest


@kernel
def settle(least, draw, quickest, values):
    """values: uint16, the value of each position by the least code after its turns; codes as `turn_value` takes them."""
    for i in range(len(least)):
        values[i] = _turn_value(np.int64(least[i]), draw, quickest)


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


class Fault(Enum):
    """What may be wrong with a table whose slots are all right: its stored tally, or losses so deep that the depths of
    what leads there would not fit its bytes a slot."""

    TALLY = 1
    TOO_DEEP = 2


class Finding(NamedTuple):
    """Outcome of a verification.

    slots: how many were looked at; wrong: how many of them are wrong; first: number of the first wrong one (-1: none);
    fault: what else is wrong, looked for only where all slots are right, or None.
    """

    slots: int
    wrong: int
    first: int
    fault: Fault | None = None

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong, neither slots nor what stands beside them."""
        return not self.wrong and self.fault is None


def recomputer(variant: Variant, subspace: Subspace, width: int, load, metric: Metric = DTW):
    """A function of (start, stop) that gives the best turns' values for the slots of these rows: uint8 or uint16, flat.

    ``load(subspace, rows_own)`` gives the stored values of another subspace, flat, with rows from the side asked for, in
    a code of ``width`` bytes, of ``metric``.
    """
    rows_own = subspace.rows_are_own
    own, opponent, own_hand, opponent_hand = subspace
    row_stones, column_stones = subspace.table_sides
    orb, n = orbits(variant.board), variant.board.n_points
    masks, cols = orb.rows(row_stones), columns(n - row_stones, column_stones)
    draw, quickest = draw_code(width), metric.quickest(width)

    def view(after: Subspace) -> View:
        """Rows stay with the same colour, which after the turn is the other side."""
        on_rows, on_columns = after.sides(not rows_own)
        return View(load(after, not rows_own), orb.rows(on_rows), columns(n - on_rows, on_columns))

    nowhere = View(np.zeros(0, DTYPES[width]), masks[:0], columns(n - row_stones, column_stones))
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
        setting = Setting(orb, arrays.mills, arrays.others, reach, sliding, variant.capture_in_mills == "any")
        rounds.append((setting, view(quiet), taken))
    without_turn = draw if own + opponent == n and variant.full_board == "draw" else code_without_turns(draw)
    least_after_turns = least_after_row_turns if rows_own else least_after_column_turns

    def recompute(start: int, stop: int) -> np.ndarray:
        least = np.full((stop - start) * cols.size, without_turn, np.int32)
        for setting, quiet, taken in rounds:
            least_after_turns(setting, masks, cols, quiet, taken, start, stop, least)
        best = np.empty(len(least), np.uint16)
        settle(least, draw, quickest, best)
        return metric.limited(best, width) if metric.has_depths else outcome_codes(best, draw)

    return recompute


def verify_subspace(
    variant: Variant, subspace: Subspace, values: np.ndarray, load, workers: Workers, progress=None, metric: Metric = DTW
) -> Finding:
    """Recomputes all values of a subspace from its successors.

    values: flat, in the subspace's own index; ``load``: see `recomputer`; ``progress(share)`` is told how far it has
    come.  Values without depths (see ``metric``) prove themselves only where no quiet moves lead back; see `recheck`
    for others.
    """
    recompute = recomputer(variant, subspace, values.itemsize, load, metric)
    row_stones, column_stones = subspace.table_sides
    n_rows = len(orbits(variant.board).rows(row_stones))
    n_columns = columns(variant.board.n_points - row_stones, column_stones).size
    done = 0

    def check(start, stop):
        nonlocal done
        result = count_wrong(values, start * n_columns, recompute(start, stop))
        done += stop - start
        if progress:
            progress(done / n_rows)
        return result

    parts = workers.map_rows(check, n_rows, n_columns)
    wrong = sum(w for w, _ in parts)
    return Finding(len(values), wrong, next((f for _, f in parts if f >= 0), -1))


def verify_table(variant: Variant, subspace: Subspace, store, load, workers: Workers, progress=None) -> Finding:
    """Verifies the stored table of a subspace, its tally included.

    ``load(subspace, rows_own, width)`` gives finished values.
    """
    table = store.table(subspace)
    values = table.read(workers.pool)
    finding = verify_subspace(
        variant, subspace, values, lambda s, rows_own: load(s, rows_own, table.width), workers, progress, table.metric
    )
    return with_tally(variant, subspace, table, values, finding, workers)


def with_tally(variant: Variant, subspace: Subspace, table, values: np.ndarray, finding: Finding, workers: Workers) -> Finding:
    """The finding, with `Fault.TALLY` where all values are right and the stored tally is not."""
    for counted, raw in zip(histograms(variant, subspace, values, workers), (False, True)):
        if finding.is_right and not np.array_equal(counted, table.histogram(raw)):
            finding = finding._replace(fault=Fault.TALLY)
    return finding
