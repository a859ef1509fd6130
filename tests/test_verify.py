"""Verification finds what is planted, names it, and passes what is right."""

import random

import numpy as np
import pytest
from conftest import MemoryTables, tables_of

from solver import retrograde
from solver.errors import MorrisError
from solver.subspace import Subspace, placing_subspaces
from solver.tally import histograms
from solver.values import draw_code
from solver.variant import get_variant
from solver.verify import Fault, verify_subspace, verify_table

NINE = get_variant("nine")
SIX = get_variant("six")
FOUR = get_variant("four")
DRAW = draw_code(1)


def findings(tables, subspaces=None):
    """What verification says of each table: {subspace: finding}."""
    return {
        s: verify_table(tables.variant, s, tables, tables.load, tables.workers) for s in subspaces or tables.values
    }  # fmt: skip


@pytest.fixture(scope="module")
def right_tables(workers):
    """Tables of nine up to 7 stones."""
    return MemoryTables(NINE, workers).solve([Subspace(3, 3), Subspace(4, 3)])


@pytest.fixture(scope="module")
def right_game(workers):
    """All tables of a whole game."""
    return MemoryTables(FOUR, workers).solve()


@pytest.fixture
def tables(right_tables):
    """Tables to be spoilt: the values are copies; tallies of the right ones are kept, as those in a file would be."""
    return spoilable(right_tables)


@pytest.fixture
def game(right_game):
    return spoilable(right_game)


def spoilable(right):
    copy = MemoryTables(right.variant, right.workers)
    copy.values = {s: values.copy() for s, values in right.values.items()}
    copy.tallies = {s: histograms(right.variant, s, values, right.workers) for s, values in right.values.items()}
    return copy


def slots_with(values, outcome, seed, n=4):
    """A few slots of that outcome."""
    kind = {"win": values > DRAW, "draw": values == DRAW, "loss": values < DRAW}[outcome]
    there = np.flatnonzero(kind).tolist()
    return random.Random(seed).sample(there, min(n, len(there)))


# ---------------------------------------------------------------- right tables


def test_right_tables_pass(right_tables, right_game):
    for tables in (right_tables, right_game):
        for subspace, finding in findings(tables).items():
            assert finding == (len(tables.values[subspace]), 0, -1, None) and finding.is_right, subspace.name


@pytest.mark.parametrize(
    "variant",
    [
        get_variant("three"),
        SIX.with_overrides(stones=4, fly_at=3),
        SIX.with_overrides(stones=4, capture_in_mills="none"),
        SIX.with_overrides(stones=3, place_and_slide=True, fly_at=3, capture_in_mills="none"),
        get_variant("three").with_overrides(stones=4, place_and_slide=True),
    ],
    ids=lambda variant: variant.name,
)
def test_other_rules_pass(variant, workers):
    assert all(finding.is_right for finding in findings(MemoryTables(variant, workers).solve()).values())


