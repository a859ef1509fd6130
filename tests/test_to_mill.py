"""Depths to the next mill: the same as the slow twin's in every slot, with and without a limit, and verified."""

from functools import cache

import numpy as np
import pytest
from conftest import build_tables, tables_of, twin_positions, twin_rules
from mill_oracle import Mills

from solver import to_mill
from solver.build import Builder, moving_targets
from solver.errors import InputError, MorrisError
from solver.metric import Metric, outcome_codes
from solver.recheck import verify_file
from solver.store import TableStore, table_path
from solver.subspace import Subspace
from solver.symmetry import orbits
from solver.tablefile import TableFile, write_tables
from solver.values import draw_code
from solver.variant import get_variant

NINE, SIX, THREE = map(get_variant, ("nine", "six", "three"))
GAMES = {
    "three": THREE,
    "grid-4": THREE.with_overrides(stones=4),  # one free point: often blocked
    "grid-4-fly": THREE.with_overrides(stones=4, fly_at=3),
}
LIMITS = [None, 1, 2, 3, 4, 7, 12]
SLOW_GAMES = {"four": get_variant("four"), "six-fly-4": get_variant("six-fly").with_overrides(stones=4)}


def store_of(folder, variant, limit):
    return TableStore(folder, variant, with_shipped=False, metric=Metric("dtm", limit))


@cache
def slow_twin(variant, files):
    """The slow twin, and the keys of all slots by subspace."""
    slots = {}
    for s in tables_of(variant, files):
        rows = orbits(variant.board).rows(max(s[:2]))
        slots[s] = twin_positions(variant, s, rows)
    twin = Mills(twin_rules(variant), ([p for s in tables_of(variant, [file]) for p in slots[s]] for file in files))
    return twin, {s: [twin.reduction.key(p) for p in positions] for s, positions in slots.items()}


def compare(variant, limit, folder, files=None):
    """Compares every slot; returns the outcomes with depths that occur."""
    files = tuple(files or moving_targets(variant))
    build_tables(folder, variant, files, metric=Metric("dtm", limit))
    twin, keys = slow_twin(variant, files)
    known = twin.solve(limit)
    store, seen = store_of(folder, variant, limit), set()
    for s, of_slots in keys.items():
        table = store.table(s)
        codes = table.read()
        meaning = {code: table.metric.decode(code, table.width) for code in np.unique(codes).tolist()}
        values = [(str(outcome), depth) for outcome, depth in map(meaning.get, codes.tolist())]
        assert values == [known[key] for key in of_slots], (variant.name, limit, s)
        seen |= set(values)
    store.close()
    return seen


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", GAMES)
def test_every_slot_is_that_of_the_slow_twin(name, limit, tmp_path):
    seen = compare(GAMES[name], limit, tmp_path)
    assert "win" in {outcome for outcome, _ in seen}
    assert all(depth <= (limit or 99) for outcome, depth in seen if outcome != "draw")


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 3, 6, 11])
@pytest.mark.parametrize("name", SLOW_GAMES)
def test_every_slot_of_larger_games(name, limit, tmp_path):
    seen = compare(SLOW_GAMES[name], limit, tmp_path)
    assert {outcome for outcome, _ in seen} == {"win", "draw", "loss"}


@pytest.mark.slow
def test_every_slot_where_losers_must_close_mills(tmp_path):
    files = [Subspace(*pair) for pair in ((3, 3), (4, 3), (4, 4), (5, 3), (5, 4))]
    seen = compare(SIX, 10, tmp_path, files)
    assert any(outcome == "loss" and depth % 2 for outcome, depth in seen)
    assert any(outcome == "win" and depth % 2 == 0 for outcome, depth in seen)


@pytest.fixture(scope="module")
def nine_tables(tmp_path_factory):
    """Nine up to 8 stones, without a limit and with 10."""
    folder = tmp_path_factory.mktemp("to-mill")
    for limit in (None, 10):
        build_tables(folder, NINE, moving_targets(NINE, 8), metric=Metric("dtm", limit))
    return folder


