"""Chains of files, simulated schedules, and which files are worth cutting."""

import importlib.util
import sys
from itertools import pairwise

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from solver import schedule
from solver.build import all_targets, moving_targets, plan
from solver.conversions import table_shape
from solver.schedule import (
    Need, Task, can_be_cut, chains_behind, choose_cuts, cut_rows, longest_chain, simulate, task_graph,
)  # fmt: skip
from solver.store import TableStore
from solver.subspace import Subspace, dependencies, parse_subspace
from solver.variant import VARIANTS, get_variant

NINE, SIX, THREE = map(get_variant, ("nine", "six", "three"))


def files_of(variant, tmp_path):
    return plan(variant, TableStore(tmp_path, variant, with_shipped=False), all_targets(variant))


def names(tasks):
    return [task.file.name for task in tasks]


# ---------------------------------------------------------------- chains and simulation


def test_a_graph_by_hand():
    files = [parse_subspace(name, NINE) for name in "3-3 4-3 4-4 5-3 5-4".split()]
    graph = task_graph(NINE, files, dict(zip(files, (1.0, 2.0, 4.0, 8.0, 16.0))), {})
    assert list(chains_behind(graph).values()) == [27, 26, 20, 24, 16]
    assert names(longest_chain(graph)) == ["3-3", "4-3", "5-3", "5-4"]
    assert [simulate(graph, n) for n in (1, 2, 3)] == [31, 27, 27]


def test_what_is_there_is_not_waited_for():
    files = [Subspace(5, 3), Subspace(5, 4)]  # 4-4 is finished
    graph = task_graph(NINE, files, dict.fromkeys(files, 1.0), {})
    assert [names(need.tasks) for need in graph.values()] == [[], ["5-3"]]


@pytest.mark.parametrize("name", ["nine", "six", "twelve", "lasker"])
def test_the_graph_of_a_whole_game(tmp_path, name):
    variant = VARIANTS[name]
    files = files_of(variant, tmp_path)
    seconds = {file: 1.0 + i % 7 for i, file in enumerate(files)}
    graph, done = task_graph(variant, files, seconds, {}), set()
    for task, need in graph.items():
        assert set(names(need.tasks)) == {n.name for n in dependencies(variant, task.file)}
        assert set(need.tasks) <= done
        done.add(task)
    chain = longest_chain(graph)
    assert all(a in graph[b].tasks for a, b in pairwise(chain))
    assert sum(graph[task].seconds for task in chain) == max(chains_behind(graph).values()) == simulate(graph, len(graph))


@given(st.lists(st.tuples(st.integers(1, 20), st.sets(st.integers(1, 8))), min_size=1, max_size=30), st.integers(1, 6))
def test_a_schedule_keeps_the_bounds_that_any_must(nodes, n_workers):
    tasks = [Task(Subspace(i, 0)) for i in range(len(nodes))]
    graph = {}
    for i, (seconds, backs) in enumerate(nodes):
        graph[tasks[i]] = Need(float(seconds), [tasks[i - back] for back in backs if back <= i])
    work, chain = sum(need.seconds for need in graph.values()), max(chains_behind(graph).values())
    time = simulate(graph, n_workers)
    assert max(work / n_workers, chain) - 1e-9 <= time <= (work + (n_workers - 1) * chain) / n_workers + 1e-9  # Graham 1966
    assert simulate(graph, 1) == work and simulate(graph, len(graph)) == chain


# ---------------------------------------------------------------- cuts


def test_what_can_be_cut():
    assert not any(can_be_cut(NINE, file) for file in moving_targets(NINE))
    assert all(can_be_cut(NINE, file) for file in all_targets(NINE) if file.is_placing)
    assert not any(can_be_cut(VARIANTS["lasker"], file) for file in all_targets(VARIANTS["lasker"]))
    # 4 and 5 stones have equally many rows on 9 points, so their calls could not be told apart.
    assert not can_be_cut(THREE.with_overrides(stones=4), Subspace(4, 3, 0, 1))


