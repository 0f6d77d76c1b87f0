"""Scores of what a model answers to evaluation samples: by any scorer of scikit-learn, and by log loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from pathforest._models.offers import ClassCosts, cost_ratios, row_sums
from pathforest._search.known import Answers, KnownModels
from pathforest._utils.text import show
from pathforest._utils.threads import map_threads
from pathforest.fuzzy import FuzzyOPFClassifier

# Class costs of one model above which NumPy's threads are worth their start.
WORTH_THREADS = 20_000

# Probabilities of 0 would cost infinity; scikit-learn's log_loss stops there too.
SMALLEST = np.finfo(np.float64).eps

Scorer = Callable[[Any, Any, Any], float]


def resolve_scoring(scoring: Any) -> Scorer | None:
    """Turn the parameter `scoring` into a scorer; None is accuracy."""
    if scoring is None:
        return None
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError(
            f"scoring={show(scoring)} holds several scores, and one must decide; pass one name or one scorer"
        )
    if not callable(scoring) and not (isinstance(scoring, str) and scoring in get_scorer_names()):
        raise ValueError(
            f"scoring={show(scoring)} is unknown; use a name that sklearn.metrics.get_scorer_names() lists, "
            "or a callable (estimator, X, y)"
        )
    return check_scoring(FuzzyOPFClassifier(), scoring=scoring)


def shown_to_scorers(X: Any, y: Any, samples: Any, labels: np.ndarray) -> tuple[Any, Any]:
    """Choose what scorers get slices of: X and y as the user passed them, if scikit-learn knows their types.

    `samples` and `labels` are the same after their checks.
    """
    known = isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns") or issparse(X)
    try:
        is_target = type_of_target(y) in ("binary", "multiclass")
    except (TypeError, ValueError):  # such as numpy's StringDType
        is_target = False
    return indexable(X)[0] if known else samples.given, indexable(y)[0] if is_target else labels


class Judge:
    """What a search measures: the score and the log loss of each answer, for every beta."""

    def __init__(self, scorer: Scorer | None, betas: Sequence[float]) -> None:
        self.scorer, self.betas = scorer, betas

    def scores(self, models: KnownModels, cells: Sequence[Any], costs: ClassCosts, r: int) -> np.ndarray:
        """Return the score of each cell for each beta, given cells that have these class costs in common.

        The scorer is called once for all of them if it asks for labels alone, once for each beta if it asks
        for probabilities, and for each beta and cell if it asks anything else.
        """
        scores, winner = np.empty((len(cells), len(self.betas))), costs.winner(r)
        if self.scorer is None:
            scores[:] = np.mean(models.classes[winner] == models.evaluation.labels)
            return scores
        for b, beta in enumerate(self.betas):
            for c, cell in enumerate(cells):
                answers = Answers(models, cell, winner, costs.cost[r], beta)
                scores[c:, b] = self._call(answers.model, *models.evaluation.samples())
                if not answers.is_built:
                    break
            if not (answers.is_built or answers.gave_probabilities):
                scores[:, b:] = scores[:, [b]]
                break
        return scores

    def log_losses(self, classes: np.ndarray, costs: np.ndarray, y: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the log loss for each number of conquerors and each beta, given class costs (n_r, m, c).

        A class that the fold does not train has probability 0.
        """
        column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known, own = classes[column] == y, np.arange(len(y)) * len(classes) + column

        def losses(costs: np.ndarray) -> list[float]:
            ratio, found = cost_ratios(costs), []
            for beta in self.betas:
                weight = ratio ** float(beta)
                given = np.where(known, weight.ravel()[own] / row_sums(weight), 0)
                found.append(-np.log(np.maximum(given, SMALLEST)).mean())
            return found

        return np.array([*map_threads(losses, 1 if costs[0].size < WORTH_THREADS else n_threads, costs)])

    def _call(self, model: Any, X: Any, y: Any) -> float:
        score = self.scorer(model, X, y)
        if hasattr(score, "item"):  # arrays of one value count as a number, as in GridSearchCV
            with suppress(ValueError):
                score = score.item()
        if not isinstance(score, Number):
            raise ValueError(
                f"scoring returned {show(score)} of type {type(score).__name__}, which is not a number; "
                "return one float for each model"
            )
        return float(score)
