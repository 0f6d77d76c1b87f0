"""What a search answers once it has chosen: the average of its best cells, and the reasons of the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from pathforest._engines.metric import Metric, array_options
from pathforest._engines.samples import is_sparse, read_samples, read_sparse, refuse_missing_dates
from pathforest._models.base import OPFEstimator, answering, check_queries
from pathforest._models.explanation import (
    Explanation,
    Explanations,
    compare_features,
    explain_queries,
    feature_names,
    feature_scales,
    in_units_of,
    only_scales,
)
from pathforest._models.offers import KeptForest, class_costs, decide, probabilities
from pathforest._models.parameters import AT_PREDICTION, check_parameters
from pathforest._persistence import checks
from pathforest._persistence.allowed import check_steps, check_transformer
from pathforest._persistence.checks import (
    check_classes,
    check_features,
    check_indices,
    check_metric,
)
from pathforest._search.cells import Samples, as_numbers
from pathforest._search.scoring import resolve_scoring
from pathforest._utils.progress import is_fitted_name
from pathforest._utils.tables import as_table
from pathforest.fuzzy import FuzzyOPFClassifier


class WithRefit:
    """A method that is there with ``refit=True`` only; the error otherwise says what to do instead.

    scikit-learn's `available_if` would replace that advice by a message of its own.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(self, method)

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self._method
        if not model.refit:
            params, rest = "best_params_", ""
            if "transform" in vars(model).get("best_params_", {}):
                params = "params"
                rest = (
                    " on samples transformed by best_params_['transform'], where params are best_params_ "
                    "without 'transform'"
                )
            raise AttributeError(
                f"refit=False keeps no model, so there is no {self._method.__name__}; set refit=True, or fit "
                f"FuzzyOPFClassifier(**{params}, beta=best_beta_){rest}"
            )
        return MethodType(self._method, model)


