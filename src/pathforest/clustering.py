"""Unsupervised Optimum-Path Forest clustering (Algorithm 2 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin

from pathforest import _core
from pathforest._clusters import BaseClusters
from pathforest._estimator import unfitted_on_failure
from pathforest.distances import Metric


class OPFClustering(ClusterMixin, BaseClusters):
    """Optimum-Path Forest clustering.

    Each maximum of the density founds a cluster and conquers the samples that are reached from it
    without a deep valley. The number of clusters is not given; it follows from the neighbourhood,
    which `k_max` bounds.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is
        a matrix of distances, or a function of two rows. Metrics without an engine of their own
        take 8 n^2 bytes in `fit`.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    k_max : int, default=20
        Largest neighbourhood tried; the one whose clustering has the smallest normalised cut is taken. Larger
        values give smoother densities and fewer clusters; time and memory grow in proportion. Capped at
        n_samples - 1.
    n_neighbors : int, default=None
        Fixes the neighbourhood, with no search; `k_max` is then ignored. Must be below n_samples.
    algorithm : {"auto", "tree", "brute"}, default="auto"
        How distances are searched: ``"tree"`` suits few features, ``"brute"`` many. Answers are the same.
    n_jobs : int, default=None
        Number of threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
        In a forked child process one thread is used, because OpenMP's threads do not survive a fork.
    verbose : int, default=0
        1 reports the stages of `fit`, their times and the size of a full distance matrix to the logger
        ``"pathforest"`` at level INFO; show it with ``logging.basicConfig(level=logging.INFO)``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, numbered from 0 in the order in which clusters were founded.
    cluster_roots_ : ndarray of shape (n_clusters,)
        Index of the sample that founded each cluster, a maximum of the density.
    density_ : ndarray of shape (n_samples,)
        Density of each training sample, Eq. 3 without its constant factor.
    cost_ : ndarray of shape (n_samples,)
        Value of the path that conquered each sample: its lowest density, on a scale from 1 to 1000.
    predecessor_ : ndarray of shape (n_samples,)
        Previous sample on that path, -1 at cluster roots.
    root_ : ndarray of shape (n_samples,)
        Root of the cluster each sample belongs to.
    best_k_ : int
        Neighbourhood that was used.
    cuts_ : ndarray of shape (n_tried,)
        Normalised cut of each neighbourhood tried, from 1; empty if `n_neighbors` was given.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are all strings.

    See Also
    --------
    FuzzyOPFClassifier : Classifier that weighs its paths by the same density.

    Notes
    -----
    Densities are scaled to [1, 1000], and a dome lower than 1 on that scale founds no cluster. A
    path is worth its lowest density; the highest value leaves the queue first, the lower index on
    ties. The search for the best neighbourhood stops at the first cut of 0: clusters with no arc
    between them, or a single cluster.

    There is no `sample_weight`: repeat a sample to make its surroundings denser.

    A failed or interrupted `fit` leaves the estimator unfitted.

    References
    ----------
    L. M. Rocha, F. A. M. Cappabianco, A. X. Falcao, "Data clustering as an optimum-path forest problem with
    applications in image analysis", International Journal of Imaging Systems and Technology, 2009.

    Examples
    --------
    >>> from pathforest import OPFClustering
    >>> model = OPFClustering().fit([[0.0], [1.0], [1.5], [9.0], [9.5], [11.0]])
    >>> model.labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.predict([[3.0], [7.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        k_max: int = 20,
        n_neighbors: int | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.metric_params = metric_params
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.verbose = verbose

    @unfitted_on_failure
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept;
            other types become float64.
        y : None
            Ignored; there so that pipelines can pass it.

        Returns
        -------
        self : OPFClustering
            The fitted estimator.
        """
        return self._fit_clusters(X)

    def predict(self, X: Any) -> np.ndarray:
        """Assign each sample to the cluster whose path reaches it at the highest density.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Cluster numbers. Of the `best_k_` nearest training samples q, the one with the largest
            min(cost of q, density of the sample) decides; on ties the nearest.
        """
        Q = self._check_query(X)
        labels = np.zeros(len(Q), dtype=np.intp)
        if self.best_k_ == 0:  # one training sample, one cluster
            return labels
        squared = Metric(*self._fit_metric).squared
        low, high = self.density_.min(), self.density_.max()
        for rows, distances, indices in self._nearest(Q, self.best_k_):
            density = _core.query_density(distances, self._fit_largest_arc, squared)
            scaled = _core.scale_density(density, low, high)
            values = np.minimum(self.cost_[indices], scaled[:, None])
            winner = indices[np.arange(len(indices)), values.argmax(axis=1)]
            labels[rows] = self.labels_[winner]
        return labels
