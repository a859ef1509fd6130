"""Columns: the placements of k stones on n points that are still free.

A column is the colexicographic rank of an n-bit *pattern* with k bits set; in this order patterns
ascend as integers.  With bits p1 < p2 < ... the rank is C(p1,1) + C(p2,2) + ...  The low twelve bits
contribute independently of the high ones, and the high ones contribute a sum that depends only on
themselves once k is fixed, so two small tables give the rank:

    rank(pattern) = low[pattern & 4095] + high[pattern >> 12]
"""

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

LOW_BITS = 12


class Columns(NamedTuple):
    """Rank tables for k stones on n free points.

    patterns: uint32[size], the pattern of each column; low: uint16[4096] and high: uint32[2^max(0, n-12)],
    see the module's head.
    """

    n: int
    k: int
    size: int
    patterns: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rank_pattern(pattern: int) -> int:
    """Colex rank of a pattern among all patterns with the same number of bits (pure Python).

    >>> [rank_pattern(p) for p in (0b011, 0b101, 0b110, 0b1001)]
    [0, 1, 2, 3]
    """
    rank = count = position = 0
    while pattern:
        if pattern & 1:
            count += 1
            rank += comb(position, count)
        pattern >>= 1
        position += 1
    return rank


def unrank_pattern(rank: int, k: int) -> int:
    """The pattern with k bits of that rank, inverse of `rank_pattern`."""
    pattern = 0
    for count in range(k, 0, -1):
        position = count - 1
        while comb(position + 1, count) <= rank:
            position += 1
        rank -= comb(position, count)
        pattern |= 1 << position
    return pattern


def extract_bits(value: int, mask: int) -> int:
    """Bits of ``value`` selected by ``mask``, packed to the low end (pure Python)."""
    packed = n = 0
    while mask:
        lowest = mask & -mask
        if value & lowest:
            packed |= 1 << n
        n += 1
        mask ^= lowest
    return packed


def deposit_bits(value: int, mask: int) -> int:
    """Spreads the low bits of ``value`` to the places that ``mask`` selects (pure Python)."""
    spread = 0
    while mask and value:
        lowest = mask & -mask
        if value & 1:
            spread |= lowest
        value >>= 1
        mask ^= lowest
    return spread


@lru_cache(maxsize=None)
def patterns_with(n: int, k: int) -> np.ndarray:
    """All n-bit patterns with k bits set, ascending, as uint32[C(n, k)]."""
    if k == 0:
        return np.zeros(1, np.uint32)
    if k > n:
        return np.zeros(0, np.uint32)
    return np.concatenate(
        [patterns_with(n - 1, k), patterns_with(n - 1, k - 1) | np.uint32(1 << (n - 1))]
    )


@lru_cache(maxsize=None)
def columns(n: int, k: int) -> Columns:
    """The rank tables for k stones on n free points."""
    low = np.zeros(1 << LOW_BITS, np.uint16)
    for count in range(LOW_BITS + 1):
        low[patterns_with(LOW_BITS, count)] = np.arange(comb(LOW_BITS, count))
    high = np.zeros(1 << max(0, n - LOW_BITS), np.uint32)
    for bits in range(len(high)):
        missing = k - bits.bit_count()  # bits that must then stand in the low part
        if 0 <= missing <= LOW_BITS:
            lowest = (bits << LOW_BITS) | ((1 << missing) - 1)
            high[bits] = rank_pattern(lowest)
    return Columns(n, k, comb(n, k), patterns_with(n, k), low, high)
