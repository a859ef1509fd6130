"""scripts/convert_tables.py: files of format version 1 become what a build writes, and nothing else is touched."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from conftest import build_tables

from solver.attributes import read_attributes
from solver.header import HEADER_SIZE, check_file
from solver.metric import DTW, OUTCOME, get_metric
from solver.store import SHIPPED_TABLES, TableStore, table_path
from solver.subspace import parse_subspace
from solver.tablefile import TableFile, write_tables
from solver.variant import get_variant

SCRIPT = Path(__file__).parent.parent / "scripts" / "convert_tables.py"
VERSION_1 = Path(__file__).parent / "data" / "version_1.h5"
SIX, THREE = get_variant("six"), get_variant("three")
PAIR = parse_subspace("4-3", SIX)


def convert(*paths):
    done = subprocess.run([sys.executable, SCRIPT, *paths], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def make_old(path):
    """Rewrites a file as version 1 had it: text of variable length, and that version in the header."""
    with h5py.File(path, "r+") as file:
        for node in (file, *(node for node in file.values() if isinstance(node, h5py.Group))):
            for name, value in read_attributes(node).items():
                del node.attrs[name]
                node.attrs[name] = value
    content = path.read_bytes()[HEADER_SIZE:]
    header = {"format": "morris-table", "version": 1, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_bytes(json.dumps(header).encode().ljust(HEADER_SIZE - 1) + b"\n" + content)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "six" / "4-3.h5"
    path.parent.mkdir()
    path.write_bytes(VERSION_1.read_bytes())
    return path


def test_a_file_of_version_1_becomes_what_a_build_writes(old, tmp_path):
    assert convert(old) == (0, f"{old} converted\n")
    check_file(old)
    shipped = TableFile(table_path(SHIPPED_TABLES, SIX, PAIR), SIX)
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in shipped.tables.items()}
    again = tmp_path / "again" / "4-3.h5"
    write_tables(again, SIX, shipped.row_masks, {s: t.read() for s, t in shipped.tables.items()}, tallies)
    assert old.read_bytes() == again.read_bytes() and os.listdir(old.parent) == ["4-3.h5"]


@pytest.mark.parametrize("metric", [OUTCOME, get_metric("dtm"), get_metric("dtm", 50)], ids=str)
def test_other_metrics_and_own_rules_are_known_again(tmp_path, metric):
    variant = THREE.with_overrides(fly_at=3, full_board="draw")
    pair = parse_subspace("3-3", variant)
    build_tables(tmp_path, variant, [pair], metric=metric)
    path = table_path(tmp_path, variant, pair, metric)
    before = path.read_bytes()
    make_old(path)
    assert path.read_bytes() != before and convert(path)[0] == 0
    assert path.read_bytes() == before
    TableStore(tmp_path, variant, metric=metric).table(pair).read()


def test_what_is_damaged_or_of_another_version_is_left_alone(old, tmp_path):
    whole = old.read_bytes()
    names = []
    for name, content in {
        "byte.h5": whole[:20_000] + bytes([whole[20_000] ^ 1]) + whole[20_001:], "cut.h5": whole[:-1], "empty.h5": b"",
        "text.h5": b"[]" * 400, "newer.h5": whole.replace(b'"version": 1', b'"version": 2', 1),
        "elsewhere.h5": whole,
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
        names.append(tmp_path / name)
    before = {path: path.read_bytes() for path in names}
    code, said = convert(*names, tmp_path / "nowhere.h5", old)
    assert code == 1 and {path: path.read_bytes() for path in names} == before
    assert said.count("the content differs from its checksum") == 2 and said.count("no table of format version 1") == 3
    assert "elsewhere.h5: holds 4-3 3-4, which belongs in another file" in said and "nowhere.h5" in said
    assert f"{old} converted" in said and TableFile(old, SIX).metric == DTW


def test_without_files_it_says_how_it_is_called():
    code, said = convert()
    assert code == 1 and said.startswith("scripts/convert_tables.py FILE...")
