"""Table files: what is written comes back, what is damaged or foreign is refused, nothing half-written counts."""

import contextlib
import gc
import json
import os
import pickle
import random
import shutil
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest

from solver import tablefile
from solver.attributes import read_attributes, write_attributes
from solver.errors import InputError, MissingTableError, MorrisError, TableError
from solver.header import HEADER_SIZE, check_file, write_header
from solver.indexing import Indexer
from solver.metric import DTW, OUTCOME
from solver.store import SHIPPED_TABLES, TableStore, require_writable, table_path
from solver.subspace import Subspace, solved_together
from solver.symmetry import orbits
from solver.tablefile import TableFile, write_tables
from solver.values import DTYPES
from solver.variant import get_variant
from solver.wholefile import UNFINISHED

NINE, SIX = get_variant("nine"), get_variant("six")
PAIR = Subspace(4, 3)


def made_up_tables(width=1, seed=11):
    """Row masks, values and tallies for the pair 4-3 of six; the values mean nothing."""
    rng = np.random.default_rng(seed)
    rows = orbits(SIX.board).rows(4)
    tables = {s: rng.integers(0, 1 << 8 * width, len(rows) * 220).astype(DTYPES[width]) for s in solved_together(SIX, PAIR)}
    tallies = {s: tuple(rng.integers(0, 99, (2, 1 << 8 * width))) for s in tables}
    return rows, tables, tallies


def write_made_up(folder, width=1, pool=None):
    rows, tables, tallies = made_up_tables(width)
    path = table_path(folder, SIX, PAIR)
    write_tables(path, SIX, rows, tables, tallies, pool)
    return path, rows, tables, tallies


@pytest.fixture
def copied(small_tables, tmp_path):
    """Copies one file of the small tables, to be damaged: copied("nine", "4-3") gives its path."""

    def copy(variant, name):
        target = tmp_path / variant / f"{name}.h5"
        target.parent.mkdir(exist_ok=True)
        return shutil.copy(small_tables / variant / f"{name}.h5", target)

    return copy


def change_byte(path, at, by=1):
    content = bytearray(path.read_bytes())
    content[at] = (content[at] + by) % 256
    path.write_bytes(content)


# ---------------------------------------------------------------- round trip


@pytest.mark.parametrize("width", DTYPES)
@pytest.mark.parametrize("chunk_bytes", [1, 1000, 1 << 16])
def test_what_is_written_comes_back(tmp_path, monkeypatch, width, chunk_bytes):
    monkeypatch.setattr(tablefile, "CHUNK_BYTES", chunk_bytes)
    path, rows, tables, tallies = write_made_up(tmp_path, width)
    check_file(path)
    file = TableFile(path, SIX)
    assert np.array_equal(file.row_masks, rows)
    assert list(file.tables) == [Subspace(4, 3), Subspace(3, 4)]
    for subspace, table in file.tables.items():
        values = tables[subspace]
        assert table.width == width and table.dtype == DTYPES[width]
        assert np.array_equal(table.read(), values) and table.read().dtype == DTYPES[width]
        by_chunks = np.concatenate([table.chunk(i) for i in range(table.n_chunks)])
        assert np.array_equal(by_chunks[: len(rows)].reshape(-1), values)
        for raw in (False, True):
            assert np.array_equal(table.histogram(raw), tallies[subspace][raw])
        assert (table.positions, table.raw_positions) == tuple(int(h.sum()) for h in tallies[subspace])
    file.close()


def test_h5py_alone_reads_the_same(tmp_path):
    path, rows, tables, _ = write_made_up(tmp_path)
    with h5py.File(path, "r", locking=False) as file:
        assert np.array_equal(file["rows"], rows)
        for subspace, values in tables.items():
            assert np.array_equal(file[subspace.name]["values"][()].reshape(-1), values)
            assert file[subspace.name].attrs["row_side"] == (b"own" if subspace.own == 4 else b"opponent")
        assert json.loads(file.attrs["rules"]) == SIX.rules()
    assert b"GCOL" not in path.read_bytes()  # nothing in the global heap, which HDF5 does not check


def test_the_same_bytes_with_and_without_helpers(tmp_path):
    with ThreadPoolExecutor(3) as pool:
        contents = [write_made_up(tmp_path / name, pool=p)[0].read_bytes() for name, p in (("a", None), ("b", pool), ("c", pool))]
    assert contents[0] == contents[1] == contents[2]