def test_without_a_limit_outcomes_are_those_of_depths_to_the_end(nine_tables, nine_store):
    store = store_of(nine_tables, NINE, None)
    for s in tables_of(NINE, moving_targets(NINE, 8)):
        assert np.array_equal(outcome_codes(store.table(s).read()), outcome_codes(nine_store.table(s).read()))
        to_mill_depths, to_end = (t.table(s).metric.deepest(t.table(s).histogram()) for t in (store, nine_store))
        assert all(a <= b for a, b in zip(to_mill_depths, to_end))
    store.close()


def test_a_limit_makes_draws_of_what_is_too_slow_and_of_what_rests_on_it(nine_tables):
    free, bound = store_of(nine_tables, NINE, None), store_of(nine_tables, NINE, 10)
    n_slow = n_resting = 0
    for s in tables_of(NINE, moving_targets(NINE, 8)):
        a, b = free.table(s).read(), bound.table(s).read()
        depth = np.where(a > 128, 255 - a.astype(int), a)
        changed = a != b
        now_drawn = changed & (b == draw_code(1))
        n_slow += int((now_drawn & (depth > 10)).sum())
        n_resting += int((now_drawn & (depth <= 10)).sum())
        assert not (outcome_codes(a) != outcome_codes(b))[~now_drawn].any()  # a limit only ever draws
        assert ((depth <= 10) | (b == draw_code(1)))[a != draw_code(1)].all()
    assert n_slow > 1000 and n_resting > 0
    free.close()
    bound.close()


@pytest.mark.parametrize("limit", [None, 10])
def test_verification_passes_right_tables_and_finds_one_wrong_slot(nine_tables, tmp_path, limit):
    metric, files = Metric("dtm", limit), moving_targets(NINE, 7)
    builder = Builder(NINE, nine_tables, 1, metric=metric)
    assert [finding.is_right for file in files for _, finding in verify_file(builder, file)] == [True] * 3
    builder.close()
    pair = Subspace(4, 3)
    for file in files:
        (tmp_path / metric.folder_name("nine")).mkdir(exist_ok=True)
        source, target = (table_path(folder, NINE, file, metric) for folder in (nine_tables, tmp_path))
        target.write_bytes(source.read_bytes())
    file = TableFile(target, NINE, metric)
    tables = {s: table.read() for s, table in file.tables.items()}
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in file.tables.items()}
    rows = file.row_masks
    file.close()
    slot = int(np.flatnonzero(tables[pair] == 254)[5])
    tables[pair][slot] -= 1  # a win one ply slower
    write_tables(target, NINE, rows, tables, tallies, metric=metric)
    builder = Builder(NINE, tmp_path, 1, metric=metric)
    found = dict(verify_file(builder, pair))
    builder.close()
    assert found[pair].wrong >= 1 and found[pair].first <= slot


def test_passes_that_disagree_are_an_error(workers):
    up, down = np.array([0, 1, 128, 254], np.uint8), np.array([0, 0, 128, 255], np.uint8)
    assert to_mill._depths(up, down, 0, 4).tolist() == [0, 1, -1, 2]
    with pytest.raises(MorrisError, match="disagree"):
        to_mill._depths(up, np.array([0, 128, 128, 254], np.uint8), 0, 4)


def test_depths_beyond_one_byte_take_two(workers):
    rounded = np.array([60, 63, 128, 254, 192], np.uint8)  # losses in 120 and 126, a draw, wins in 3 and 127
    metric = Metric("dtm")
    wide = to_mill._joined(rounded, rounded, 2, metric, workers)
    assert [metric.decode(code, 2)[1] for code in wide.tolist()] == [120, 126, None, 3, 127]
    limited = to_mill._joined(rounded, rounded, 1, Metric("dtm", 120), workers)
    assert limited.tolist() == [120, 128, 128, 252, 128]


def test_mills_that_remove_nothing_are_refused(tmp_path):
    strict = get_variant("nine-strict")
    with pytest.raises(InputError, match="may remove nothing"):
        build_tables(tmp_path, strict, moving_targets(strict, 6), metric=Metric("dtm", 50))
