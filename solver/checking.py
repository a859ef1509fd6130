"""Are table files as they were written, and are their values those on record?

The header's checksum finds every changed byte, and does not know where it is.  The checksums inside then tell which
chunk, list or attribute it belongs to.  ``data/checksums`` has a line for each table of some games: its name and the
checksum of its values, which is compared with one computed from the values themselves, whatever the file says of them.
The README says which of these tables were verified in every slot.
"""

import csv
from pathlib import Path

from .errors import TableError
from .header import check_file, read_header, refuse_heaps
from .metric import Metric
from .store import TableStore
from .subspace import Subspace, solved_together
from .tablefile import TableFile
from .variant import Variant

RECORDS = Path(__file__).parent.parent / "data" / "checksums"


def recorded_checksums(variant: Variant) -> dict[str, str]:
    """SHA-256 of the values by the subspace's name; none for games that are not on record."""
    path = RECORDS / f"{variant.name}.csv"
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row["subspace"]: row["values_sha256"] for row in csv.DictReader(file)}


def check_tables(store: TableStore, file: Subspace, recorded: dict[str, str], pool=None) -> int:
    """Compares every byte of a subspace's file with its checksum, and all values of tables on record with that.

    recorded: see `recorded_checksums`; pool: an executor for decompression, or None.  Returns how many of the file's
    tables are on record.  `TableError` names the file and the place of the damage; `MissingTableError` where there is
    no such file.
    """
    path = store.path(file)
    if path.exists():
        read_header(path)
        refuse_heaps(path)
    tables = [store.table(subspace) for subspace in solved_together(store.variant, file)]  # attributes, lists, header
    try:
        check_file(path)
    except TableError as error:
        raise TableError(f"{error}: {_damaged_part(path, store.variant, store.metric)}") from None
    on_record = 0
    for table in tables:
        name = table.subspace.name
        if name not in recorded:
            continue
        found = table.computed_sha256(pool)
        if found != table.values_sha256:
            raise TableError(
                f"{path}: the values of {name} are not those of its values_sha256; delete it and build it again"
            )
        if found != recorded[name]:
            raise TableError(f"{path}: the values of {name} are whole but not those on record")
        on_record += 1
    return on_record


def _damaged_part(path: Path, variant: Variant, metric: Metric) -> str:
    """Where in a file with a good header a changed byte shows."""
    try:
        file = TableFile(path, variant, metric)
        try:
            for table in file.tables.values():
                for number in range(table.n_chunks):
                    table.chunk(number)
                for raw in (False, True):
                    table.histogram(raw)
        finally:
            file.close()
    except TableError as error:
        return str(error).removeprefix(f"{path}: ")
    return "nothing that is read from it has changed"
