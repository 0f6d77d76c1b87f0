"""What models that have not seen a label think of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from pathforest._engines.samples import SparseSamples
from pathforest._models.base import FitData
from pathforest._utils.splits import Split, deal_folds
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

N_TREES = 300
N_FOLDS = 5
FEWEST = 2 * N_FOLDS  # samples, so that the folds inside a search have some too


def ask_unseen(data: FitData, question: Any) -> np.ndarray:
    """Return the probability of each class by models that were fitted to the other folds.

    Samples are first put in the order of their values, and classes in that of their first sample: what is
    drawn at random then depends neither on the order of the rows nor on the names of the classes.
    """
    X, (names, codes) = data.X, data.labels
    if isinstance(X, SparseSamples):
        raise ValueError("method='thorough' takes no sparse matrix; use method='fast', or X.toarray()")
    if data.metric.kind == "precomputed":
        raise ValueError("method='thorough' needs features, not metric='precomputed'; use method='fast'")
    if data.metric.name == "gower" or np.isnan(X).any():
        raise ValueError(
            "method='thorough' needs numbers without gaps, for its linear algebra; use method='fast', or "
            "fill in missing values and encode categories"
        )
    if len(X) < FEWEST:
        raise ValueError(
            f"method='thorough' needs {FEWEST} samples or more for its folds, got {len(X)}; use method='fast'"
        )
    if len(names) == 1:
        return np.ones((len(X), 1))
    order = np.lexsort(X.T[::-1])
    classes = codes[order][np.sort(np.unique(codes[order], return_index=True)[1])]
    probability = np.empty((len(X), len(names)))
    probability[order[:, None], classes] = _out_of_fold(
        X[order], np.argsort(classes)[codes[order]], question, data.n_threads
    )
    return probability


def _out_of_fold(X: np.ndarray, codes: np.ndarray, question: Any, n_threads: int) -> np.ndarray:
    """Return the mean probability by a search and a random forest; a class they did not see has 0.

    Together they find more than either: on 25 datasets the mean had the higher average precision.
    """
    probability, random = np.zeros((len(X), codes.max() + 1)), check_random_state(question.random_state)
    seed = int(random.randint(2**31))
    options = ("metric", "metric_params", "algorithm", "device", "n_jobs")
    shared = {name: getattr(question, name) for name in options}
    for train, test in _splits(codes, random):
        folds = _splits(codes[train], random)
        search = FuzzyOPFClassifierCV(cv=folds, random_state=seed, **shared)
        trees = RandomForestClassifier(N_TREES, n_jobs=n_threads, random_state=seed)
        for model in (search, trees):
            model.fit(X[train], codes[train])
            probability[test[:, None], model.classes_] += model.predict_proba(X[test]) / 2
    return probability


def _splits(codes: np.ndarray, random: np.random.RandomState) -> list[Split]:
    fold = deal_folds(codes, N_FOLDS, random)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(N_FOLDS)]
