"""Input of the commands: columns by name or position, whole tables, and new samples for a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np

from pathforest._cli.errors import did_you_mean, ignorable
from pathforest._cli.models import Loaded
from pathforest._tables import (
    POSITION,
    Batch,
    Column,
    Stream,
    as_label,
    as_labels,
    gather,
    integer,
    listed,
    open_stream,
)
from pathforest._utils.text import show
from pathforest.libopf import read_distances

# Columns


def find_column(stream: Stream, wanted: str, way_out: str = "") -> str:
    """Return the name of a column, given by name or position."""
    if wanted in stream.names:
        return wanted
    shown = show(wanted)
    with suppress(ValueError, IndexError):
        shown = str(integer(wanted))
        return stream.names[integer(wanted)]
    meant = did_you_mean(wanted, stream.names)
    raise ValueError(
        f"{stream.name}: there is no column {shown}{meant}, only {listed(stream.names)}{way_out}"
    )


def find_label(
    stream: Stream, label: str | None, *, needed: bool = True, known: str | None = None
) -> str | None:
    """Return the name of the label column, given by name or position.

    If none is given, it is the one that the format has, the one that a model was trained with (`known`), or
    one called `label`; None if it is not needed and does not exist.
    """
    way_out = "name the column of labels with --label"
    if label is None:
        if stream.label is not None:
            return stream.label
        if known in stream.names:
            return known
        if not needed and ("label" not in stream.names or "label" in stream.beside):
            return None
        label = "label"
        if known is not None and label not in stream.names:
            return find_column(stream, known, f", and the model was trained with this label; {way_out}")
    if label in stream.beside:
        raise ValueError(f"{stream.name}: the file has no labels")
    return find_column(stream, label, f"; {way_out}")


def choose_features(
    stream: Stream,
    label: str | None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> list[str]:
    """Return the names of the feature columns."""
    wanted = stream.names if features is None else [find_column(stream, name) for name in features]
    left_out = {label, *stream.beside, *(find_column(stream, name) for name in ignore or ())}
    chosen = [name for name in dict.fromkeys(wanted) if name not in left_out]
    if not chosen:
        raise ValueError(f"{stream.name}: no column is left for features, of {listed(stream.names)}")
    return chosen


# Whole tables

Cells = np.ndarray | dict[str, np.ndarray]  # a matrix of numbers, or columns of a mixed table


class Samples(NamedTuple):
    """A whole table."""

    X: Cells
    y: np.ndarray | None
    features: list[str]
    label: str | None
    stream: Stream  # the columns' names
    rows: Batch  # and all their cells
    kinds: dict[str, str]  # of the columns that were asked for, by name


def read_samples(
    path: str,
    *,
    ending: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    labels: Literal["needed", "kept", "left out"] = "needed",
    empty_labels: bool = False,
    distances: str | None = None,
    encode: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    sep: str | None = None,
    decimal: str | None = None,
) -> Samples:
    """Read a whole file.

    Parameters
    ----------
    path, ending, sep, decimal : str
        The file and its format.
    label : str, default=None
        Name or position of the label column.
    features, ignore : sequence of str, default=None
        Columns to use, or to leave out; by default all but the label.
    labels : {"needed", "kept", "left out"}, default="needed"
        Whether there must be labels; or they are read if there are any; or they are only not a feature.
    empty_labels : bool, default=False
        Whether cells of the label column may be empty; if so, `y` is a masked array.
    distances : str, default=None
        A LibOPF file of distances, to be used instead of features.
    encode : bool, default=None
        Whether text and empty cells are read too: `X` is then a dict of columns, unless all are numbers. None
        if there is no such choice.
    kinds : mapping, default=None
        Columns to be read as numbers or categories, or to be left out, whatever they hold.
    """
    with open_stream(path, ending=ending, sep=sep, decimal=decimal) as stream:
        column = find_label(stream, label, needed=labels == "needed")
        kinds = {find_column(stream, name): kind for name, kind in (kinds or {}).items()}
        ignore = [*(ignore or ()), *(name for name, kind in kinds.items() if kind == "drop")]
        chosen = [] if distances else choose_features(stream, column, features, ignore)
        rows = gather(stream)
    if distances:
        D = read_distances(distances)
        positions = _positions_of(stream, rows, D, distances)
        X, chosen = D[np.ix_(positions, positions)], [f"{POSITION} {p}" for p in positions.tolist()]
    else:
        X = _read_features(stream, rows, chosen, encode, kinds)
    y = None
    if column is not None and labels != "left out":
        y = _labels(stream, rows, column, empty_labels)
    return Samples(X, y, chosen, column, stream, rows, {n: k for n, k in kinds.items() if n in chosen})


def kinds_of(X: Cells) -> dict[str, str]:
    """Return what the columns of a mixed table were read as; nothing for a matrix of numbers."""
    columns = {} if isinstance(X, np.ndarray) else X
    return {name: "category" if column.dtype == object else "number" for name, column in columns.items()}


def join_features(X: Cells, more: Cells) -> Cells:
    """Put two tables that were read the same way one below the other."""
    if isinstance(X, np.ndarray):
        return np.concatenate([X, more])
    return {name: np.concatenate([X[name], more[name]]) for name in X}


def _read_features(
    stream: Stream, rows: Batch, names: Sequence[str], encode: bool | None, kinds: Mapping[str, str]
) -> Cells:
    """Read columns as numbers, or with `encode` as what they are."""
    try:
        if not any(name in kinds for name in names):
            return stream.samples(rows, names)
    except ValueError as error:
        if not encode:
            choice = "" if encode is None else ", or encode it: omit --no-encode"
            raise ValueError(f"{ignorable(error)}{choice}") from None
    try:
        return stream.table(rows, names, kinds)
    except ValueError as error:
        raise ValueError(ignorable(error)) from None


def numbers_of(X: Cells, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns that are numbers by name; gaps are NaN."""
    columns = dict(zip(names, np.ascontiguousarray(X.T), strict=True)) if isinstance(X, np.ndarray) else X
    return {name: column for name, column in columns.items() if column.dtype.kind == "f"}


