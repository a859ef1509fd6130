"""Every damaged byte and every cut of every small table is found, and its place named; values are compared with the record."""

import csv
import hashlib
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest
from conftest import ROOT, build_tables, tables_of

from solver import tablefile
from solver.build import all_targets, moving_targets
from solver.checking import RECORDS, check_tables, recorded_checksums
from solver.cli import main
from solver.errors import MissingTableError, TableError
from solver.header import HEADER_SIZE, check_file, write_header
from solver.metric import DTW, OUTCOME
from solver.stats import game_files
from solver.store import TableStore
from solver.subspace import Subspace, count_canonical, parse_subspace, solved_together
from solver.tablefile import TableFile, write_tables
from solver.variant import get_variant

NINE, SIX = get_variant("nine"), get_variant("six")

#: What the words after the file's name may be, by where the damage is.
HEADER = r"no finished morris table; .*|format version .*|the header line is damaged"
CUT = r"\d+ bytes where \d+ were written"
INSIDE = (
    r"HDF5 cannot open it \(.*|the structure is damaged \(.*|the attributes of /\S* are damaged|the row masks are damaged"
    r"|/?\S+ leads out of the file|/\S+ is \w+\(.*\), not \w+\(.*\)|the table of \S+ describes another subspace"
    r"|made for the rules of .*|made with another index or metric|holds .*, which belongs in another file"
)
FOUND = (
    r"the content differs from its checksum: "
    r"(chunk \d+ of \S+ .*|the tally of \S+ .*|nothing that is read from it has changed)"
)


def chunk_places(path):
    """Where in a file the chunks of values stand, as [(first byte, byte behind, subspace, number)]."""
    places = []
    with h5py.File(path, "r", locking=False) as file:
        for name in file.attrs["subspaces"].decode().split():
            values = file[name]["values"]
            for i in range(values.id.get_num_chunks()):
                info = values.id.get_chunk_info(i)
                number = info.chunk_offset[0] // values.chunks[0]
                places.append((info.byte_offset, info.byte_offset + info.size, name, number))
    return places


def everything_read(path, variant):
    """All that is ever read from a file, or a `TableError`."""
    file = TableFile(path, variant)
    try:
        parts = [part for t in file.tables.values() for part in (t.read(), t.histogram(), t.histogram(raw=True))]
        facts = [(t.subspace, t.width, t.positions, t.raw_positions, t.values_sha256) for t in file.tables.values()]
        return file.row_masks.tobytes(), [part.tobytes() for part in parts], facts
    finally:
        file.close()


class Damager:
    """A copy of one table file that is damaged, checked and healed again."""

    def __init__(self, path, folder, variant):
        (folder / variant.name).mkdir(exist_ok=True)
        self.path, self.variant, self.folder = shutil.copy(path, folder / variant.name / path.name), variant, folder
        self.content, self.places = path.read_bytes(), chunk_places(path)
        self.file = parse_subspace(path.stem, variant)
        self.expected = everything_read(self.path, variant)

    def complaint(self):
        """What the check says, without the file's name."""
        store = TableStore(self.folder, self.variant, with_shipped=False)
        try:
            with pytest.raises(TableError) as error:
                check_tables(store, self.file, {})
        finally:
            store.close()
        name, colon, text = str(error.value).partition(f"{self.path}: ")
        assert colon and not name and "\n" not in text
        return text

    def change(self, at, by):
        """Changes one byte; gives 'header', 'chunk', 'inside' or 'unread' by what the check found."""
        with open(self.path, "r+b") as file:
            file.seek(at)
            file.write(bytes([self.content[at] ^ by]))
        text = self.complaint()
        if text.endswith("nothing that is read from it has changed"):
            assert everything_read(self.path, self.variant) == self.expected, f"byte {at}"
            kind = "unread"
        elif at < HEADER_SIZE:
            assert re.fullmatch(f"{HEADER}|{CUT}", text), text
            kind = "header"
        else:
            assert re.fullmatch(f"{INSIDE}|{FOUND}", text), text
            hit = [(name, number) for start, end, name, number in self.places if start <= at < end]
            assert all(f": chunk {number} of {name} " in text for name, number in hit), text
            kind = "chunk" if hit else "inside"
        with open(self.path, "r+b") as file:
            file.seek(at)
            file.write(self.content[at : at + 1])
        return kind

    def cut(self, length):
        self.path.write_bytes(self.content[:length])
        assert re.fullmatch(f"{HEADER}|{CUT}", self.complaint())
        self.path.write_bytes(self.content)


