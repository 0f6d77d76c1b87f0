"""Models for the commands: made from options, read from files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import joblib
import numpy as np

import pathforest

ESTIMATORS = {
    "fuzzy-cv": "FuzzyOPFClassifierCV",
    "opf": "OPFClassifier",
    "fuzzy": "FuzzyOPFClassifier",
    "knn": "OPFKNNClassifier",
    "semi": "OPFSemiSupervisedClassifier",
}


MODEL = b"pathforest model "  # how our files of models start


class Loaded(NamedTuple):
    """A model, and the names of its features if it knows them."""

    model: Any
    names: list[str] | None


def make_estimator(class_name: str, settings: Sequence[str] | None) -> Any:
    """Make an estimator with parameters given as `name=value`; values are JSON, or else text."""
    estimator = getattr(pathforest, class_name)()
    known = estimator.get_params(deep=False)
    chosen = {}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"--set {setting}: {class_name} has no such parameter; write NAME=VALUE with one of "
                f"{', '.join(sorted(known))}"
            )
        chosen[name] = _value(text)
    return estimator.set_params(**chosen)


def _value(text: str) -> Any:
    if text == "None":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def fit(estimator: Any, X: np.ndarray, y: np.ndarray | None, names: Sequence[str], jobs: int | None) -> float:
    """Fit an estimator and let it remember the names of its features; return the seconds it took."""
    start = time.perf_counter()
    with threads(jobs):
        estimator.fit(X, y)
    estimator.feature_names_in_ = np.array(names, dtype=object)
    return time.perf_counter() - start


def is_model(path: str) -> bool:
    """Tell whether a file is a model, by its first bytes."""
    with open(path, "rb") as file:
        return file.read(len(MODEL)) == MODEL


def load_model(path: str) -> Loaded:
    """Read a model; its features are then told by us, so that arrays will do."""
    model = pathforest.load(path)
    names = vars(model).pop("feature_names_in_", None)
    return Loaded(model, None if names is None else names.tolist())


@contextmanager
def threads(jobs: int | None) -> Iterator[None]:
    """Use so many threads, all cores for None, without a word of it in the model's parameters."""
    with joblib.parallel_config(backend="threading", n_jobs=-1 if jobs is None else jobs):
        yield


def require(model: Any, ability: str, path: str) -> None:
    """Check that a model can do something."""
    if not hasattr(model, ability):
        raise ValueError(f"{path}: {type(model).__name__} has no {ability}")
