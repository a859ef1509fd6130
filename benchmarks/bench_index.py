"""Position <-> slot: the plain indexer that questions use, its array form, and the kernels' way.

All take the same random positions of the largest pair; the kernel also takes them in the order of the table, as a
verification does.  They must agree on every slot, and unindexing must lead back.
"""

import time

import numpy as np

from solver.bits import deposit, extract
from solver.combinatorics import columns
from solver.conversions import shape_of
from solver.edges import rank_of
from solver.indexing import Indexer
from solver.jit import kernel
from solver.symmetry import image_of, orbits

from .measuring import BenchmarkError, Measurement, Setting, timed

#: One position in so many goes to the plain indexer, which is far slower.
PLAIN_SHARE = 50


@kernel
def fill_slots(orb, cols, xs, ys, out):
    """out = slots of positions given by row-side masks ``xs`` and column-side masks ``ys``, uint32[n]."""
    full = (np.int64(1) << orb.n_points) - 1
    for i in range(len(xs)):
        x = np.int64(xs[i])
        g = np.int64(orb.symmetry_of[x])
        free = full ^ image_of(orb.images, g, x)
        pattern = extract(image_of(orb.images, g, np.int64(ys[i])), free)
        out[i] = np.int64(orb.row_of[x]) * cols.size + rank_of(cols, pattern)


@kernel
def fill_masks(orb, masks, cols, slots, xs, ys):
    """The inverse: masks of both sides at each slot, int64[n]."""
    full = (np.int64(1) << orb.n_points) - 1
    for i in range(len(slots)):
        x = np.int64(masks[slots[i] // cols.size])
        xs[i] = x
        ys[i] = deposit(np.int64(cols.patterns[slots[i] % cols.size]), full ^ x)


def random_positions(setting: Setting, subspace, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the row side and of the column side, uint32[n], of random positions in random orientation."""
    rng = np.random.default_rng(setting.seed)
    orb, board = orbits(setting.variant.board), setting.variant.board
    row_stones, column_stones = subspace.table_sides
    masks, cols = orb.rows(row_stones), columns(board.n_points - row_stones, column_stones)
    slots = rng.integers(0, shape_of(setting.variant, row_stones, column_stones).size, n)
    xs, ys = np.empty(n, np.uint32), np.empty(n, np.uint32)
    fill_masks(orb, masks, cols, slots, xs, ys)
    turns = rng.integers(0, len(board.symmetries), n)
    for side in (xs, ys):
        low, middle, high = side & 255, side >> 8 & 255, side >> 16
        side[:] = orb.images[turns, 0, low] | orb.images[turns, 1, middle] | orb.images[turns, 2, high]
    return xs, ys


def measure(setting: Setting):
    subspace = max(setting.pairs, key=lambda s: (s.stones_on_board, s.own))
    case = f"{setting.variant.name} {subspace.name}"
    orb, indexer = orbits(setting.variant.board), Indexer(setting.variant.board)
    row_masks = orb.rows(subspace.own)
    cols = columns(setting.variant.board.n_points - subspace.own, subspace.opponent)
    xs, ys = random_positions(setting, subspace, setting.batch)
    n, n_plain = len(xs), max(1, len(xs) // PLAIN_SHARE)
    slots, back_x, back_y = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    fill_slots(orb, cols, xs[:1], ys[:1], slots[:1])
    seconds = timed(setting, lambda: fill_slots(orb, cols, xs, ys, slots))
    rows, cs = indexer.slots_of(subspace, xs, ys, row_masks)
    if not np.array_equal(rows * cols.size + cs, slots):
        raise BenchmarkError("the kernels and the array indexer disagree on a slot")
    amounts = {"positions": n}
    yield Measurement("index", f"{case} kernel", 1, seconds, "the array indexer", amounts)
    seconds = timed(setting, lambda: indexer.slots_of(subspace, xs, ys, row_masks))
    yield Measurement("index", f"{case} arrays", 1, seconds, "the kernels", amounts)

    pairs = list(zip(xs[:n_plain].tolist(), ys[:n_plain].tolist()))
    seconds, found = _plain(setting, lambda: [indexer.slot_of(subspace, x, y, row_masks) for x, y in pairs])
    if [row * cols.size + column for row, column in found] != slots[:n_plain].tolist():
        raise BenchmarkError("the plain indexer and the kernels disagree on a slot")
    yield Measurement("index", f"{case} plain", 1, seconds, "the kernels", {"positions": n_plain})

    fill_masks(orb, row_masks, cols, slots[:1], back_x[:1], back_y[:1])
    seconds = timed(setting, lambda: fill_masks(orb, row_masks, cols, slots, back_x, back_y))
    again = np.empty(n, np.int64)
    fill_slots(orb, cols, back_x, back_y, again)
    if not np.array_equal(again, slots):
        raise BenchmarkError("unindexing does not lead back to the slot")
    yield Measurement("unindex", f"{case} kernel", 1, seconds, "indexing them again", amounts)

    places = [divmod(slot, cols.size) for slot in slots[:n_plain].tolist()]
    seconds, found = _plain(setting, lambda: [indexer.masks_at(subspace, r, c, row_masks) for r, c in places])
    if found != list(zip(back_x[:n_plain].tolist(), back_y[:n_plain].tolist())):
        raise BenchmarkError("the plain indexer and the kernels disagree on a position")
    yield Measurement("unindex", f"{case} plain", 1, seconds, "the kernels", {"positions": n_plain})

    slots.sort()
    fill_masks(orb, row_masks, cols, slots, back_x, back_y)
    seconds = timed(setting, lambda: fill_slots(orb, cols, back_x, back_y, again))
    if not np.array_equal(again, slots):
        raise BenchmarkError("indexing in order gives other slots")
    yield Measurement("index", f"{case} kernel, in order", 1, seconds, "the slots they come from", amounts)


def _plain(setting: Setting, function):
    """Seconds of the runs, and what the last one gave."""
    seconds = []
    for _ in setting.runs():
        started = time.perf_counter()
        found = function()
        seconds.append(time.perf_counter() - started)
    return seconds, found
