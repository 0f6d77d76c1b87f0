"""Configurations of every estimator, each written once, with what it can do: tests choose by these traits.

"labels"         y counts in `fit`, and `predict` returns labels
"probabilities"  has `predict_proba`
"grows"          has `partial_fit` and `forget`
"metric"         has a metric, an algorithm, a device and `verbose` of its own
"density"        estimates densities: has `k_max` and `n_neighbors`
"pairwise"       takes distances for samples
"saves"          can be written to a file
"searches"       tries several representations and models
"one"            the entry that stands for its class
"checked"        scikit-learn's own checks run on it
"""

import re
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
)

TRAITS = set(re.findall(r'^"(\w+)"', __doc__, re.MULTILINE))


class Entry(NamedTuple):
    """A configuration, not fitted, and what it can do."""

    model: BaseEstimator
    traits: frozenset


def _entry(model, traits):
    traits = frozenset(traits.split())
    assert traits <= TRAITS
    return Entry(model, traits)


def by_first_feature(X, y):
    """A membership: a value in [0, 1] for each sample."""
    return (np.abs(np.round(X[:, 0])) % 3) / 2


# Of what the search tries by default, all representations and few cells.
FEW_CELLS = {"k_max": 5, "sigmas": 0.5, "n_conquerors": (1, 3), "cv": 2}
AS_GIVEN = {"k_max": (3, 5), "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "cv": 2, "transforms": None}

ANY_METRIC = "labels probabilities metric saves"
FOREST = f"{ANY_METRIC} grows"
ZOO = {
    "plain": _entry(OPFClassifier(), f"{FOREST} one checked"),
    "plain r=3": _entry(OPFClassifier(n_conquerors=3, algorithm="brute", n_jobs=2), FOREST),
    "plain seuclidean": _entry(OPFClassifier(metric="seuclidean"), ANY_METRIC),
    "plain gower": _entry(OPFClassifier(metric="gower"), f"{ANY_METRIC} checked"),
    "plain matrix": _entry(OPFClassifier(metric="precomputed"), f"{ANY_METRIC} pairwise checked"),
    "fuzzy": _entry(FuzzyOPFClassifier(k_max=4), f"{FOREST} density one checked"),
    "fuzzy tree": _entry(FuzzyOPFClassifier(competition="tree", k_max=3, sigma=0.2), f"{FOREST} density"),
    "fuzzy source": _entry(
        FuzzyOPFClassifier(membership_side="source", k_max=12, sigma=0.5, n_conquerors=3), f"{FOREST} density"
    ),
    "fuzzy callable": _entry(
        FuzzyOPFClassifier(membership=by_first_feature), "labels probabilities metric grows density"
    ),
    "nearest": _entry(OPFKNNClassifier(), f"{ANY_METRIC} density one checked"),
    "nearest folds": _entry(OPFKNNClassifier(k_max=3, cv=2), f"{ANY_METRIC} density"),
    "balanced": _entry(OPFSemiSupervisedClassifier(n_neighbors=3), f"{FOREST} one checked"),
    "geodesic": _entry(OPFSemiSupervisedClassifier(method="geodesic", n_neighbors=2), FOREST),
    "mst": _entry(OPFSemiSupervisedClassifier(method="mst"), FOREST),
    "opfsemi": _entry(OPFSemiSupervisedClassifier(method="opfsemi"), FOREST),
    "clusters": _entry(OPFClustering(), "metric grows density saves one checked"),
    "noise": _entry(OPFClustering(noise="auto"), "metric grows density saves"),
    "every dome": _entry(OPFClustering(selection="cut", k_max=4), "metric grows density saves"),
    "outliers": _entry(OPFOutlierDetector(k_max=4), "metric grows density saves one checked"),
    "pruner": _entry(OPFPruner(), "labels probabilities saves one checked"),
    "pruner fuzzy": _entry(
        OPFPruner(FuzzyOPFClassifier(competition="tree", sigma=0.2, k_max=3), max_loss=0.05),
        "labels probabilities saves",
    ),
    "search": _entry(FuzzyOPFClassifierCV(**FEW_CELLS), f"{ANY_METRIC} searches one"),
    "search as given": _entry(FuzzyOPFClassifierCV(**AS_GIVEN), f"{ANY_METRIC} checked"),
}


def names(*traits, without=()):
    """Names of the configurations that have all these traits and none of the others."""
    assert {*traits, *without} <= TRAITS
    return [
        name for name, entry in ZOO.items() if entry.traits >= {*traits} and not entry.traits & {*without}
    ]


def make(name, **params):
    """A configuration that is not fitted, with other parameters."""
    return clone(ZOO[name].model).set_params(**params)


def every(*traits, without=()):
    """Run a test on every configuration with these traits: it gets the name, for `make`."""
    return pytest.mark.parametrize("name", names(*traits, without=without))


def samples(name="plain", dtype=np.float64):
    """X, y and Q: half of iris, and other queries near it; distances for configurations that take these."""
    X, y = load_iris(return_X_y=True)
    X, y, Q = X[::2].astype(dtype), y[::2], (X[1::4] + 0.03).astype(dtype)
    if "pairwise" in ZOO[name].traits:
        return pairwise_distances(X).astype(dtype), y, pairwise_distances(Q, X).astype(dtype)
    return X, y, Q


def fitted(name, **params):
    """A configuration fitted to :func:`samples`."""
    return make(name, **params).fit(*samples(name)[:2])
