"""The oracle against what is published, and against itself by other ways."""

import random
from collections import Counter
from dataclasses import asdict
from functools import cache

import oracle
import published
import pytest
from oracle import Position, Rules, legal_turns, read

NINE = Rules()
VARIANTS = {
    "nine": NINE,
    "nine-nofly": Rules(fly_at=0),
    "nine-strict": Rules(capture_in_mills="never"),
    "three": Rules("grid3", stones=3, fly_at=0),
}
PUBLISHED_POSITIONS = published.rows("positions_nine")


# ---------------------------------------------------------------------------------------- boards


@pytest.mark.parametrize(
    "name, points, edges, mills, symmetries",
    [("ring3", 24, 32, 16, 16), ("ring3-diagonal", 24, 40, 20, 16), ("ring2", 16, 20, 8, 16), ("grid3", 9, 16, 8, 8)],
)
def test_boards_have_their_sizes(name, points, edges, mills, symmetries):
    board = oracle.BOARDS[name]
    assert (len(board.points), len(board.edges), len(board.mills)) == (points, edges, mills)
    assert len(set(board.points)) == points
    assert len(oracle.symmetries(board)) == symmetries


def test_standard_board():
    board = oracle.BOARDS["ring3"]
    n_neighbours = Counter(sum(point in edge for edge in board.edges) for point in board.points)
    assert n_neighbours == {2: 12, 3: 8, 4: 4}
    assert all(sum(point in mill for mill in board.mills) == 2 for point in board.points)


def test_a_stone_between_two_neighbours_can_run_a_mill_in_32_places():
    board = oracle.BOARDS["ring3"]
    running = {
        edge
        for edge in board.edges
        for here, there in [sorted(edge)]
        for mill in board.mills
        for other in board.mills
        if here in mill and there in other and not mill & other
    }
    assert len(running) == 32


def cycle_lengths(image):
    """Lengths of the cycles in which a map of the points moves them."""
    lengths, seen = [], set()
    for point in image:
        if point not in seen:
            length = 0
            while point not in seen:
                seen.add(point)
                point = image[point]
                length += 1
            lengths.append(length)
    return tuple(sorted(lengths))


@cache
def n_fixed(cycles):
    """For (own, opponent) stones: arrangements in which every cycle is of one colour."""
    counts = Counter({(0, 0): 1})
    for length in cycles:
        longer = Counter()
        for (own, opponent), count in counts.items():
            for after in ((own, opponent), (own + length, opponent), (own, opponent + length)):
                longer[after] += count
        counts = longer
    return counts


@cache
def n_canonical(board, own, opponent):
    """Arrangements distinct under symmetry, by Burnside's lemma."""
    maps = oracle.symmetries(oracle.BOARDS[board])
    total = sum(n_fixed(cycle_lengths(image))[own, opponent] for image in maps)
    assert total % len(maps) == 0
    return total // len(maps)


@pytest.mark.parametrize("file", ["subspaces_nine", "subspaces_variants", "placement_nine"])
def test_published_counts_add_up(file):
    for row in published.rows(file):
        total = row["wins"] + row["losses"] + row["draws"]
        assert total == n_canonical("ring3", row["own"], row["opponent"])


@pytest.mark.parametrize(
    "variant, board, stones",
    [("nine", "ring3", 9), ("ten", "ring3", 10), ("eleven", "ring3-diagonal", 11), ("twelve", "ring3-diagonal", 12)],
)
def test_published_totals_add_up(variant, board, stones):
    total = {
        (row["variant"], row["phase"], row["what"]): row["canonical_positions"] for row in published.rows("totals")
    }
    on_board = range(3, stones + 1)
    moving = sum(n_canonical(board, own, opponent) for own in on_board for opponent in on_board)
    placement = sum(
        n_canonical(board, own, opponent)
        for hand in range(1, stones + 1)
        for other_hand in (hand, hand - 1)
        for own in range(stones - hand + 1)
        for opponent in range(stones - other_hand + 1)
    )
    assert moving == total[variant, "moving", "positions"]
    assert placement == total[variant, "placement", "positions"]
    if variant == "nine":
        assert moving == sum(total["nine", "moving", what] for what in ("wins", "losses", "draws"))


