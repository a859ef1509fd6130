"""Published numbers, to the unit: subspaces, raw counts, single positions, perft, whole small games."""

import os
from pathlib import Path

import oracle
import published
import pytest
from conftest import ROOT, build_tables, reader, twin_rules

from solver.build import all_targets, moving_targets
from solver.moves import format_turn, legal_turns, play
from solver.position import parse_own_form, start
from solver.stats import start_value, subspace_statistics
from solver.store import TableStore
from solver.subspace import Subspace, moving_pairs, placing_subspaces, solved_together, start_subspace
from solver.values import Outcome
from solver.variant import get_variant

NINE = get_variant("nine")


def compare_rows(store, rows):
    """Every row whose table is there agrees in every number; returns how many were compared."""
    n = 0
    for row in rows:
        subspace = Subspace(row["own"], row["opponent"], row.get("own_hand", 0), row.get("opponent_hand", 0))
        if store.has(subspace):
            found = subspace_statistics(store, subspace)
            for key in ("wins", "losses", "draws", "longest_win_plies", "longest_loss_plies"):
                assert found[key] == row[key], f"{subspace.name}: {key}"
            n += 1
    return n


def test_subspaces_of_nine(nine_store):
    assert compare_rows(nine_store, published.rows("subspaces_nine")) == 6


@pytest.mark.slow
def test_subspaces_of_nine_up_to_ten_stones(tmp_path):
    build_tables(tmp_path, NINE, moving_targets(NINE, 10), jobs=2)
    assert compare_rows(TableStore(tmp_path, NINE), published.rows("subspaces_nine")) == 15


@pytest.mark.slow
def test_the_whole_standard_game_where_it_is_built():
    """Every published subspace and the totals, from the tables in the data folder."""
    store = TableStore(Path(os.environ.get("MORRIS_DATA", ROOT / "data" / "tables")), NINE, with_shipped=False)
    if not all(store.has(pair) for pair in moving_pairs(NINE)):
        pytest.skip("the moving phase is not in the data folder; scripts/solve makes it")
    assert compare_rows(store, published.rows("subspaces_nine")) == 34
    moving = [subspace_statistics(store, s) for pair in moving_pairs(NINE) for s in solved_together(NINE, pair)]
    names = {"positions": "canonical_positions", "wins": "wins", "losses": "losses", "draws": "draws"}
    for row in published.rows("totals"):
        if (row["variant"], row["phase"]) == ("nine", "moving"):
            assert sum(subspace[names[row["what"]]] for subspace in moving) == row["canonical_positions"]
    if all(store.has(s) for s in placing_subspaces(NINE)):
        assert compare_rows(store, published.rows("placement_nine")) == 6
    store.close()


def test_raw_counts_of_nine(nine_store):
    for row in published.rows("subspaces_raw_nine"):
        found = subspace_statistics(nine_store, Subspace(row["own"], row["opponent"]), raw=True)
        assert {key: found[key] for key in ("wins", "losses", "draws")} == {key: row[key] for key in ("wins", "losses", "draws")}
        assert found["canonical_positions"] == row["positions"]


@pytest.mark.parametrize("name", ["nine-nofly", "nine-strict"])
@pytest.mark.parametrize("stones", [7, pytest.param(9, marks=pytest.mark.slow)])
def test_subspaces_of_variants(tmp_path, name, stones):
    variant = get_variant(name)
    build_tables(tmp_path, variant, moving_targets(variant, stones))
    rows = [row for row in published.rows("subspaces_variants") if row["variant"] == name]
    assert compare_rows(TableStore(tmp_path, variant), rows) == {7: 3, 9: 10}[stones]


def test_single_positions(nine_store):
    n, probe = 0, reader(nine_store)
    for row in published.rows("positions_nine"):
        position = parse_own_form(row["position"], NINE)
        turns = legal_turns(NINE, position)
        assert row["legal_turns"] in (None, len(turns))
        if nine_store.has(position.subspace):
            value = probe(position.subspace, position.own_mask, position.opponent_mask)
            assert value == (row["outcome"], row["dtw_plies"]), row["position"]
            n += 1
            if row["best_turns"]:
                assert set(best_turns(probe, position)) == set(row["best_turns"].split())
    assert n == 15


