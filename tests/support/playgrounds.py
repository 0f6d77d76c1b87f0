"""The playground's page, for tests and measurements: its recipe, and points to fit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "playground"


def recipe():
    """Import docs/playground/build.py."""
    spec = importlib.util.spec_from_file_location("build_playground", FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_page(folder):
    """Put the page into a folder, from the sources as they are; skip the test without a compiled core."""
    build = recipe()
    if not build.WASM.is_file():
        pytest.skip("no WebAssembly module of the core; `make playground` builds it")
    path = folder / "playground.html"
    path.write_text(build.build(), encoding="utf-8")
    return path


def some_points(seed, n=70):
    """Places with integer coordinates, many of them at equal distances, some twice, in three classes."""
    rng = np.random.default_rng(seed)
    step = (1, 7, 90)[seed % 3]
    X = rng.integers(0, 1000 // step, (n, 2)) * step
    X[-5:] = X[:5]
    y = np.argmin(np.abs(X[:, None] - rng.integers(0, 1000, (3, 2))).sum(axis=2), axis=1)
    y[rng.integers(0, n, n // 10)] = 0
    y[:3] = 0, 1, 2
    return X, y
