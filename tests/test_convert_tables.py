"""scripts/convert_tables.py: files of format version 1 become what a build writes, and nothing else is touched."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zlib
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


def sealed_as_old(path, change):
    """Changes what stands in a file and gives it a right header of version 1."""
    with h5py.File(path, "r+") as file:
        change(file)
    content = path.read_bytes()[HEADER_SIZE:]
    header = {"format": "morris-table", "version": 1, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_bytes(json.dumps(header).encode().ljust(HEADER_SIZE - 1) + b"\n" + content)


def with_variable_lengths(file):
    for node in (file, *(node for node in file.values() if isinstance(node, h5py.Group))):
        for name, value in read_attributes(node).items():
            del node.attrs[name]
            node.attrs[name] = value


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
    assert old.read_bytes() == again.read_bytes() and sorted(os.listdir(old.parent)) == [".lock", "4-3.h5"]


@pytest.mark.parametrize("metric", [OUTCOME, get_metric("dtm"), get_metric("dtm", 50)], ids=str)
def test_other_metrics_and_own_rules_are_known_again(tmp_path, metric):
    variant = THREE.with_overrides(fly_at=3, full_board="draw")
    pair = parse_subspace("3-3", variant)
    build_tables(tmp_path, variant, [pair], metric=metric)
    path = table_path(tmp_path, variant, pair, metric)
    before = path.read_bytes()
    sealed_as_old(path, with_variable_lengths)
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
    assert "elsewhere.h5: holds 4-3 3-4, which belongs in another file" in said and "nowhere.h5 is left as it is" in said
    assert f"{old} converted" in said and TableFile(old, SIX).metric == DTW


@pytest.mark.parametrize("name, value", [
    ("metric", "dtc"), ("metric", "9"), ("rules", "{"), ("variant", "six,self=5"), ("variant", "chess"), ("variant", 6),
    ("fingerprint", "0" * 16), ("subspaces", "4-3 5-5"), ("subspaces", 43),
])  # fmt: skip
def test_odd_files_do_not_stop_the_others(old, tmp_path, name, value):
    odd = tmp_path / "odd" / "4-3.h5"
    odd.parent.mkdir()
    odd.write_bytes(old.read_bytes())
    sealed_as_old(odd, lambda file: file.attrs.__setitem__(name, value))
    before = odd.read_bytes()
    code, said = convert(odd, old)
    assert code == 1 and odd.read_bytes() == before
    assert said.count("\n") == 2 and f"{odd} is left as it is: " in said and f"{old} converted" in said


def test_values_that_are_not_those_of_their_checksum_stay_old(old):
    sealed_as_old(old, lambda file: file["4-3"].attrs.__setitem__("values_sha256", "0" * 64))
    assert "damaged" in convert(old)[1]  # the attributes have a checksum of their own
    attributes = {"values_sha256": "0" * 64}

    def change(file):
        group = file["4-3"]
        plain = {k: v.item() if hasattr(v, "item") else v for k, v in group.attrs.items()} | attributes
        plain.pop("attributes_crc32")
        group.attrs["attributes_crc32"] = zlib.crc32(json.dumps(plain, sort_keys=True).encode())

    sealed_as_old(old, change)
    code, said = convert(old)
    assert code == 1 and "the values of 4-3 are not those of their checksum" in said


def test_a_link_into_another_file_is_not_followed(old, tmp_path):
    victim = Path(shutil.copy(table_path(SHIPPED_TABLES, SIX, PAIR), tmp_path / "victim.h5"))
    before = victim.read_bytes()

    def change(file):
        del file["3-4"]
        file["3-4"] = h5py.ExternalLink(str(victim), "/3-4")
        file["more"] = h5py.ExternalLink(str(victim), "/4-3")

    sealed_as_old(old, change)
    code, said = convert(old)
    assert code == 1 and "a subspace is missing or leads out of the file" in said and victim.read_bytes() == before


def test_links_and_modes_stay(old, tmp_path):
    link = tmp_path / "link.h5"
    link.symlink_to(old)
    old.chmod(0o440)
    assert convert(link)[0] == 0 and link.is_symlink() and old.stat().st_mode & 0o777 == 0o440
    check_file(old)


def test_without_files_it_says_how_it_is_called():
    code, said = convert()
    assert code == 1 and said.startswith("scripts/convert_tables.py FILE...")
