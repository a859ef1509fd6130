"""Columns sixty-four at a time: for each free point the set of the columns with a stone there, as bits of words.

What the column side's stones have in common is then asked of all columns of a row by a few operations on words, and
many such answers are added up digit by digit, as one adds on paper.
"""

import numpy as np

from .bits import lowest_bit, matches
from .jit import kernel

#: Columns in a word: bit c % 64 of word c // 64 is column c's.
WORD = 64
#: Digits of a sum; what is carried beyond is lost, as from a byte.
DIGITS = 8
#: The bits of a byte, each in a byte of its own, the lowest first.
_SPREAD = np.array([sum((b >> i & 1) << 8 * i for i in range(8)) for b in range(256)], np.uint64).view(np.int64)


@kernel
def words_for(size):
    """How many words hold so many columns."""
    return (size + WORD - 1) // WORD


@kernel
def fill_planes(cols, planes):
    """planes[i] = the columns with bit i of the pattern, for all i below ``cols.n``; int64[n or more, words]."""
    for i in range(cols.n):
        bit = np.int64(1) << i
        for w in range(planes.shape[1]):
            planes[i, w] = matches(cols.patterns, w * WORD, bit, bit)


@kernel
def fill_containing(planes, pattern, out):
    """out = the columns that contain all bits of a pattern, which is not empty; int64[words]."""
    rest = pattern
    out[:] = planes[lowest_bit(rest)]
    rest &= rest - 1
    while rest:
        plane = planes[lowest_bit(rest)]
        for w in range(len(out)):
            out[w] &= plane[w]
        rest &= rest - 1


@kernel
def list_columns(words, listed):
    """Writes the columns of a set, ascending; returns how many."""
    n = 0
    for w in range(len(words)):
        rest = words[w]
        while rest:
            bit = lowest_bit(rest)
            rest ^= np.int64(1) << bit
            listed[n] = w * WORD + bit
            n += 1
    return n


@kernel
def list_with_mill(planes, packed, n_mills, scratch, listed):
    """Writes the columns that contain one of the patterns packed[:n_mills]; returns how many.

    scratch: int64[2, words].
    """
    found = scratch[0]
    closed = scratch[1]
    found[:] = 0
    for m in range(n_mills):
        fill_containing(planes, packed[m], closed)
        for w in range(len(found)):
            found[w] |= closed[w]
    return list_columns(found, listed)


@kernel
def add_to(digits, n_digits, words):
    """Adds one, in binary digits[0], digits[1], ..., for each column of a set, which is lost; int64[DIGITS, words]."""
    for d in range(n_digits):
        digit = digits[d]
        for w in range(len(words)):
            carried = digit[w] & words[w]
            digit[w] ^= words[w]
            words[w] = carried


@kernel
def write_sums(digits, n_digits, eights, out):
    """out[c] = the sum of column c; out: uint8[columns]; eights: scratch, int64[8 * words]."""
    for w in range(digits.shape[1]):
        for g in range(8):
            total = np.int64(0)
            for d in range(n_digits):
                total |= _SPREAD[(digits[d, w] >> (8 * g)) & 255] << d
            eights[8 * w + g] = total
    sums = eights.view(np.uint8)  # the lowest byte stands first on every machine that numba compiles for
    for c in range(len(out)):
        out[c] = sums[c]
