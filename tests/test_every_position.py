"""Tables, search and quick twin on every position of small games: six's board, and the standard board with few stones."""

import numpy as np
import pytest
from conftest import build_tables, twin_rules
from mask_twin import MaskTwin, deposited, next_pattern
from numba import njit

from solver.build import all_targets
from solver.jit import JIT_DISABLED
from solver.search import HOLDS, MOST_TURNS, STOPPED, Prover, search
from solver.store import TableStore
from solver.variant import get_variant

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="looks at millions of positions")

NINE, SIX = get_variant("nine"), get_variant("six")
GAMES = [
    SIX.with_overrides(stones=5),
    SIX.with_overrides(stones=5, fly_at=4, capture_in_mills="none"),
    get_variant("morabaraba").with_overrides(stones=3),
    NINE.with_overrides(stones=3),
    *(pytest.param(variant, marks=pytest.mark.slow) for variant in (
        SIX, get_variant("six-fly"), SIX.with_overrides(stones=8, full_board="draw"), *(NINE.with_overrides(stones=n) for n in (4, 5, 6))
    )),
]  # fmt: skip


#: Stones may slide while others are in hand, so the search does not apply: tables and twin only.
SLIDING_GAMES = [
    SIX.with_overrides(stones=3, place_and_slide=True),
    SIX.with_overrides(stones=4, place_and_slide=True, fly_at=3, capture_in_mills="none"),
    NINE.with_overrides(stones=3, place_and_slide=True),
    *(pytest.param(variant, marks=pytest.mark.slow) for variant in (
        *(SIX.with_overrides(stones=n, place_and_slide=True) for n in (4, 5)),
        SIX.with_overrides(stones=5, place_and_slide=True, fly_at=3),
        *(NINE.with_overrides(stones=n, place_and_slide=True) for n in (4, 5)),
        get_variant("morabaraba").with_overrides(stones=4, place_and_slide=True),
    )),
]  # fmt: skip


@njit(nogil=True)
def count_other_answers(question, leaves, table, history, control, stack, twin, smallest, subspace, holder):
    """How many positions of a placing subspace get another answer from the search than the table gives."""
    own, opponent, own_hand, opponent_hand = subspace
    are_own = own > opponent or (own == opponent and own_hand >= opponent_hand)
    k, n_free = (opponent, twin.n_points - own) if are_own else (own, twin.n_points - opponent)
    white_moves = own_hand == opponent_hand
    white_hand, black_hand = (own_hand, opponent_hand) if white_moves else (opponent_hand, own_hand)
    slot = twin.offsets[own, opponent, own_hand, opponent_hand]
    others = 0
    for x in smallest:
        pattern = (1 << k) - 1
        for _ in range(twin.binomials[n_free, k]):
            y = deposited(pattern, ~x, twin.n_points)
            white, black = (x, y) if are_own == white_moves else (y, x)
            liking = twin.values[slot] - 128 if white_moves else 128 - twin.values[slot]
            expected = liking >= 0 if holder == 0 else liking <= 0
            answer = search(
                question,
                leaves,
                table,
                history,
                control,
                stack,
                white,
                black,
                white_hand,
                black_hand,
                white_moves,
                holder,
            )
            if answer == STOPPED or (answer == HOLDS) != expected:
                others += 1
            pattern = next_pattern(pattern)
            slot += 1
    return others


def other_answers(question, twin):
    """By placing subspace, how many positions the search values in another way; the last placements come first.

    In that order each position finds the answers of its successors.
    """
    stack, found = np.empty((3, 2 * question.variant.stones + 1, MOST_TURNS), np.int64), {}
    for subspace in sorted(twin.subspaces(), key=lambda s: s[2] + s[3]):
        if subspace[2] or subspace[3]:
            stones = max(subspace[:2])
            found[subspace] = count_other_answers(
                question.game, question.leaves, question.table, question.history, question.control, stack,
                twin.game, twin.smallest[stones, : twin.n_rows[stones]], subspace, question.holder,
            )  # fmt: skip
    return found


