"""Columns: rank and unrank are bijections in ascending order, and bits are packed and spread."""

import random
from itertools import combinations
from math import comb

import numpy as np
import pytest
from conftest import ascending_patterns

from solver.combinatorics import columns, deposit_bits, extract_bits, patterns_with, rank_pattern, unrank_pattern


def masks(n, k):
    """All n-bit numbers with k bits, ascending, from the definition."""
    return [mask for mask in range(1 << n) if mask.bit_count() == k]


@pytest.mark.parametrize("k", range(11))
def test_rank_and_unrank_are_inverse_and_ascend(k):
    expected = masks(10, k)
    assert [rank_pattern(mask) for mask in expected] == list(range(comb(10, k)))
    assert [unrank_pattern(rank, k) for rank in range(comb(10, k))] == expected


def test_rank_and_unrank_of_large_patterns():
    choose = random.Random(2)
    for _ in range(500):
        pattern = choose.getrandbits(24)
        rank = rank_pattern(pattern)
        assert rank == sum(comb(p, i) for i, p in enumerate((p for p in range(24) if pattern >> p & 1), 1))
        assert unrank_pattern(rank, pattern.bit_count()) == pattern


@pytest.mark.parametrize("n, k", [(0, 0), (0, 1), (5, 0), (5, 5), (5, 6), (9, 3), (12, 6), (13, 4), (21, 3), (18, 5)])
def test_patterns_ascend_and_are_complete(n, k):
    patterns = patterns_with(n, k)
    assert patterns.dtype == np.uint32 and len(patterns) == comb(n, k)
    if comb(n, k):
        assert np.array_equal(patterns, ascending_patterns(n, k))
        assert patterns.tolist() == sorted(patterns.tolist())


@pytest.mark.parametrize(
    "n, k", [(0, 0), (3, 0), (3, 2), (7, 7), (11, 4), (12, 6), (13, 0), (13, 1), (13, 13), (15, 6), (21, 3), (20, 4), (24, 2)]
)
def test_two_small_tables_give_the_rank(n, k):
    cols = columns(n, k)
    assert (cols.n, cols.k, cols.size) == (n, k, comb(n, k))
    patterns = cols.patterns.astype(np.int64)
    ranks = cols.low[patterns & 4095].astype(np.int64) + cols.high[patterns >> 12]
    assert np.array_equal(ranks, np.arange(cols.size))
    assert [rank_pattern(int(p)) for p in patterns[:: max(1, cols.size // 50)]] == list(range(cols.size))[:: max(1, cols.size // 50)]


def test_every_number_of_free_points_and_stones():
    for n in range(25):
        for k in range(min(n, 3) + 1):
            expected = [sum(1 << p for p in chosen) for chosen in combinations(range(n), k)]
            assert columns(n, k).patterns.tolist() == sorted(expected)


def slow_extract(value, mask):
    bits = [value >> p & 1 for p in range(24) if mask >> p & 1]
    return sum(bit << i for i, bit in enumerate(bits))


def slow_deposit(value, mask):
    points = [p for p in range(24) if mask >> p & 1]
    return sum((value >> i & 1) << p for i, p in enumerate(points))


def test_bits_are_packed_and_spread():
    choose = random.Random(3)
    for _ in range(500):
        value, mask = choose.getrandbits(24), choose.getrandbits(24)
        assert extract_bits(value, mask) == slow_extract(value, mask)
        assert deposit_bits(value, mask) == slow_deposit(value, mask)
        assert deposit_bits(extract_bits(value, mask), mask) == value & mask
    assert extract_bits(0b1011, 0b1010) == 0b11 and deposit_bits(0b01, 0b1010) == 0b0010
    assert extract_bits(5, 0) == deposit_bits(5, 0) == 0
