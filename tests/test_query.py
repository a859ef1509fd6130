"""Questions to finished tables: values, ranked turns, lines, many positions at once, annotated games."""

import doctest
import random
import shutil
import threading

import numpy as np
import published
import pytest

from solver import query, render
from solver.annotate import annotate, first_losing_ply
from solver.errors import InputError, MissingTableError, TableError
from solver.metric import OUTCOME
from solver.moves import Turn, format_turn, legal_turns, play, turn_image
from solver.notation import parse_moves
from solver.position import Position, format_own_form, image, parse_own_form, start
from solver.query import LOST, UNKNOWN, Value, open_tables
from solver.subspace import moving_pairs, placing_subspaces, solved_together
from solver.values import Outcome
from solver.variant import get_variant
from solver.worth import OUTCOMES

NINE, SIX = get_variant("nine"), get_variant("six")
DRAW = Value(Outcome.DRAW)
PUBLISHED = published.rows("positions_nine")


@pytest.fixture(scope="module")
def nine(small_tables):
    with open_tables(small_tables) as tables:
        yield tables


@pytest.fixture(scope="module")
def six(small_tables):
    with open_tables(small_tables, "six") as tables:
        yield tables


def own(text, variant=NINE):
    return parse_own_form(text, variant)


def random_positions(variant, n, most_on_board, seed, placing=False):
    """Well-formed positions of the variant's subspaces, without a capture owed."""
    choose, found = random.Random(seed), []
    subspaces = {s for file in moving_pairs(variant) + placing_subspaces(variant) for s in solved_together(variant, file)}
    while len(found) < n:
        white_hand = choose.randrange(variant.stones) if placing else 0
        white_to_move = choose.random() < 0.5
        black_hand = white_hand + (not white_to_move and placing)
        counts = [choose.randint(max(0, 3 - hand), variant.stones - hand) for hand in (white_hand, black_hand)]
        if sum(counts) <= most_on_board:
            points = choose.sample(range(variant.board.n_points), sum(counts))
            white, black = (sum(1 << p for p in part) for part in (points[: counts[0]], points[counts[0] :]))
            position = Position(white, black, white_to_move, white_hand, black_hand)
            found += [position] * (position.subspace in subspaces)
    return found


def owed_positions(variant, seed, n):
    """Positions in which a capture is owed, from random games."""
    choose, found = random.Random(seed), []
    while len(found) < n:
        position = start(variant)
        for _ in range(60):
            turns = legal_turns(variant, position)
            if not turns:
                break
            turn = choose.choice(turns)
            if turn.captured is not None:
                found.append(play(variant, position, turn._replace(captured=None)))
            position = play(variant, position, turn)
    return found[:n]


# ---------------------------------------------------------------- published positions


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["position"])
def test_published_positions(nine, row):
    """What the small tables do not hold is unknown, unless the game is over there."""
    position = own(row["position"])
    is_small = not position.subspace.is_placing and position.subspace.stones_on_board <= 8
    ranked = nine.moves(position)
    if row["legal_turns"] is not None:
        assert len(ranked) == row["legal_turns"]
    if not is_small and row["legal_turns"] != 0:
        assert nine.value_or_unknown(position) == UNKNOWN
        return
    assert nine.probe(position) == Value(Outcome(row["outcome"]), row["dtw_plies"])
    if ranked:
        assert ranked[0].value == nine.probe(position)
    if row["best_turns"]:
        best = [format_turn(NINE.board, t.turn) for t in ranked if t.value == ranked[0].value]
        assert sorted(best) == sorted(row["best_turns"].split())


def test_what_the_published_notes_say(nine):
    ranked = nine.moves("BB..W.../....W.../...W...B w 0,0")
    by_turn = {format_turn(NINE.board, t.turn): (str(t.outcome), t.dtw_plies) for t in ranked}
    named = {"e4-g7": ("win", 9), "f2-g7": ("win", 17), "g1-g7": ("loss", 4)}
    assert {turn: by_turn.pop(turn) for turn in named} == named
    assert set(by_turn.values()) == {("loss", 2)} and len(by_turn) == 51
    by_turn = {format_turn(NINE.board, t.turn): (str(t.outcome), t.dtw_plies) for t in nine.moves(".W....../.B....W./B...W..B w 0,0")}
    assert by_turn["b2-c3"] == ("win", 13) and by_turn["d7-c3"] == ("win", 23)
    captures = {format_turn(NINE.board, t.turn): t.outcome for t in nine.moves("B.WBWWW./..B.BB../........ b 0,0")}
    assert captures["g4-f4xg7"] is Outcome.DRAW


