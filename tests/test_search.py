"""The proof by search against the tables of the placement phase, on games small enough to have both."""

import _thread
import re
import sys
import threading
from itertools import count

import numpy as np
import published
import pytest
from conftest import build_tables

from solver.board import boards
from solver.build import all_targets, moving_targets
from solver.cli import main
from solver.combinatorics import deposit_bits, unrank_pattern
from solver.errors import InputError, MissingTableError
from solver.jit import JIT_DISABLED, Workers
from solver.leaves import LeafStore, LoadingStoppedError
from solver.position import Position, start
from solver.search import BUCKET, MISSING, STOP, Prover, canonical_key
from solver.store import TableStore
from solver.subspace import parse_subspace, placing_subspaces
from solver.symmetry import orbits
from solver.values import Outcome, decode, draw_code
from solver.variant import get_variant

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="searches a few million positions")

#: Games with all their tables, and how many positions of each subspace are compared.
GAMES = {
    "three": (get_variant("three"), 10_000),
    "grid-4": (get_variant("three").with_overrides(stones=4), 10_000),
    "grid-4-draw": (get_variant("three").with_overrides(stones=4, full_board="draw"), 10_000),
    "diagonal-3": (get_variant("morabaraba").with_overrides(stones=3), 300),
    "six": (get_variant("six"), 100),
    "six-fly": (get_variant("six-fly"), 50),
    "six-strict": (get_variant("six").with_overrides(capture_in_mills="none"), 50),
    "five": (get_variant("five"), 100),
    "four": (get_variant("four"), 300),
    "nine-3": (get_variant("nine").with_overrides(stones=3), 1000),
    "nine-3-nofly": (get_variant("nine-nofly").with_overrides(stones=3), 1000),
    "nine-4": (get_variant("nine").with_overrides(stones=4), 300),
    "nine-4-strict": (get_variant("nine-strict").with_overrides(stones=4), 300),
}
SLOW = {"diagonal-3", "nine-3-nofly", "nine-4-strict"}
#: A game in which both sides fill the board, so that it matters what that is worth.
FULL = {rule: get_variant("six").with_overrides(stones=8, full_board=rule) for rule in ("loss", "draw")}
TABLE_BYTES = 1 << 22


@pytest.fixture(scope="module")
def prover_of(tmp_path_factory, workers):
    """Gives a new prover for a variant, whose tables are built when first asked for."""
    folder = tmp_path_factory.mktemp("search")
    stores = {}

    def make(variant, moving_only=False, table_bytes=TABLE_BYTES, plies=None):
        if variant.name not in stores:
            build_tables(folder, variant, (moving_targets if moving_only else all_targets)(variant))
            stores[variant.name] = TableStore(folder, variant)
        return Prover(variant, stores[variant.name], workers, table_bytes, plies)

    make.folder = folder
    yield make
    for store in stores.values():
        store.close()


def without_memory(prover):
    """The same prover with room for a handful of answers only."""
    for question in prover.questions:
        question.table = np.zeros(BUCKET, np.int64)
    return prover


def sampled_positions(prover, subspace, most):
    """Positions of a placing subspace, all or evenly spread ones, and how White likes each by the tables."""
    table = prover.leaf_store.store.table(subspace)
    values, row_masks = table.read(), table.file.row_masks
    column_stones = subspace.opponent if subspace.rows_are_own else subspace.own
    white_moves = subspace.own_hand == subspace.opponent_hand
    slots = range(len(values)) if len(values) <= most else np.linspace(0, len(values) - 1, most).astype(int).tolist()
    for slot in slots:
        row, column = divmod(slot, table.n_columns)
        x = int(row_masks[row])
        y = deposit_bits(unrank_pattern(column, column_stones), prover.variant.board.full_mask ^ x)
        own, opponent = (x, y) if subspace.rows_are_own else (y, x)
        liking = int(values[slot]) - draw_code(table.width)
        if white_moves:
            yield Position(own, opponent, True, subspace.own_hand, subspace.opponent_hand), liking
        else:
            yield Position(opponent, own, False, subspace.opponent_hand, subspace.own_hand), -liking


def answers(prover, position):
    return tuple(question.answer(position) for question in prover.questions)


def outcome_for_white(liking):
    return Outcome.WIN if liking > 0 else Outcome.LOSS if liking < 0 else Outcome.DRAW


# ---------------------------------------------------------------- agreement


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in GAMES])
def test_search_and_tables_agree(prover_of, name):
    variant, most = GAMES[name]
    prover = prover_of(variant)
    seen = set()
    for subspace in placing_subspaces(variant):
        for position, liking in sampled_positions(prover, subspace, most):
            # Both questions are asked with what earlier positions have left in their tables of answers.
            assert answers(prover, position) == (liking >= 0, liking <= 0), position
            seen.add(outcome_for_white(liking))
    assert len(seen) > 1


