"""What a whole game costs: hours, memory and disk, for games that outgrow an evening as well.

`morris build --estimate` prints it and builds nothing.  The work has two kinds with rates of their own: *retrograde*
subspaces, where quiet turns lead back (the moving phase, and all of the placing where a turn may slide), and *acyclic*
ones, where every turn leads to a finished table.  Rates were measured on the standard game; what larger games add to
them is said beside the numbers.
"""

from dataclasses import dataclass
from functools import lru_cache

from .build import MOVING_RATE, PLACING_RATE, STORED_BITS, memory_needed, metric_targets, n_passes
from .conversions import shape_of
from .metric import DTW, Metric
from .subspace import Subspace, count_canonical, solved_together
from .values import DTYPES
from .variant import Variant


@dataclass(frozen=True)
class Rates:
    """Slots a second and worker of both kinds of work, and bits a slot on disk with depths and without.

    Bits are those of all tables of the standard game, compressed as stored; outcomes alone with four to the byte.
    """

    retrograde: float = MOVING_RATE
    acyclic: float = PLACING_RATE
    depth_bits: float = STORED_BITS["dtw"]
    outcome_bits: float = STORED_BITS["outcome"]
    mill_bits: float = STORED_BITS["dtm"]

    def bits(self, metric: Metric) -> float:
        """Bits a slot on disk."""
        return {"dtw": self.depth_bits, "outcome": self.outcome_bits, "dtm": self.mill_bits}[metric.name]


@dataclass(frozen=True)
class Part:
    """One kind of work in one phase.

    seconds: with all workers; memory: peak bytes by bytes a slot; disk: bytes in the metric of the
    plan; outcome_disk: bytes of outcomes alone; largest: the file with the largest tables.
    """

    name: str
    files: int
    positions: int
    seconds: float
    memory: dict[int, int]
    disk: int
    outcome_disk: int
    largest: str


@dataclass(frozen=True)
class BuildPlan:
    """Everything that a game still needs; ``finished`` of its ``files`` are there already."""

    variant: Variant
    jobs: int
    rates: Rates
    files: int
    finished: int
    parts: tuple[Part, ...]
    metric: Metric = DTW

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    @property
    def positions(self) -> int:
        return sum(part.positions for part in self.parts)

    @property
    def disk(self) -> int:
        return sum(part.disk for part in self.parts)

    @property
    def outcome_disk(self) -> int:
        return sum(part.outcome_disk for part in self.parts)

    def memory(self, width: int = 1) -> int:
        """Peak bytes with so many bytes a slot."""
        return max((part.memory[width] for part in self.parts), default=0)


def is_retrograde(variant: Variant, file: Subspace) -> bool:
    """Whether quiet turns lead back into a file's subspaces, so that it needs a pass."""
    return not file.is_placing or variant.place_and_slide


def part_name(variant: Variant, file: Subspace) -> str:
    """The part of a plan that a file belongs to."""
    if not file.is_placing:
        return "moving (retrograde)"
    return "placing, with slides (retrograde)" if is_retrograde(variant, file) else "placing (acyclic)"


@lru_cache(maxsize=None)
def _positions(variant: Variant, own: int, opponent: int) -> int:
    """Canonical positions with so many stones on board; hands change nothing."""
    return count_canonical(variant, Subspace(own, opponent))


def plan_build(
    variant: Variant, jobs: int, files: list[Subspace] | None = None, store=None, rates: Rates = Rates(),
    metric: Metric = DTW,
) -> BuildPlan:
    """The cost of building ``files``, by default a whole game, with so many workers.

    A subspace where a turn may place or slide costs both kinds of work: its placements are gathered, then comes a pass.

    store: a `TableStore` whose finished files are left out; jobs: speed-up is taken to be proportional to them.
    """
    files = metric_targets(variant, metric) if files is None else files
    missing = [file for file in files if store is None or not store.has(file)]
    by_name: dict[str, list[Subspace]] = {}
    for file in missing:
        by_name.setdefault(part_name(variant, file), []).append(file)
    parts = tuple(_part(variant, name, group, jobs, rates, metric) for name, group in by_name.items())
    return BuildPlan(variant, jobs, rates, len(files), len(files) - len(missing), parts, metric)


