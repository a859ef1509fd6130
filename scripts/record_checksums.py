"""scripts/record_checksums.py VARIANT [DATA]: writes data/checksums/VARIANT.csv from finished tables (for developers).

One line a subspace: its name, its canonical positions, and the sha256 computed from its values.  Tests build
the small ones and compare; `morris check` compares all that are in a data folder.
"""

import csv
import sys
from pathlib import Path

from solver.stats import finished_subspaces
from solver.store import TableStore
from solver.variant import get_variant

variant = get_variant(sys.argv[1])
store = TableStore(Path(sys.argv[2] if len(sys.argv) > 2 else "data/tables"), variant)
path = Path(__file__).parent.parent / "data" / "checksums" / f"{variant.name}.csv"
path.parent.mkdir(exist_ok=True)
with open(path, "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["subspace", "canonical_positions", "values_sha256"])
    for subspace in finished_subspaces(store):
        table = store.table(subspace)
        writer.writerow([subspace.name, table.positions, table.computed_sha256()])
store.close()
print(f"{path} written")