@pytest.mark.parametrize("name", ["six", "grid-4"])
def test_prove_gives_the_outcome_for_white(prover_of, name):
    variant, _ = GAMES[name]
    prover = prover_of(variant)
    for subspace in placing_subspaces(variant):
        for position, liking in sampled_positions(prover, subspace, 3):
            assert prover.prove(position).white_outcome is outcome_for_white(liking), position


@pytest.mark.parametrize("row", published.rows("small_games"), ids=lambda r: "-".join(map(str, list(r.values())[:3])))
def test_empty_boards_have_their_published_values(prover_of, row):
    changes = {"stones": row["stones_each"], "fly_at": 0 if "nofly" in row["rules"] else 3}
    changes["capture_in_mills"] = "none" if "strict" in row["rules"] else "any"
    base = get_variant({16: "six", 24: "nine"}[row["board_points"]])
    same = [v for v, _ in GAMES.values() if v.rules() == base.with_overrides(**changes).rules()]
    variant = same[0] if same else base.with_overrides(**changes)
    assert prover_of(variant, moving_only=not same).prove(start(variant)).white_outcome == row["empty_board"]


@pytest.mark.parametrize("rule, outcome", [("loss", Outcome.LOSS), ("draw", Outcome.DRAW)])
def test_a_full_board_counts_as_the_variant_says(prover_of, rule, outcome):
    """With eight stones each on 16 points play can fill the board, and White is the first who cannot move."""
    prover = prover_of(FULL[rule], moving_only=True)
    assert prover.prove(start(FULL[rule])).white_outcome is outcome
    n_points = FULL[rule].board.n_points
    every_second = sum(1 << p for p in range(0, n_points, 2))
    before_last = Position(every_second, every_second << 1 & 0x7FFF, False, 0, 1)
    assert prover.prove(before_last).white_outcome is outcome


@pytest.mark.parametrize("name", ["three", "grid-4-draw", "six", "six-fly", "nine-3", "nine-4"])
def test_limits_of_plies_are_those_of_the_tables(prover_of, name):
    variant, most = GAMES[name]
    for plies in (0, 1, 2, 3, 7, 12, 31, 1000):
        prover = prover_of(variant, plies=plies)
        seen = set()
        for subspace in placing_subspaces(variant):
            within = plies + subspace.own_hand + subspace.opponent_hand
            for position, liking in sampled_positions(prover, subspace, min(most, 40)):
                outcome, depth = decode(draw_code(1) + (liking if position.white_to_move else -liking), 1)
                in_time = outcome is not Outcome.DRAW and depth <= within
                white_wins = in_time and (outcome is Outcome.WIN) == position.white_to_move
                expected = (not in_time or white_wins, not white_wins)
                assert answers(prover, position) == expected, (position, outcome, depth, within)
                seen.add(expected)
        assert len(seen) > 1


# ---------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("name, fewest_in_hand, most_in_hand", [("six", 1, 5), ("grid-4", 1, 8)])
def test_a_tiny_table_of_answers_changes_nothing(prover_of, name, fewest_in_hand, most_in_hand):
    variant, _ = GAMES[name]
    least = prover_of(variant, table_bytes=1 << 10)
    forgetful = without_memory(prover_of(variant, table_bytes=1 << 10))
    for subspace in placing_subspaces(variant):
        if fewest_in_hand <= subspace.own_hand + subspace.opponent_hand <= most_in_hand:
            for position, liking in sampled_positions(least, subspace, 8):
                assert answers(least, position) == (liking >= 0, liking <= 0), position
                assert answers(forgetful, position) == (liking >= 0, liking <= 0), position


@pytest.mark.parametrize("name", ["six", "six-strict", "grid-4"])
def test_the_order_of_turns_changes_nothing(prover_of, name):
    """Points get arbitrary scores, large enough to let quiet turns come before those that close a mill."""
    variant, _ = GAMES[name]
    prover = prover_of(variant)
    rng = np.random.default_rng(1)
    for question in prover.questions:
        question.game = question.game._replace(degree=rng.integers(0, 1 << 20, variant.board.n_points))
    for subspace in placing_subspaces(variant):
        if subspace.own_hand + subspace.opponent_hand <= 8:
            for position, liking in sampled_positions(prover, subspace, 20):
                assert answers(prover, position) == (liking >= 0, liking <= 0), position