@pytest.mark.parametrize(
    "n_bytes, n_cuts", [(30, 5), pytest.param(1000, 100, marks=pytest.mark.slow)], ids=["some", "thousands"]
)
def test_damage_is_found_and_its_place_named_in_every_file(small_tables, tmp_path, n_bytes, n_cuts, capsys):
    choose = random.Random(1996)
    kinds, cuts, files = Counter(), 0, 0
    for variant, folder in ((NINE, small_tables), (get_variant("three"), ROOT / "data" / "small")):
        for path in sorted((folder / variant.name).glob("*.h5")):
            damager = Damager(path, tmp_path, variant)
            for _ in range(n_bytes):
                kinds[damager.change(choose.randrange(len(damager.content)), choose.randrange(1, 256))] += 1
            for _ in range(n_cuts):
                damager.cut(choose.randrange(len(damager.content)))
                cuts += 1
            assert everything_read(damager.path, variant) == damager.expected
            files += 1
    assert files == 11 and kinds.total() == files * n_bytes and cuts == files * n_cuts
    assert all(kinds[kind] for kind in ("header", "chunk", "inside"))
    with capsys.disabled():
        print(f" {files} files, {kinds.total():,} bytes changed {dict(kinds)}, {cuts:,} cuts: all found")


def test_a_whole_file_passes_and_a_missing_one_is_no_damage(small_tables, tmp_path):
    store = TableStore(small_tables, SIX)
    assert [check_tables(store, file, {}) for file in game_files(store)] == [0] * 71
    with pytest.raises(MissingTableError):
        check_tables(TableStore(tmp_path, NINE), Subspace(4, 3), {})


# ---------------------------------------------------------------- the record


def test_values_that_are_whole_but_others_are_noticed(small_tables, tmp_path):
    """As a build with a fault would write them: nothing is damaged, only wrong."""
    store = TableStore(small_tables, NINE)
    file, tables = store.table(Subspace(4, 3)).file, {}
    for subspace, table in file.tables.items():
        tables[subspace] = table.read()
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in file.tables.items()}
    tables[Subspace(3, 4)][77_777] ^= 1
    write_tables(tmp_path / "nine" / "4-3.h5", NINE, np.array(file.row_masks), tables, tallies)
    recorded = recorded_checksums(NINE)
    assert check_tables(store, Subspace(4, 3), recorded) == 2
    with pytest.raises(TableError, match="the values of 3-4 are whole but not those on record"):
        check_tables(TableStore(tmp_path, NINE), Subspace(4, 3), recorded)


