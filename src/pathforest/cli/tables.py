"""Tables of samples for the commands: features as a matrix, labels beside them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np

from pathforest.cli.columns import choose_features, find_label, known_label
from pathforest.cli.distances import distances_to, name_positions, positions_of
from pathforest.datasets.formats.batched import open_stream
from pathforest.datasets.formats.sinks import has_types
from pathforest.datasets.formats.stream import (
    Batch,
    Column,
    Stream,
    TextColumn,
    array_columns,
    gather,
    labels_of,
    samples_of,
)
from pathforest.datasets.formats.table import integer, labels_of_text, show
from pathforest.libopf import read_distances


class Samples(NamedTuple):
    """A whole table."""

    X: np.ndarray
    y: np.ndarray | None
    features: list[str]
    label: str | None
    stream: Stream  # the columns' names
    rows: Batch  # and all their cells


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
) -> Samples:
    """Read a whole file.

    Parameters
    ----------
    path, ending : str
        The file and its format.
    label : str, default=None
        Name or position of the label column.
    features, ignore : sequence of str, default=None
        Columns to use, or to leave out; by default all but the label.
    labels : {"needed", "kept", "left out"}, default="needed"
        Whether there must be labels; or they are read where there are any; or are no feature, and no more.
    empty_labels : bool, default=False
        Whether cells of the label column may be empty.
    distances : str, default=None
        A LibOPF file of distances, to be used instead of features.
    """
    with open_stream(path, ending=ending) as stream:
        is_named = label is not None or labels == "needed"
        column = find_label(stream, label) if is_named else known_label(stream)
        chosen = [] if distances else choose_features(stream, column, features, ignore)
        rows = gather(stream)
    if distances:
        X, chosen = _distances(stream, rows, distances)
    else:
        X = _features(stream, rows, chosen)
    if column is None or labels == "left out":
        return Samples(X, None, chosen, column, stream, rows)
    y = as_labels(_labels(stream, rows, column, empty_labels))
    return Samples(X, y, chosen, column, stream, rows)


def _features(stream: Stream, rows: Batch, names: Sequence[str]) -> np.ndarray:
    try:
        return samples_of(stream, rows, names)
    except ValueError as error:
        raise ValueError(f"{error} (--ignore leaves a column out)") from None


def _distances(stream: Stream, rows: Batch, path: str) -> tuple[np.ndarray, list[str]]:
    D = read_distances(path)
    positions = positions_of(stream, rows, D, path)
    return distances_to(D, positions, positions), name_positions(positions)


def shown_columns(
    stream: Stream, batch: Batch, features: Sequence[str], X: np.ndarray, out: str | None, ending: str | None
) -> list[Column]:
    """Return the columns of the input as the output shows them: as they came, in CSV character by character.

    Where the output tells numbers from text, features that came as text are written as numbers.
    """
    if not has_types(out, ending):
        return batch.columns
    numbers = dict(zip(features, array_columns(X), strict=True)) if features else {}
    return [
        numbers.get(name, column) if isinstance(column, TextColumn) else column
        for name, column in zip(stream.names, batch.columns, strict=True)
    ]


def as_labels(labels: Any) -> np.ndarray:
    """Turn the cells of a whole label column into labels: integers if all of them are."""
    return labels_of_text(labels) if isinstance(labels, list) else labels


def label_codes(classes: np.ndarray, stream: Stream, batch: Batch, name: str) -> np.ndarray:
    """Return the positions of labels among a model's classes; a label that is none of them is an error."""
    codes = {str(label): code for code, label in enumerate(classes.tolist())}
    labels = labels_of(stream, batch, name)
    texts = [
        _canonical(label, classes) for label in (labels if isinstance(labels, list) else labels.tolist())
    ]
    unknown = next((i for i, text in enumerate(texts) if text not in codes), None)
    if unknown is not None:
        raise ValueError(
            f"{stream.name}: {stream.place} {batch.places[unknown]}, column {name!r}: {texts[unknown]!r} "
            f"is no class of the model; it knows {show(map(str, classes.tolist()))}"
        )
    return np.array([codes[text] for text in texts], dtype=np.intp)


def _canonical(label: Any, classes: np.ndarray) -> str:
    if classes.dtype.kind in "iu":
        with suppress(ValueError):
            return str(integer(str(label).strip()))
    return str(label)


def _labels(stream: Stream, rows: Batch, column: str, empty_labels: bool) -> Any:
    if empty_labels:
        cells = rows.columns[stream.names.index(column)].text()
        if not all(cell.strip() for cell in cells):
            return ["" if not cell.strip() else cell for cell in cells]
    return labels_of(stream, rows, column)
