"""Building on several machines: real clusters of processes that lose workers, and what is said where there is none."""

import os
import signal
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from conftest import build_tables, contents

from solver import cluster
from solver.build import Progress, all_targets, build_lock, moving_targets, plan
from solver.cluster import build_on_cluster
from solver.conversions import table_shape
from solver.errors import InputError, ResourceError, TableError
from solver.metric import DTW, OUTCOME, Metric
from solver.planning import memory_needed
from solver.schedule import can_be_cut, cut_rows
from solver.store import TableStore
from solver.subspace import Subspace
from solver.tasks import MEMORY, Job
from solver.variant import get_variant

NINE, SIX, THREE = map(get_variant, ("nine", "six", "three"))
SMALL = SIX.with_overrides(stones=4)
STRICT = SMALL.with_overrides(capture_in_mills="none")


def others(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".h5")


def files_of(variant, folder, targets=None):
    return plan(variant, TableStore(folder, variant, with_shipped=False), targets or all_targets(variant))


def cut_all(variant, files, seconds, n_workers):
    """Cuts whatever can be cut, worth it or not."""
    some = [file for file in files if can_be_cut(variant, file) and table_shape(variant, file).n_rows >= 3]
    assert {file.rows_are_own for file in some} in ({True, False}, set())
    return {file: cut_rows(variant, file, 3) for file in some}


# ---------------------------------------------------------------- without a cluster


def test_nothing_of_dask_is_imported_without_an_address(run_python):
    code = "import sys, solver.cluster, solver.cli.building; print({'dask', 'distributed'} & set(sys.modules))"
    assert run_python(code) == "set()\n"


def test_without_distributed_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask;.* .venv/bin/pip install -e '\.\[cluster\]' adds it$"):
        build_on_cluster(THREE, tmp_path, all_targets(THREE), "tcp://127.0.0.1:8786")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense", "gopher://host:1", "a:b:c", ""])
def test_an_address_that_does_not_answer(tmp_path, monkeypatch, address):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "CONTACT", 1)
    with pytest.raises(InputError, match=f"no Dask scheduler answers at '{address}'$"):
        build_on_cluster(THREE, tmp_path, all_targets(THREE), address)
    assert contents(tmp_path / "three") == {} and others(tmp_path / "three") == [".lock"]


@pytest.mark.parametrize("metric", [DTW, OUTCOME, Metric("dtm")], ids=str)
def test_a_task_asks_for_the_memory_of_its_metric(tmp_path, metric):
    asked = {}

    def submit(*call, key, resources, **options):
        asked[key.split(":")[1]] = resources[MEMORY]
        return SimpleNamespace(add_done_callback=lambda call: None)

    job = Job(NINE, tmp_path, tmp_path / "scratch", 1, metric)
    files = moving_targets(NINE)
    run = cluster._Run(SimpleNamespace(submit=submit), job, files, None, print)
    run.n_workers = 1
    run.submit()
    assert asked == {file.name: memory_needed(NINE, file, metric=metric) for file in files}
    assert (asked["9-9"] > memory_needed(NINE, Subspace(9, 9))) == metric.to_mill


# ---------------------------------------------------------------- a cluster


def start_cluster(n_workers):
    """Worker processes on this machine, and a client to watch them."""
    distributed = pytest.importorskip("distributed")
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit="4GiB",
        silence_logs=50,
    )  # fmt: skip


@pytest.fixture(scope="module")
def two_workers():
    with start_cluster(2) as started:
        yield started


