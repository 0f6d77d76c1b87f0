"""Models for the commands: made from options, fitted, read from files, and what they take from tables."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import pathforest
from pathforest._cli.options import did_you_mean, refuse, say
from pathforest._cli.tables import (
    Cells,
    Samples,
    choose_features,
    columns_of,
    find_label,
    ignorable,
    positions_of,
)
from pathforest._models.base import IN_UNITS, SCALES, differing_units
from pathforest._persistence.file import is_model_file
from pathforest._search import ensemble
from pathforest._search.plan import make_plan
from pathforest._tables.batches import Batch, Columns, Stream
from pathforest._tables.columns import CATEGORY, DATE, NUMBER, integer, is_gap, is_text, kind_of
from pathforest._tables.libopf import POSITION
from pathforest._utils.checks import demand
from pathforest._utils.splits import checksum
from pathforest._utils.text import counted, listed, show
from pathforest.libopf import read_distances, read_model, read_positions
from pathforest.preprocessing import TablePreprocessor

LIBOPF = ".opf"  # the ending of LibOPF's files of models; nothing in them says what they are
SHOWN = 20  # columns listed in the terminal
MIXED = "gower"  # the metric that takes text and gaps as they are
UNSCALED = {
    "precomputed": "distances cannot be standardised; leave it out",
    MIXED: f"metric={MIXED} divides by the ranges of numbers itself; leave it out",
}
# Names of columns that number the rows: id, row_id, PassengerId, index, Unnamed: 0 (from pandas).
ROW_NUMBER = re.compile(r"(?i:(.*[ _.-])?(id|index)|unnamed: \d+|row( ?(number|no))?)|.*[a-z0-9]I[dD]|")
RARE = 10  # times the samples of the smallest class, above which we advise
EXAMPLES = 3  # of unknown texts
FEWEST = 10  # ascending numbers that are not an accident


# Made from options


def parse_settings(
    texts: Sequence[str] | None, known: Iterable[str], owner: str, *, scale: bool | None = None
) -> dict[str, Any]:
    """Read parameters given as `name=value`; values are JSON, lists of it, or text."""
    chosen = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        refuse(
            name not in known,
            f"--set {text}: {owner} has no such parameter{did_you_mean(name, known, show=str)}; write "
            f"NAME=VALUE with one of {', '.join(sorted(known))}",
        )
        refuse(not equals, f"--set {text}: write {text}=VALUE")
        chosen[name] = _value(value)
    reason = UNSCALED.get(str(chosen.get("metric")))
    if chosen.get("transforms", "auto") != "auto":
        reason = "not with --set transforms; choose one of them"
    refuse(scale and reason, f"--scale: {reason}")
    return chosen


def _value(text: str) -> Any:
    if text == "None":
        return None
    for shape in ("{}", "[{}]") if "," in text else ("{}",):
        with suppress(ValueError, RecursionError):
            return json.loads(shape.replace("{}", text))
    return text


def make_estimator(
    class_name: str,
    settings: Sequence[str] | None,
    *,
    scale: bool | None = None,
    distances: str | None = None,
) -> Any:
    """Make an estimator with the parameters that are set."""
    estimator = getattr(pathforest, class_name)()
    known = estimator.get_params(deep=False)
    chosen = parse_settings(settings, known, class_name, scale=scale)
    if distances is not None:
        chosen = {"metric": "precomputed"} | chosen
        is_odd = chosen["metric"] != "precomputed" or "metric" not in known
        refuse(is_odd, f"--distances {distances}: {class_name} does not take distances with these parameters")
    return estimator.set_params(**chosen)


# Fitted


class Prepared(NamedTuple):
    """Samples of a table, and what was learned to make them."""

    X: Any  # a matrix, or the columns of a table for a search, which encodes them in its folds
    table: TablePreprocessor | None = None  # None for samples that are used as they are
    kinds: dict[str, str] | None = None  # of the columns of such a table that were asked for

    def more(self, X: Cells, names: Sequence[str]) -> np.ndarray:
        """Make samples of another table with the same columns."""
        return as_matrix(X) if self.table is None else self.table.transform(columns_of(X, names))


def prepare(
    model: Any, samples: Samples, *, scale: bool | None, by_default: bool = False, warns: bool = True
) -> Prepared:
    """Make samples of a training table: numbers stay as they are unless they are to be scaled."""
    # If nothing is said, they are scaled `by_default` where units count, unless they are LibOPF's or for a
    # search, which tries that itself. A mixed table is encoded, but a search does that itself.
    from sklearn.preprocessing import StandardScaler

    X, names, params = samples.X, samples.features, model.get_params()
    searches, columns = "transforms" in params, columns_of(X, names)
    _warn_row_numbers(columns)
    metric = params.get("metric", params.get("estimator__metric", "euclidean"))
    if metric == MIXED:
        return Prepared(as_matrix(X))
    if searches and isinstance(X, dict):
        if scale:
            model.set_params(transforms=None)  # which standardises a table
        return Prepared(X, kinds=samples.kinds)
    if scale is None and by_default and isinstance(X, np.ndarray):
        scale = not searches and metric in IN_UNITS and POSITION not in samples.stream.names
    if isinstance(X, np.ndarray) and (searches or not scale):
        if scale:
            model.set_params(transforms=[StandardScaler()])  # by the search, in each of its folds
        elif warns and params.get("transforms") is None and (said := differing_units(X, names, metric)):
            say(f"warning: {said}")
        return Prepared(X)
    with ignorable():
        table = TablePreprocessor(samples.kinds or None, scale=scale is not False).fit(columns)
    return Prepared(table.transform(columns), table)


def kinds_of(samples: Samples) -> dict[str, str]:
    """Return what columns of a mixed table are, of which a part may look like another kind; else nothing."""
    found = {}
    for name, column in samples.X.items() if isinstance(samples.X, dict) else ():
        is_date = kind_of(column) == DATE
        found[name] = NUMBER if column.dtype.kind == "f" else DATE if is_date else CATEGORY
    return found | samples.kinds


def as_matrix(X: Cells) -> np.ndarray:
    """Return a table as rows, of objects if it is mixed."""
    return X if isinstance(X, np.ndarray) else np.column_stack([c.astype(object) for c in X.values()])


def fit(estimator: Any, prepared: Prepared, y: np.ndarray | None, jobs: int | None) -> float:
    """Fit an estimator; return the seconds it took."""
    start = time.perf_counter()
    with threads(jobs):
        if prepared.kinds is None:
            estimator.fit(prepared.X, y)
        else:
            with ignorable():
                estimator._fit_table(prepared.X, y, prepared.kinds)
    return time.perf_counter() - start


@contextmanager
def threads(jobs: int | None) -> Iterator[None]:
    """Use `jobs` threads (None: all cores) without changing the model's parameters."""
    # What models warn of units has been said by `prepare`, which knows the names of features.
    backend = joblib.parallel_config(backend="threading", n_jobs=-1 if jobs is None else jobs)
    with backend, warnings.catch_warnings():
        warnings.filterwarnings("ignore", SCALES)
        yield


