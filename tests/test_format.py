"""data/FORMAT.md: its example gives the solver's answers, and it describes all that is in a file and no more."""

import ast
import hashlib
import json
import random
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import ROOT, point_names, reader, slot_masks

from solver import header as header_module
from solver import tablefile
from solver.combinatorics import unrank_pattern
from solver.subspace import parse_subspace
from solver.values import DTYPES, decode

TEXT = (ROOT / "data" / "FORMAT.md").read_text()
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)


@pytest.fixture(scope="module")
def look_up():
    """The example's function, run as it stands."""
    namespace = {}
    exec(compile(EXAMPLE, "FORMAT.md", "exec"), namespace)
    return namespace["look_up"]


@pytest.fixture
def copy_of(tmp_path):
    """A copy of a store's file: HDF5 does not open one file both with and without a lock in one process."""
    return lambda store, name: Path(shutil.copy(store.path(parse_subspace(name, store.variant)), tmp_path))


def test_the_example_is_short_and_needs_h5py_alone():
    assert len(EXAMPLE.splitlines()) <= 30
    modules = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(EXAMPLE))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names] if isinstance(node, ast.Import) else [])
    }
    assert modules == {"json", "functools", "math", "h5py"}


@pytest.mark.parametrize("variant, name", [("nine", "4-3"), ("nine", "3-4"), ("nine", "4-4"), ("six", "6-5"), ("six", "2-3+3-3"), ("six", "3-2+3-3")])
def test_the_example_gives_the_solvers_answers(look_up, copy_of, nine_store, six_store, variant, name):
    store = {"nine": nine_store, "six": six_store}[variant]
    subspace = parse_subspace(name, store.variant)
    path = copy_of(store, name)
    board, probe, choose = store.variant.board, reader(store), random.Random(16)
    for _ in range(25):
        chosen = choose.sample(board.points, subspace.own + subspace.opponent)
        own, opponent = chosen[: subspace.own], chosen[subspace.own :]
        expected = probe(subspace, board.mask_of(own), board.mask_of(opponent))
        assert look_up(path, name, own, opponent) == expected


def test_the_call_in_the_text_gives_what_it_says(look_up, copy_of, nine_store):
    (call, result) = re.search(r">>> (look_up\(.*\))\n +(\(.*\))\n", TEXT).groups()
    call = call.replace("data/tables/nine/4-4.h5", copy_of(nine_store, "4-4").as_posix())
    assert eval(call, {"look_up": look_up}) == ast.literal_eval(result)


def test_a_whole_table_read_by_the_text(copy_of, nine_store):
    """Rows, columns and values of the smallest table, as the text says them, against the slots' masks."""
    subspace = parse_subspace("3-3", nine_store.variant)
    with h5py.File(copy_of(nine_store, "3-3"), "r", locking=False) as file:
        rows, values = file["rows"][()], file["3-3/values"][()]
    own, opponent = slot_masks(nine_store.variant, subspace, rows)
    assert values.size == len(own) == 158 * 1330
    for slot in range(0, len(own), 977):
        row, column = divmod(slot, values.shape[1])
        free = [p for p in range(24) if not int(rows[row]) >> p & 1]
        pattern = unrank_pattern(column, 3)
        assert own[slot] == rows[row]
        assert opponent[slot] == sum(1 << p for i, p in enumerate(free) if pattern >> i & 1)
        assert not point_names(nine_store.variant.board, int(own[slot])) & point_names(nine_store.variant.board, int(opponent[slot]))


def test_everything_in_a_file_is_described(copy_of, six_store):
    found = set()

    def note(node):
        found.update(node.attrs)

    with h5py.File(copy_of(six_store, "5-4"), "r", locking=False) as file:
        note(file)
        for name, node in file.items():
            if isinstance(node, h5py.Group):
                note(node)
                found.update(node)
                assert not any(dataset.attrs for dataset in node.values())
            else:
                found.add(name)
    table = TEXT[TEXT.index("## What is inside") : TEXT.index("## Values")]
    described = {path.split("/")[-1] for path in re.findall(r"`([/a-z_0-9-]+)`", table)}
    assert found <= described, found - described
    assert f"format version {header_module.FORMAT_VERSION}" in TEXT.splitlines()[0]
    assert tablefile.INDEX_SCHEME in TEXT and f"{header_module.HEADER_SIZE} bytes" in TEXT


def test_the_value_code_is_as_described():
    one_byte = TEXT[TEXT.index("    one byte") :]
    codes, meanings = (re.findall(pattern, one_byte.splitlines()[line]) for line, pattern in ((0, r"\d+"), (1, r"[LW]\d+|draw")))
    for code, meaning in zip(map(int, codes), meanings, strict=True):
        outcome, depth = decode(code, 1)
        assert meaning == ("draw" if depth is None else f"{'W' if str(outcome) == 'win' else 'L'}{depth}")
    for width in DTYPES:
        draw = 1 << (8 * width - 1)
        for code in range(0, 2 * draw, 1 if width == 1 else 127):
            expected = ("draw", None) if code == draw else ("loss", 2 * code) if code < draw else ("win", 2 * (2 * draw - 1 - code) + 1)
            assert (str(decode(code, width)[0]), decode(code, width)[1]) == expected


def test_checksums_are_as_described(copy_of, six_store):
    path = copy_of(six_store, "5-4")
    content = path.read_bytes()
    header = json.loads(content[:512])
    assert header == {
        "format": "morris-table", "version": 2, "bytes": len(content) - 512, "sha256": hashlib.sha256(content[512:]).hexdigest()
    }  # fmt: skip
    with h5py.File(path, "r", locking=False) as file:
        for node in (file, file["5-4"], file["4-5"]):
            plain = {k: v.decode() if isinstance(v, bytes) else v.item() for k, v in node.attrs.items()}
            stated = plain.pop("attributes_crc32")
            assert stated == zlib.crc32(json.dumps(plain, sort_keys=True, separators=(", ", ": ")).encode())
        rules = json.dumps(json.loads(file.attrs["rules"]), sort_keys=True, separators=(",", ":"))
        assert file.attrs["fingerprint"].decode() == hashlib.sha256(rules.encode()).hexdigest()[:16]
        for name in ("5-4", "4-5"):
            values = file[name]["values"]
            assert file[name].attrs["values_sha256"].decode() == hashlib.sha256(values[()].tobytes()).hexdigest()
            assert file[name].attrs["positions"] == file[name]["orbit_histogram"][()].sum()
            rows = values.chunks[0]
            for chunk, stated in enumerate(file[name]["chunk_crc32"][()]):
                part = np.zeros((rows, values.shape[1]), values.dtype)
                there = values[chunk * rows : (chunk + 1) * rows]
                part[: len(there)] = there
                assert stated == zlib.crc32(part.tobytes(), zlib.crc32(f"{name}:{chunk}".encode()))


@pytest.mark.skipif(not (shutil.which("tail") and shutil.which("sha256sum")), reason="needs tail and sha256sum")
def test_the_checksum_by_hand(nine_store):
    path = nine_store.path(parse_subspace("3-3", nine_store.variant))
    command = re.search(r"`(tail .*?)`", TEXT)[1].replace("4-3.h5", f"'{path}'")
    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True).stdout
    assert printed.split()[0] == json.loads(path.read_bytes()[:512])["sha256"]