@pytest.mark.parametrize("board_name", ["ring2", "grid3"])
def test_all_images_of_a_position_have_one_key(board_name):
    """Also where several symmetries make the white stones smallest, so that the black ones decide."""
    board = boards()[board_name]
    orb = orbits(board)
    rng = np.random.default_rng(2)
    symmetric = np.flatnonzero(orb.stabiliser > 1)
    for row in rng.choice(symmetric, 300):
        white = int(orb.masks[row])
        black = int(rng.integers(1 << board.n_points)) & ~white
        images = {(board.image(white, s), board.image(black, s)) for s in range(len(board.symmetries))}
        smallest_white, smallest_black = min(images)
        expected = smallest_white | smallest_black << 24 | 5 << 48
        assert {canonical_key(orb, *image, 5) for image in images} == {expected}


# ---------------------------------------------------------------- stopping


@pytest.fixture
def endless(prover_of):
    """A prover that needs minutes for the empty board, since it remembers next to nothing."""
    return without_memory(prover_of(FULL["draw"], moving_only=True))


def late_position_is_settled(prover):
    position = Position(0b0000_0000_0001_1111, 0b0000_0001_1110_0000, False, 0, 1)
    fresh = Prover(prover.variant, prover.leaf_store.store, prover.workers, TABLE_BYTES)
    return prover.prove(position).white_outcome is fresh.prove(position).white_outcome


def test_a_time_limit_leaves_the_outcome_unknown(endless):
    answers(endless, Position(0xFF, 0x7F00, False, 0, 1))  # compiled and loaded beforehand
    proof = endless.prove(start(endless.variant), 0.2)
    assert proof.white_outcome is Outcome.UNKNOWN
    assert late_position_is_settled(endless)


def test_an_interrupt_ends_the_search_soon(endless):
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.prove(start(endless.variant))
    assert late_position_is_settled(endless)


def test_stop_from_another_thread(endless):
    question = endless.questions[0]
    timer = threading.Timer(0.3, question.stop)
    timer.start()
    assert question.answer(start(endless.variant)) is None


# ---------------------------------------------------------------- bad input and trouble


def test_a_missing_table_is_named(tmp_path, prover_of, workers, monkeypatch):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    variant, _ = GAMES["four"]
    prover_of(variant)
    folder = tmp_path / variant.name
    folder.mkdir()
    for pair in ("3-3", "4-3"):
        (folder / f"{pair}.h5").symlink_to(prover_of.folder / variant.name / f"{pair}.h5")
    prover = Prover(variant, TableStore(tmp_path, variant), workers, TABLE_BYTES)
    with pytest.raises(MissingTableError, match="the table 4-4 of four is missing") as error:
        prover.prove(start(variant))
    assert error.value.subspace == "4-4"


@pytest.mark.parametrize(
    "position, reason",
    [
        (Position(0, 0, True, 0, 0), "no stone in hand"),
        (Position(0b111, 0b11000, True, 2, 3, True), "capture is still owed"),
    ],
)
def test_positions_that_are_not_for_the_search(prover_of, position, reason):
    with pytest.raises(InputError, match=reason):
        prover_of(GAMES["six"][0]).prove(position)


def test_a_lost_side_needs_no_search(prover_of):
    variant, _ = GAMES["six"]
    assert prover_of(variant).prove(Position(0b1, 0b1110, True, 1, 1)).white_outcome is Outcome.LOSS
    assert prover_of(variant).prove(Position(0b1110, 0b1, False, 0, 1)).white_outcome is Outcome.WIN


def test_games_that_slide_while_placing_are_refused(tmp_path, workers):
    sliding = get_variant("six").with_overrides(place_and_slide=True)
    with pytest.raises(InputError, match="slide while placing"):
        Prover(sliding, TableStore(tmp_path, sliding), workers, TABLE_BYTES)


