"""Tables that many tests share, and helpers that look into them in a slow and obvious way.

Tests marked slow run only when asked for: ``-m slow`` those alone, ``-m "slow or not slow"`` all.
"""

import hashlib
import os
import signal
import subprocess
import sys
from bisect import bisect_left
from functools import lru_cache
from itertools import combinations
from math import comb
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import pytest

from solver.build import Builder, all_targets, moving_targets, plan
from solver.conversions import shape_of
from solver.jit import Workers
from solver.metric import DTW, OUTCOME
from solver.reindex import exchanged
from solver.retrograde import solve_together
from solver.store import TableStore, table_path
from solver.subspace import dependencies, solved_together
from solver.tablefile import write_tables
from solver.tally import histograms
from solver.values import DTYPES, decode
from solver.variant import get_variant

ROOT = Path(__file__).parent.parent


def pytest_configure(config):
    # A shell starts jobs in its background with interrupts ignored, which all processes started from here would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not config.option.markexpr:
        config.option.markexpr = "not slow"


# ---------------------------------------------------------------- tables on disk


def build_tables(folder, variant, targets, jobs=1, metric=DTW):
    """Builds the targets and what they need; finished files are kept."""
    builder = Builder(variant, folder, jobs, metric=metric)
    try:
        builder.build(plan(variant, builder.store, targets))
    finally:
        builder.close()


