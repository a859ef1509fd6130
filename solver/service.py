"""Answers as plain data to questions that come as text: what the server says, without the server.

Every method of `Service` takes texts, as they stand in an address, and gives what becomes JSON, with the names of the
tables that were missed on the way.  What needs one of those is *unknown*, never a draw.
"""

import threading
from functools import cache
from pathlib import Path

from .errors import InputError, MissingTableError
from .metric import DTW, OUTCOME
from .moves import format_turn, play
from .notation import format_mfen, format_sanmill, parse_moves, parse_position
from .position import Position, format_own_form, unreachable_note
from .query import CACHE_BYTES, TableSet
from .render import answer_data, describe_value, turns_data
from .stats import finished_subspaces, subspace_statistics
from .store import TableStore, table_folder
from .subspace import Subspace, moving_pairs, parse_subspace, placing_subspaces
from .values import Outcome
from .variant import VARIANTS, Variant, get_variant
from .worth import Value

#: Longest list of moves that is read, and most plies of a line that is not decided.
MOST_MOVES, MOST_LINE = 4000, 1000
#: Least memory for decompressed parts of one game's tables.
LEAST_CACHE = 1 << 24


class TooLongError(InputError):
    """Input of a length that is refused before anything looks at it."""


class Service:
    """The tables of all variants in a data folder, opened when first asked for; what is asked comes as text.

    ``cache_bytes`` is shared out among the variants by the size of their tables in that folder when the service starts.
    """

    def __init__(self, data: Path | str, cache_bytes: int = CACHE_BYTES):
        self.data = Path(data)
        sizes = {
            v.name: sum(p.stat().st_size for m in (DTW, OUTCOME) for p in table_folder(self.data, v, m).glob("*.h5"))
            for v in VARIANTS.values()
        }
        share = cache_bytes / max(1, sum(sizes.values()))
        self._cache_bytes = {name: max(LEAST_CACHE, int(share * size)) for name, size in sizes.items()}
        self._opened: dict[str, TableSet] = {}
        self._rows: dict[tuple, dict] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        for tables in self._opened.values():
            tables.close()

    def tables(self, name: str) -> TableSet:
        tables = self._opened.get(name)
        if tables is None:
            variant = get_variant(name)
            with self._lock:
                if name not in self._opened:
                    self._opened[name] = TableSet(self.data, variant, self._cache_bytes[name])
                tables = self._opened[name]
        return tables

    def position(self, variant="nine", position=None, moves=None, details="0") -> tuple[dict, list[str]]:
        """What a position is worth, and the names of the tables that were missed."""
        tables = self.tables(variant)
        place = _read_position(tables.variant, position, moves)
        answer, value, ranked, missing = _answer(tables, place)
        if details not in ("0", "1"):
            raise InputError("details is 0 or 1")
        if details == "1":
            answer["details"] = _details(tables.variant, place, value, ranked, missing)
        return answer, missing

    def line(self, variant="nine", position=None, moves=None) -> tuple[dict, list[str]]:
        """The same with the line of best turns; null where a table on the way is missing."""
        tables = self.tables(variant)
        place = _read_position(tables.variant, position, moves)
        answer, _, _, missing = _answer(tables, place)
        try:
            answer["line"] = turns_data(tables.variant, tables.line(place, MOST_LINE))
        except MissingTableError as error:
            answer["line"] = None
            missing = sorted({*missing, error.subspace})
        return answer, missing

    def stats(self, variant="nine", subspace=None, phase="moving") -> tuple[dict, list[str]]:
        """Rows of `morris stats` over canonical positions; of a single subspace also how many have each depth."""
        game = get_variant(variant)
        if subspace is not None:
            # A plus sign that was not escaped arrives as a space.
            wanted = parse_subspace(subspace.strip().replace(" ", "+"), game)
            store = self.tables(variant).store
            row = {"subspace": wanted.name, **subspace_statistics(store, wanted), "depths": _depths(store, wanted)}
            return {"variant": variant, "subspaces": [row]}, []
        if phase not in ("moving", "placing"):
            raise InputError("phase is moving or placing")
        store = TableStore(self.data, game, or_outcomes=True)  # of its own: going through all files would push out those in use
        try:
            subspaces = [s for s in finished_subspaces(store) if s.is_placing == (phase == "placing")]
            return {"variant": variant, "subspaces": [self._row(store, s) for s in subspaces]}, []
        finally:
            store.close()

    def _row(self, store: TableStore, subspace: Subspace) -> dict:
        """A row of statistics, remembered: a finished file never changes, and one that was built again has another time."""
        key = store.variant.name, subspace, store.path(subspace).stat().st_mtime_ns
        if key not in self._rows:
            self._rows[key] = {"subspace": subspace.name, **subspace_statistics(store, subspace)}
        return self._rows[key]

    def table_list(self, variant="nine") -> tuple[dict, list[str]]:
        """All files of a game, in order of building, and which of them are there."""
        store = self.tables(variant).store
        rows = []
        for subspace in _all_files(store.variant):
            try:
                size = store.path(subspace).stat().st_size
            except OSError:
                size = None
            phase = "placing" if subspace.is_placing else "moving"
            rows.append({"subspace": subspace.name, "phase": phase, "present": size is not None, "bytes": size})
        present = sum(row["present"] for row in rows)
        counts = {"present": present, "missing": len(rows) - present}
        return {"variant": variant, "fingerprint": store.variant.fingerprint, **counts, "tables": rows}, []

    def variants(self) -> tuple[list, list[str]]:
        """The games with their boards; the points of a board are in the order of the own form."""
        return [
            {
                "variant": v.name, "summary": v.summary, "stones": v.stones, "board": v.board_name,
                "rings": v.board.rings, "edges": [[v.board.points[p] for p in edge] for edge in v.board.edges],
                "has_tables": _has_tables(self.data, v),
            }
            for v in VARIANTS.values()
        ], []  # fmt: skip

    def convert(self, variant="nine", text=None) -> tuple[dict, list[str]]:
        """A position or a game in any notation: where it starts, its turns, and the position at its end in all notations."""
        game = get_variant(variant)
        if text is None:
            raise InputError("give text=, a position or turns in any notation")
        if len(text) > MOST_MOVES:
            raise TooLongError(f"{len(text)} characters are more than {MOST_MOVES}")
        first = text.split()[:1]
        # No turn holds a slash, so a text that begins with one is a position.
        if first and ("/" in first[0] or first[0].upper().startswith("MFEN")) and first[0] != "1/2-1/2":
            beginning = end = parse_position(text, game)
            turns = []
        else:
            record = parse_moves(text, game, allow_owed=True)
            beginning, end, turns = record.start, record.position, [format_turn(game.board, t) for t in record.turns]
        return {
            "variant": variant, "start": format_own_form(beginning, game), "moves": turns, **_notations(game, end),
            "note": unreachable_note(end, game),
        }, []  # fmt: skip


