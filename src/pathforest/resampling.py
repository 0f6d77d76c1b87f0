"""Samplers for unbalanced classes, in the contract of imbalanced-learn.

They need ``pip install pathforest[imbalance]`` and go where other samplers go, for example
``imblearn.pipeline.make_pipeline(OPFUnderSampler(), OPFClassifier())``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

try:
    from imblearn.over_sampling.base import BaseOverSampler
    from imblearn.under_sampling.base import BaseUnderSampler
    from imblearn.utils import check_target_type
except ImportError as error:
    raise ImportError("samplers need imbalanced-learn: pip install 'pathforest[imbalance]'") from error
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pathforest._engines.samples import refuse_missing_dates
from pathforest._models import parameters as rules
from pathforest._models.base import check_queries
from pathforest._models.labels import check_labels
from pathforest._models.offers import decide
from pathforest._utils.splits import deal_folds
from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering

# What both samplers take. `sampling_strategy` is checked by imbalanced-learn.
COMMON: rules.Rules = {
    "sampling_strategy": rules.checked_where_used,
    **rules.DISTANCES,
    "random_state": rules.random_state,
}


class DenseSampler:
    """What the samplers have in common: dense samples, float32 kept, no distance matrices."""

    def __init__(
        self, sampling_strategy, metric, metric_params, algorithm, random_state, n_jobs, device
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _make(self, kind: Any, **others: Any) -> Any:
        """Make an estimator that has the sampler's parameters."""
        shared = {*kind._get_param_names()} & {*self._get_param_names()} - {"random_state"}
        return kind(**{name: getattr(self, name) for name in shared}, **others)

    def _check_X_y(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, bool]:
        rules.check_parameters(self)
        if rules.checked_metric(self).kind == "precomputed":
            raise ValueError(
                f"{type(self).__name__} returns samples and needs their features, not metric='precomputed'; "
                "choose another metric"
            )
        if np.ndim(y) < 2:  # first, because a missing label in a list becomes the text "nan" below
            y = check_labels(y)
        y, binarize_y = check_target_type(y, indicate_one_vs_all=True)
        samples, y = validate_data(self, X=X, y=y, reset=True, dtype=[np.float64, np.float32])
        refuse_missing_dates(X, samples)
        return samples, y, binarize_y


