"""The house: which module may lean on which, and how large they may grow."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "solver"

#: A module imports only from those before it.
FLOORS = """
    errors jit bits values metric
    board variant subspace position moves notation
    combinatorics indexing symmetry edges planes reindex tally
    wholefile attributes header tablefile store
    conversions counting retrograde to_mill verify
    planning build recheck compare schedule tasks cluster
    leaves search certificate
    worth query stats checking annotate fallback limited
    render adjudication players match
    service server
    cli
""".split()

MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
MOST_LINES = 400

#: What asking, drawing and playing from the shell import; numba would take most of a second.
QUICK = """
    errors values metric board variant subspace position moves notation combinatorics indexing wholefile attributes header tablefile store
    worth query stats checking annotate limited render adjudication players match service
""".split()


def module_name(path):
    """errors, cli.building, ...; the package itself is called __init__."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def floor_of(name):
    return name.split(".")[0]


def imports(path):
    """All imports of a file, also those inside functions, as (full name of the module, line)."""
    inside = ["solver", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start, node.lineno
            for alias in node.names:  # from . import board: the name may be a module
                if (PACKAGE.parent / Path(*start.split("."), f"{alias.name}.py")).exists():
                    yield f"{start}.{alias.name}", node.lineno


def own_imports(path):
    """The floors a file imports from."""
    found = set()
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] == "solver" and len(parts) > 1:
            found.add(parts[1])
    return found


def foreign_imports(path):
    return {name.split(".")[0] for name, _ in imports(path)} - {"solver"}


every_module = pytest.mark.parametrize("path", MODULES, ids=module_name)


def test_every_module_has_its_floor():
    assert {floor_of(module_name(path)) for path in MODULES} - {"__init__"} == set(FLOORS)
    assert len(FLOORS) == len(set(FLOORS))


@every_module
def test_imports_go_down(path):
    floor = floor_of(module_name(path))
    if floor != "__init__":
        below = FLOORS[: FLOORS.index(floor)] + (["cli"] if floor == "cli" else [])
        assert own_imports(path) <= set(below), f"{floor} may import {' '.join(below)}"


@every_module
def test_no_module_is_too_long(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


@every_module
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_verification_shares_nothing_with_the_pass():
    reached, todo = set(), ["verify"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += own_imports(PACKAGE / f"{name}.py")
    assert not reached & {"conversions", "retrograde", "to_mill", "reindex", "build"}


def test_verification_of_files_takes_from_the_builder_only_depths_found_again():
    """Which `verify` then proves; what it looks up is loaded apart, as `test_recheck` does with a builder out of order."""
    path = PACKAGE / "recheck.py"
    assert not own_imports(path) & {"conversions", "retrograde", "to_mill", "reindex"}
    used = {
        node.attr for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "builder"
    }  # fmt: skip
    assert used == {"variant", "metric", "store", "workers", "solve_depths"}


@pytest.mark.parametrize(
    "library, floors",
    [
        ("click", {"cli"}),
        ("tqdm", {"cli"}),
        ("h5py", {"attributes", "tablefile", "certificate"}),  # tables, and proofs that stand alone
        ("llvmlite", {"bits"}),
        ("starlette", {"server", "cli"}),
        ("uvicorn", {"cli"}),
        ("distributed", {"cluster", "tasks"}),
    ],
)
def test_libraries_stay_in_their_rooms(library, floors):
    users = {floor_of(module_name(path)) for path in MODULES if library in foreign_imports(path)}
    assert users == floors


def test_numba_is_asked_for_in_one_place():
    # bits needs its types to reach the processor's instructions; all options stand in jit.
    users = {module_name(path) for path in MODULES if "numba" in foreign_imports(path)}
    assert users == {"jit", "bits"}


@pytest.mark.parametrize("name", QUICK)
def test_asking_needs_no_compiled_code(name):
    path = PACKAGE / f"{name}.py"
    assert own_imports(path) <= set(QUICK), "a quick module may import only quick ones"
    assert not foreign_imports(path) & {"numba", "llvmlite"}


def test_asking_loads_no_numba(run_python):
    code = "import sys, solver.query, solver.stats, solver.cli.asking, solver.cli.reporting; print('numba' in sys.modules)"
    assert run_python(code) == "False\n"


def test_no_rule_is_chosen_by_name():
    """Kernels and solvers take rules as data; a comparison with a variant's name would be a rule hidden in code."""
    from solver.variant import VARIANTS

    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                constants = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
                assert not set(VARIANTS) & {c for c in constants if isinstance(c, str)}, f"{path.name}:{node.lineno}"


def test_the_readme_names_every_module_floor_by_floor():
    text = (PACKAGE.parent / "README.md").read_text()
    tree = text[text.index("\nsolver/   ") : text.index("\nscripts/  ")].replace("cli/", "cli")
    columns = [column.split() for column in re.split(r"\n|  +", tree.replace("\nsolver/", ""))]
    modules = [word for words in columns if set(words) <= set(FLOORS) for word in words]
    assert sorted(modules) == sorted(FLOORS)
