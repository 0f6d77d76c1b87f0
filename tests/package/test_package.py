"""The package as a whole: what it shows and what it needs."""

import ast
import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pathforest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "pathforest"


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


def test_a_name_is_looked_up_once():
    found = pathforest.OPFClassifier
    assert vars(pathforest)["OPFClassifier"] is found


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_all_names_can_be_imported_at_once_without_imbalanced_learn():
    done = run(
        "import sys; sys.modules['imblearn'] = None\nfrom pathforest import *\nprint(FuzzyOPFClassifierCV)"
    )
    assert done.returncode == 0, done.stderr
    assert "FuzzyOPFClassifierCV" in done.stdout


@pytest.mark.slow
def test_a_sampler_says_that_it_needs_imbalanced_learn():
    done = run("import sys; sys.modules['imblearn'] = None\nfrom pathforest import O2PFSampler")
    assert done.returncode == 1
    assert "pip install 'pathforest[imbalance]'" in done.stderr


def test_nothing_slow_is_imported_before_it_is_used():
    done = run(
        "import sys, pathforest\nprint({'numpy', 'scipy', 'sklearn'} & set(sys.modules))\n"
        "print(pathforest.forest.grow_forest.__name__, hasattr(pathforest, 'nothing'))"
    )
    assert done.stdout == "set()\ngrow_forest False\n", done.stderr


def test_what_a_model_does_not_need_is_not_imported():
    done = run("""
import sys
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
OPFClassifier().fit([[0.0], [1.0]], [0, 1])
known = set(sys.modules)
import pathforest.plotting
import pathforest.datasets
print(*sorted(known & {
    "dask", "distributed", "jinja2", "torch", "typer",
    "pathforest.dask", "pathforest.datasets", "pathforest.plotting", "pathforest._reproduction",
}))
# scikit-learn brings in pandas where it finds it, so that what comes with a model says nothing about us.
print(*sorted((set(sys.modules) - known) & {"matplotlib", "pandas", "pooch", "pyarrow", "requests", "xlrd"}))
""")
    assert done.stdout == "\n\n", done.stderr


def test_the_version_is_printed_without_slow_imports():
    done = run(
        "import sys; from pathforest._cli import main; sys.argv[1:] = ['--version']; main()\n"
        "print({'numpy', 'typer'} & set(sys.modules))"
    )
    assert done.stdout == f"pathforest {pathforest.__version__}\nset()\n", done.stderr


def test_threads_can_import_different_names_at_the_same_time():
    done = run("""
import threading
import pathforest
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
print(failures)
""")
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_during_an_import_has_names_of_its_own():
    done = run("""
import os, signal, threading, warnings
import pathforest
warnings.simplefilter("ignore")  # about forks with threads
pathforest.OPFClassifier
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
    pathforest.OPFClassifier
    os._exit(0)
print(os.waitpid(child, 0)[1])
enough.set()
thread.join()
""")
    assert done.stdout == "0\n", done.stderr


def test_a_name_with_a_dot_is_no_attribute():
    assert not hasattr(pathforest, "missing.name")


@pytest.mark.skipif(not SOURCES.exists(), reason="needs the repository")
def test_no_module_of_the_package_imports_by_the_names_that_wait_for_a_lock():
    found = [
        (path.name, alias.name)
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "pathforest"
        for alias in node.names
        if not alias.name.startswith("_")
    ]
    assert found == []


def imported(path):
    """Top-level names of the packages a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


@pytest.mark.skipif(not SOURCES.exists(), reason="needs the repository")
def test_every_import_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = {text.partition(">")[0] for text in declared} | {"pathforest"}
    found = {name for path in SOURCES.rglob("*.py") for name in imported(path)} - set(sys.stdlib_module_names)
    package = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn", "PIL": "pillow"}
    assert {package.get(name, name) for name in found} <= names