class OPFUnderSampler(DenseSampler, BaseUnderSampler):
    """Under-sampling by Optimum-Path Forest: remove the samples that conquer wrongly.

    Plain OPF classifies one part of the samples from the others. A sample earns a point for each sample of
    its own class that it conquers, and loses one for each of another class. Of a class that is too large, the
    samples with the fewest points are removed.

    Parameters
    ----------
    sampling_strategy : str, dict, float or callable, default="auto"
        Which classes to reduce, and to how many samples, as in all samplers of imbalanced-learn. ``"auto"``
        reduces all but the smallest class, to its size.
    n_splits : int, default=5
        How many parts the samples are divided into, 2 or more. Every part is classified from the others, so
        that ``n_splits - 1`` models judge each sample. Time grows in proportion.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances` or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    random_state : int, RandomState or None, default=0
        Decides the parts, and which samples go first among those with equal points.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_kept,)
        Indices of the samples that are left, ascending.
    points_ : ndarray of shape (n_samples,)
        Right conquests of each sample minus wrong ones.
    sampling_strategy_ : dict
        How many samples to keep of each class that is reduced.
    n_features_in_, feature_names_in_
        Number of features, and their names, if X has them as text.

    See Also
    --------
    O2PFSampler : More samples of the small classes instead.

    Notes
    -----
    The reference removes those majority samples with the fewest points, but does not settle where validation
    samples come from and which of equals go first. Here stratified cross-validation judges every sample, and
    chance decides among equals. Most samples conquer no other in most parts, so chance decides much,
    especially if `n_splits` is small.

    References
    ----------
    L. A. Passos, D. S. Jodas, L. C. F. Ribeiro, M. Akio, A. N. de Souza, J. P. Papa, "Handling imbalanced
    datasets through Optimum-Path Forest", Knowledge-Based Systems 242, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.resampling import OPFUnderSampler
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [5.4], [5.6], [6.0], [7.0]])
    >>> y = np.array([0, 0, 0, 0, 0, 0, 1, 0, 1, 1])  # the last 0 lies among the 1
    >>> X_resampled, y_resampled = OPFUnderSampler(n_splits=3, random_state=0).fit_resample(X, y)
    >>> np.bincount(y_resampled).tolist()
    [3, 3]
    >>> 5.6 in X_resampled
    False
    """

    _rules: ClassVar[rules.Rules] = {
        **COMMON,
        "n_splits": rules.integer(2, "every part is classified from the others"),
    }

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        n_splits: int = 5,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(sampling_strategy, metric, metric_params, algorithm, random_state, n_jobs, device)
        self.n_splits = n_splits

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.sampler_tags.sample_indices = True
        return tags

    def _fit_resample(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rng = check_random_state(self.random_state)
        self.points_ = self._count_conquests(X, y, deal_folds(y, min(self.n_splits, len(y)), rng))
        keep = np.ones(len(y), dtype=bool)
        for label, n_left in self.sampling_strategy_.items():
            # A stable sort of shuffled samples: chance decides among equals.
            own = rng.permutation(np.flatnonzero(y == label))
            ranked = own[np.argsort(self.points_[own], kind="stable")]
            keep[ranked[: len(own) - n_left]] = False
        self.sample_indices_ = np.flatnonzero(keep)
        return X[self.sample_indices_], y[self.sample_indices_]

    def _count_conquests(self, X: np.ndarray, y: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """Classify each fold from the others; return right minus wrong conquests of every sample."""
        points = np.zeros(len(y), dtype=np.intp)
        for part in np.unique(fold):
            train, val = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
            if not len(train):  # all samples are in one part
                break
            model = self._make(OPFClassifier).fit(X[train], y[train])
            conqueror = train[decide(model._forest, check_queries(model, X[val])).conqueror]
            np.add.at(points, conqueror, np.where(y[conqueror] == y[val], 1, -1))
        return points


class O2PFSampler(DenseSampler, BaseOverSampler):
    """Over-sampling by Optimum-Path Forest (O2PF): draw new samples around the clusters of small classes.

    The samples of a class that is too small are clustered by :class:`OPFClustering`, and new ones are drawn
    from a Gaussian with the mean and the covariance of each cluster.

    Parameters
    ----------
    sampling_strategy : str, dict, float or callable, default="auto"
        Which classes to enlarge, and to how many samples, as in all samplers of imbalanced-learn. ``"auto"``
        enlarges all but the largest class, to its size.
    k_max : int, default=20
        Largest neighbourhood tried for the density, capped at the number of other samples. Larger values
        allow smoother densities with fewer maxima; time and memory grow in proportion.
    n_neighbors : int, default=None
        Size of the neighbourhood, instead of a search: all parameters of the search are then ignored.
        Must be below the number of samples that a density is estimated from.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances` or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    random_state : int, RandomState or None, default=0
        Decides the new samples.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.

    Attributes
    ----------
    sampling_strategy_ : dict
        How many samples to add to each class that is enlarged.
    n_clusters_ : dict
        How many clusters each of these classes has.
    n_features_in_, feature_names_in_
        Number of features, and their names, if X has them as text.

    See Also
    --------
    OPFUnderSampler : Fewer samples of the large classes instead.

    Notes
    -----
    A cluster of m of the n samples of its class gets m/n of the new ones; what is left after rounding down
    goes to the largest remainders, on ties to the cluster founded first. The covariance is the unbiased one.
    With z standard normal, a new sample is the mean plus z times a matrix R with R'R the covariance, which
    may be singular. R is triangular and comes from the centred samples, or is these if there are no more
    than features. The references leave open what a cluster of one sample gives: here it is repeated.

    The metric shapes the clusters only: the Gaussians do not depend on it, and may draw negative values of
    features that have none. A smaller `k_max` gives more clusters, and new samples nearer to the given ones.

    References
    ----------
    L. A. Passos, D. S. Jodas, L. C. F. Ribeiro, T. Pinheiro, J. P. Papa, "O2PF: Oversampling via Optimum-Path
    Forest for Breast Cancer Detection", IEEE International Symposium on Computer-Based Medical Systems, 2020.
    L. A. Passos et al., "Handling imbalanced datasets through Optimum-Path Forest", Knowledge-Based Systems
    242, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.resampling import O2PFSampler
    >>> X = np.array([[0.0], [0.5], [9.0], [9.5], [4.0], [4.1], [4.2], [4.3], [4.4], [4.5], [4.6], [4.7]])
    >>> y = np.array(["rare"] * 4 + ["common"] * 8)
    >>> sampler = O2PFSampler(random_state=0)
    >>> X_resampled, y_resampled = sampler.fit_resample(X, y)
    >>> list(sampler.n_clusters_.values())
    [2]
    >>> X_resampled[12:].round(1).ravel().tolist()  # two around each of them
    [0.9, 0.4, 9.6, 10.0]
    """

    _rules: ClassVar[rules.Rules] = {**COMMON, **rules.NEIGHBORHOOD}
    # Of the rules of imbalanced-learn only this one is left.
    _parameter_constraints: ClassVar[dict[str, list]] = {
        "sampling_strategy": BaseOverSampler._parameter_constraints["sampling_strategy"]
    }

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        k_max: int = 20,
        n_neighbors: int | None = None,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(sampling_strategy, metric, metric_params, algorithm, random_state, n_jobs, device)
        self.k_max = k_max
        self.n_neighbors = n_neighbors

    def _fit_resample(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rng = check_random_state(self.random_state)
        self.n_clusters_ = {}
        samples, labels = [X], [y]
        for label, n_new in self.sampling_strategy_.items():
            if n_new == 0:
                continue
            own = X[y == label]
            clusters = self._make(OPFClustering, selection="cut").fit_predict(own)
            sizes = np.bincount(clusters)
            self.n_clusters_[label] = len(sizes)
            by_cluster = own[np.argsort(clusters, kind="stable")]
            members = np.split(by_cluster, np.cumsum(sizes)[:-1])
            shares = in_proportion(n_new, sizes)
            samples += [draw_around(part, n, rng) for part, n in zip(members, shares, strict=True)]
            labels.append(np.full(n_new, label, dtype=y.dtype))
        return np.concatenate(samples), np.concatenate(labels)


def in_proportion(total: int, sizes: np.ndarray) -> np.ndarray:
    """Divide `total` in proportion to `sizes`: rounded down, and what is left to the largest remainders."""
    shares, remainders = np.divmod(int(total) * sizes.astype(np.int64), int(sizes.sum()))
    first = np.argsort(-remainders, kind="stable")[: int(total) - int(shares.sum())]
    shares[first] += 1
    return shares


def draw_around(samples: np.ndarray, n_drawn: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw from the Gaussian with the mean and the unbiased covariance of `samples`; repeat a single one."""
    wide = samples.astype(np.float64)
    mean = wide.mean(axis=0)
    factor = (wide - mean) / np.sqrt(max(len(wide) - 1, 1))
    if len(factor) > factor.shape[1]:  # as many rows as features will do
        factor = np.linalg.qr(factor, mode="r")
        factor[factor.diagonal() < 0] *= -1  # implementations choose the signs
    return (mean + rng.standard_normal((n_drawn, len(factor))) @ factor).astype(samples.dtype)
