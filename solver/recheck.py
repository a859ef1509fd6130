"""Verification of whole files, of any metric.

Values with depths prove themselves (see the head of `verify`), and so do outcomes where every turn leads to a finished
table.  Outcomes alone do not where quiet moves lead back: two positions that call each other won and lost, round a
cycle that never ends, agree with their successors in every slot.  There the depths are found once more, from the stored
tables below; `verify` proves them, slot by slot, with code of its own; and their outcomes are compared with those stored.
"""

from collections.abc import Iterator

from .build import Builder, in_narrowest
from .errors import MorrisError
from .metric import outcome_codes
from .planning import is_retrograde
from .subspace import Subspace, solved_together
from .verify import Finding, count_wrong, verify_subspace, verify_table, with_tally


def verify_file(builder: Builder, file: Subspace) -> Iterator[tuple[Subspace, Finding]]:
    """Verifies the stored tables of a file, one after the other, their tallies included."""
    if not builder.metric.has_depths and is_retrograde(builder.variant, file):
        yield from _verify_outcomes(builder, file)
        return
    together = solved_together(builder.variant, file)

    def load(subspace, rows_own, width):
        return builder.load(subspace, rows_own, width, as_stored=subspace in together)

    for subspace in together:
        finding = verify_table(builder.variant, subspace, builder.store, load, builder.workers)
        table = builder.store.table(subspace)
        longest_win, longest_loss = table.metric.deepest(table.histogram())
        most = table.metric.max_depth(table.width)
        if not finding.wrong and (longest_win > most + 1 or longest_loss > most):
            finding = Finding(finding.slots, 1, 0)  # so deep that its predecessors' depths would not fit
        yield subspace, finding


def _verify_outcomes(builder: Builder, file: Subspace) -> Iterator[tuple[Subspace, Finding]]:
    variant, workers = builder.variant, builder.workers
    solved = in_narrowest(lambda width: builder.solve_depths(file, width))
    with builder.holding(solved):
        for subspace, depths in solved.items():
            finding = verify_subspace(
                variant, subspace, depths, lambda s, rows_own, w=depths.itemsize: builder.load(s, rows_own, w), workers
            )
            if finding.wrong:
                raise MorrisError(f"the depths of {subspace.name} found again contradict each other; the machine may be faulty")
    for subspace in solved_together(variant, file):
        table = builder.store.table(subspace)
        values = table.read(workers.pool)
        finding = Finding(len(values), *map(int, count_wrong(values, 0, outcome_codes(solved[subspace]))))
        yield subspace, with_tally(variant, subspace, table, values, finding, workers)
