"""What one machine of a cluster does: a file or some rows of it, in a folder of its own, moved into place when finished."""

from dataclasses import replace

import pytest
from conftest import build_tables, contents

from solver import tasks
from solver.build import all_targets, plan
from solver.conversions import table_shape
from solver.errors import InputError, ResourceError
from solver.jit import Workers
from solver.metric import DTW, OUTCOME
from solver.schedule import can_be_cut
from solver.store import TableStore, table_folder
from solver.subspace import Subspace
from solver.tasks import Job, Share, solve_file, solve_rows
from solver.variant import get_variant

THREE = get_variant("three")
SMALL = get_variant("six").with_overrides(stones=4)
STRICT = SMALL.with_overrides(capture_in_mills="none")


def test_a_share_does_its_rows_and_all_rows_of_other_tables():
    workers = Workers(2)
    share = Share(workers, 100, (30, 70))
    assert share.map_rows(lambda a, b: (a, b), 100, 1) == [(30, 70)]
    assert share.map_rows(lambda a, b: (a, b), 90, 1) == [(0, 90)]
    slices = share.map_rows(lambda a, b: (a, b), 100, 10**6)
    assert len(slices) > 1 and slices[0][0] == 30 and slices[-1][1] == 70
    assert [a for a, _ in slices][1:] == [b for _, b in slices][:-1]
    workers.close()


@pytest.fixture
def job_in(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "_allowed_memory", lambda: None)

    def start(variant, metric=DTW):
        job = Job(variant, tmp_path, table_folder(tmp_path, variant, metric) / ".cluster" / "build", 1, metric)
        job.scratch.mkdir(parents=True)
        job.sign.touch()
        return job

    return start


@pytest.mark.parametrize("variant, metric", [(SMALL, DTW), (STRICT, DTW), (SMALL, OUTCOME)], ids=["any", "none", "outcomes"])
def test_joined_parts_are_the_bytes_of_the_whole(job_in, tmp_path, variant, metric):
    build_tables(tmp_path / "whole", variant, all_targets(variant), metric=metric)
    job, n_cut = job_in(variant, metric), 0
    for file in plan(variant, TableStore(tmp_path, variant, with_shipped=False, metric=metric), all_targets(variant)):
        n_rows = table_shape(variant, file).n_rows
        bounds = sorted({0, n_rows // 3, n_rows - 1, n_rows})
        cuts = list(zip(bounds, bounds[1:])) if can_be_cut(variant, file) else []
        times = [solve_rows(job, file.name, rows) for rows in cuts]
        assert solve_file(job, file.name, cuts, *times) >= sum(times)
        n_cut += bool(cuts)
    assert n_cut == 14
    joined, whole = (contents(table_folder(folder, variant, metric)) for folder in (tmp_path, tmp_path / "whole"))
    assert joined == whole != {}
    assert [path.name for path in job.scratch.iterdir()] == [job.sign.name]


def test_a_task_that_runs_again_does_nothing(job_in, tmp_path):
    job = job_in(THREE)
    solve_file(job, "3-3", [])
    before = job.place(Subspace(3, 3)).stat()
    solve_file(job, "3-3", [])
    solve_file(job, "3-3", [(0, 4), (4, 8)])
    solve_rows(job, "3-3", (0, 4))
    assert job.place(Subspace(3, 3)).stat() == before
    assert [path.name for path in job.scratch.iterdir()] == [job.sign.name]


def test_a_task_whose_build_has_ended_moves_nothing_into_place(job_in, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "SEEN_AFTER", 0.0)
    job = job_in(THREE)
    honest = tasks.TaskBuilder.build
    monkeypatch.setattr(tasks.TaskBuilder, "build", lambda *args: (honest(*args), job.sign.unlink()))
    with pytest.raises(ResourceError, match="too late"):
        solve_file(job, "3-3", [])
    with pytest.raises(ResourceError, match="does not see"):
        solve_file(job, "3-3", [])
    assert contents(tmp_path / "three") == {} and list(job.scratch.iterdir()) == []


def test_a_task_waits_for_what_it_needs_and_for_its_own_version(job_in, monkeypatch):
    monkeypatch.setattr(tasks, "SEEN_AFTER", 0.0)
    job = job_in(SMALL)
    with pytest.raises(ResourceError, match="does not see .*3-3.h5"):
        solve_file(job, "4-3", [])
    with pytest.raises(InputError, match="runs morris .*, the build 0.0; they must be equal"):
        solve_file(replace(job, version="0.0"), "3-3", [])
