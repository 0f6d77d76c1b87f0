"""One call from samples and labels to everything that looks wrong about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from pathforest._engines.metric import Metric
from pathforest._models import parameters as rules
from pathforest._models.base import check_training
from pathforest._models.labels import Labels, check_labels, require_labels
from pathforest._utils.sparse import SparseSamples
from pathforest.classifier import OPFClassifier
from pathforest.issues.duplicates import conflicts, duplicate_groups, near_duplicates
from pathforest.issues.flags import Opinion, flag
from pathforest.issues.islands import islands
from pathforest.issues.offers import NONE, Offers, leave_one_out_offers
from pathforest.issues.report import Issues
from pathforest.membership import density
from pathforest.outlier import lower_fence, scale

# Two classes that cost nearly the same, the cheaper one at least this share of the other, meet at a sample.
BORDER = 0.9


def find_issues(
    X: Any,
    y: Any,
    *,
    method: str = "fast",
    n_conquerors: int = 13,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
    device: str = "cpu",
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Issues:
    """Find the samples whose label is probably wrong, and outliers, duplicates and borders beside them.

    Every class offers each sample the mean distance of its nearest members, the sample itself left out. A
    label is doubtful if another class offers less. Scale the features first, as for nearest neighbours.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or their distances for ``metric="precomputed"``. float32 stays float32; other types are
        converted to float64. Sparse matrices are for ``metric="cosine"``, ``"euclidean"`` and
        ``"sqeuclidean"``.
    y : array-like of shape (n_samples,)
        Their labels, of any type; none may be missing.
    method : {"fast", "thorough"}, default="fast"
        ``"fast"`` compares the costs of the classes, in one pass over the samples. ``"thorough"`` asks models
        that have not seen the label: the search of `FuzzyOPFClassifierCV` with ``transforms="full"`` and a
        random forest, on five folds. It finds more, and takes as long as five such searches. The order of
        distinct samples does not matter. That of the features does, by up to 0.3 for single scores, because
        random forests draw among them by position.
    n_conquerors : int, default=13
        How many of its nearest members speak for each class. Larger values outvote more wrong labels; smaller
        ones suit classes of few samples.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a
        matrix of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2
        bytes of memory. Use ``"log_sqeuclidean"`` to compare with LibOPF and the paper, and ``"gower"`` for
        tables with text or missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "tree", "brute"}, default="auto"
        How distances are searched: ``"tree"`` suits few features, ``"brute"`` many, and ``"auto"``
        chooses. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    n_jobs : int, default=None
        Number of threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the
        same.
    random_state : int, RandomState or None, default=0
        Folds and trees of ``method="thorough"``; ``"fast"`` is not random.

    Returns
    -------
    Issues
        Arrays with one entry per sample, in the order of `X`.

    See Also
    --------
    Issues : What the arrays mean.
    OPFOutlierDetector : Outliers alone, also among new samples.

    Notes
    -----
    With a the cost of the given class and b the smallest cost of another, the score of ``"fast"`` is
    b / (a + b): 0.5 where both are 0, 1 where no other class exists, 0 for the only sample of a class. Equal
    rows are different samples. If a class has fewer samples than `n_conquerors`, all of them count. Of rivals
    that tie, the one with the nearer member wins, then the one whose member comes first.

    Time is that of one neighbour search over all samples, memory grows with n times `n_conquerors`.

    Examples
    --------
    >>> from pathforest import find_issues
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [10.0], [11.0], [12.0], [13.0], [14.0]]
    >>> y = ["low", "low", "high", "low", "low", "high", "high", "high", "high", "high"]
    >>> issues = find_issues(X, y, n_conquerors=3)
    >>> issues.suspects.tolist()
    [2]
    >>> print(issues.suggested[2], issues.score[2].round(2))
    low 0.13
    """
    rules.choice("fast", "thorough")("method", method)
    rules.random_state("random_state", random_state)
    _refuse_collections(X, y)
    # Parameters and samples are checked as those of the classifier are.
    model = OPFClassifier(
        n_conquerors=n_conquerors,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        device=device,
        n_jobs=n_jobs,
    )
    settings = model._settings()._replace(squares=True)
    require_labels(model, y)
    samples, resolved = check_training(model, X, settings)
    labels = check_labels(y)
    check_consistent_length(samples, labels)
    model.classes_, codes = Labels.of(labels)
    probability = None
    if method == "thorough":
        if isinstance(samples, SparseSamples):
            raise ValueError("method='thorough' takes no sparse matrix; use method='fast', or X.toarray()")
        from pathforest.issues.thorough import ask_unseen  # the search is slow to import

        probability = ask_unseen(samples, codes, model, resolved, random_state)
    offers = leave_one_out_offers(
        samples,
        codes,
        min(int(n_conquerors), len(samples)),  # no class has more
        resolved,
        algorithm,
        device,
        settings.n_threads,
        rivals=None if probability is None else _likeliest_others(probability, codes),
    )
    if probability is None:
        opinion = compare_costs(offers)
    else:
        opinion = compare_probabilities(probability, codes, offers.rival)
    return _report(samples, labels, codes, resolved, offers, opinion, method, model)


def _likeliest_others(probability: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return a mask of the classes that are more probable than all but the given one; several may tie."""
    others = np.where(np.arange(probability.shape[1]) == codes[:, None], -1, probability)
    return (others >= 0) & (others == others.max(axis=1, keepdims=True))