# ----------------------------------------------------------------------------------------- rules


def turns_of(rules, text):
    return legal_turns(rules, read(rules, text))


def test_text_form_names_the_colours():
    position = Position(frozenset({"d6"}), frozenset({"a1", "d1"}), 8, 7)
    assert oracle.write(NINE, position, "b") == ".....WW./.B....../........ b 7,8"
    assert read(NINE, ".....WW./.B....../........ b 7,8") == position
    assert read(NINE, "......../......../........ w 9,9") == oracle.start(NINE)


def test_a_closed_mill_takes_one_stone_outside_mills():
    # d7 closes two mills at once; a1-a4-b4 hold no mill.
    text = "W.W...BB/.W.....B/.W...... w 4,6"
    assert [turn for turn in turns_of(NINE, text) if turn.startswith("d7")] == ["d7xa1", "d7xa4", "d7xb4"]


STONES_ALL_IN_MILLS = "..BBBBB./W......./WW.W.... w 0,0"


def test_stones_in_mills_are_taken_only_when_there_are_no_others():
    assert "e4-e5xg7" in turns_of(NINE, STONES_ALL_IN_MILLS)
    strict = turns_of(VARIANTS["nine-strict"], STONES_ALL_IN_MILLS)
    assert "e4-e5" in strict and not any("x" in turn for turn in strict)


@pytest.mark.parametrize(
    "text, n_turns",
    [
        ("WW..W.../......../BBBB.... w 0,0", 3 * 17),  # three stones, to every free point
        ("WW..W.../......../BBBB.... b 0,0", 4),  # each side is judged alone: four stones slide
        ("WW..W.../......../BBBB.... w 1,0", 17),  # while a stone is in hand it is placed; on g7 it can take e4 alone
    ],
)
def test_three_stones_fly_when_the_hand_is_empty(text, n_turns):
    assert len(turns_of(NINE, text)) == n_turns


def test_slides_while_placing():
    text = "W......./......../..B..... w 9,9"
    lasker = Rules(stones=10, place_and_slide=True)
    assert set(turns_of(lasker, text)) == set(turns_of(NINE, text)) | {"a7-d7", "a7-a4"}
    assert oracle.play(lasker, read(lasker, text), "a7-d7").opponent_hand == 9
    assert oracle.play(lasker, read(lasker, text), "d7").opponent_hand == 8


def test_placements_that_take_nothing():
    placing_only = Rules(captures_while_placing=False)
    text = "WW....../......../B.B..... w 7,7"
    assert "g7" in turns_of(placing_only, text) and "g7xc5" in turns_of(NINE, text)
    text = "WW.W..../......../BB.B.... w 0,0"
    assert "g4-g7xc5" in turns_of(placing_only, text)


def test_a_full_board():
    text = "WBWBWBWB/BWBWBWBW/WBWBWBWB w 0,0"
    for outcome in ("loss", "draw"):
        rules = Rules("ring3-diagonal", stones=12, full_board=outcome)
        position = read(rules, text)
        assert legal_turns(rules, position) == []
        assert oracle.solve(rules, [position])[position].outcome == outcome


def test_the_diagonals_make_mills():
    rules = Rules("ring3-diagonal", stones=12)
    assert "a1xd7" in turns_of(rules, ".B....../......W./......W. w 10,11")


def test_a_finished_game_has_no_turns():
    two_left = read(NINE, "WW....../......../BBB..... w 0,0")
    assert legal_turns(NINE, two_left) == []
    with pytest.raises(ValueError, match="lost already"):
        legal_turns(NINE, two_left._replace(own=two_left.opponent, opponent=two_left.own))
    with pytest.raises(ValueError, match="not a legal turn"):
        oracle.play(NINE, oracle.start(NINE), "a2")


@pytest.mark.parametrize("row", PUBLISHED_POSITIONS, ids=lambda row: row["position"])
def test_published_turns(row):
    turns = turns_of(NINE, row["position"])
    assert row["legal_turns"] in (None, len(turns))
    assert set((row["best_turns"] or "").split()) <= set(turns)
    assert (row["dtw_plies"] == 0) == (not turns)


