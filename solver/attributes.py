"""Attributes of HDF5 files: integers, arrays of them, and text of a fixed length.

Text of variable length would stand in HDF5's global heap, the one place inside a file without a checksum of HDF5's own:
a single changed byte there can keep the library busy for ever.  So it is never written, and refused before it is read.
"""

from math import prod

import h5py
import numpy as np

#: Bytes of an attribute that are read at most.
MOST_BYTES = 1 << 16


def write_attributes(node: h5py.HLObject, attributes: dict) -> None:
    """Writes text as UTF-8 of its own length, everything else (integers, arrays) as h5py does."""
    for name, value in attributes.items():
        if isinstance(value, str):
            raw = value.encode()
            node.attrs.create(name, raw, dtype=h5py.string_dtype("utf-8", max(1, len(raw))))
        else:
            node.attrs[name] = value


def read_attributes(node: h5py.HLObject) -> dict:
    """All attributes by name: text as ``str``, integers as ``int``, arrays of integers as ``ndarray``.

    ValueError: one is of another type, or longer than 64 KiB; nothing of its content has been read then.
    """
    found = {}
    for name in node.attrs:
        place = node.attrs.get_id(name)
        kind, size = place.dtype.kind, place.dtype.itemsize * prod(place.shape)
        if kind not in "iuS" or (kind == "S" and place.shape) or size > MOST_BYTES:
            raise ValueError(f"the attribute {name} is no integer and no short text of a fixed length")
        value = node.attrs[name]
        found[name] = value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value
    return found