def test_the_same_bytes_whenever_python_frees_a_dataset(tmp_path, monkeypatch):
    freed_at_once = write_made_up(tmp_path / "a")[0].read_bytes()
    kept, create = [], h5py.Group.create_dataset

    def create_and_keep(*args, **kwargs):
        kept.append(create(*args, **kwargs))
        return kept[-1]

    monkeypatch.setattr(h5py.Group, "create_dataset", create_and_keep)
    assert write_made_up(tmp_path / "b")[0].read_bytes() == freed_at_once
    assert kept


def test_many_threads_read_at_once(six_store):
    table = six_store.table(Subspace(5, 4))
    expected = table.read()
    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(values, expected) for values in pool.map(lambda _: table.read(), range(24)))
        assert np.array_equal(table.read(pool), expected)


def test_the_header_is_one_line(copied):
    path = copied("nine", "3-3")
    line = path.read_bytes()[:HEADER_SIZE]
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    header = json.loads(line)
    assert (header["format"], header["version"], header["bytes"]) == ("morris-table", 2, path.stat().st_size - HEADER_SIZE)


def test_a_store_opens_no_more_files_than_asked(small_tables):
    store = TableStore(small_tables, NINE, max_open=1)
    first, second = store.table(Subspace(4, 3)), store.table(Subspace(5, 3))
    assert len(store._open) == 1
    assert first.read().size == 757 * 1140 and second.read().size == 2830 * 969
    store.close()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files are open")
def test_a_forgotten_file_is_closed_with_its_last_user(small_tables, tmp_path):
    shutil.copytree(small_tables / "nine", tmp_path / "nine")  # other tests have those files open
    store = TableStore(tmp_path, NINE, max_open=1)
    gc.disable()  # nobody has to look for cycles first
    try:
        first = store.table(Subspace(4, 3))
        store.table(Subspace(5, 3))
        assert open_tables(tmp_path) == ["4-3.h5", "5-3.h5"]
        del first
        assert open_tables(tmp_path) == ["5-3.h5"]
    finally:
        gc.enable()
        store.close()
    assert not open_tables(tmp_path)


def open_tables(folder):
    targets = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them
            targets.append(descriptor.readlink())
    return sorted(path.name for path in targets if path.is_relative_to(folder))


# ---------------------------------------------------------------- nothing half-written


