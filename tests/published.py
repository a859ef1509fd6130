"""Reads the published values of data/published for tests."""

import csv
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "data" / "published"


def rows(name: str) -> list[dict[str, str | int | None]]:
    """The rows of a file such as 'perft_nine'; numbers as int, an empty field as None."""
    with open(FOLDER / f"{name}.csv", newline="", encoding="utf-8") as file:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> str | int | None:
    return int(text) if text.isdecimal() else text or None
