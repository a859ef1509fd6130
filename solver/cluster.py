"""Building on several machines: the plan as a graph of tasks for a Dask cluster.

One task makes one file and waits for the tasks that make what it needs.  Tables travel through the data folder, which
all machines share; a task itself answers only with the seconds it took.  Files of the placement phase that would hold
up the others are cut by rows (see `schedule`).

Dask's own means do the rest.  Each worker states its memory as a resource and each task takes what it needs of it;
the tasks of a lost worker run again elsewhere; the first task of the longest chain goes first.

Nothing of Dask is imported before `build_on_cluster` is called.
"""

import gc
import shutil
import time
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from . import __version__
from .build import Progress, build_lock, existing_parent
from .errors import InputError, ResourceError, adding
from .metric import DTW, Metric
from .planning import memory_needed, plan_build
from .schedule import Task, chains_behind, choose_cuts, task_graph
from .store import require_writable, table_folder
from .subspace import Subspace, count_canonical, solved_together
from .tasks import MEMORY, Job, greet, memory_limit, solve_file, solve_rows
from .variant import Variant
from .wholefile import UNFINISHED

#: Seconds without a worker that can go on, until a build gives up.
PATIENCE = 300.0
#: Seconds between two looks at the cluster while no task ends.
LOOK_EVERY = 2.0
#: How often a task that failed with an error is begun again.
RETRIES = 2
#: Seconds for the first contact with a scheduler, and for the farewell.
CONTACT = 10
#: Folder of unfinished work beside the tables.
SCRATCH = ".cluster"


def build_on_cluster(
    variant: Variant, data: Path, files: list[Subspace], address: str, progress: Progress | None = None,
    jobs_per_worker: int = 1, memory: int | None = None, announce=lambda line: None, metric: Metric = DTW,
) -> None:  # fmt: skip
    """Builds these files, in a workable order (see `plan`), on the Dask cluster whose scheduler is at ``address``.

    ``jobs_per_worker``: threads of a task; ``memory``: most bytes for the tasks of one worker, where its own limit is
    not smaller.  ``announce(line)`` is told of the workers, the dashboard, and of losses.
    """
    data = Path(data).absolute()
    folder = table_folder(data, variant, metric)
    require_writable(folder)
    with build_lock(folder), _connected(address) as client:
        for leftover in folder.glob("*" + UNFINISHED):
            leftover.unlink()
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        job = Job(variant, data, folder / SCRATCH / uuid.uuid4().hex, jobs_per_worker, metric)
        job.scratch.mkdir(parents=True)
        job.sign.touch()
        run = _Run(client, job, files, memory, announce)
        try:
            run.admit_workers()
            run.submit()
            run.follow(progress or Progress())
        finally:
            job.sign.unlink(missing_ok=True)
            run.stop()
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)


@contextmanager
def _connected(address: str):
    try:
        from distributed import Client
    except ImportError:
        raise InputError(f"a build on a cluster needs Dask; {adding('cluster')}") from None
    client = None
    with suppress(OSError, ValueError):  # nobody there, no address, an unknown protocol
        client = Client(address, timeout=CONTACT, set_as_default=False)
    if client is None:
        gc.collect()  # ends what Dask has begun; it waits for itself for ever where that happens as another client begins
        raise InputError(f"no Dask scheduler answers at {address!r}")
    try:
        yield client
    finally:
        client.close(timeout=CONTACT)


def _limits_plugin(memory: int | None):
    from distributed import Status, WorkerPlugin

    class Limits(WorkerPlugin):
        """States each worker's memory, also of workers that come later or come back."""

        async def setup(self, worker):
            await worker.set_resources(**{MEMORY: memory_limit(worker, memory)})
            if worker.status == Status.running:
                # Tasks that no worker had the memory for are looked at again when a worker begins to run.  This one
                # began before it had stated its memory, so it begins once more.
                worker.status = Status.paused
                worker.status = Status.running

    return Limits()


