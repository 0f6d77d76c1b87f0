"""Samples, estimators and marks of the tests on a Dask cluster."""

import gc
import time
from functools import partial

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier
from pathforest.dask import OnCluster

# What clusters warn of, and what a few labels lose in the competition, is not what these tests are about.
quiet = [
    pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of workers that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = 240


def search(**params):
    small = {"k_max": (3, 8), "sigmas": (0.5, 1.0), "competitions": ("tree", "complete"), "cv": 2}
    return FuzzyOPFClassifierCV(**{**small, "transforms": None, **params})


ESTIMATORS = {
    "plain": OPFClassifier(),
    "conquerors": OPFClassifier(n_conquerors=5),
    "complete": FuzzyOPFClassifier(sigma=0.6),
    "tree": FuzzyOPFClassifier(competition="tree", sigma=0.3, k_max=12),
    "fixed": FuzzyOPFClassifier(competition="tree", sigma=0.3, n_neighbors=12, algorithm="brute"),
    "search": search(),
    "best": search(n_best=1),
    "transforms": search(transforms=[None, StandardScaler()], n_best=12),
}


def draw(kind, dtype=np.float64, n=N):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    if kind == "tied":
        X = rng.integers(0, 3, size=(n, 5))
    elif kind == "duplicated":
        X = X[rng.integers(0, 12, size=n)]
    elif kind == "far apart":  # neighbour lists leave questions to the spanning tree
        X[: n // 3] += 1000
    return X.astype(dtype), rng.integers(0, 3, size=n)


def hostile(kind, n=N):
    """Samples of a kind with words for labels, one of them rare enough to be missing in a training part."""
    X, y = draw(kind, n=n)
    y[:2] = 3
    return X, np.array(["ham", "eggs", "spam", "bacon"])[y]


def shown_on(client, model):
    """Show a model that was fitted here as one of the cluster, whose fits are equal."""
    shown = OnCluster(model, client)
    shown._fit_model, shown.classes_ = model, model.classes_
    return shown


def wait_for_no_tasks(client):
    """Wait until the cluster has no tasks; return those that stay.

    Errors of tests before this one may hold futures in frames that are garbage, but have not been collected.
    """
    deadline = time.monotonic() + 240
    all_tasks = partial(
        client.run_on_scheduler, lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks))
    )
    while (tasks := all_tasks()) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return tasks