def _labels(stream: Stream, rows: Batch, column: str, empty_labels: bool) -> np.ndarray:
    if not empty_labels:
        return as_labels(stream.labels(rows, column))
    known, found = known_labels(rows.columns[stream.names.index(column)])
    if known.all():
        found = stream.labels(rows, column)
    found = as_labels(found)
    y = np.ma.masked_all(len(known), found.dtype)
    y[known] = found
    return y


def known_labels(column: Column) -> tuple[np.ndarray, list[str] | np.ndarray]:
    """Return which cells are not empty, and their labels, which `as_labels` makes integers if all are."""
    known = np.array([bool(cell.strip()) for cell in column.text()], dtype=bool)
    cells = column.take(np.flatnonzero(known))
    try:
        return known, cells.labels()
    except ValueError:  # such as the floats that pandas makes of integers if some are missing
        return known, cells.text()


def label_codes(classes: np.ndarray, stream: Stream, batch: Batch, name: str) -> np.ndarray:
    """Return the positions of labels among a model's classes; an unknown label is an error."""
    codes = {str(label): code for code, label in enumerate(classes.tolist())}
    of_integers = classes.dtype.kind in "iu"
    texts = [as_label(str(label), of_integers=of_integers) for label in stream.labels(batch, name)]
    unknown = next((i for i, text in enumerate(texts) if text not in codes), None)
    if unknown is not None:
        raise ValueError(
            f"{stream.name}: {stream.place} {batch.places[unknown]}, column {show(name)}: "
            f"{show(texts[unknown])} is not a class of the model; it knows {listed(codes)}"
        )
    return np.array([codes[text] for text in texts], dtype=np.intp)


