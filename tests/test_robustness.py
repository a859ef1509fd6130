"""Builds that are killed, full disks, folders that vanish: nothing finished is lost and nothing half-finished counts."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import contents

from solver.header import check_file
from solver.store import TableStore
from solver.stats import game_files
from solver.variant import get_variant
from solver.wholefile import UNFINISHED

ROOT = Path(__file__).parent.parent
SIX = get_variant("six")
COMMAND = [sys.executable, "-c", "from solver.cli import main; main()"]
BUILD = [*COMMAND, "build", "-V", "six", "--phase", "placing", "--jobs", "2"]


def start_build(folder, **options):
    return subprocess.Popen(
        [*BUILD, "--data", str(folder)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options
    )


def test_thirty_kills_at_random_moments(small_tables, tmp_path):
    """SIGKILL again and again; the build always goes on, and ends with the bytes of an unbroken one."""
    rng = random.Random(1996)
    killed, torn = 0, 0
    span = 3.0
    while killed < 30:
        process = start_build(tmp_path)
        try:
            process.communicate(timeout=rng.uniform(0.2, span))
            shutil.rmtree(tmp_path / "six")  # it was done before the kill: begin again
            span *= 0.8
            continue
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        killed += 1
        folder = tmp_path / "six"
        torn += any(folder.glob("*" + UNFINISHED))
        store = TableStore(tmp_path, SIX, with_shipped=False)
        for file in game_files(store):
            check_file(store.path(file))  # whatever has a table's name is whole
        store.close()
    process = start_build(tmp_path)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert contents(tmp_path / "six") == contents(small_tables / "six")
    assert not list((tmp_path / "six").glob("*" + UNFINISHED))


def test_an_interrupt_loses_nothing_and_says_how_to_go_on(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "build", "--max-stones", "13", "--data", str(tmp_path)],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (tmp_path / "nine" / "6-3.h5").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)  # into one of the longer passes
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "goes on where it stopped" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    store = TableStore(tmp_path, get_variant("nine"))
    assert len(game_files(store)) >= 6
    for file in game_files(store):
        check_file(store.path(file))
    store.close()
    assert not list((tmp_path / "nine").glob("*" + UNFINISHED))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(tmp_path)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine mounts no tmpfs")
    try:
        process = start_build(tmp_path)
        _, errors = process.communicate(timeout=120)
        last = errors.splitlines()[-1]
        assert process.returncode == 1 and "Traceback" not in errors
        assert last.startswith("morris: ") and ("space" in last or "disk" in last)
        store = TableStore(tmp_path, SIX, with_shipped=False)
        for file in game_files(store):
            check_file(store.path(file))
        store.close()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_folder_that_disappears_is_one_line(tmp_path):
    process = start_build(tmp_path / "gone")
    deadline = time.monotonic() + 120
    while not list((tmp_path / "gone").glob("six/*.h5")) and time.monotonic() < deadline:
        time.sleep(0.01)
    shutil.rmtree(tmp_path / "gone", ignore_errors=True)
    _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    if process.returncode:  # unless the build was quicker
        assert process.returncode in (1, 2, 3) and errors.splitlines()[-1].startswith("morris: ")


def test_two_builds_do_not_harm_each_other(small_tables, tmp_path):
    both = [start_build(tmp_path), start_build(tmp_path)]
    results = [(p.communicate(timeout=120)[1], p.returncode) for p in both]
    refused = [errors for errors, code in results if code]
    assert len(refused) <= 1 and all("another build (process" in errors for errors in refused)
    assert contents(tmp_path / "six") == contents(small_tables / "six")