class AverageOfBest(ClassifierMixin, OPFEstimator):
    """Predictions of a fitted search, which has `estimators_`, best first, and `best_estimator_`."""

    @WithRefit
    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class with the largest mean probability over the best cells.

        With ``n_best=1`` this is the prediction of `best_estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        samples = self._check_prediction(X)
        if len(self.estimators_) == 1:
            (forest,), Q = self._asked(self.estimators_, samples)
            with answering(self, Q) as bar:
                return self.classes_[decide(forest, Q, bar).code]
        return self.classes_[self._probabilities(samples).mean(axis=0).argmax(axis=1)]

    @WithRefit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Average the probabilities of the best cells, each with the beta chosen for it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1.
        """
        return self._probabilities(self._check_prediction(X)).mean(axis=0)

    def _labels_and_probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what `predict` and `predict_proba` do, for the price of one of them."""
        samples = self._check_prediction(X)
        if len(self.estimators_) == 1:
            (forest,), Q = self._asked(self.estimators_, samples)
            with answering(self, Q) as bar:
                (costs,) = class_costs([forest], Q, bar)
            return self.classes_[costs.winner(0)], probabilities(costs.cost[0], self.best_beta_)
        found = self._probabilities(samples).mean(axis=0)
        return self.classes_[found.argmax(axis=1)], found

    @WithRefit
    def class_costs(self, X: Any, cell: int = 0) -> np.ndarray:
        """Return what each class offers each sample in one cell; see FuzzyOPFClassifier.class_costs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.
        cell : int, default=0
            Which of `estimators_`: 0 is the best, and `explain` names others.

        Returns
        -------
        costs : ndarray of shape (n_queries, n_classes)
            In units of the metric.
        """
        samples, model = self._check_prediction(X), self.estimators_[cell]
        return self._costs([model], samples)[0]

    @WithRefit
    def explain(self, X: Any) -> list[Explanation]:
        """Report for each sample which training sample conquered it, and along which path.

        Of the cells that are averaged the first that answers as the average does is explained; if none does,
        the one that gives that answer the largest probability. So the label is that of `predict`, except
        where all cells disagree with it, or classes cost exactly the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        explanations : list of Explanation
            As from :meth:`pathforest.FuzzyOPFClassifier.explain`; `transform` names the
            representation, and `cell` is the place among `estimators_`. Costs and distances are those of
            the representation; `features` shows the samples as they were given, with shares of the
            distance if it was measured between them as given or scaled.
        """
        samples = self._check_prediction(X)
        given = self._probabilities(samples)
        chosen, queries = _representative(given), as_numbers(samples)
        found: dict[int, Explanation] = {}
        for position in np.unique(chosen):
            model, rows = self.estimators_[position], np.flatnonzero(chosen == position)
            name = self.cv_results_["params"][self.averaged_[position]].get("transform", "as given")
            (forest,), Q = self._asked([model], samples, rows)
            explained = explain_queries(classifier_of(model), forest, Q)
            explained = [one._replace(transform=name, cell=int(position)) for one in explained]
            if model is not classifier_of(model):
                explained = self._with_own_features(explained, queries, rows, only_scales(model[:-1]))
            found |= zip(rows.tolist(), explained, strict=True)
        return Explanations(found[row] for row in range(len(chosen)))

    def _with_own_features(
        self, explained: Sequence[Explanation], queries: np.ndarray | None, rows: np.ndarray, scaled: bool
    ) -> Iterator[Explanation]:
        """Show the features of the samples in the place of those that a transformer made of them."""
        kept = self._training_samples()
        if kept is None or queries is None:
            yield from (one._replace(features=None) for one in explained)
            return
        names = getattr(self, "feature_names_in_", None)
        names = feature_names(queries.shape[1]) if names is None else names
        scale = feature_scales(kept)
        for one, row in zip(explained, rows, strict=True):
            rival = None if one.rival is None else kept[one.rival.conquerors[0]]
            shown = names, queries[row], kept[one.conqueror], rival, scale
            features = in_units_of(one.features, *shown) if scaled else compare_features(*shown)
            yield one._replace(features=features)

    def _training_samples(self) -> np.ndarray | None:
        """Return the training samples as they were given; None if they had no numbers for features."""
        bare = [model for model in self.estimators_ if isinstance(model, FuzzyOPFClassifier)]
        return bare[0]._fit_X if bare else vars(self).get("_fit_samples")

    def _take_over_best(self) -> None:
        """Show what the best classifier has learned as the search's own."""
        self.best_estimator_ = self.estimators_[0]
        for name, value in self._results_of_best().items():
            setattr(self, name, value)

    def _results_of_best(self) -> dict[str, Any]:
        own = {"classes_", "n_features_in_", "feature_names_in_"}
        learned = vars(classifier_of(self.estimators_[0])).items()
        return {k: v for k, v in learned if is_fitted_name(k) and not k.startswith("_") and k not in own}

    def _derived_names(self) -> set[str]:
        if "estimators_" not in vars(self):
            return {"scorer_"}
        return {"scorer_", "best_estimator_", *self._results_of_best()}

    def _derive_state(self) -> None:
        self.scorer_ = resolve_scoring(self.scoring)
        if "estimators_" in vars(self):
            self._take_over_best()
            if "averaged_" not in vars(self):  # files before there were presets: the first by rank
                order = np.argsort(self.cv_results_["rank_test_score"])
                self.averaged_ = order[: len(self.estimators_)]

    def _check_fitted_state(self) -> int:
        """Check what predictions use; return the number of samples, 0 without a model."""
        check_metric(self)
        check_classes(self)
        if "n_features_in_" in vars(self):  # lists of texts, for a user's transformer, have no features
            check_features(self)
        if type(vars(self).get("_fit_untouched")) is not bool:
            raise ValueError("_fit_untouched is neither True nor False")
        if "estimators_" not in vars(self):
            return 0
        if type(self.estimators_) is not list or not self.estimators_:
            raise ValueError("estimators_ is not a list of models")
        for model in self.estimators_:
            self._check_member(model)
        if "_fit_samples" in vars(self):
            n_samples = len(classifier_of(self.estimators_[0]).order_)
            checks.check_array(self, "_fit_samples", (n_samples, self.n_features_in_), checks.FEATURE_TYPES)
        if "averaged_" in vars(self):
            n_rows = len(self.cv_results_["params"])
            rows = check_indices(self, "averaged_", (len(self.estimators_),), n_rows)
            if rows[0] != self.best_index_:
                raise ValueError("averaged_ does not begin with best_index_")
        return len(classifier_of(self.estimators_[0]).order_)

    def _check_member(self, model: Any) -> None:
        """Check one of the models that are averaged."""
        width, classifier = getattr(self, "n_features_in_", None), model
        if isinstance(model, Pipeline):
            *transformers, (_, classifier) = check_steps(model)
            for _, transformer in transformers:
                width = check_transformer(transformer, width)
        if not isinstance(classifier, FuzzyOPFClassifier):
            raise ValueError("estimators_ holds something other than classifiers and pipelines of them")
        if not np.array_equal(classifier.classes_, self.classes_) or classifier.n_features_in_ != width:
            raise ValueError("estimators_ holds a classifier of other classes or features")

    def _take_samples(self, X: Any, metric: Metric, untouched: bool, as_given: bool, reset: bool) -> Samples:
        """Check samples as far as no transformer does.

        Transformers that the user passes may take what no classifier would, such as missing values or text:
        they get the samples `untouched`. `as_given` says that a classifier takes them without a transformer.
        """
        options = array_options(metric)
        # Every classifier learns the categories of its own samples.
        table = as_table(X) if metric.name == "gower" else None
        if not untouched:
            checked, _ = read_samples(self, X, metric, reset)
            if table is not None:
                return Samples(table, table)
            with_names = hasattr(self, "feature_names_in_") and hasattr(X, "columns")
            return Samples(X if with_names and metric.kind != "precomputed" else checked, checked)
        (given,) = indexable(validate_data(self, X, reset=reset, skip_check_array=True))
        if not as_given:
            return Samples(given, None)
        if table is not None:
            return Samples(given, table)
        if is_sparse(X):
            return Samples(given, read_sparse(self, X, metric, reset, copy=False))
        checked = check_array(X, input_name="X", **options)
        refuse_missing_dates(X, checked)
        return Samples(given, checked)

    def _check_prediction(self, X: Any) -> Samples:
        check_is_fitted(self, "estimators_")
        as_given = any(isinstance(model, FuzzyOPFClassifier) for model in self.estimators_)
        samples = self._take_samples(X, Metric(*self._fit_metric), self._fit_untouched, as_given, reset=False)
        named = all(hasattr(model, "feature_names_in_") for model in self.estimators_)
        # The command line fits arrays and adds the names afterwards.
        return samples if named or self._fit_untouched else samples._replace(given=samples.checked)

    def _probabilities(self, samples: Samples) -> np.ndarray:
        """Return the probabilities of each cell, of shape (n_models, n_queries, n_classes)."""
        found: dict[int, np.ndarray] = {}
        for positions in _by_samples(self.estimators_):
            models = [self.estimators_[position] for position in positions]
            for position, model, cost in zip(positions, models, self._costs(models, samples), strict=True):
                found[position] = probabilities(cost, classifier_of(model).beta)
        return np.array([found[position] for position in sorted(found)])

    def _costs(self, models: Sequence[Any], samples: Samples) -> list[np.ndarray]:
        """Return the class costs of some models that were trained on the same samples."""
        forests, Q = self._asked(models, samples)
        with answering(self, Q) as bar:
            return [costs.cost[0] for costs in class_costs(forests, Q, bar)]

    def _asked(
        self, models: Sequence[Any], samples: Samples, rows: np.ndarray | None = None
    ) -> tuple[list[KeptForest], np.ndarray]:
        """Return the forests of models with the same representation, and the queries in it."""
        classifiers = [classifier_of(model) for model in models]
        for classifier in classifiers:
            check_parameters(classifier, AT_PREDICTION)
        X = represent(models[0], samples)
        Q = check_queries(classifiers[0], X if rows is None else _safe_indexing(X, rows))
        return [classifier._forest.on(self.device) for classifier in classifiers], Q


def _representative(given: np.ndarray) -> np.ndarray:
    """Choose a model for each sample that stands for the average, given the probabilities of all models."""
    answer = given.mean(axis=0).argmax(axis=1)
    agrees = given.argmax(axis=2) == answer
    surest = given[:, np.arange(len(answer)), answer].argmax(axis=0)
    return np.where(agrees.any(axis=0), agrees.argmax(axis=0), surest)


def classifier_of(model: Any) -> FuzzyOPFClassifier:
    """Return a classifier itself, or the one at the end of a pipeline."""
    return model if isinstance(model, FuzzyOPFClassifier) else model[-1]


def represent(model: Any, samples: Samples) -> Any:
    """Give samples the representation that the classifier of a model takes."""
    source = _source(model, samples)
    return source if isinstance(model, FuzzyOPFClassifier) else model[:-1].transform(source)


def _by_samples(models: Sequence[Any]) -> list[list[int]]:
    """Put together the positions of models whose classifiers have the same training samples and metric."""
    groups: list[list[int]] = []
    for position, model in enumerate(models):
        for group in groups:
            if _have_same_samples(models[group[0]], model):
                group.append(position)
                break
        else:
            groups.append([position])
    return groups


def _have_same_samples(a: Any, b: Any) -> bool:
    """Whether two models share their transformers and samples: objects, not copies."""
    steps = [[] if isinstance(model, FuzzyOPFClassifier) else [*model[:-1]] for model in (a, b)]
    first, second = classifier_of(a), classifier_of(b)
    metrics = [Metric(*classifier._fit_metric) for classifier in (first, second)]
    return (
        len(first.order_) == len(second.order_)
        and first._fit_X is second._fit_X
        and [id(step) for step in steps[0]] == [id(step) for step in steps[1]]
        and metrics[0][:-1] == metrics[1][:-1]
        and (metrics[0].params is metrics[1].params or not any(metric.params for metric in metrics))
    )


def _source(model: Any, samples: Samples) -> Any:
    """Choose what a model takes: a classifier without feature names checked samples, others those given."""
    bare = isinstance(model, FuzzyOPFClassifier) and not hasattr(model, "feature_names_in_")
    return samples.checked if bare else samples.given
