"""scripts/versions reads every dependency of pyproject.toml and pins it to its floor."""

import subprocess
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest
from conftest import ROOT


@pytest.fixture
def versions(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("versions", str(ROOT / "scripts" / "versions"))
    module = module_from_spec(spec_from_loader("versions", loader))
    loader.exec_module(module)
    return module


def test_every_dependency_has_its_floor(versions):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
    lines = [line for line in lines if not line.startswith("morris[")]
    assert versions.requirements("newest") == [line.replace("; ", " ; ") for line in lines]
    assert versions.requirements("oldest") == [line.replace(">=", "==", 1).replace("; ", " ; ") for line in lines]
    assert "numpy==2.0" in versions.requirements("oldest")


def test_what_it_cannot_pin_is_refused(versions, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "morris"\ndependencies = ["numpy>2"]\noptional-dependencies = {}\n')
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="understands NAME>=VERSION only, not 'numpy>2'"):
        versions.requirements("oldest")


def test_neither_old_nor_new_is_refused():
    done = subprocess.run([sys.executable, "scripts/versions", "older"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("scripts/versions oldest|newest")
