"""Files of distances: samples are looked up by the positions that their data files hold."""

from __future__ import annotations

import numpy as np

from pathforest.datasets.formats.libopf import POSITION
from pathforest.datasets.formats.stream import Batch, Stream, labels_of
from pathforest.datasets.formats.table import integer


def name_positions(positions: np.ndarray) -> list[str]:
    """Name the columns of a matrix of distances by the positions of the training samples."""
    return [f"{POSITION} {position}" for position in positions.tolist()]


def positions_of(stream: Stream, batch: Batch, D: np.ndarray, path: str) -> np.ndarray:
    """Return the rows that samples have in a matrix of distances."""
    if POSITION not in stream.names:
        raise ValueError(
            f"{stream.name}: there is no column {POSITION!r}, which says where samples stand in {path}"
        )
    positions = np.asarray(labels_of(stream, batch, POSITION))
    if positions.dtype.kind == "U":
        positions = np.array([integer(cell) for cell in positions.tolist()])
    wrong = np.flatnonzero((positions < 0) | (positions >= len(D)))
    if len(wrong):
        raise ValueError(
            f"{stream.name}: {stream.place} {batch.places[wrong[0]]}: position {positions[wrong[0]]} "
            f"is not in {path}, which has {len(D)} samples"
        )
    return positions


def distances_to(D: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the distances between some samples and others."""
    if columns.max() >= len(D):
        raise ValueError(f"position {columns.max()} of a training sample is beyond the {len(D)} distances")
    return D[np.ix_(rows, columns)]
