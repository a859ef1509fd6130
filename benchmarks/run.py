#!/usr/bin/env python3
"""``python benchmarks/run.py [OPTIONS]``: the same as ``morris bench``, from a checkout, with the same options."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from solver.cli import main  # noqa: E402

sys.argv[1:1] = ["bench"]
main()
