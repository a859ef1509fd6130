"""The data folder: which file holds which table, and the finished tables of a variant, opened on demand."""

import os
import shlex
import threading
from collections import OrderedDict
from pathlib import Path

from .errors import InputError, MissingTableError
from .metric import DTW, OUTCOME, Metric
from .subspace import Subspace, solved_together
from .tablefile import Table, TableFile
from .variant import Variant

#: Folder of the tables where none is named, and the environment variable that names one.
DEFAULT_DATA, DATA_VARIABLE = "data/tables", "MORRIS_DATA"
#: Complete tables of the small games, part of the project.
SHIPPED_TABLES = Path(__file__).parent.parent / "data" / "small"


def table_folder(data: Path, variant: Variant, metric: Metric = DTW) -> Path:
    """Folder of a variant's tables inside the data folder."""
    return Path(data) / metric.folder_name(variant.name)


def table_path(data: Path, variant: Variant, subspace: Subspace, metric: Metric = DTW) -> Path:
    """File that holds a subspace's table, with those of all subspaces solved together with it."""
    return table_folder(data, variant, metric) / f"{solved_together(variant, subspace)[0].name}.h5"


class TableStore:
    """The finished tables of one variant in a data folder, opened on demand; of more than ``max_open``
    files the first opened are let go.

    Where a table is not in the folder, the one that comes with morris is taken (small games only), unless
    ``with_shipped`` is false.  With ``or_outcomes`` a table of outcomes stands in where one of ``metric`` is missing;
    whoever asks for that looks at ``metric`` of each table.
    """

    def __init__(
        self, data: Path, variant: Variant, max_open: int = 512, with_shipped: bool = True, metric: Metric = DTW,
        or_outcomes: bool = False,
    ):  # fmt: skip
        self.data, self.variant, self.metric = Path(data), variant, metric
        self.metrics = (metric, OUTCOME) if or_outcomes else (metric,)
        self._folders = [self.data, SHIPPED_TABLES] if with_shipped else [self.data]
        self._open: OrderedDict[Path, TableFile] = OrderedDict()
        self._tables: dict[Subspace, Table] = {}
        self._lock = threading.Lock()
        self._max_open = max_open

    def path(self, subspace: Subspace) -> Path:
        """The file of a subspace: where it is, or where it would be built."""
        return self._place(subspace)[0]

    def _place(self, subspace: Subspace) -> tuple[Path, Metric]:
        places = [(table_path(f, self.variant, subspace, m), m) for m in self.metrics for f in self._folders]
        return next((place for place in places if place[0].exists()), places[0])

    def is_shipped(self, subspace: Subspace) -> bool:
        """Whether the file is one that comes with morris."""
        return self.has(subspace) and self.path(subspace).is_relative_to(SHIPPED_TABLES)

    def has(self, subspace: Subspace) -> bool:
        """Whether the file is there (finished files only; a damaged one still counts)."""
        return self.path(subspace).exists()

    def has_depths(self, subspace: Subspace) -> bool:
        """Whether the file is there and tells depths, not outcomes alone."""
        path, metric = self._place(subspace)
        return metric.has_depths and path.exists()

    def build_command(self, subspace: Subspace | None = None, phase: str = "moving") -> str:
        """The command line that builds one table of this store, or else those of a phase, with what they need."""
        command = f"morris build{self.variant.options}{self.metric.options}"
        if self.data != Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA):
            command += f" --data {shlex.quote(str(self.data))}"
        if subspace is not None:
            return f"{command} --subspace {subspace.name}"
        return f"{command} --phase placing" if phase == "placing" else command

    def table(self, subspace: Subspace) -> Table:
        """The table of a subspace; `MissingTableError` where it has not been built."""
        with self._lock:
            if subspace in self._tables:
                return self._tables[subspace]
            path, metric = self._place(subspace)
            if path not in self._open:
                if not path.exists():
                    raise MissingTableError(
                        subspace.name,
                        f"the table {subspace.name} of {self.variant.name} is missing in {self.data}; "
                        f"'{self.build_command(subspace)}' makes it",
                    )
                self._open[path] = TableFile(path, self.variant, metric)
                if len(self._open) > self._max_open:
                    oldest = self._open.popitem(last=False)[1].tables
                    for forgotten in oldest:
                        self._tables.pop(forgotten, None)
                    oldest.clear()  # its file is closed when the last user lets go of the last table
            tables = self._open[path].tables
            self._tables.update(tables)
            return tables[subspace]

    def close(self) -> None:
        with self._lock:
            for file in self._open.values():
                file.close()
            self._open.clear()
            self._tables.clear()


def require_writable(folder: Path) -> None:
    """Raises `InputError` where files cannot be made in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-test-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"cannot write to the data folder {folder}: {error.strerror}") from None
