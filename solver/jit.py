"""numba: its options, its cache folder, and a pool that runs kernels on several cores.

All kernels are compiled through ``kernel`` below, so the options stand in one place.  numba's own
cache does not notice an edit in another file that a kernel calls; the cache folder is therefore
keyed by a hash of the package's source and the versions of numba and Python.

Rules that all kernels keep: they take plain arrays and integers, never raise, return a status or a
count, and let go of the interpreter lock, so that a thread pool runs them in parallel.  Each call
writes only to the rows ``[start, stop)`` it was given; results do not depend on the number of workers.
"""

import hashlib
import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: Rows a worker takes at a time are a share of the table this small, so that all end together.
SLICES_PER_WORKER = 24
#: A slice is not made smaller than this many slots; below it the calls would cost more than the work.
MIN_SLICE_SLOTS = 1 << 17


def source_hash() -> str:
    """Hash over the source of the package, numba's version and Python's."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    from importlib.metadata import version

    digest.update(f"{version('numba')} {version('llvmlite')} {sys.version} {platform.machine()}".encode())
    digest.update(os.environ.get("MORRIS_NO_PEXT", "").encode())  # it chooses which functions kernels call
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept between runs: MORRIS_CACHE, or the user's cache folder."""
    root = os.environ.get("MORRIS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "morris"
    )
    folder = Path(root) / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home: compile anew in each run rather than fail
        folder = Path(tempfile.mkdtemp(prefix="morris-"))
    return folder


CACHE_FOLDER = cache_folder()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)

import numba  # noqa: E402  (the cache folder must be set before numba reads its settings)

numba.config.CACHE_DIR = str(CACHE_FOLDER)
JIT_DISABLED = bool(numba.config.DISABLE_JIT)


def kernel(function):
    """Compiles a kernel: cached on disk, without the interpreter lock, without Python errors."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def inlined(function):
    """Compiles a small helper that is inlined into the kernels that call it."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)


class Workers:
    """A thread pool that calls a kernel on slices of rows.

    >>> workers = Workers(2)
    >>> workers.map_rows(lambda start, stop: stop - start, n_rows=10, row_size=1)
    [10]
    """

    def __init__(self, jobs: int):
        self.jobs = max(1, jobs)
        self.pool = ThreadPoolExecutor(self.jobs, "morris")

    def map_rows(self, function, n_rows: int, row_size: int) -> list:
        """Results of ``function(start, stop)`` over slices that cover all rows, in order of the rows."""
        per_slice = max(1, MIN_SLICE_SLOTS // max(1, row_size))
        n_slices = max(1, min(self.jobs * SLICES_PER_WORKER, n_rows // per_slice))
        bounds = [n_rows * i // n_slices for i in range(n_slices + 1)]
        return list(self.pool.map(function, bounds, bounds[1:]))

    def close(self) -> None:
        """Drops what has not begun and waits for the slices at work, a fraction of a second each."""
        self.pool.shutdown(cancel_futures=True)
