"""Files are there whole or not at all, and a disk that is full is told in the system's words."""

import errno
import resource
from contextlib import contextmanager

import h5py
import numpy as np
import pytest

from solver.wholefile import unfinished_name, written_whole

MANY = np.arange(1 << 16)


@contextmanager
def files_no_longer_than(n_bytes):
    """Writing behind this byte of any file fails as on a full disk (with EFBIG instead of ENOSPC)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write_plain(path):
    path.write_bytes(MANY)


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("many", data=MANY).flush()


def write_chunks(path):
    with h5py.File(path, "w") as file:
        many = file.create_dataset("many", MANY.shape, MANY.dtype, chunks=(1 << 10,))
        for first in range(0, len(MANY), 1 << 10):
            many.id.write_direct_chunk((first,), MANY[first : first + (1 << 10)].tobytes())


@pytest.mark.parametrize("write", [write_plain, write_hdf5, write_chunks])
@pytest.mark.parametrize("room", [0, 100, 5_000, 300_000])
def test_a_full_disk_is_told_in_one_line(tmp_path, write, room):
    path = tmp_path / "many"
    path.write_bytes(b"what was there before")
    with files_no_longer_than(room), pytest.raises(OSError) as told, written_whole(path) as unfinished:
        write(unfinished)
    assert (told.value.errno, told.value.strerror, told.value.filename) == (errno.EFBIG, "File too large", str(path))
    assert path.read_bytes() == b"what was there before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [write_plain, write_hdf5, write_chunks])
def test_a_file_moves_to_its_place_when_it_is_whole(tmp_path, write):
    path = tmp_path / "many"
    with written_whole(path) as unfinished:
        assert unfinished == unfinished_name(path)
        write(unfinished)
        content = unfinished.read_bytes()
        assert not path.exists()
    assert path.read_bytes() == content and len(content) >= MANY.nbytes and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [RuntimeError("no number"), KeyError("errno = 28"), KeyboardInterrupt()])
def test_other_errors_stay_what_they_are(tmp_path, error):
    with pytest.raises(type(error)) as raised, written_whole(tmp_path / "many") as unfinished:
        unfinished.write_bytes(b"half")
        raise error
    assert raised.value is error and not list(tmp_path.iterdir())
