"""Models for the commands: made from options, fitted, read from files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, NamedTuple

import joblib
import numpy as np

import pathforest
from pathforest._cli.advice import warn_row_numbers
from pathforest._cli.errors import UsageError, did_you_mean, ignorable, say
from pathforest._persistence.model_file import is_model_file
from pathforest._search.presets import choose_preset
from pathforest._tables import POSITION
from pathforest._utils.columns import CATEGORY, NUMBER
from pathforest._utils.tables import is_text
from pathforest._utils.text import show
from pathforest.libopf import read_model, read_positions
from pathforest.preprocessing import TablePreprocessor

LIBOPF = ".opf"  # the ending of LibOPF's files of models; nothing in them says what they are
SHOWN = 20  # columns listed in the terminal
MIXED = "gower"  # the metric that takes text and gaps as they are
FACTOR = 30  # between the widest and the narrowest feature, from which on we warn


class Loaded(NamedTuple):
    """A model, what is done to columns before it, and the names of its features if it knows them."""

    model: Any
    names: list[str] | None
    preprocessor: Any = None  # a pipeline of transformers, or None for a table of numbers

    @property
    def label(self) -> str | None:
        """Return the column of the labels in the training table."""
        return getattr(self.model, "label_name_", None)

    @property
    def n_features(self) -> int:
        """Return the number of columns that the model takes."""
        return (self.model if self.preprocessor is None else self.preprocessor).n_features_in_

    @property
    def sample_names(self) -> list[str] | None:
        """Return the names of the features that the model itself compares."""
        if self.preprocessor is None or not hasattr(self.preprocessor, "get_feature_names_out"):
            return self.names if self.preprocessor is None else None
        return self.preprocessor.get_feature_names_out().tolist()

    @property
    def table(self) -> TablePreprocessor | None:
        """Return the transformer for tables, if the model starts with one."""
        first = None if self.preprocessor is None else self.preprocessor[0]
        return first if isinstance(first, TablePreprocessor) else None

    @property
    def kinds(self) -> dict[str, str]:
        """Return what columns are treated as, if that was learned."""
        if self.names is None:
            return {}
        if self.takes_text:
            learned = zip(self.names, self.model.categories_, strict=True)
            return {name: "category" for name, known in learned if is_text(known)}
        if self.table is None:
            return {}
        return dict(zip(self.names, self.table.kinds_.tolist(), strict=True))

    @property
    def takes_text(self) -> bool:
        """Return whether the model compares text and gaps itself."""
        return self.preprocessor is None and getattr(self.model, "categories_", None) is not None

    def prepare(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Make samples of columns, as other transformers of a pipeline take them."""
        if self.takes_text:
            return as_matrix(columns)
        if self.table is not None and self.names is not None:
            return self.preprocessor.transform(columns)
        if self.names is not None and find_spec("pandas") is not None:
            import pandas

            return self.preprocessor.transform(pandas.DataFrame(columns))
        return self.preprocessor.transform(np.column_stack(list(columns.values())))


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


def fit(estimator: Any, prepared: Prepared, y: np.ndarray | None, jobs: int | None) -> float:
    """Fit an estimator; return the seconds it took."""
    start = time.perf_counter()
    with threads(jobs):
        if prepared.columns is None:
            estimator.fit(prepared.X, y)
        else:
            estimator._fit_behind(prepared.columns, y, prepared.table)
    return time.perf_counter() - start


def check_scale(model: Any) -> None:
    """Check that the samples of a model can be standardised."""
    params = model.get_params(deep=False)
    if params.get("transforms", "auto") != "auto":
        raise UsageError("--scale: not with --set transforms; choose one of them")
    if params.get("metric") == "precomputed":
        raise UsageError("--scale: distances cannot be standardised; leave it out")