def twin_that_agrees(variant, folder, workers):
    """The twin of a game whose tables are built in a folder, after it has found every slot to be right."""
    build_tables(folder, variant, all_targets(variant), workers.jobs)
    twin = MaskTwin(twin_rules(variant), folder / variant.name)
    assert (0, 0, variant.stones, variant.stones) in twin.subspaces()
    assert {subspace: found for subspace in twin.subspaces() if (found := twin.wrong_slots(subspace))[0]} == {}
    return twin


@pytest.mark.parametrize("variant", SLIDING_GAMES, ids=lambda variant: variant.name)
def test_tables_and_twin_agree_where_stones_slide_while_others_are_placed(variant, tmp_path, workers):
    twin = twin_that_agrees(variant, tmp_path, workers)
    print(f"{variant.name}: {sum(map(twin.n_slots, twin.subspaces())):,} slots in {len(twin.subspaces())} tables")


@pytest.mark.parametrize("variant", GAMES, ids=lambda variant: variant.name)
def test_tables_search_and_twin_agree_everywhere(variant, tmp_path, workers):
    twin = twin_that_agrees(variant, tmp_path, workers)
    prover = Prover(variant, TableStore(tmp_path, variant), workers, 1 << 30)
    for own, opponent, own_hand, opponent_hand in twin.subspaces():
        if not own_hand and not opponent_hand:
            prover.leaf_store.load(own, opponent)

    answers = list(workers.pool.map(lambda question: other_answers(question, twin), prover.questions))
    assert all(n == 0 for found in answers for n in found.values()), answers
    n_slots, n_placing = (sum(map(twin.n_slots, some)) for some in (twin.subspaces(), answers[0]))
    print(f"{variant.name}: {n_slots:,} slots, {n_placing:,} of them with stones in hand and searched for both sides")
    assert n_placing > 1000


def test_the_twin_sees_a_planted_value_where_stones_slide_too(tmp_path, workers):
    variant = SIX.with_overrides(stones=3, place_and_slide=True)
    twin = twin_that_agrees(variant, tmp_path, workers)
    rng = np.random.default_rng(6)
    for subspace in twin.subspaces():
        slot = int(twin.game.offsets[subspace]) + int(rng.integers(twin.n_slots(subspace)))
        right = twin.game.values[slot]
        for value in (2 if right >= 128 else 128, right - 1 if right > 129 else right + 1):
            twin.game.values[slot] = value
            assert twin.wrong_slots(subspace)[0] >= 1
        twin.game.values[slot] = right


def test_a_planted_value_is_seen_by_twin_and_search(tmp_path, workers):
    variant = SIX.with_overrides(stones=3)
    build_tables(tmp_path, variant, all_targets(variant))
    twin = MaskTwin(twin_rules(variant), tmp_path / variant.name)
    prover = Prover(variant, TableStore(tmp_path, variant), workers, 1 << 20)
    prover.leaf_store.load(3, 3)
    rng = np.random.default_rng(5)
    for subspace in twin.subspaces():
        start = int(twin.game.offsets[subspace])
        slot = start + int(rng.integers(twin.n_slots(subspace)))
        right = twin.game.values[slot]
        twin.game.values[slot] = 2 if right >= 128 else 128  # another outcome
        assert twin.wrong_slots(subspace)[0] >= 1
        if subspace[2] or subspace[3]:
            assert sum(other_answers(question, twin)[subspace] for question in prover.questions) >= 1
        twin.game.values[slot] = right - 1 if right > 129 else right + 1  # another depth, or no draw
        assert twin.wrong_slots(subspace)[0] >= 1
        twin.game.values[slot] = right
    assert not any(twin.wrong_slots(subspace)[0] for subspace in twin.subspaces())
