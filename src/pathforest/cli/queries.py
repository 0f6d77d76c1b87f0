"""New samples for a model: the columns it wants, or their distances to its training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pathforest.cli.columns import choose_features, find_label, known_label
from pathforest.cli.distances import POSITION, distances_to, positions_of
from pathforest.cli.models import Loaded
from pathforest.datasets.formats.stream import Batch, Stream, rows_per_batch, samples_of
from pathforest.datasets.formats.table import integer, show
from pathforest.libopf import read_distances


class Queries(NamedTuple):
    """How batches become samples."""

    features: list[str]  # columns that are taken as they are
    samples: Callable[[Batch], np.ndarray]
    width: int  # values of a sample

    def batches(self, stream: Stream) -> Iterator[Batch]:
        """Yield the batches of a file, smaller ones where samples are wider than its rows."""
        step = rows_per_batch(self.width)
        for batch in stream.batches:
            for first in range(0, len(batch.places), step):
                rows = np.arange(first, min(first + step, len(batch.places)))
                if len(rows) == len(batch.places):
                    yield batch
                else:
                    places = batch.places[first : first + len(rows)]
                    yield Batch(places, [column.take(rows) for column in batch.columns])


def queries_for(loaded: Loaded, stream: Stream, label: str | None, distances: str | None) -> Queries:
    """Find what a model needs in a file, by name; by number only if it knows no names."""
    if distances is not None:
        columns = _training_positions(loaded.names, distances)
        D = read_distances(distances)

        def samples(batch: Batch) -> np.ndarray:
            return distances_to(D, positions_of(stream, batch, D, distances), columns)

        return Queries([], samples, len(columns))
    features = _features(stream, loaded.names, loaded.model.n_features_in_, label)
    return Queries(features, lambda batch: samples_of(stream, batch, features), len(features))


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


def _features(stream: Stream, names: Sequence[str] | None, n_features: int, label: str | None) -> list[str]:
    if names is not None:
        missing = [name for name in names if name not in stream.names]
        if missing and missing[0].removeprefix(f"{POSITION} ").isdecimal():
            raise ValueError("the model was trained with distances; pass them with --distances")
        if missing:
            raise ValueError(
                f"{stream.name}: there is no column {missing[0]!r}, one of {len(missing)} that the model "
                f"needs and the file lacks; it has {show(stream.names)}"
            )
        return list(names)
    column = known_label(stream) if label is None else find_label(stream, label)
    chosen = choose_features(stream, column, None, None)
    if len(chosen) != n_features:
        raise ValueError(
            f"{stream.name}: there are {len(chosen)} columns besides labels, and the model, which knows "
            f"no names, needs {n_features}"
        )
    return chosen
