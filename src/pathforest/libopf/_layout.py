"""The bytes of a LibOPF model file, and the numbers they stand for.

A file has a header, one record for each training sample, and the order in which the samples were conquered:

==========================  ======================================================================
part                        numbers
==========================  ======================================================================
header                      samples, labels, features; df; bestk (newer files); K, mindens, maxdens
record                      position, true label, predecessor, label; path value, radius,
                            density (newer files), features
order                       the index of each sample
==========================  ======================================================================

Counts, positions, labels and indices are 32-bit integers, the others float32, and in some versions of 2013
float64; all of them little-endian. The file does not say which version wrote it, but its size does. Nor does
it name its metric.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

COUNTS = struct.Struct("<3i")
INTEGER = 4  # bytes


class Layout(NamedTuple):
    """What distinguishes the versions of the file."""

    real: int  # bytes of a real number
    newer: bool  # whether `bestk` and densities are there

    def types(self, n_features: int) -> tuple[np.dtype, np.dtype]:
        """Types of the header and of a record."""
        real = f"<f{self.real}"
        header = [("n_samples", "<i4"), ("n_labels", "<i4"), ("n_features", "<i4"), ("df", real)]
        header += [("best_k", "<i4")] * self.newer
        header += [(name, real) for name in ("K", "lowest", "highest")]
        record = [(name, "<i4") for name in ("position", "true_label", "predecessor", "label")]
        record += [("cost", real), ("radius", real)] + [("density", real)] * self.newer
        return np.dtype(header), np.dtype([*record, ("features", real, (n_features,))])

    def size(self, n_samples: int, n_features: int) -> int:
        """Bytes of a whole file, known before anything of that size is made."""
        header = COUNTS.size + 4 * self.real + INTEGER * self.newer
        record = 4 * INTEGER + (2 + self.newer + n_features) * self.real
        return header + n_samples * (record + INTEGER)


# For equal counts no two of them have the same size.
LAYOUTS = [Layout(4, True), Layout(4, False), Layout(8, True), Layout(8, False)]


class ModelFile(NamedTuple):
    """What a model file says."""

    position: np.ndarray  # (n,) row of each sample in a matrix of distances
    true_label: np.ndarray  # (n,) label it came with
    label: np.ndarray  # (n,) label it got from its root
    predecessor: np.ndarray  # (n,) previous sample on its path, -1 at roots
    cost: np.ndarray  # (n,) value of the path
    order: np.ndarray  # (n,) samples in the order in which they were conquered
    features: np.ndarray  # (n, n_features)
    best_k: int | None  # size of the neighbourhood: 0 in a supervised model, None in an older file
    largest_arc: float  # df: longest arc of the graph of neighbours
    density: np.ndarray | None  # (n,) on a scale from 1 to 1000, None in an older file
    lowest: float  # density of the sparsest sample, before it was scaled
    highest: float  # that of the densest


def looks_like_model(data: bytes | memoryview) -> bool:
    """Return whether the counts and the size are those of a LibOPF model file."""
    return _find_layout(data) is not None


def parse(data: bytes) -> ModelFile:
    """Read a model file. The header is held against the size of the file before anything is allocated."""
    if len(data) < COUNTS.size:
        raise ValueError(f"it has {len(data)} bytes, and the counts alone need {COUNTS.size}")
    n_samples, _, n_features = COUNTS.unpack_from(data)
    layout = _find_layout(data)
    if layout is None:
        raise ValueError(
            f"its header announces {n_samples} samples of {n_features} features, and no version of LibOPF "
            f"writes such a model in {len(data)} bytes"
        )
    header_type, record = layout.types(n_features)
    header = np.frombuffer(data, header_type, 1)[0]
    rows = np.frombuffer(data, record, n_samples, offset=header_type.itemsize)
    order = np.frombuffer(data, "<i4", offset=header_type.itemsize + rows.nbytes)
    for name in ("df", "K", "lowest", "highest"):
        if not np.isfinite(header[name]):
            raise ValueError(f"its header holds {name}={header[name]}, which is not a finite number")
    for name in ("cost", "features", "density")[: 2 + layout.newer]:
        _check_finite(rows[name], name)
    _check_order(order)
    best_k = int(header["best_k"]) if layout.newer else None if header["K"] > 0 else 0
    return ModelFile(
        *(rows[name].astype(np.intp) for name in ("position", "true_label", "label", "predecessor")),
        cost=rows["cost"].astype(np.float64),
        order=order.astype(np.intp),
        features=np.ascontiguousarray(rows["features"], dtype=rows["features"].dtype.newbyteorder("=")),
        best_k=best_k,
        largest_arc=float(header["df"]),
        density=rows["density"].astype(np.float64) if layout.newer else None,
        lowest=float(header["lowest"]),
        highest=float(header["highest"]),
    )


def _find_layout(data: bytes | memoryview) -> Layout | None:
    if len(data) < COUNTS.size:
        return None
    n_samples, n_labels, n_features = COUNTS.unpack_from(data)
    if n_samples < 1 or n_labels < 0 or n_features < 1:
        return None
    return next((layout for layout in LAYOUTS if layout.size(n_samples, n_features) == len(data)), None)


def _check_finite(values: np.ndarray, name: str) -> None:
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        found = values[tuple(wrong[0])]
        raise ValueError(f"sample {wrong[0][0]} has {found} for {name}, which is not a finite number")


def _check_order(order: np.ndarray) -> None:
    n_samples = len(order)
    if order.min() < 0 or order.max() >= n_samples or len(np.unique(order)) < n_samples:
        raise ValueError(
            "its order does not list every sample once; LibOPF writes such a file when all samples have the "
            "same label, and the way out is to train again, here or there"
        )
