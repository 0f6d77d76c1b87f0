"""Fewer training samples: those that have a part in the answers to validation samples."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pathforest._engines.metric import Metric, array_options
from pathforest._engines.samples import check_distances, validated
from pathforest._models import parameters as rules
from pathforest._models.base import OPFEstimator, Settings, check_queries, warn_of_units
from pathforest._models.classifier import ForestClassifier
from pathforest._models.labels import Labels, check_labels_like, read_labels
from pathforest._models.offers import bids, decide
from pathforest._persistence import checks as stored
from pathforest._tables.columns import as_table
from pathforest._utils.progress import fitting
from pathforest._utils.splits import validation_split
from pathforest.classifier import OPFClassifier
from pathforest.fuzzy import FuzzyOPFClassifier

# What OPFPruner takes. Labels of a semi-supervised model are not given, and a search has several models.
PRUNABLE = (OPFClassifier, FuzzyOPFClassifier)
_check_prunable = rules.where(
    lambda value: isinstance(value, PRUNABLE),
    "cannot be pruned; use an OPFClassifier or a FuzzyOPFClassifier",
    TypeError,
)


class Pruned(NamedTuple):
    """A classifier with fewer training samples."""

    model: ForestClassifier  # fitted to the samples that were kept
    kept: np.ndarray  # (n_kept,) their indices among the training samples, ascending
    n_iter: int  # rounds, the last of which found nothing to remove, cost too much or was the last allowed


def prune(
    model: OPFClassifier, X_val: Any, y_val: Any, *, max_loss: float = 0.0, max_iter: int = 100
) -> Pruned:
    """Remove the training samples that have no part in the answers to validation samples.

    A training sample is relevant if it conquers a validation sample or lies on the path from a prototype to
    one that does. The others are removed and the classifier is fitted again to those left, until all are
    relevant or the accuracy on the validation samples would fall by more than `max_loss`.

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
    A new fit finds new prototypes and costs, so answers may change, for better or worse; `max_loss` bounds
    that. A class without a relevant sample keeps its prototypes, so that no class is lost. With
    `n_conquerors` r, the r samples that decide for the winning class all count as conquerors. Distances stay
    the same: variances or covariances that the metric took from all training samples are passed on in
    `metric_params`. LibOPF's ``opf_pruning`` also moves what it removes to the validation samples; here these
    stay the same, so that accuracies can be compared.

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
    rules.max_loss("max_loss", max_loss)
    rules.max_iter("max_iter", max_iter)
    if model._fit_X is None:
        raise ValueError(
            "a model with metric='precomputed' keeps no distances between training samples to fit again; "
            "pass the matrix to OPFPruner"
        )
    Q, y_val = check_queries(model, X_val), check_labels_like(model.classes_, y_val)
    check_consistent_length(Q, y_val)
    # Plain OPF gives every training sample its own label, so those of the model are those it was fitted to.
    return _prune(model, model._fit_X, model.label_, Q, y_val, max_loss, max_iter)


def pass_on_names(source: Any, model: Any) -> None:
    """Give a model, which was fitted to plain arrays, the names that the features have in another."""
    names = ("feature_names_in_", "categories_")
    vars(model).update({name: value for name, value in vars(source).items() if name in names})


def _check_pruned(model: OPFPruner, sizes: dict[str, int]) -> None:
    if "_fit_template" in vars(model):
        _template_of(model)._settings()
    inner, classes = model.estimator_, model.classes_
    stored.demand(isinstance(inner, PRUNABLE), "estimator_ is not a fitted classifier")
    is_same = classes.dtype == inner.classes_.dtype and np.array_equal(classes, inner.classes_)
    stored.demand(is_same, "classes_ and those of estimator_ differ")
    n_features, n_kept = model.n_features_in_, len(inner.order_)
    pairwise = Metric(*inner._fit_metric).kind == "precomputed"
    sizes |= {"kept": n_kept, "given": n_features if pairwise else stored.LARGEST}
    stored.indices("kept", "given", ascending=True)(model, "sample_indices_", sizes)
    is_same = inner.n_features_in_ == (n_kept if pairwise else n_features)
    stored.demand(is_same, "estimator_ has other features")


def _pack_template(model: OPFPruner, state: dict[str, Any]) -> dict[str, Any]:
    """Put the template into a file as a name and parameters: a file contains fitted estimators only."""
    template = state["estimator"]
    if template is None:
        return state
    _check_prunable("estimator", template)
    described = type(template).__name__, template.get_params(deep=False)
    return state | {"estimator": None, "_fit_template": described}