def test_parts_cover_all_rows_once():
    for n_parts in (1, 2, 3, 7):
        parts = cut_rows(SIX, Subspace(4, 4, 1, 0), n_parts)
        assert len(parts) == n_parts and parts[0][0] == 0
        assert parts[-1][1] == table_shape(SIX, Subspace(4, 4, 1, 0)).n_rows
        assert all(first < last for first, last in parts) and all(a[1] == b[0] for a, b in pairwise(parts))


def test_a_cut_file_waits_for_its_parts_and_others_for_it():
    files = [parse_subspace(name, NINE) for name in ("2-3+1-0", "3-3+1-0", "3-3+1-1")]
    cuts = {files[1]: cut_rows(NINE, files[1], 2)}
    graph = task_graph(NINE, files, dict.fromkeys(files, 1.0), cuts)
    assert [task.rows for task in graph] == [None, *cuts[files[1]], None, None]
    assert graph[Task(files[1])] == Need(schedule.JOINING, [Task(files[1], rows) for rows in cuts[files[1]]])
    assert all(set(dependencies(NINE, files[1])).isdisjoint(files) and not need.tasks for need in list(graph.values())[1:3])
    assert Task(files[1]) not in graph[Task(files[0])].tasks


@pytest.mark.parametrize("n_workers", [1, 2, 3, 5, 16])
def test_cuts_help_or_are_not_made(tmp_path, monkeypatch, n_workers):
    monkeypatch.setattr(schedule, "PART_SLOTS", 1000)
    files = files_of(SIX, tmp_path)
    seconds = {file: float(table_shape(SIX, file).size) for file in files}
    whole = simulate(task_graph(SIX, files, seconds, {}), n_workers)
    cuts = choose_cuts(SIX, files, seconds, n_workers)
    assert bool(cuts) == (n_workers > 3)
    assert all(1 < len(parts) <= n_workers for parts in cuts.values())
    cut = simulate(task_graph(SIX, files, seconds, cuts), n_workers)
    assert cut < whole if cuts else cut == whole


# ---------------------------------------------------------------- the benchmark


@pytest.fixture
def benchmark(monkeypatch):
    spec = importlib.util.spec_from_file_location("schedule_benchmark", ROOT / "benchmarks" / "schedule.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WORKERS", (1, 3))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["schedule.py", *map(str, arguments)])
        module.main()

    run.read_times = module.read_times
    return run


def test_the_benchmark_prints_the_bound_and_draws(benchmark, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    benchmark(ROOT / "benchmarks" / "results" / "file_seconds_nine.csv", "--plot", tmp_path / "plot.png")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("nine: 297 files, ") and lines[1].startswith("longest chain: ")
    assert [line.split()[0] for line in lines[-2:]] == ["1", "3"] and " 1.00  100% " in lines[-2]
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_the_benchmark_reads_times_in_three_forms(benchmark, tmp_path):
    expected = {Subspace(3, 3): 0.5, Subspace(2, 3, 1, 0): 2.0}
    texts = {
        "a.csv": "file,positions,seconds\n3-3,169626,0.5\n2-3+1-0,27098,2\n",
        "a.json": '{"3-3": 0.5, "2-3+1-0": 2}',
        "a.log": "compiling\n1/2 3-3: 169,626 positions in 0.5 s, 80% done\n2/2 2-3+1-0: 27,098 positions in 2.0 s\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert benchmark.read_times(tmp_path / name, NINE) == expected


@pytest.mark.parametrize(
    "text, reason", [("{}", "no times"), ('{"3-4": 1}', "3-4 is no file of nine"), ('{"99-1": 1}', "no subspace")]
)
def test_the_benchmark_refuses_times_of_no_files(benchmark, tmp_path, text, reason):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=reason):
        benchmark.read_times(tmp_path / "a.json", NINE)
