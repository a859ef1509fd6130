"""Everything that can go wrong on purpose.

Each exception carries one sentence that says what to do, and the exit code that the command
line answers with: 2 unusable input, 3 a table is missing, 4 a table is damaged or made for
other rules, 130 interrupted by the user, 1 anything else.
"""


def adding(extra: str) -> str:
    """How to install the optional libraries of an extra that pyproject.toml names; the end of an error's sentence.

    >>> adding("web")
    "in the folder of the checkout, .venv/bin/pip install -e '.[web]' adds it"
    """
    return f"in the folder of the checkout, .venv/bin/pip install -e '.[{extra}]' adds it"


class MorrisError(Exception):
    """Base of all errors that morris raises deliberately; ``str()`` is one line for a person."""

    exit_code = 1


class InputError(MorrisError, ValueError):
    """A position, move, variant, subspace or option that cannot be used, with the reason."""

    exit_code = 2


class MissingTableError(MorrisError, KeyError):
    """A table that the answer needs is not in the data folder; ``subspace`` names it."""

    exit_code = 3

    def __init__(self, subspace: str, message: str):
        super().__init__(message)
        self.subspace = subspace

    def __reduce__(self):  # a worker process hands it on
        return type(self), (self.subspace, self.args[0])

    def __str__(self) -> str:  # KeyError would print the repr of its argument
        return self.args[0]


class TableError(MorrisError):
    """A table file is damaged, of another format version, or made for other rules."""

    exit_code = 4


class ResourceError(MorrisError):
    """The machine has too little memory or disk for the job."""

    exit_code = 1


class DepthOverflowError(MorrisError):
    """A depth does not fit the value code's width; build the table with a wider one."""

    exit_code = 1


class Interrupted(MorrisError):
    """A long job was stopped by the user; the message says how to go on."""

    exit_code = 130
