"""Attributes of HDF5 files: what is written comes back, and nothing else is read."""

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from solver.attributes import MOST_ATTRIBUTES, MOST_BYTES, read_attributes, write_attributes
from solver.header import write_header

#: A table file of format version 1, and the byte in its global heap (the length of the first text) that makes HDF5 wait.
VERSION_1 = Path(__file__).parent / "data" / "version_1.h5"
HANGING_BYTE, HANGING_VALUE = 2585, 12

GIVEN = {"name": "nine", "mühle": "Mühle" * 50, "nothing": "", "count": -(2**63), "large": 2**64 - 1, "flag": np.uint8(3)}


@pytest.fixture
def file():
    with h5py.File("memory", "w", driver="core", backing_store=False, libver=("v110", "v110")) as file:
        yield file


def test_text_and_integers_come_back(file):
    write_attributes(file, GIVEN)
    assert read_attributes(file) == GIVEN
    assert {type(value) for value in read_attributes(file).values()} == {str, int}
    write_attributes(file, {"name": "six"})
    assert read_attributes(file)["name"] == "six"


def test_arrays_come_back(file):
    write_attributes(file, {"root": np.array([1, -2, 3])})
    assert read_attributes(file)["root"].tolist() == [1, -2, 3]


@pytest.mark.parametrize(
    "value, dtype",
    [
        ("text", h5py.string_dtype()), (["a", "b"], h5py.string_dtype()), ([b"a", b"b"], "S1"), (1.5, None), (True, None),
        (b"x" * (MOST_BYTES + 1), f"S{MOST_BYTES + 1}"),
        (np.zeros(MOST_BYTES // 8 + 1, np.int64), None), (h5py.Empty("i8"), None), (h5py.Empty("S3"), None),
    ],
)  # fmt: skip
def test_anything_else_is_refused_unread(file, monkeypatch, value, dtype):
    file.attrs.create("odd", value, dtype=dtype)
    monkeypatch.setattr(h5py.AttributeManager, "__getitem__", None)
    with pytest.raises(ValueError, match="the attribute 'odd' is no integer and no short text of a fixed length"):
        read_attributes(file)


@pytest.mark.parametrize("value", ["two\nlines", "\x1b[31m", b"\xff"])
def test_text_that_cannot_be_shown_is_refused(file, value):
    file.attrs.create("odd", value.encode() if isinstance(value, str) else value, dtype="S9")
    with pytest.raises(ValueError, match="no printable text|can't decode"):
        read_attributes(file)


def test_more_attributes_than_any_file_has_are_refused(file):
    write_attributes(file, {f"n{i}": i for i in range(MOST_ATTRIBUTES)})
    assert len(read_attributes(file)) == MOST_ATTRIBUTES
    write_attributes(file, {"one more": 1})
    with pytest.raises(ValueError, match="65 attributes are more than the 64 that are read"):
        read_attributes(file)


@pytest.mark.parametrize("value", [1.5, True, ["a"], None, b"raw"])
def test_nothing_else_is_written(file, value):
    with pytest.raises(TypeError, match="is no integer and no text"):
        write_attributes(file, {"odd": value})
    assert not len(file.attrs)


def test_nothing_is_written_to_the_global_heap(file):
    write_attributes(file, GIVEN | {f"text {i}": "x" * 4000 for i in range(20)})  # more than fit into an object's header
    file.flush()
    assert b"GCOL" not in file.id.get_file_image() and b"GCOL" in VERSION_1.read_bytes()


def test_damage_that_makes_hdf5_wait_for_ever_is_refused(tmp_path):
    """In a process of its own, which can be stopped; a thread that waits inside HDF5 cannot."""
    path = Path(shutil.copytree(VERSION_1.parent, tmp_path / "six")) / "4-3.h5"
    content = bytearray(VERSION_1.read_bytes())
    content[HANGING_BYTE] = HANGING_VALUE
    path.write_bytes(content)
    write_header(path)
    code = (
        "import sys; from pathlib import Path; from solver.tablefile import TableFile; from solver.variant import get_variant\n"
        "TableFile(Path(sys.argv[1]), get_variant('six'))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("is no integer and no short text of a fixed length)")
