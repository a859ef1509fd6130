"""morris: a solver for nine men's morris and its family.

    from solver import open_tables

    with open_tables("data/tables") as tables:
        tables.probe("....BBB./W..B...B/WW.W.... w 0,0")

The names below are imported when they are first used, so that importing the package costs nothing.
"""

import importlib

__version__ = "0.1.0"

#: Public name -> module that defines it.
_PUBLIC = {
    "open_tables": "query",
    "TableSet": "query",
    "Value": "worth",
    "RankedTurn": "worth",
    "Outcome": "values",
    "Position": "position",
    "Turn": "moves",
    "Subspace": "subspace",
    "dependencies": "subspace",
    "Variant": "variant",
    "get_variant": "variant",
    "MissingTableError": "errors",
    "MorrisError": "errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)