class _Run:
    """One build on a cluster, as seen from where it was asked for."""

    def __init__(self, client, job: Job, files: list[Subspace], memory: int | None, announce):
        self.client, self.job, self.files, self.memory, self.announce = client, job, files, memory, announce
        self.futures: dict[Subspace, object] = {}
        self.ended: SimpleQueue = SimpleQueue()
        self.n_workers, self.plugin = 0, None

    def admit_workers(self) -> None:
        """Waits for a worker, asks each what it is, and refuses a build that the cluster cannot do."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            answers = self.client.run(greet, self.job.sign, self.memory)
        except TimeoutError:
            raise ResourceError("the scheduler has no workers; start some with 'dask worker ADDRESS'") from None
        except ImportError as error:
            raise InputError(f"a worker cannot load morris ({error}); every machine needs it") from None
        for host, _, sees_folder, version in answers.values():
            if not sees_folder:
                raise InputError(f"{host} does not see {self.job.data}; all machines must share the data folder")
            if version != __version__:
                raise InputError(f"{host} runs morris {version}, this machine {__version__}; they must be equal")
        need = plan_build(self.job.variant, 1, self.files, metric=self.job.metric)
        most = max(limit for _, limit, _, _ in answers.values())
        if need.memory() > most:
            raise ResourceError(
                f"{need.memory() / 2**30:.1f} GiB of memory are needed where no worker is allowed more than "
                f"{most / 2**30:.1f} GiB; its --memory-limit and the --memory of the build say how much"
            )
        free = shutil.disk_usage(existing_parent(self.job.data)).free
        if need.disk > free:
            raise ResourceError(f"{need.disk / 1e9:.1f} GB of disk are needed where {free / 1e9:.1f} GB are free")
        self.plugin = f"morris-limits-{self.job.scratch.name[:8]}"
        self.client.register_plugin(_limits_plugin(self.memory), name=self.plugin)
        self.n_workers = len(answers)
        hosts = len({host for host, *_ in answers.values()})
        self.announce(f"workers: {self.n_workers}, machines: {hosts}, dashboard: {_dashboard(self.client)}")

    def submit(self) -> None:
        """Hands all tasks to the scheduler; those go first that the longest chains wait for."""
        variant, jobs, metric = self.job.variant, self.job.jobs, self.job.metric
        seconds = {file: plan_build(variant, jobs, [file], metric=metric).seconds for file in self.files}
        graph = task_graph(variant, self.files, seconds, choose_cuts(variant, self.files, seconds, self.n_workers))
        behind = chains_behind(graph)
        futures: dict[Task, object] = {}
        for task, need in graph.items():
            name, rows = task.file.name, task.rows
            if rows:
                call, part = (solve_rows, self.job, name, rows), f":{rows[0]}-{rows[1]}"
            else:
                call, part = (solve_file, self.job, name, [n.rows for n in need.tasks if n.rows]), ""
            futures[task] = self.client.submit(
                *call, *(futures[n] for n in need.tasks), key=f"{variant.name}:{name}{part}:{self.job.scratch.name[:8]}",
                priority=behind[task], resources={MEMORY: memory_needed(variant, task.file, metric=metric)}, pure=False,
                retries=RETRIES,
            )  # fmt: skip
            if not rows:
                self.futures[task.file] = futures[task]
                futures[task].add_done_callback(lambda future, file=task.file: self.ended.put((file, future)))

    def follow(self, progress: Progress) -> None:
        """Reports each file that is finished until all are; raises what made a task fail."""
        left, last_sign = len(self.files), time.monotonic()
        while left:
            try:
                file, future = self.ended.get(timeout=LOOK_EVERY)
            except Empty:
                if self._any_at_work():
                    last_sign = time.monotonic()
                elif time.monotonic() - last_sign > PATIENCE:
                    raise ResourceError("no worker that could go on is left; finished tables are kept") from None
                continue
            seconds = self._result(file, future)
            positions = sum(count_canonical(self.job.variant, s) for s in solved_together(self.job.variant, file))
            progress.begin(file, positions)
            progress.done(file, positions, seconds)
            left, last_sign = left - 1, time.monotonic()

    def _any_at_work(self) -> bool:
        """Whether any worker has a task; tells of workers that came or went."""
        n_workers = len(self.client.nthreads())
        if n_workers != self.n_workers:
            self.announce(f"workers: {n_workers}, before {self.n_workers}; what a lost one had begun runs again")
            self.n_workers = n_workers
        return any(self.client.processing().values())

    def _result(self, file: Subspace, future) -> float:
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise ResourceError("the scheduler has gone; finished tables are kept")
        if future.status == "error":
            error = future.exception(timeout=PATIENCE)
            if isinstance(error, KilledWorker):
                raise ResourceError(
                    f"{error.task.split(':')[1]} lost its worker {error.allowed_failures + 1} times; the workers' logs "
                    "may say why, often it is memory"
                )
            raise error
        return future.result(timeout=PATIENCE)  # may have to wait: where its worker is lost by now, the task runs again

    def stop(self) -> None:
        """Lets go of the tasks: what has not begun is dropped, what runs does not move its file into place."""
        self.futures.clear()
        with suppress(Exception):  # the scheduler may be gone
            if self.plugin:
                self.client.unregister_worker_plugin(self.plugin)


def _dashboard(client) -> str:
    try:
        return client.dashboard_link or "none"
    except KeyError:  # the scheduler runs without one
        return "none"
