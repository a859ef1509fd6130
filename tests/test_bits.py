"""Bit extraction and deposit, comparing many elements, prefetch: the instruction and its twin say the same."""

import numpy as np
import pytest

from solver import bits
from solver.combinatorics import deposit_bits, extract_bits
from solver.jit import kernel

EDGES = [0, 1, 0xFF, 0x100, 0xFF00, 0x800000, 0xFF0000, 0xFFFFFF, 0x555555, 0xAAAAAA]


def samples(n):
    """Pairs (value, mask) of 24 bits: all pairs of edge cases, then random ones, some with few and some with many bits."""
    rng = np.random.default_rng(4)
    values, masks, thinning = rng.integers(0, 1 << 24, (3, n))
    masks[::3] &= thinning[::3]
    masks[1::3] |= thinning[1::3]
    edges = np.array([(v, m) for v in EDGES for m in EDGES], np.int64).T
    return np.concatenate([edges[0], values]), np.concatenate([edges[1], masks])


@kernel
def apply_twins(values, masks, extracted, deposited):
    for i in range(len(values)):
        extracted[i] = bits.extract_twin(values[i], masks[i])
        deposited[i] = bits.deposit_twin(values[i], masks[i])


@kernel
def apply_instructions(values, masks, extracted, deposited):
    for i in range(len(values)):
        extracted[i] = bits.extract_instruction(values[i], masks[i])
        deposited[i] = bits.deposit_instruction(values[i], masks[i])


@kernel
def apply_lowest(values, out):
    for i in range(len(values)):
        out[i] = bits.lowest_bit(values[i])


def results(function, values, masks):
    extracted, deposited = np.empty_like(values), np.empty_like(values)
    function(values, masks, extracted, deposited)
    return extracted, deposited


def test_the_twin_does_what_the_definition_says():
    values, masks = samples(3000)
    extracted, deposited = results(apply_twins, values, masks)
    pairs = list(zip(values.tolist(), masks.tolist()))
    assert extracted.tolist() == [extract_bits(v, m) for v, m in pairs]
    assert deposited.tolist() == [deposit_bits(v, m) for v, m in pairs]


@pytest.mark.skipif(not bits.has_instructions(), reason="this processor has no pext and pdep")
def test_the_instruction_and_the_twin_agree():
    values, masks = samples(1_000_000)
    for instruction, twin in zip(results(apply_instructions, values, masks), results(apply_twins, values, masks)):
        assert np.array_equal(instruction, twin)


def test_the_choice_follows_the_processor():
    pair = (bits.extract, bits.deposit)
    if bits.USES_INSTRUCTIONS:
        assert bits.has_instructions() and pair == (bits.extract_instruction, bits.deposit_instruction)
    else:
        assert pair == (bits.extract_twin, bits.deposit_twin)


def test_the_choice_can_be_switched_off(run_python):
    code = "from solver import bits; print(bits.USES_INSTRUCTIONS, bits.extract is bits.extract_twin)"
    assert run_python(code, MORRIS_NO_PEXT="1").split() == ["False", "True"]
    assert run_python(code, NUMBA_DISABLE_JIT="1").split() == ["False", "True"]


@kernel
def apply_count(values, out):
    for i in range(len(values)):
        out[i] = bits.bit_count(values[i])


def test_bit_count():
    values, _ = samples(3000)
    out = np.empty_like(values)
    apply_count(values, out)
    assert out.tolist() == [v.bit_count() for v in values.tolist()]


def test_lowest_bit():
    values = np.concatenate([1 << np.arange(62), samples(1000)[0] | 1 << 23, np.arange(1, 300)])
    out = np.empty_like(values)
    apply_lowest(values, out)
    expected = [bits.lowest_bit_twin(v) for v in values.tolist()]
    assert out.tolist() == expected
    assert expected == [bin(v)[::-1].index("1") for v in values.tolist()]


@kernel
def apply_matches(flat, mask, bits_wanted, compiled, twin):
    for start in range(len(flat)):
        compiled[start] = bits.matches(flat, start, mask, bits_wanted)
        twin[start] = bits.matches_twin(flat, start, mask, bits_wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_matches(dtype):
    flat = np.random.default_rng(5).integers(0, 5, 150).astype(dtype)
    flat[[0, 63, 64, 149]] = 255
    for mask, wanted in ((-1, 2), (1, 1), (3, 0), (-1, 255), (0, 0)):
        compiled, twin = np.empty((2, len(flat)), np.int64)
        apply_matches(flat, mask, wanted, compiled, twin)
        assert np.array_equal(compiled, twin)
        for start, found in enumerate(compiled.tolist()):
            expected = [(int(x) & mask) == wanted for x in flat[start : start + 64]]
            assert [bool(found >> i & 1) for i in range(64)] == expected + [False] * (64 - len(expected))


def test_matches_with_the_highest_bit():
    flat = np.array([1 << 63, 1, (1 << 63) + 1] * 30, np.uint64).view(np.int64)
    compiled, twin = np.empty((2, len(flat)), np.int64)
    apply_matches(flat, -(1 << 63), -(1 << 63), compiled, twin)
    assert compiled.tolist() == twin.tolist()
    assert [compiled[0] >> i & 1 for i in range(6)] == [1, 0, 1, 1, 0, 1]


@kernel
def apply_at_most(flat, most, compiled, twin):
    for start in range(len(flat)):
        compiled[start] = bits.at_most(flat, start, most)
        twin[start] = bits.at_most_twin(flat, start, most)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_at_most(dtype):
    flat = np.random.default_rng(6).integers(100, 150, 150).astype(dtype)
    flat[[0, 63, 64, 149]] = np.iinfo(dtype).max
    for most in (0, 1, 127, 128, 129, 255):
        compiled, twin = np.empty((2, len(flat)), np.int64)
        apply_at_most(flat, most, compiled, twin)
        assert np.array_equal(compiled, twin)
        for start, found in enumerate(compiled.tolist()):
            expected = [int(x) <= most for x in flat[start : start + 64]]
            assert [bool(found >> i & 1) for i in range(64)] == expected + [False] * (64 - len(expected))


@kernel
def ask_for_all(flat):
    for i in range(-1000, len(flat) + 1000):  # advice about memory that is not there is no error
        bits.prefetch(flat, i)


def test_prefetch_changes_nothing():
    flat = np.arange(300, dtype=np.uint16)
    ask_for_all(flat)
    assert flat.tolist() == list(range(300))
    assert bits.prefetch_twin(flat, 5) is None
