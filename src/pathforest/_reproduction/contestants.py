"""The classifiers of the experiment: each searches its parameters, trains, and is scored on the test part."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from pathforest._reproduction.data import Parts
from pathforest._reproduction.experiment import COMPETITION_OF
from pathforest._search.scoring import DECIMALS
from pathforest.classifier import OPFClassifier
from pathforest.fuzzy import FuzzyOPFClassifier, TrainingErrorWarning
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV
from pathforest.metrics import opf_accuracy

# The paper's distance and grid.
METRIC = "log_sqeuclidean"
K_MAX = (1, *range(10, 151, 10))
SIGMAS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)

SVM_COSTS = (0.01, 0.1, 1, 10, 100)
RBF_GAMMAS = (0.1, 1, 10)  # times 1 / n_features


class Outcome(NamedTuple):
    """What one classifier did in one run."""

    result: dict[str, Any]  # columns of the results
    landscape: list[tuple[int, float, float]]  # (k_max, sigma, held-out accuracy) of every cell of a search


def groups(names: Sequence[str]) -> list[list[str]]:
    """Divide classifiers into those that share their work: one search serves every Fuzzy OPF."""
    fuzzy = [name for name in names if name in COMPETITION_OF]
    return [*([fuzzy] if fuzzy else []), *([name] for name in names if name not in fuzzy)]


def run(names: Sequence[str], parts: Parts) -> Iterator[tuple[str, Outcome]]:
    """Search, train and score the classifiers named, one group after another."""
    for group in groups(names):
        yield from _fuzzy(group, parts) if group[0] in COMPETITION_OF else _other(group[0], parts)


def _fuzzy(names: Sequence[str], parts: Parts) -> Iterator[tuple[str, Outcome]]:
    """Search the grid once for both competitions, then train the first best cell of each."""
    search = FuzzyOPFClassifierCV(
        k_max=K_MAX, sigmas=SIGMAS, competitions=[COMPETITION_OF[name] for name in names], n_conquerors=1,
        n_best=1, cv=parts.folds, refit=False, metric=METRIC, transforms=None,
    )  # fmt: skip
    search.fit(*parts.search)
    cells = list(zip(*(search.cv_results_[column] for column in ("params", "mean_test_score")), strict=True))
    for name in names:
        own = [cell for cell in cells if cell[0]["competition"] == COMPETITION_OF[name]]
        # The first of equals, as the paper does it: by k_max, then sigma.
        best = max(own, key=lambda cell: round(cell[1], DECIMALS))[0]
        model = FuzzyOPFClassifier(
            k_max=best["k_max"], sigma=best["sigma"], competition=best["competition"], metric=METRIC
        )
        with warnings.catch_warnings():
            # The grid has cells that lose training labels; `training_error` reports it.
            warnings.simplefilter("ignore", TrainingErrorWarning)
            result = _judge(model, parts)
        result |= {"k_max": best["k_max"], "best_k": int(model.best_k_), "sigma": best["sigma"]}
        yield name, Outcome(result, [(c["k_max"], c["sigma"], float(score)) for c, score in own])


def _other(name: str, parts: Parts) -> Iterator[tuple[str, Outcome]]:
    """Search the grid of a classifier, if it has one, and train it."""
    model, grid = {
        "opf": (OPFClassifier(metric=METRIC), {}),
        "svm_linear": (SVC(kernel="linear"), {"C": SVM_COSTS}),
        "naive_bayes": (GaussianNB(), {}),
        "knn1": (KNeighborsClassifier(1), {}),
        "svm_rbf": (SVC(), {"C": SVM_COSTS, "gamma": np.divide(RBF_GAMMAS, parts.search.X.shape[1])}),
    }[name]
    if grid:
        search = GridSearchCV(model, grid, cv=parts.folds, refit=False).fit(*parts.search)
        model.set_params(**search.best_params_)
    yield name, Outcome(_judge(model, parts), [])


def _judge(model: Any, parts: Parts) -> dict[str, Any]:
    """Train on the training part; score on the test part."""
    start = time.perf_counter()
    model.fit(*parts.train)
    fit_seconds = time.perf_counter() - start
    predicted, truth = model.predict(parts.test.X), parts.test.y
    scores = {
        "accuracy": float(accuracy_score(truth, predicted)),
        "opf_accuracy": opf_accuracy(truth, predicted),
        "f1_weighted": float(f1_score(truth, predicted, average="weighted")),
        "fit_seconds": fit_seconds,
    }
    return scores | ({"training_error": model.training_error_} if hasattr(model, "training_error_") else {})
