"""Is an answer right?  Values of a solved subspace against what is known of it.

Compared are the published counts and depths of ``data/published`` and the checksum of all values, from
``data/checksums`` or a finished table, as far as they are there; where nothing is, every slot is recomputed from its
successors (`solver.verify`).  What it was is kept with the measurement.  The number of positions by Burnside's lemma
is compared always.
"""

import csv
import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from solver.checking import recorded_checksums
from solver.jit import Workers
from solver.store import TableStore
from solver.subspace import Subspace, count_canonical
from solver.tally import histograms
from solver.values import deepest, outcome_counts
from solver.variant import Variant
from solver.verify import verify_subspace

from .measuring import BenchmarkError

DATA = Path(__file__).resolve().parent.parent / "data"
_FILES = {
    "nine": ("subspaces_nine", "placement_nine"),
    "nine-nofly": ("subspaces_variants",),
    "nine-strict": ("subspaces_variants",),
}
_FACTS = ("wins", "losses", "draws", "longest_win_plies", "longest_loss_plies")


@lru_cache(maxsize=None)
def published_rows(name: str) -> list[dict[str, str]]:
    """The rows of a file of published values; none where there is no such file."""
    path = DATA / "published" / f"{name}.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_facts(variant: Variant, subspace: Subspace) -> tuple | None:
    """Wins, losses, draws, longest win and loss (0 for none) of a subspace, or None where nobody has published them."""
    for name in _FILES.get(variant.name, ()):
        for row in published_rows(name):
            counts = tuple(int(row.get(key) or 0) for key in Subspace._fields)
            if counts == tuple(subspace) and row.get("variant", variant.name) == variant.name:
                return tuple(int(row[fact] or 0) for fact in _FACTS)
    return None


def check_values(
    variant: Variant, subspace: Subspace, values: np.ndarray, store: TableStore | None, load, workers: Workers
) -> str:
    """Compares the values of a subspace with what is known; says with what, or raises `BenchmarkError`.

    values: flat, in the subspace's own index; store: finished tables of another run, or None; load: see
    `verify_subspace`, asked only where nothing else is known.
    """
    histogram = histograms(variant, subspace, values, workers)[0]
    if int(histogram.sum()) != count_canonical(variant, subspace):
        raise BenchmarkError(
            f"{subspace.name}: {int(histogram.sum()):,} positions, not as many as Burnside's lemma gives"
        )
    known = []
    facts = published_facts(variant, subspace)
    if facts is not None:
        found = *outcome_counts(histogram), *deepest(histogram)
        if found != facts:
            raise BenchmarkError(
                f"{subspace.name}: {dict(zip(_FACTS, found))} where {dict(zip(_FACTS, facts))} is published"
            )
        known.append("published counts")
    kept, name = recorded_checksums(variant).get(subspace.name), "the kept checksum"
    if kept is None and store and store.has(subspace):
        kept, name = store.table(subspace).values_sha256, "the finished table"
    if kept is not None:
        if hashlib.sha256(values).hexdigest() != kept:
            raise BenchmarkError(f"{subspace.name}: the values differ from {name}")
        known.append(name)
    if not known:
        finding = verify_subspace(variant, subspace, values, load, workers)
        if finding.wrong:
            raise BenchmarkError(f"{subspace.name}: {finding.wrong:,} of {finding.slots:,} slots are wrong")
        known.append("every slot recomputed")
    return ", ".join(known)


def published_outcome(variant: Variant) -> str | None:
    """Value of a game's empty board for the first player, as published."""
    return next((row["outcome"] for row in published_rows("empty_board") if row["variant"] == variant.name), None)
