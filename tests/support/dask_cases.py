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
