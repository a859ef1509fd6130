"""scripts/convert_tables.py FILE...: rewrites finished tables of format version 1 in the version that morris reads.

Version 1 had text of variable length in its attributes, which version 2 has at a fixed length; the values are the same.  A
file is compared with its checksum first and is then exchanged whole or not at all; what comes out is, byte for byte,
what a build writes.  What is not of version 1 is left as it is and told.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

from solver.attributes import read_attributes, write_attributes
from solver.errors import MorrisError, TableError
from solver.header import HEADER_SIZE, file_digest, make_header
from solver.metric import Metric, get_metric
from solver.tablefile import TableFile, write_tables
from solver.variant import Variant, get_variant


def check_old(path: Path) -> None:
    """Raises `TableError` unless the file is a whole one of version 1."""
    with open(path, "rb") as file:
        raw = file.read(HEADER_SIZE)
    try:
        header = json.loads(raw)
        is_old = (header["format"], header["version"]) == ("morris-table", 1)
    except (ValueError, KeyError, TypeError):
        is_old = False
    if not is_old:
        raise TableError(f"{path}: no table of format version 1")
    size = path.stat().st_size - HEADER_SIZE
    if (header.get("bytes"), header.get("sha256")) != (size, file_digest(path)):
        raise TableError(f"{path}: the content differs from its checksum")


def game_of(attributes: dict) -> tuple[Variant, Metric]:
    """The variant, with the changed rules that its name lists (``nine,stones=7``), and the metric of a file."""
    name, *changes = attributes["variant"].split(",")
    rules = json.loads(attributes["rules"])
    changed = {rule: rules.get(rule, value) for rule, _, value in (change.partition("=") for change in changes)}
    word, limit = re.fullmatch(r"([a-z]+)(\d*)", attributes["metric"]).groups()
    variant = get_variant(name)
    return variant.with_overrides(**changed) if changed else variant, get_metric(word, int(limit) if limit else None)


def convert(path: Path) -> None:
    """Exchanges one file of version 1 for one of the version that morris reads."""
    check_old(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        with h5py.File(copy, "r+") as file:
            for node in (file, *(node for node in file.values() if isinstance(node, h5py.Group))):
                attributes = {k: v.item() if isinstance(v, np.generic) else v for k, v in node.attrs.items()}
                for name in attributes:
                    del node.attrs[name]
                write_attributes(node, attributes)
            variant, metric = game_of(read_attributes(file))
        header = make_header(copy.stat().st_size - HEADER_SIZE, file_digest(copy))
        with open(copy, "r+b") as file:
            file.write(header)
        old = TableFile(copy, variant, metric)  # every checksum and count is compared here
        tallies = {s: (table.histogram(), table.histogram(raw=True)) for s, table in old.tables.items()}
        write_tables(path, variant, old.row_masks, {s: t.read() for s, t in old.tables.items()}, tallies, metric=metric)
        old.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    failed = False
    for name in sys.argv[1:]:
        try:
            convert(Path(name))
            print(f"{name} converted")
        except (MorrisError, OSError) as error:
            failed = True
            print(error, file=sys.stderr)
    sys.exit(failed)
