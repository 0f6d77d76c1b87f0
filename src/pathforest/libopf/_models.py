"""LibOPF's model files, read as estimators of this package, and the positions in them and in data files.

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

import io
import os
from typing import NamedTuple

import numpy as np

from pathforest._engines.metric import Metric, choose_algorithm, resolve_metric
from pathforest._persistence.checks import PATHS, check_model, check_paths
from pathforest._tables.libopf import HEADER, POSITION, read
from pathforest._utils.checks import demand
from pathforest._utils.text import escape
from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.knn_classifier import OPFKNNClassifier

LOWEST, HIGHEST = 1.0, 1000.0  # LibOPF's scale of densities
ROUNDING = 0.001  # what float32 may add to it

Model = OPFClassifier | OPFKNNClassifier | OPFClustering


def read_model(path: str | os.PathLike[str], *, metric: str = "log_sqeuclidean") -> Model:
    """Read a model file of LibOPF, usually called `classifier.opf`, and go on from there.

    Nothing is trained: costs, labels, predecessors, their order and densities are those of the file. The
    model can predict, explain and be saved like any other.

    Parameters
    ----------
    path : str or path-like
        The file.
    metric : str, default="log_sqeuclidean"
        The distance that LibOPF was built with, which the file does not name: LibOPF's own default, another
        name from :mod:`pathforest.distances` that has an engine, or ``"precomputed"`` if distances came from
        a file (see :func:`read_distances`); the features in the model file are then ignored. LibOPF's
        `opf_EuclDist` is ``"sqeuclidean"``, its squared chi-squared distance ``"chi2"``, and its Bray-Curtis
        distance, for features >= 0, ``"canberra"``.

    Returns
    -------
    model : OPFClassifier, OPFKNNClassifier or OPFClustering
        `OPFClassifier` from the file of `opf_train`, `opf_learn`, `opf_pruning` or `opf_semi`. Files with
        densities give `OPFClustering` if labels number the trees from 0, as `opf_cluster` does, and else
        `OPFKNNClassifier`, as from `opfknn_train`.

    Raises
    ------
    ValueError
        If the file is not a model, is cut short, or cannot be a model: indices out of range, paths in
        circles, values that are not finite. Also if it holds a model of densities that cannot be continued:
        older files of `opf_cluster` lack the densities, and those of a metric other than
        ``"log_sqeuclidean"`` and ``"sqeuclidean"`` were estimated in another way. Cluster again in both
        cases.
    OSError
        If the file cannot be read.

    Notes
    -----
    LibOPF computes with float32. Here the file's float32 values meet distances in float64, so that offers
    that are equal as float32 may differ, and the answer may then differ from LibOPF's.
    On exact ties the first in `order_` wins in both.

    With densities, predictions follow LibOPF's `opf_OPFknnClassify` in its latest version: of the k nearest
    training samples the one with the largest min(path value, density of the query). LibOPF takes the mean
    over k + 1 for training samples and over k for queries; `density_` is k times the former, so that both
    are compared as they are there. One slip is not repeated: for its i-th query LibOPF leaves out the i-th
    training sample. Earlier versions answer in other ways: with the label of the nearest training sample, or
    of the first in order whose neighbourhood reaches the query.

    Examples
    --------
    >>> import os, struct, tempfile
    >>> from pathforest.libopf import read_model
    >>> data = struct.pack("<3ifi3f", 2, 2, 1, 0, 0, 0, 0, 0)  # two samples, two labels, one feature
    >>> data += struct.pack("<4i4f", 0, 1, -1, 1, 0, 0, 0, 2.5)  # the first: label 1, feature 2.5
    >>> data += struct.pack("<4i4f", 1, 2, -1, 2, 0, 0, 0, 7.0)
    >>> data += struct.pack("<2i", 0, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "classifier.opf"), "wb") as file:
    ...         _ = file.write(data)
    ...     model = read_model(os.path.join(folder, "classifier.opf"))
    >>> model
    OPFClassifier(metric='log_sqeuclidean')
    >>> model.predict([[3.0], [6.0]]).tolist()
    [1, 2]
    """
    resolved = resolve_metric(metric)
    demand(
        resolved.kind != "matrix",
        f"metric={metric!r} has no engine, and LibOPF does not know it; name another, or pass "
        "metric='precomputed' and distances",
    )
    data = _read_bytes(path)
    try:
        return _build(_parse(data), metric, resolved)
    except ValueError as error:
        raise ValueError(f"{escape(str(path))} cannot be read as a model of LibOPF: {error}") from error


def read_positions(path: str | os.PathLike[str]) -> np.ndarray:
    """Read the positions of the samples in a data file or a model file of LibOPF.

    LibOPF's programs split a set and keep with each sample its row in the matrix of distances of the whole.
    :func:`pathforest.datasets.read` does not return that column.

    Parameters
    ----------
    path : str or path-like
        A binary data file (`.dat`), or a model file; `opf_learn` and `opf_pruning` keep other samples than
        they were given.

    Returns
    -------
    positions : ndarray of shape (n_samples,)
        Rows and columns of the matrix, in the order of the file's samples.

    Raises
    ------
    ValueError
        If the file is neither, or a position is negative.
    OSError
        If the file cannot be read.

    Examples
    --------
    Distances as a model takes them, ``D[np.ix_(queries, training)]``:

    >>> import os, tempfile
    >>> import numpy as np
    >>> from pathforest.datasets import write
    >>> from pathforest.libopf import read_positions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(os.path.join(folder, "testing.dat"), [[0.5], [2.0]], [1, 2])
    ...     read_positions(os.path.join(folder, "testing.dat")).tolist()
    [0, 1]
    """
    data = _read_bytes(path)
    try:
        if _find_layout(data):
            positions = _parse(data).column("position")
        else:
            positions = read(io.BytesIO(data)).gather().columns[POSITION].astype(np.intp)
        if positions.min() < 0:
            first = int(np.argmax(positions < 0))
            raise ValueError(f"sample {first} has position {positions[first]}; positions count from 0")
    except ValueError as error:
        raise ValueError(f"{escape(str(path))}: {error}") from error
    return positions


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read no more than the file says it has: a device such as /dev/zero has no end."""
    with open(path, "rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)


# The bytes of a model file, and the numbers they stand for


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
        header, record = self.types(1)
        order = np.dtype("<i4").itemsize
        return header.itemsize + n_samples * (record.itemsize + (n_features - 1) * self.real + order)


# For equal counts no two of them have the same size.
LAYOUTS = [Layout(4, True), Layout(4, False), Layout(8, True), Layout(8, False)]


class ModelFile(NamedTuple):
    """What a model file says."""

    header: np.void
    samples: np.ndarray  # (n,) records
    order: np.ndarray  # (n,) samples in the order in which they were conquered

    def column(self, name: str) -> np.ndarray:
        """Return a part of all records: integers as indices, path values and densities as float64."""
        values = self.samples[name]
        return values.astype(np.intp if values.dtype.kind == "i" else np.float64)

    @property
    def best_k(self) -> int | None:
        """Size of the neighbourhood: 0 in a supervised model, None in an older file with densities."""
        if "best_k" in self.header.dtype.names:
            return int(self.header["best_k"])
        return None if self.header["K"] > 0 else 0


def _parse(data: bytes) -> ModelFile:
    """Read a model file. The header is held against the size of the file before anything is allocated."""
    demand(len(data) >= HEADER.size, f"it has {len(data)} bytes, and the counts alone need {HEADER.size}")
    n_samples, _, n_features = HEADER.unpack_from(data)
    layout = _find_layout(data)
    demand(
        layout is not None,
        f"its header announces {n_samples} samples of {n_features} features, and no version of LibOPF "
        f"writes such a model in {len(data)} bytes",
    )
    header_type, record = layout.types(n_features)
    header = np.frombuffer(data, header_type, 1)[0]
    rows = np.frombuffer(data, record, n_samples, offset=header_type.itemsize)
    order = np.frombuffer(data, "<i4", offset=header_type.itemsize + rows.nbytes)
    demand(
        np.array_equal(np.unique(order), np.arange(n_samples)),
        "its order does not list every sample once; LibOPF writes such a file when all samples have the "
        "same label, and the way out is to train again, here or there",
    )
    return ModelFile(header, rows, order.astype(np.intp))


def _find_layout(data: bytes) -> Layout | None:
    n_samples, n_labels, n_features = HEADER.unpack_from(data) if len(data) >= HEADER.size else (0, 0, 0)
    is_odd = n_samples < 1 or n_labels < 0 or n_features < 1
    fitting = (layout for layout in LAYOUTS if layout.size(n_samples, n_features) == len(data))
    return None if is_odd else next(fitting, None)


# Estimators from these numbers


def _build(file: ModelFile, metric: str, resolved: Metric) -> Model:
    """Choose the estimator and give it what the file says."""
    label, roots = file.column("label"), np.flatnonzero(file.samples["predecessor"] < 0)
    if file.best_k == 0:
        model = OPFClassifier(metric=metric)
        model.order_ = file.order
        model.training_error_ = float(np.mean(label != file.samples["true_label"]))
    else:
        is_numbered = np.array_equal(np.sort(label[roots]), np.arange(len(roots)))
        settings = {"metric": metric, "n_neighbors": file.best_k}
        model = OPFClustering(selection="cut", **settings) if is_numbered else OPFKNNClassifier(**settings)
        _set_densities(model, file, resolved)
    if isinstance(model, OPFClustering):
        model.labels_, model.cuts_ = label, np.empty(0)
        model.cluster_roots_ = roots[np.argsort(label[roots])]
    else:
        model.classes_, model._fit_codes = np.unique(label, return_inverse=True)
        model.label_, model.prototypes_ = label, roots
    if isinstance(model, OPFKNNClassifier):
        model.scores_ = np.empty(0)
    _set_paths(model, file, resolved)
    check_model(model)
    return model


def _set_paths(model: Model, file: ModelFile, metric: Metric) -> None:
    """Set the training samples and the paths between them."""
    features = file.samples["features"]
    n_samples, n_features = features.shape
    is_matrix = metric.kind == "precomputed"
    model.n_features_in_ = n_samples if is_matrix else n_features
    model._fit_X = None if is_matrix else np.ascontiguousarray(features, features.dtype.newbyteorder("="))
    model._fit_metric = tuple(metric)
    model._fit_algorithm = "precomputed" if is_matrix else choose_algorithm(metric, n_features)
    model._fit_cache = {}
    for name in ("predecessor_", "cost_"):
        setattr(model, name, file.column(name[:-1]))
        PATHS[name](model, name, {"samples": n_samples})
    model.root_ = check_paths(model)


def _set_densities(model: OPFKNNClassifier | OPFClustering, file: ModelFile, metric: Metric) -> None:
    """Set the densities as sums over neighbours, from means on 1 to 1000; refuse missing or useless ones."""
    demand(
        file.best_k is not None,
        "it comes from an older opf_cluster, which wrote neither its neighbourhood nor its densities; "
        "cluster the samples again, here with OPFClustering",
    )
    demand(
        metric.squared,
        f"it holds densities, which LibOPF estimates from distances and metric={metric.name!r} here from "
        "their squares; only 'log_sqeuclidean' and 'sqeuclidean' agree, for others train again",
    )
    density = file.column("density")
    lowest, highest = float(file.header["lowest"]), float(file.header["highest"])  # before they were scaled
    demand(
        0 <= lowest <= highest <= 1, f"its densities range from {lowest} to {highest}, and not within 0 to 1"
    )
    demand(
        density.min() >= LOWEST - ROUNDING and density.max() <= HIGHEST + ROUNDING,
        f"its scaled densities range from {density.min()} to {density.max()}, and not within "
        f"{LOWEST:.0f} to {HIGHEST:.0f}",
    )
    mean = lowest + (density - LOWEST) / (HIGHEST - LOWEST) * (highest - lowest)
    # Predictions compare with the extremes, so these are taken as they are and not from the rounded scale.
    mean[density == density.min()] = lowest
    mean[density == density.max()] = highest
    model.best_k_, model.density_ = file.best_k, file.best_k * mean
    model._fit_largest_arc = float(file.header["df"])
