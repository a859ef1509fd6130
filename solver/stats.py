"""Statistics of finished tables, read from the tallies that stand in their files."""

from .store import TableStore
from .subspace import Subspace, moving_pairs, placing_subspaces, solved_together, start_subspace
from .values import Outcome, outcome_counts

_COUNTS = ("wins", "losses", "draws", "longest_win_plies", "longest_loss_plies")
#: Columns of `morris stats`, by phase.
COLUMNS = {
    "moving": ("own", "opponent", *_COUNTS),
    "placing": ("own", "opponent", "own_hand", "opponent_hand", "canonical_positions", *_COUNTS),
}


def subspace_statistics(store: TableStore, subspace: Subspace, raw: bool = False) -> dict:
    """Counts over canonical (or raw) positions and longest win and loss in plies; None for no such depth, 0,
    or one that the table does not tell."""
    table = store.table(subspace)
    histogram = table.histogram(raw)
    wins, losses, draws = outcome_counts(histogram)
    longest_win, longest_loss = table.metric.deepest(histogram)
    return {
        **subspace._asdict(),
        "canonical_positions": int(histogram.sum()),
        "wins": wins,
        "losses": losses,
        "draws": draws,
        "longest_win_plies": longest_win or None,
        "longest_loss_plies": longest_loss or None,
    }


def game_files(store: TableStore) -> list[Subspace]:
    """The finished files of a game, moving phase first, each by the subspace it is named after."""
    return [s for s in moving_pairs(store.variant) + placing_subspaces(store.variant) if store.has(s)]


def finished_subspaces(store: TableStore) -> list[Subspace]:
    """All ordered subspaces with a finished table, in order of building."""
    return [s for file in game_files(store) for s in solved_together(store.variant, file)]


def start_value(store: TableStore) -> Outcome | None:
    """Outcome of the empty board for the first player, from the placement tables; None where they are missing."""
    start = start_subspace(store.variant)
    if not store.has(start):
        return None
    table = store.table(start)
    return table.metric.decode(table.chunk(0)[0, 0], table.width)[0]
