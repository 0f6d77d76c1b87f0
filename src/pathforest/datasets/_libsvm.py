"""LIBSVM's text, also called svmlight's: `label index:value ...`, one sample per line.

scikit-learn has a reader and a writer too. Its writer rounds to 16 digits, and its reader does not say which
line is wrong; the tests hold ours against it.
"""

from __future__ import annotations

from array import array

import numpy as np

from pathforest.datasets._table import Table, check_nameless, default_names, integer, number, text_rows

# A slip in an index can ask for any number of columns. Tables this small are always made; larger ones need
# one value in the file for so many cells.
SMALL = 10**6
SPARSEST = 1000
LARGEST_INDEX = 2**31 - 1
EXACT = 2**53  # integers up to here survive readers that take labels for floats


def decode(data: bytes, label: object = None) -> Table:
    """Read a dense table. Indices count from 1, or from 0 if one of them is 0; what is not given is 0."""
    labels, rows, columns, values = [], array("q"), array("q"), array("d")
    for line, text in enumerate(data.decode().splitlines(), 1):
        cells = text.partition("#")[0].split()
        if not cells:
            continue
        try:
            labels.append(_label(cells[0]))
            previous = -1
            for cell in cells[1:]:
                if cell.startswith("qid:"):
                    continue
                index, value = _pair(cell, previous)
                rows.append(len(labels) - 1)
                columns.append(index)
                values.append(value)
                previous = index
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None
    if not values:
        raise ValueError("there is no sample with an index:value pair")
    return Table(*_dense(labels, np.array(rows), np.array(columns), np.array(values)))


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


def _dense(
    labels: list[int], rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    columns = columns - (columns.min() > 0)
    n_features = int(columns.max()) + 1
    n_cells = len(labels) * n_features
    if n_cells > max(SMALL, SPARSEST * len(values)):
        raise ValueError(
            f"{len(values)} values, spread over {len(labels)} x {n_features} cells by their indices, are "
            "too sparse for this library, which works on dense rows"
        )
    X = np.zeros((len(labels), n_features))
    X[rows, columns] = values
    return X, np.array(labels, dtype=np.int64), default_names(n_features)