@pytest.mark.parametrize(
    "turns, text",
    [
        ("a4", ".......W/......../........ b 8,9"),
        ("a1 d6 d1", ".....WW./.B....../........ b 7,8"),
        ("d6 f4 b4 g4 e4 f6", "...B..../.WBB...W/...W.... w 6,6"),
    ],
)
def test_play_leads_to_published_positions(turns, text):
    position = oracle.start(NINE)
    for turn in turns.split():
        position = oracle.play(NINE, position, turn)
    assert position == read(NINE, text)


# ------------------------------------------------------------------------------------- solutions


def in_subspace(own, opponent):
    return lambda p: (len(p.own), len(p.opponent), p.own_hand, p.opponent_hand) == (own, opponent, 0, 0)


@pytest.mark.parametrize(
    "variant, own, opponent",
    [
        ("nine", 3, 3),
        ("nine-nofly", 3, 3),
        pytest.param("nine-strict", 3, 3, marks=pytest.mark.slow),
        pytest.param("nine-nofly", 4, 3, marks=pytest.mark.slow),
        pytest.param("nine", 4, 3, marks=pytest.mark.slow),
        pytest.param("nine-strict", 4, 3, marks=pytest.mark.slow),
    ],
)
def test_published_subspaces(variant, own, opponent):
    solution = oracle.solve_subspace_closure(VARIANTS[variant], own, opponent)
    table = published.rows("subspaces_nine" if variant == "nine" else "subspaces_variants")
    expected = {(row["own"], row["opponent"]): row for row in table if row.get("variant", variant) == variant}
    for stones in {(own, opponent), (opponent, own)}:
        assert asdict(oracle.tally(solution, in_subspace(*stones))).items() <= expected[stones].items()


def test_published_raw_counts():
    solution = oracle.solve_subspace_closure(NINE, 3, 3)
    (row,) = [row for row in published.rows("subspaces_raw_nine") if row["own"] == row["opponent"] == 3]
    tally = oracle.tally(solution, in_subspace(3, 3), raw=True)
    assert (tally.wins, tally.losses, tally.draws) == (row["wins"], row["losses"], row["draws"])


@pytest.mark.parametrize(
    "own, opponent", [(3, 3), pytest.param(4, 3, marks=pytest.mark.slow)], ids=["3-3", "4-3 and 3-4"]
)
def test_published_positions(own, opponent):
    solution = oracle.solve_subspace_closure(NINE, own, opponent)
    n_found = 0
    for row in PUBLISHED_POSITIONS:
        position = read(NINE, row["position"])
        if position in solution:
            n_found += 1
            assert solution[position] == (row["outcome"], row["dtw_plies"])
            if row["best_turns"]:
                assert solution.best_turns(position) == row["best_turns"].split()
    assert n_found >= 7


def short_wins():
    """Those within reach of looking ahead; where both sides fly there are too many turns."""
    for row in PUBLISHED_POSITIONS:
        position = read(NINE, row["position"])
        if row["outcome"] == "win" and row["dtw_plies"] <= 9 and len(position.own) + len(position.opponent) > 6:
            marks = pytest.mark.slow if row["dtw_plies"] > 5 else []
            yield pytest.param(position, row["dtw_plies"], id=row["position"], marks=marks)


@pytest.mark.parametrize("position, plies", list(short_wins()))
def test_published_short_wins(position, plies):
    assert oracle.wins_within(NINE, position, plies)
    assert not oracle.wins_within(NINE, position, plies - 2)


def small_game(row):
    words = row["rules"].split("+")
    return Rules(
        board={16: "ring2", 24: "ring3"}[row["board_points"]],
        stones=row["stones_each"],
        fly_at=3 if "fly" in words else 0,
        capture_in_mills="never" if "strict" in words else "when_all",
    )


