"""What models that have not seen a label think of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from pathforest._engines.metric import Metric
from pathforest._search.splits import Split, deal_folds
from pathforest._utils.threads import thread_count
from pathforest.classifier import OPFClassifier
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV
from pathforest.issues.flags import Opinion
from pathforest.issues.offers import NONE

TRANSFORMS = "kernel"  # representations that the search tries
N_FOLDS = 5
N_TREES = 300
FEWEST = 2 * N_FOLDS  # samples, so that the folds inside a search have some too


def ask_unseen(
    X: np.ndarray, codes: np.ndarray, settings: OPFClassifier, metric: Metric, random_state: Any
) -> Opinion:
    """Judge labels by two probabilities: of a search on other folds, and of a random forest out of bag."""
    if metric.kind == "precomputed":
        raise ValueError("method='thorough' needs features, not metric='precomputed'; use method='fast'")
    if len(X) < FEWEST:
        raise ValueError(
            f"method='thorough' needs {FEWEST} samples or more for its folds, got {len(X)}; use method='fast'"
        )
    n, rows = len(X), np.arange(len(X))
    if len(settings.classes_) == 1:
        return Opinion(np.ones(n), np.full(n, NONE), np.zeros(n, dtype=bool), np.ones(n))
    random = check_random_state(random_state)
    searched = _out_of_fold(X, codes, settings, random)
    probability = (searched + _out_of_bag(X, codes, settings, random)) / 2
    score = probability[rows, codes]
    probability[rows, codes] = -1
    rival = probability.argmax(axis=1)
    best = probability[rows, rival]
    return Opinion(score, rival, best > score, score / (score + best))


def _out_of_fold(
    X: np.ndarray, codes: np.ndarray, settings: OPFClassifier, random: np.random.RandomState
) -> np.ndarray:
    """Ask a search about each fold that was fitted to the others; a class they lack has probability 0."""
    probability = np.zeros((len(X), len(settings.classes_)))
    seed = int(random.randint(2**31))
    for train, test in _splits(codes, random):
        search = FuzzyOPFClassifierCV(
            transforms=TRANSFORMS,
            cv=_splits(codes[train], random),
            metric=settings.metric,
            metric_params=settings.metric_params,
            algorithm=settings.algorithm,
            device=settings.device,
            n_jobs=settings.n_jobs,
            random_state=seed,
        )
        search.fit(X[train], codes[train])
        probability[test[:, None], search.classes_] = search.predict_proba(X[test])
    return probability


def _out_of_bag(
    X: np.ndarray, codes: np.ndarray, settings: OPFClassifier, random: np.random.RandomState
) -> np.ndarray:
    """Ask the trees of a random forest that were grown without the sample."""
    forest = RandomForestClassifier(
        N_TREES, oob_score=True, n_jobs=thread_count(settings.n_jobs), random_state=random
    )
    return forest.fit(X, codes).oob_decision_function_


def _splits(codes: np.ndarray, random: np.random.RandomState) -> list[Split]:
    fold = deal_folds(codes, N_FOLDS, random)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(N_FOLDS)]
