"""Building: order, what is kept, what is cleaned up, who may build, and what the machine must have."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from conftest import build_tables, contents, tables_of

from solver import build as build_module
from solver.build import (
    Builder, Progress, all_targets, available_memory, build_lock, moving_targets, plan,
)  # fmt: skip
from solver.errors import DepthOverflowError, InputError, MorrisError, ResourceError
from solver.header import HEADER_SIZE, check_file
from solver.planning import memory_needed, plan_build
from solver.store import TableStore
from solver.subspace import Subspace, count_canonical, dependencies, moving_pairs, parse_subspace, placing_subspaces, solved_together, start_subspace
from solver.values import DTYPES, code_of_depth, decode
from solver.variant import VARIANTS, get_variant
from solver.wholefile import UNFINISHED

NINE, SIX, THREE = map(get_variant, ("nine", "six", "three"))
SMALL = SIX.with_overrides(stones=4)


def file_names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


# ---------------------------------------------------------------- plan


@pytest.mark.parametrize(
    "target, names",
    [
        ("3-3", "3-3"),
        ("4-5", "3-3 4-3 4-4 5-3 5-4"),
        ("6-3", "3-3 4-3 5-3 6-3"),
        ("4-4", "3-3 4-3 4-4"),
    ],
)
def test_plan_of_one_pair(tmp_path, target, names):
    files = plan(NINE, TableStore(tmp_path, NINE), [parse_subspace(target, NINE)])
    assert sorted(s.name for s in files) == names.split()
    assert files[-1] == solved_together(NINE, parse_subspace(target, NINE))[0]


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_plan_of_a_whole_game(tmp_path, variant):
    files = plan(variant, TableStore(tmp_path, variant, with_shipped=False), all_targets(variant))
    assert len(files) == len(set(files))
    done = set()
    for file in files:
        assert set(dependencies(variant, file)) <= done
        done.add(file)
    assert set(files) == set(all_targets(variant))  # nothing is built that no list names
    assert start_subspace(variant) in tables_of(variant, files)


def test_plan_leaves_out_what_is_there(small_tables):
    store = TableStore(small_tables, NINE)
    assert plan(NINE, store, moving_targets(NINE, 8)) == []
    assert [s.name for s in plan(NINE, store, [Subspace(4, 5), Subspace(6, 3)])] == ["5-4", "6-3"]
    assert plan(SIX, TableStore(small_tables, SIX, with_shipped=False), all_targets(SIX)) == []


def test_moving_targets():
    assert [s.name for s in moving_targets(NINE, 8)] == ["3-3", "4-3", "4-4", "5-3"]
    assert len(moving_targets(NINE)) == len(moving_pairs(NINE)) == 28
    assert len(tables_of(NINE, moving_targets(NINE))) == 49
    assert sum(count_canonical(NINE, s) for s in tables_of(NINE, moving_targets(NINE))) == 8_904_593_601


# ---------------------------------------------------------------- what is kept


def test_finished_files_are_kept(tmp_path):
    build_tables(tmp_path, SMALL, moving_targets(SMALL, 7))
    folder = tmp_path / SMALL.name
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.h5")}
    assert set(before) == {"3-3.h5", "4-3.h5"}
    build_tables(tmp_path, SMALL, moving_targets(SMALL))
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.h5")}
    assert set(after) == {"3-3.h5", "4-3.h5", "4-4.h5"}
    assert {name: after[name] for name in before} == before
    # A list made before another build had finished names what is there by now.
    builder = Builder(SMALL, tmp_path, 1)
    builder.build(moving_targets(SMALL))
    builder.close()
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.h5")} == after


def test_leftovers_are_removed_and_no_half_written_file_counts(tmp_path):
    folder = tmp_path / THREE.name
    folder.mkdir()
    for name in ("3-3.h5", "nonsense.h5"):
        (folder / (name + UNFINISHED)).write_bytes(b"half a table")
    assert not TableStore(tmp_path, THREE, with_shipped=False).has(Subspace(3, 3))
    build_tables(tmp_path, THREE, all_targets(THREE))
    assert file_names(folder) == sorted(f"{s.name}.h5" for s in all_targets(THREE))
    for path in folder.glob("*.h5"):
        check_file(path)


class StopAt(Progress):
    """Interrupts a build, as Ctrl-C would, at its n-th message."""

    def __init__(self, n):
        self.left = n

    def begin(self, subspace, positions):
        self._count()

    def share(self, share):
        self._count()

    def _count(self):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("n", [1, 2, 5, 12, 30])
def test_an_interrupted_build_goes_on_to_the_same_bytes(tmp_path, n):
    build_tables(tmp_path / "whole", SMALL, all_targets(SMALL))
    whole = contents(tmp_path / "whole" / SMALL.name)
    builder = Builder(SMALL, tmp_path / "parts", 2)
    with pytest.raises(KeyboardInterrupt):
        builder.build(plan(SMALL, builder.store, all_targets(SMALL)), StopAt(n))
    builder.close()
    parts = tmp_path / "parts" / SMALL.name
    for path in parts.glob("*.h5"):
        check_file(path)
    assert not list(parts.glob("*" + UNFINISHED))
    assert len(contents(parts)) < len(whole)
    build_tables(tmp_path / "parts", SMALL, all_targets(SMALL))
    assert contents(parts) == whole


def test_progress_tells_of_every_file(tmp_path):
    told = []

    class Listen(Progress):
        def begin(self, subspace, positions):
            told.append(("begin", subspace, positions))

        def share(self, share):
            assert 0 <= share <= 1

        def done(self, subspace, positions, seconds):
            assert seconds >= 0
            told.append(("done", subspace, positions))

    builder = Builder(THREE, tmp_path, 1)
    files = plan(THREE, builder.store, all_targets(THREE))
    builder.build(files, Listen())
    builder.close()
    positions = [sum(count_canonical(THREE, s) for s in solved_together(THREE, file)) for file in files]
    assert told == [(what, file, n) for file, n in zip(files, positions) for what in ("begin", "done")]
    assert sum(positions) == plan_build(THREE, 1, files).positions


# ---------------------------------------------------------------- taken over


@pytest.fixture
def solved(monkeypatch):
    """Names of the files that a pass has solved from now on."""
    names, solve = [], build_module.solve_together

    def noted(variant, file, *args):
        names.append(file.name)
        return solve(variant, file, *args)

    monkeypatch.setattr(build_module, "solve_together", noted)
    return names


def test_a_relatives_moving_tables_are_taken_over(tmp_path, solved):
    five = get_variant("five")
    build_tables(tmp_path / "alone", five, moving_targets(five))
    assert solved == [s.name for s in moving_pairs(five)]
    solved.clear()
    build_tables(tmp_path, SIX, moving_targets(SIX, 9))
    assert "6-3" in solved and "5-5" not in solved
    solved.clear()
    build_tables(tmp_path, five, moving_targets(five))
    assert solved == ["5-5"]
    assert contents(tmp_path / "five") == contents(tmp_path / "alone" / "five")


def test_a_relatives_placing_tables_are_taken_over(tmp_path, solved):
    four, five = get_variant("four"), get_variant("five")
    build_tables(tmp_path / "alone", five, all_targets(five))
    build_tables(tmp_path, four, all_targets(four))
    solved.clear()
    build_tables(tmp_path, five, all_targets(five))
    assert sorted(solved) == sorted(s.name for s in set(all_targets(five)) - set(all_targets(four)))
    assert "4-4+1-1" in solved and "3-3+1-1" not in solved
    assert contents(tmp_path / "five") == contents(tmp_path / "alone" / "five")


@pytest.mark.parametrize("changes", [{"fly_at": 3}, {"capture_in_mills": "none"}])
def test_tables_of_other_rules_are_not_taken_over(tmp_path, solved, changes):
    build_tables(tmp_path, SIX, [Subspace(3, 3)])
    other = SIX.with_overrides(stones=4, **changes)
    build_tables(tmp_path, other, [Subspace(3, 3)])
    assert solved == ["3-3", "3-3"]


def test_placing_tables_of_other_rules_are_not_taken_over(tmp_path, solved):
    build_tables(tmp_path, THREE, all_targets(THREE))
    solved.clear()
    build_tables(tmp_path, THREE.with_overrides(place_and_slide=True), all_targets(THREE))
    assert sorted(solved) == sorted(s.name for s in placing_subspaces(THREE.with_overrides(place_and_slide=True)))


def test_a_damaged_relative_is_not_taken_over(tmp_path, solved):
    build_tables(tmp_path, SIX, [Subspace(3, 3)])
    path = tmp_path / "six" / "3-3.h5"
    store = TableStore(tmp_path, SIX, with_shipped=False)
    place = store.table(Subspace(3, 3))._values.id.get_chunk_info(0)
    store.close()
    content = bytearray(path.read_bytes())
    content[HEADER_SIZE + place.byte_offset + place.size // 2] ^= 255
    path.write_bytes(content)
    build_tables(tmp_path, SMALL, [Subspace(3, 3)])
    assert solved == ["3-3", "3-3"]
    check_file(tmp_path / SMALL.name / "3-3.h5")


# ---------------------------------------------------------------- lock


def test_a_second_build_is_refused_and_says_who_is_at_work(tmp_path):
    with build_lock(tmp_path / "three"):
        builder = Builder(THREE, tmp_path, 1)
        with pytest.raises(ResourceError) as error:
            builder.build(plan(THREE, builder.store, all_targets(THREE)))
        builder.close()
    assert f"process {os.getpid()}" in str(error.value) and str(tmp_path / "three") in str(error.value)
    assert file_names(tmp_path / "three") == []
    build_tables(tmp_path, THREE, all_targets(THREE))  # the lock is free again


def test_the_lock_of_another_process_holds_and_goes_with_it(tmp_path):
    code = (
        "import sys, pathlib; from solver.build import build_lock\n"
        "with build_lock(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=os.path.dirname(os.path.dirname(build_module.__file__)),
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ResourceError, match=f"process {holder.pid}"), build_lock(tmp_path):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with build_lock(tmp_path):  # a killed process leaves none behind
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_readers_work_while_a_build_holds_the_lock(tmp_path):
    build_tables(tmp_path, THREE, all_targets(THREE))
    with build_lock(tmp_path / "three"):
        assert TableStore(tmp_path, THREE).table(Subspace(3, 3)).read().size


# ---------------------------------------------------------------- what the machine must have


def check(variant, folder, targets, **limits):
    builder = Builder(variant, folder, 1, **limits)
    try:
        return builder.check_resources(plan(variant, builder.store, targets))
    finally:
        builder.close()


def test_too_little_memory_is_told_before(tmp_path):
    needed = plan_build(NINE, 1, moving_targets(NINE)).memory()
    with pytest.raises(ResourceError, match="GiB of memory are needed where 1.0 GiB are allowed"):
        check(NINE, tmp_path, moving_targets(NINE), memory=1 << 30)
    assert check(NINE, tmp_path, [Subspace(3, 3)], memory=1 << 30).memory() <= 1 << 30
    assert needed > memory_needed(NINE, Subspace(8, 8)) > memory_needed(NINE, Subspace(4, 4))
    assert check(NINE, tmp_path, moving_targets(NINE), memory=needed).memory() == needed
    with pytest.raises(ResourceError):
        check(NINE, tmp_path, moving_targets(NINE), memory=needed - 1)
    assert not list(tmp_path.iterdir())


def test_memory_that_the_machine_has_counts_by_default(tmp_path, monkeypatch):
    assert available_memory() is None or available_memory() > 1 << 20
    monkeypatch.setattr(build_module, "available_memory", lambda: 1 << 20)
    with pytest.raises(ResourceError, match="allowed or free"):
        check(NINE, tmp_path, [Subspace(3, 3)])
    monkeypatch.setattr(build_module, "available_memory", lambda: None)  # a system that does not tell
    assert check(NINE, tmp_path, moving_targets(NINE)).positions == 8_904_593_601


def test_the_whole_moving_phase_fits_a_laptop(tmp_path):
    need = check(NINE, tmp_path, moving_targets(NINE), memory=6 << 30)
    assert need.memory() <= 6 << 30 and 1e9 < need.disk < 4e9


def test_too_little_disk_is_told_before(tmp_path, monkeypatch):
    monkeypatch.setattr(build_module.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**9))
    with pytest.raises(ResourceError, match="GB of disk are needed where 1.0 GB are free"):
        check(NINE, tmp_path, moving_targets(NINE), memory=1 << 40)
    assert check(NINE, tmp_path, [Subspace(4, 4)]).disk < 10**9


def test_nothing_to_build_needs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(build_module, "available_memory", lambda: 0)
    assert check(THREE, tmp_path, []).positions == 0


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    builder = Builder(THREE, tmp_path / "file", 1)
    with pytest.raises(InputError, match="cannot write to the data folder"):
        builder.build([Subspace(3, 3)])
    builder.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    builder = Builder(THREE, tmp_path, 1)
    with pytest.raises(InputError, match="cannot write to the data folder"):
        builder.build([Subspace(3, 3)])
    builder.close()
    tmp_path.chmod(0o700)


def test_a_full_disk_leaves_finished_files(tmp_path, monkeypatch):
    build_tables(tmp_path, SMALL, [Subspace(3, 3)])
    before = contents(tmp_path / SMALL.name)
    monkeypatch.setattr(build_module, "write_tables", fail_with(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        build_tables(tmp_path, SMALL, all_targets(SMALL))
    assert contents(tmp_path / SMALL.name) == before


def fail_with(error):
    def fail(*arguments):
        raise error

    return fail


# ---------------------------------------------------------------- what a build checks


def test_a_count_that_burnside_does_not_give_stops_the_build(tmp_path, monkeypatch):
    honest = build_module.histograms

    def one_too_many(*arguments):
        by_orbit, raw = honest(*arguments)
        by_orbit[0] += 1
        return by_orbit, raw

    monkeypatch.setattr(build_module, "histograms", one_too_many)
    with pytest.raises(MorrisError, match="Burnside"):
        build_tables(tmp_path, THREE, [Subspace(3, 3)])
    assert file_names(tmp_path / "three") == []


def test_a_wide_table_is_not_read_as_a_narrow_one(tmp_path):
    """Whether it is in its file or still being written: depths must never wrap."""
    build_tables(tmp_path, THREE, [Subspace(3, 3)])
    builder = Builder(THREE, tmp_path, 1)
    wide = builder.load(Subspace(3, 3), True, 2)
    assert wide.dtype == DTYPES[2]
    wide[0] = code_of_depth(600, 2)
    builder._at_hand = {Subspace(3, 3): wide}
    with pytest.raises(DepthOverflowError):
        builder.load(Subspace(3, 3), True, 1)
    assert builder.load(Subspace(3, 3), True, 2)[0] == code_of_depth(600, 2)
    builder.close()


@pytest.mark.slow
def test_depths_that_do_not_fit_widen_the_table_and_those_above(tmp_path, monkeypatch):
    build_tables(tmp_path / "narrow", THREE, all_targets(THREE))
    honest = build_module.solve_together

    def refuse_one_byte(variant, file, width, *rest):
        if file == Subspace(3, 3) and width == 1:
            raise DepthOverflowError("too deep")
        return honest(variant, file, width, *rest)

    monkeypatch.setattr(build_module, "solve_together", refuse_one_byte)
    build_tables(tmp_path / "wide", THREE, all_targets(THREE))
    narrow, wide = (TableStore(tmp_path / name, THREE) for name in ("narrow", "wide"))
    for subspace in tables_of(THREE, all_targets(THREE)):
        a, b = narrow.table(subspace), wide.table(subspace)
        assert (a.width, b.width) == (1, 2)
        assert [decode(code, 1) for code in a.read()] == [decode(code, 2) for code in b.read()]
        assert (a.positions, a.raw_positions) == (b.positions, b.raw_positions)
