"""Every engine fulfils one contract: the same questions, with the same parameters."""

import importlib
import inspect
from importlib.util import find_spec

import numpy as np
import pytest
from strategies import DTYPES

from pathforest import _core
from pathforest._engines.engine import Engine, PythonEngine
from pathforest._engines.growing import GrowingEngine, Known
from pathforest._engines.samples import SparseSamples
from pathforest.distances import resolve_metric

QUESTIONS = [name for name, member in vars(Engine).items() if inspect.isfunction(member) and name[0] != "_"]
EUCLIDEAN = resolve_metric("euclidean")
# Classes in Python whose packages are here.
KINDS = [PythonEngine, GrowingEngine]
if find_spec("torch"):
    KINDS.append(importlib.import_module("pathforest._engines.torch.engine").TorchEngine)
if find_spec("distributed"):
    KINDS.append(importlib.import_module("pathforest.dask.engine").DaskEngine)

MAKERS = {
    "brute": lambda X: _core.Engine.brute(X, "euclidean"),
    "kd_tree": lambda X: _core.Engine.kd_tree(X, "euclidean"),
    "precomputed": _core.Engine.precomputed,
    "rows": lambda X: _core.Engine.rows(len(X), X.dtype.name),
    "sparse": lambda X: _core.Engine.sparse(SparseSamples.of(X), "euclidean"),
    "in Python": lambda X: PythonEngine(X, EUCLIDEAN, "brute"),
    "growing": lambda X: GrowingEngine(X, Known(), EUCLIDEAN, "kd_tree", 1),
}
if find_spec("torch"):
    MAKERS["torch"] = lambda X: KINDS[2](X, EUCLIDEAN, "brute", "cpu")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MAKERS)
def test_every_engine_fulfils_the_contract_and_describes_itself(name, dtype):
    engine = MAKERS[name](np.ones((3, 3), dtype) - np.eye(3, dtype=dtype))
    assert isinstance(engine, Engine)
    assert engine.name == name or not isinstance(engine, _core.Engine)
    assert engine.takes == ("distances" if name in ("precomputed", "rows") else "features")
    assert engine.concurrent == isinstance(engine, _core.Engine)
    assert (engine.dtype, engine.n_samples, engine.n_features) == (np.dtype(dtype).name, 3, 3)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("question", QUESTIONS)
def test_engines_in_python_take_the_parameters_of_the_contract(kind, question):
    asked = inspect.signature(getattr(Engine, question)).parameters
    taken = list(inspect.signature(getattr(kind, question)).parameters.values())
    assert [(p.name, p.default) for p in taken[: len(asked)]] == [(p.name, p.default) for p in asked.values()]
    assert all(p.default is not p.empty for p in taken[len(asked) :])