def best_turns(probe, position):
    """The turns that keep the value, winning soonest."""
    _, depth = probe(position.subspace, position.own_mask, position.opponent_mask)
    for turn in legal_turns(NINE, position):
        after = play(NINE, position, turn)
        value = ("loss", 0)
        if not after.subspace.is_over:
            value = probe(after.subspace, after.own_mask, after.opponent_mask)
        if value == (("draw", None) if depth is None else ("loss", depth - 1)):
            yield format_turn(NINE.board, turn)


def count_games(variant, position, plies):
    turns = legal_turns(variant, position)
    return len(turns) if plies == 1 else sum(count_games(variant, play(variant, position, turn), plies - 1) for turn in turns)


def test_perft():
    for row in published.rows("perft_nine"):
        if row["plies"] <= 4:
            assert count_games(NINE, start(NINE), row["plies"]) == row["turns"]


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize("name", ["three", "four", "five", "six", "six-fly"])
def test_the_empty_board(name, small_tables, tmp_path):
    variant = get_variant(name)
    folder = small_tables if name == "six" else tmp_path
    if name != "six":
        build_tables(folder, variant, all_targets(variant))
    (row,) = [row for row in published.rows("empty_board") if row["variant"] == name]
    assert start_value(TableStore(folder, variant)) == Outcome(row["outcome"])


@pytest.mark.parametrize("changes", [{"fly_at": 3}, {"fly_at": 0}, {"fly_at": 3, "capture_in_mills": "none"}], ids=str)
def test_nine_with_three_stones_each(tmp_path, changes):
    """Here the first player wins if three stones fly, and the number of plies is known."""
    variant = NINE.with_overrides(stones=3, **changes)
    rules = ("fly" if changes["fly_at"] else "nofly") + "+strict" * ("capture_in_mills" in changes)
    (row,) = [row for row in published.rows("small_games") if (row["board_points"], row["stones_each"], row["rules"]) == (24, 3, rules)]
    build_tables(tmp_path, variant, all_targets(variant))
    assert reader(TableStore(tmp_path, variant))(start_subspace(variant), 0, 0) == (row["empty_board"], row["plies"])


def test_first_placements_of_three(tmp_path):
    three = get_variant("three")
    build_tables(tmp_path, three, all_targets(three))
    probe = reader(TableStore(tmp_path, three))
    seen_by_other = {"win": "loss", "draw": "draw", "loss": "win"}
    for row in published.rows("first_turns"):
        if row["variant"] == "three":
            for point in row["turns"].split():
                outcome, _ = probe(Subspace(0, 1, 3, 2), 0, three.board.mask_of([point]))
                assert outcome == seen_by_other[row["outcome"]], point


@pytest.mark.parametrize("rules", ["nofly", *(pytest.param(r, marks=pytest.mark.slow) for r in ("fly", "nofly+strict"))])
def test_all_positions_of_play_with_four_stones(rules, tmp_path):
    """Every position that can arise on two squares, valued by the tables, adds up to the published counts."""
    (row,) = [row for row in published.rows("small_games") if (row["board_points"], row["stones_each"], row["rules"]) == (16, 4, rules)]
    changes = {"fly_at": 3 if rules == "fly" else 0, "capture_in_mills": "none" if "strict" in rules else "any"}
    variant = get_variant("four").with_overrides(**changes)
    build_tables(tmp_path, variant, all_targets(variant))
    probe = reader(TableStore(tmp_path, variant))
    solution = oracle.solve_game(twin_rules(variant))
    counts = {"win": 0, "draw": 0, "loss": 0}
    mask = variant.board.mask_of
    for (position, value, orbit_size), n_colours in zip(solution, solution.n_colours()):
        subspace = Subspace(len(position.own), len(position.opponent), position.own_hand, position.opponent_hand)
        found = ("loss", 0) if subspace.is_over else probe(subspace, mask(position.own), mask(position.opponent))
        assert found == value
        counts[found[0]] += orbit_size * n_colours
    assert counts == {"win": row["wins"], "draw": row["draws"], "loss": row["losses"]}
    assert probe(start_subspace(variant), 0, 0) == (row["empty_board"], row["plies"])