def contents(folder):
    """{file name: digest of its bytes}, for each table file in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.h5"))}


@pytest.fixture(scope="session")
def small_tables(tmp_path_factory):
    """Folder with nine up to 8 stones and the whole game of six.  Only for reading; who damages a file copies it."""
    folder = tmp_path_factory.mktemp("tables")
    nine, six = get_variant("nine"), get_variant("six")
    build_tables(folder, nine, moving_targets(nine, 8))
    build_tables(folder, six, all_targets(six))
    return folder


def copy_outcomes(source, folder, variant, files):
    """Tables with the outcomes of those in another folder, written without solving anything."""
    store = TableStore(source, variant)
    for file in files:
        tables = {s: store.table(s) for s in solved_together(variant, file)}
        tallies = {
            s: tuple(_outcome_tally(table.histogram(raw)) for raw in (False, True)) for s, table in tables.items()
        }
        values = {s: OUTCOME.kept(table.read()) for s, table in tables.items()}
        path = table_path(folder, variant, file, OUTCOME)
        write_tables(path, variant, tables[file].file.row_masks, values, tallies, metric=OUTCOME)
    store.close()


def _outcome_tally(histogram):
    draw = len(histogram) // 2
    tally = np.zeros(256, np.int64)
    tally[[0, 128, 255]] = histogram[:draw].sum(), histogram[draw], histogram[draw + 1 :].sum()
    return tally


@pytest.fixture(scope="session")
def outcome_tables(small_tables, tmp_path_factory):
    """The same as small_tables, but outcomes alone."""
    folder = tmp_path_factory.mktemp("outcome-tables")
    nine, six = get_variant("nine"), get_variant("six")
    copy_outcomes(small_tables, folder, nine, moving_targets(nine, 8))
    copy_outcomes(small_tables, folder, six, all_targets(six))
    return folder


@pytest.fixture(scope="session")
def nine_store(small_tables):
    store = TableStore(small_tables, get_variant("nine"))
    yield store
    store.close()


@pytest.fixture(scope="session")
def six_store(small_tables):
    store = TableStore(small_tables, get_variant("six"))
    yield store
    store.close()


@pytest.fixture(scope="session")
def workers():
    pool = Workers(1)
    yield pool
    pool.close()


# ---------------------------------------------------------------- tables in memory


class MemoryTables:
    """Tables of a game in a dictionary, with what `verify_table` needs of a store."""

    def __init__(self, variant, workers, width=1):
        self.variant, self.workers, self.width = variant, workers, width
        self.values, self.tallies = {}, {}

    def solve(self, targets=None):
        """Solves files and what they need, all files of the game by default."""
        for file in all_targets(self.variant) if targets is None else targets:
            if file not in self.values:
                self.solve(dependencies(self.variant, file))
                self.values.update(solve_together(self.variant, file, self.width, self.load, self.workers))
        return self

    def load(self, subspace, rows_own, width=None):
        row_stones, column_stones = subspace[:2] if rows_own else subspace[1::-1]
        if subspace.is_over:
            return np.zeros(shape_of(self.variant, row_stones, column_stones).size, DTYPES[self.width])
        values = self.values[subspace]
        if rows_own != subspace.rows_are_own:
            values = exchanged(self.variant, column_stones, row_stones, values, self.workers)
        return values

    def table(self, subspace):
        values = self.values[subspace]
        tally = self.tallies.get(subspace) or histograms(self.variant, subspace, values, self.workers)
        return SimpleNamespace(read=lambda pool: values, width=self.width, metric=DTW, histogram=lambda raw: tally[raw])


# ---------------------------------------------------------------- slots and positions, the slow way


@lru_cache(maxsize=None)
def ascending_patterns(n, k):
    """All n-bit numbers with k bits set, ascending: the meaning of columns."""
    return np.array(sorted(sum(1 << p for p in chosen) for chosen in combinations(range(n), k)), np.uint32)


@lru_cache(maxsize=None)
def canonical_masks(board, stones):
    """Smallest masks of their orbits with that many stones, ascending: the meaning of rows."""
    masks = (sum(1 << p for p in chosen) for chosen in combinations(range(board.n_points), stones))
    return np.array(sorted({board.canonical(mask)[0] for mask in masks}), np.uint32)


def slot_masks(variant, subspace, row_masks):
    """Masks of the side to move and of the other side for every slot of a table, in order."""
    n = variant.board.n_points
    row_stones, column_stones = subspace[:2] if subspace.rows_are_own else subspace[1::-1]
    columns = ascending_patterns(n - row_stones, column_stones)
    rows, cols = [], []
    for row in row_masks:
        free = [p for p in range(n) if not int(row) >> p & 1]
        rows.append(np.full(len(columns), row, np.uint32))
        cols.append(sum((columns >> i & 1) << p for i, p in enumerate(free)).astype(np.uint32))
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    return (rows, cols) if subspace.rows_are_own else (cols, rows)


def reader(store):
    """A function that gives outcome and depth of one position in a store's tables, as ("win", 5)."""
    board = store.variant.board
    canonical, tables = lru_cache(maxsize=None)(board.canonical), {}

    def value(subspace, own, opponent):
        if subspace not in tables:
            table = store.table(subspace)
            tables[subspace] = table.read().reshape(table.n_rows, -1), table.file.row_masks.tolist(), table.width
        values, row_masks, width = tables[subspace]
        x, y = (own, opponent) if subspace.rows_are_own else (opponent, own)
        smallest, symmetry = canonical(x)
        y = board.image(y, symmetry)
        free = [p for p in range(board.n_points) if not smallest >> p & 1]
        stones = [i for i, p in enumerate(free) if y >> p & 1]
        column = sum(comb(i, n) for n, i in enumerate(stones, 1))
        outcome, depth = decode(values[bisect_left(row_masks, smallest), column], width)
        return str(outcome), depth

    return value


# ---------------------------------------------------------------- the slow twin


def twin_rules(variant):
    """A variant's rules as the oracle writes them."""
    return oracle.Rules(
        board=variant.board_name,
        stones=variant.stones,
        fly_at=variant.fly_at,
        capture_in_mills={"any": "when_all", "none": "never"}[variant.capture_in_mills],
        place_and_slide=variant.place_and_slide,
        full_board=variant.full_board,
    )


@lru_cache(maxsize=None)
def point_names(board, mask):
    return frozenset(name for p, name in enumerate(board.points) if mask >> p & 1)


def twin_positions(variant, subspace, row_masks):
    """The oracle's positions for every slot of a table, in order."""
    masks = slot_masks(variant, subspace, row_masks)
    own, opponent = ([point_names(variant.board, m) for m in side.tolist()] for side in masks)
    return [oracle.Position(a, b, *subspace[2:]) for a, b in zip(own, opponent)]


def tables_of(variant, files):
    """All ordered subspaces in these files."""
    return [s for file in files for s in solved_together(variant, file)]


# ---------------------------------------------------------------- other processes


@pytest.fixture(scope="session")
def run_python():
    """Runs code in a new interpreter with changed environment variables; gives what it printed."""

    def run(code, *arguments, **environment):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
