"""The virtual environment that the scripts run in: made once, filled from a lock file with hashes.

Needs nothing but Python 3.11 or newer with venv and pip.  A stamp beside the environment remembers what was installed,
so a second run does nothing twice.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = Path(os.environ.get("MORRIS_VENV", ROOT / ".venv"))
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")


def prepare(lock_name: str) -> Path:
    """Makes the environment hold the package and a lock file's dependencies; returns its folder of programs."""
    if sys.version_info < (3, 11):
        sys.exit(f"morris needs Python 3.11 or newer; this is {sys.version.split()[0]}")
    lock = ROOT / "scripts" / "lock" / f"{lock_name}.txt"
    wanted = hashlib.sha256(lock.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = ENVIRONMENT / f".installed-{lock_name}"
    if stamp.exists() and stamp.read_text() == wanted:
        return BIN
    if not (BIN / "python").exists():
        print(f"making a virtual environment in {ENVIRONMENT}", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    print(f"installing the dependencies of scripts/lock/{lock_name}.txt and morris itself", flush=True)
    pip = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for arguments in (["--require-hashes", "-r", str(lock)], ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]):
        done = subprocess.run(pip + arguments)
        if done.returncode:
            sys.exit(f"pip could not install {' '.join(arguments)}; its message stands above")
    stamp.write_text(wanted)
    return BIN


def run(program: str, arguments: list[str], lock_name: str) -> None:
    """Replaces this process by a program of the environment."""
    path = str(prepare(lock_name) / program)
    sys.stdout.flush()
    os.chdir(ROOT)
    os.execv(path, [path, *arguments])  # python finds its environment by the path it is called by
