"""The classifiers of the accuracy experiment; each tunes itself inside the training part, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from benchmarks.speed.ours import PAPER_GRID
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier

Model = Any
Fit = Callable[[np.ndarray, np.ndarray, int], Model]  # (X, y, seed) -> fitted

FOLDS = 5  # of all searches
KNN_SIZES = (1, 3, 5, 7, 9, 11, 15, 21, 31, 45, 61, 91)
SVM_COSTS = (0.1, 1, 10, 100, 1000)
SVM_GAMMAS = (1 / 16, 1 / 4, 1, 4, 16)  # times 1 / n_features


def _folds(seed: int, n: int = FOLDS) -> StratifiedKFold:
    return StratifiedKFold(n, shuffle=True, random_state=seed)


def _paper(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    """Search the paper's grid on a quarter of the samples held out, and take the first best cell."""
    rows = np.arange(len(X))
    smallest = np.unique(y, return_counts=True)[1].min()
    pair = train_test_split(rows, test_size=0.25, random_state=seed, stratify=y if smallest > 1 else None)
    search = FuzzyOPFClassifierCV(**PAPER_GRID, refit=False, metric="log_sqeuclidean", cv=[tuple(pair)]).fit(
        X, y
    )
    first = search.cv_results_["params"][int(search.cv_results_["mean_test_score"].argmax())]
    return FuzzyOPFClassifier(**first, metric="log_sqeuclidean").fit(X, y)


def _ours(transforms: str | None, X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    return FuzzyOPFClassifierCV(transforms=transforms, cv=_folds(seed)).fit(X, y)


def _tuned_knn(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    largest = len(X) * (FOLDS - 1) // FOLDS - 1
    sizes = [k for k in KNN_SIZES if k <= largest]
    grid = {"n_neighbors": sizes, "weights": ["uniform", "distance"]}
    return GridSearchCV(KNeighborsClassifier(), grid, cv=_folds(seed)).fit(X, y)


def _tuned_svm(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    grid = {"C": SVM_COSTS, "gamma": [factor / X.shape[1] for factor in SVM_GAMMAS]}
    return GridSearchCV(SVC(), grid, cv=_folds(seed)).fit(X, y)


def _lightgbm(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    from lightgbm import LGBMClassifier  # of use for this alone

    return LGBMClassifier(random_state=seed, n_jobs=1, verbosity=-1).fit(X, y)


CLASSIFIERS: dict[str, Fit] = {
    "OPF": lambda X, y, seed: OPFClassifier().fit(X, y),
    "Fuzzy OPF (paper)": _paper,
    "**FuzzyOPFClassifierCV**, default": partial(_ours, "auto"),
    "**FuzzyOPFClassifierCV**, `None`": partial(_ours, None),
    '**FuzzyOPFClassifierCV**, `"linear"`': partial(_ours, "linear"),
    '**FuzzyOPFClassifierCV**, `"full"`': partial(_ours, "full"),
    "1-NN": lambda X, y, seed: KNeighborsClassifier(1).fit(X, y),
    "kNN, tuned": _tuned_knn,
    "SVM-RBF, tuned": _tuned_svm,
    "random forest": lambda X, y, seed: RandomForestClassifier(200, random_state=seed).fit(X, y),
    "LightGBM": _lightgbm,
}
# The mean of the probabilities of others: what averaging alone gains.
AVERAGES = {"mean of SVM and random forest": ("SVM-RBF, tuned", "random forest")}


def probabilities(model: Model, X: np.ndarray, y: np.ndarray, seed: int, Q: np.ndarray) -> np.ndarray:
    """Return probabilities; calibrate a support vector machine on the training part first."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(Q)
    folds = _folds(seed, max(2, min(FOLDS, np.unique(y, return_counts=True)[1].min())))
    best = model.best_estimator_
    return CalibratedClassifierCV(best, cv=folds, ensemble=False).fit(X, y).predict_proba(Q)


def log_loss(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> float:
    """Mean of -log of the probability of the right class; one the model does not know has probability 0."""
    column = np.minimum(np.searchsorted(classes, answers), len(classes) - 1)
    right = np.where(classes[column] == answers, given[np.arange(len(answers)), column], 0)
    return float(-np.log(np.maximum(right, np.finfo(np.float64).eps)).mean())
