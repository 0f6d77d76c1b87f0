"""LIBSVM's text, also called svmlight's: `label index:value ...`, one sample per line.

scikit-learn has a reader and a writer too. Its writer rounds to 16 digits. Its reader does not say which line
is wrong, and takes `1_0` for 10 and 0.5 for a class; the tests compare ours with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np

from pathforest._tables.stream import (
    ArrayColumn,
    Batch,
    Column,
    Layout,
    Stream,
    Write,
    array_columns,
    rows_per_batch,
)
from pathforest._tables.table import check_nameless, default_names
from pathforest._tables.text import integer, number, text_lines
from pathforest._utils.text import show

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


def stream(file: BinaryIO, n_features: int | None = None) -> Stream:
    """Read a dense table in batches, after a pass that finds its width.

    Indices count from 1, or from 0 if one of them is 0; values that are not given are 0. A file does not say
    how many features are zero in all its samples; `n_features` says how many there are in all.
    """
    start, n_found = _find_layout(file)
    n_columns = max(n_found, n_features or 0)
    file.seek(0)
    samples = _samples(file)

    def batches() -> Iterator[Batch]:
        while chunk := list(islice(samples, rows_per_batch(n_columns))):
            X = np.zeros((len(chunk), n_columns))
            for row, sample in zip(X, chunk, strict=True):
                row[np.asarray(sample.indices) - start] = sample.values
            y = np.array([sample.label for sample in chunk], dtype=np.int64)
            yield Batch([sample.line for sample in chunk], [ArrayColumn(y), *array_columns(X)])

    return Stream(["label", *default_names(n_columns)], "label", place="line", batches=batches())


def _find_layout(file: BinaryIO) -> tuple[int, int]:
    """Return the index of the first feature, 0 or 1, and the number of features.

    Tables whose cells are nearly all missing are refused.
    """
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
    return first, n_features


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


def _label(text: str) -> int:
    try:
        value = number(text)
    except ValueError:
        raise ValueError(f"the label {show(text)} is not a number") from None
    if not (value.is_integer() and abs(value) <= EXACT):
        raise ValueError(f"the label {show(text)} is not a class; labels are integers up to 2^53")
    return int(value)


def _pair(cell: str, previous: int) -> tuple[int, float]:
    first, _, second = cell.partition(":")
    try:
        index, value = integer(first), number(second)
    except ValueError:
        raise ValueError(f"{show(cell)} is not an index:value pair") from None
    if not previous < index <= LARGEST_INDEX:
        raise ValueError(f"the index {index} after {previous} is out of order; indices increase, from 0 or 1")
    return index, value


@contextmanager
def sink(file: BinaryIO, layout: Layout) -> Iterator[Write]:
    """Write every value, zeros too: a value left out would come back without its sign or its column."""
    check_nameless(layout.features, "LIBSVM")
    if layout.label is None:
        raise ValueError("LIBSVM files need labels; pass y, for instance zeros")
    label, features = layout.names.index(layout.label), list(map(layout.names.index, layout.features))

    def write(columns: Sequence[Column]) -> None:
        y = columns[label].labels()
        if y.dtype.kind != "i":
            raise ValueError(f"label {show(str(y[0]))} is a string; LIBSVM files hold integers")
        for extreme in (y.min(), y.max()):
            if abs(int(extreme)) > EXACT:
                raise ValueError(f"label {extreme} is beyond 2^53, where readers round; use smaller labels")
        cells = ([f"{j}:{cell}" for cell in columns[i].text()] for j, i in enumerate(features, 1))
        file.writelines(
            f"{' '.join(row)}\n".encode() for row in zip(map(str, y.tolist()), *cells, strict=True)
        )

    yield write
