"""Histories of models that grow, and the model that `fit` makes of the same samples."""

import warnings
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from strategies import problems

from pathforest import (
    FuzzyOPFClassifier,
    OPFClassifier,
    OPFClustering,
    OPFOutlierDetector,
    OPFSemiSupervisedClassifier,
)
from pathforest.fuzzy import TrainingErrorWarning


def by_first_feature(X, y):
    """A membership: a value in [0, 1] for each sample."""
    return (np.abs(np.round(X[:, 0])) % 3) / 2


# Every estimator that grows, in all its ways to learn.
MODELS = {
    "plain": OPFClassifier(),
    "fuzzy": FuzzyOPFClassifier(k_max=4),
    "fuzzy tree": FuzzyOPFClassifier(competition="tree", k_max=3, sigma=0.2),
    "fuzzy source": FuzzyOPFClassifier(membership_side="source", k_max=12, sigma=0.5, n_conquerors=3),
    "fuzzy callable": FuzzyOPFClassifier(membership=by_first_feature),
    "balanced": OPFSemiSupervisedClassifier(n_neighbors=3, unlabeled=-1),
    "geodesic": OPFSemiSupervisedClassifier(method="geodesic", n_neighbors=2, unlabeled=-1),
    "mst": OPFSemiSupervisedClassifier(method="mst", unlabeled=-1),
    "opfsemi": OPFSemiSupervisedClassifier(method="opfsemi", unlabeled=-1),
    "clusters": OPFClustering(noise=0.1),
    "every dome": OPFClustering(selection="cut", k_max=4),
    "outliers": OPFOutlierDetector(k_max=4),
}


class Step(NamedTuple):
    """What happens to a model."""

    kind: str  # "add", "forget", "label" or "set"
    samples: np.ndarray  # rows of the problem to add; else indices among those that are there
    y: np.ndarray | None = None
    k: int = 0  # how long the lists are from now on, if the model has a parameter for it


class History(NamedTuple):
    """A problem whose samples come in batches; some leave and some labels change in between."""

    X: np.ndarray
    Q: np.ndarray
    steps: list[Step]


@st.composite
def histories(draw, largest=33, most_features=12, unlabelled=False, changes=True, **options):
    """Histories of every recipe, dtype and batch size."""
    X, codes, Q, _ = draw(problems(2, largest, most_features, **options))
    if unlabelled:
        codes = np.where(np.random.default_rng(len(X)).random(len(X)) < 0.4, codes, -1)
        codes[0] = 0
    size = draw(st.sampled_from([1, 2, 5, 16, len(X)]))
    steps, n, done = [], 0, 0
    while done < len(X):
        if changes and draw(st.integers(0, 3)) == 0:
            steps.append(Step("set", np.empty(0, dtype=int), k=draw(st.integers(1, 12))))
        batch = np.arange(done, min(len(X), done + draw(st.integers(1, size))))
        steps.append(Step("add", batch, codes[batch]))
        n, done = n + len(batch), done + len(batch)
        if changes and n > 1 and draw(st.integers(0, 3)) == 0:
            # The first stays, because it is labelled.
            leaving = draw(st.lists(st.integers(1, n - 1), max_size=4, unique=True))
            steps.append(Step("forget", np.array(leaving, dtype=int)))
            n -= len(leaving)
        if changes and draw(st.integers(0, 5)) == 0:
            chosen = draw(st.integers(0, n - 1))
            steps.append(Step("label", np.array([chosen]), np.array([draw(st.integers(0, 3))])))
    return History(X, Q, steps)


def replay(model, history):
    """Take the steps one by one; yield samples and labels that are there after each."""
    rows, y = np.empty(0, dtype=int), np.empty(0, dtype=int)
    labelled = hasattr(model, "set_labels")
    for step in history.steps:
        if step.kind == "add":
            rows, y = np.append(rows, step.samples), np.append(y, step.y)
            model.partial_fit(history.X[step.samples], *([step.y] if labelled else []))
        elif step.kind == "forget":
            rows, y = np.delete(rows, step.samples), np.delete(y, step.samples)
            model.forget(step.samples)
        elif step.kind == "set":
            names = {"k_max", "n_neighbors"} & {name for name, value in model.get_params().items() if value}
            model.set_params(**dict.fromkeys(names, step.k))
            continue
        elif labelled:
            y[step.samples] = step.y
            model.set_labels(step.samples, step.y)
        yield history.X[rows], y


def fit(model, X, y):
    """Fit to samples that are there at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        return model.fit(X, *([y] if hasattr(model, "set_labels") else []))


def fitted(model):
    """All fitted attributes but what only growing needs."""
    return {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}


def assert_same_model(grown, expected, Q=None):
    """Compare every fitted array and, for queries, every answer."""
    found, wanted = fitted(grown), fitted(expected)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
        assert np.asarray(found[name]).dtype == np.asarray(value).dtype
    for method in ("predict", "class_costs", "score_samples") if Q is not None else ():
        if hasattr(expected, method):
            np.testing.assert_array_equal(getattr(grown, method)(Q), getattr(expected, method)(Q))
