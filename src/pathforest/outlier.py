"""Outlier detection by the density that Optimum-Path Forest clustering estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from pathforest import _core
from pathforest._engines.metric import Metric
from pathforest._models import parameters as rules
from pathforest._models.base import FitData, answering, check_queries, keep_samples, open_fit
from pathforest._models.density import graph_and_density, largest_arc
from pathforest._models.growing import Growing
from pathforest._persistence.checks import GROWTH, MODELS, SAMPLES, demand, density_rules, number, saved
from pathforest._utils.progress import fitting
from pathforest.membership import lower_fence, normality

# A density this small has lost digits, or all of them; its logarithm is then taken from the distances.
TINY = 1e-290
# Exponents beyond this one tie, and stay finite.
LARGEST_EXPONENT = 1e300
# Metrics without an engine may round the distance from a sample to itself, to no more than this share of d_f.
ROUNDING = 1e-12


@saved(MODELS)
class OPFOutlierDetector(OutlierMixin, Growing):
    """Optimum-Path Forest outlier detector.

    The training samples are clustered as :class:`OPFClustering` does it, which settles how many neighbours
    make a neighbourhood and how far its density reaches. A sample is then as normal as it is dense among the
    training samples. Scale the features first, as for nearest neighbours.

    Parameters
    ----------
    contamination : "auto" or float, default="auto"
        Share of the training samples to call outliers, above 0 and up to 0.5. For ``"auto"``, outliers are
        below Tukey's outer fence of the training scores, three interquartile ranges below their lower
        quartile; if no score stands out, there are none.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    k_max : int, default=20
        Largest neighbourhood tried for the density, capped at the number of other samples. Larger values
        allow smoother densities with fewer maxima; time and memory grow in proportion.
    n_neighbors : int, default=None
        Size of the neighbourhood, instead of a search: all parameters of the search are then ignored.
        Must be below the number of samples that a density is estimated from.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    verbose : int, default=0
        1 prints the stages of `fit`, their times and the size of a full distance matrix.

    Attributes
    ----------
    offset_ : float
        Score below which a sample is an outlier.
    density_ : ndarray of shape (n_samples,)
        Density of each training sample among the others, Eq. 3 without its constant factor.
    best_k_ : int
        Neighbourhood that was used.
    cuts_ : ndarray of shape (n_tried,)
        Normalised cut of each neighbourhood tried, from 1; empty if `n_neighbors` was given.
    n_features_in_, feature_names_in_, categories_
        Number of features; their names, if X has them as text; and for a table with ``metric="gower"`` the
        texts of each column, False and True, or None for numbers.

    See Also
    --------
    OPFClustering : The clustering behind it.

    Notes
    -----
    The score of a sample is the logarithm of its density, from its `best_k_` nearest training samples and
    with the width of the training density, on the scale where the sparsest training sample has 0 and the
    densest 1. A logarithm has no lower end, so scores differ even where the density itself rounds to 0. If
    all training densities are equal, each unit of the logarithm is one of the score, and training samples
    have 1. If all distances in the neighbourhoods are 0, the width is 1. A single training sample sets no
    scale: every score is 1.

    A sample at distance 0 from a training sample counts as that one, and its score comes from the `best_k_`
    nearest others. So `fit_predict` and ``fit(X).predict(X)`` agree, and no parameter must say whether
    samples are new. If a metric rounds, so that equal samples are not exactly at distance 0
    (``"correlation"``, or a function of yours), they agree up to rounding.

    As in the reference, OPF clustering models the normal samples. Scores, scale and threshold are our own,
    because the outlier contract of scikit-learn needs them.

    Outliers that lie close together pass for a cluster if there are `k_max` or more of them; choose a larger
    `k_max` than any such group. A failed or interrupted `fit` leaves the estimator unfitted.

    References
    ----------
    L. A. Passos Júnior et al., "Unsupervised non-technical losses identification through optimum-path
    forest", Electric Power Systems Research 140, 2016.

    Examples
    --------
    >>> from pathforest import OPFOutlierDetector
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [50.0]]
    >>> detector = OPFOutlierDetector(n_neighbors=2).fit(X)
    >>> detector.predict([[2.5], [30.0]]).tolist()
    [1, -1]
    >>> detector.score_samples([[2.5], [50.0], [1000.0]]).round(1).tolist()
    [1.0, 0.0, -435.7]
    >>> OPFOutlierDetector(contamination=0.1, n_neighbors=2).fit_predict(X).tolist()
    [1, 1, 1, 1, 1, 1, -1]
    """

    _n_stages = 3
    _squares = True
    _saved = SAMPLES.extended(
        density_rules() | {"_fit_largest_arc": number(), "offset_": number(-math.inf)},
        GROWTH,
        lambda model, _: demand(model.density_.all(), "density_ contains zeros, which have no logarithm"),
    )
    _rules: ClassVar[rules.Rules] = {
        "contamination": rules.contamination,
        **rules.ESTIMATOR,
        **rules.NEIGHBORHOOD,
    }

    def __init__(
        self,
        *,
        contamination: str | float = "auto",
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        k_max: int = 20,
        n_neighbors: int | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.contamination = contamination
        self.k_max = k_max
        self.n_neighbors = n_neighbors

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the density of the training samples and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : None
            Ignored; there so that pipelines can pass it.

        Returns
        -------
        self : OPFOutlierDetector
            The fitted estimator.
        """
        return self._fit(open_fit(self, X))

    def _fit(self, data: FitData) -> Self:
        graph, estimate = graph_and_density(data, None, self.k_max, self.n_neighbors)
        self.density_, self.best_k_, self.cuts_ = estimate
        self._fit_largest_arc = largest_arc(graph, self.best_k_)
        keep_samples(self, data)
        scores, share = self._training_scores(), self.contamination
        self.offset_ = lower_fence(scores) if share == "auto" else float(np.quantile(scores, float(share)))
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the outliers among the training samples; the same as ``fit(X).predict(X)``, in one pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``.
        y : None
            Ignored; there so that pipelines can pass it.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 for outliers, 1 for all others.
        """
        self.fit(X)
        return np.where(self._training_scores() >= self.offset_, 1, -1)

    def predict(self, X: Any) -> np.ndarray:
        """Separate outliers from normal samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            Samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            -1 for outliers, 1 for all others.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far each sample is above the threshold; below 0 it is an outlier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            Samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        decision : ndarray of shape (n_queries,)
            `score_samples` minus `offset_`.
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X: Any) -> np.ndarray:
        """Return how normal each sample is: its density, as a logarithm scaled by the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            Samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        scores : ndarray of shape (n_queries,)
            1 where the densest training sample lies and 0 where the sparsest does; the lower, the more
            abnormal.
        """
        Q = check_queries(self, X)
        scores, samples = np.ones(len(Q)), self._samples
        if self.best_k_ == 0:  # one training sample sets no scale
            return scores
        same_place = 0.0 if samples.metric.kind == "features" else ROUNDING * self._fit_largest_arc
        with answering(self, Q) as bar:
            for rows, distances, _ in samples.nearest(Q, self.best_k_ + 1, len(self.density_), bar):
                # No sample is its own neighbour: one at the place of a training sample is taken for that one.
                others = np.where(distances[:, :1] <= same_place, distances[:, 1:], distances[:, :-1])
                scores[rows] = normality(self._log_density(np.ascontiguousarray(others)), self.density_)
        return scores

    def _training_scores(self) -> np.ndarray:
        return normality(np.log(self.density_), self.density_)

    def _log_density(self, distances: np.ndarray) -> np.ndarray:
        """Logarithm of Eq. 3, given the distances to the nearest training samples in ascending order."""
        squared = Metric(*self._fit_metric).squared
        density = _core.query_density(distances, self._fit_largest_arc, squared)
        psi = self._fit_largest_arc / 3
        width = 2 * self._fit_largest_arc / 9 if squared else 2 * psi * psi  # rounded as the core does it
        far = density < TINY if width > 0 else np.ones(len(density), dtype=bool)
        density[far] = 1.0
        logarithm = np.log(density)
        # The logarithm of the sum of exp(-d^2 / width), which stays finite where every term is 0. Without a
        # width it is that of the mean of exp(-d^2): 0 where all distances are 0, as in the training set.
        distances = distances[far]
        with np.errstate(over="ignore"):
            exponent = (distances if squared else distances * distances) / (width or 1.0)
        exponent = np.minimum(exponent, LARGEST_EXPONENT)
        nearest = exponent[:, :1]
        terms = np.exp(nearest - exponent)
        logarithm[far] = np.log(terms.sum(axis=1) if width > 0 else terms.mean(axis=1)) - nearest[:, 0]
        return logarithm
