"""Scores of what a model answers to evaluation samples: by any scorer of scikit-learn, and by log loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from pathforest._models.offers import cost_ratios, probabilities, row_sums
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


def shown_to_scorers(X: Any, y: Any, given: Any, labels: np.ndarray) -> tuple[Any, Any]:
    """Choose what scorers get slices of: X and y as the user passed them, if scikit-learn knows their types.

    `given` and `labels` are the same after their checks.
    """
    known = isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns") or issparse(X)
    try:
        is_target = type_of_target(y) in ("binary", "multiclass")
    except (TypeError, ValueError):  # such as numpy's StringDType
        is_target = False
    return indexable(X)[0] if known else given, indexable(y)[0] if is_target else labels


def asks_answers_only(scorer: Scorer | None) -> bool:
    """Whether a scorer is one of scikit-learn's: they ask for labels or probabilities, and change nothing."""
    return isinstance(scorer, type(get_scorer("accuracy")))


class Answered:
    """A fitted model that has answered for some samples already; for all else it is built.

    `winner` is the class of each sample and `cost` what all classes cost it.
    """

    def __init__(
        self,
        X: Any,
        classes: np.ndarray,
        winner: np.ndarray,
        cost: np.ndarray,
        beta: float,
        build: Callable[[], Any],
    ) -> None:
        self.classes_, self.gave_probabilities = classes, False
        self._X, self._winner, self._cost, self._beta, self._build = X, winner, cost, beta, build

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels."""
        return self.classes_[self._winner] if X is self._X else self._model.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities."""
        self.gave_probabilities = True
        return probabilities(self._cost, self._beta) if X is self._X else self._model.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        return FuzzyOPFClassifier().__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name == "decision_function":  # scorers of ranks try it first
            raise AttributeError(f"{type(self).__name__} has no {name}; use predict_proba")
        return getattr(self._model, name)

    @cached_property
    def _model(self) -> Any:
        return self._build()


def call_scorer(scorer: Scorer, model: Any, X: Any, y: Any) -> float:
    """Return the score of a model, which must be one number."""
    score = scorer(model, X, y)
    if hasattr(score, "item"):  # arrays of one value count as a number, as in GridSearchCV
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, Number):
        raise ValueError(
            f"scoring returned {show(score)} of type {type(score).__name__}, which is not a number; "
            "return one float for each model"
        )
    return float(score)


def log_losses(
    betas: Sequence[float], classes: np.ndarray, costs: np.ndarray, y: np.ndarray, n_threads: int
) -> np.ndarray:
    """Return the log loss for each number of conquerors and each beta, given class costs (n_r, m, c).

    A class that the fold does not train has probability 0.
    """
    column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known, own = classes[column] == y, np.arange(len(y)) * len(classes) + column

    def losses(costs: np.ndarray) -> list[float]:
        ratio, found = cost_ratios(costs), []
        for beta in betas:
            weight = ratio ** float(beta)
            given = np.where(known, weight.ravel()[own] / row_sums(weight), 0)
            found.append(-np.log(np.maximum(given, SMALLEST)).mean())
        return found

    return np.array([*map_threads(losses, 1 if costs[0].size < WORTH_THREADS else n_threads, costs)])
