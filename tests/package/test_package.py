"""The package as a whole: what it shows and what it needs, the parts of a release, the stubs of the core."""

import ast
import difflib
import re
import socket
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import pathforest
from pathforest import _core

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "pathforest"
RECIPE = ROOT / ".ci" / "conda" / "recipe.yaml"
in_repository = pytest.mark.skipif(not RECIPE.exists(), reason="needs the repository")


@pytest.mark.parametrize(
    "leave",
    [
        lambda udp: udp.sendto(b"", ("192.0.2.1", 9)),
        lambda udp: socket.create_connection(("192.0.2.1", 9), timeout=1),
        lambda udp: socket.gethostbyname("example.org"),
    ],
)
def test_no_test_asks_the_network(leave):
    with socket.socket(type=socket.SOCK_DGRAM) as udp, pytest.raises(AssertionError, match="network"):
        leave(udp)


def test_dir_lists_the_public_names_and_nothing_else():
    modules = {
        path.stem for path in SOURCES.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    public = {name for name in modules if not name.startswith("_")}
    assert dir(pathforest) == sorted({*pathforest.__all__, *public})
    assert {"OPFPruner", "explain", "learning", "plotting"} <= set(dir(pathforest))
    assert not hasattr(pathforest, "missing.name")


def test_a_name_is_looked_up_once():
    found = pathforest.OPFClassifier
    assert vars(pathforest)["OPFClassifier"] is found


# Each line that is printed is a promise.
LAZY = """
import os, signal, sys, threading, warnings
import pathforest
print("slow:", *{"numpy", "scipy", "sklearn"} & set(sys.modules))

names = ["OPFClassifier", "load", "FuzzyOPFClassifierCV", "OPFClustering"]
start, failures = threading.Barrier(len(names)), []
def ask(name):
    start.wait()
    try:
        getattr(pathforest, name)
    except Exception as error:
        failures.append(error)
threads = [threading.Thread(target=ask, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("at the same time:", *failures)
print(pathforest.forest.grow_forest.__name__, hasattr(pathforest, "nothing"))

pathforest.OPFClassifier().fit([[0.0], [1.0]], [0, 1])
known = set(sys.modules)
import pathforest.plotting
import pathforest.datasets
print("not for a model:", *known & {
    "dask", "distributed", "jinja2", "torch", "typer",
    "pathforest.dask", "pathforest.datasets", "pathforest.plotting", "pathforest._reproduction",
})
# scikit-learn brings in pandas where it finds it, so that what comes with a model says nothing about us.
print("by other modules:", *(set(sys.modules) - known) & {
    "matplotlib", "pandas", "pooch", "pyarrow", "requests", "xlrd"
})

# A child that is forked during an import has names of its own.
if hasattr(os, "fork"):
    warnings.simplefilter("ignore")  # about forks with threads
    held, enough = threading.Event(), threading.Event()
    def hold():
        with pathforest._importing:
            held.set()
            enough.wait()
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # a child that hangs ends itself
        pathforest.OPFPruner
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    enough.set()
    thread.join()
    assert status == 0, status
"""
EXPECTED = "slow:\nat the same time:\ngrow_forest False\nnot for a model:\nby other modules:\n"
VERSION = """
import sys
from pathforest._cli import main
sys.argv[1:] = ["--version"]
main()
print({"numpy", "typer"} & set(sys.modules))
"""
STARRED = """
import sys
sys.modules["imblearn"] = None
from pathforest import *
try:
    from pathforest import O2PFSampler
except ImportError as error:
    print(FuzzyOPFClassifierCV.__name__, str(error).partition("imbalanced-learn: ")[2])
"""


WITHOUT = "FuzzyOPFClassifierCV pip install 'pathforest[imbalance]'\n"
CODES = [(LAZY, EXPECTED), (VERSION, f"pathforest {pathforest.__version__}\nset()\n"), (STARRED, WITHOUT)]


@pytest.mark.parametrize(("code", "printed"), CODES, ids=["names", "version", "all names"])
def test_what_is_imported_is_what_is_used(code, printed):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == printed, done.stderr


@cache
def parsed():
    return [(path.name, list(ast.walk(ast.parse(path.read_text())))) for path in SOURCES.rglob("*.py")]


@in_repository
def test_no_module_of_the_package_imports_by_the_names_that_wait_for_a_lock():
    found = [
        (file, alias.name)
        for file, nodes in parsed()
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "pathforest"
        for alias in node.names
        if not alias.name.startswith("_")
    ]
    assert found == []


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@in_repository
def test_every_import_is_declared():
    extras = project()["project"]["optional-dependencies"].values()
    declared = [*project()["project"]["dependencies"], *(name for extra in extras for name in extra)]
    names = {text.partition(">")[0] for text in declared} | {"pathforest"}
    found = set()
    for _, nodes in parsed():
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
    package = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn", "PIL": "pillow"}
    assert {package.get(name, name) for name in found - set(sys.stdlib_module_names)} <= names


@in_repository
def test_the_recipe_for_conda_has_the_version_and_the_requirements_and_the_changelog_the_version():
    given, recipe = project(), RECIPE.read_text()
    extra = given["project"]["optional-dependencies"]["cli"]
    needed = {*given["project"]["dependencies"], *extra, *given["build-system"]["requires"]}
    needed = {text.replace("nanobind~=3.1", "nanobind>=3.1,<4") for text in needed}
    assert needed <= {"".join(line.split()) for line in re.findall(r"- ([a-z0-9-]+ [>=<].*)", recipe)}
    version = given["project"]["version"]
    assert f"version: {version}\n" in recipe
    assert re.search(rf"^## {re.escape(version)} \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_stubs_are_up_to_date():
    generator = pytest.importorskip("nanobind.stubgen").StubGen(_core)
    generator.put(_core)
    stubs = Path(pathforest.__file__).with_name("_core.pyi").read_text().splitlines()
    changed = list(difflib.unified_diff(stubs, generator.get().splitlines()))
    assert not changed, "run `make stubs`:\n" + "\n".join(changed)
