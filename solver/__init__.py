"""morris: a solver for nine men's morris and its family."""

__version__ = "0.1.0"