class Prepared(NamedTuple):
    """Samples of a table, and what was learned to make them."""

    X: np.ndarray
    table: TablePreprocessor | None  # None for numbers that are used as they are
    columns: dict[str, np.ndarray] | None = None  # of the table, for a search, which learns in each fold

    def more(self, X: np.ndarray | dict[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
        """Make samples of another table with the same columns."""
        return as_matrix(X) if self.table is None else self.table.transform(_columns(X, names))


def prepare(
    model: Any,
    X: np.ndarray | dict[str, np.ndarray],
    names: Sequence[str],
    *,
    scale: bool,
    kinds: Mapping[str, str] | None = None,
) -> Prepared:
    """Make samples of a training table: numbers stay as they are unless they are to be scaled.

    A mixed table is encoded, for a search inside its folds; numbers are then standardised unless the search
    tries representations that do so.
    """
    from sklearn.preprocessing import StandardScaler

    warn_row_numbers(X, names)
    if model.get_params(deep=False).get("metric") == MIXED:
        if scale:
            raise UsageError(f"--scale: metric={MIXED} divides by the ranges of numbers itself; leave it out")
        return Prepared(as_matrix(X), None)
    if isinstance(X, np.ndarray):
        if scale and "transforms" in model.get_params(deep=False):
            model.set_params(transforms=[StandardScaler()])  # by a search, in each of its folds
            scale = False
        if not scale:
            warn_scales(model, X, names)
            return Prepared(X, None)
    asked = {name: kind for name, kind in (kinds or {}).items() if name in names}
    try:
        table = TablePreprocessor(asked or None).fit(columns := _columns(X, names))
    except ValueError as error:
        raise ValueError(ignorable(error)) from None
    samples = table.transform(columns)
    if "transforms" not in model.get_params(deep=False):
        return Prepared(samples, table)
    # A part of the rows may look like another kind of column, such as dates beside one other text.
    kinds = {name: NUMBER if c.dtype.kind in "iuf" else CATEGORY for name, c in columns.items()} | asked
    table.set_params(kinds=kinds, scale=scale or not _represents(model, samples))
    return Prepared(samples, table, columns)


def _represents(model: Any, X: np.ndarray) -> bool:
    """Say whether a search tries more than the samples as given."""
    params = model.get_params(deep=False)
    if params["transforms"] != "auto":
        return params["transforms"] is not None
    return choose_preset(*X.shape, params["metric"], own_membership=False)[0] is not None


def as_matrix(X: np.ndarray | dict[str, np.ndarray]) -> np.ndarray:
    """Return a table as rows, of objects if it is mixed."""
    return X if isinstance(X, np.ndarray) else np.column_stack([c.astype(object) for c in X.values()])


def _columns(X: np.ndarray | dict[str, np.ndarray], names: Sequence[str]) -> dict[str, np.ndarray]:
    return dict(zip(names, X.T, strict=True)) if isinstance(X, np.ndarray) else X


def warn_scales(model: Any, X: np.ndarray, names: Sequence[str]) -> None:
    """Warn if one feature is likely to outweigh the others in a model."""
    params = model.get_params(deep=False)
    if params.get("metric") != "precomputed" and params.get("transforms") is None:
        warn_spans(X, names, "--scale evens them out")


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


def save(
    model: Any, names: Sequence[str], path: str, *, label: str | None, table: TablePreprocessor | None
) -> None:
    """Save a model that was fitted to arrays, with the names of its columns and what is done to them."""
    from sklearn.pipeline import Pipeline

    if label is not None:
        model.label_name_ = label
    if table is None:
        model.feature_names_in_ = np.array(names, dtype=object)
    pathforest.save(model if table is None else Pipeline([("table", table), ("model", model)]), path)


def rule_lines(table: TablePreprocessor | None) -> list[str]:
    """Say what is done to columns, a line for each of the first."""
    lines = [] if table is None else [f"  {line}" for line in table.describe().splitlines()]
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"  and {len(lines) - SHOWN} more columns"]


def rule_facts(table: TablePreprocessor | None) -> list[dict[str, str]] | None:
    """Return what is done to columns, for programs."""
    return None if table is None else [rule._asdict() for rule in table.column_rules()]


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
    if hasattr(model, "steps"):  # a pipeline
        names = getattr(model, "feature_names_in_", None)
        return Loaded(model[-1], None if names is None else names.tolist(), model[:-1])
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
