"""Training samples chosen by validation samples: fewer of them, or more useful ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from pathforest._base import BaseOPFClassifier
from pathforest._matrix import check_distances
from pathforest._validation import check_integer, check_labels
from pathforest.classifier import OPFClassifier

DTYPES = [np.float64, np.float32]


class Pruned(NamedTuple):
    """A classifier with fewer training samples."""

    model: BaseOPFClassifier  # fitted to the samples that were kept
    kept: np.ndarray  # (n_kept,) their indices among the training samples, ascending
    n_iter: (
        int  # rounds of pruning; the last one found nothing to remove, cost too much or was the last allowed
    )


class Learned(NamedTuple):
    """A classifier whose training samples were exchanged for more useful ones."""

    model: OPFClassifier  # fitted to the rows below
    train_rows: np.ndarray  # (n_train,) rows of the training samples followed by the validation samples
    val_rows: np.ndarray  # (n_val,) the other rows


class Judgement(NamedTuple):
    """What validation samples say about a model."""

    n_right: int  # validation samples that get their own label
    relevant: np.ndarray  # (n,) whether a training sample had a part in any answer


def prune(
    model: OPFClassifier, X_val: Any, y_val: Any, *, max_loss: float = 0.0, max_iter: int = 100
) -> Pruned:
    """Remove the training samples that have no part in the answers to validation samples.

    A training sample is relevant if it conquers a validation sample, or lies on the path from the prototype
    to one that does. The others are removed and the classifier is fitted anew to those that are left; this is
    repeated until all are relevant, or until the accuracy on the validation samples would fall by more than
    `max_loss`.

    Parameters
    ----------
    model : OPFClassifier
        A fitted classifier. It is not changed.
    X_val : array-like of shape (n_val, n_features)
        Validation samples, none of which should be training samples.
    y_val : array-like of shape (n_val,)
        Their labels.
    max_loss : float, default=0.0
        Accuracy on the validation samples that may be given up, such as 0.01 for one point.
    max_iter : int, default=100
        How often to remove samples at most.

    Returns
    -------
    Pruned
        Named tuple ``(model, kept, n_iter)``: a classifier fitted to the samples that were kept (`model`
        itself if nothing was removed), their indices among the training samples, and the number of rounds.

    Notes
    -----
    A new fit finds new prototypes and costs, so the answers may change, for better or worse; that is what
    `max_loss` bounds. A class without a relevant sample keeps its prototypes, so that no class is lost. With
    `n_conquerors` r, the r samples that speak for the winning class all count as conquerors.

    LibOPF's ``opf_pruning`` also moves what it removes to the validation samples; here these stay the same,
    so that accuracies compare.

    References
    ----------
    J. P. Papa, A. X. Falcão, "On the training patterns pruning for optimum-path forest", International
    Conference on Image Analysis and Processing, 2009.

    Examples
    --------
    >>> from pathforest import OPFClassifier
    >>> from pathforest.pruning import prune
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
    >>> model = OPFClassifier().fit(X, y)
    >>> prune(model, [[1.8], [1.2], [5.3]], ["a", "a", "b"]).kept.tolist()
    [2, 3]
    """
    if not isinstance(model, OPFClassifier):
        raise TypeError(
            f"prune takes an OPFClassifier, got {type(model).__name__}; OPFPruner takes the fuzzy one"
        )
    check_is_fitted(model)
    _check_pruning(max_loss, max_iter)
    if model._fit_X is None:
        raise ValueError(
            "a model with metric='precomputed' keeps no distances between training samples to fit anew with; "
            "pass the matrix to OPFPruner"
        )
    Q, y_val = model._check_prediction(X_val), check_labels(y_val)
    check_consistent_length(Q, y_val)
    # Plain OPF gives every training sample its own label, so those of the model are those it was fitted to.
    pruned = _prune(
        model, model.label_, y_val, lambda kept: model._fit_X[kept], lambda *_: Q, max_loss, max_iter
    )
    if hasattr(model, "feature_names_in_"):
        pruned.model.feature_names_in_ = model.feature_names_in_
    return pruned


def learn(
    model: OPFClassifier,
    X_train: Any,
    y_train: Any,
    X_val: Any,
    y_val: Any,
    n_iter: int = 10,
    random_state: Any = 0,
) -> Learned:
    """Exchange training samples for validation samples that were misclassified.

    Each iteration fits the classifier, and exchanges every validation sample it gets wrong for a training
    sample of the same class that is no prototype, drawn at random. The model with the best accuracy on its
    validation samples is returned, the earliest of several.

    Parameters
    ----------
    model : OPFClassifier
        The parameters to fit with. It is not changed.
    X_train : array-like of shape (n_train, n_features)
        Training samples to start from.
    y_train : array-like of shape (n_train,)
        Their labels.
    X_val : array-like of shape (n_val, n_features)
        Validation samples.
    y_val : array-like of shape (n_val,)
        Their labels.
    n_iter : int, default=10
        Exchanges at most. It stops earlier if no validation sample is wrong, or none can be exchanged.
    random_state : int or numpy.random.Generator, default=0
        Decides which training samples are given away.

    Returns
    -------
    Learned
        Named tuple ``(model, train_rows, val_rows)``. Rows count through the training samples first, then
        through the validation samples.

    Notes
    -----
    The number of training samples does not change, nor that of any class. Because samples that are hard to
    classify leave the validation set, its accuracy after an exchange is too good to be true: judge the model
    by samples that had no part in this.

    References
    ----------
    J. P. Papa, A. X. Falcão, C. T. N. Suzuki, "Supervised pattern classification based on optimum-path
    forest", International Journal of Imaging Systems and Technology 19(2), 2009.

    Examples
    --------
    >>> from pathforest import OPFClassifier
    >>> from pathforest.pruning import learn
    >>> X_train, y_train = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], [0, 0, 0, 1, 1, 1]
    >>> learned = learn(OPFClassifier(), X_train, y_train, [[3.8], [4.6]], [0, 1])
    >>> sorted(learned.train_rows.tolist())  # the first validation sample, row 6, has taken a place
    [1, 2, 3, 4, 5, 6]
    >>> learned.model.predict([[3.7]]).tolist()
    [0]
    """
    if not isinstance(model, OPFClassifier):
        raise TypeError(f"learn takes an OPFClassifier, got {type(model).__name__}")
    if get_tags(model).input_tags.pairwise:
        raise ValueError(
            "learn needs features, not metric='precomputed': distances between validation samples are missing"
        )
    check_integer("n_iter", n_iter, 0, "10 is the default")
    rng = np.random.default_rng(random_state)
    parts = [check_array(part, dtype=DTYPES) for part in (X_train, X_val)]
    labels = [check_labels(part) for part in (y_train, y_val)]
    for part, own in zip(parts, labels, strict=True):
        check_consistent_length(part, own)
    X, y = np.concatenate(parts), np.concatenate(labels)
    train, val = np.arange(len(labels[0])), np.arange(len(labels[0]), len(y))
    best, most = None, -1
    for iteration in range(int(n_iter) + 1):
        fitted = clone(model).fit(X[train], y[train])
        wrong = np.flatnonzero(fitted.predict(X[val]) != y[val])
        if len(val) - len(wrong) > most:
            best, most = Learned(fitted, train.copy(), val.copy()), len(val) - len(wrong)
        if iteration == n_iter or not _exchange(train, val, wrong, y, fitted.prototypes_, rng):
            break
    return best


def _exchange(
    train: np.ndarray,
    val: np.ndarray,
    wrong: np.ndarray,
    y: np.ndarray,
    prototypes: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Exchange validation samples, at these positions, for training samples of their class; count them."""
    free = np.ones(len(train), dtype=bool)
    free[prototypes] = False
    n_exchanged = 0
    for label in np.unique(y[val[wrong]]):
        leaving = wrong[y[val[wrong]] == label]
        offered = rng.permutation(np.flatnonzero(free & (y[train] == label)))[: len(leaving)]
        leaving = leaving[: len(offered)]
        train[offered], val[leaving] = val[leaving], train[offered]
        n_exchanged += len(offered)
    return n_exchanged


