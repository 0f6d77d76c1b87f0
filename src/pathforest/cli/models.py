"""Models for the commands: made from options, fitted, read from files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import joblib
import numpy as np

import pathforest
from pathforest._utils.show import show
from pathforest.cli.errors import UsageError, did_you_mean, say
from pathforest.datasets.formats import POSITION
from pathforest.libopf import read_model, read_positions
from pathforest.persistence.model_file import is_model_file

LIBOPF = ".opf"  # the ending of LibOPF's files of models; nothing in them says what they are
FACTOR = 30  # between the widest and the narrowest feature, from which on we warn


class Loaded(NamedTuple):
    """A model, and the names of its features if it knows them."""

    model: Any
    names: list[str] | None


def make_estimator(class_name: str, settings: Sequence[str] | None, distances: str | None = None) -> Any:
    """Make an estimator with parameters given as `name=value`; values are JSON, lists of it, or text."""
    estimator = getattr(pathforest, class_name)()
    known = estimator.get_params(deep=False)
    chosen = {}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if name not in known:
            meant = did_you_mean(name, known, show=str)
            raise UsageError(
                f"--set {setting}: {class_name} has no such parameter{meant}; write NAME=VALUE with one of "
                f"{', '.join(sorted(known))}"
            )
        if not equals:
            raise UsageError(f"--set {setting}: write {setting}=VALUE")
        chosen[name] = _value(text)
    if distances is not None:
        chosen = {"metric": "precomputed"} | chosen
        if chosen["metric"] != "precomputed" or "metric" not in known:
            raise UsageError(
                f"--distances {distances}: {class_name} does not take distances with these parameters"
            )
    return estimator.set_params(**chosen)


def _value(text: str) -> Any:
    if text == "None":
        return None
    for shape in ("{}", "[{}]") if "," in text else ("{}",):
        with suppress(ValueError, RecursionError):
            return json.loads(shape.replace("{}", text))
    return text


def fit(estimator: Any, X: np.ndarray, y: np.ndarray | None, jobs: int | None) -> float:
    """Fit an estimator; return the seconds it took."""
    start = time.perf_counter()
    with threads(jobs):
        estimator.fit(X, y)
    return time.perf_counter() - start


def set_scale(model: Any) -> None:
    """Let a search standardise its samples."""
    from sklearn.preprocessing import StandardScaler

    params = model.get_params(deep=False)
    if "transforms" not in params:
        name = type(model).__name__
        raise UsageError(
            f"--scale: {name} has no transforms; use fuzzy-cv, or convert --normalize before the split"
        )
    if params["transforms"] != "auto":
        raise UsageError("--scale: not with --set transforms; choose one of them")
    model.set_params(transforms=[StandardScaler()])


def warn_scales(model: Any, X: np.ndarray, names: Sequence[str]) -> None:
    """Warn if one feature is likely to outweigh the others in a model."""
    params = model.get_params(deep=False)
    if params.get("metric") == "precomputed" or params.get("transforms") is not None:
        return
    way_out = "--scale evens them out"
    if "transforms" not in params:  # scaled apart, two files would no longer be comparable
        way_out = "convert --normalize evens them out, for training and new samples in one file"
    warn_spans(X, names, way_out)


def warn_spans(X: np.ndarray, names: Sequence[str], way_out: str) -> None:
    """Warn if one feature has a far wider range than another."""
    spans = np.ptp(X, axis=0)
    moving = np.flatnonzero(spans > 0)  # constant features have no scale
    if len(moving) < 2:
        return
    narrow, wide = moving[spans[moving].argmin()], moving[spans[moving].argmax()]
    if spans[wide] <= FACTOR * spans[narrow]:
        return
    say(
        f"warning: features differ in scale ({show(names[narrow])} spans {spans[narrow]:.4g}, "
        f"{show(names[wide])} {spans[wide]:.4g}); {way_out}"
    )


def save(model: Any, names: Sequence[str], path: str) -> None:
    """Save a model that was fitted to arrays, with the names of its features."""
    model.feature_names_in_ = np.array(names, dtype=object)
    model.save(path)


def is_model(path: str) -> bool:
    """Return whether a file is a model."""
    return _is_ours(path) or _is_libopf(path)


def _is_ours(path: str) -> bool:
    if os.path.exists(path) and not os.path.isfile(path):
        return False  # a pipe can be read only once
    return is_model_file(path)


def _is_libopf(path: str) -> bool:
    return path.endswith(LIBOPF) and not _is_ours(path)


def load_model(path: str, distances: str | None = None) -> Loaded:
    """Read a model and the names of its features, which it forgets, so that it takes arrays."""
    if _is_libopf(path):
        if distances is None:
            return Loaded(read_model(path), None)
        names = [f"{POSITION} {position}" for position in read_positions(path).tolist()]
        return Loaded(read_model(path, metric="precomputed"), names)
    model = pathforest.load(path)
    names = vars(model).pop("feature_names_in_", None)
    return Loaded(model, None if names is None else names.tolist())


@contextmanager
def threads(jobs: int | None) -> Iterator[None]:
    """Use so many threads, all cores for None, without a change of the model's parameters."""
    with joblib.parallel_config(backend="threading", n_jobs=-1 if jobs is None else jobs):
        yield


def require(model: Any, ability: str, path: str) -> None:
    """Check that a model can do something."""
    if not hasattr(model, ability):
        raise ValueError(f"{path}: {type(model).__name__} has no {ability}")
