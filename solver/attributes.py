"""Attributes of HDF5 files: integers, arrays of them, and printable text of a fixed length.

Text of variable length would stand in HDF5's global heap, which the library reads without a checksum of its own: a single
changed byte there can keep it busy for ever.  So it is never written, and refused before it is read.
"""

from math import prod

import h5py
import numpy as np

#: Bytes of an attribute, and attributes of an object, that are read at most.
MOST_BYTES, MOST_ATTRIBUTES = 1 << 16, 64


def write_attributes(node: h5py.HLObject, attributes: dict) -> None:
    """Writes text as UTF-8 of its own length (of one byte where it is empty), and integers and arrays of them as they are.

    TypeError: a value is neither.
    """
    for name, value in attributes.items():
        if isinstance(value, str):
            raw = value.encode()
            node.attrs.create(name, raw, dtype=h5py.string_dtype("utf-8", max(1, len(raw))))
        elif np.asarray(value).dtype.kind in "iu":
            node.attrs[name] = value
        else:
            raise TypeError(f"the attribute {name} is no integer and no text: {value!r}")


def read_attributes(node: h5py.HLObject) -> dict:
    """All attributes by name: text as ``str``, integers as ``int``, arrays of integers as ``ndarray``.

    ValueError, or TypeError from h5py for what numpy does not know: there are more than 64, or one is of another type, longer
    than 64 KiB, or not printable.  What is of another type or too long has not been read then.
    """
    if len(node.attrs) > MOST_ATTRIBUTES:
        raise ValueError(f"{len(node.attrs)} attributes are more than the {MOST_ATTRIBUTES} that are read")
    found = {}
    for name in node.attrs:
        place = node.attrs.get_id(name)
        kind, shape = place.dtype.kind, place.shape  # the shape of nothing is None
        is_known = kind in "iu" and shape is not None or kind == "S" and shape == ()
        if not is_known or place.dtype.itemsize * prod(shape) > MOST_BYTES:
            raise ValueError(f"the attribute {name!r} is no integer and no short text of a fixed length")
        value = node.attrs[name]
        found[name] = value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value
        if isinstance(found[name], str) and not found[name].isprintable():
            raise ValueError(f"the attribute {name!r} is no printable text")
    return found
