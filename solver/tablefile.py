"""One table file: the only module that knows the HDF5 layout (``data/FORMAT.md`` describes it for others).

One file per subspace pair.  It begins with a 512-byte header line that names the format version and holds a checksum
of everything behind it; the header is written last, so a file without it was never finished.  Values are chunked by
whole rows and compressed with deflate, HDF5's own filter, so h5py alone reads them; every chunk has a checksum of its
own, tied to its place, and a probe into a damaged one raises rather than answers.

Compression runs in a thread pool beside HDF5, which would do it one chunk at a time.  libdeflate makes the same stream of
the same values in any thread, so equal tables are equal files (made with the same versions of morris and its libraries).
"""

import hashlib
import json
import os
import zlib
from collections import deque
from concurrent.futures import wait
from contextlib import closing
from math import comb
from pathlib import Path

import deflate
import h5py
import numpy as np

from . import __version__
from .attributes import read_attributes, write_attributes
from .errors import TableError
from .header import HEADER_SIZE, read_header, write_header
from .indexing import checked_rows
from .metric import DTW, Metric
from .subspace import Subspace, count_canonical, parse_subspace, solved_together
from .values import DTYPES
from .variant import Variant
from .wholefile import written_whole

CHUNK_BYTES = 1 << 16
COMPRESSION_LEVEL = 1
#: Chunks that one task of a pool works on, and tasks handed out ahead of the results that are asked for.
CHUNKS_AT_A_TIME, TASKS_AHEAD = 32, max(8, 2 * (os.cpu_count() or 1))
INDEX_SCHEME = "orbit-row x colex-column, version 1"
#: What h5py and the code around it raise where a file's structure is damaged.
DAMAGE = (LookupError, OSError, RuntimeError, ValueError, TypeError, AttributeError)


# ---------------------------------------------------------------- writing


def _chunk_checksum(raw: bytes, subspace: Subspace, chunk: int) -> int:
    return zlib.crc32(raw, zlib.crc32(f"{subspace.name}:{chunk}".encode()))


def _attributes_checksum(attributes: dict) -> int:
    return zlib.crc32(json.dumps(attributes, sort_keys=True).encode())