def _has_tables(data: Path, variant: Variant) -> bool:
    store = TableStore(data, variant, or_outcomes=True)
    return any(store.has(subspace) for subspace in moving_pairs(variant))


@cache
def _all_files(variant: Variant) -> list[Subspace]:
    return moving_pairs(variant) + placing_subspaces(variant)


def _read_position(variant: Variant, position: str | None, moves: str | None) -> Position:
    if moves is None:
        if position is None:
            raise InputError("give position=, or moves= (empty for the start), or both: moves are then played from the position")
        return parse_position(position, variant)
    if len(moves) > MOST_MOVES:
        raise TooLongError(f"{len(moves)} characters of moves are more than {MOST_MOVES}")
    if position is not None:  # the last tag counts
        moves += f' [FEN "{format_own_form(parse_position(position, variant), variant)}"]'
    return parse_moves(moves, variant, allow_owed=True).position


def _answer(tables: TableSet, position: Position):
    """The answer of `morris query --json`, the value, the ranked turns, and the names of missing tables."""
    ranked, missing = tables.moves(position), set()
    try:
        value = tables.probe(position)
    except MissingTableError as error:
        value = Value(Outcome.UNKNOWN)
        missing.add(error.subspace)
    for entry in ranked:
        if entry.outcome is Outcome.UNKNOWN:
            missing.add(play(tables.variant, position, entry.turn).subspace.name)
    return answer_data(tables.variant, position, value, ranked), value, ranked, sorted(missing)


def _details(variant: Variant, position: Position, value: Value, ranked, missing: list[str]) -> dict:
    """What the page says beside the answer."""
    subspace = position.subspace
    if position.capture_owed:  # no table holds these; the value comes from where the removal leads
        subspace = play(variant, position, ranked[0].turn).subspace
    return {
        "words": describe_value(variant, position, value), "own_turns": value.own_turns,
        "capture_owed": position.capture_owed, "subspace": None if subspace.is_over else subspace.name, "missing": missing,
        "note": unreachable_note(position, variant), "notations": _notations(variant, position),
    }  # fmt: skip


def _notations(variant: Variant, position: Position) -> dict:
    """The position in all notations; null where one does not exist for the board."""
    texts = {"position": format_own_form(position, variant)}
    for name, write in (("mfen", format_mfen), ("sanmill", format_sanmill)):
        try:
            texts[name] = write(position, variant)
        except InputError:
            texts[name] = None
    return texts


def _depths(store: TableStore, subspace: Subspace) -> dict:
    """How many canonical positions have each depth: pairs of plies and count, by outcome; of draws there is only a count.

    In a table of outcomes there is one pair for all wins, and one for all losses, whose plies are null.
    """
    table = store.table(subspace)
    counts = table.histogram()
    depths = {"win": [], "loss": [], "draw": 0}
    for code in counts.nonzero()[0].tolist():
        outcome, plies = table.metric.decode(code, table.width)
        if outcome is Outcome.DRAW:
            depths["draw"] = int(counts[code])
        else:
            depths[outcome.value].append([plies, int(counts[code])])
    return {outcome: sorted(found) if isinstance(found, list) else found for outcome, found in depths.items()}
