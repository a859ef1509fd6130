"""Files that are written whole or not at all: under another name first, and moved to their place when they are complete."""

import os
import re
from contextlib import contextmanager
from pathlib import Path

#: Suffix of what is being written, and of what is left where the process was killed meanwhile.
UNFINISHED = ".unfinished"
#: How HDF5 tells the system's error number, in the midst of its own words.
_ERROR_NUMBER = re.compile(r"\berrno = (\d+)")


def unfinished_name(path: Path) -> Path:
    """The name that a file has while it is written."""
    return path.with_name(path.name + UNFINISHED)


@contextmanager
def written_whole(path: Path):
    """Yields the path to write to.  The file moves to ``path`` at the end of the block, or goes where the block fails.

    OSError, with the system's words and the file's name: writing failed, because the disk is full for example.  h5py raises
    RuntimeError or OSError then, by the place, and either with many words of HDF5.
    """
    unfinished = unfinished_name(path)
    try:
        yield unfinished
        os.replace(unfinished, path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if number := _error_number(error):
            raise OSError(number, os.strerror(number), str(path)) from None
        raise


def _error_number(error: BaseException) -> int | None:
    """The system's error number, where an error comes from the system."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    told = isinstance(error, (OSError, RuntimeError)) and _ERROR_NUMBER.search(str(error))
    return int(told[1]) if told else None