@pytest.mark.parametrize("broken", ["_write_dataset", "write_header", "_sync_folder", "_write_attributes"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch, broken):
    path, *_ = write_made_up(tmp_path)
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tablefile, broken, fail)
    rows, tables, tallies = made_up_tables(seed=12)
    with pytest.raises(OSError, match="No space left"):
        write_tables(path, SIX, rows, tables, tallies)
    monkeypatch.undo()
    if broken != "_sync_folder":  # by then the new file is whole and in its place
        assert path.read_bytes() == before
    check_file(path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_an_unfinished_file_is_no_table(tmp_path):
    path, *_ = write_made_up(tmp_path)
    unfinished = path.rename(path.with_name(path.name + UNFINISHED))
    store = TableStore(tmp_path, SIX, with_shipped=False)
    assert not store.has(PAIR)
    with pytest.raises(MissingTableError):
        store.table(PAIR)
    # What a killed build leaves has no header yet.  Under the right name it would still be refused.
    content = unfinished.read_bytes()
    path.write_bytes(bytes(HEADER_SIZE) + content[HEADER_SIZE:])
    with pytest.raises(TableError, match="no finished morris table"):
        store.table(PAIR)


def test_a_missing_table_says_which_and_how_to_make_it(tmp_path):
    with pytest.raises(MissingTableError) as error:
        TableStore(tmp_path, NINE).table(Subspace(4, 5))
    message = str(error.value)
    assert message == f"the table 4-5 of nine is missing in {tmp_path}; 'morris build -V nine --data {tmp_path} --subspace 4-5' makes it"
    assert error.value.subspace == "4-5" and isinstance(error.value, KeyError)
    copied = pickle.loads(pickle.dumps(error.value))  # as a worker process hands it on
    assert (str(copied), copied.subspace) == (message, "4-5")


def test_exit_codes():
    assert (MorrisError.exit_code, InputError.exit_code, MissingTableError.exit_code, TableError.exit_code) == (1, 2, 3, 4)


def test_a_folder_that_cannot_be_written(tmp_path):
    require_writable(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to the data folder"):
        require_writable(tmp_path / "file" / "nine")


# ---------------------------------------------------------------- damage


def read_everything(path, variant):
    """All that can be read from a file, or a `TableError`."""
    file = TableFile(path, variant)
    try:
        return [file.row_masks.tobytes()] + [
            part.tobytes() for t in file.tables.values() for part in (t.read(), t.histogram(), t.histogram(raw=True))
        ]
    finally:
        file.close()


@pytest.mark.parametrize("variant, name", [("nine", "4-3"), ("six", "2-3+3-3")])
def test_every_changed_byte_is_found(copied, variant, name):
    path = copied(variant, name)
    check_file(path)
    content = path.read_bytes()
    choose = random.Random(13)
    places = list(range(HEADER_SIZE)) + [choose.randrange(HEADER_SIZE, len(content)) for _ in range(300)]
    for at in places:
        changed = bytearray(content)
        changed[at] ^= choose.randrange(1, 256)
        path.write_bytes(changed)
        with pytest.raises(TableError) as error:
            check_file(path)
        assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_changed_byte_is_never_read_as_a_value(copied):
    path = copied("six", "4-4")
    expected, content = read_everything(path, SIX), path.read_bytes()
    choose, n_found = random.Random(14), 0
    for at in choose.sample(range(HEADER_SIZE, len(content)), 250):
        changed = bytearray(content)
        changed[at] ^= 1 << choose.randrange(8)
        path.write_bytes(changed)
        try:
            assert read_everything(path, SIX) == expected, f"byte {at}"
        except TableError:
            n_found += 1
    assert n_found > 100  # HDF5 leaves unused bytes


def test_every_truncation_is_found(copied):
    path = copied("nine", "4-3")
    content = path.read_bytes()
    choose = random.Random(15)
    for length in [0, 1, HEADER_SIZE - 1, HEADER_SIZE, len(content) - 1] + [choose.randrange(len(content)) for _ in range(40)]:
        path.write_bytes(content[:length])
        with pytest.raises(TableError):
            check_file(path)
        with pytest.raises(TableError):
            TableFile(path, NINE)
    path.write_bytes(content + b"\0")
    with pytest.raises(TableError):
        TableFile(path, NINE)


def test_a_probe_into_a_damaged_chunk_raises(copied):
    path = copied("nine", "4-3")
    with h5py.File(path, "r", locking=False) as file:
        place = file["4-3/values"].id.get_chunk_info(5)
        right = file["4-3/values"][5 * chunk_rows(file) : 6 * chunk_rows(file)]
    n_found = 0
    places = random.Random(17).sample(range(place.byte_offset, place.byte_offset + place.size), 60)
    for at in places:
        change_byte(path, at)
        table = TableFile(path, NINE).tables[PAIR]
        try:
            assert np.array_equal(table.chunk(5), right)  # a bit of the frame that nobody reads
        except TableError as error:
            assert "chunk 5 of 4-3" in str(error)
            n_found += 1
            with pytest.raises(TableError, match="chunk 5 of 4-3"):
                table.read()
        table.chunk(4), table.chunk(6)
        table.file.close()
        change_byte(path, at, by=-1)
    check_file(path)
    assert n_found > 45


def chunk_rows(file):
    return file["4-3/values"].chunks[0]


def test_a_chunk_in_another_ones_place_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tablefile, "CHUNK_BYTES", 10 * 220)
    rows, tables, tallies = made_up_tables()
    values = tables[PAIR]
    values[: 10 * 220], values[10 * 220 : 20 * 220] = 7, 9  # compressed they have the same size
    path = table_path(tmp_path, SIX, PAIR)
    write_tables(path, SIX, rows, tables, tallies)
    with h5py.File(path, "r", locking=False) as file:
        a, b = (file["4-3/values"].id.get_chunk_info(i) for i in (0, 1))
    assert a.size == b.size
    content = bytearray(path.read_bytes())
    one, other = slice(a.byte_offset, a.byte_offset + a.size), slice(b.byte_offset, b.byte_offset + b.size)
    content[one], content[other] = content[other], content[one]
    path.write_bytes(content)
    table = TableFile(path, SIX).tables[PAIR]
    for chunk in (0, 1):
        with pytest.raises(TableError, match="damaged"):
            table.chunk(chunk)


# ---------------------------------------------------------------- files that belong elsewhere


def test_a_file_of_another_subspace_is_refused(copied):
    path = copied("nine", "4-3")
    shutil.copy(path, path.with_name("5-3.h5"))
    with pytest.raises(TableError, match="holds 4-3 3-4, which belongs in another file"):
        TableStore(path.parent.parent, NINE).table(Subspace(3, 5))


@pytest.mark.parametrize("other", ["six-fly", "four"])
def test_a_file_of_other_rules_is_refused(copied, other):
    path = copied("six", "4-3")
    shutil.copytree(path.parent, path.parent.parent / other)
    with pytest.raises(TableError, match=f"made for the rules of six, not of {other}"):
        TableStore(path.parent.parent, get_variant(other)).table(PAIR)


def test_tables_of_small_games_come_with_the_program(tmp_path):
    """They are taken where the folder has none, and what is in the folder goes first."""
    store = TableStore(tmp_path, SIX)
    assert store.has(PAIR) and store.path(PAIR).parent.parent == SHIPPED_TABLES
    assert not TableStore(tmp_path, SIX, with_shipped=False).has(PAIR)
    path, _, tables, _ = write_made_up(tmp_path)
    assert TableStore(tmp_path, SIX).path(PAIR) == path
    assert np.array_equal(TableStore(tmp_path, SIX).table(PAIR).read(), tables[PAIR])
    assert not TableStore(tmp_path, NINE).has(PAIR)


def change_header(path, **changes):
    content = path.read_bytes()
    header = json.loads(content[:HEADER_SIZE]) | changes
    path.write_bytes(json.dumps(header).encode().ljust(HEADER_SIZE - 1) + b"\n" + content[HEADER_SIZE:])


@pytest.mark.parametrize("version, word", [
    (3, "newer"), (10**9, "newer"), (1, "older, and scripts/convert_tables.py rewrites it"), (0, "unknown"), ("2", "unknown"),
    (None, "unknown"),
])
def test_other_format_versions_are_refused(copied, version, word):
    path = copied("six", "4-3")
    change_header(path, version=version)
    for look in (check_file, lambda p: TableFile(p, SIX)):
        with pytest.raises(TableError, match=f"{word}; this program reads version 2"):
            look(path)


@pytest.mark.parametrize("size", ["1000", None, 1.0, [36460], {}])
def test_a_length_that_is_no_number_is_refused(copied, size):
    path = copied("six", "4-3")
    change_header(path, bytes=size)
    with pytest.raises(TableError, match="no finished morris table"):
        TableFile(path, SIX)


@pytest.mark.parametrize("content", [b"", b"\n", b"{}" + b" " * 600, b"[1, 2]" + b" " * 600, b"\xff" * 600, b"[" * 600, b'"' * 2000])
def test_what_is_no_table_at_all_is_refused(tmp_path, content):
    path = tmp_path / "4-3.h5"
    path.write_bytes(content)
    for look in (check_file, lambda p: TableFile(p, SIX)):
        with pytest.raises(TableError, match="no finished morris table"):
            look(path)


# ---------------------------------------------------------------- files made by others, with a right header


def link_away(file, path):
    other = path.with_name("other.h5")
    shutil.copy(path, other)
    del file["4-3"]
    file["4-3"] = h5py.ExternalLink(str(other), "/4-3")


def link_values_away(file, path):
    other = path.with_name("other.h5")
    shutil.copy(path, other)
    del file["4-3/values"]
    file["4-3/values"] = h5py.ExternalLink(str(other), "/4-3/values")


def soft_link(file, path):
    del file["rows"]
    file["rows"] = h5py.SoftLink("/4-3/values")


def replace(name, **made):
    def change(file, path):
        del file[name]
        file.create_dataset(name, **made)

    return change


def attributes(node, **changes):
    """Changes attributes and makes their checksum right again."""

    def change(file, path):
        group = file[node]
        old = {k: v for k, v in read_attributes(group).items() if k != "attributes_crc32"}
        tablefile._write_attributes(group, old | changes)

    return change


def remove(node, name):
    def change(file, path):
        del file[node].attrs[name]

    return change


def other_rows(make):
    """Writes other row masks, in number and kind as they should be."""

    def change(file, path):
        file["rows"][...] = make(file["rows"][()])

    return change


def exchanged_rows(rows):
    return np.concatenate([rows[:7], rows[8:9], rows[7:8], rows[9:]])


def shifted_rows(rows):
    """Ascending and with four stones each, but one that is not canonical moves all behind it by one."""
    board = SIX.board
    i, intruder = next(
        (i, mask) for i, low in enumerate(rows.tolist()) for mask in range(low + 1, int(rows[i + 1]))
        if mask.bit_count() == 4 and board.canonical(mask)[0] != mask
    )  # fmt: skip
    return np.concatenate([rows[: i + 1], np.array([intruder], np.uint32), rows[i + 1 : -1]])


def drop(name):
    def change(file, path):
        del file[name]

    return change


def outside_values(file, path):
    raw = path.with_name("raw.bin")
    raw.write_bytes(bytes(1 << 20))
    shape = file["4-3/values"].shape
    del file["4-3/values"]
    file["4-3"].create_dataset("values", shape, np.uint8, external=[(str(raw), 0, 1 << 20)])


HUGE = 1 << 40

HOSTILE = {
    "external group": link_away,
    "external values": link_values_away,
    "soft link": soft_link,
    "values outside": outside_values,
    "no values": drop("4-3/values"),
    "no twin": drop("3-4"),
    "no rows": drop("rows"),
    "no checksums": drop("4-3/chunk_crc32"),
    "rows too short": replace("rows", data=np.zeros(5, np.uint32)),
    "rows in another order": other_rows(exchanged_rows),
    "rows moved by one": other_rows(shifted_rows),
    "rows doubled": other_rows(lambda rows: np.concatenate([rows[:5], rows[4:-1]])),
    "rows with another number of stones": other_rows(lambda rows: np.concatenate([rows[:-1], [1 << 15 | 1 << 14 | 3 << 12 | 1]])),
    "rows beyond the board": other_rows(lambda rows: np.concatenate([rows[:-1], [15 << 20]])),
    "rows of another type": replace("rows", data=np.zeros(158, np.float64)),
    "values of another type": replace("4-3/values", data=np.zeros((158, 220), np.int32), chunks=(1, 220)),
    "values in one dimension": replace("4-3/values", data=np.zeros(158 * 220, np.uint8), chunks=(220,)),
    "values without chunks": replace("4-3/values", data=np.zeros((158, 220), np.uint8)),
    "values of another size": replace("4-3/values", data=np.zeros((158, 219), np.uint8), chunks=(158, 219)),
    "huge values": replace("4-3/values", shape=(HUGE, 220), dtype=np.uint8, chunks=(10, 220)),
    "huge columns": replace("4-3/values", shape=(158, HUGE), dtype=np.uint8, chunks=(1, 1 << 20)),
    "a group for values": lambda file, path: (file["4-3"].pop("values"), file["4-3"].create_group("values")),
    "another variant": attributes("/", fingerprint=NINE.fingerprint),
    "another index": attributes("/", index_scheme="upside down"),
    "another metric": attributes("/", metric="dtc"),
    "no subspaces": attributes("/", subspaces=""),
    "one subspace": attributes("/", subspaces="4-3"),
    "foreign subspaces": attributes("/", subspaces="9-9 8-9"),
    "no subspace at all": attributes("/", subspaces="../../etc/passwd"),
    "a number for subspaces": attributes("/", subspaces=43),
    "width 3": attributes("4-3", width=3),
    "width -1": attributes("4-3", width=-1),
    "another width": attributes("4-3", width=2),
    "other stones": attributes("4-3", own=5),
    "no checksum of attributes": remove("4-3", "attributes_crc32"),
    "no width": attributes("4-3", width="wide"),
    "text of variable length": lambda file, path: file["4-3"].attrs.update(row_side="own"),
    "a list for the width": lambda file, path: write_attributes(file["4-3"], {"width": np.arange(2)}),
    "a fraction for the width": lambda file, path: file["4-3"].attrs.update(width=1.0),
    "nothing for the width": lambda file, path: file["4-3"].attrs.update(width=h5py.Empty("i8")),
    "huge text": attributes("/", software="x" * 70_000),
    "many attributes": attributes("/", **{f"n{i}": i for i in range(99)}),
    "two lines of text": attributes("/", variant="six\nfive", fingerprint="0" * 16),
    "another side of the rows": attributes("4-3", row_side="opponent"),
    "other rules": attributes("/", rules=json.dumps(NINE.rules())),
    "another unit": attributes("/", unit="moves"),
    "rows in a huge chunk": replace("rows", shape=(158,), dtype=np.uint32, maxshape=(None,), chunks=(1 << 28,)),
    "a huge chunk of values": replace("4-3/values", shape=(158, 220), dtype=np.uint8, maxshape=(None, 220), chunks=(1 << 22, 220)),
    "all values in a chunk": replace("4-3/values", shape=(158, 220), dtype=np.uint8, maxshape=(158, 220), chunks=(158, 110)),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_file_made_by_others_is_refused(copied, fault):
    path = copied("six", "4-3")
    with h5py.File(path, "r+") as file:
        HOSTILE[fault](file, path)
    write_header(path)
    check_file(path)  # nothing is damaged: it was made so
    with pytest.raises(TableError) as error:
        read_everything(path, SIX)
    assert "\n" not in str(error.value) and path.name in str(error.value)


def test_a_probe_with_rows_in_another_order_would_be_wrong(copied, monkeypatch):
    """What the check of the rows is for: without it a neighbour's value is taken for the position's own."""
    path = copied("six", "4-3")
    own = int(orbits(SIX.board).rows(4)[100])
    with h5py.File(path, "r+") as file:
        HOSTILE["rows moved by one"](file, path)
    write_header(path)
    monkeypatch.setattr(tablefile, "checked_rows", lambda board, stones, masks: masks)
    moved = TableFile(path, SIX).row_masks
    free = [p for p in range(16) if not own >> p & 1]
    row, _ = Indexer(SIX.board).slot_of(PAIR, own, sum(1 << p for p in free[:3]), moved)
    assert row == 101


def test_changed_attributes_without_their_checksum_are_refused(copied):
    path = copied("six", "4-3")
    with h5py.File(path, "r+") as file:
        file["4-3"].attrs["positions"] = 1
    write_header(path)
    with pytest.raises(TableError, match="the attributes of /4-3 are damaged"):
        TableFile(path, SIX)


def test_a_tally_that_is_not_that_of_the_attributes_is_refused(copied):
    path = copied("six", "4-3")
    with h5py.File(path, "r+") as file:
        file["4-3/orbit_histogram"][3] += 1
    write_header(path)
    with pytest.raises(TableError, match="tally of 4-3"):
        TableFile(path, SIX).tables[PAIR].histogram()


def test_no_file_is_touched_by_reading(copied):
    path = copied("six", "4-3")
    before = path.stat().st_mtime_ns, path.read_bytes()
    read_everything(path, SIX)
    check_file(path)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before
    assert os.listdir(path.parent) == [path.name]


# ---------------------------------------------------------------- outcomes


def write_outcomes(folder, seed=5):
    """A made-up table of outcomes of several chunks, its row length no multiple of four."""
    rng = np.random.default_rng(seed)
    pair = Subspace(5, 3)
    rows = orbits(NINE.board).rows(5)
    tables = {s: rng.choice(np.array([0, 128, 255], np.uint8), len(rows) * 969) for s in solved_together(NINE, pair)}
    tallies = {s: tuple(rng.integers(0, 99, (2, 256))) for s in tables}
    path = table_path(folder, NINE, pair, OUTCOME)
    write_tables(path, NINE, rows, tables, tallies, metric=OUTCOME)
    return path, tables, tallies


def test_outcomes_come_back_as_codes_of_one_byte(tmp_path):
    path, tables, tallies = write_outcomes(tmp_path)
    assert path == tmp_path / "nine.outcome" / "5-3.h5"
    check_file(path)
    store = TableStore(tmp_path, NINE, metric=OUTCOME)
    for s, values in tables.items():
        table = store.table(s)
        assert (table.width, table.n_columns, table.metric) == (1, 969, OUTCOME) and table.n_chunks > 3
        with ThreadPoolExecutor(2) as pool:
            assert np.array_equal(table.read(), values) and np.array_equal(table.read(pool), values)
        row = table.chunk_rows + 7
        assert np.array_equal(table.chunk(1)[7], values[row * 969 : (row + 1) * 969])
        assert np.array_equal(table.histogram(), tallies[s][0]) and np.array_equal(table.histogram(raw=True), tallies[s][1])
    store.close()
    with h5py.File(path, "r", locking=False) as file:
        assert (file.attrs["metric"], file["5-3/values"].shape[1]) == (b"outcome", 243)


def test_every_changed_byte_of_outcomes_is_noticed(tmp_path):
    path, tables, _ = write_outcomes(tmp_path)
    lots = random.Random(3)
    for at in sorted(lots.sample(range(HEADER_SIZE, path.stat().st_size), 12)):
        change_byte(path, at)
        with pytest.raises(TableError):
            check_file(path)
        try:  # damage to what a reader does not look at is found by `check_file` alone
            file = TableFile(path, NINE, OUTCOME)
            assert all(np.array_equal(table.read(), tables[s]) for s, table in file.tables.items())
            file.close()
        except TableError:
            pass
        change_byte(path, at, -1)


@pytest.mark.parametrize("made, asked", [(DTW, OUTCOME), (OUTCOME, DTW)])
def test_a_table_of_another_metric_is_refused(small_tables, tmp_path, made, asked):
    path = table_path(tmp_path, SIX, PAIR, asked)
    rows, tables, tallies = made_up_tables()
    write_tables(path, SIX, rows, tables, tallies, metric=made)
    with pytest.raises(TableError, match=f"metric {made}, not {asked}"):
        TableStore(tmp_path, SIX, with_shipped=False, metric=asked).table(PAIR)


def test_outcomes_stand_in_only_where_asked(tmp_path):
    path, tables, _ = write_outcomes(tmp_path)
    strict, lenient = TableStore(tmp_path, NINE), TableStore(tmp_path, NINE, or_outcomes=True)
    pair = Subspace(5, 3)
    assert not strict.has(pair) and lenient.has(pair) and not lenient.has_depths(pair)
    with pytest.raises(MissingTableError, match="morris build -V nine --data [^ ]* --subspace 3-5'"):
        strict.table(pair.twin)
    assert np.array_equal(lenient.table(pair).read(), tables[pair]) and lenient.path(pair) == path
    with pytest.raises(MissingTableError, match="--metric outcome --data [^ ]* --subspace 4-3'"):
        TableStore(tmp_path, NINE, metric=OUTCOME).table(PAIR)
    for store in (strict, lenient):
        store.close()


def test_a_pool_that_is_shut_down_meanwhile_ends_the_calls():
    """As Ctrl-C does while a file is written: what the pool drops is never waited for."""
    go_on, ended = threading.Event(), threading.Event()
    pool = ThreadPoolExecutor(1)

    def results():
        with contextlib.suppress(CancelledError, RuntimeError):
            list(tablefile._in_order(pool, lambda i: go_on.wait(60), 100 * tablefile.CHUNKS_AT_A_TIME))
        ended.set()

    threading.Thread(target=results, daemon=True).start()
    while not pool._work_queue.qsize():
        time.sleep(0.001)
    pool.shutdown(wait=False, cancel_futures=True)
    go_on.set()
    assert ended.wait(60)


def test_no_call_goes_on_after_an_error_or_an_early_end(monkeypatch):
    monkeypatch.setattr(tablefile, "CHUNKS_AT_A_TIME", 4)
    monkeypatch.setattr(tablefile, "TASKS_AHEAD", 8)
    begun = []

    def slow(i):
        begun.append(i)
        time.sleep(0.001)
        if i == 30:
            raise ValueError("thirty")
        return i

    with ThreadPoolExecutor(4) as pool:
        with pytest.raises(ValueError, match="thirty"):
            list(tablefile._in_order(pool, slow, 1000))
        n_begun = len(begun)
        time.sleep(0.02)
        assert len(begun) == n_begun < 200
        parts = tablefile._in_order(pool, slow, 25)
        assert [next(parts) for _ in range(5)] == [0, 1, 2, 3, 4]
        parts.close()
        n_begun = len(begun)
        time.sleep(0.02)
        assert len(begun) == n_begun
        assert list(tablefile._in_order(pool, slow, 25)) == list(range(25))
