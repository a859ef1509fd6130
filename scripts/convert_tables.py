"""scripts/convert_tables.py FILE...: rewrites finished tables of format version 1 in the version that morris reads.

Version 1 had text of variable length in its attributes, which version 2 has at a fixed length; the values are the same.  A
file is compared with its checksum first and is then exchanged whole or not at all; what comes out is, byte for byte,
what a build writes.  What is not of version 1 is left as it is and told.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import h5py

from solver.attributes import read_attributes, write_attributes
from solver.build import build_lock
from solver.errors import MorrisError, TableError
from solver.header import HEADER_SIZE, file_digest, write_header
from solver.metric import Metric, get_metric
from solver.tablefile import DAMAGE, TableFile, write_tables
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


def fix_lengths(file: h5py.File) -> None:
    """Gives the text in the attributes of a file and its groups a fixed length."""
    names = file.attrs["subspaces"].split()
    if not all(isinstance(file.get(name, getlink=True), h5py.HardLink) for name in names):
        raise ValueError("a subspace is missing or leads out of the file")
    for node in (file, *(file[name] for name in names)):
        attributes = dict(node.attrs)
        for name in attributes:
            del node.attrs[name]
        write_attributes(node, attributes)


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
    with tempfile.TemporaryDirectory() as folder, build_lock(path.parent):
        copy = Path(shutil.copyfile(path, Path(folder) / path.name))
        with h5py.File(copy, "r+") as file:
            fix_lengths(file)
            variant, metric = game_of(read_attributes(file))
        write_header(copy)
        old, values, tallies = TableFile(copy, variant, metric), {}, {}
        for subspace, table in old.tables.items():
            values[subspace], tallies[subspace] = table.read(), (table.histogram(), table.histogram(raw=True))
            if hashlib.sha256(values[subspace]).hexdigest() != table.values_sha256:
                raise TableError(f"the values of {subspace.name} are not those of their checksum")
        mode = path.stat().st_mode
        write_tables(path, variant, old.row_masks, values, tallies, metric=metric)
        path.chmod(mode)
        old.close()


def main(names: list[str]) -> int:
    failed = 0
    for name in names:
        try:
            convert(Path(name).resolve())
            print(f"{name} converted")
        except (MorrisError, *DAMAGE) as error:
            failed = 1
            print(f"{name} is left as it is: {(str(error).splitlines() or [type(error).__name__])[0]}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__.splitlines()[0])
