"""Prediction, scores and explanations of a fitted forest, common to the classifiers over forests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pathforest._core import mean_offers
from pathforest._engines.metric import Metric
from pathforest._engines.protocol import Engine
from pathforest._models.base import LabelledEstimator
from pathforest._models.class_costs import (
    EXTRA_MEMBERS,
    ClassGroups,
    ForestCosts,
    answer_each,
    cheapest_class,
    grown_forest,
    probabilities,
    ranks,
)
from pathforest._models.explanation import (
    Explanation,
    Explanations,
    Feature,
    Rival,
    compare_features,
    compare_sparse,
    feature_scales,
    with_texts,
)
from pathforest._models.parameters import check_parameters
from pathforest._utils.progress import SILENCE
from pathforest._utils.sparse import SparseSamples
from pathforest._utils.threads import thread_count
from pathforest.forest import Conquest, Forest, path_to_root
from pathforest.persistence.checks import (
    check_forest,
    check_indices,
    check_number,
    check_order,
    check_propagated,
)


class Rivals(NamedTuple):
    """Training samples that compete for queries: all of them, or those that carry one class."""

    engine: Engine  # over the members, in their order
    members: np.ndarray  # (n_members,) their indices in the order of `order_`: cheap ones first, ties settled
    cost: np.ndarray  # (n_members,) their costs

    def offers(self, block: np.ndarray, r: int, n_threads: int) -> Conquest:
        """Return the `r` cheapest offers to each query, and the training samples that make them."""
        if self.engine.name == "rows":
            block = np.ascontiguousarray(block[:, self.members])
        order = np.arange(len(self.members), dtype=np.int32)
        # Queries have been checked; `forest.conquer` would check them again, which doubles the time of rows.
        offers, positions = self.engine.conquer(block, self.cost, order, r, n_threads)
        return Conquest(offers, self.members[positions])


class Bids(NamedTuple):
    """The cheapest offers of one class to some queries."""

    rows: slice  # of the queries
    code: int  # class
    offers: np.ndarray  # (m, r) ascending; inf, or fewer columns, if the class has fewer
    indices: np.ndarray  # (m, r) the training samples that make them, -1 for none


class ClassOffer(NamedTuple):
    """What one class offers one query."""

    code: int
    cost: float  # the mean of the offers
    members: list[int]  # training samples that make them
    offers: list[float]  # ascending


class ClassOffers(NamedTuple):
    """What each class offers each query."""

    cost: np.ndarray  # (m, n_classes) mean of its r cheapest offers, inf for a class without samples
    cheapest: np.ndarray  # (m, n_classes) its cheapest offer
    conqueror: np.ndarray  # (m, n_classes) who makes that one, -1 for a class without samples


class Decision(NamedTuple):
    """The winner for each query."""

    code: np.ndarray  # (m,) class
    conqueror: np.ndarray  # (m,) training sample
    offer: np.ndarray  # (m,) its offer


class BaseOPFClassifier(LabelledEstimator):
    """Everything a classifier does once its forest has grown."""

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
        decision = self._decide(self._check_prediction(X))
        return self.classes_[decision.code]

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
        return self._class_offers(self._check_prediction(X)).cost

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
        offers = self._class_offers(self._check_prediction(X))
        return self.classes_[self._choose(offers).code], probabilities(offers.cost, self.beta)

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
            the rival, with the share that each feature has in the distance. `conqueror` and `offer` are
            the first of their lists.

        Examples
        --------
        >>> from pathforest import OPFClassifier
        >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
        >>> print(model.explain([[5, 1.5]])[0])
        Predicted b, cost 1.12 (next: a, 4.27)
        Conquered by training sample 3 at distance 1.12, whose path costs 1: 3 -> 2
        feature    sample  conqueror 3 (b)  difference  share of distance  rival 1 (a)
        feature 0       5                4           1                80%            1
        feature 1     1.5                1         0.5                20%            0
        """
        Q = self._check_prediction(X)
        decision = self._decide(Q)
        explanations = Explanations()
        for query, code, offers in zip(Q, decision.code, self._offers_of_each(Q), strict=True):
            winner, *others = sorted(offers, key=lambda offer: (offer.code != code, offer.cost))
            winner, rival = (self._bidder(query, offer) for offer in (winner, *others, None)[:2])
            path = path_to_root(self.predecessor_, winner.conquerors[0])
            features = self._compare(query, winner, rival)
            explanations.append(Explanation(*winner, path, self.cost_[path].tolist(), rival, features))
        return explanations

    def _compare(self, query: np.ndarray, winner: Rival, rival: Rival | None) -> list[Feature] | None:
        """Set the features of a query beside those of the samples that made the cheapest offers."""
        if self._fit_X is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        scale = self._cached("scale", lambda: feature_scales(self._fit_X))
        other = None if rival is None else self._fit_X[rival.conquerors[0]]
        near, metric = self._fit_X[winner.conquerors[0]], Metric(*self._fit_metric)
        if isinstance(near, SparseSamples):
            return compare_sparse(names, query, near, other, scale, metric)
        names = feature_names(len(query)) if names is None else names
        features = compare_features(names, query, near, other, scale, metric)
        return with_texts(features, self.categories_) if "categories_" in vars(self) else features

    def _offers_of_each(self, Q: np.ndarray) -> list[list[ClassOffer]]:
        """List for each query the classes that make offers."""
        found: list[list[ClassOffer]] = [[] for _ in Q]
        r = int(self._n_deciding[0])
        for rows, code, offers, indices in self._bids(Q):
            costs = mean_offers(offers, self._n_deciding)[0].tolist()
            made = np.isfinite(offers[:, :r]).sum(axis=1).tolist()
            for i, query in enumerate(range(rows.start, rows.stop)):
                if made[i]:
                    members, values = indices[i, : made[i]].tolist(), offers[i, : made[i]].tolist()
                    found[query].append(ClassOffer(code, costs[i], members, values))
        return found

    def _bidder(self, query: np.ndarray, offer: ClassOffer | None) -> Rival | None:
        """Describe the class that makes an offer, as explanations do."""
        if offer is None:
            return None
        code, *rest = offer
        return Rival(self.classes_.item(code), *rest, self._distance(query, offer.members[0]))

    def _distance(self, query: np.ndarray, member: int) -> float:
        """Return the distance from a query to a training sample."""
        if self._fit_X is None:
            return float(query[member])
        one_row = query if isinstance(query, SparseSamples) else query[None]
        ((_, block),) = self._query_blocks(one_row, width=1)
        if Metric(*self._fit_metric).kind == "matrix":
            return float(block[0, member])
        return float(self._build_engine(query.dtype, np.array([member])).query(block, 1, 1)[0][0, 0])

    def _remember(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        metric: Metric,
        engine: Engine,
        prototypes: np.ndarray,
        forest: Forest,
    ) -> None:
        """Set the fitted attributes that all these classifiers have."""
        propagated = codes[forest.root]
        self.prototypes_ = prototypes.astype(np.intp)
        self.cost_ = forest.cost
        self.predecessor_ = forest.predecessor.astype(np.intp)
        self.root_ = forest.root.astype(np.intp)
        self.order_ = forest.order.astype(np.intp)
        self.label_ = self.classes_[propagated]
        self.training_error_ = float(np.mean(propagated != codes))
        self._fit_codes = propagated
        self._keep_samples(X, metric, engine)

    def _check_fitted_state(self) -> int:
        n = super()._check_fitted_state()
        prototypes = check_indices(self, "prototypes_", (None,), n, ascending=True)
        check_forest(self, prototypes, n)
        if self.cost_[prototypes].any():
            raise ValueError("cost_ is not 0 at the prototypes")
        check_order(self, n)
        check_propagated(self, n)
        check_number(self, "training_error_", 0.0, 1.0)
        return n

    def _check_prediction(self, X: Any) -> np.ndarray:
        """Check queries, and the parameters that act at prediction time."""
        check_is_fitted(self)
        check_parameters(self, ("n_conquerors", "beta"))
        return self._check_query(X)

    def _rivals(self, dtype: np.dtype, r: int, code: int | None = None) -> Rivals:
        """Gather the training samples whose offers can be among the `r` cheapest, of one class or of all."""
        most = 1 if r == 1 else min(r, self._cached("most copies", self._most_copies))

        def gather() -> Rivals:
            members = self.order_ if code is None else self.order_[self._fit_codes[self.order_] == code]
            members = self._without_spare_copies(members, most)
            return Rivals(self._build_engine(dtype, members), members, self.cost_[members])

        return self._cached((code, most, dtype.char, self._device), gather)

    def _group_by_class(self, codes: np.ndarray, dtype: np.dtype) -> ClassGroups:
        """Prepare the training samples to answer for many forests, given a class for each of them."""

        def take(block: np.ndarray, members: np.ndarray) -> np.ndarray:
            is_rows = Metric(*self._fit_metric).kind != "features"
            return np.ascontiguousarray(block[:, members]) if is_rows else block

        build = partial(self._build_engine, dtype)
        return ClassGroups(codes, len(self.classes_), build, take, self._without_spare_copies)

    def _rank(self) -> np.ndarray:
        """Position of each training sample in `order_`; one more entry, the last, stands for no sample."""
        return np.append(ranks(self.order_), np.int32(len(self.order_)))

    def _decide(self, Q: np.ndarray) -> Decision:
        """Find the winner for each query."""
        return self._decide_by_sample(Q) if self.n_conquerors == 1 else self._decide_by_class(Q)

    def _decide_by_sample(self, Q: np.ndarray) -> Decision:
        """Take the cheapest offer of all; on ties that of the sample first in `order_`."""
        everyone, n_threads = self._rivals(Q.dtype, 1), thread_count(self.n_jobs)
        offer, conqueror = np.empty(len(Q)), np.empty(len(Q), dtype=np.intp)
        with self._progress(Q) as bar:
            for rows, block in bar.over(self._query_blocks(Q, width=1)):
                values, indices = everyone.offers(block, 1, n_threads)
                offer[rows], conqueror[rows] = values[:, 0], indices[:, 0]
        return Decision(self._fit_codes[conqueror], conqueror, offer)

    def _decide_by_class(self, Q: np.ndarray) -> Decision:
        return self._choose(self._class_offers(Q))

    def _choose(self, offers: ClassOffers) -> Decision:
        """Take the class with the cheapest mean; on ties the one whose best offer is first in `order_`."""
        rank = self._cached("rank", self._rank)
        code = cheapest_class(offers.cost, rank[offers.conqueror])
        query = np.arange(len(code))
        return Decision(code, offers.conqueror[query, code], offers.cheapest[query, code])

    def _class_offers(self, Q: np.ndarray) -> ClassOffers:
        """Collect the offers of every class to every query."""
        shape = len(Q), len(self.classes_)
        found = ClassOffers(np.full(shape, np.inf), np.full(shape, np.inf), np.full(shape, -1, dtype=np.intp))
        with self._progress(Q) as bar:
            for rows, code, offers, indices in self._bids(Q, bar):
                found.cost[rows, code] = mean_offers(offers, self._n_deciding)[0]
                found.cheapest[rows, code] = offers[:, 0]
                found.conqueror[rows, code] = indices[:, 0]
        return found

    @property
    def _n_deciding(self) -> np.ndarray:
        """How many offers of a class decide, as the core takes it; a class with fewer offers all it has."""
        return np.array([min(int(self.n_conquerors), len(self.order_))], dtype=np.int32)

    def _bids(self, Q: np.ndarray, bar: Any = SILENCE) -> Iterator[Bids]:
        """Yield the offers of every class to every query, block by block."""
        n_threads, r = thread_count(self.n_jobs), int(self._n_deciding[0])
        present = np.unique(self._fit_codes).tolist()
        for rows, block in self._query_blocks(Q, width=r):
            for code in present:
                bar.expect(len(block) / len(present))
                yield Bids(rows, code, *self._rivals(Q.dtype, r, code).offers(block, r, n_threads))
                bar.update(len(block) / len(present))