def save(
    model: Any,
    prepared: Prepared,
    names: Sequence[str],
    path: str,
    *,
    label: str | None = None,
    rows: str | None = None,
) -> None:
    """Save a model that was fitted to arrays, with the names of its columns and what is done to them."""
    from sklearn.pipeline import Pipeline

    if label is not None:
        model.label_name_ = label
    if rows is not None:
        model._fit_rows = rows
    if prepared.table is None:
        model.feature_names_in_ = np.array(names, dtype=object)
    else:
        model = Pipeline([("table", prepared.table), ("model", model)])
    pathforest.save(model, path)


def rows_of(samples: Samples) -> str:
    """Return a checksum of the rows with a label."""
    is_known = ~np.ma.getmaskarray(samples.y)
    columns = columns_of(samples.X, samples.features).values()
    columns = [column[is_known] for column in (*columns, samples.y.astype(str))]
    return str(checksum(columns))


def search_facts(model: Any) -> dict[str, Any]:
    """Return what a search has found, if there was one."""
    if not hasattr(model, "best_score_") or not hasattr(model, "best_params_"):
        return {}
    name = model.scoring if isinstance(model.scoring, str) else "score" if model.scoring else "accuracy"
    return {"scoring": name, "best_score": model.best_score_, "best_params": model.best_params_}


def score_text(facts: dict[str, Any]) -> str:
    """Name the score that a search has maximised."""
    return f"cross-validated {facts['scoring']} {facts['best_score']:.4f}"


def chosen_text(facts: dict[str, Any]) -> str:
    """List the parameters that a search has chosen."""
    return ", ".join(f"{name}={value}" for name, value in facts["best_params"].items())


