"""Dask collections as local data, every block checked where it is before anything moves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask import is_dask_collection
from distributed import Client, Future

from pathforest._models.labels import check_labels
from pathforest.dask.futures import check_connection, run_all


class Summary(NamedTuple):
    """What the client has to know of a block; plain values, and few."""

    n_rows: int
    problem: str | None = None  # why it cannot be used
    columns: tuple[Any, ...] = ()  # names, or numbers where it has none
    kind: str = ""  # of labels: "text" or "numbers"
    dtype: Any = None  # of samples, if they are numbers
    extremes: Any = None  # (2, n_features) the smallest and the largest value of each feature


def check_collection(name: str, data: Any) -> Any:
    """Refuse a Dask collection that is not a table of samples, or a column; return it with whole rows.

    Blocks that lie side by side would be taken for further rows.
    """
    # By a private attribute, because objects of dask.delayed claim to have every public one.
    if not hasattr(data, "_meta"):
        raise TypeError(
            f"{name} is a Dask {type(data).__name__}; pass a Dask array, data frame or series, or local data"
        )
    if name == "X" and data.ndim != 2:
        raise ValueError(
            f"X has {data.ndim} dimension(s) and must have 2, samples and features; reshape it, for example "
            "with X.reshape(-1, 1), or X.to_frame() for a series"
        )
    if data.ndim == 0:
        raise ValueError(f"{name} is a single value and must have one for each sample")
    return data.rechunk(dict.fromkeys(range(1, data.ndim), -1)) if isinstance(data, da.Array) else data


@contextmanager
def inspected(
    client: Client, name: str, data: Any, inspect: Callable[[Any], Summary]
) -> Iterator[tuple[list[Future], list[Summary]]]:
    """Compute the blocks of a collection on the cluster, and yield them with what was found in each."""
    blocks = client.compute(list(np.ravel(check_collection(name, data).to_delayed())))
    try:
        found = run_all(client, len(blocks), lambda i: client.submit(inspect, blocks[i], pure=False))
        filled = [i for i in range(len(blocks)) if found[i].n_rows] or [0]
        for i in filled:
            _check_block(name, i, found[i], filled[0], found[filled[0]])
        check_connection(client)
        yield [blocks[i] for i in filled], [found[i] for i in filled]
    finally:
        for block in blocks:  # not cancelled: they may be those of a collection that the user has persisted
            block.release()


def gather(client: Client, name: str, data: Any, inspect: Callable[[Any], Summary]) -> Any:
    """Inspect the blocks of a collection on the cluster and put them together here; local data stay."""
    if not is_dask_collection(data):
        return data
    with inspected(client, name, data, inspect) as (blocks, _):
        return put_together(client.gather(blocks))


def put_together(parts: list[Any]) -> Any:
    """Join parts of an array or of a data frame."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pandas as pd  # whose frames these are, so it is there

    return pd.concat(parts)


def inspect_samples(block: Any, finite: bool) -> Summary:
    """Look at one block of samples."""
    if np.ndim(block) != 2:
        return Summary(1, f"has {np.ndim(block)} dimension(s), not 2; every block must hold rows of features")
    is_frame = hasattr(block, "columns")
    if not (is_frame or isinstance(block, np.ndarray)):
        kind = type(block).__name__
        return Summary(1, f"is a {kind}; convert blocks to numpy arrays, with toarray() if they are sparse")
    columns = tuple(block.columns) if is_frame else tuple(range(block.shape[1]))
    if not finite or not len(block):
        return Summary(len(block), columns=columns)
    try:
        values = np.asarray(block)
        if values.dtype.kind not in "biuf":
            values = block.to_numpy(np.float64, na_value=np.nan) if is_frame else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        return Summary(len(block), f"cannot be read as numbers: {error}; convert its columns", columns)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        where = f"contains {values[row, column]} in its row {row}, column {columns[column]!r}"
        return Summary(len(block), f"{where}; fill in such values or drop their rows", columns)
    extremes = np.stack([values.min(axis=0), values.max(axis=0)])
    dtypes = block.dtypes if is_frame else [block.dtype]
    plain = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)
    return Summary(
        len(block),
        columns=columns,
        dtype=np.result_type(*dtypes) if plain else np.dtype(np.float64),
        extremes=extremes,
    )


def inspect_labels(block: Any) -> Summary:
    """Look at one block of labels."""
    if not len(block):
        return Summary(0)
    try:
        with warnings.catch_warnings():  # the client will warn of all labels together
            warnings.simplefilter("ignore")
            labels = check_labels(block)
    except (TypeError, ValueError) as error:
        return Summary(len(block), f"cannot be used: {error}")
    return Summary(len(block), kind="text" if labels.dtype.kind in "OU" else "numbers")


def _check_block(name: str, i: int, summary: Summary, first: int, expected: Summary) -> None:
    """Refuse a block that cannot be used, or not with the first."""
    if summary.problem:
        raise ValueError(f"block {i} of {name} {summary.problem}")
    if len(summary.columns) != len(expected.columns):
        raise ValueError(
            f"block {i} of {name} has {len(summary.columns)} columns and block {first} has "
            f"{len(expected.columns)}; all blocks need the same features"
        )
    if summary.columns != expected.columns:
        raise ValueError(
            f"block {i} of {name} has the columns {list(summary.columns)} and block {first} has "
            f"{list(expected.columns)}; give all blocks the same, in one order"
        )
    if summary.kind != expected.kind:
        raise TypeError(
            f"block {i} of {name} holds {summary.kind} and block {first} {expected.kind}, which have no "
            f"common order; convert all labels to one type, for example with {name}.astype(str)"
        )
