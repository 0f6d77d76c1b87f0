"""The models of a search as scorers get them: predictions are known, the rest is built when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from pathforest._models.offers import probabilities
from pathforest.fuzzy import FuzzyOPFClassifier

# What a model answers without being built. None of it differs between models with the same predictions.
READY = frozenset({"predict", "predict_proba", "score", "classes_", "__sklearn_tags__", "__class__"})


class Evaluation:
    """The evaluation samples of a fold and their labels, as scorers get them, and the checked `labels`.

    `take_samples` cuts them out, again whenever a scorer has written into them, and `take_labels` each time.
    """

    def __init__(
        self, take_samples: Callable[[], Any], take_labels: Callable[[], Any], labels: np.ndarray
    ) -> None:
        self._take_samples, self._take_labels, self.labels = take_samples, take_labels, labels
        self._X = take_samples()
        facts, arrays = _contents(self._X)
        self._before = facts, [array.copy() for array in arrays]

    def samples(self) -> tuple[Any, Any]:
        """Return samples and labels that no scorer has changed."""
        if not self.has(self._X):
            self._X = self._take_samples()
        return self._X, self._take_labels()

    def has(self, X: Any) -> bool:
        """Whether these are the evaluation samples themselves, and unchanged."""
        if X is not self._X:
            return False
        (facts, arrays), (facts_before, before) = _contents(X), self._before
        same_layout = facts == facts_before and len(arrays) == len(before)
        return same_layout and all(map(_have_same_bits, arrays, before))


def _contents(X: Any) -> tuple[Any, list[np.ndarray]]:
    """Return what changes when an object does: arrays of numbers as they are, and a value for the rest."""
    if isinstance(X, np.ndarray):
        facts, arrays = None, [X]
    elif hasattr(X, "iloc") and hasattr(X, "columns") and not X.attrs:  # as joblib does, but much faster
        types, index = list(X.dtypes), X.index.to_numpy()
        parts = [X] if len(set(types)) == 1 else [column for _, column in X.items()]
        names = tuple(X.columns), tuple(X.columns.names), tuple(X.index.names)
        rows = tuple(index) if index.dtype.hasobject else None
        facts, arrays = (types, names, rows), [part.to_numpy() for part in parts]
        arrays += [index] if rows is None else []
    else:
        facts, arrays = joblib.hash(X), []
    plain = all(array.dtype.kind in "biufmM" and array.dtype.itemsize <= 8 for array in arrays)
    return (facts, arrays) if plain else (joblib.hash(X), [])


def _have_same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Compare arrays by their bits: NaN equals itself, and no array is copied."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    bits = f"u{a.dtype.itemsize}"
    return np.array_equal(a.view(bits), b.view(bits))


class KnownModels:
    """The models of one training set, to be scored on its evaluation samples.

    `blank` is an unfitted model of the same kind, and ``build(cell, beta)`` makes the one of a cell.
    """

    def __init__(
        self, evaluation: Evaluation, classes: np.ndarray, blank: Any, build: Callable[[Any, float], Any]
    ) -> None:
        self.evaluation, self.classes, self.build = evaluation, classes, build
        self.kind = KnownPipeline if isinstance(blank, Pipeline) else KnownClassifier
        self.blank = blank


class Answers:
    """What is known of one model before it is built, and `model`, which gives these answers."""

    def __init__(
        self, models: KnownModels, cell: Any, winner: np.ndarray, costs: np.ndarray, beta: float
    ) -> None:
        self.models, self._cell, self._winner, self._costs, self._beta = models, cell, winner, costs, beta
        self.gave_probabilities = False
        self.model = models.kind.__new__(models.kind)
        _state(self.model)["_answers"] = self

    @property
    def is_built(self) -> bool:
        """Whether more has been asked for than predictions of the evaluation samples."""
        return not isinstance(self.model, Known)

    def predict(self) -> np.ndarray:
        """Return the predicted labels of the evaluation samples."""
        return self.models.classes[self._winner]

    def predict_proba(self) -> np.ndarray:
        """Return their probabilities."""
        self.gave_probabilities = True
        return probabilities(self._costs, self._beta)

    def build(self) -> Any:
        """Make the model itself."""
        return self.models.build(self._cell, self._beta)


class Known:
    """Predicts the evaluation samples from what is known, and turns into the model itself for all else."""

    def __getattribute__(self, name: str) -> Any:
        if name == "decision_function":  # scorers of ranks try it first
            raise AttributeError(f"{type(self).__name__} has no {name}; use predict_proba")
        return object.__getattribute__(self if name in READY else _turn_real(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_turn_real(self), name, value)

    def __reduce_ex__(self, protocol: int) -> Any:
        return _turn_real(self).__reduce_ex__(protocol)

    def __sklearn_tags__(self) -> Any:
        return get_tags(_state(self)["_answers"].models.blank)  # they do not depend on what is fitted

    @property
    def classes_(self) -> np.ndarray:
        """Class labels."""
        return _state(self)["_answers"].models.classes.copy()

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Predict samples; the answers for those of the evaluation are known."""
        return _ask(self, "predict", X, params)

    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return the probabilities of samples; those of the evaluation are known."""
        return _ask(self, "predict_proba", X, params)


def _ask(model: Any, method: str, X: Any, params: dict[str, Any]) -> np.ndarray:
    answers = _state(model).get("_answers")
    if answers is None or params or not answers.models.evaluation.has(X):
        return getattr(_turn_real(model), method)(X, **params)
    return getattr(answers, method)()


class KnownClassifier(Known, FuzzyOPFClassifier):
    """A classifier whose predictions are known."""


class KnownPipeline(Known, Pipeline):
    """A pipeline whose predictions are known."""


def _state(model: Any) -> dict[str, Any]:
    return object.__getattribute__(model, "__dict__")


def _turn_real(model: Any) -> Any:
    """Put the model itself in the place of one whose predictions are known, class and all."""
    if isinstance(model, Known):
        real = _state(model)["_answers"].build()
        _state(model).clear()
        _state(model).update(vars(real))
        object.__setattr__(model, "__class__", type(real))
    return model