def balanced_accuracy(search: Any, prepared: Prepared, y: np.ndarray, jobs: int | None) -> float:
    """Return the mean recall of the classes in the folds of a search."""
    with threads(jobs), threadpool_limits(1, user_api="blas"):
        plan = make_plan(clone(search), prepared.X, y, kinds=prepared.kinds)
        return ensemble.balanced_accuracy(search, plan)


def rule_lines(table: TablePreprocessor | None) -> list[str]:
    """Say what is done to columns, a line for each of the first."""
    if table is not None and (table.kinds_ == NUMBER).all() and table.scale and not table.n_gaps_.any():
        return ["  features standardised; --no-scale uses them as they are"]
    lines = [] if table is None else [f"  {line}" for line in table.describe().splitlines()]
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"  and {len(lines) - SHOWN} more columns"]


def rule_facts(table: TablePreprocessor | None) -> list[dict[str, str]] | None:
    """Return what is done to columns, for programs."""
    return None if table is None else table.column_rules()


# Warnings about tables that are probably not what the user means


def _warn_row_numbers(columns: Columns) -> None:
    """Warn of features that look like numbers of rows: they are uninformative for new samples."""
    found = [name for name, column in columns.items() if _numbers_rows(name, column)]
    if found:
        several = len(found) > 1
        quoted = ['"' + name.replace('"', '""') + '"' if {*name} & {*',"'} else name for name in found]
        say(
            f"warning: {', '.join(map(show, found))} look{'s' * (not several)} like "
            f"{'numbers' if several else 'the number'} of the row, which is uninformative for new samples; "
            f"leave {'them' if several else 'it'} out with --ignore {shlex.quote(','.join(quoted))}"
        )


def _numbers_rows(name: str, column: np.ndarray) -> bool:
    if column.dtype.kind not in "iuf" or len(np.unique(column)) < len(column):
        return False
    is_counted = (column == np.floor(column)).all() and (np.diff(column) > 0).all()
    return ROW_NUMBER.fullmatch(name) is not None or (len(column) >= FEWEST and bool(is_counted))


def warn_of_classes(y: np.ndarray, label: str | None, model: Any = None) -> float | None:
    """Warn if all labels are the same, or if one is rare for a model; return the share of the commonest."""
    classes, counts = (found.tolist() for found in np.unique(np.ma.compressed(y), return_counts=True))
    if not classes:
        return None
    for text in classes:
        if is_gap(text):
            say(f"warning: the label {show(text)} counts as a class; empty these cells if they are unknown")
    if len(classes) == 1:
        say(
            f"warning: the label{'' if label is None else ' ' + show(label)} has one class, "
            f"{show(classes[0])}, so every prediction will be this class; is --label right?"
        )
    few, many = min(counts), max(counts)
    if model is not None and many > RARE * few and getattr(model, "class_weight", None) is None:
        rare, common = (show(classes[counts.index(count)]) for count in (few, many))
        way = "--balance" if hasattr(model, "class_weight") else "--balance, with --estimator fuzzy-cv,"
        say(f"advice: {common} has {many} samples and {rare} only {few}; {way} gives rare ones more weight")
    return many / sum(counts)


# Read from files


class Loaded(NamedTuple):
    """A model, and what it needs to know of tables."""

    model: Any
    names: list[str] | None  # of its features, if it knows them
    n_features: int  # columns that it takes
    label: str | None  # the column of the labels in the training table
    kinds: dict[str, str] | None  # what columns are treated as; None if they have to be numbers
    before: Any = None  # a pipeline of transformers, or None for a table of numbers
    table: TablePreprocessor | None = None  # the first of them, or that of a search, if it is one of tables


def is_model(path: str) -> bool:
    """Return whether a file is a model."""
    return _is_ours(path) or path.endswith(LIBOPF)


def _is_ours(path: str) -> bool:
    return os.path.isfile(path) and is_model_file(path)  # a pipe can be read only once