def test_empty_board_of_six(six):
    """Six men's morris is a draw, and so is each of its first turns that the rings allow."""
    assert six.probe(start(SIX)) == DRAW
    assert {row["outcome"] for row in published.rows("empty_board") if row["variant"] == "six"} == {"draw"}


# ---------------------------------------------------------------- consistency


@pytest.mark.parametrize("name", ["nine", "six"])
def test_best_turn_is_the_value(name, nine, six):
    tables = {"nine": nine, "six": six}[name]
    variant = tables.variant
    positions = random_positions(variant, 60, 8, seed=1) if name == "nine" else random_positions(variant, 120, 12, 2, True)
    if name == "six":
        positions += owed_positions(variant, 3, 30)
    for position in positions:
        ranked, value = tables.moves(position), tables.probe(position)
        assert value.outcome is not Outcome.UNKNOWN
        assert sorted(t.turn[::-1] for t in ranked if None not in t.turn) == sorted(
            t[::-1] for t in legal_turns(variant, position) if None not in t
        )
        assert len(ranked) == len(legal_turns(variant, position))
        if ranked:
            assert ranked[0].value == value
            # Best first: wins by growing depth, draws, losses by falling depth.
            keys = [(-OUTCOMES.index(t.outcome), (t.dtw_plies or 0) * (1 if t.outcome is Outcome.WIN else -1)) for t in ranked]
            assert keys == sorted(keys)
        else:
            assert value in (LOST, DRAW)


@pytest.mark.parametrize("name", ["nine", "six"])
def test_symmetric_images_answer_the_same(name, nine, six):
    tables = {"nine": nine, "six": six}[name]
    board = tables.variant.board
    for position in random_positions(tables.variant, 4, 8, 5, name == "six") + owed_positions(SIX, 6, 2) * (name == "six"):
        value, ranked = tables.probe(position), tables.moves(position)
        for g in range(len(board.symmetries)):
            assert tables.probe(image(position, board, g)) == value
            mapped = {(turn_image(t.turn, board, g), t.value) for t in ranked}
            assert {(t.turn, t.value) for t in tables.moves(image(position, board, g))} == mapped


def test_colours_do_not_matter(nine):
    for position in random_positions(NINE, 40, 8, seed=7):
        exchanged = Position(position.black, position.white, not position.white_to_move)
        assert nine.probe(position) == nine.probe(exchanged)


def test_owed_capture_is_worth_its_best_removal(six):
    for position in owed_positions(SIX, 8, 40):
        removals = [six.probe(play(SIX, position, turn)).for_mover() for turn in legal_turns(SIX, position)]
        assert all(turn.origin is turn.target is None for turn in legal_turns(SIX, position))
        assert six.probe(position) == six.moves(position)[0].value
        assert six.probe(position) in removals


def test_finished_positions_need_no_table(tmp_path):
    with open_tables(tmp_path) as tables:
        for text in ("WBWWBWWB/WBWBWBBW/......BB w 0,0", "WW....../BBB...../........ w 0,0", "WBWBWBWB/......../........ w 0,0"):
            assert tables.probe(own(text)) == LOST
            assert tables.moves(own(text)) == [] and tables.line(own(text)) == []
            assert tables.probe_many([text]).values() == [LOST] and tables.probe_many([text]).missing == ()
    with open_tables(tmp_path, "twelve") as tables:
        full = Position(0x555555, 0xAAAAAA)  # nobody can move, and a full board is a draw in this game
        assert tables.probe(full) == DRAW and tables.probe_many([full]).values() == [DRAW]


# ---------------------------------------------------------------- lines