# New samples for a model


class Queries(NamedTuple):
    """How batches become samples."""

    features: list[str]  # columns that are taken as they are
    read: Callable[[Batch], Cells]
    prepare: Callable[[Cells], np.ndarray]  # what the model learned to do with the columns
    batches: Iterator[Batch]  # no larger than samples of this width allow

    def samples(self, batch: Batch) -> np.ndarray:
        """Return the samples of a batch."""
        return self.prepare(self.read(batch))


def queries_for(loaded: Loaded, stream: Stream, label: str | None, distances: str | None) -> Queries:
    """Find what a model needs in a file, by name; by number only if it knows no names."""
    if distances is not None:
        columns = _training_positions(loaded.names, distances)
        D = read_distances(distances)
        if columns.max() >= len(D):
            raise ValueError(
                f"position {columns.max()} of a training sample is not in {distances}, which has {len(D)}"
            )

        def samples(batch: Batch) -> np.ndarray:
            return D[np.ix_(_positions_of(stream, batch, D, distances), columns)]

        return Queries([], samples, lambda X: X, stream.narrow(len(columns)))
    features = _features(stream, loaded, label)
    if loaded.preprocessor is None and not loaded.takes_text:
        return Queries(features, lambda batch: stream.samples(batch, features), lambda X: X, stream.batches)
    kinds, absent = loaded.kinds, [name for name in features if name not in stream.names]

    def cells(batch: Batch) -> dict[str, np.ndarray]:
        nothing = dict.fromkeys(absent, np.full(len(batch.places), None))
        present = stream.table(batch, [name for name in features if name not in absent], kinds)
        return {name: (nothing | present)[name] for name in features}

    return Queries(features, cells, loaded.prepare, stream.batches)


def _positions_of(stream: Stream, batch: Batch, D: np.ndarray, path: str) -> np.ndarray:
    """Return the rows of samples in a matrix of distances."""
    if POSITION not in stream.names:
        raise ValueError(
            f"{stream.name}: there is no column {POSITION!r}, which says where samples are in {path}"
        )
    positions = np.asarray(stream.labels(batch, POSITION))
    if positions.dtype.kind == "U":
        positions = np.array([integer(cell) for cell in positions.tolist()])
    wrong = np.flatnonzero((positions < 0) | (positions >= len(D)))
    if len(wrong):
        raise ValueError(
            f"{stream.name}: {stream.place} {batch.places[wrong[0]]}: position {positions[wrong[0]]} "
            f"is not in {path}, which has {len(D)} samples"
        )
    return positions


def _training_positions(names: Sequence[str] | None, path: str) -> np.ndarray:
    try:
        found = [integer(name.removeprefix(f"{POSITION} ")) for name in names or ()]
    except ValueError:
        found = []
    if not found:
        raise ValueError(
            f"--distances {path}: the model was not trained with distances; leave the option out"
        )
    return np.array(found)


def _features(stream: Stream, loaded: Loaded, label: str | None) -> list[str]:
    names, n_features = loaded.names, loaded.n_features
    if names is not None:
        needed = [name for name in names if loaded.kinds.get(name) != "drop"]
        missing = [name for name in needed if name not in stream.names]
        if missing and missing[0].removeprefix(f"{POSITION} ").isdecimal():
            raise ValueError("the model was trained with distances; pass them with --distances")
        if missing:
            raise ValueError(
                f"{stream.name}: there is no column {show(missing[0])}, one of {len(missing)} that the model "
                f"needs and the file lacks; it has {listed(stream.names)}"
            )
        return list(names)
    chosen = choose_features(stream, find_label(stream, label, needed=False, known=loaded.label))
    if len(chosen) != n_features:
        raise ValueError(
            f"{stream.name}: there are {len(chosen)} columns besides labels, and the model, which knows "
            f"no names, needs {n_features}"
        )
    return chosen
