"""The plan of a whole game: every file counted once, rates applied as they are stated, finished files left out."""

import pytest
from published import rows

from solver.build import Builder, all_targets
from solver.conversions import shape_of
from solver.planning import Rates, is_retrograde, plan_build, plan_lines
from solver.stats import game_files
from solver.subspace import Subspace, moving_pairs, placing_subspaces
from solver.variant import get_variant


def published_positions(variant, phase):
    found = [
        r["canonical_positions"]
        for r in rows("totals")
        if (r["variant"], r["phase"], r["what"]) == (variant, phase, "positions")
    ]
    return found[0]


@pytest.mark.parametrize("name", ["nine", "ten", "eleven"])
def test_positions_of_the_moving_phase_are_those_published(name):
    plan = plan_build(get_variant(name), 2, all_targets(get_variant(name)))
    assert plan.parts[0].positions == published_positions(name, "moving")
    # Published are all splits of the stones; a plan has those that can arise from the empty board.
    assert 0.99 < plan.parts[1].positions / published_positions(name, "placement") <= 1


def test_lasker_has_passes_only_and_both_rates_while_placing():
    lasker = get_variant("lasker")
    plan = plan_build(lasker, 2, all_targets(lasker))
    assert [part.name for part in plan.parts] == ["moving (retrograde)", "placing, with slides (retrograde)"]
    assert 0.99 < plan.positions / published_positions("lasker", "both") <= 1
    assert all(is_retrograde(lasker, file) for file in all_targets(lasker))


def test_a_build_announces_what_the_estimate_says_and_a_cluster_goes_by_the_same(tmp_path):
    lasker = get_variant("lasker-nine")
    files = placing_subspaces(lasker)[:10]
    whole = plan_build(lasker, 2, files)
    builder = Builder(lasker, tmp_path, 2, memory=1 << 40)
    assert builder.check_resources(files) == whole
    builder.close()
    assert sum(plan_build(lasker, 2, [file]).seconds for file in files) == pytest.approx(whole.seconds)


def test_seconds_disk_and_memory_follow_from_the_rates():
    nine = get_variant("nine")
    pair, placing = Subspace(5, 4), Subspace(5, 5, 1, 0)
    rates = Rates(retrograde=1e6, acyclic=2e6, depth_bits=4, outcome_bits=1)
    plan = plan_build(nine, 4, [pair, placing], rates=rates)
    moving, gathering = plan.parts
    slots = [shape_of(nine, *s[:2]).size for s in (pair, placing)]
    assert moving.seconds == pytest.approx(2 * slots[0] / 1e6 / 4)
    assert gathering.seconds == pytest.approx(slots[1] / 2e6 / 4)
    assert plan.seconds == moving.seconds + gathering.seconds
    assert (moving.disk, moving.outcome_disk) == (slots[0], slots[0] // 4)  # both sides, at 4 bits and at 1
    assert plan.memory(2) > plan.memory(1) == max(moving.memory[1], gathering.memory[1])
    lasker = plan_build(get_variant("lasker"), 4, [placing], rates=rates)
    assert lasker.seconds == pytest.approx(2 * slots[1] * (1 / 1e6 + 1 / 2e6) / 4)


def test_finished_files_are_left_out(nine_store):
    nine = nine_store.variant
    plan = plan_build(nine, 2, moving_pairs(nine), nine_store)
    assert (plan.files, plan.finished) == (28, len(game_files(nine_store)))
    assert plan.parts[0].files == plan.files - plan.finished
    there = plan_build(nine, 2, game_files(nine_store), nine_store)
    assert plan_lines(there)[-1] == f"all {plan.finished} files are there"


def test_the_text_names_every_number_it_rests_on():
    nine = get_variant("nine")
    plan = plan_build(nine, 2, all_targets(nine), rates=Rates(11e6, 30e6, 3.1, 0.65))
    text = "\n".join(plan_lines(plan))
    assert "26,743,107,774 positions in 297 of 297 files" in text
    for part in (
        "moving (retrograde)",
        "placing (acyclic)",
        "2 workers",
        "11 million",
        "30 million",
        "3.1 bits",
        "0.65",
        "hours",
    ):
        assert part in text
    assert not any(line != line.rstrip() or len(line) > 130 for line in text.splitlines())