def check_line(tables, position):
    variant = tables.variant
    value, steps = tables.probe(position), tables.line(position)
    for step in steps:
        assert step.turn in legal_turns(variant, position)
        assert (step.outcome, step.dtw_plies) == value
        position = play(variant, position, step.turn)
        assert step.position == position
        if value.dtw_plies is not None:
            value = Value(Outcome.LOSS if value.outcome is Outcome.WIN else Outcome.WIN, value.dtw_plies - 1)
        assert tables.probe(position) == value
    return steps


def test_lines_of_decided_positions_end_the_game(nine):
    for text in ("BB..W.../....W.../...W...B w 0,0", "WBWWBB../......../........ w 0,0", "BWBW.WB./......../........ w 0,0"):
        steps = check_line(nine, own(text))
        assert len(steps) == nine.probe(text).dtw_plies
        assert not legal_turns(NINE, steps[-1].position)


def test_lines_of_random_positions(six):
    for position in random_positions(SIX, 12, 12, 9, placing=True) + owed_positions(SIX, 10, 4):
        steps = check_line(six, position)
        depth = six.probe(position).dtw_plies
        if depth is None and steps and legal_turns(SIX, steps[-1].position):
            assert steps[-1].position in [position, *(step.position for step in steps[:-1])] or len(steps) == 300
        elif depth is not None:
            assert len(steps) == depth


def test_drawn_line_can_be_cut(six):
    assert len(six.line(start(SIX), limit=7)) == 7


# ---------------------------------------------------------------- missing tables and other errors


def test_missing_tables_are_unknown_and_named(nine, tmp_path):
    position = own("WWWW..../BBBB...B/........ w 0,0")
    with pytest.raises(MissingTableError, match="the table 4-5 of nine is missing") as error:
        nine.probe(position)
    assert isinstance(error.value, KeyError) and error.value.subspace == "4-5" and error.value.exit_code == 3
    assert nine.get(position) is None and nine.get(position, 7) == 7
    assert nine.value_or_unknown(position) == UNKNOWN
    ranked = nine.moves(position)
    # A capture leads to 4-4, which is there; everything else is unknown, and last.
    known = [t for t in ranked if t.outcome is not Outcome.UNKNOWN]
    assert known == ranked[: len(known)] and all(t.turn.captured is not None for t in known)
    with pytest.raises(MissingTableError):
        nine.line(position)
    with open_tables(tmp_path) as tables:
        assert {t.outcome for t in tables.moves(start(NINE))} == {Outcome.UNKNOWN}
        with pytest.raises(MissingTableError, match=r"0-0\+9-9"):
            tables.probe(start(NINE))


def test_a_line_stops_where_a_table_is_missing(small_tables, tmp_path):
    """Of a pair's two files only one is there: the value is known, the way to it is not."""
    folder = tmp_path / "nine"
    folder.mkdir()
    shutil.copy(small_tables / "nine" / "4-3.h5", folder)
    with open_tables(tmp_path) as tables:
        won = next(p for p in random_positions(NINE, 400, 7, 11) if tables.get(p, UNKNOWN).outcome is Outcome.WIN)
        with pytest.raises(MissingTableError, match="3-3"):
            tables.line(won)


def test_damage_is_reported_not_answered(small_tables, tmp_path):
    folder = tmp_path / "nine"
    folder.mkdir()
    for file in (small_tables / "nine").glob("*.h5"):
        raw = bytearray(file.read_bytes())
        middle = len(raw) // 2
        raw[middle : middle + 64] = bytes(64)
        (folder / file.name).write_bytes(raw)
    with open_tables(tmp_path) as damaged, open_tables(small_tables) as whole:
        n_refused = 0
        for position in random_positions(NINE, 40, 8, 12):
            try:
                assert damaged.probe(position) == whole.probe(position)
            except TableError as error:
                n_refused += 1
                assert "\n" not in str(error)
        assert n_refused


@pytest.mark.parametrize("ask", ["probe", "moves", "line", "get", "value_or_unknown"])
def test_bad_positions_are_refused(nine, ask):
    for bad in (Position(1, 1), Position(1 << 24, 14), Position(0b11111111111, 0b111 << 12), Position(7, 56, True, 1, 2), "", "d4"):
        with pytest.raises(InputError):
            getattr(nine, ask)(bad)
    with pytest.raises(InputError):
        nine.probe_many([Position(7, 56), Position(1, 1)])


