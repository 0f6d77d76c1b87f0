"""Histories of models that grow, and the model that `fit` makes of the same samples."""

import warnings
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from sklearn.base import is_classifier
from strategies import problems

from pathforest.fuzzy import TrainingErrorWarning


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
def histories(draw, largest=33, most_features=12, unlabelled=False, **options):
    """Histories of every recipe, dtype and batch size."""
    X, codes, Q, _ = draw(problems(2, largest, most_features, **options))
    if unlabelled:
        codes = np.where(np.random.default_rng(len(X)).random(len(X)) < 0.4, codes, -1)
        codes[0] = 0
    size = draw(st.sampled_from([1, 2, 5, 16, len(X)]))
    steps, n, done = [], 0, 0
    while done < len(X):
        if draw(st.integers(0, 3)) == 0:
            steps.append(Step("set", np.empty(0, dtype=int), k=draw(st.integers(1, 12))))
        batch = np.arange(done, min(len(X), done + draw(st.integers(1, size))))
        steps.append(Step("add", batch, codes[batch]))
        n, done = n + len(batch), done + len(batch)
        if n > 1 and draw(st.integers(0, 3)) == 0:
            # The first stays, because it is labelled.
            leaving = draw(st.lists(st.integers(1, n - 1), max_size=4, unique=True))
            steps.append(Step("forget", np.array(leaving, dtype=int)))
            n -= len(leaving)
        if draw(st.integers(0, 5)) == 0:
            chosen = draw(st.integers(0, n - 1))
            steps.append(Step("label", np.array([chosen]), np.array([draw(st.integers(0, 3))])))
    return History(X, Q, steps)


def add(model, X, y):
    """Give a model samples, with labels if it takes them."""
    return model.partial_fit(X, *([y] if is_classifier(model) else []))


def replay(model, history):
    """Take the steps one by one; yield samples and labels that are there after each."""
    rows, y = np.empty(0, dtype=int), np.empty(0, dtype=int)
    for step in history.steps:
        if step.kind == "add":
            rows, y = np.append(rows, step.samples), np.append(y, step.y)
            add(model, history.X[step.samples], step.y)
        elif step.kind == "forget":
            rows, y = np.delete(rows, step.samples), np.delete(y, step.samples)
            model.forget(step.samples)
        elif step.kind == "set":
            names = {"k_max", "n_neighbors"} & {name for name, value in model.get_params().items() if value}
            model.set_params(**dict.fromkeys(names, step.k))
            continue
        elif hasattr(model, "set_labels"):
            y[step.samples] = step.y
            model.set_labels(step.samples, step.y)
        yield history.X[rows], y


def fit(model, X, y):
    """Fit to samples that are there at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        return model.fit(X, *([y] if is_classifier(model) else []))