class OPFPruner(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Optimum-Path Forest classifier that keeps only the training samples it needs.

    Part of the samples is set aside for validation; the classifier is fitted to the rest and pruned as
    :func:`prune` does it. The result is a smaller model that answers faster.

    Parameters
    ----------
    estimator : OPFClassifier or FuzzyOPFClassifier, default=None
        The classifier to fit and prune; None is ``OPFClassifier()``.
    validation_fraction : float, default=0.3
        Share of each class that is set aside, between 0 and 1. More of it means that more training samples
        turn out to be needed, of fewer. Every class keeps a training sample.
    max_loss : float, default=0.0
        Accuracy on the validation samples that may be given up, such as 0.01 for one point.
    max_iter : int, default=100
        How often to remove samples at most.
    random_state : int, RandomState instance or None, default=None
        Decides which samples are set aside. Pass an integer for the same model every time.

    Attributes
    ----------
    estimator_ : OPFClassifier or FuzzyOPFClassifier
        The pruned classifier.
    sample_indices_ : ndarray of shape (n_kept,)
        Indices in X of the samples that it was fitted to, ascending.
    n_iter_ : int
        Rounds of pruning, the last of which removed nothing or was taken back, or `max_iter`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are all strings.

    See Also
    --------
    prune : The same for a fitted classifier and validation samples of your own.

    Notes
    -----
    The samples set aside are not put back: they chose the model and are no part of it. If no class has two
    samples there is nothing to validate with, and nothing is pruned.

    References
    ----------
    J. P. Papa, A. X. Falcão, "On the training patterns pruning for optimum-path forest", International
    Conference on Image Analysis and Processing, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest import OPFPruner
    >>> X, y = load_iris(return_X_y=True)
    >>> pruner = OPFPruner(max_loss=0.02, random_state=0).fit(X, y)
    >>> len(pruner.sample_indices_)
    54
    >>> pruner.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        estimator: BaseOPFClassifier | None = None,
        *,
        validation_fraction: float = 0.3,
        max_loss: float = 0.0,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.validation_fraction = validation_fraction
        self.max_loss = max_loss
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template()).input_tags
        tags.input_tags.pairwise, tags.input_tags.positive_only = inner.pairwise, inner.positive_only
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Set validation samples aside, fit the classifier to the others and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or their distances for an estimator with ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.

        Returns
        -------
        self : OPFPruner
            The fitted estimator.
        """
        template = self._template()
        if not isinstance(template, BaseOPFClassifier):
            raise TypeError(
                f"estimator={template!r} is no OPFClassifier or FuzzyOPFClassifier, and has no paths to prune"
            )
        _check_pruning(self.max_loss, self.max_iter)
        if not (isinstance(self.validation_fraction, Real) and 0 < self.validation_fraction < 1):
            raise ValueError(
                f"validation_fraction={self.validation_fraction!r} is no share of the samples; use a number "
                "between 0 and 1, such as 0.3"
            )
        if y is None:
            raise ValueError("OPFPruner requires y to be passed, but the target y is None")
        X, labels = validate_data(self, X, dtype=DTYPES), check_labels(y)
        check_consistent_length(X, labels)
        pairwise = get_tags(template).input_tags.pairwise
        if pairwise:
            check_distances(X, square=True)
        rows, val = _set_aside(labels, float(self.validation_fraction), check_random_state(self.random_state))

        def among(chosen: np.ndarray, kept: np.ndarray) -> np.ndarray:
            return X[np.ix_(chosen, rows[kept])] if pairwise else X[chosen]

        everyone = np.arange(len(rows))
        pruned = Pruned(clone(template).fit(among(rows, everyone), labels[rows]), everyone, 1)
        if len(val):
            pruned = _prune(
                pruned.model,
                labels[rows],
                labels[val],
                lambda kept: among(rows[kept], kept),
                lambda model, kept: model._check_prediction(among(val, kept)),
                self.max_loss,
                self.max_iter,
            )
        self.estimator_, self.sample_indices_, self.n_iter_ = pruned.model, rows[pruned.kept], pruned.n_iter
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class whose offer is cheapest.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_samples)
            New samples, or their distances to all samples that `fit` was given.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        Q = self._queries(X)
        return self.estimator_.predict(Q)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the pruned classifier.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_samples)
            New samples, or their distances to all samples that `fit` was given.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1.
        """
        Q = self._queries(X)
        return self.estimator_.predict_proba(Q)

    def _template(self) -> BaseOPFClassifier:
        return OPFClassifier() if self.estimator is None else self.estimator

    def _queries(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        Q = validate_data(self, X, reset=False, dtype=DTYPES)
        return Q[:, self.sample_indices_] if get_tags(self.estimator_).input_tags.pairwise else Q


def _check_pruning(max_loss: Any, max_iter: Any) -> None:
    if isinstance(max_loss, bool) or not (isinstance(max_loss, Real) and math.isfinite(max_loss)):
        raise TypeError(f"max_loss={max_loss!r} must be a number, an accuracy such as 0.01")
    if not 0 <= max_loss <= 1:
        raise ValueError(f"max_loss={max_loss!r} must lie between 0 and 1: it is an accuracy, such as 0.01")
    check_integer("max_iter", max_iter, 0, "100 is the default, 0 prunes nothing")


def _set_aside(
    labels: np.ndarray, fraction: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Divide the rows into training and validation, class by class; every class keeps a training sample."""
    is_val = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        is_val[rng.permutation(own)[: min(round(fraction * len(own)), len(own) - 1)]] = True
    return np.flatnonzero(~is_val), np.flatnonzero(is_val)


def _prune(
    model: BaseOPFClassifier,
    y: np.ndarray,
    y_val: np.ndarray,
    samples: Callable[[np.ndarray], np.ndarray],
    queries: Callable[[BaseOPFClassifier, np.ndarray], np.ndarray],
    max_loss: float,
    max_iter: int,
) -> Pruned:
    """Remove irrelevant samples until there are none, or the accuracy falls too far.

    `samples` returns the training samples at these indices, `queries` the checked validation samples for a
    model of those.
    """
    kept = np.arange(len(y))
    judgement = _judge(model, queries(model, kept), y_val)
    # The tolerance is for products such as 0.29 * 100, which round to less than they are.
    fewest = judgement.n_right - float(max_loss) * len(y_val) - 1e-9
    n_iter = 0
    for n_iter in range(1, int(max_iter) + 1):  # noqa: B007
        relevant = _with_every_class(model, judgement.relevant, y[kept])
        if relevant.all():
            break
        smaller = clone(model).fit(samples(kept[relevant]), y[kept[relevant]])
        judgement = _judge(smaller, queries(smaller, kept[relevant]), y_val)
        if judgement.n_right < fewest:
            break
        model, kept = smaller, kept[relevant]
    return Pruned(model, kept, n_iter)


def _judge(model: BaseOPFClassifier, Q: np.ndarray, y_val: np.ndarray) -> Judgement:
    """Classify the validation samples, and mark all that had a part in it, paths included."""
    codes, relevant = model._conquerors(Q)
    newest = np.flatnonzero(relevant)
    while newest.size:
        parents = np.unique(model.predecessor_[newest])
        newest = parents[(parents >= 0) & ~relevant[parents]]
        relevant[newest] = True
    return Judgement(int((model.classes_[codes] == y_val).sum()), relevant)


def _with_every_class(model: BaseOPFClassifier, relevant: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Add the prototypes of classes that would be lost."""
    lost = np.setdiff1d(y, y[relevant])
    relevant = relevant.copy()
    relevant[model.prototypes_[np.isin(y[model.prototypes_], lost)]] = True
    return relevant
