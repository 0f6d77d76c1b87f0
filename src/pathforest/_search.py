"""The cells of a search, scored on every fold with the work they share done once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from pathforest._base import probabilities
from pathforest._progress import Progress
from pathforest._shared import ClassCosts, Settings, SharedTraining
from pathforest._transforms import Representation
from pathforest.fuzzy import FuzzyOPFClassifier

# Probabilities of 0 would cost infinity; scikit-learn's log_loss stops there too.
SMALLEST = np.finfo(np.float64).eps

Scorer = Callable[[Any, Any, Any], float]


class Cell(NamedTuple):
    """One candidate model: a representation by its name, then the classifier's own parameters."""

    transform: str
    k_max: int
    sigma: float
    competition: str
    n_conquerors: int

    @property
    def settings(self) -> Settings:
        """What decides its forest."""
        return Settings(self.k_max, self.sigma, self.competition)


class Scores(NamedTuple):
    """How well each cell did on each fold, for each beta; scores of labels alone are the same for all."""

    score: np.ndarray  # (n_cells, n_folds, n_betas)
    log_loss: np.ndarray  # (n_cells, n_folds, n_betas)


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


class Folds:
    """Training and evaluation parts of the samples, in every candidate representation."""

    def __init__(
        self,
        template: FuzzyOPFClassifier,
        X: np.ndarray,
        y: np.ndarray,
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
        representations: Sequence[Representation],
        keep: bool = False,
    ) -> None:
        self._template, self._X, self._y, self._splits = template, X, y, splits
        self._transformers = dict(representations)
        self._keep = keep  # for a search by trials, which comes back to each fold
        self._kept: dict[tuple[int, str], tuple[SharedTraining, Any]] = {}

    def score(
        self, cells: Sequence[Cell], betas: Sequence[float], scorer: Scorer | None, bar: Progress
    ) -> Scores:
        """Score the cells on all folds; `scorer` None is accuracy."""
        shape = len(cells), len(self._splits), len(betas)
        scores = Scores(np.empty(shape), np.empty(shape))
        by_name: dict[str, list[int]] = {}
        for position, cell in enumerate(cells):
            by_name.setdefault(cell.transform, []).append(position)
        for fold, (_, rows) in enumerate(self._splits):
            for name, positions in by_name.items():
                shared, Q = self._prepare(fold, name)
                chosen = [cells[position] for position in positions]
                done = _score(shared, Q, self._X[rows], self._y[rows], chosen, betas, scorer, bar)
                scores.score[positions, fold], scores.log_loss[positions, fold] = done
        return scores

    def refit(self, cells: Sequence[Cell], betas: Sequence[float]) -> list[Any]:
        """Fit the cells on all samples: classifiers, or pipelines that end in one."""
        trained: dict[str, tuple[Any, SharedTraining]] = {}
        models = []
        for cell, beta in zip(cells, betas, strict=True):
            if cell.transform not in trained:
                transformer, X = self._represent(cell.transform, self._X, self._y)
                trained[cell.transform] = transformer, SharedTraining(self._template, X, self._y)
            transformer, shared = trained[cell.transform]
            model = shared.classifier(cell.settings, n_conquerors=cell.n_conquerors, beta=beta)
            steps = [("transform", transformer), ("classifier", model)]
            models.append(model if transformer is None else Pipeline(steps))
        return models

    def _prepare(self, fold: int, name: str) -> tuple[SharedTraining, Any]:
        """Train on one fold in one representation; return that and the fold's evaluation samples."""
        if (fold, name) in self._kept:
            return self._kept[fold, name]
        train, rows = self._splits[fold]
        y, Q = self._y[train], self._X[rows]
        if self._template.metric == "precomputed":
            X, transformer = self._X[np.ix_(train, train)], None
            Q = np.ascontiguousarray(Q[:, train])
        else:
            transformer, X = self._represent(name, self._X[train], y)
        if transformer is not None:
            Q = transformer.transform(Q)
        prepared = SharedTraining(self._template, X, y, keep_distances=self._keep), Q
        if self._keep:
            self._kept[fold, name] = prepared
        return prepared

    def _represent(self, name: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
        """Fit a representation; return its transformer, None for the samples as given, and the samples."""
        if self._transformers[name] is None:
            return None, X
        transformer = clone(self._transformers[name])
        if hasattr(transformer, "fit_transform"):
            return transformer, transformer.fit_transform(X, y)
        return transformer, transformer.fit(X, y).transform(X)


def _score(
    shared: SharedTraining,
    Q: Any,
    X: np.ndarray,
    y: np.ndarray,
    cells: Sequence[Cell],
    betas: Sequence[float],
    scorer: Scorer | None,
    bar: Progress,
) -> Scores:
    """Score cells of one training set on its evaluation samples `Q`, known to scorers as `X`."""
    result = Scores(np.empty((len(cells), len(betas))), np.empty((len(cells), len(betas))))
    settings = list(dict.fromkeys(cell.settings for cell in cells))
    counts = sorted({cell.n_conquerors for cell in cells})
    positions = {(cell.settings, cell.n_conquerors): [] for cell in cells}
    for position, cell in enumerate(cells):
        positions[cell.settings, cell.n_conquerors].append(position)
    for served, costs in shared.class_costs(Q, settings, counts):
        for r, count in enumerate(counts):
            coinciding = [p for s in served for p in positions.get((settings[s], count), ())]
            if coinciding:
                result.score[coinciding] = _score_answer(shared, costs, r, X, y, betas, scorer)
                result.log_loss[coinciding] = _log_losses(shared.classes, costs.cost[r], y, betas)
                bar.update(len(coinciding))
    return result


def _score_answer(
    shared: SharedTraining,
    costs: ClassCosts,
    r: int,
    X: np.ndarray,
    y: np.ndarray,
    betas: Sequence[float],
    scorer: Scorer | None,
) -> np.ndarray:
    """Return the score for each beta; the scorer is called once if it asks for no probabilities."""
    winner = costs.winner(r)
    if scorer is None:
        return np.full(len(betas), np.mean(shared.classes[winner] == y))
    scores = []
    for beta in betas:
        answer = Answer(shared.classes, winner, costs.cost[r], beta)
        scores.append(float(scorer(answer, X, y)))
        if not answer.gave_probabilities:
            return np.full(len(betas), scores[0])
    return np.array(scores)


def _log_losses(classes: np.ndarray, costs: np.ndarray, y: np.ndarray, betas: Sequence[float]) -> np.ndarray:
    """Return the log loss for each beta. A class that the fold does not train has probability 0."""
    column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known = classes[column] == y
    losses = []
    for beta in betas:
        given = np.where(known, probabilities(costs, beta)[np.arange(len(y)), column], 0)
        losses.append(-np.log(np.maximum(given, SMALLEST)).mean())
    return np.array(losses)
