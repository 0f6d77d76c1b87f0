"""What a classifier answers once its forest has grown."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from pathforest._models.base import FitData, answering, check_queries, keep_samples
from pathforest._models.explanation import Explanation, explain_queries
from pathforest._models.growing import Growing, add, changed_labels, retrain, unchanged_on_failure
from pathforest._models.labels import Labels, check_labels, read_labels
from pathforest._models.offers import KeptForest, class_costs, decide, probabilities
from pathforest._persistence.checks import FOREST, GROWTH, check_order, indices, number
from pathforest.forest import Forest


class ForestClassifier(ClassifierMixin, Growing):
    """A classifier whose forest makes offers to new samples."""

    _saved = FOREST.extended(
        {
            "prototypes_": indices("*", "samples", ascending=True),
            "order_": indices("samples", "samples"),
            "training_error_": number(0.0, 1.0),
        },
        GROWTH,
        check_order,
    )

    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class whose offer is cheapest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        Q = check_queries(self, X)
        with answering(self, Q) as bar:
            return self.classes_[decide(self._forest, Q, bar).code]

    def class_costs(self, X: Any) -> np.ndarray:
        """Return what each class offers each sample: the mean of its `n_conquerors` cheapest path costs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        costs : ndarray of shape (n_queries, n_classes)
            In units of the metric, columns in the order of `classes_`. The smallest cost wins. A
            class that lost all its training samples in the competition costs infinity.
        """
        Q = check_queries(self, X)
        with answering(self, Q) as bar:
            return class_costs([self._forest], Q, bar)[0].cost[0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Turn class costs into probabilities, proportional to (smallest cost / cost) ** beta.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1. The largest belongs to the class that `predict` returns, except where
            class costs tie exactly. They are scores, not calibrated frequencies; `beta` sets how
            sharp they are.
        """
        return probabilities(self.class_costs(X), self.beta)

    def _labels_and_probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what `predict` and `predict_proba` do, for the price of one of them."""
        Q = check_queries(self, X)
        with answering(self, Q) as bar:
            (costs,) = class_costs([self._forest], Q, bar)
        return self.classes_[costs.winner(0)], probabilities(costs.cost[0], self.beta)

    def explain(self, X: Any) -> list[Explanation]:
        """Say for each sample which training samples conquered it, along which path, and who came second.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        explanations : list of Explanation
            One for each sample. A notebook shows them as tables, and so does `print`. They are named tuples:
            `label`, the predicted class, and its `cost`, as `class_costs` returns it; `conquerors`, the
            training samples whose `offers` it is the mean of, cheapest first (a single one unless
            `n_conquerors` is larger); the `distance` to the first of them; `path`, the training samples
            from there to its prototype, and their `costs`; `rival`, the same of the class that came
            second; and `features`, the values of the sample beside those of the first conqueror and of
            the rival, with the share that each feature has in the distance to either, those that separate
            it most from the rival first; `memberships`, what shrank the costs of a fuzzy path. `conqueror`
            and `offer` are the first of their lists.

        Examples
        --------
        >>> from pathforest import OPFClassifier
        >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
        >>> print(model.explain([[5, 1.5]])[0])
        Predicted b, cost 1.12 (next: a, 4.27)
        Conquered by training sample 3 at distance 1.12, whose path costs 1: 3 -> 2
        feature  sample  conqueror 3 (b)  rival 1 (a)  difference  share of distance
        x0            5                4            1           4                88%
        x1          1.5                1            0         1.5                12%
        """
        Q = check_queries(self, X)
        return explain_queries(self, self._forest, Q)

    @unchanged_on_failure
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add samples: every fitted array is then that of a `fit` to all samples so far, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples. Those of later calls get the type of the first, float32 or float64.
        y : array-like of shape (n_samples,)
            Their labels, as `fit` takes them.
        classes : array-like, default=None
            Classes that are in `classes_` from now on, even if no sample has them: their class cost is
            infinity. They need not be named; a call may bring samples of new classes.

        Returns
        -------
        self : object
            The estimator. If the call fails or is interrupted, it stays as it was.
        """

        def add_labels(grown: dict[str, Any], n_new: int) -> dict[str, Any]:
            labels = read_labels(self, y, reset=False)
            check_consistent_length(np.empty(n_new), labels.codes)
            named = grown.get("named")
            if classes is not None:
                added = Labels.of(check_labels(classes))
                named = (added if named is None else Labels.of(named).extended(added)).values
            if "codes" in grown:
                labels = Labels(grown["values"], grown["codes"]).extended(labels)
            return {**labels.in_use(named)._asdict(), "named": named}

        return retrain(self, *add(self, X, add_labels))

    @unchanged_on_failure
    def set_labels(self, indices: Any, y: Any) -> Self:
        """Give samples other labels: every fitted array is then that of a `fit` with these.

        Parameters
        ----------
        indices : array-like of int
            Indices of samples, in the order in which they came.
        y : array-like of shape (len(indices),)
            Their labels from now on.

        Returns
        -------
        self : object
            The estimator. If the call fails or is interrupted, it stays as it was.
        """
        return retrain(self, *changed_labels(self, indices, y))

    @property
    def _forest(self) -> KeptForest:
        """All that answers need."""
        forest = KeptForest(
            self._samples,
            self.cost_,
            self.order_,
            self._fit_codes,
            len(self.classes_),
            n_neighbors=vars(self).get("_fit_n_neighbors"),
            factors=vars(self).get("class_factors_"),
        )
        return forest.asked_for(self.n_conquerors)


def keep_forest(
    model: ForestClassifier, data: FitData, prototypes: np.ndarray, forest: Forest, codes: np.ndarray
) -> ForestClassifier:
    """Set the fitted attributes that all these classifiers have; `codes` are the classes of the samples."""
    propagated = codes[forest.root]
    model.prototypes_ = prototypes.astype(np.intp)
    model.cost_ = forest.cost
    model.predecessor_ = forest.predecessor.astype(np.intp)
    model.root_ = forest.root.astype(np.intp)
    model.order_ = forest.order.astype(np.intp)
    model.label_ = model.classes_[propagated]
    model.training_error_ = float(np.mean(propagated != codes))
    model._fit_codes = propagated
    keep_samples(model, data)
    return model
