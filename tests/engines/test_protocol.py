"""Every engine fulfils one contract: the same questions, with the same parameters."""

import ast
from pathlib import Path

import numpy as np
import pytest

import pathforest
from pathforest import _core
from pathforest._engines.protocol import Engine
from pathforest._utils.sparse import SparseSamples

SOURCES = Path(pathforest.__file__).parent


def methods(path, name):
    """Parameters of the public methods of a class, by its source: some need packages that are not here."""
    tree = ast.parse((SOURCES / path).read_text())
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    inherits = "LocalAnswers" in map(ast.unparse, found.bases)
    inherited = methods("_engines/local.py", "LocalAnswers") if inherits else {}
    functions = [node for node in found.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    return inherited | {function.name: function.args for function in functions}


CONTRACT = methods("_engines/protocol.py", "Engine")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("_core.pyi", "Engine"),
        ("_engines/torch/engine.py", "TorchEngine"),
        ("dask/engine.py", "DaskEngine"),
        ("_engines/growing.py", "GrowingEngine"),
    ],
)
@pytest.mark.parametrize("method", [name for name, args in CONTRACT.items() if len(args.args) > 1])
def test_every_engine_takes_the_parameters_of_the_contract(path, name, method):
    asked, taken = CONTRACT[method], methods(path, name)[method]
    names = [arg.arg for arg in asked.args]
    assert [arg.arg for arg in taken.args[: len(names)]] == names
    # Whatever an engine takes beyond them, and whatever the contract lets callers leave out, has a default.
    n_required = len(taken.args) - len(taken.defaults)
    assert n_required <= len(names) - len(asked.defaults)


@pytest.mark.parametrize(
    "engine",
    [
        _core.Engine.brute(np.eye(3), "euclidean"),
        _core.Engine.kd_tree(np.eye(3), "euclidean"),
        _core.Engine.precomputed(np.zeros((3, 3))),
        _core.Engine.rows(3, "float64"),
        _core.Engine.sparse(SparseSamples.of(np.eye(3)), "euclidean"),
    ],
    ids=lambda engine: engine.name,
)
def test_the_engines_in_cpp_fulfil_the_contract(engine):
    assert isinstance(engine, Engine)