@pytest.mark.parametrize("claimed", ["those on record", "others"])
def test_values_are_hashed_whatever_the_file_says_of_them(small_tables, tmp_path, monkeypatch, capsys, claimed):
    """A whole file with wrong values of 3-4, and with a checksum of values that is not theirs."""
    store = TableStore(small_tables, NINE)
    file = store.table(Subspace(4, 3)).file
    tables = {s: table.read() for s, table in file.tables.items()}
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in file.tables.items()}
    told = {s: t.values_sha256 for s, t in file.tables.items()}
    wrong = Subspace(3, 4)
    tables[wrong][77_777] ^= 1
    if claimed == "others":
        told[wrong] = "0" * 64
    path = tmp_path / "nine" / "4-3.h5"
    honest = tablefile._write_attributes

    def write_attributes(node, attributes):
        if "values_sha256" in attributes:
            attributes = attributes | {"values_sha256": told[parse_subspace(node.name[1:], NINE)]}
        honest(node, attributes)

    monkeypatch.setattr(tablefile, "_write_attributes", write_attributes)
    write_tables(path, NINE, np.array(file.row_masks), tables, tallies)
    store.close()
    check_file(path)
    complaint = f"{path}: the values of 3-4 are not those of its values_sha256; delete it and build it again"
    for pool in (None, ThreadPoolExecutor(2)):
        with pytest.raises(TableError) as error:
            check_tables(TableStore(tmp_path, NINE), wrong, recorded_checksums(NINE), pool)
        assert str(error.value) == complaint
    monkeypatch.setattr(sys, "argv", ["morris", "check", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 4 and capsys.readouterr() == ("", f"morris: {complaint}\n")


def test_the_values_hash_is_that_of_all_values_whatever_their_metric(small_tables, outcome_tables):
    for folder, metric, subspace in ((small_tables, DTW, Subspace(5, 3)), (outcome_tables, OUTCOME, Subspace(4, 3))):
        store = TableStore(folder, NINE, metric=metric)
        table = store.table(subspace)
        assert table.computed_sha256() == table.values_sha256 == hashlib.sha256(table.read()).hexdigest()
        assert table.n_chunks > 1
        store.close()


#: Games on record: with all tables, and with those of the moving phase.
WHOLE = ["five", "four", "nine", "six", "six-fly", "three"]
MOVING = ["eleven", "morabaraba", "nine-nofly", "nine-strict", "ten", "twelve"]


def test_the_record_holds_every_table_of_its_games():
    assert sorted(path.stem for path in RECORDS.glob("*.csv")) == sorted(WHOLE + MOVING)
    for names, targets in ((WHOLE, all_targets), (MOVING, moving_targets)):
        for variant in map(get_variant, names):
            assert list(recorded_checksums(variant)) == [s.name for s in tables_of(variant, targets(variant))]
    assert recorded_checksums(get_variant("lasker")) == recorded_checksums(NINE.with_overrides(stones=7)) == {}


@pytest.mark.parametrize("name", MOVING)
def test_small_tables_of_variants_are_those_on_record(tmp_path, name):
    variant = get_variant(name)
    targets = moving_targets(variant, 8)
    build_tables(tmp_path, variant, targets)
    store, recorded = TableStore(tmp_path, variant, with_shipped=False), recorded_checksums(variant)
    for subspace in tables_of(variant, targets):
        assert hashlib.sha256(store.table(subspace).read()).hexdigest() == recorded[subspace.name]
    store.close()


def test_recorded_positions_were_counted_one_by_one_and_agree_with_burnside():
    """The record's counts come from walking through every slot of the tables, 318 of the standard game."""
    for path in RECORDS.glob("*.csv"):
        variant = get_variant(path.stem)
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                assert int(row["canonical_positions"]) == count_canonical(variant, parse_subspace(row["subspace"], variant))
                assert re.fullmatch("[0-9a-f]{64}", row["values_sha256"])


@pytest.mark.slow
def test_tables_up_to_twelve_stones_are_those_on_record(tmp_path):
    build_tables(tmp_path, NINE, moving_targets(NINE, 12), jobs=2)
    store, recorded = TableStore(tmp_path, NINE, with_shipped=False), recorded_checksums(NINE)
    assert sum(check_tables(store, file, recorded) for file in game_files(store)) == 28
    for file in game_files(store):
        for subspace in solved_together(NINE, file):
            assert hashlib.sha256(store.table(subspace).read()).hexdigest() == recorded[subspace.name]
    store.close()


def test_shipped_tables_are_those_on_record():
    for name in ("three", "four", "five", "six", "six-fly"):
        variant = get_variant(name)
        store = TableStore(ROOT / "data" / "small", variant, with_shipped=False)
        recorded = recorded_checksums(variant)
        on_record = sum(check_tables(store, file, recorded) for file in game_files(store))
        assert on_record == sum(len(solved_together(variant, file)) for file in game_files(store)) == len(recorded)
        store.close()


# ---------------------------------------------------------------- crafted files


def looped_virtual_dataset(path):
    """Values that lie elsewhere, with the list of places, in HDF5's global heap, made endless."""
    with h5py.File(path, "r+") as file:
        shape = file["4-3/values"].shape
        del file["4-3/values"]
        layout = h5py.VirtualLayout(shape=shape, dtype=np.uint8)
        layout[:10] = h5py.VirtualSource("elsewhere.h5", "values", shape=(10, shape[1]))
        file["4-3"].create_virtual_dataset("values", layout)
    content = bytearray(path.read_bytes())
    content[content.index(b"GCOL") + 24] = 0xFF
    path.write_bytes(content)


def looped_external_list(path):
    """Values in another file, with the free space of the local heap that names it made endless."""
    with h5py.File(path, "r+") as file:
        shape = file["4-3/values"].shape
        del file["4-3/values"]
        file["4-3"].create_dataset("values", shape, np.uint8, external=[("x" * 40, 0, 1 << 20)])
    content = bytearray(path.read_bytes())
    at, block = content.index(b"HEAP"), 16
    data = int.from_bytes(content[at + 24 : at + 32], "little") + HEADER_SIZE
    content[at + 16 : at + 24] = block.to_bytes(8, "little")
    content[data + block : data + block + 16] = block.to_bytes(8, "little") + (8).to_bytes(8, "little")
    path.write_bytes(content)


@pytest.mark.parametrize("craft", [looped_virtual_dataset, looped_external_list])
def test_files_made_to_keep_hdf5_busy_for_ever_are_refused_before_it_sees_them(small_tables, tmp_path, craft):
    path = tmp_path / "six" / "4-3.h5"
    path.parent.mkdir()
    shutil.copy(small_tables / "six" / "4-3.h5", path)
    craft(path)
    write_header(path)
    command = [sys.executable, "-c", "from solver.cli import main; main()", "check", "-V", "six", "--data", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 4 and "4-3.h5: it has a heap without checksums" in done.stdout + done.stderr
