"""Variants: the rules of each game as the project's documents have them, and the fingerprint."""

import pytest

from solver.errors import InputError
from solver.variant import KNOWN, VARIANTS, Variant, as_named, get_variant

NINE = get_variant("nine")

#: board, stones, fly_at, capture_in_mills, place_and_slide, full_board
RULES = {
    "nine": ("ring3", 9, 3, "any", False, "loss"),
    "nine-nofly": ("ring3", 9, 0, "any", False, "loss"),
    "nine-strict": ("ring3", 9, 3, "none", False, "loss"),
    "lasker": ("ring3", 10, 3, "any", True, "loss"),
    "lasker-nine": ("ring3", 9, 3, "any", True, "loss"),
    "morabaraba": ("ring3-diagonal", 12, 3, "any", False, "draw"),
    "twelve": ("ring3-diagonal", 12, 0, "any", False, "draw"),
    "ten": ("ring3", 10, 3, "any", False, "loss"),
    "eleven": ("ring3-diagonal", 11, 3, "any", False, "draw"),
    "six": ("ring2", 6, 0, "any", False, "loss"),
    "six-fly": ("ring2", 6, 3, "any", False, "loss"),
    "five": ("ring2", 5, 0, "any", False, "loss"),
    "four": ("ring2", 4, 0, "any", False, "loss"),
    "three": ("grid3", 3, 0, "any", False, "loss"),
}


def test_all_games_have_their_rules():
    fields = ("board_name", "stones", "fly_at", "capture_in_mills", "place_and_slide", "full_board")
    assert {name: tuple(getattr(variant, f) for f in fields) for name, variant in VARIANTS.items()} == RULES
    assert all(variant.name == name and variant.summary for name, variant in VARIANTS.items())


def test_flying_takes_exactly_three_stones():
    assert [n for n in range(3, 10) if NINE.can_fly(n)] == [3]
    assert not any(get_variant("nine-nofly").can_fly(n) for n in range(3, 10))


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(InputError) as error:
        get_variant("Nine")
    assert all(name in str(error.value) for name in VARIANTS)
    assert "\n" not in str(error.value)


def test_no_two_games_share_a_fingerprint():
    assert len({variant.fingerprint for variant in VARIANTS.values()}) == len(VARIANTS)


def test_fingerprints_stay():
    # They stand in tables; one that changes makes every table of that game useless.
    assert NINE.fingerprint == "985415ab1694fee4"
    assert get_variant("six").fingerprint == "ca6993ac688a2737"


@pytest.mark.parametrize(
    "changes",
    [{"board_name": "ring3-diagonal"}, {"stones": 8}, {"fly_at": 0}, {"fly_at": 4}, {"capture_in_mills": "none"},
     {"place_and_slide": True}, {"full_board": "draw"}],
    ids=str,
)  # fmt: skip
def test_each_rule_changes_the_fingerprint_and_the_name(changes):
    changed = NINE.with_overrides(**changes)
    assert changed.fingerprint != NINE.fingerprint
    (field, value) = next(iter(changes.items()))
    assert changed.name == f"nine,{field}={value}"


def test_names_do_not_change_the_fingerprint():
    six, five = get_variant("six"), get_variant("five")
    assert six.with_overrides(stones=5).fingerprint == five.fingerprint
    assert six.with_overrides(stones=5).name != five.name


def test_rules_that_have_a_name_are_found_under_it():
    assert as_named(NINE.with_overrides(fly_at=0)) is get_variant("nine-nofly")
    assert as_named(NINE.with_overrides(stones=9)) is NINE
    unnamed = NINE.with_overrides(stones=8)
    assert as_named(unnamed) is unnamed


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"stones": 2}, "3"),
        ({"stones": 13}, "24 points"),
        ({"board_name": "ring9"}, "ring2"),
        ({"fly_at": 2}, "fly"),
        ({"capture_in_mills": "all"}, "any"),
        ({"full_board": "win"}, "loss"),
        ({"colour": "red"}, "colour"),
        ({"name": "mine"}, "name"),
        ({"summary": "mine"}, "summary"),
    ],
    ids=str,
)
def test_rules_that_make_no_game_are_refused(changes, word):
    with pytest.raises(InputError, match=word):
        NINE.with_overrides(**changes)


def test_a_variant_is_plain_data():
    six = get_variant("six")
    assert Variant("six", six.summary, "ring2", 6, fly_at=0) == six
    assert set(NINE.rules()) == {
        "board", "edges", "mills", "stones", "fly_at", "capture_in_mills", "place_and_slide", "full_board",
    }  # fmt: skip


def test_options_mean_the_game_on_a_command_line():
    assert NINE.options == " -V nine"
    assert NINE.with_overrides(stones=8, place_and_slide=True).options == " -V nine --set place_and_slide=True --set stones=8"


def test_what_is_known_is_told_of_that_game_only():
    assert set(KNOWN) <= set(VARIANTS)
    nine = get_variant("nine")
    assert nine.known.startswith("draw")
    assert nine.with_overrides(stones=8).known == "unknown"
