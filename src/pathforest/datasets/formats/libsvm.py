"""LIBSVM's text, also called svmlight's: `label index:value ...`, one sample per line.

scikit-learn has a reader and a writer too. Its writer rounds to 16 digits, and its reader does not say which
line is wrong; the tests hold ours against it.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np

from pathforest.datasets.formats.stream import ArrayColumn, Batch, Stream, array_columns, rows_per_batch
from pathforest.datasets.formats.table import (
    Table,
    check_nameless,
    default_names,
    integer,
    number,
    text_lines,
    text_rows,
)

# A slip in an index can ask for any number of columns. Tables this small are always made; larger ones need
# one value in the file for so many cells.
SMALL = 10**6
SPARSEST = 1000
LARGEST_INDEX = 2**31 - 1
EXACT = 2**53  # integers up to here survive readers that take labels for floats


class Sample(NamedTuple):
    """One line."""

    line: int
    label: int
    indices: array[int]  # ascending
    values: array[float]


class Layout(NamedTuple):
    """What a file shows as a whole only."""

    first: int  # the index of the first feature, 0 or 1
    n_features: int


def decode(data: bytes, label: object = None) -> Table:
    """Read a dense table. Indices count from 1, or from 0 if one of them is 0; what is not given is 0."""
    file = io.BytesIO(data)
    layout = _find_layout(file)
    file.seek(0)
    y, X = _dense(list(_samples(file)), layout)
    return Table(X, y, default_names(layout.n_features))


def stream(file: BinaryIO, n_features: int | None = None) -> Stream:
    """Read a table in batches, after a pass that finds its width.

    A file says nothing of features that are zero in all its samples; `n_features` says how many there are.
    """
    layout = _find_layout(file)
    n_columns = max(layout.n_features, n_features or 0)
    layout = layout._replace(n_features=n_columns)
    file.seek(0)
    samples = _samples(file)

    def batches() -> Iterator[Batch]:
        while chunk := list(islice(samples, rows_per_batch(n_columns))):
            y, X = _dense(chunk, layout)
            yield Batch([sample.line for sample in chunk], [ArrayColumn(y), *array_columns(X)])

    return Stream(["label", *default_names(n_columns)], "label", (), "line", batches())


def encode(table: Table, label: object = None) -> bytes:
    """Write every value, zeros too: what is left out would come back without its sign or its column."""
    check_nameless(table, "LIBSVM")
    if table.y is None:
        raise ValueError("LIBSVM files need labels; pass y, for instance zeros")
    if table.y.dtype.kind != "i":
        raise ValueError(f"label {str(table.y[0])!r} is a string; LIBSVM files hold integers")
    for extreme in (table.y.min(), table.y.max()):
        if abs(int(extreme)) > EXACT:
            raise ValueError(f"label {extreme} is beyond 2^53, where readers round; use smaller labels")
    lines = (
        " ".join([str(y), *(f"{j}:{cell}" for j, cell in enumerate(row, 1))])
        for y, row in zip(table.y.tolist(), text_rows(table.X), strict=True)
    )
    return ("\n".join(lines) + "\n").encode()


def _label(text: str) -> int:
    try:
        value = number(text)
    except ValueError:
        raise ValueError(f"the label {text[:30]!r} is no number") from None
    if not (value.is_integer() and abs(value) <= EXACT):
        raise ValueError(f"the label {text[:30]!r} is no class; labels are integers up to 2^53")
    return int(value)


def _pair(cell: str, previous: int) -> tuple[int, float]:
    first, _, second = cell.partition(":")
    try:
        index, value = integer(first), number(second)
    except ValueError:
        raise ValueError(f"{cell[:30]!r} is no index:value pair") from None
    if not previous < index <= LARGEST_INDEX:
        raise ValueError(f"the index {index} after {previous} is out of order; indices increase, from 0 or 1")
    return index, value


def _samples(file: BinaryIO) -> Iterator[Sample]:
    for line, text in enumerate(text_lines(file), 1):
        cells = text.partition("#")[0].split()
        if not cells:
            continue
        try:
            label, indices, values, previous = _label(cells[0]), array("q"), array("d"), -1
            for cell in cells[1:]:
                if cell.startswith("qid:"):
                    continue
                previous, value = _pair(cell, previous)
                indices.append(previous)
                values.append(value)
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None
        yield Sample(line, label, indices, values)


def _find_layout(file: BinaryIO) -> Layout:
    """Pass over a file once; refuse tables whose cells are nearly all missing."""
    n_samples, n_values, smallest, largest = 0, 0, LARGEST_INDEX, -1
    for sample in _samples(file):
        n_samples += 1
        n_values += len(sample.values)
        if sample.indices:
            smallest, largest = min(smallest, sample.indices[0]), max(largest, sample.indices[-1])
    if not n_values:
        raise ValueError("there is no sample with an index:value pair")
    first = min(smallest, 1)
    n_features = largest - first + 1
    if n_samples * n_features > max(SMALL, SPARSEST * n_values):
        raise ValueError(
            f"{n_values} values, spread over {n_samples} x {n_features} cells by their indices, are "
            "too sparse for this library, which works on dense rows"
        )
    return Layout(first, n_features)


def _dense(samples: list[Sample], layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    X = np.zeros((len(samples), layout.n_features))
    for row, sample in zip(X, samples, strict=True):
        row[np.asarray(sample.indices) - layout.first] = sample.values
    return np.array([sample.label for sample in samples], dtype=np.int64), X
