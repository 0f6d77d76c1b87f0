"""Models that LibOPF has trained, as estimators of this package."""

from __future__ import annotations

import os

import numpy as np

from pathforest._engines.metric import Metric, choose_algorithm, resolve_metric
from pathforest._persistence.checks import PATHS, check_model, check_paths
from pathforest._utils.text import escape
from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.knn_classifier import OPFKNNClassifier
from pathforest.libopf._bytes import read_bytes
from pathforest.libopf._layout import ModelFile, parse

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
    are compared as they are there. Not repeated is a slip: for its i-th query LibOPF leaves out the i-th
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
    if resolved.kind == "matrix":
        raise ValueError(
            f"metric={metric!r} has no engine, and LibOPF does not know it; name another, or pass "
            "metric='precomputed' and distances"
        )
    data = read_bytes(path)
    try:
        return _build(parse(data), metric, resolved)
    except ValueError as error:
        raise ValueError(f"{escape(str(path))} cannot be read as a model of LibOPF: {error}") from error


def _build(file: ModelFile, metric: str, resolved: Metric) -> Model:
    """Choose the estimator and give it what the file says."""
    if file.best_k == 0:
        model = OPFClassifier(metric=metric)
        _set_paths(model, file, resolved)
        _set_labels(model, file)
        model.order_ = file.order
        model.training_error_ = float(np.mean(file.label != file.true_label))
    else:
        _check_densities(file, resolved)
        roots = np.flatnonzero(file.predecessor < 0)
        is_numbered = np.array_equal(np.sort(file.label[roots]), np.arange(len(roots)))
        settings = {"metric": metric, "n_neighbors": file.best_k}
        model = OPFClustering(selection="cut", **settings) if is_numbered else OPFKNNClassifier(**settings)
        _set_paths(model, file, resolved)
        _set_densities(model, file)
        if is_numbered:
            model.labels_, model.cuts_ = file.label, np.empty(0)
            model.cluster_roots_ = roots[np.argsort(file.label[roots])]
        else:
            _set_labels(model, file)
            model.scores_ = np.empty(0)
    check_model(model)
    return model


def _check_densities(file: ModelFile, metric: Metric) -> None:
    """Refuse densities that are not there, or that new samples could not be compared with."""
    if file.density is None:
        raise ValueError(
            "it comes from an older opf_cluster, which wrote neither its neighbourhood nor its densities; "
            "cluster the samples again, here with OPFClustering"
        )
    if not metric.squared:
        raise ValueError(
            f"it holds densities, which LibOPF estimates from distances and metric={metric.name!r} here from "
            "their squares; only 'log_sqeuclidean' and 'sqeuclidean' agree, for others train again"
        )
    if not 0 <= file.lowest <= file.highest <= 1:
        raise ValueError(f"its densities range from {file.lowest} to {file.highest}, and not within 0 to 1")
    if not (file.density.min() >= LOWEST - ROUNDING and file.density.max() <= HIGHEST + ROUNDING):
        raise ValueError(
            f"its scaled densities range from {file.density.min()} to {file.density.max()}, and not within "
            f"{LOWEST:.0f} to {HIGHEST:.0f}"
        )


def _set_paths(model: Model, file: ModelFile, metric: Metric) -> None:
    """Set the training samples and the paths between them."""
    n_samples, n_features = file.features.shape
    is_matrix = metric.kind == "precomputed"
    model.n_features_in_ = n_samples if is_matrix else n_features
    model._fit_X = None if is_matrix else file.features
    model._fit_metric = tuple(metric)
    model._fit_algorithm = "precomputed" if is_matrix else choose_algorithm(metric, n_features)
    model._fit_cache = {}
    model.predecessor_ = file.predecessor
    model.cost_ = file.cost
    for name in ("predecessor_", "cost_"):
        PATHS[name](model, name, {"samples": n_samples})
    model.root_ = check_paths(model)


def _set_labels(model: OPFClassifier | OPFKNNClassifier, file: ModelFile) -> None:
    """Set the labels, and the prototypes they come from."""
    model.classes_, model._fit_codes = np.unique(file.label, return_inverse=True)
    model.label_ = file.label
    model.prototypes_ = np.flatnonzero(file.predecessor < 0)


def _set_densities(model: OPFKNNClassifier | OPFClustering, file: ModelFile) -> None:
    """Set the densities as sums over the neighbours, from means on a scale from 1 to 1000."""
    low, high = file.density.min(), file.density.max()
    mean = file.lowest + (file.density - LOWEST) / (HIGHEST - LOWEST) * (file.highest - file.lowest)
    # Predictions compare with the extremes, so these are taken as they are and not from the rounded scale.
    mean[file.density == low] = file.lowest
    mean[file.density == high] = file.highest
    model.density_ = file.best_k * mean
    model.best_k_ = file.best_k
    model._fit_largest_arc = file.largest_arc
