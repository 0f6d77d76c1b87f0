"""One call from samples and labels to everything that looks wrong about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from pathforest import _core
from pathforest._engines.matrix import symmetric
from pathforest._engines.metric import WITH_GAPS, Metric, choose_algorithm
from pathforest._engines.samples import SparseSamples
from pathforest._issues.issues import Issues
from pathforest._models import parameters as rules
from pathforest._models.base import IN_UNITS, FitData, KeptSamples, OPFEstimator, open_fit, warn_of_units
from pathforest._models.labels import Opinion, compare_costs, flag, flag_little, join
from pathforest._models.leave_one_out import Offers, leave_one_out_offers, no_lists
from pathforest._models.offers import NONE
from pathforest._utils.checks import map_threads
from pathforest._utils.splits import content_order
from pathforest.graph import KnnGraph
from pathforest.membership import density, lower_fence, normality

# Two classes that cost nearly the same, the cheaper one at least this share of the other, meet at a sample.
BORDER = 0.9
FEWEST = 10  # samples for models that learn, so that the folds inside a search have some too
# Up to these numbers of samples, features and classes "auto" is thorough: about ten seconds on one core.
SMALL = (600, 50, 10)
# Up to this many samples times classes, and classes, it grows a random forest: that keeps all shares.
GROWN, MOST_CLASSES = 1_000_000, 100
AT_ONCE = 8  # features that one thread standardises
# So near, as a share of the median distance from a sample to its nearest other, two samples are nearly equal.
NEAR = 0.1


def find_issues(
    X: Any,
    y: Any,
    *,
    method: str = "auto",
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
    label is doubtful if another class offers less, or if models that have not seen it prefer another class.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or their distances for ``metric="precomputed"``. float32 stays float32; other types are
        converted to float64. Sparse matrices are for ``metric="cosine"``, ``"euclidean"`` and
        ``"sqeuclidean"``.
    y : array-like of shape (n_samples,)
        Their labels, of any type; none may be missing.
    method : {"auto", "fast", "learned", "thorough"}, default="auto"
        ``"auto"`` standardises the features and is thorough where that takes about ten seconds: up to 600
        samples, 50 features and 10 classes. Above, it is ``"learned"``; above 100 classes or a million
        samples times classes, below 10 samples, and for a single class ``"fast"``. Sparse matrices and
        metrics other than ``"euclidean"`` are ``"fast"`` on the features as given. What was used is in
        ``Issues.method``.

        ``"fast"`` compares the costs of the classes, in one pass over the samples as given: scale features in
        different units first. ``"learned"`` standardises them, and takes the mean of that and of a random
        forest, whose trees are asked about the samples that they did not draw. ``"thorough"`` asks models
        that have not seen the label: the search of `FuzzyOPFClassifierCV` and a random forest, on five
        folds. It finds most, and takes as long as five such searches. The order of
        distinct samples does not matter. That of the features does, by up to 0.3 for single scores, because
        random forests draw among them by position.
    n_conquerors : int, default=13
        How many of its nearest members speak for each class. Larger values outvote more wrong labels; smaller
        ones suit classes of few samples.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    random_state : int, RandomState or None, default=0
        Folds and trees; ``method="fast"`` is not random.

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

    The score of ``"learned"`` is the mean of two: b / (a + b), for the rival likeliest to the trees, and
    the part of the given class in the probability of both. That of ``"thorough"`` is the probability of the
    given class. Both flag labels that another class fits better and whose mean of such two is below 0.35;
    ``"fast"`` compares how clear mistakes and overlap are.

    ``"fast"`` takes the time of one neighbour search over all samples, ``"learned"`` that of a random forest
    more; memory grows with n times `n_conquerors`, and with n times the number of classes.

    Examples
    --------
    >>> from pathforest import find_issues
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [10.0], [11.0], [12.0], [13.0], [14.0]]
    >>> y = ["low", "low", "high", "low", "low", "high", "high", "high", "high", "high"]
    >>> issues = find_issues(X, y, method="fast", n_conquerors=3)
    >>> issues.suspects.tolist()
    [2]
    >>> print(issues.suggested[2], issues.score[2].round(2))
    low 0.13
    """
    for array in (X, y):  # Dask's would be gathered in memory unasked
        if type(array).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"find_issues takes samples in memory, not a Dask {type(array).__name__}; use "
                "pathforest.dask.find_issues, or pass X.compute() and y.compute() if they fit"
            )
    question = Question(
        method=method,
        n_conquerors=n_conquerors,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        device=device,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    shown, data = X, open_fit(question, X, y, labelled=True, as_given=False)
    way = _choose(data) if method == "auto" else Way(method, method == "learned")
    X, codes = _standardised(data.X, data.n_threads) if way.standardises else data.X, data.labels.codes
    chosen = choose_algorithm(data.metric, X.shape[1], algorithm)
    asked = KeptSamples(X, data.metric, chosen, data.n_threads, device, {}), codes, int(n_conquerors)
    if way.method == "fast":
        if not way.standardises:
            warn_of_units(question, X, data.metric)
        offers = leave_one_out_offers(*asked)
        opinion = compare_costs(offers.own, offers.rival_cost, offers.rival)
        return report(data, way, offers, opinion, flag(opinion, codes), duplicate_groups(data, offers), shown)
    _check_takes_features(data, way.method)
    from pathforest._issues.unseen import ask_unseen, out_of_bag, out_of_fold  # the search is slow to import

    ask = out_of_bag if way.method == "learned" else out_of_fold
    probability = ask_unseen(X, data.labels, question, data.n_threads, ask)
    offers = leave_one_out_offers(*asked, _likeliest_others(probability, codes))
    opinion = compare_probabilities(probability, codes, offers.rival)
    both = join(opinion, compare_costs(offers.own, offers.rival_cost, offers.rival))
    opinion = both if way.method == "learned" else opinion
    is_issue = flag_little(both, codes) & opinion.prefers_rival
    flagged = is_issue, flag(both, codes)[1]
    return report(data, way, offers, opinion, flagged, duplicate_groups(data, offers), shown)


class Way(NamedTuple):
    """How labels are judged."""

    method: str
    standardises: bool

    def __str__(self) -> str:
        return (
            f"{self.method}, standardised" if self.standardises and self.method != "learned" else self.method
        )


def _choose(data: FitData) -> Way:
    """Say what "auto" does: the best that takes seconds, or not much longer than the distances."""
    X, (names, codes) = data.X, data.labels
    if isinstance(X, SparseSamples) or data.metric.name != "euclidean":
        return Way("fast", False)
    n, n_classes = len(codes), len(names)
    if n < FEWEST or n_classes == 1 or n_classes > MOST_CLASSES or n * n_classes > GROWN:
        return Way("fast", True)
    is_small = all(np.array([n, X.shape[1], n_classes]) <= SMALL)
    return Way("thorough" if is_small else "learned", True)


def _standardised(X: np.ndarray, n_threads: int) -> np.ndarray:
    """Give features mean 0 and standard deviation 1, added up in an order that is not that of the rows."""
    order, found = content_order(X), np.empty_like(X)

    def scale(features: slice) -> None:
        scaler = make_pipeline(MaxAbsScaler(), StandardScaler()).fit(X[order, features])
        found[:, features] = scaler.transform(X[:, features])

    list(map_threads(scale, n_threads, (slice(i, i + AT_ONCE) for i in range(0, X.shape[1], AT_ONCE))))
    return found


def _check_takes_features(data: FitData, method: str) -> None:
    """Refuse samples that models which learn from features cannot take."""
    X, n, way_out = data.X, len(data.labels.codes), "use method='fast'"
    if isinstance(X, SparseSamples):
        raise ValueError(f"method={method!r} takes no sparse matrix; {way_out}, or X.toarray()")
    if data.metric.kind == "precomputed":
        raise ValueError(f"method={method!r} needs features, not metric='precomputed'; {way_out}")
    if data.metric.name == "gower" or np.isnan(X).any():
        raise ValueError(
            f"method={method!r} needs numbers without gaps, for its models; {way_out}, or fill in missing "
            "values and encode categories"
        )
    if n < FEWEST:
        raise ValueError(f"method={method!r} needs {FEWEST} samples or more, got {n}; {way_out}")


class Question(OPFEstimator):
    """The arguments of a call, which are checked as those of estimators are."""

    _rules: ClassVar[rules.Rules] = {
        "method": rules.choice("auto", "fast", "learned", "thorough"),
        "n_conquerors": rules.n_conquerors,
        **rules.DISTANCES,
        "random_state": rules.random_state,
    }
    _squares = True  # for the density
    verbose = 0

    def __init__(self, **arguments: Any) -> None:
        vars(self).update(arguments)


Question.__name__ = "find_issues"  # as messages name it


# Groups


def duplicate_groups(data: FitData, offers: Offers) -> np.ndarray:
    """Return the group of equal rows, or of those that distances of 0 join, of each sample; else -1."""
    if data.metric.kind == "precomputed":
        return number_groups(connected_components(csr_array(symmetric(data.X) == 0), directed=False)[1])
    if isinstance(data.X, SparseSamples):
        X, ends = data.X, data.X.indptr[1:-1]
        rows = zip(np.split(X.indices, ends), np.split(X.data, ends), strict=True)
        return number_groups(np.array([a.tobytes() + b.tobytes() for a, b in rows], dtype=object))
    # To sort all takes far longer than those that may have a copy: it is at no distance from them.
    found = may_have_copies(data.metric, offers.nearest.distances)
    group, few = np.full(len(found), NONE), bytes_of_rows(data.X[found])
    group[found] = number_groups(few)
    return group


def may_have_copies(metric: Metric, nearest: np.ndarray) -> np.ndarray:
    """Say which samples may have a copy, given the distances of those nearest to each."""
    is_sure = metric.name in IN_UNITS.difference(WITH_GAPS) and nearest.shape[1] > 0
    return nearest[:, 0] == 0 if is_sure else np.full(len(nearest), True)


def bytes_of_rows(X: np.ndarray) -> np.ndarray:
    """Return the bytes of each row as one value; those of equal rows are equal."""
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 + 0.0 is 0.0
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


def number_groups(labels: np.ndarray) -> np.ndarray:
    """Give groups of two or more numbers from 0, in the order of their first samples; -1 to a single one."""
    _, first, group, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    kept, number = np.flatnonzero(size > 1), np.full(len(size), -1)
    number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
    return number[group]


def _conflicts(group: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Say which samples have a copy with another label."""
    low, high = np.full(len(group), len(group)), np.full(len(group), -1)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    return (group >= 0) & (low[group] < high[group])


def islands(graph: KnnGraph, codes: np.ndarray, largest: int) -> np.ndarray:
    """Return the number of the island that each sample is in; -1 for those in none."""
    # A group of a class, joined by neighbour lists, of 2 to `largest` samples, and not the largest of these.
    part = _core.parts_of_classes(*graph, codes.astype(np.int32))
    size, most = np.bincount(part, minlength=len(part)), np.zeros(codes.max() + 1, dtype=np.intp)
    np.maximum.at(most, codes, size)
    is_in, island = ((size <= largest) & (size < most[codes]))[part], np.full(len(part), NONE)
    island[is_in] = number_groups(part[is_in])
    return island


def compare_probabilities(probability: np.ndarray, codes: np.ndarray, rival: np.ndarray) -> Opinion:
    """Judge labels by the probabilities of the given class and of its rival."""
    rows = np.arange(len(codes))
    score, best = probability[rows, codes], np.where(rival == NONE, 0.0, probability[rows, rival])
    return Opinion(score, rival, best > score, score / (score + best))


def _likeliest_others(probability: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return a mask of the classes that are more probable than all but the given one; several may tie."""
    others = np.where(np.arange(probability.shape[1]) == codes[:, None], -1, probability)
    return (others >= 0) & (others == others.max(axis=1, keepdims=True))


def report(
    data: FitData,
    way: Way,
    offers: Offers,
    opinion: Opinion,
    flagged: tuple[np.ndarray, float],
    group: np.ndarray,
    X: Any = None,
) -> Issues:
    """Put together what was found; `flagged` says what is an issue, and the share, `group` numbers copies."""
    (classes, codes), (is_issue, noise_share) = data.labels, flagged
    n, n_conquerors = len(classes), offers.own_lists.indices.shape[1]
    suggested = np.where(opinion.prefers_rival, opinion.rival, codes)
    rho = density(offers.nearest, offers.nearest.indices.shape[1], data.metric.squared)
    graph = offers.nearest if len(codes) > 1 else no_lists(1, 1)  # of a single sample
    nearest_distance = graph.distances[:, 0]
    normal = normality(np.log(rho), rho)
    apart = nearest_distance[(nearest_distance > 0) & np.isfinite(nearest_distance)]
    low, high = np.minimum(offers.own, offers.rival_cost), np.maximum(offers.own, offers.rival_cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        border = np.where(high == 0, 1.0, np.where(np.isinf(high), 0.0, low / high))
    return Issues(
        method=str(way),
        n_conquerors=n_conquerors,
        classes=classes,
        given=classes[codes],
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
        is_conflict=_conflicts(group, codes),
        nearest=graph.indices[:, 0],
        nearest_distance=nearest_distance,
        is_near_duplicate=nearest_distance <= (NEAR * np.median(apart) if len(apart) else 0.0),
        border_score=border,
        is_border=(border >= BORDER) & ~is_issue,
        island=islands(offers.nearest, codes, n_conquerors),
        confusion=np.bincount(codes * n + suggested, minlength=n * n).reshape(n, n),
        _X=X,
    )
