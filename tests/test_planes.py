"""Sets of columns as words: against the same questions asked of one column after the other."""

import numpy as np
import pytest

from solver.combinatorics import columns
from solver.planes import (
    DIGITS, add_to, fill_containing, fill_planes, list_columns, list_with_mill, words_for, write_sums,
)  # fmt: skip

SHAPES = [(6, 3), (13, 2), (8, 4), (18, 5), (5, 5), (7, 1), (24, 1), (9, 9)]


def planes_of(n, k):
    cols = columns(n, k)
    planes = np.full((n, words_for(cols.size)), -1, np.int64)
    fill_planes(cols, planes)
    return cols, planes


def columns_in(words, size):
    """The columns below ``size`` whose bits are set."""
    return [c for c in range(size) if int(words[c // 64]) >> c % 64 & 1]


def test_words_hold_sixty_four():
    assert [words_for(size) for size in (1, 63, 64, 65, 128, 8568)] == [1, 1, 1, 2, 2, 134]


@pytest.mark.parametrize("n, k", SHAPES)
def test_planes(n, k):
    cols, planes = planes_of(n, k)
    for i in range(n):
        expected = [c for c, pattern in enumerate(cols.patterns.tolist()) if pattern >> i & 1]
        assert columns_in(planes[i], 64 * planes.shape[1]) == expected  # and nothing behind the last column


@pytest.mark.parametrize("n, k", SHAPES)
def test_columns_that_contain_a_pattern(n, k):
    cols, planes = planes_of(n, k)
    out, listed = np.empty(planes.shape[1], np.int64), np.empty(cols.size, np.uint32)
    for pattern in (1, 0b10010, 0b10011, (1 << n) - 1, 1 << (n - 1)):
        fill_containing(planes, pattern, out)
        expected = [c for c, p in enumerate(cols.patterns.tolist()) if p & pattern == pattern]
        assert columns_in(out, cols.size) == expected
        found = list_columns(out, listed)
        assert listed[:found].tolist() == expected


@pytest.mark.parametrize("n_mills", [0, 1, 2, 4])
def test_columns_with_a_mill(n_mills):
    cols, planes = planes_of(15, 6)
    mills = np.array([0b111, 0b111000, 1 << 14 | 1 << 2 | 1 << 8, 0b1010100000], np.int64)
    scratch, listed = np.full((2, planes.shape[1]), -1, np.int64), np.empty(cols.size, np.uint32)
    found = list_with_mill(planes, mills, n_mills, scratch, listed)
    expected = [c for c, p in enumerate(cols.patterns.tolist()) if any(p & m == m for m in mills[:n_mills].tolist())]
    assert listed[:found].tolist() == expected and bool(expected) == (n_mills > 0)


@pytest.mark.parametrize("size, n_sets", [(1, 3), (64, 1), (100, 7), (1000, 31), (777, 255), (130, 300)])
def test_sums(size, n_sets):
    """Added up with no more digits than are needed, as the passes do; beyond eight digits as bytes wrap."""
    rng = np.random.default_rng(6)
    members = rng.random((n_sets, size)) < 0.9
    members[:, 0] = True  # one column reaches the highest sum there can be
    digits, eights = np.zeros((DIGITS, words_for(size)), np.int64), np.empty(8 * words_for(size), np.int64)
    for i, chosen in enumerate(members, 1):
        bits = np.zeros(64 * words_for(size), np.uint64)
        bits[:size] = chosen
        words = np.bitwise_or.reduce(bits.reshape(-1, 64) << np.arange(64, dtype=np.uint64), axis=1).view(np.int64)
        add_to(digits, min(i.bit_length(), DIGITS), words)
    out = np.full(size, 99, np.uint8)
    write_sums(digits, min(n_sets.bit_length(), DIGITS), eights, out)
    assert out.tolist() == (members.sum(axis=0) % 256).tolist()
