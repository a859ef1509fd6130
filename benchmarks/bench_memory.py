"""What the machine itself allows: bytes a second through memory, and the cost of one table access in each cache.

Both are measured with kernels made like those of the solver, on the same worker threads, so that a stage's time can be
set against a time no program on this machine could beat (see `bounds`).
"""

import time

import numpy as np

from solver.jit import Workers, kernel

from .measuring import BenchmarkError, Measurement, Setting, timed

#: Bytes of the tables walked through: inside the first cache, inside the second, and far outside of all.
WALKS = {"L1": 16 << 10, "L2": 256 << 10, "memory": 256 << 20}
#: Counters and list of the overlapping accesses: as large as the rows that the pass works in.
COUNTERS, STEPS = 1 << 14, 1 << 22


@kernel
def copy_words(source, target, start, stop):
    """target[start:stop] = source[start:stop], int64."""
    for i in range(start, stop):
        target[i] = source[i]


@kernel
def sum_words(source, start, stop):
    """Sum of source[start:stop], int64."""
    total = np.int64(0)
    for i in range(start, stop):
        total += source[i]
    return total


@kernel
def walk(following, steps):
    """Where ``steps`` steps lead from 0, each read from where the one before ended."""
    at = np.int64(0)
    for _ in range(steps):
        at = np.int64(following[at])
    return at


@kernel
def count_down(counters, slots):
    """Takes one from the counter of each slot, as the pass does; slots are known beforehand, so accesses overlap."""
    for i in range(len(slots)):
        counters[slots[i]] -= np.uint8(1)


def _cycle(size: int, rng) -> np.ndarray:
    """uint32[size / 4]: a walk that comes through every place once before it is back at 0."""
    order = rng.permutation(size // 4).astype(np.uint32)
    following = np.empty_like(order)
    following[order] = np.roll(order, -1)
    return following


def measure(setting: Setting):
    for jobs in setting.workers:
        workers = Workers(jobs)
        try:
            yield from _bandwidth(setting, workers)
        finally:
            workers.close()
    yield from _accesses(setting)


def _bandwidth(setting: Setting, workers: Workers):
    words = max(1 << 10, setting.memory // 16)
    source, target = np.arange(words, dtype=np.int64), np.zeros(words, np.int64)
    sums: list[int] = []

    def copy():
        workers.map_rows(lambda a, b: copy_words(source, target, a, b), words, 1)

    def add():
        sums[:] = workers.map_rows(lambda a, b: sum_words(source, a, b), words, 1)

    copy(), add()
    target[:] = 0
    seconds = timed(setting, copy)
    if not np.array_equal(source, target):
        raise BenchmarkError("the copy differs from its source")
    yield Measurement("memory", "copy", workers.jobs, seconds, "the source", {"bytes": 16 * words})
    seconds = timed(setting, add)
    if sum(sums) != words * (words - 1) // 2:
        raise BenchmarkError("the sum read from memory is wrong")
    yield Measurement("memory", "read", workers.jobs, seconds, "the sum known beforehand", {"bytes": 8 * words})


def _accesses(setting: Setting):
    rng = np.random.default_rng(setting.seed)
    for name, size in WALKS.items():
        following = _cycle(min(size, setting.memory), rng)
        rounds = max(1, min(STEPS, setting.memory // 64) // len(following))
        steps = rounds * len(following)
        walk(following, len(following))
        seconds = []
        for _ in setting.runs():
            started = time.perf_counter()
            end = walk(following, steps)
            seconds.append(time.perf_counter() - started)
            if end != 0:
                raise BenchmarkError(f"the walk through {name} does not end where it began")
        yield Measurement("memory", f"dependent {name}", 1, seconds, "the walk's end", {"accesses": steps})
    slots = rng.integers(0, COUNTERS, min(STEPS, setting.memory // 64)).astype(np.uint32)
    counters = np.zeros(COUNTERS, np.uint8)
    count_down(counters, slots)
    counters[:] = 0
    seconds = timed(setting, lambda: count_down(counters, slots))
    expected = -len(seconds) * np.bincount(slots, minlength=COUNTERS) & 255
    if not np.array_equal(counters, expected.astype(np.uint8)):
        raise BenchmarkError("the counters are wrong")
    yield Measurement("memory", "overlapping counts", 1, seconds, "a second count", {"accesses": len(slots)})