def compare_costs(offers: Offers) -> Opinion:
    """Judge labels by the costs of the given class and of its rival."""
    own, other = offers.own, offers.rival_cost
    with np.errstate(invalid="ignore"):
        score = other / (own + other)
    score[(own == 0) & (other == 0)] = 0.5
    score[np.isinf(other)] = 1.0
    score[np.isinf(own)] = 0.0
    return Opinion(score, offers.rival, other < own, score)


def compare_probabilities(probability: np.ndarray, codes: np.ndarray, rival: np.ndarray) -> Opinion:
    """Judge labels by the probabilities of the given class and of its rival."""
    rows = np.arange(len(codes))
    score, best = probability[rows, codes], np.where(rival == NONE, 0.0, probability[rows, rival])
    return Opinion(score, rival, best > score, score / (score + best))


def _report(
    X: np.ndarray,
    labels: np.ndarray,
    codes: np.ndarray,
    metric: Metric,
    offers: Offers,
    opinion: Opinion,
    method: str,
    model: OPFClassifier,
) -> Issues:
    classes, k = model.classes_, offers.nearest.indices.shape[1]
    suggested = np.where(opinion.prefers_rival, opinion.rival, codes)
    is_issue, noise_share = flag(opinion, codes)
    rho = density(offers.nearest, k, metric.squared)
    normal = scale(np.log(rho), rho)
    group = duplicate_groups(X, metric)
    nearest, distance = (
        array[:, 0] if k else np.full(len(codes), blank)
        for array, blank in zip(offers.nearest[::-1], (NONE, np.inf), strict=True)
    )
    border = _border_scores(offers)
    return Issues(
        method=method,
        n_conquerors=offers.own_lists.indices.shape[1],
        classes=classes,
        given=labels,
        score=opinion.score,
        suggested=classes[suggested],
        is_label_issue=is_issue,
        noise_share=noise_share,
        rival=classes[np.where(opinion.rival == NONE, codes, opinion.rival)],
        cost=offers.own,
        rival_cost=offers.rival_cost,
        conquerors=offers.own_lists.indices,
        rival_conquerors=offers.rival_lists.indices,
        distances=offers.own_lists.distances,
        rival_distances=offers.rival_lists.distances,
        outlier_score=1 - normal,
        is_outlier=normal < lower_fence(normal),
        duplicate_group=group,
        is_conflict=conflicts(group, codes),
        nearest=nearest,
        nearest_distance=distance,
        is_near_duplicate=near_duplicates(distance),
        border_score=border,
        is_border=(border >= BORDER) & ~is_issue,
        island=islands(offers.nearest, codes, offers.own_lists.indices.shape[1]),
        confusion=np.bincount(codes * len(classes) + suggested, minlength=len(classes) ** 2).reshape(
            len(classes), -1
        ),
    )


def _border_scores(offers: Offers) -> np.ndarray:
    """Divide the smaller cost of the two classes by the larger; 1 if both are 0, 0 if one is infinite."""
    low, high = np.minimum(offers.own, offers.rival_cost), np.maximum(offers.own, offers.rival_cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(high == 0, 1.0, np.where(np.isinf(high), 0.0, low / high))


def _refuse_collections(*arrays: Any) -> None:
    """Refuse Dask's collections, which would be gathered in memory unasked."""
    for array in arrays:
        if type(array).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"find_issues takes samples in memory, not a Dask {type(array).__name__}; pass "
                "X.compute() and y.compute() if they fit"
            )
