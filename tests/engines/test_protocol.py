"""Every engine fulfils one contract: the same questions, with the same parameters."""

import importlib
import importlib.util
import inspect

import numpy as np
import pytest

from pathforest import _core
from pathforest._engines.engine import Engine, PythonEngine
from pathforest._engines.growing import GrowingEngine, Known
from pathforest._engines.samples import SparseSamples
from pathforest.distances import resolve_metric

QUESTIONS = [name for name, member in vars(Engine).items() if inspect.isfunction(member) and name[0] != "_"]
EUCLIDEAN = resolve_metric("euclidean")
ENGINES = [
    _core.Engine.brute(np.eye(3), "euclidean"),
    _core.Engine.kd_tree(np.eye(3), "euclidean"),
    _core.Engine.precomputed(np.zeros((3, 3))),
    _core.Engine.rows(3, "float64"),
    _core.Engine.sparse(SparseSamples.of(np.eye(3)), "euclidean"),
    PythonEngine(np.eye(3), EUCLIDEAN, "brute"),
    GrowingEngine(np.eye(3), Known(), EUCLIDEAN, "kd_tree", 1),
]


def classes_in_python():
    """Those whose packages are here."""
    classes = [PythonEngine, GrowingEngine]
    if importlib.util.find_spec("torch"):
        classes.append(importlib.import_module("pathforest._engines.torch.engine").TorchEngine)
    if importlib.util.find_spec("distributed"):
        classes.append(importlib.import_module("pathforest.dask.engine").DaskEngine)
    return classes


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: f"{type(engine).__name__} {engine.name}")
def test_every_engine_fulfils_the_contract(engine):
    assert isinstance(engine, Engine)
    assert engine.takes == ("distances" if engine.name in ("precomputed", "rows") else "features")
    assert engine.concurrent == isinstance(engine, _core.Engine)
    assert (engine.dtype, engine.n_samples, engine.n_features) == ("float64", 3, 3)


@pytest.mark.parametrize("kind", classes_in_python(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("question", QUESTIONS)
def test_engines_in_python_take_the_parameters_of_the_contract(kind, question):
    asked = inspect.signature(getattr(Engine, question)).parameters
    taken = list(inspect.signature(getattr(kind, question)).parameters.values())
    assert [(p.name, p.default) for p in taken[: len(asked)]] == [(p.name, p.default) for p in asked.values()]
    assert all(p.default is not p.empty for p in taken[len(asked) :])