# ---------------------------------------------------------------- many positions


def test_probe_many_is_probe(nine, six, tmp_path):
    mixed = random_positions(NINE, 200, 18, 13) + random_positions(NINE, 100, 8, 14) + random_positions(NINE, 100, 18, 15, True)
    mixed += owed_positions(NINE, 16, 20) + [own("WW....../BBB...../........ w 0,0")]
    random.Random(17).shuffle(mixed)
    answers = nine.probe_many(mixed)
    assert answers.values() == [nine.value_or_unknown(p) for p in mixed]
    assert {Outcome.UNKNOWN, Outcome.WIN, Outcome.DRAW, Outcome.LOSS} == {v.outcome for v in answers.values()}
    names = {error.subspace for error in answers.missing}
    assert all(nine.get(p) is not None or p.capture_owed or p.subspace.name in names for p in mixed)
    positions = random_positions(SIX, 300, 12, 18, True) + owed_positions(SIX, 19, 20)
    assert six.probe_many(positions).values() == [six.probe(p) for p in positions]
    assert six.probe_many(format_own_form(p, SIX) for p in positions).missing == ()
    assert nine.probe_many([]).values() == []


def test_probe_arrays_is_probe(six):
    positions = random_positions(SIX, 300, 12, 20, placing=True)
    answers = six.probe_arrays(*(np.array(column) for column in list(zip(*positions))[:5]))
    assert answers.values() == [six.probe(p) for p in positions]
    assert answers.outcomes.dtype == np.uint8 and answers.dtw_plies.dtype == np.int32
    white, black = np.array([7, 56]), np.array([56, 7])
    assert six.probe_arrays(white, black, True).values() == [six.probe(Position(7, 56)), six.probe(Position(56, 7))]
    assert six.probe_arrays(0, 0, True, 6, 6).values() == [DRAW]


@pytest.mark.parametrize(
    "arrays, reason",
    [
        (([7, 7], [56, 7], True), "position 1: the masks"),
        (([7], [1 << 16 | 6 << 3], True), "position 0: the masks"),
        (([7, 7, 7], [56, 56, 56], True, [0, 0, 1], [0, 0, 2]), "position 2: hands 1,2"),
        (([7, 127], [56, 7 << 8], True), "position 1: White has 7"),
        (([7], [56], True, 40, 40), "40 stones in hand"),
        (([7], [56], True, -1, 0), "-1 stones in hand"),
    ],
)
def test_bad_arrays_are_refused(six, arrays, reason):
    with pytest.raises(InputError, match=reason):
        six.probe_arrays(*map(np.array, arrays))


# ---------------------------------------------------------------- cache, threads, time


def test_cache_is_bounded(small_tables):
    with open_tables(small_tables, cache_bytes=1 << 17) as tables, open_tables(small_tables) as roomy:
        positions = random_positions(NINE, 300, 8, 21)
        assert tables.probe_many(positions).values() == [roomy.probe(p) for p in positions]
        assert [tables.probe(p) for p in positions] == [roomy.probe(p) for p in positions]
        assert tables._cache.size <= 1 << 17 < roomy._cache.size
        assert tables._cache.size == sum(chunk.nbytes for chunk in tables._cache._chunks.values())


def test_threads_share_a_table_set(small_tables):
    positions = random_positions(SIX, 150, 12, 22, placing=True)
    with open_tables(small_tables, "six") as tables:
        expected = tables.probe_many(positions).values()
    results = {}
    with open_tables(small_tables, "six", cache_bytes=1 << 16) as tables:

        def ask(number):
            order = random.Random(number).sample(range(len(positions)), len(positions))
            results[number] = sorted((i, tables.probe(positions[i])) for i in order)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 6 and all(found == list(enumerate(expected)) for found in results.values())


# ---------------------------------------------------------------- games


