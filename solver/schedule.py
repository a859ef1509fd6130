"""Schedules: the tasks of a build on several workers, the longest chains among them, and which files to cut.

A build is a graph: each file waits for those that it needs, and no number of workers is faster than the longest chain.
A file whose positions have no quiet moves (placing without sliding) is one gathering of conversions; its rows do not
depend on each other.  So it can be cut: some tasks solve a part of the rows each, one more joins them.

Nothing here runs anything.  Times are data, estimated or measured, and what workers would do with them is simulated.
"""

import heapq
from itertools import pairwise
from typing import NamedTuple

from .conversions import table_shape
from .planning import is_retrograde
from .subspace import Subspace, dependencies
from .symmetry import orbits
from .variant import Variant

#: A part has at least so many slots.
PART_SLOTS = 1 << 26
#: Seconds of a part and of the joining, as shares of the whole file's: what each part repeats (reading what it needs,
#: captures owed), and the joining, which comes on top.  Measured with four parts, see benchmarks/CLUSTER.md.
REPEATED, JOINING = 0.25, 0.12
#: `choose_cuts` gives up after so many chains in a row whose cutting does not help.
TRIES = 4


class Task(NamedTuple):
    """A file to solve, or only its rows [first, last).  The task of a file that is cut joins its parts."""

    file: Subspace
    rows: tuple[int, int] | None = None


class Need(NamedTuple):
    """What a task takes: seconds on one worker, and the tasks that must have ended before."""

    seconds: float
    tasks: list[Task]


def can_be_cut(variant: Variant, file: Subspace) -> bool:
    """Whether rows can be solved apart: no quiet moves connect them, and `tasks.Share` can tell them from others."""
    if is_retrograde(variant, file):
        return False
    stones, rows = table_shape(variant, file).row_stones, orbits(variant.board).rows
    return stones < variant.board.n_points and len(rows(stones)) != len(rows(stones + 1))


def cut_rows(variant: Variant, file: Subspace, n_parts: int) -> list[tuple[int, int]]:
    """The rows [first, last) of each of so many parts."""
    n_rows = table_shape(variant, file).n_rows
    return list(pairwise(n_rows * i // n_parts for i in range(n_parts + 1)))


def task_graph(variant: Variant, files: list[Subspace], seconds: dict, cuts: dict) -> dict[Task, Need]:
    """All tasks in a workable order.  ``files`` in such an order; ``seconds`` by file; ``cuts``: parts by file."""
    graph, listed = {}, set(files)
    for file in files:
        needed = [Task(n) for n in dependencies(variant, file) if n in listed]
        if file in cuts:
            parts = [Task(file, rows) for rows in cuts[file]]
            for part in parts:
                graph[part] = Need(seconds[file] * (REPEATED + (1 - REPEATED) / len(parts)), needed)
            graph[Task(file)] = Need(seconds[file] * JOINING, parts)
        else:
            graph[Task(file)] = Need(seconds[file], needed)
    return graph


def chains_behind(graph: dict[Task, Need]) -> dict[Task, float]:
    """Seconds of the longest chain that begins with each task."""
    behind = {task: need.seconds for task, need in graph.items()}
    for task in reversed(graph):
        for needed in graph[task].tasks:
            behind[needed] = max(behind[needed], graph[needed].seconds + behind[task])
    return behind


def longest_chain(graph: dict[Task, Need]) -> list[Task]:
    """The tasks of the longest chain, first to last."""
    until: dict[Task, float] = {}
    for task, need in graph.items():
        until[task] = need.seconds + max((until[n] for n in need.tasks), default=0.0)
    chain = [max(until, key=until.__getitem__)]
    while needed := graph[chain[-1]].tasks:
        chain.append(max(needed, key=until.__getitem__))
    return chain[::-1]


def simulate(graph: dict[Task, Need], n_workers: int) -> float:
    """Seconds until all is done when a free worker takes the task with the longest chain behind it."""
    behind = chains_behind(graph)
    users: dict[Task, list[Task]] = {task: [] for task in graph}
    for task, need in graph.items():
        for needed in need.tasks:
            users[needed].append(task)
    missing = {task: len(need.tasks) for task, need in graph.items()}
    ready = [(-behind[task], task) for task in graph if not missing[task]]
    heapq.heapify(ready)
    running, now, n_ended = [], 0.0, 0
    while ready or running:
        while ready and len(running) < n_workers:
            task = heapq.heappop(ready)[1]
            heapq.heappush(running, (now + graph[task].seconds, task))
        now, ended = heapq.heappop(running)
        n_ended += 1
        for user in users[ended]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (-behind[user], user))
    assert n_ended == len(graph)
    return now


def choose_cuts(variant: Variant, files: list[Subspace], seconds: dict, n_workers: int) -> dict[Subspace, list]:
    """The parts of each file that is worth cutting, as rows [first, last).

    The files of the longest chain are cut, then those of the chain that is longest now, and so on; taken is what the
    simulation likes best.  Where there is work for all workers anyway, cutting only repeats reading.
    """
    best = cuts = {}
    graph = task_graph(variant, files, seconds, cuts)
    shortest, tries = simulate(graph, n_workers), TRIES
    while tries:
        more = {}
        for file in {task.file for task in longest_chain(graph)} - set(cuts):
            if can_be_cut(variant, file):
                shape = table_shape(variant, file)
                n_parts = min(n_workers, shape.n_rows, shape.size // PART_SLOTS)
                if n_parts > 1:
                    more[file] = cut_rows(variant, file, n_parts)
        if not more:
            break
        cuts = cuts | more
        graph = task_graph(variant, files, seconds, cuts)
        time = simulate(graph, n_workers)
        tries -= 1
        if time < shortest:
            best, shortest, tries = cuts, time, TRIES
    return best
