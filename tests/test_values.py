"""The value code: round trips, order, and the one ply between a position and the turn that leads to it."""

import numpy as np
import pytest

from solver.errors import DepthOverflowError
from solver.jit import kernel
from solver.reindex import widened
from solver.values import (
    DTYPES, LOST, Outcome, code_of_depth, code_without_turns, codes_to_mill, decode, decode_to_mill, deepest,
    deepest_to_mill, depth_of, depths_of, draw_code, encode, encode_to_mill, largest_code, max_depth, max_depth_to_mill,
    outcome_counts, seen_by_mover, top_code, turn_value, undecided_codes, undecided_codes_to_mill,
)  # fmt: skip

every_width = pytest.mark.parametrize("width", DTYPES)


def liking(value):
    """How much the side to move likes a value: quick wins first, then slow ones, draw, slow losses, quick losses."""
    outcome, depth = value
    return {"loss": -1, "draw": 0, "win": 1}[str(outcome)], -depth if outcome is Outcome.WIN else depth or 0


@every_width
def test_codes_are_ordered_by_liking(width):
    values = [decode(code, width) for code in range(1 << 8 * width)]
    assert len(set(values)) == len(values)
    assert sorted(values, key=liking) == values
    assert {outcome for outcome, _ in values} == {Outcome.WIN, Outcome.DRAW, Outcome.LOSS}
    assert all(depth % 2 == (outcome is Outcome.WIN) for outcome, depth in values if depth is not None)


@every_width
def test_every_depth_that_fits_comes_back(width):
    assert decode(encode(Outcome.DRAW, None, width), width) == (Outcome.DRAW, None)
    for depth in range(max_depth(width) + 2):
        outcome = Outcome.WIN if depth % 2 else Outcome.LOSS
        code = encode(outcome, depth, width)
        assert code == code_of_depth(depth, width)
        assert decode(code, width) == (outcome, depth)
        assert 0 <= code <= top_code(width) and code != draw_code(width)


def test_code_of_one_byte():
    codes = {0: ("loss", 0), 1: ("loss", 2), 127: ("loss", 254), 128: ("draw", None), 129: ("win", 253), 255: ("win", 1)}
    assert {code: (str(decode(code, 1)[0]), decode(code, 1)[1]) for code in codes} == codes
    assert encode(Outcome.LOSS, 0, 1) == LOST
    assert decode(np.uint8(255), 1) == (Outcome.WIN, 1)


@every_width
def test_too_deep_is_an_error_and_never_wraps(width):
    for depth in (max_depth(width) + 2, max_depth(width) + 3, 10**6, 10**6 + 1):
        with pytest.raises(DepthOverflowError):
            code_of_depth(depth, width)


@pytest.mark.parametrize("outcome, depth", [(Outcome.WIN, 2), (Outcome.LOSS, 1), (Outcome.WIN, None), (Outcome.LOSS, -2)])
def test_depths_that_an_outcome_cannot_have(outcome, depth):
    with pytest.raises(ValueError):
        encode(outcome, depth, 1)


@every_width
def test_seen_by_the_mover_is_one_ply_more_and_the_other_outcome(width):
    draw = draw_code(width)
    assert seen_by_mover(draw, draw) == draw
    for depth in range(max_depth(width) + 1):
        code = seen_by_mover(code_of_depth(depth, width), draw)
        assert code != draw
        assert code == code_of_depth(depth + 1, width)


@pytest.mark.parametrize("function", [seen_by_mover, depth_of])
def test_the_compiled_function_says_the_same(function):
    compiled = kernel(function)
    for width in DTYPES:
        draw = draw_code(width)
        for code in range(0, 1 << 8 * width, 97 if width > 1 else 1):
            assert compiled(code, draw) == function(code, draw)


@every_width
def test_depths_of_many_codes_are_those_of_each(width):
    draw = draw_code(width)
    codes = np.arange(1 << 8 * width, dtype=np.int32)
    depths = depths_of(codes, width)
    assert depths.dtype == codes.dtype
    for code in codes.tolist():
        outcome, depth = decode(code, width)
        assert outcome is Outcome.DRAW or depths[code] == depth_of(code, draw) == depth


@every_width
def test_ends_of_the_code(width):
    draw, top = draw_code(width), top_code(width)
    assert largest_code(draw) == top == encode(Outcome.WIN, 1, width) == np.iinfo(DTYPES[width]).max
    for quickest in (top, top - 1):
        assert code_without_turns(draw) > top and turn_value(code_without_turns(draw), draw, quickest) == LOST


def test_a_wider_code_keeps_all_values():
    codes = np.arange(256, dtype=np.uint8)
    wide = widened(codes, 2)
    assert wide.dtype == DTYPES[2]
    assert [decode(code, 2) for code in wide] == [decode(code, 1) for code in codes]
    assert [decode_to_mill(code, 2) for code in wide] == [decode_to_mill(code, 1) for code in codes]
    assert widened(codes, 1) is codes