def test_annotation_finds_the_losing_turn(six):
    game = parse_moves("a5 e1 c5 a1 e5xe1", SIX)
    plies = annotate(six, game)
    assert [str(ply.after.outcome) for ply in plies] == ["draw", "draw", "draw", "loss", "win"]
    assert [ply.lost_outcome for ply in plies] == [False, False, False, True, False]
    assert first_losing_ply(plies, white=False) == 4 and first_losing_ply(plies, white=True) is None
    assert plies[4].before == Value(Outcome.WIN, plies[3].after.dtw_plies - 1)
    assert Turn(None, SIX.board.index_of["e5"]) in plies[3].best


def test_annotation_counts_lost_plies(nine):
    game = parse_moves('[FEN "BB..W.../....W.../...W...B w 0,0"] f2-g7', NINE)
    (ply,) = annotate(nine, game)
    assert (ply.before, ply.after, ply.lost_outcome, ply.lost_plies) == (Value(Outcome.WIN, 9), Value(Outcome.WIN, 17), False, 8)
    (ply,) = annotate(nine, parse_moves('[FEN "BB..W.../....W.../...W...B w 0,0"] e4-d3', NINE))
    assert ply.lost_outcome and ply.lost_plies is None and first_losing_ply([ply], white=True) == 1


def test_annotation_with_unknown_values(nine):
    plies = annotate(nine, parse_moves("d6 f4", NINE))
    assert not any(ply.is_known or ply.lost_outcome or ply.best for ply in plies)
    assert annotate(nine, parse_moves("", NINE)) == []


# ---------------------------------------------------------------- examples in the documentation


@pytest.mark.parametrize("module", [query, render])
def test_documentation_examples(module, small_tables):
    assert doctest.testmod(module, extraglobs={"folder": small_tables}).failed == 0


# ---------------------------------------------------------------- outcomes alone


def test_outcome_tables_answer_without_depths(outcome_tables, six):
    positions = random_positions(SIX, 200, 12, 21) + random_positions(SIX, 200, 12, 22, placing=True)
    with open_tables(outcome_tables, "six", metric=OUTCOME) as tables:
        answers = tables.probe_many(positions)
        for position, value in zip(positions, answers.values()):
            known = six.probe(position)
            assert value == tables.probe(position) and value.outcome is known.outcome
            assert value in (Value(known.outcome), LOST)
        for position in positions[::20]:
            ranked, deep = tables.moves(position), six.moves(position)
            assert [t.outcome for t in ranked] == [t.outcome for t in deep]
            assert {t.turn: t.outcome for t in ranked} == {t.turn: t.outcome for t in deep}
            assert {t.dtw_plies for t in ranked} <= {None, 1}
        for position in owed_positions(SIX, 8, 20):
            assert tables.probe(position).outcome is six.probe(position).outcome


def test_outcomes_stand_in_for_missing_depths(outcome_tables, small_tables, tmp_path, monkeypatch, six):
    monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path / "none")
    shutil.copytree(outcome_tables / "six.outcome", tmp_path / "six.outcome")
    deep_files = {"3-3", "5-3", "4-4", "6-4", "5-5"}
    (tmp_path / "six").mkdir()
    for name in deep_files:
        shutil.copy(small_tables / "six" / f"{name}.h5", tmp_path / "six")
    n_deep = 0
    with open_tables(tmp_path, "six") as tables:
        for position in random_positions(SIX, 300, 12, 23):
            value, known = tables.probe(position), six.probe(position)
            is_deep = solved_together(SIX, position.subspace)[0].name in deep_files
            assert value == known if is_deep else value in (Value(known.outcome), LOST)
            n_deep += is_deep
            deep_values = {turn.turn: turn.value for turn in six.moves(position)}
            for turn in tables.moves(position):
                deep = deep_values[turn.turn]
                assert turn.outcome is deep.outcome and turn.dtw_plies in (None, deep.dtw_plies)
            steps = tables.line(position, 60)
            assert all(step.outcome is (known if i % 2 == 0 else known.for_mover()).outcome for i, step in enumerate(steps))
        for position in owed_positions(SIX, 9, 60):
            value, known = tables.probe(position), six.probe(position)
            assert value.outcome is known.outcome and value.dtw_plies in (None, known.dtw_plies)
    assert 0 < n_deep < 300