def load_model(path: str, distances: str | None = None, *, needs: str | None = None) -> Loaded:
    """Read a model, with a method if it needs one; it forgets its names, so that it takes arrays."""
    names = before = table = kinds = None
    if path.endswith(LIBOPF) and not _is_ours(path):
        model = read_model(path, metric="log_sqeuclidean" if distances is None else "precomputed")
        if distances is not None:
            names = [f"{POSITION} {position}" for position in read_positions(path).tolist()]
    else:
        model = pathforest.load(path)
        names = getattr(model, "feature_names_in_", None)
        names = None if names is None else names.tolist()
        steps = [step for _, step in getattr(model, "steps", [(None, model)])]
        if len(steps) > 1:
            model, before = model[-1], model[:-1]
        if isinstance(steps[0], TablePreprocessor):
            table = steps[0]
        elif hasattr(model, "table_"):
            table = model.table_
        else:
            for step in steps:
                if hasattr(step, "feature_names_in_"):
                    del step.feature_names_in_
    if table is not None:
        kinds = dict(zip(names or (), table.kinds_.tolist(), strict=names is not None))
    categories = getattr(model, "categories_", None)
    if kinds is None and categories is not None:
        columns = zip(names or (), categories, strict=names is not None)
        kinds = {name: CATEGORY for name, known in columns if is_text(known)}
    demand(needs is None or hasattr(model, needs), f"{path}: {type(model).__name__} has no {needs}")
    label = getattr(model, "label_name_", None)
    return Loaded(model, names, (before or model).n_features_in_, label, kinds, before, table)


# New samples for a model


def new_samples(
    loaded: Loaded, stream: Stream, label: str | None, distances: str | None
) -> Iterator[tuple[Batch, Columns, np.ndarray]]:
    """Yield batches, their columns that are features (by name, if the model knows names), and samples."""
    if distances is not None:
        columns = _training_positions(loaded.names, distances)
        D = read_distances(distances)
        demand(
            columns.max() < len(D),
            f"position {columns.max()} of a training sample is not in {distances}, which has {len(D)}",
        )
        for batch in stream.batches:
            yield batch, {}, D[np.ix_(positions_of(batch, D, distances), columns)]
        return
    names = _features(stream, loaded, label)
    present = [name for name in names if name in stream.names]
    unseen: dict[str, Counter[str]] = defaultdict(Counter)
    try:
        for batch in stream.batches:
            if loaded.kinds is None:
                X = batch.samples(names)
                columns = columns_of(X, names)
            else:
                nothing = np.full(len(batch.places), None)  # of a column that the model leaves out
                found = batch.table(present, loaded.kinds)
                columns = {name: found.get(name, nothing) for name in names}
                X = as_matrix(columns) if loaded.table is None or loaded.names is None else columns
                _count_unseen(loaded, columns, unseen)
            yield batch, columns, X if loaded.before is None else loaded.before.transform(X)
    finally:  # also if only the first batches were needed
        for name, texts in unseen.items():
            has_other = loaded.table is not None and loaded.table.has_other_[names.index(name)]
            treated = "count as other rare texts do" if has_other else "are equally far from all known texts"
            examples = listed([text for text, _ in texts.most_common()], EXAMPLES)
            rows = counted(texts.total(), "row")
            say(f"column {show(name)}: {examples}, in {rows}, {treated}; training had no such text")


def _count_unseen(loaded: Loaded, columns: Columns, unseen: dict[str, Counter[str]]) -> None:
    """Count the texts of categories that the training samples do not have."""
    table = loaded.table
    for j, (name, column) in enumerate(columns.items()):
        if loaded.kinds.get(name) == CATEGORY:
            known = loaded.model.categories_[j] if table is None else table._texts_seen[j]
            texts = column.tolist() if table is None else table._texts(column, j)
            known = {"None", *known.tolist()}
            if new := [text for text in map(str, texts) if text not in known]:
                unseen[name].update(new)


def _training_positions(names: Sequence[str] | None, path: str) -> np.ndarray:
    with suppress(ValueError):
        if names:
            return np.array([integer(name.removeprefix(f"{POSITION} ")) for name in names])
    raise ValueError(f"--distances {path}: the model was not trained with distances; leave the option out")


def _features(stream: Stream, loaded: Loaded, label: str | None) -> list[str]:
    if loaded.names is None:
        chosen = choose_features(stream, find_label(stream, label, needed=False, known=loaded.label))
        demand(
            len(chosen) == loaded.n_features,
            f"{stream.name}: there are {len(chosen)} columns besides labels, and the model, which knows "
            f"no names, needs {loaded.n_features}",
        )
        return chosen
    names, kinds = loaded.names, loaded.kinds or {}
    missing = [name for name in names if name not in stream.names and kinds.get(name) != "drop"]
    if missing and missing[0].removeprefix(f"{POSITION} ").isdecimal():
        raise ValueError("the model was trained with distances; pass them with --distances")
    if missing:
        raise ValueError(
            f"{stream.name}: there is no column {listed(missing)}, which the model needs; "
            f"the file has {listed(stream.names)}"
        )
    return names
