"""The first line of a table file: format version, length and checksum of everything behind it.

512 bytes of JSON, padded with spaces.  It is written last, so a file without it was never finished; and as it names its
length and a checksum, a single changed byte anywhere in the file can be found.
"""

import hashlib
import json
import mmap
import os
from pathlib import Path

from .errors import TableError

FORMAT_VERSION = 2
HEADER_SIZE = 512
#: How HDF5's global and local heaps begin: a signature and a version.
HEAPS = b"GCOL\1\0\0\0", b"HEAP\0\0\0\0"


def make_header(payload_bytes: int, digest: str) -> bytes:
    line = json.dumps(
        {"format": "morris-table", "version": FORMAT_VERSION, "bytes": payload_bytes, "sha256": digest}
    )
    return line.encode().ljust(HEADER_SIZE - 1) + b"\n"


def file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        file.seek(HEADER_SIZE)
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def write_header(path: Path) -> None:
    """Writes the header over the first bytes of a file whose content is complete, and waits until it is on the disk."""
    header = make_header(path.stat().st_size - HEADER_SIZE, file_digest(path))
    with open(path, "r+b") as file:
        file.write(header)
        file.flush()
        os.fsync(file.fileno())


def refuse_heaps(path: Path) -> None:
    """Raises `TableError` where a file has one of HDF5's heaps without checksums, in which a crafted loop has no end.

    No finished table has one.  HDF5 may look into it on opening an object, so this comes first for files from others.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if any(content.find(start) >= 0 for start in HEAPS):
            raise TableError(f"{path}: it has a heap without checksums, which morris never writes")


def read_header(path: Path) -> dict:
    with open(path, "rb") as file:
        raw = file.read(HEADER_SIZE)
    try:
        header = json.loads(raw)
        version, payload, digest = header["version"], header["bytes"], header["sha256"]
        if header["format"] != "morris-table" or not isinstance(payload, int):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise TableError(f"{path}: no finished morris table; delete it and build it again") from None
    if version != FORMAT_VERSION:
        age = "unknown"
        if isinstance(version, int) and version > 0:
            age = "newer" if version > FORMAT_VERSION else "older, and scripts/convert_tables.py rewrites it"
        raise TableError(f"{path}: format version {version} is {age}; this program reads version {FORMAT_VERSION}")
    if raw != make_header(payload, digest):
        raise TableError(f"{path}: the header line is damaged")
    if path.stat().st_size != HEADER_SIZE + payload:
        raise TableError(f"{path}: {path.stat().st_size} bytes where {HEADER_SIZE + payload} were written")
    return header


def check_file(path: Path) -> None:
    """Compares a file with its checksum; raises `TableError` where a single byte differs.

    The file is only read as bytes here; HDF5 has no part in it.
    """
    header = read_header(path)
    if file_digest(path) != header["sha256"]:
        raise TableError(f"{path}: the content differs from its checksum")