def feature_names(n_features: int) -> list[str]:
    """Name features that have no names."""
    return [f"feature {i}" for i in range(n_features)]


def costs_in_each(models: Sequence[BaseOPFClassifier], X: Any) -> list[np.ndarray]:
    """Return the class costs of several classifiers that were trained on the same samples.

    They are what each would answer by `class_costs`; the neighbours of queries are searched once for all.
    """
    first = models[0]
    if len(models) == 1:
        return [first.class_costs(X)]
    Q = first._check_prediction(X)
    for model in models[1:]:
        check_parameters(model, ("n_conquerors", "beta"))
    key = "together", Q.dtype.char, first._device, *(id(model) for model in models)
    groups, forests, _ = first._cached(key, lambda: _enter_together(models, Q.dtype))
    counts = [np.array([min(int(model.n_conquerors), len(model.order_))], np.int32) for model in models]
    r, n_classes, n_threads = int(max(counts)[0]), len(first.classes_), thread_count(first.n_jobs)
    costs = [np.empty((len(Q), n_classes)) for _ in models]
    with first._progress(Q) as bar:
        for rows, block in bar.over(first._query_blocks(Q, width=2 * n_classes * (r + EXTRA_MEMBERS))):
            nearest = groups.nearest(block, r, n_threads)
            parts = answer_each(forests, block, nearest, counts, n_threads)
            for cost, part in zip(costs, parts, strict=True):
                cost[rows] = part.cost[0]
    return costs


def _enter_together(
    models: Sequence[BaseOPFClassifier], dtype: np.dtype
) -> tuple[ClassGroups, list[ForestCosts], Sequence[BaseOPFClassifier]]:
    """Prepare classifiers to answer together; the last item keeps them, and with them their ids, alive."""
    groups = models[0]._group_by_class(models[0]._fit_codes, dtype)
    grown = [grown_forest(model.cost_, model.order_, model._fit_codes) for model in models]
    return groups, [ForestCosts(groups, forest) for forest in grown], models
