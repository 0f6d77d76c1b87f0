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

TRANSFORMS = "full"  # representations that the search tries
N_TREES = 300
N_FOLDS = 5
FEWEST = 2 * N_FOLDS  # samples, so that the folds inside a search have some too


def ask_unseen(
    X: np.ndarray, codes: np.ndarray, settings: OPFClassifier, metric: Metric, random_state: Any
) -> Opinion:
    """Judge labels by models that were fitted to the other folds."""
    if metric.kind == "precomputed":
        raise ValueError("method='thorough' needs features, not metric='precomputed'; use method='fast'")
    if metric.name == "gower" or np.isnan(X).any():
        raise ValueError(
            "method='thorough' needs numbers without gaps, for its linear algebra; use method='fast', or "
            "fill in missing values and encode categories"
        )
    if len(X) < FEWEST:
        raise ValueError(
            f"method='thorough' needs {FEWEST} samples or more for its folds, got {len(X)}; use method='fast'"
        )
    n, rows = len(X), np.arange(len(X))
    if len(settings.classes_) == 1:
        return Opinion(np.ones(n), np.full(n, NONE), np.zeros(n, dtype=bool), np.ones(n))
    probability = _out_of_fold(X, codes, settings, check_random_state(random_state))
    score = probability[rows, codes]
    probability[rows, codes] = -1
    rival = probability.argmax(axis=1)
    best = probability[rows, rival]
    return Opinion(score, rival, best > score, score / (score + best))


def _out_of_fold(
    X: np.ndarray, codes: np.ndarray, settings: OPFClassifier, random: np.random.RandomState
) -> np.ndarray:
    """Return the mean probability by a search and a random forest; a class they did not see has 0.

    Together they find more than either: on 25 datasets the mean had the higher average precision.
    """
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
        forest = RandomForestClassifier(N_TREES, n_jobs=thread_count(settings.n_jobs), random_state=seed)
        for model in (search, forest):
            model.fit(X[train], codes[train])
            probability[test[:, None], model.classes_] += model.predict_proba(X[test]) / 2
    return probability


def _splits(codes: np.ndarray, random: np.random.RandomState) -> list[Split]:
    fold = deal_folds(codes, N_FOLDS, random)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(N_FOLDS)]