def _template_of(model: OPFPruner) -> OPFClassifier | FuzzyOPFClassifier:
    """Make the template that a file describes."""
    kinds = {kind.__name__: kind for kind in PRUNABLE}
    match model._fit_template:
        case (str(name), dict(params)) if model.estimator is None and name in kinds:
            if params.keys() <= set(kinds[name]._get_param_names()):
                return kinds[name](**params)
    raise ValueError("estimator is not described by the name and parameters of a classifier")


def _unpack_template(model: OPFPruner) -> None:
    if "_fit_template" in vars(model):
        model.estimator = _template_of(model)
        del model._fit_template


@stored.saved(stored.MODELS)
class OPFPruner(MetaEstimatorMixin, ClassifierMixin, OPFEstimator):
    """Optimum-Path Forest classifier that keeps only the training samples it needs.

    Part of the samples is set aside for validation; the classifier is fitted to the rest and pruned as
    :func:`pathforest.pruning.prune` does it. The result is a smaller model that answers faster.

    Parameters
    ----------
    estimator : OPFClassifier or FuzzyOPFClassifier, default=None
        The classifier to fit and prune; None is ``OPFClassifier()``.
    validation_fraction : float, default=0.3
        Share of the samples that is set aside for validation, between 0 and 1 and about the same of each
        class. Every class keeps a training sample.
    max_loss : float, default=0.0
        Accuracy on the validation samples that may be given up, such as 0.01 for one point.
    max_iter : int, default=100
        How often to remove samples at most.
    random_state : int, RandomState or None, default=0
        Decides which samples are set aside.

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
    n_features_in_, feature_names_in_, label_name_
        Number of features, and names of features and labels, if X and y have them as text.

    See Also
    --------
    pathforest.pruning.prune : The same for a fitted classifier and validation samples of your own.

    Notes
    -----
    The samples set aside are not put back: they chose the model and are not part of it. If no class has two
    samples there is nothing to validate with, and nothing is pruned. A fuzzy classifier keeps more samples
    than its `n_neighbors`. With a larger `validation_fraction` there are fewer training samples, of which a
    larger share is kept. Threads and device are those of the classifier.

    References
    ----------
    J. P. Papa, A. X. Falcão, "On the training patterns pruning for optimum-path forest", International
    Conference on Image Analysis and Processing, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest import OPFPruner
    >>> X, y = load_iris(return_X_y=True)
    >>> pruner = OPFPruner(max_loss=0.02).fit(X, y)
    >>> len(pruner.sample_indices_)
    55
    >>> pruner.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    _saved = stored.Saved(
        {
            "n_features_in_": stored.check_features,
            "classes_": stored.check_classes,
            "n_iter_": stored.whole(0),
            "sample_indices_": None,
            "estimator_": None,
        },
        stored.INPUT | {"categories_": stored.check_categories, "_fit_template": None},
        (_check_pruned,),
        derive=_unpack_template,
        pack=_pack_template,
    )
    _rules: ClassVar[rules.Rules] = {
        "estimator": rules.optional(_check_prunable),
        "validation_fraction": rules.validation_fraction,
        "max_loss": rules.max_loss,
        "max_iter": rules.max_iter,
        "random_state": rules.random_state,
    }

    def __init__(
        self,
        estimator: OPFClassifier | FuzzyOPFClassifier | None = None,
        *,
        validation_fraction: float = 0.3,
        max_loss: float = 0.0,
        max_iter: int = 100,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.validation_fraction = validation_fraction
        self.max_loss = max_loss
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is None or isinstance(self.estimator, PRUNABLE):  # others are refused by fit
            tags.input_tags = get_tags(self._template()).input_tags
        return tags

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Set validation samples aside, fit the classifier to the others and prune it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or their distances for an estimator with ``metric="precomputed"``. Sparse matrices
            are for ``metric="cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.

        Returns
        -------
        self : OPFPruner
            The fitted estimator.
        """
        metric = self._settings().metric
        X, labels = self._read(X, metric, reset=True), read_labels(self, y)
        warn_of_units(self, X, metric)
        check_consistent_length(X, labels.codes)
        if metric.kind == "precomputed":
            check_distances(X, square=True)
        return self._fit(X, labels)

    def _fit(self, X: Any, labels: Labels) -> Self:
        self.classes_, codes = labels
        template, y = self._template(), labels.all()
        rows, val = validation_split(codes, self.validation_fraction, self.random_state)
        pairwise = get_tags(template).input_tags.pairwise
        samples, held_out = (
            X[np.ix_(part, rows)] if pairwise else _safe_indexing(X, part) for part in (rows, val)
        )
        pruned = Pruned(clone(template).fit(samples, y[rows]), np.arange(len(rows)), 0)
        if len(val):
            known = samples if pairwise else pruned.model._fit_X
            Q = check_queries(pruned.model, held_out)
            pruned = _prune(pruned.model, known, y[rows], Q, y[val], self.max_loss, self.max_iter)
        self.estimator_, self.sample_indices_, self.n_iter_ = pruned.model, rows[pruned.kept], pruned.n_iter
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class whose offer is cheapest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_samples)
            New samples, or their distances to all samples that `fit` was given.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        Q = self._queries(X)  # refuses a pruner that is not fitted
        return self.estimator_.predict(Q)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the pruned classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_samples)
            New samples, or their distances to all samples that `fit` was given.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1.
        """
        Q = self._queries(X)  # refuses a pruner that is not fitted
        return self.estimator_.predict_proba(Q)

    def _labels_and_probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what `predict` and `predict_proba` do, for the price of one of them."""
        Q = self._queries(X)  # refuses a pruner that is not fitted
        return self.estimator_._labels_and_probabilities(Q)

    def _template(self) -> OPFClassifier | FuzzyOPFClassifier:
        return OPFClassifier() if self.estimator is None else self.estimator

    def _settings(self) -> Settings:
        rules.check_parameters(self)
        return self._template()._settings()

    def _read(self, X: Any, metric: Metric, reset: bool) -> Any:
        """Check samples, or leave a table to a classifier that takes it."""
        if metric.name == "gower" and (table := as_table(X)) is not None:
            return validate_data(self, table, reset=reset, skip_check_array=True)
        # The classifier says which sparse matrices it takes.
        options = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}
        return validated(self, X, reset=reset, **array_options(metric) | options)

    def _queries(self, X: Any) -> Any:
        """Check new samples, and choose those of their distances that `estimator_` asks for."""
        check_is_fitted(self)
        Q = self._read(X, self._template()._settings().metric, reset=False)
        return Q[:, self.sample_indices_] if self.estimator_._fit_X is None else Q


