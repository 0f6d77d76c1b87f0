"""One training set, many models: neighbours, tree, cuts, densities and forests are computed once for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pathforest import _core
from pathforest.distances import build_engine
from pathforest.forest import Forest, boundary_prototypes
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.graph import TREE_NEIGHBORS, KnnGraph, knn_graph, spanning_tree
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

# Turning neighbour lists round is most of the work of a competition over the complete graph, and it does not
# depend on their length what comes out. On 4,000 samples of 21 features lists of 40 took a third of the time
# of lists of 150; shorter ones leave more questions to the engine.
COMPETITION_NEIGHBORS = 40

# Where trials follow one another, distances of evaluation samples are kept, up to this size per training set.
KEPT_BYTES = 2**26


class Settings(NamedTuple):
    """What tells the forests of one training set apart, by the classifier's names."""

    k_max: int
    sigma: float
    competition: str


class ClassCosts(NamedTuple):
    """What each class of one forest offers the evaluation samples."""

    cost: np.ndarray  # (n_r, m, n_classes) mean of the r cheapest offers, for each r asked for
    first: np.ndarray  # (m, n_classes) place in the forest's order of the cheapest offer

    def winner(self, r: int) -> np.ndarray:
        """Class of the smallest cost; on ties the one whose cheapest offer comes first in the order."""
        cost = self.cost[r]
        tied = cost == cost.min(axis=1, keepdims=True)
        return np.where(tied, self.first, np.iinfo(self.first.dtype).max).argmin(axis=1)


class SharedTraining:
    """The stages of :class:`FuzzyOPFClassifier` on one training set, each done once whatever models ask for.

    `template` is an unfitted classifier with the parameters that all models have in common, and with the
    largest `k_max` of any. Every model it makes equals the one that `fit` would make.
    """

    def __init__(self, template: FuzzyOPFClassifier, X: Any, y: Any, keep_distances: bool = False) -> None:
        self._template = template = clone(template)
        metric, self._n_threads = template._check_settings()
        by_density = not callable(template.membership)
        X, labels, codes, metric = template._check_training(X, y, metric, squares=by_density)
        self.classes = template.classes_
        self._X, self._codes, self._metric = X, codes.astype(np.int32), metric
        self._values = None if by_density else template._call_membership(X, labels)
        self._k = min(int(template.k_max), len(X) - 1)
        self._engine = build_engine(X, metric, template.algorithm, self._n_threads, template.verbose)
        self._graph = knn_graph(self._engine, max(self._k, min(TREE_NEIGHBORS, len(X) - 1)), self._n_threads)
        self._lists = _shorten(self._graph, COMPETITION_NEIGHBORS)
        self._tree = spanning_tree(self._engine, self._graph, self._n_threads)
        self._prototypes = boundary_prototypes(self._tree, codes)
        if by_density:
            _, self._cuts = search_k(self._graph, self._k, metric.squared, self._n_threads)
        template._keep_samples(X, metric, self._engine)
        self._densities: dict[int, np.ndarray] = {}
        self._forests: dict[Any, Forest] = {}
        self._keep_bytes = KEPT_BYTES if keep_distances else 0
        self._distances: tuple[np.ndarray, list[np.ndarray]] | None = None

    def forest(self, settings: Settings) -> tuple[Any, Forest]:
        """Return the forest of some settings, and a key that is equal where forests are."""
        model = self._configure(settings)
        if (model.membership_ == 1).all():
            key: Any = "plain"
        else:
            key = (getattr(model, "best_k_", None), float(settings.sigma), settings.competition)
        if key not in self._forests:
            self._forests[key] = model._compete(self._engine, self._lists, self._tree, self._prototypes)
        return key, self._forests[key]

    def classifier(self, settings: Settings, **params: Any) -> FuzzyOPFClassifier:
        """Return the classifier that `fit` would give for some settings and other parameters."""
        model = self._configure(settings).set_params(**params)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self._template, name):
                setattr(model, name, getattr(self._template, name))
        _, forest = self.forest(settings)
        model._remember(self._X, self._codes, self._metric, self._engine, self._prototypes, forest)
        model._warn_of_training_error()
        return model

    def class_costs(
        self, Q: Any, settings: Sequence[Settings], n_conquerors: Sequence[int]
    ) -> Iterator[tuple[list[int], ClassCosts]]:
        """Yield, for each different forest, which of the `settings` it serves and its class costs for `Q`."""
        served: dict[Any, list[int]] = {}
        for position, one in enumerate(settings):
            served.setdefault(self.forest(one)[0], []).append(position)
        rows = [min(int(r), len(self._X)) for r in n_conquerors]
        answers: dict[Any, list[ClassCosts]] = {key: [] for key in served}
        for block in self._distance_blocks(Q):
            for key, parts in answers.items():
                parts.append(self._block_costs(block, self._forests[key], rows))
        for key, parts in answers.items():
            cost = np.concatenate([part.cost for part in parts], axis=1)
            yield served[key], ClassCosts(cost, np.concatenate([part.first for part in parts]))

    def _configure(self, settings: Settings) -> FuzzyOPFClassifier:
        """Make an unfitted classifier that has its memberships already."""
        model = clone(self._template).set_params(**settings._asdict())
        if self._values is not None:
            model.membership_ = values_to_membership(self._values, settings.sigma)
            return model
        # The search of a smaller k_max would have tried a part of the same cuts.
        model.cuts_ = self._cuts[: int(settings.k_max)]
        model.best_k_ = int(np.argmin(model.cuts_)) + 1 if self._k else 0
        if model.best_k_ not in self._densities:
            self._densities[model.best_k_] = density(self._graph, model.best_k_, self._metric.squared)
        model.density_ = self._densities[model.best_k_]
        model.membership_ = fuzzy_membership(model.density_, settings.sigma)
        return model

    def _block_costs(self, distances: np.ndarray, forest: Forest, n_conquerors: list[int]) -> ClassCosts:
        propagated = self._codes[forest.root]
        counts = np.array(n_conquerors, dtype=np.int32)
        costs = _core.class_costs(
            distances, forest.cost, forest.order, propagated, len(self.classes), counts, self._n_threads
        )
        return ClassCosts(*costs)

    def _distance_blocks(self, Q: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the distances of evaluation samples to all training samples, block by block."""
        if self._distances is not None and self._distances[0] is Q:
            yield from self._distances[1]
            return
        kept: list[np.ndarray] = []
        size = 8 * len(Q) * len(self._X)
        for block in self._compute_distances(Q):
            if size <= self._keep_bytes:
                kept.append(block)
            yield block
        if kept:
            self._distances = (Q, kept)

    def _compute_distances(self, Q: np.ndarray) -> Iterator[np.ndarray]:
        checked = self._template._check_query(Q)
        for _, block in self._template._query_blocks(checked, width=len(self._X)):
            if self._metric.kind != "features":
                yield np.ascontiguousarray(block, dtype=np.float64)
            elif block.dtype.name == self._engine.dtype:
                yield self._engine.distances(block, self._n_threads)
            else:
                members = np.arange(len(self._X))
                yield self._template._build_engine(block.dtype, members).distances(block, self._n_threads)


def _shorten(graph: KnnGraph, k: int) -> KnnGraph:
    """Keep the first `k` of each list."""
    if graph.distances.shape[1] <= k:
        return graph
    return KnnGraph(*(np.ascontiguousarray(array[:, :k]) for array in graph))
