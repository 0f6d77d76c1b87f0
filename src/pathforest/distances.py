"""From the name of a metric to the engine that answers questions about its distances.

===================  ==================================================  ============
metric               distance between a and b                            engine
===================  ==================================================  ============
``euclidean, l2``    root of the sum of (a - b)^2                        tree, brute
``sqeuclidean``      sum of (a - b)^2                                    tree, brute
``log_sqeuclidean``  1e5 log(1 + sum of (a - b)^2), LibOPF's default     tree, brute
``manhattan``        sum of abs(a - b); also ``l1``, ``cityblock``       tree, brute
``chebyshev``        largest abs(a - b)                                  tree, brute
``minkowski``        p-th root of the sum of abs(a - b)^p, p >= 1        tree, brute
``cosine``           1 - a.b / (norm of a times norm of b)               brute
``chi2``             sum of (a - b)^2 / (a + b), features >= 0           brute
``canberra``         sum of abs(a - b) / (abs(a) + abs(b))               brute
``braycurtis``       sum of abs(a - b) / sum of (a + b), features >= 0   brute
``gower``            mean of abs(a - b) / range, and of a != b           brute
``nan_euclidean``    Euclidean over the features that both have          brute
any other            :func:`sklearn.metrics.pairwise_distances`          full matrix
a callable           what it returns for two rows                        full matrix
``precomputed``      X is the matrix of distances                        full matrix
===================  ==================================================  ============

Sparse matrices of SciPy have an engine of their own, for ``euclidean``, ``sqeuclidean`` and ``cosine``: the
same distances, bit for bit, without the zeros.

A full matrix takes 8 n^2 bytes during `fit`. A verbose estimator logs its size before it is built, and above
1 GiB a warning names it in any case.

``gower`` is for tables with categories and gaps. Numbers differ by abs(a - b) / range, the range of the
training samples, outside of which new samples may lie; a feature that is constant in training counts as 0.
Categories differ by 0 or 1. Features that one of the two samples lacks (NaN or None) are left out of the
mean; if they have none in common, the distance is 1. `metric_params` takes three keys, all optional:

- ``"categorical"``: which features are categories, as indices, a boolean for each feature, or names of
  columns. By default they are the text, category and bool columns of a data frame. Text always is one.
- ``"weights"``: a number >= 0 for each feature, 1 by default.
- ``"ranges"``: the range of each feature, if those of the training samples will not do.

Estimators turn text into codes by themselves; a category that `fit` did not see differs from all others.

``nan_euclidean`` is the root of the sum of (a - b)^2 over the features that both samples have, divided by
their share of all features, as in scikit-learn. Samples without a feature in common are refused.

Squares of differences below about 1e-154 underflow. Samples with no larger differences are refused:
multiply them. If only some features differ so little, these count for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.utils.validation import check_array

from pathforest._engines.build import build_engine
from pathforest._engines.engine import Engine
from pathforest._engines.metric import (
    Metric,
    array_options,
    check_algorithm,
    choose_algorithm,
    complete_metric,
    resolve_metric,
)
from pathforest._engines.samples import (
    SPARSE_FORMATS,
    SparseSamples,
    check_sparse,
    check_training_values,
    is_sparse,
    refuse_missing_dates,
)

__all__ = ["Metric", "choose_algorithm", "make_engine", "resolve_metric"]


def make_engine(
    X: Any,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
) -> Engine:
    """Build the engine that answers every question about distances between samples.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or their distances for ``metric="precomputed"``. float32 stays float32; other types are
        converted to float64. Sparse matrices are for ``metric="cosine"``, ``"euclidean"`` and
        ``"sqeuclidean"``.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.

    Returns
    -------
    engine : Engine
        Immutable, and safe to share between threads.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> engine = make_engine([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> engine.name, engine.n_samples
    ('kd_tree', 3)
    """
    resolved = resolve_metric(metric, metric_params)
    check_algorithm(resolved, algorithm)
    if is_sparse(X):
        check_sparse(resolved, algorithm)
    samples = check_array(X, input_name="X", accept_sparse=SPARSE_FORMATS, **array_options(resolved))
    if is_sparse(samples):
        samples = SparseSamples.of(samples)
    refuse_missing_dates(X, samples)
    completed = complete_metric(resolved, samples)
    check_training_values(samples, completed)
    return build_engine(samples, completed, algorithm)