def write_tables(
    path: Path, variant: Variant, row_masks: np.ndarray, tables: dict, tallies: dict, pool=None, metric: Metric = DTW
) -> None:
    """Writes the values of subspaces that were solved together, whole or not at all.

    tables: {subspace: flat values}; tallies: {subspace: (orbit histogram, raw histogram)}; row_masks: uint32, the
    canonical masks of the rows, ascending; pool: an executor for compression, or None.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as unfinished:
        with h5py.File(unfinished, "w", userblock_size=HEADER_SIZE, libver=("v110", "v110")) as file:
            _write_attributes(file, {
                "variant": variant.name, "fingerprint": variant.fingerprint, "rules": json.dumps(variant.rules()),
                "index_scheme": INDEX_SCHEME, "metric": str(metric), "unit": metric.unit,
                "software": f"morris {__version__}",
                "subspaces": " ".join(s.name for s in tables),
            })  # fmt: skip
            _write_dataset(file, "rows", row_masks.astype(np.uint32))
            for subspace, values in tables.items():
                _write_table(file, subspace, values, len(row_masks), tallies[subspace], pool, metric)
        write_header(unfinished)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_attributes(node, attributes: dict) -> None:
    write_attributes(node, attributes | {"attributes_crc32": _attributes_checksum(attributes)})


def _write_dataset(node, name: str, data: np.ndarray) -> None:
    # Flushed at once: otherwise its place in the file would depend on when Python frees the dataset.
    node.create_dataset(name, data=data, compression="gzip", track_times=False).flush()


def _write_table(file, subspace: Subspace, values: np.ndarray, n_rows: int, tally, pool, metric: Metric) -> None:
    n_columns = len(values) // n_rows
    width = values.itemsize
    row_items = metric.stored_columns(n_columns)
    rows = min(n_rows, max(1, CHUNK_BYTES // (row_items * width)))
    n_chunks = -(-n_rows // rows)
    group = file.create_group(subspace.name)
    orbit_histogram, raw_histogram = tally
    _write_attributes(group, {
        "own": subspace.own, "opponent": subspace.opponent, "own_hand": subspace.own_hand,
        "opponent_hand": subspace.opponent_hand, "row_side": "own" if subspace.rows_are_own else "opponent",
        "width": width, "positions": int(orbit_histogram.sum()), "raw_positions": int(raw_histogram.sum()),
        "values_sha256": hashlib.sha256(values).hexdigest(),
    })  # fmt: skip
    for name, histogram in (("orbit_histogram", orbit_histogram), ("raw_histogram", raw_histogram)):
        _write_dataset(group, name, histogram)
    dataset = group.create_dataset(
        "values", shape=(n_rows, row_items), dtype=DTYPES[width], chunks=(rows, row_items),
        compression="gzip", compression_opts=COMPRESSION_LEVEL, track_times=False,
    )  # fmt: skip
    dataset.flush()
    checksums = np.zeros(n_chunks, np.uint32)

    def pack(chunk: int) -> bytes:
        part = values[chunk * rows * n_columns : (chunk + 1) * rows * n_columns]
        part = metric.pack(part.reshape(-1, n_columns))
        raw = part.astype(DTYPES[width].newbyteorder("<"), copy=False).tobytes()
        raw = raw.ljust(rows * row_items * width, b"\0")  # HDF5 pads the last chunk to full size
        checksums[chunk] = _chunk_checksum(raw, subspace, chunk)
        return deflate.zlib_compress(raw, COMPRESSION_LEVEL)

    with closing(_in_order(pool, pack, n_chunks)) as parts:
        for chunk, packed in enumerate(parts):
            dataset.id.write_direct_chunk((chunk * rows, 0), packed)
    _write_dataset(group, "chunk_crc32", checksums)


def _in_order(pool, function, n: int):
    """Results of function(0), function(1), ... computed some tasks ahead in the pool.

    However it ends, by an error or by being closed, no call of the function goes on afterwards.
    """
    if pool is None:
        yield from map(function, range(n))
        return

    def results(first: int) -> list:
        return [function(i) for i in range(first, min(first + CHUNKS_AT_A_TIME, n))]

    pending = deque()
    try:
        for first in range(0, n, CHUNKS_AT_A_TIME):
            pending.append(pool.submit(results, first))
            if len(pending) >= TASKS_AHEAD:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    finally:
        # Only for those at work: nobody tells of one that was cancelled where the pool has been shut down meanwhile.
        wait([future for future in pending if not future.cancel()])


# ---------------------------------------------------------------- reading


class TableFile:
    """An open table file.  Values are checked against the checksum of their chunk and attributes against theirs, histograms by
    their sum, row masks by what they have to be; the checksum of the whole file is for `morris check`.

    Thread-safe: HDF5 calls are serialised by h5py (chunks since 3.16), decompression is not.  ``n_rows``: where it holds so
    many rows only.
    """

    def __init__(self, path: Path, variant: Variant, metric: Metric = DTW, n_rows: int | None = None):
        self.path, self.metric, self._n_rows = Path(path), metric, n_rows
        self.header = read_header(self.path)
        try:
            self._file = h5py.File(self.path, "r", locking=False)
        except OSError as error:
            raise TableError(f"{self.path}: HDF5 cannot open it ({_first_line(error)})") from None
        try:
            self._open(variant)
        except TableError:
            self.close()
            raise
        except DAMAGE as error:
            self.close()
            raise TableError(f"{self.path}: the structure is damaged ({_first_line(error)})") from None

    def _open(self, variant: Variant) -> None:
        self.attributes = self._checked_attributes(self._file)
        if self.attributes["fingerprint"] != variant.fingerprint:
            raise TableError(
                f"{self.path}: made for the rules of {self.attributes['variant']}, not of {variant.name}"
            )
        if self.attributes["metric"] != str(self.metric):
            raise TableError(f"{self.path}: holds values of the metric {self.attributes['metric']}, not {self.metric}")
        if (json.loads(self.attributes["rules"]), self.attributes["unit"]) != (variant.rules(), self.metric.unit):
            raise TableError(f"{self.path}: its rules or unit are not those of its fingerprint and metric")
        if self.attributes["index_scheme"] != INDEX_SCHEME:
            raise TableError(f"{self.path}: made with another index")
        named = [parse_subspace(name, variant) for name in self.attributes["subspaces"].split()]
        if named != list(solved_together(variant, named[0])) or f"{named[0].name}.h5" != self.path.name:
            raise TableError(f"{self.path}: holds {self.attributes['subspaces']}, which belongs in another file")
        row_stones, column_stones = named[0].table_sides
        n_rows = self._n_rows or count_canonical(variant, Subspace(row_stones, 0))
        shape = n_rows, comb(variant.board.n_points - row_stones, column_stones)
        self.tables = {s: Table(self, self._group(s.name), s, shape) for s in named}
        rows = self._dataset(self._file, "rows", shape[:1], np.dtype(np.uint32))[()]
        # A list in another order would lead to a neighbour's values, which no checksum of chunks can tell.
        self.row_masks = rows if self._n_rows else checked_rows(variant.board, row_stones, rows)
        if self.row_masks is None:
            raise TableError(f"{self.path}: the row masks are damaged")

    def _checked_attributes(self, node) -> dict:
        attributes = read_attributes(node)
        if attributes.pop("attributes_crc32") != _attributes_checksum(attributes):
            raise TableError(f"{self.path}: the attributes of {node.name} are damaged")
        return attributes

    def _group(self, name: str):
        if not isinstance(self._file.get(name, getlink=True), h5py.HardLink):
            raise TableError(f"{self.path}: {name} leads out of the file")
        return self._file[name]

    def _dataset(self, node, name: str, shape: tuple, dtype: np.dtype):
        if not isinstance(node.get(name, getlink=True), h5py.HardLink):
            raise TableError(f"{self.path}: {name} leads out of the file")
        dataset = node[name]
        if dataset.shape != shape or dataset.dtype != dtype or dataset.is_virtual or dataset.external:
            raise TableError(f"{self.path}: {dataset.name} is {dataset.dtype}{dataset.shape}, not {dtype}{shape}")
        chunk = dataset.chunks  # HDF5 takes memory for a whole one, so it must be no larger than what is stored
        if chunk is None or dataset.maxshape != shape or any(part > whole for part, whole in zip(chunk, shape, strict=True)):
            raise TableError(f"{self.path}: {dataset.name} has chunks {chunk}, which do not fit {shape}")
        return dataset

    def close(self) -> None:
        self._file.close()


class Table:
    """The table of one ordered subspace inside a file."""

    def __init__(self, file: TableFile, group, subspace: Subspace, shape: tuple[int, int]):
        attributes = file._checked_attributes(group)
        self.file, self.subspace, self._group = file, subspace, group
        counts = tuple(attributes[k] for k in ("own", "opponent", "own_hand", "opponent_hand"))
        side = "own" if subspace.rows_are_own else "opponent"
        if (counts, attributes["row_side"]) != (tuple(subspace), side) or attributes["width"] not in DTYPES:
            raise TableError(f"{file.path}: the table of {subspace.name} describes another subspace")
        self.metric, self.width = file.metric, attributes["width"]
        self.dtype = DTYPES[self.width]
        self.positions = attributes["positions"]
        self.raw_positions = attributes["raw_positions"]
        self.values_sha256 = attributes["values_sha256"]
        self.n_rows, self.n_columns = shape
        self._row_items = self.metric.stored_columns(self.n_columns)
        self._values = file._dataset(group, "values", (self.n_rows, self._row_items), self.dtype)
        self.chunk_rows = self._values.chunks[0]
        row_bytes = self._row_items * self.width
        if self._values.chunks[1] != self._row_items or self.chunk_rows * row_bytes > max(CHUNK_BYTES, row_bytes):
            raise TableError(f"{file.path}: {self._values.name} has chunks {self._values.chunks}, which are no few whole rows")
        self.n_chunks = -(-self.n_rows // self.chunk_rows)
        self._checksums = file._dataset(group, "chunk_crc32", (self.n_chunks,), np.dtype(np.uint32))[()]

    @property
    def stored_bytes(self) -> int:
        return self._values.id.get_storage_size()

    def histogram(self, raw: bool = False) -> np.ndarray:
        """How many orbits (or raw positions) have each value code."""
        name = "raw_histogram" if raw else "orbit_histogram"
        try:
            histogram = self.file._dataset(self._group, name, (1 << 8 * self.width,), np.dtype(np.int64))[()]
        except DAMAGE as error:
            raise TableError(
                f"{self.file.path}: the tally of {self.subspace.name} cannot be read ({_first_line(error)})"
            ) from None
        if int(histogram.sum()) != (self.raw_positions if raw else self.positions):
            raise TableError(f"{self.file.path}: the tally of {self.subspace.name} is damaged")
        return histogram

    def chunk(self, number: int) -> np.ndarray:
        """Values of one chunk: rows [number * chunk_rows, ...), all columns, padded with zero rows at the end."""
        expected = self.chunk_rows * self._row_items * self.width
        try:
            _, packed = self._values.id.read_direct_chunk((number * self.chunk_rows, 0))
            raw = deflate.zlib_decompress(packed, expected)
        except Exception as error:
            raise TableError(
                f"{self.file.path}: chunk {number} of {self.subspace.name} cannot be read ({_first_line(error)})"
            ) from None
        if len(raw) != expected or _chunk_checksum(raw, self.subspace, number) != self._checksums[number]:
            raise TableError(f"{self.file.path}: chunk {number} of {self.subspace.name} is damaged")
        stored = np.frombuffer(raw, self.dtype.newbyteorder("<")).reshape(self.chunk_rows, self._row_items)
        return self.metric.unpack(stored, self.n_columns, f"{self.file.path}: chunk {number} of {self.subspace.name}")

    def read(self, pool=None) -> np.ndarray:
        """All values, flat, rows after each other, in native byte order."""
        out = np.empty(self.n_rows * self.n_columns, self.dtype)

        def keep(first_row: int, values: np.ndarray) -> None:
            out[first_row * self.n_columns :][: len(values)] = values

        self.for_each_part(keep, pool)
        return out

    def computed_sha256(self, pool=None) -> str:
        """SHA-256 of the values as they stand in the file, a few chunks in memory at a time; to be ``values_sha256``.

        pool: an executor for decompression, or None.
        """
        digest = hashlib.sha256()
        with closing(_in_order(pool, self.chunk, self.n_chunks)) as chunks:
            for number, values in enumerate(chunks):
                values = values[: self.n_rows - number * self.chunk_rows]
                digest.update(np.ascontiguousarray(values))
        return digest.hexdigest()

    def for_each_part(self, function, pool=None) -> None:
        """Calls ``function(first row, values)`` with all values, flat, some whole rows at a time, in no certain order.

        The calls are made by the pool's threads, if one is given; none goes on after this has returned or raised.
        """

        def call(number: int) -> None:
            first_row = number * self.chunk_rows
            function(first_row, self.chunk(number)[: self.n_rows - first_row].reshape(-1))

        for _ in _in_order(pool, call, self.n_chunks):
            pass


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
