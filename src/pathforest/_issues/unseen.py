"""What models that have not seen a label think of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from pathforest._models.labels import Labels
from pathforest._search.transformers import unseen_shares
from pathforest._utils.splits import Split, content_order, deal_folds
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

N_TREES = 300
N_FOLDS = 5
LEAF = 5  # samples in a leaf of the forest that is asked out of bag, at least: wrong labels want large leaves

# (samples in a fixed order, their codes, question, n_threads) -> probability of each class
Asked = Callable[[np.ndarray, np.ndarray, Any, int], np.ndarray]


def ask_unseen(X: np.ndarray, labels: Labels, question: Any, n_threads: int, ask: Asked) -> np.ndarray:
    """Return the probability of each class by models that have not seen the label of a sample."""
    # Samples in the order of values, classes in that of first samples: no order of rows, no name decides.
    names, codes = labels
    if len(names) == 1:
        return np.ones((len(X), 1))
    order = content_order(X)
    classes = codes[order][np.sort(np.unique(codes[order], return_index=True)[1])]
    probability = np.empty((len(X), len(names)))
    probability[order[:, None], classes] = ask(
        X[order], np.argsort(classes)[codes[order]], question, n_threads
    )
    return probability


def out_of_bag(X: np.ndarray, codes: np.ndarray, question: Any, n_threads: int) -> np.ndarray:
    """Return the shares of the classes in the trees of one random forest that did not draw a sample."""
    seed = int(check_random_state(question.random_state).randint(2**31))
    forest = RandomForestClassifier(N_TREES, min_samples_leaf=LEAF, n_jobs=n_threads, random_state=seed)
    return unseen_shares(forest.fit(X, codes), X, codes)


def out_of_fold(X: np.ndarray, codes: np.ndarray, question: Any, n_threads: int) -> np.ndarray:
    """Return the mean probability by a search and a random forest; a class they did not see has 0."""
    probability, random = np.zeros((len(X), codes.max() + 1)), check_random_state(question.random_state)
    seed = int(random.randint(2**31))
    options = ("metric", "metric_params", "algorithm", "device", "n_jobs")
    shared = {name: getattr(question, name) for name in options}
    for train, test in _splits(codes, random):
        folds = _splits(codes[train], random)
        search = FuzzyOPFClassifierCV(cv=folds, label_noise=0.0, random_state=seed, **shared)
        trees = RandomForestClassifier(N_TREES, n_jobs=n_threads, random_state=seed)
        for model in (search, trees):
            model.fit(X[train], codes[train])
            probability[test[:, None], model.classes_] += model.predict_proba(X[test]) / 2
    return probability


def _splits(codes: np.ndarray, random: np.random.RandomState) -> list[Split]:
    fold = deal_folds(codes, N_FOLDS, random)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(N_FOLDS)]