def _prune(
    model: ForestClassifier, X: Any, y: np.ndarray, Q: Any, y_val: np.ndarray, max_loss: float, max_iter: int
) -> Pruned:
    """Remove irrelevant samples until there are none, or the accuracy on the checked Q falls too far."""
    first, pairwise, kept, unfitted = model, model._fit_X is None, np.arange(len(y)), clone(model)
    if params := Metric(*model._fit_metric).params:  # which may have been estimated from the samples
        unfitted.set_params(metric_params=params)
    n_right, relevant = _judge(model, Q, y_val)
    # The tolerance is for products such as 0.29 * 100, which round to less than they are.
    fewest = n_right - float(max_loss) * len(y_val) - 1e-9
    n_iter, needed = 0, getattr(model, "n_neighbors", None) or 0
    for n_iter in range(1, int(max_iter) + 1):  # noqa: B007
        own = y[kept]
        lost = np.setdiff1d(own, own[relevant])  # classes, which keep their prototypes
        relevant[model.prototypes_[np.isin(own[model.prototypes_], lost)]] = True
        if relevant.all() or relevant.sum() <= needed:
            break
        rest = kept[relevant]
        smaller = clone(unfitted).fit(X[np.ix_(rest, rest)] if pairwise else X[rest], y[rest])
        n_right, relevant = _judge(smaller, Q[:, rest] if pairwise else Q, y_val)
        if n_right < fewest:
            break
        model, kept = smaller, rest
    pass_on_names(first, model)
    return Pruned(model, kept, n_iter)


def _judge(model: ForestClassifier, Q: Any, y_val: np.ndarray) -> tuple[int, np.ndarray]:
    """Count validation samples that get their label; mark what had a part in any answer, paths included."""
    forest = model._forest
    code, conqueror = decide(forest, Q)
    relevant = np.zeros(len(forest.order), dtype=bool)
    relevant[conqueror] = True
    if forest.r > 1:
        for rows, bidder, _, indices in bids(forest, Q):
            relevant[indices[code[rows] == bidder]] = True
    newest = np.flatnonzero(relevant)
    while newest.size:
        parents = np.unique(model.predecessor_[newest])
        newest = parents[(parents >= 0) & ~relevant[parents]]
        relevant[newest] = True
    return int((model.classes_[code] == y_val).sum()), relevant
