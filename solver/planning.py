"""What a build costs: hours, memory and disk, for games that outgrow an evening as well.

A build says it before it begins, `morris build --estimate` prints it and builds nothing, and a cluster goes by the
seconds of each file.  The work has two kinds with rates of their own: *retrograde*
subspaces, where quiet turns lead back (the moving phase, and all of the placing where a turn may slide), and *acyclic*
ones, where every turn leads to a finished table.  Rates were measured on the standard game; what larger games add to
them is said beside the numbers.
"""

from dataclasses import dataclass

from .conversions import shape_of, table_shape
from .counting import BLOCK
from .metric import DTW, Metric
from .retrograde import MOST_DEPTHS, frontier_limit
from .subspace import Subspace, count_canonical, solved_together
from .values import DTYPES
from .variant import MIN_STONES, Variant

#: Interpreter with libraries and kernels: 160 MiB where these come from the cache, up to 350 where they are compiled on the
#: way; the orbit tables of the board come on top.
BASE_MEMORY = 352 << 20
#: Bytes a row for lists of edges: those kept, and what making one takes, which the allocator does not give back.
EDGE_BYTES = 3000


@dataclass(frozen=True)
class Rates:
    """Slots a second and worker of both kinds of work, and bits a slot on disk with depths and without.

    Rates were measured on a 2.6 GHz server core; newer ones took from half to nine tenths of the time that follows.
    Bits are those of all tables of the standard game, compressed as stored; outcomes alone with four to the byte.
    """

    retrograde: float = 9e6
    acyclic: float = 13e6
    depth_bits: float = 3.1
    outcome_bits: float = 0.65
    mill_bits: float = 3.1

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


def n_passes(metric: Metric) -> int:
    """How often a pass goes over a pair; see `to_mill`."""
    return 2 if metric.to_mill else 1


def part_name(variant: Variant, file: Subspace) -> str:
    """The part of a plan that a file belongs to."""
    if not file.is_placing:
        return "moving (retrograde)"
    return "placing, with slides (retrograde)" if is_retrograde(variant, file) else "placing (acyclic)"


def plan_build(
    variant: Variant, jobs: int, files: list[Subspace], store=None, rates: Rates = Rates(), metric: Metric = DTW
) -> BuildPlan:
    """The cost of building ``files``, in this order, with so many workers.

    A subspace where a turn may place or slide costs both kinds of work: its placements are gathered, then comes a pass.

    store: a `TableStore` whose finished files are left out; jobs: speed-up is taken to be proportional to them.
    """
    missing = [file for file in files if store is None or not store.has(file)]
    by_name: dict[str, list[Subspace]] = {}
    for file in missing:
        by_name.setdefault(part_name(variant, file), []).append(file)
    before = dict(zip(missing[1:], missing))
    parts = tuple(_part(variant, name, group, before, jobs, rates, metric) for name, group in by_name.items())
    return BuildPlan(variant, jobs, rates, len(files), len(files) - len(missing), parts, metric)


def _part(
    variant: Variant, name: str, files: list[Subspace], before: dict, jobs: int, rates: Rates, metric: Metric
) -> Part:
    """``before``: the file that is still being written while another is solved, by that other."""
    positions = stored_slots = largest_slots = 0
    seconds, memory, largest = 0.0, {width: 0 for width in DTYPES}, files[0]
    for file in files:
        together, slots = solved_together(variant, file), table_shape(variant, file).size
        positions += sum(count_canonical(variant, s) for s in together)
        stored_slots += slots * len(together)
        # A pass works on both sides to move, also where they are each other's twin and one is stored.
        tables = 2 * n_passes(metric) if is_retrograde(variant, file) else 1
        seconds += slots * tables / jobs * sum(1 / rate for rate in _rates(variant, file, rates))
        for width in memory:
            memory[width] = max(memory[width], memory_needed(variant, file, width, before.get(file), metric))
        if slots > largest_slots:
            largest, largest_slots = file, slots
    disk, outcome_disk = (int(stored_slots * bits / 8) for bits in (rates.bits(metric), rates.outcome_bits))
    return Part(name, len(files), positions, seconds, memory, disk, outcome_disk, largest.name)


def _rates(variant: Variant, file: Subspace, rates: Rates) -> list[float]:
    kinds = (is_retrograde(variant, file), rates.retrograde), (file.is_placing, rates.acyclic)
    return [rate for applies, rate in kinds if applies]


def memory_needed(
    variant: Variant, file: Subspace, width: int = 1, before: Subspace | None = None, metric: Metric = DTW
) -> int:
    """Peak resident bytes while a file is solved and ``before``, if there is one, is still being written.

    Never less than is used, and at most a tenth more where values fill all of ``width`` (see tests/test_memory.py).
    """
    slots = table_shape(variant, file).size
    shape = shape_of(variant, *sorted(file[:2], reverse=True))
    making_orbits, orbit_tables = 7 << variant.board.n_points, 5 << variant.board.n_points
    written = table_shape(variant, before).size * len(solved_together(variant, before)) * width if before else 0
    if is_retrograde(variant, file):
        first = file if file.rows_are_own else file.twin
        most = max(_gathering(variant, first, True), slots + _gathering(variant, first.twin, False))
        tally = 2 if shape.n_columns <= 0xFFFF else 4
        marks = 8 * shape.n_rows * -(-shape.n_columns // BLOCK)
        sides = 2 * (slots * width + slots + marks + tally * shape.n_rows * MOST_DEPTHS[width])
        solving = sides + 4 * min(slots, frontier_limit(slots))
    else:
        most, solving = _gathering(variant, file, file.rows_are_own), 0
    if metric.to_mill:  # what the second pass begins with, while the first one runs
        most, solving = most + 2 * slots, solving + 2 * slots * width
    edges = EDGE_BYTES * shape.n_rows
    return BASE_MEMORY + max(making_orbits, orbit_tables + edges + written + max(width * most, solving))


def _gathering(variant: Variant, subspace: Subspace, rows_own: bool) -> int:
    """Most slots that are in memory at once while the conversions of a subspace are gathered, the result included."""
    own, opponent, own_hand, opponent_hand = subspace

    def loaded(child: Subspace, child_rows_own: bool) -> int:
        """A child's slots, twice where its rows and columns must be exchanged."""
        return 0 if child.is_over else table_shape(variant, child).size * (1 + (child_rows_own != child.rows_are_own))

    def removal(mover_on_board: int, mover_hand: int, owed: int) -> int:
        """From the loading of the values after a removal to those of the ``owed`` slots before it."""
        child = Subspace(opponent - 1, mover_on_board, opponent_hand, mover_hand)
        return max(loaded(child, not rows_own), owed + (0 if child.is_over else table_shape(variant, child).size))

    most = here = table_shape(variant, subspace).size
    if own_hand and subspace.stones_on_board < variant.board.n_points:
        after = Subspace(opponent, own + 1, opponent_hand, own_hand - 1)
        quiet = table_shape(variant, after).size
        most = max(most, here + loaded(after, not rows_own))
        if after.opponent >= MIN_STONES and opponent:
            most = max(most, here + quiet + removal(own + 1, own_hand - 1, quiet))
    if (not own_hand or variant.place_and_slide) and own >= MIN_STONES and opponent:
        most = max(most, here + removal(own, own_hand, here))
    return most


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