def small_game_cases():
    """All but one, which has 165 million positions; the quick ones are run by default."""
    for row in published.rows("small_games"):
        name = f"{row['board_points']}-{row['stones_each']}-{row['rules']}"
        if row["reachable_raw"] < 100_000_000:
            is_quick = name in ("16-4-nofly", "16-4-fly")
            yield pytest.param(row, id=name, marks=[] if is_quick else pytest.mark.slow)


@pytest.mark.parametrize("row", list(small_game_cases()))
def test_published_small_games(row):
    rules = small_game(row)
    solution = oracle.solve_game(rules)
    counts = Counter()
    for (_, value, orbit_size), n_colours in zip(solution, solution.n_colours()):
        counts[value.outcome] += orbit_size * n_colours
    assert counts.total() == row["reachable_raw"]
    assert (counts["win"], counts["draw"], counts["loss"]) == (row["wins"], row["draws"], row["losses"])
    assert solution[oracle.start(rules)] == (row["empty_board"], row["plies"])


def test_three_mens_morris():
    rules = VARIANTS["three"]
    solution = oracle.solve_game(rules)
    (game,) = [row for row in published.rows("empty_board") if row["variant"] == "three"]
    assert solution[oracle.start(rules)].outcome == game["outcome"]
    # The value is for the one who placed, the solution's for the one who answers.
    seen_by_other = {"win": "loss", "draw": "draw", "loss": "win"}
    for row in published.rows("first_turns"):
        if row["variant"] == "three":
            for turn in row["turns"].split():
                after = oracle.play(rules, oracle.start(rules), turn)
                assert solution[after].outcome == seen_by_other[row["outcome"]]


@pytest.mark.parametrize("plies", [1, 2, 3, 4, 5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_perft(plies):
    (row,) = [row for row in published.rows("perft_nine") if row["plies"] == plies]
    assert oracle.perft(NINE, plies) == row["turns"]


@pytest.mark.parametrize("plies", [5, pytest.param(8, marks=pytest.mark.slow)])
def test_reachable_positions(plies):
    expected = [row["canonical_positions"] for row in published.rows("reachable_nine")]
    assert [len(layer) for layer in oracle.reachable(NINE, plies)] == expected[: plies + 1]


# ------------------------------------------------------------------------------ by another way


def test_perft_without_symmetry():
    def count(position, plies):
        return 1 if plies == 0 else sum(count(after, plies - 1) for _, after in oracle.successors(NINE, position))

    assert [count(oracle.start(NINE), plies) for plies in range(4)] == [1, 24, 552, 12144]
    assert oracle.perft(NINE, 4, symmetric=False) == oracle.perft(NINE, 4)


@pytest.mark.parametrize(
    "rules",
    [Rules("grid3", stones=3, fly_at=0), Rules("grid3", stones=4), Rules("grid3", stones=4, place_and_slide=True)],
    ids=["three", "four on nine points", "four on nine points, sliding early"],
)
def test_symmetry_changes_nothing(rules):
    reduced, full = oracle.solve_game(rules), oracle.solve_game(rules, symmetric=False)
    assert sum(orbit_size for _, _, orbit_size in reduced) == len(full)
    assert all(reduced[position] == value for position, value, _ in full)


@pytest.mark.parametrize(
    "rules",
    [
        Rules("ring2", stones=3),
        Rules("ring2", stones=3, fly_at=0, place_and_slide=True),
        Rules("ring2", stones=3, fly_at=0, captures_while_placing=False),
        Rules("grid3", stones=5, fly_at=0, full_board="draw"),
    ],
    ids=["flying", "sliding early", "late captures", "full board draws"],
)
def test_depths_agree_with_looking_ahead(rules):
    solution = oracle.solve_game(rules)
    entries = random.Random(7).sample(list(solution), 200)
    for position, (outcome, dtw), _ in entries:
        if oracle.has_lost(position.own, position.own_hand):
            assert (outcome, dtw) == ("loss", 0)
        for plies in range(4):
            ends = dtw is not None and dtw <= plies
            assert oracle.wins_within(rules, position, plies) == (ends and outcome == "win")
            assert oracle.loses_within(rules, position, plies) == (ends and outcome == "loss")
