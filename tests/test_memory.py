"""The memory that a build says it needs is what it takes: never less, and at most a tenth more."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT, build_tables

from solver import build as build_module
from solver.build import Builder, all_targets, held_memory, moving_targets, plan
from solver.errors import DepthOverflowError, ResourceError
from solver.planning import memory_needed, plan_build
from solver.store import TableStore
from solver.subspace import Subspace, parse_subspace
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")

#: The kernel's own count of the most that this process had in memory; it starts anew with each program.
WITH_PEAK = """
import atexit, re, sys
status = lambda: open("/proc/self/status").read()
atexit.register(lambda: print("peak", re.search(r"VmHWM:\\s+(\\d+)", status())[1], file=sys.stderr))
from solver.cli import main
main()
"""

#: What compiling kernels takes, as measured: told as needed, and not used where they come from the cache.
COMPILING = 190 << 20

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system does not tell a peak")


def peak_of(folder, *arguments):
    """Bytes at the peak of a build in a process of its own."""
    command = [sys.executable, "-c", WITH_PEAK, "build", "--data", str(folder), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return 1024 * int(re.search(r"^peak (\d+)$", done.stderr, re.M)[1])


@needs_proc
@pytest.mark.parametrize(
    "variant, files, arguments",
    [("nine", moving_targets(NINE, 7), ["--max-stones", "7"]), ("six", all_targets(SIX), ["--phase", "placing"])],
    ids=["nine", "six"],
)
def test_a_small_build_keeps_to_its_estimate(tmp_path, variant, files, arguments):
    """Here the program itself takes nearly all of it: more or less with other libraries, and with a compilation on the way."""
    needed = plan_build(get_variant(variant), 1, files).memory()
    peak = peak_of(tmp_path, "-V", variant, "-j", "1", *arguments)
    assert needed / 2 <= peak <= needed, f"{peak / 2**20:.0f} MiB of {needed / 2**20:.0f}"


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", ["6-5", "6-6"])
def test_a_pass_keeps_to_its_estimate(tmp_path, name, jobs):
    target = parse_subspace(name, NINE)
    build_tables(tmp_path, NINE, plan(NINE, TableStore(tmp_path, NINE), [target])[:-1], jobs=2)
    needed = plan_build(NINE, int(jobs), [target]).memory()
    peak = peak_of(tmp_path, "--subspace", name, "-j", jobs, "--memory", str(needed))
    assert (needed - COMPILING) / 1.1 <= peak <= needed, f"{peak / 2**20:.0f} MiB of {needed / 2**20:.0f}"


def test_the_file_being_written_counts_too():
    before, file = Subspace(9, 8), Subspace(9, 9)
    written = 2 * 82_880 * 6_435  # both sides of 9-8
    assert memory_needed(NINE, file, before=before) == memory_needed(NINE, file) + written
    after = Subspace(9, 9, 1, 0)  # of another kind of work, and still what is solved while the last pair is written
    assert plan_build(NINE, 1, [before, file]).memory() == max(memory_needed(NINE, before), memory_needed(NINE, file, 1, before))
    assert plan_build(NINE, 1, [before, after]).parts[1].memory[1] == memory_needed(NINE, after, 1, before)


def test_wider_values_need_more():
    for name in ("3-3", "6-5", "9-9", "8-7+1-2"):
        file = parse_subspace(name, NINE)
        assert memory_needed(NINE, file) <= memory_needed(NINE, file, 2)
    need = plan_build(NINE, 1, moving_targets(NINE))
    assert 1.5 * need.memory(1) < need.memory(2) < 2 * need.memory(1)
    assert memory_needed(NINE, Subspace(8, 8), 2) > 1.3 * memory_needed(NINE, Subspace(8, 8))


def test_a_size_that_is_refused_is_enough_as_it_is_told(tmp_path):
    builder = Builder(NINE, tmp_path, 1, memory=1 << 30)
    files = plan(NINE, builder.store, moving_targets(NINE))
    with pytest.raises(ResourceError) as error:
        builder.check_resources(files)
    builder.memory = int(float(re.match(r"([\d.]+) GiB", str(error.value))[1]) * 2**30)
    assert builder.check_resources(files).memory() <= builder.memory < 1.1 * plan_build(NINE, 1, files).memory()
    builder.close()


@pytest.mark.parametrize("allowed", [1 << 30, None], ids=["allowed", "free"])
def test_depths_that_need_more_memory_than_there_is_stop_the_build(tmp_path, monkeypatch, allowed):
    three = get_variant("three")
    monkeypatch.setattr(build_module, "available_memory", lambda: 3 << 28)
    monkeypatch.setattr(build_module, "held_memory", lambda: 1 << 28)
    monkeypatch.setattr(build_module, "memory_needed", lambda variant, file, width=1, *rest, **more: width << 30)

    def too_deep(variant, file, width, *rest):
        raise DepthOverflowError("too deep")

    monkeypatch.setattr(build_module, "solve_together", too_deep)
    builder = Builder(three, tmp_path, 1, memory=allowed)
    with pytest.raises(ResourceError, match="the depths in 3-3 need 2 bytes a slot, and so 2.0 GiB of memory where 1.0 GiB"):
        builder.build([Subspace(3, 3)])
    builder.close()
    assert not list(tmp_path.glob("three/*.h5*"))


def test_wider_values_are_tried_where_they_fit_or_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(build_module, "memory_needed", lambda variant, file, width=1, *rest, **more: width << 30)
    monkeypatch.setattr(build_module, "held_memory", lambda: 1 << 30)
    builder = Builder(NINE, tmp_path, 1)
    for free in (1 << 30, None):  # with what the process has already, just what two bytes a slot need
        monkeypatch.setattr(build_module, "available_memory", lambda: free)
        builder._require_memory(Subspace(3, 3), 2)
    monkeypatch.setattr(build_module, "available_memory", lambda: (1 << 30) - 1)
    builder._require_memory(Subspace(3, 3), 1)  # that was asked before the build
    with pytest.raises(ResourceError):
        builder._require_memory(Subspace(3, 3), 2)
    builder.close()


@needs_proc
def test_what_a_process_has_is_told():
    before = held_memory()
    kept = bytearray(b"x") * (64 << 20)
    assert 60 << 20 <= held_memory() - before <= 72 << 20 and len(kept) == 64 << 20
