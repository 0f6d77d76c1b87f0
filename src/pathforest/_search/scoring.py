"""Scores of what a model answers to evaluation samples: by any scorer of scikit-learn, and by log loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer_names

from pathforest._models.prediction import probabilities
from pathforest._search.training import ClassCosts
from pathforest._utils.show import show
from pathforest._utils.warnings import warn
from pathforest.fuzzy import FuzzyOPFClassifier

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


def check_error_score(name: str, value: Any) -> None:
    """Refuse anything but a number or ``"raise"``."""
    if not (isinstance(value, Real) or (isinstance(value, str) and value == "raise")):
        raise ValueError(f"{name}={show(value)} is unknown; use 'raise', or a number such as numpy.nan")


class Answer(ClassifierMixin, BaseEstimator):
    """The answers of a model to the evaluation samples, in the form scorers expect."""

    def __init__(self, classes: np.ndarray, winner: np.ndarray, costs: np.ndarray, beta: float) -> None:
        self.classes = self.classes_ = classes
        self.winner = winner
        self.costs = costs
        self.beta = beta
        self.gave_probabilities = False

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, whatever X is."""
        return self.classes_[self.winner]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities, whatever X is."""
        self.gave_probabilities = True
        return probabilities(self.costs, self.beta)


class Judge:
    """What a search measures: the score and the log loss of each answer, for every beta.

    A scorer that fails gives `error_score`, as in GridSearchCV; one warning tells of all failures.
    """

    def __init__(self, scorer: Scorer | None, betas: Sequence[float], error_score: Any = np.nan) -> None:
        self.betas = betas
        self.scorer, self._error_score = scorer, error_score
        self._n_errors, self._first_error = 0, ""

    def scores(self, classes: np.ndarray, costs: ClassCosts, r: int, X: Any, y: np.ndarray) -> np.ndarray:
        """Return the score for each beta; the scorer is called once if it asks for no probabilities."""
        winner = costs.winner(r)
        if self.scorer is None:
            return np.full(len(self.betas), np.mean(classes[winner] == y))
        scores = []
        for beta in self.betas:
            answer = Answer(classes, winner, costs.cost[r], beta)
            scores.append(self._call(answer, X, y))
            if not answer.gave_probabilities:
                return np.full(len(self.betas), scores[0])
        return np.array(scores)

    def log_losses(self, classes: np.ndarray, costs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the log loss for each beta. A class that the fold does not train has probability 0."""
        column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known = classes[column] == y
        losses = []
        for beta in self.betas:
            given = np.where(known, probabilities(costs, beta)[np.arange(len(y)), column], 0)
            losses.append(-np.log(np.maximum(given, SMALLEST)).mean())
        return np.array(losses)

    def warn_of_errors(self) -> None:
        """Tell how often the scorer failed, and why it did first."""
        if self._n_errors:
            warn(
                f"scoring failed {self._n_errors} time(s), and those scores are {self._error_score}; the "
                f"first error was {self._first_error}. Pass error_score='raise' to stop there"
            )

    def _call(self, answer: Answer, X: Any, y: np.ndarray) -> float:
        try:
            return float(self.scorer(answer, X, y))
        except Exception as error:
            if isinstance(self._error_score, str):
                raise
            self._n_errors += 1
            self._first_error = self._first_error or f"{type(error).__name__}: {error}"
            return float(self._error_score)