@pytest.fixture
def morris(monkeypatch, capsys):
    """Runs the command line in this process; gives exit code, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["morris", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def test_prove_on_the_command_line(morris, prover_of):
    variant, _ = GAMES["six"]
    prover_of(variant)
    code, output, _ = morris("prove", "-V", "six", "--data", prover_of.folder, "--memory", "4M", "-j", "1")
    assert code == 0
    assert "White holds at least a draw" in output and "Black holds at least a draw" in output
    assert "The empty board of six is a draw" in output


@pytest.mark.parametrize(
    "within, words",
    [
        (9, ["White is not beaten within 9 plies", "Black is beaten within 9 plies", "The empty board of three is a win for White within 9"]),
        (8, ["Black is not beaten within 8 plies", "The empty board of three is won by nobody within 8 plies"]),
    ],
)
def test_prove_within_some_plies_on_the_command_line(morris, prover_of, within, words):
    variant, _ = GAMES["three"]
    prover_of(variant)
    code, output, _ = morris("prove", "-V", "three", "--data", prover_of.folder, "--memory", "4M", "-j", "1", "--within", within)
    assert code == 0
    assert all(line in output for line in words), output


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["......../........ w 6,6"], 3, "the table .* of six is missing"),
        (["......../........ w 5,6"], 2, "hands 5,6 fit no order of play: before White's turn both have the same"),
        (["W......./........ b 5,5"], 2, "hands 5,5 fit no order of play: before Black's turn Black has one more"),
        (["W......./......B. w 0,0"], 2, "a game ends at 2"),
        (["WWW...../BBB..... w 0,0"], 2, "no stone in hand"),
        (["--moves", "a5 a5"], 2, "a5 is occupied"),
        (["--memory", "0"], 2, "--memory 0"),
        (["--time-limit", "0"], 2, "time-limit"),
        (["--within", "11"], 2, "12 stones are still in hand"),
        (["--within", "0"], 2, "within"),
        (["--certificate", "/no/such/folder/c.h5"], 2, "cannot write the certificate /no/such/folder/c.h5: No such file"),
        (["--within", "20", "--certificate", "c.h5"], 2, "certificate is of the outcome alone"),
    ],
)
def test_unusable_input_has_its_exit_code(tmp_path, morris, monkeypatch, arguments, code, words):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    ended, output, errors = morris("prove", "-V", "six", "--data", tmp_path, "-j", "1", *arguments)
    assert (ended, output) == (code, "")
    assert errors.count("\n") == 1
    assert re.search(words, errors), errors


def test_leaves_of_outcomes_are_those_of_depths(small_tables, outcome_tables, workers, monkeypatch, tmp_path):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    six = get_variant("six")
    deep, alone = (TableStore(folder, six, or_outcomes=True) for folder in (small_tables, outcome_tables))
    stores = [LeafStore(six, store, workers) for store in (deep, alone)]
    for leaves in stores:
        for counts in ((3, 3), (4, 5), (6, 4)):
            leaves.load(*counts)
    used = stores[0]._used
    assert used == stores[1]._used > 1000
    for holder in (0, 1):
        bits = [leaves.leaves[holder].words[:used] for leaves in stores]
        assert np.array_equal(*bits) and 0 < np.unpackbits(bits[0].view(np.uint8)).mean() < 1
    with pytest.raises(MissingTableError):
        LeafStore(six, TableStore(outcome_tables, six), workers).load(3, 3)
    with pytest.raises(InputError, match="4-5 holds no depths"):
        LeafStore(six, alone, workers, plies=20).load(4, 5)
    for store in (deep, alone):
        store.close()


def test_loading_ends_when_the_search_is_stopped(small_tables, workers):
    six = get_variant("six")
    question = Prover(six, TableStore(small_tables, six), workers, TABLE_BYTES).questions[0]
    offset = question.leaves.offset
    for stopped, loaded in ((True, False), (False, True)):
        question.control[MISSING], question.control[STOP] = 4 << 8 | 5, stopped
        question.load_missing()
        assert (offset[4, 5] >= 0) == loaded and question.control[MISSING] == 0
    assert question.leaf_store.subspaces == ["4-5"]


def leaf_words(store):
    used = store._used
    return [leaves.words[:used].tolist() for leaves in store.leaves]


def test_leaves_are_packed_alike_by_many_workers_and_after_a_stop(tmp_path, workers, monkeypatch):
    monkeypatch.setattr("solver.tablefile.CHUNK_BYTES", 2000)  # so that a table has hundreds of chunks
    monkeypatch.setattr("solver.tablefile.CHUNKS_AT_A_TIME", 2)
    monkeypatch.setattr("solver.tablefile.TASKS_AHEAD", 8)
    six, many = get_variant("six"), Workers(4)
    build_tables(tmp_path, six, moving_targets(six))
    store = TableStore(tmp_path, six, with_shipped=False)
    assert store.table(parse_subspace("5-4", six)).n_chunks > 40
    alone, together, stopped = LeafStore(six, store, workers), LeafStore(six, store, many), LeafStore(six, store, many)
    calls = count()
    with pytest.raises(LoadingStoppedError):
        stopped.load(6, 5, stopped=lambda: next(calls) > 20)
    assert stopped.subspaces == [] and next(calls) < 40
    for leaves in (alone, together, stopped):
        for counts in ((5, 4), (4, 5), (3, 3)):
            leaves.load(*counts)
    assert leaf_words(alone) == leaf_words(together) == leaf_words(stopped)
    store.close()
    many.close()
