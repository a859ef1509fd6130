"""What tables hold: names and folders, and outcomes in two bits that come back whatever the number of columns."""

import numpy as np
import pytest

from solver.errors import InputError, TableError
from solver.metric import DTW, OUTCOME, Metric, get_metric, outcome_codes
from solver.values import DTYPES, Outcome, code_of_depth, decode, draw_code, top_code


def test_each_metric_has_a_folder_of_its_own():
    assert (DTW.folder_name("nine"), OUTCOME.folder_name("nine")) == ("nine", "nine.outcome")
    assert [get_metric(name) for name in ("dtw", "outcome", None)] == [DTW, OUTCOME, DTW]
    to_mill = get_metric("dtm"), get_metric("dtm", 50), get_metric(None, 50)
    assert to_mill == (Metric("dtm"), Metric("dtm", 50), Metric("dtm", 50))
    assert [m.folder_name("nine") for m in to_mill[:2]] == ["nine.dtm", "nine.dtm50"]
    assert [m.options for m in (DTW, OUTCOME, *to_mill[:2])] == [
        "", " --metric outcome", " --metric dtm", " --metric dtm --no-mill-limit 50",
    ]  # fmt: skip
    for wrong in (("depth", None), ("outcome", 50), ("dtw", 50), ("dtm", 0)):
        with pytest.raises(InputError, match="dtw, outcome|belongs to the metric dtm"):
            get_metric(*wrong)


def test_a_limit_draws_what_is_deeper():
    losses_and_wins = np.array([0, 3, 4, 128, 251, 252, 254], np.uint16)  # losses in 0, 3, 4, a draw, wins in 4, 3, 1
    assert Metric("dtm", 3).limited(losses_and_wins, 1).tolist() == [0, 3, 128, 128, 128, 252, 254]
    assert Metric("dtm", 200).limited(losses_and_wins, 1).tolist() == losses_and_wins.tolist()
    assert Metric("dtm").limited(losses_and_wins, 1) is losses_and_wins
    assert Metric("dtm", 50).led_to(np.array([0, 9, 128, 240], np.uint8)).tolist() == [0, 0, 128, 255]
    assert DTW.led_to(losses_and_wins) is losses_and_wins


def test_depths_are_told_only_where_there_are_some():
    assert DTW.decode(code_of_depth(9, 1), 1) == (Outcome.WIN, 9)
    assert [OUTCOME.decode(code, 1) for code in (0, 128, 255)] == [
        (Outcome.LOSS, None), (Outcome.DRAW, None), (Outcome.WIN, None),
    ]  # fmt: skip
    histogram = np.bincount([0, 3, 128, 200], minlength=256)
    assert DTW.deepest(histogram) == (111, 6) and OUTCOME.deepest(histogram) == (0, 0)


@pytest.mark.parametrize("width", DTYPES)
def test_every_code_keeps_its_outcome_and_nothing_else(width):
    codes = np.arange(1 << 8 * width).astype(DTYPES[width])
    kept = OUTCOME.kept(codes)
    assert kept.dtype == np.uint8 and set(kept.tolist()) == {0, 128, 255}
    assert [decode(k, 1)[0] for k in kept.tolist()] == [decode(c, width)[0] for c in codes.tolist()]
    assert DTW.kept(codes) is codes
    assert np.array_equal(outcome_codes(np.array([0, 127, 128, 129], np.uint16), draw_code(1)), [0, 0, 128, 255])


@pytest.mark.parametrize("n_columns", range(1, 10))
def test_packed_rows_come_back(n_columns):
    rng = np.random.default_rng(n_columns)
    rows = rng.choice(np.array([0, draw_code(1), top_code(1)], np.uint8), (50, n_columns))
    packed = OUTCOME.pack(rows)
    assert packed.shape == (50, -(-n_columns // 4)) == (50, OUTCOME.stored_columns(n_columns)) and packed.dtype == np.uint8
    assert np.array_equal(OUTCOME.unpack(packed, n_columns), rows)
    # As data/FORMAT.md has it: column c stands in bits 2 (c % 4) and 2 (c % 4) + 1 of byte c // 4.
    for c in range(n_columns):
        numbers = packed[:, c // 4] >> 2 * (c % 4) & 3
        assert np.array_equal(numbers, np.searchsorted([0, 128, 255], rows[:, c]))
    left = packed[:, -1] >> 2 * ((n_columns - 1) % 4 + 1) if n_columns % 4 else 0
    assert not np.any(left)


def test_packing_depths_keeps_their_outcomes():
    rows = np.arange(256, dtype=np.uint8).reshape(4, 64)
    assert np.array_equal(OUTCOME.unpack(OUTCOME.pack(rows), 64), outcome_codes(rows))


def test_two_bits_that_mean_nothing_are_damage():
    for shift in (0, 2, 4, 6):
        with pytest.raises(TableError):
            OUTCOME.unpack(np.array([[0b00100100, 3 << shift]], np.uint8), 8)
