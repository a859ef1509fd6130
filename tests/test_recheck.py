"""Outcomes alone: the same as those of the tables with depths, and verified where agreement proves nothing."""

from math import comb

import numpy as np
import pytest
from conftest import ascending_patterns, build_tables, contents, tables_of

from solver import build as build_module
from solver import reindex
from solver.build import Builder, all_targets, moving_targets
from solver.errors import DepthOverflowError, MorrisError, TableError
from solver.indexing import Indexer
from solver.metric import DTW, OUTCOME, outcome_codes
from solver.recheck import loader, turned, verify_file
from solver.store import TableStore, table_path
from solver.subspace import Subspace
from solver.symmetry import orbits
from solver.tablefile import TableFile, write_tables
from solver.values import LOST, draw_code, top_code
from solver.variant import get_variant
from solver.verify import recomputer, verify_subspace

NINE, SIX, FLYING, FOUR, THREE = map(get_variant, ("nine", "six", "six-fly", "four", "three"))
SLIDING = THREE.with_overrides(place_and_slide=True)
PAIR = Subspace(4, 3)
DRAW, WIN = draw_code(1), top_code(1)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Folder with outcomes of nine up to 8 stones, of the moving phase of six, and of a game with slides while placing."""
    folder = tmp_path_factory.mktemp("outcomes")
    build_tables(folder, NINE, moving_targets(NINE, 8), metric=OUTCOME)
    build_tables(folder, SIX, moving_targets(SIX), metric=OUTCOME)
    build_tables(folder, SLIDING, all_targets(SLIDING), metric=OUTCOME)
    return folder


def outcome_store(folder, variant):
    return TableStore(folder, variant, with_shipped=False, metric=OUTCOME)


def findings(folder, variant, files, metric=OUTCOME):
    builder = Builder(variant, folder, 1, metric=metric)
    try:
        return {s: finding for file in files for s, finding in verify_file(builder, file)}
    finally:
        builder.close()


def rewritten(folder, variant, file, change):
    """Writes the file anew with values changed by ``change(tables)``; the tallies stay."""
    path = table_path(folder, variant, file, OUTCOME)
    old = TableFile(path, variant, OUTCOME)
    tables = {s: table.read() for s, table in old.tables.items()}
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in old.tables.items()}
    rows = old.row_masks
    old.close()
    change(tables)
    write_tables(path, variant, rows, tables, tallies, metric=OUTCOME)


def test_outcomes_are_those_of_depths_in_every_slot(outcomes, small_tables, tmp_path):
    build_tables(tmp_path, SLIDING, all_targets(SLIDING))
    seen = set()
    for folder, variant, files in (
        (small_tables, NINE, moving_targets(NINE, 8)), (small_tables, SIX, moving_targets(SIX)),
        (tmp_path, SLIDING, all_targets(SLIDING)),
    ):  # fmt: skip
        alone, deep = outcome_store(outcomes, variant), TableStore(folder, variant, with_shipped=False)
        for s in tables_of(variant, files):
            values = alone.table(s).read()
            assert np.array_equal(values, outcome_codes(deep.table(s).read())), (variant.name, s)
            assert alone.table(s).stored_bytes < deep.table(s).stored_bytes or len(values) < 5000
            seen |= set(np.unique(values).tolist())
            for raw in (False, True):
                counts, known = alone.table(s).histogram(raw), deep.table(s).histogram(raw)
                assert counts[[0, 128, 255]].tolist() == [known[:128].sum(), known[128], known[129:].sum()]
        alone.close()
        deep.close()
    assert seen == {LOST, DRAW, WIN}


def test_right_tables_pass(outcomes):
    for variant, files in ((NINE, [Subspace(4, 4), Subspace(5, 3)]), (SLIDING, all_targets(SLIDING))):
        found = findings(outcomes, variant, files)
        assert list(found) == tables_of(variant, files)
        store = outcome_store(outcomes, variant)
        assert all(f.is_right and f.slots == len(store.table(s).read()) for s, f in found.items())
        store.close()


def test_a_wrong_slot_and_a_wrong_tally_are_found(outcomes, tmp_path):
    build_tables(tmp_path, SIX, [PAIR], metric=OUTCOME)
    right = table_path(tmp_path, SIX, PAIR, OUTCOME).read_bytes()
    for slot, wrong in ((4321, {LOST: DRAW, DRAW: WIN, WIN: LOST}), (17, {LOST: WIN, DRAW: LOST, WIN: DRAW})):

        def change(tables, slot=slot, wrong=wrong):
            tables[PAIR][slot] = wrong[int(tables[PAIR][slot])]

        rewritten(tmp_path, SIX, PAIR, change)
        found = findings(tmp_path, SIX, [PAIR])
        assert (found[PAIR].wrong, found[PAIR].first) == (1, slot) and found[PAIR.twin].is_right
        table_path(tmp_path, SIX, PAIR, OUTCOME).write_bytes(right)
    assert all(finding.is_right for finding in findings(tmp_path, SIX, [PAIR]).values())


def test_tables_that_agree_with_themselves_and_are_wrong_are_found(tmp_path):
    """Endless play called a win for the side with three stones, and a loss for the other, agrees in every slot."""
    build_tables(tmp_path, FLYING, [PAIR], metric=OUTCOME)
    store = outcome_store(tmp_path, FLYING)
    right = {s: store.table(s).read() for s in (PAIR, PAIR.twin)}
    values = {s: v.copy() for s, v in right.items()}
    values[PAIR][values[PAIR] == DRAW], values[PAIR.twin][values[PAIR.twin] == DRAW] = LOST, WIN
    store.close()
    builder = Builder(FLYING, tmp_path, 1, metric=OUTCOME)
    n_rows = len(values[PAIR]) // 220

    held = loader(builder, held=values)

    def load(subspace, rows_own):
        return held(subspace, rows_own, 1)

    for _ in range(500):
        old = {s: v.copy() for s, v in values.items()}
        for s in values:
            values[s][:] = recomputer(FLYING, s, 1, load, OUTCOME)(0, n_rows)
        if all(np.array_equal(old[s], values[s]) for s in values):
            break
    for s in values:
        assert verify_subspace(FLYING, s, values[s], load, builder.workers, metric=OUTCOME).wrong == 0
    builder.close()
    planted = {s: int((values[s] != right[s]).sum()) for s in values}
    assert sum(planted.values()) > 100
    rewritten(tmp_path, FLYING, PAIR, lambda tables: tables.update(values))
    assert {s: finding.wrong for s, finding in findings(tmp_path, FLYING, [PAIR]).items()} == planted


def test_depths_that_do_not_stand_up_are_no_measure(outcomes, monkeypatch):
    honest = build_module.solve_together

    def faulty(variant, file, *rest):
        tables = honest(variant, file, *rest)
        tables[file][99] ^= 0x81
        return tables

    monkeypatch.setattr(build_module, "solve_together", faulty)
    with pytest.raises(MorrisError, match="contradict each other"):
        findings(outcomes, SIX, [PAIR])


def test_long_ways_inside_a_pair_change_no_byte(tmp_path, monkeypatch):
    build_tables(tmp_path / "narrow", THREE, all_targets(THREE), metric=OUTCOME)
    honest = build_module.solve_together

    def refuse_one_byte(variant, file, width, *rest):
        if width == 1:
            raise DepthOverflowError("too deep")
        return honest(variant, file, width, *rest)

    monkeypatch.setattr(build_module, "solve_together", refuse_one_byte)
    build_tables(tmp_path / "wide", THREE, all_targets(THREE), metric=OUTCOME)
    narrow, wide = (contents(tmp_path / name / "three.outcome") for name in ("narrow", "wide"))
    assert narrow == wide and len(wide) > 5


# ---------------------------------------------------------------- what verification looks up, apart from the builder


@pytest.mark.parametrize(
    "variant, subspace",
    [
        (NINE, Subspace(3, 3)), (NINE, Subspace(3, 4)), (SIX, Subspace(5, 4)), (SIX, Subspace(4, 6, 2, 0)),
        (THREE, Subspace(2, 2, 1, 1)),
    ],
    ids=lambda value: value.name,
)
def test_turned_values_are_those_of_the_same_positions_in_every_slot(workers, variant, subspace):
    orb = orbits(variant.board)
    on_rows, on_columns = subspace[1::-1] if subspace.rows_are_own else subspace[:2]
    x, y = slot_masks_with_rows(variant, orb.rows(on_rows), on_columns)
    own, opponent = (y, x) if subspace.rows_are_own else (x, y)
    stored_rows = orb.rows(on_columns)
    rows, cols = Indexer(variant.board).slots_of(subspace, own, opponent, stored_rows)
    n_columns = comb(variant.board.n_points - on_columns, on_rows)
    for dtype in (np.uint8, np.uint16):
        values = np.random.default_rng(7).integers(0, np.iinfo(dtype).max, len(stored_rows) * n_columns, dtype)
        assert np.array_equal(turned(variant, subspace, values, workers), values[rows * n_columns + cols])


def slot_masks_with_rows(variant, row_masks, n_others):
    """Masks of both sides for all slots of these rows, whichever side has more stones."""
    n = variant.board.n_points
    patterns = ascending_patterns(n - int(row_masks[0]).bit_count(), n_others)
    x = np.repeat(row_masks, len(patterns))
    y = []
    for row in row_masks.tolist():
        free = [p for p in range(n) if not row >> p & 1]
        y.append(sum((patterns >> i & 1) << p for i, p in enumerate(free)))
    return x, np.concatenate(y).astype(np.uint32)


def test_values_in_more_bytes_mean_the_same_and_in_fewer_are_refused(small_tables, tmp_path):
    builder = Builder(SIX, small_tables, 1)
    narrow = np.arange(256, dtype=np.uint8)
    held = {PAIR: narrow}
    wide = loader(builder, held=held)(PAIR, True, 2)
    assert wide.dtype == np.uint16
    assert [DTW.decode(c, 2) for c in wide.tolist()] == [DTW.decode(c, 1) for c in range(256)]
    assert loader(builder, held=held)(PAIR, True, 1) is narrow
    with pytest.raises(TableError, match="4-3 has 2 bytes a slot, a table that leads there 1; delete both"):
        loader(builder, held={PAIR: wide})(PAIR, True, 1)
    builder.close()


def swapped(variant, row_stones, column_stones, values, workers):
    """An exchange of rows and columns with a fault: two neighbouring slots in the place of each other."""
    out = reindex.exchanged(variant, row_stones, column_stones, values, workers)
    out[: len(out) // 2 * 2] = out[: len(out) // 2 * 2].reshape(-1, 2)[:, ::-1].reshape(-1)
    return out


@pytest.mark.parametrize("metric", [DTW, OUTCOME], ids=str)
def test_a_fault_in_the_exchange_of_a_build_is_found(tmp_path, monkeypatch, metric):
    """Rows and columns are exchanged where a removal leaves the other side with more stones."""
    targets = all_targets(FOUR)
    build_tables(tmp_path / "right", FOUR, targets, metric=metric)
    with monkeypatch.context() as patch:
        patch.setattr(build_module, "exchanged", swapped)
        build_tables(tmp_path / "wrong", FOUR, targets, metric=metric)
    right, wrong = (contents(tmp_path / name / metric.folder_name("four")) for name in ("right", "wrong"))
    assert right != wrong
    assert any(finding.wrong for finding in findings(tmp_path / "wrong", FOUR, targets, metric).values())


def test_verification_does_not_ask_the_builder_for_what_it_looks_up(outcomes, small_tables, monkeypatch):
    """With the builder's loading out of order, where nothing has to be solved once more."""

    def never(*_):
        raise AssertionError("the builder's own")

    for name in ("exchanged", "widened", "solve_together"):
        monkeypatch.setattr(build_module, name, never)
    monkeypatch.setattr(Builder, "load", never)
    monkeypatch.setattr(reindex, "gather_exchanged", never)
    files = all_targets(SIX)
    found = findings(small_tables, SIX, files, DTW)
    assert list(found) == tables_of(SIX, files) and all(finding.is_right for finding in found.values())


def test_a_fault_in_the_exchange_while_depths_are_found_again_is_told(tmp_path, monkeypatch):
    """Slides while placing lead back and forth: outcomes need depths, which the builder finds with its own loading."""
    variant = FOUR.with_overrides(place_and_slide=True)
    build_tables(tmp_path, variant, all_targets(variant), metric=OUTCOME)
    monkeypatch.setattr(build_module, "exchanged", swapped)
    with pytest.raises(MorrisError, match="contradict each other"):
        findings(tmp_path, variant, all_targets(variant))
