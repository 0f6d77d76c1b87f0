"""Samples, comparisons and marks of the tests on a Dask cluster."""

import gc
import time

import numpy as np
import pytest

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier
from pathforest.dask import DaskFuzzyOPFClassifier, DaskFuzzyOPFClassifierCV, DaskOPFClassifier

# What clusters warn of, and what a few labels lose in the competition, is not what these tests are about.
quiet = [
    pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of workers that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = 240
SMALL_SEARCH = {
    "k_max": (3, 8), "sigmas": (0.5, 1.0), "competitions": ("tree", "complete"), "transforms": None, "cv": 2,
}  # fmt: skip
PAIRS = [
    (DaskOPFClassifier, OPFClassifier, {}),
    (DaskFuzzyOPFClassifier, FuzzyOPFClassifier, {"sigma": 0.6}),
    (DaskFuzzyOPFClassifier, FuzzyOPFClassifier, {"competition": "tree", "sigma": 0.3, "k_max": 12}),
    (DaskFuzzyOPFClassifierCV, FuzzyOPFClassifierCV, SMALL_SEARCH),
]
every_pair = pytest.mark.parametrize(
    ("on_cluster", "local", "params"), PAIRS, ids=["plain", "complete", "tree", "search"]
)


def draw(kind, dtype=np.float64, n=N):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    if kind == "tied":
        X = rng.integers(0, 3, size=(n, 5))
    elif kind == "duplicated":
        X = X[rng.integers(0, 12, size=n)]
    return X.astype(dtype), rng.integers(0, 3, size=n)


def same(got, expected):
    """Equal types and values all the way down; models have the same fitted attributes."""
    if got is expected:
        return
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        if expected.dtype == object:
            same(got.tolist(), expected.tolist())
        else:
            np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            same(got[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for pair in zip(got, expected, strict=True):
            same(*pair)
    elif hasattr(expected, "__dict__"):
        assert type(got) is type(expected)
        left_out = ("_fit_cache", "_fit_grown")  # files keep what growing needs only if asked
        same(*({k: v for k, v in vars(o).items() if k not in left_out} for o in (got, expected)))
    else:
        assert got == expected or (got != got and expected != expected)


def tasks_on(client):
    return client.run_on_scheduler(lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks)))


def wait_for_no_tasks(client):
    """Wait until the cluster has no tasks; return those that stay.

    Errors of tests before this one may hold futures in frames that are garbage, but have not been collected.
    """
    deadline = time.monotonic() + 240
    while (tasks := tasks_on(client)) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return tasks