class KillOne(Progress):
    """Kills a worker that is at work when the n-th file is finished."""

    def __init__(self, started, n):
        self.started, self.n, self.done_files, self.killed = started, n, [], None

    def done(self, subspace, positions, seconds):
        assert positions > 0 and seconds >= 0
        self.done_files.append(subspace)
        if len(self.done_files) == self.n:
            with self.started.get_client() as client:
                pids, at_work = client.run(os.getpid), client.processing()
                address = max(pids, key=lambda worker: len(at_work.get(worker, ())))
                self.killed = pids[address]
                os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_changes_no_byte(two_workers, tmp_path, small_tables, monkeypatch):
    monkeypatch.setattr(cluster, "choose_cuts", cut_all)
    said = []
    for variant, targets, n in ((NINE, moving_targets(NINE, 8), 2), (SIX, all_targets(SIX), 40)):
        files, progress = files_of(variant, tmp_path, targets), KillOne(two_workers, n)
        build_on_cluster(
            variant, tmp_path, files, two_workers.scheduler_address, progress, announce=said.append, memory=3 << 30
        )
        assert progress.killed
        assert sorted(progress.done_files) == sorted(files)
        built, expected = contents(tmp_path / variant.name), contents(small_tables / variant.name)
        assert sorted(built) == sorted(expected)
        assert [name for name in expected if built[name] != expected[name]] == []
        assert others(tmp_path / variant.name) == [".lock"]
    assert said[0].startswith("workers: 2, machines: 1, dashboard: http://127.0.0.1:")


def test_finished_files_are_kept(two_workers, tmp_path, small_tables):
    build_tables(tmp_path, NINE, [Subspace(4, 3)])
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "nine").glob("*.h5")}
    progress = KillOne(two_workers, 0)
    files = files_of(NINE, tmp_path, [Subspace(4, 4)])
    build_on_cluster(NINE, tmp_path, files, two_workers.scheduler_address, progress)
    assert progress.done_files == files == [Subspace(4, 4)]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    expected = contents(small_tables / "nine")
    assert contents(tmp_path / "nine") == {name: expected[name] for name in ("3-3.h5", "4-3.h5", "4-4.h5")}


def test_what_a_cluster_refuses(two_workers, tmp_path, monkeypatch):
    build = partial(build_on_cluster, THREE, tmp_path, all_targets(THREE), two_workers.scheduler_address)
    with pytest.raises(ResourceError, match="0.3 GiB of memory are needed where no worker is allowed more than 0.1 GiB"):
        build(memory=100 << 20)
    with build_lock(tmp_path / "three"), pytest.raises(ResourceError, match=f"process {os.getpid()}"):
        build()
    monkeypatch.setattr(cluster, "__version__", "0.0")
    with pytest.raises(InputError, match="they must be equal"):
        build()
    assert contents(tmp_path / "three") == {}


def test_an_error_in_a_task_reaches_the_caller_in_one_line(two_workers, tmp_path):
    (tmp_path / THREE.name).mkdir()
    (tmp_path / THREE.name / "3-3.h5").write_bytes(b"no table")
    with pytest.raises(TableError, match="3-3.h5: no finished morris table") as error:
        build_on_cluster(THREE, tmp_path, files_of(THREE, tmp_path), two_workers.scheduler_address)
    assert "\n" not in str(error.value)


class CloseAll(Progress):
    """Closes a whole cluster when the first file is finished."""

    def __init__(self, started):
        self.started = started

    def done(self, *_):
        self.started.close()


def test_the_only_worker_and_then_the_scheduler_are_lost(tmp_path):
    build_tables(tmp_path / "whole", SMALL, all_targets(SMALL))
    with start_cluster(1) as started:
        address, progress = started.scheduler_address, KillOne(started, 3)
        build_on_cluster(SMALL, tmp_path, files_of(SMALL, tmp_path), address, progress)
        assert progress.killed
        assert contents(tmp_path / SMALL.name) == contents(tmp_path / "whole" / SMALL.name)
        with pytest.raises(ResourceError, match="the scheduler has gone; finished tables are kept"):
            build_on_cluster(STRICT, tmp_path, files_of(STRICT, tmp_path), address, CloseAll(started))
    assert 0 < len(contents(tmp_path / STRICT.name)) < len(all_targets(STRICT))
    assert others(tmp_path / STRICT.name) == [".lock"]