def _part(variant: Variant, name: str, files: list[Subspace], jobs: int, rates: Rates, metric: Metric) -> Part:
    positions = stored_slots = largest_slots = 0
    seconds, memory, largest = 0.0, {width: 0 for width in DTYPES}, files[0]
    before = None
    for file in files:
        together, slots = solved_together(variant, file), _slots(variant, file)
        positions += sum(_positions(variant, *s[:2]) for s in together)
        stored_slots += slots * len(together)
        # A pass works on both sides to move, also where they are each other's twin and one is stored.
        tables = 2 * n_passes(metric) if is_retrograde(variant, file) else 1
        seconds += slots * tables / jobs * sum(1 / rate for rate in _rates(variant, file, rates))
        for width in memory:
            memory[width] = max(memory[width], memory_needed(variant, file, width, before, metric))
        before = file
        if slots > largest_slots:
            largest, largest_slots = file, slots
    disk, outcome_disk = (int(stored_slots * bits / 8) for bits in (rates.bits(metric), rates.outcome_bits))
    return Part(name, len(files), positions, seconds, memory, disk, outcome_disk, largest.name)


def _rates(variant: Variant, file: Subspace, rates: Rates) -> list[float]:
    kinds = (is_retrograde(variant, file), rates.retrograde), (file.is_placing, rates.acyclic)
    return [rate for applies, rate in kinds if applies]


def _slots(variant: Variant, file: Subspace) -> int:
    row_stones, column_stones = file[:2] if file.rows_are_own else file[1::-1]
    return shape_of(variant, row_stones, column_stones).size


def plan_lines(plan: BuildPlan) -> list[str]:
    """A plan as text, with what it rests on."""
    variant, rates = plan.variant, plan.rates
    lines = [f"{variant.name}: {variant.summary}"]
    there = f"; {plan.finished:,} are finished already" if plan.finished else ""
    if not plan.parts:
        return [*lines, f"all {plan.files:,} files are there"]
    lines.append(f"{plan.positions:,} positions in {plan.files - plan.finished:,} of {plan.files:,} files{there}")
    disks = ["disk, depths", "outcomes only"] if plan.metric.has_depths else ["disk, outcomes"]
    rows = [["part", "files", "positions", "hours", "memory, 1 byte", "2 bytes", *disks, "largest"]]
    for part in plan.parts:
        sizes = _gib(part.memory[1]), _gib(part.memory[2]), *map(_gb, (part.disk, part.outcome_disk)[: len(disks)])
        rows.append([part.name, f"{part.files:,}", f"{part.positions:,}", _hours(part.seconds), *sizes, part.largest])
    if len(plan.parts) > 1:
        sizes = _gib(plan.memory(1)), _gib(plan.memory(2)), *map(_gb, (plan.disk, plan.outcome_disk)[: len(disks)])
        rows.append(["all", f"{plan.files - plan.finished:,}", f"{plan.positions:,}", _hours(plan.seconds), *sizes, ""])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.ljust(w) if i in (0, len(row) - 1) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
        )
        lines.append("  ".join(cells).rstrip())
    workers = f"{plan.jobs} worker{'s' * (plan.jobs > 1)}"
    lines += [
        "",
        f"Hours are for {workers}, at {rates.retrograde / 1e6:g} million slots a second and worker in passes and "
        f"{rates.acyclic / 1e6:g} million where",
        "placements are gathered (a subspace with slides while placing needs both), measured on the standard game on a",
        "2.6 GHz server core; more workers are taken to help in proportion, which was measured for two only.",
        "Memory is that of the largest file, by bytes a slot: depths beyond 252 plies need two, with outcomes",
        "only where the next capture is so far. Outcomes alone do not lower it: a pass needs a value and a counter of",
        "every slot either way. Its time was measured with depths.",
        *["Depths to a mill take two passes; their bits a slot are taken to be those of the other depths."] * plan.metric.to_mill,
        f"Disk is {rates.depth_bits:g} bits a slot with depths and {rates.outcome_bits:g} with outcomes alone, "
        "as in the standard game.",
    ]
    lines.append("A build may be stopped at any time; finished files are kept and the next one goes on from there.")
    return lines


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2f}" if seconds >= 36 else "< 0.01"


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


def _gb(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