@every_width
def test_histograms_are_summed_up(width):
    histogram = np.zeros(1 << 8 * width, np.int64)
    assert outcome_counts(histogram) == (0, 0, 0) and deepest(histogram) == (0, 0)
    for depth, count in ((0, 5), (26, 1), (1, 7), (25, 2)):
        histogram[code_of_depth(depth, width)] = count
    histogram[draw_code(width)] = 11
    assert outcome_counts(histogram) == (9, 6, 11)
    assert deepest(histogram) == (25, 26)


def test_outcomes_are_plain_words():
    assert [str(o) for o in Outcome] == ["win", "draw", "loss", "unknown"]
    assert Outcome.UNKNOWN != Outcome.DRAW and f"{Outcome.WIN}" == "win"


# ---------------------------------------------------------------- depth to the next mill


@every_width
def test_depths_to_a_mill_of_either_parity_come_back_in_order(width):
    most = max_depth_to_mill(width)
    codes = [encode_to_mill(Outcome.LOSS, depth, width) for depth in range(most + 1)]
    codes += [encode_to_mill(Outcome.DRAW, None, width)]
    codes += [encode_to_mill(Outcome.WIN, depth, width) for depth in range(most, 0, -1)]
    assert codes == sorted(set(codes)) and codes[0] == LOST and codes[most + 1] == draw_code(width)
    values = [decode_to_mill(code, width) for code in codes]
    assert values == [(Outcome.LOSS, d) for d in range(most + 1)] + [(Outcome.DRAW, None)] + [
        (Outcome.WIN, d) for d in range(most, 0, -1)
    ]


@every_width
def test_a_ply_before_is_one_deeper_in_both_codes(width):
    draw, top = draw_code(width), top_code(width)
    for code in range(0, top + 1, 1 if width == 1 else 97):
        assert turn_value(code, draw, top) == seen_by_mover(code, draw)
    assert turn_value(draw, draw, top - 1) == draw
    for depth in range(max_depth_to_mill(width) + 1 if width == 1 else 300):
        won = turn_value(encode_to_mill(Outcome.LOSS, depth, width), draw, top - 1)
        assert decode_to_mill(won, width) == (Outcome.WIN, depth + 1)
        if depth:
            lost = turn_value(encode_to_mill(Outcome.WIN, depth, width), draw, top - 1)
            assert decode_to_mill(lost, width) == (Outcome.LOSS, depth + 1)


@every_width
def test_depths_to_a_mill_of_many_slots_are_coded_as_each(width):
    values = [(Outcome.LOSS, 0), (Outcome.WIN, 1), (Outcome.DRAW, None), (Outcome.LOSS, 3), (Outcome.WIN, 124)]
    won = np.array([outcome is Outcome.WIN for outcome, _ in values])
    depths = np.array([-1 if depth is None else depth for _, depth in values], np.int32)
    codes = codes_to_mill(won, depths, width)
    assert codes.dtype == DTYPES[width]
    assert codes.tolist() == [encode_to_mill(*value, width) for value in values]


def test_what_no_depth_to_a_mill_can_be():
    for outcome, depth in ((Outcome.WIN, 0), (Outcome.LOSS, -1), (Outcome.WIN, None)):
        with pytest.raises(ValueError):
            encode_to_mill(outcome, depth, 1)
    with pytest.raises(DepthOverflowError):
        encode_to_mill(Outcome.LOSS, 126, 1)


def test_longest_ways_to_a_mill():
    histogram = np.zeros(256, np.int64)
    assert deepest_to_mill(histogram) == (0, 0)
    for outcome, depth in ((Outcome.WIN, 8), (Outcome.WIN, 1), (Outcome.LOSS, 0), (Outcome.LOSS, 13)):
        histogram[encode_to_mill(outcome, depth, 1)] += 3
    assert deepest_to_mill(histogram) == (8, 13)


@every_width
@pytest.mark.parametrize("plies", [0, 1, 2, 3, 50, 51, 251, 252, 253, 1000, 10**6, None])
def test_undecided_codes(width, plies):
    least, most = undecided_codes(plies, width)
    for code in range(1 << 8 * width):
        _, depth = decode(code, width)
        assert (least <= code <= most) == (depth is None or (plies is not None and depth > plies)), (code, depth)


@every_width
@pytest.mark.parametrize("plies", [1, 2, 3, 50, 123, 124, 125, 200, 10**6])
def test_undecided_codes_of_depths_to_a_mill(width, plies):
    least, most = undecided_codes_to_mill(plies, width)
    for code in range(1 << 8 * width):
        outcome, depth = decode_to_mill(code, width)
        assert (least <= code <= most) == (outcome is Outcome.DRAW or depth > plies), (code, depth)
