"""What a benchmark is made of: a setting to run in, a measurement with its raw times, the machine it ran on and its neighbours.

A measurement keeps seconds of every run and plain amounts (positions, edges, bytes); rates follow from these.  It also
says what its answer was compared with: a benchmark whose answer nobody checked cannot be written down.
"""

import os
import platform
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from solver.errors import MorrisError
from solver.subspace import Subspace
from solver.variant import Variant

#: Amounts a measurement may have, each with how it is shown per unit of time or piece.
AMOUNTS = {
    "positions": "canonical positions",
    "slots": "slots, all sides to move",
    "edges": "turns counted or followed",
    "bytes": "bytes of values",
    "stored_bytes": "bytes on disk",
    "must_move": "bytes that have to pass through memory at least once",
    "accesses": "table accesses that each wait for the one before",
    "probes": "questions asked",
    "searched": "positions searched, each a node",
}

#: Amounts of which there are rates, with the word for one of them.
RATED = {"positions": "position", "edges": "edge", "probes": "probe", "searched": "node"}
#: All other rates.
OTHER_RATES = {"MB_per_s": "MB/s", "bits_per_position": "bits/position", "ns_per_access": "ns/access"}


class BenchmarkError(MorrisError):
    """A benchmark gave a wrong answer or could not run."""


@dataclass
class Setting:
    """What to measure, and how often.

    data: folder with all tables that are needed; pairs, placing: files to solve anew; workers: numbers of workers;
    repeat: runs of each case, cut short once they have taken ``budget`` seconds; batch: positions for the benchmarks
    that take a list; memory: bytes for the measurement of bandwidth; independent: whether the finished tables come from
    another run, so that agreeing with them says something.
    """

    variant: Variant
    data: Path
    pairs: list[Subspace]
    placing: list[Subspace]
    proofs: list[Variant]
    workers: list[int]
    repeat: int = 3
    budget: float = 120.0
    batch: int = 1_000_000
    memory: int = 1 << 30
    seed: int = 1
    independent: bool = True

    def runs(self):
        """Counts the runs of one case."""
        started = time.perf_counter()
        for n in range(self.repeat):
            yield n
            if time.perf_counter() - started > self.budget:
                return


@dataclass
class Measurement:
    """Times of one case; ``checked`` says what its answer was compared with."""

    benchmark: str
    case: str
    workers: int
    seconds: list[float]
    checked: str
    amounts: dict[str, int] = field(default_factory=dict)
    notes: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = set(self.amounts) - set(AMOUNTS)
        if unknown or not self.checked or not self.seconds:
            raise BenchmarkError(
                f"{self.benchmark} {self.case}: no check, no time, or an unknown amount {unknown or ''}"
            )

    @property
    def key(self) -> tuple[str, str, int]:
        return self.benchmark, self.case, self.workers

    @property
    def best(self) -> float:
        """Seconds of the quickest run."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def rates(self) -> dict[str, float]:
        """What the amounts give with the quickest run: `RATED` per piece and per second, and `OTHER_RATES`."""
        rates, amounts = {}, {k: v for k, v in self.amounts.items() if v}
        for name, one in RATED.items():
            if name in amounts:
                rates[f"ns_per_{one}"] = self.best / amounts[name] * 1e9
                rates[f"{name}_per_s"] = amounts[name] / self.best
        if "bytes" in amounts:
            rates["MB_per_s"] = amounts["bytes"] / self.best / 1e6
        if "stored_bytes" in amounts and "positions" in amounts:
            rates["bits_per_position"] = 8 * amounts["stored_bytes"] / amounts["positions"]
        if "accesses" in amounts and self.benchmark == "memory":
            rates["ns_per_access"] = self.best / amounts["accesses"] * 1e9
        return rates


def timed(setting: Setting, function) -> list[float]:
    """Seconds of the runs of ``function()``, which has been called before."""
    seconds = []
    for _ in setting.runs():
        started = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - started)
    return seconds


def machine() -> dict:
    """The machine, and the versions of everything that matters for speed."""
    from importlib.metadata import version

    import h5py

    import solver
    from solver.bits import USES_INSTRUCTIONS
    from solver.jit import source_hash

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(),
        "caches": _caches(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "llvmlite", "h5py", "deflate")},
        "hdf5": h5py.version.hdf5_version,
        "morris": solver.__version__,
        "source": source_hash(),
        "commit": _commit(),
        "pext": USES_INSTRUCTIONS,
    }


class Neighbours:
    """What else keeps the machine busy from now on: other processes, and a host that lends its cores to others.

    The load average would not say: for a minute it still holds what the run before this one did.
    """

    def __init__(self) -> None:
        self._before = _clocks()

    def cores(self) -> float | None:
        """Cores that something else kept busy since the beginning, on average; None where the system does not tell."""
        now = _clocks()
        if now is None or self._before is None:
            return None
        passed, busy, own = (b - a for a, b in zip(self._before, now))
        return round(max(0.0, busy - own) / passed, 2) if passed > 0 else 0.0


def _clocks() -> tuple[float, float, float] | None:
    """Seconds that passed, seconds in which cores were busy, and those of this process and its finished children."""
    first = next(iter(_lines("/proc/stat")), "").split()
    if len(first) < 9 or first[0] != "cpu":
        return None
    user, nice, system, _idle, _waiting, irq, softirq, stolen = map(int, first[1:9])
    own = os.times()
    return own.elapsed, (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _caches() -> str | None:
    """Data caches of the first core, as the system names them: "L1 32K, L2 1024K, L3 32768K"."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = (_lines(str(folder / name)) for name in ("type", "level", "size"))
        if kind and level and size and kind[0] != "Instruction":
            found.append(f"L{level[0]} {size[0]}")
    return ", ".join(found) or None


def _commit() -> str | None:
    """The commit checked out, with a plus where the package's source has changed since."""
    root = Path(__file__).resolve().parent.parent

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "--short=12", "HEAD")
    return commit and commit + ("+" if git("status", "--porcelain", "--", "solver") else "")