def test_progress_is_told(right_tables):
    shares = []
    subspace = Subspace(4, 3)
    verify_subspace(NINE, subspace, right_tables.values[subspace], right_tables.load, right_tables.workers, shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0


# ---------------------------------------------------------------- planted faults


def test_a_wrong_slot_is_named(game):
    """Where no quiet move leads from slot to slot, exactly the spoilt one is wrong."""
    subspace = next(s for s in placing_subspaces(FOUR) if (s.own, s.opponent) == (3, 3))
    values = game.values[subspace]
    for slot in (0, 1, len(values) // 2, len(values) - 1):
        right = values[slot]
        values[slot] = 255 - right
        assert verify_subspace(FOUR, subspace, values, game.load, game.workers) == (len(values), 1, slot, None)
        values[slot] = right


@pytest.mark.parametrize("subspace", [Subspace(3, 3), Subspace(4, 3), Subspace(3, 4)], ids=lambda s: s.name)
@pytest.mark.parametrize("was, becomes", [("win", 4), ("win", DRAW), ("loss", 250), ("loss", DRAW), ("draw", 255), ("draw", 0), ("draw", 3)])
def test_a_changed_outcome_is_found(tables, subspace, was, becomes):
    values = tables.values[subspace]
    for slot in slots_with(values, was, seed=1, n=2):
        right = values[slot]
        values[slot] = becomes
        finding = findings(tables, [subspace])[subspace]
        assert finding.wrong > 0 and 0 <= finding.first <= slot
        values[slot] = right


@pytest.mark.parametrize(
    "subspace, was",
    [(Subspace(3, 3), "win"), (Subspace(3, 3), "loss"), (Subspace(4, 3), "loss"), (Subspace(3, 4), "win")],
    ids=str,
)
@pytest.mark.parametrize("step", [1, -1])
def test_a_depth_off_by_one_is_found(tables, subspace, was, step):
    """Three slots each, of those where the code beside is no draw."""
    values = tables.values[subspace]
    beside = values.astype(int) + step
    kind = values > DRAW if was == "win" else values < DRAW
    there = np.flatnonzero(kind & (0 <= beside) & (beside <= 255) & (beside != DRAW)).tolist()
    for slot in random.Random(2).sample(there, 3):
        right = int(values[slot])
        values[slot] = right + step
        finding = findings(tables, [subspace])[subspace]
        assert finding.wrong > 0 and 0 <= finding.first <= slot
        values[slot] = right


def test_exchanged_twins_are_found(tables):
    one, other = Subspace(4, 3), Subspace(3, 4)
    tables.values[one], tables.values[other] = tables.values[other], tables.values[one]
    assert all(finding.wrong > 1000 for s, finding in findings(tables, [one, other]).items())


@pytest.mark.parametrize("at", [0, 12_345, 209_000])
def test_a_missing_slot_is_found(tables, at):
    """All values behind one slot stand one too far ahead."""
    values = tables.values[Subspace(3, 3)]
    values[at:-1] = values[at + 1 :].copy()
    assert findings(tables, [Subspace(3, 3)])[Subspace(3, 3)].wrong > 0


def test_exchanged_rows_are_found(tables):
    rows = tables.values[Subspace(4, 3)].reshape(757, -1)
    rows[[100, 101]] = rows[[101, 100]]
    assert findings(tables, [Subspace(4, 3)])[Subspace(4, 3)].wrong > 0


@pytest.mark.parametrize("everything", [0, DRAW, 255, 200])
def test_a_table_of_one_value_is_found(tables, everything):
    tables.values[Subspace(3, 3)][:] = everything
    assert findings(tables, [Subspace(3, 3)])[Subspace(3, 3)].wrong > 1000


def test_tables_of_other_rules_are_found(tables, workers):
    other = MemoryTables(get_variant("nine-nofly"), workers).solve([Subspace(3, 3)])
    tables.values[Subspace(3, 3)] = other.values[Subspace(3, 3)]
    assert findings(tables, [Subspace(3, 3)])[Subspace(3, 3)].wrong > 1000


@pytest.mark.parametrize("raw", [False, True])
def test_a_wrong_tally_is_found(tables, raw):
    subspace = Subspace(4, 3)
    tables.tallies[subspace][raw][255] -= 1
    tables.tallies[subspace][raw][DRAW] += 1
    finding = findings(tables, [subspace])[subspace]
    assert finding == (len(tables.values[subspace]), 0, -1, Fault.TALLY) and not finding.is_right


def test_wrong_slots_are_told_before_a_wrong_tally(tables):
    subspace = Subspace(4, 3)
    tables.values[subspace][-1] ^= 0x81
    tables.tallies[subspace][0][DRAW] += 1
    finding = findings(tables, [subspace])[subspace]
    assert finding.wrong and finding.first >= 0 and finding.fault is None and not finding.is_right


def test_every_single_spoilt_slot_of_a_small_game_is_found(workers):
    """Each slot of each table of three men's morris, changed to every outcome and to the code above."""
    game = MemoryTables(get_variant("three"), workers).solve()
    n_spoilt = 0
    for subspace, values in game.values.items():
        for slot in range(len(values)):
            right = int(values[slot])
            for wrong in {0, DRAW, 255, min(right + 1, 255)} - {right}:
                values[slot] = wrong
                finding = verify_subspace(game.variant, subspace, values, game.load, workers)
                assert finding.wrong and 0 <= finding.first <= slot, (subspace.name, slot, wrong)
                n_spoilt += 1
            values[slot] = right
    assert n_spoilt >= 2 * sum(map(len, game.values.values()))


def test_a_fault_in_a_finished_table_shows_in_those_above(game):
    """Each fault in a table is seen from the table itself or from one that leads there."""
    below = Subspace(3, 4)
    for slot in slots_with(game.values[below], "win", seed=3, n=5):
        right = game.values[below][slot]
        game.values[below][slot] = 0
        assert any(finding.wrong for finding in findings(game, tables_of(FOUR, [Subspace(4, 3), Subspace(4, 4)])).values())
        game.values[below][slot] = right


# ---------------------------------------------------------------- a machine that errs


@pytest.mark.parametrize("what", ["values", "counts"])
def test_a_bit_flipped_during_the_pass_is_found(right_tables, workers, monkeypatch, what):
    honest = retrograde.propagate_column_moves
    right = right_tables.values[Subspace(3, 3)]
    n_changed = 0
    for seed in range(16):
        choose, done = random.Random(seed), []

        def err(ground, start, stop, decided, depth, code, side, choose=choose, done=done, seed=seed):
            if depth == 3 + seed % 8 and not done:
                done.append(depth)
                slot = choose.randrange(side.values.size)
                if what == "values":
                    side.values[slot] ^= 1 << choose.choice((5, 6, 7))
                else:  # a count that becomes 0 by itself could not happen without a booked loss
                    side.counts[slot] ^= 2 if side.counts[slot] != 2 else 1
            return honest(ground, start, stop, decided, depth, code, side)

        monkeypatch.setattr(retrograde, "propagate_column_moves", err)
        try:
            spoilt = MemoryTables(NINE, workers).solve([Subspace(3, 3)])
        except MorrisError as error:  # the pass itself missed slots that it had booked
            assert "the machine may be faulty" in str(error)
            n_changed += 1
            continue
        assert done
        if not np.array_equal(spoilt.values[Subspace(3, 3)], right):
            n_changed += 1
            assert findings(spoilt)[Subspace(3, 3)].wrong > 0
    assert n_changed >= 2  # the others were mended by the pass itself
