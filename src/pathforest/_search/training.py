"""One training set, many models: neighbours, tree, cuts, densities and forests are computed once for all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pathforest import _core
from pathforest._engines.build import EngineFactory, build_engine
from pathforest._models.prediction import cheapest_class
from pathforest.forest import Forest, boundary_prototypes
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.graph import COMPETITION_NEIGHBORS, TREE_NEIGHBORS, knn_graph, shorter_lists, spanning_tree
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

# Forests kept for cells to come. Trials rarely ask for the same one twice: their sigmas are continuous.
KEPT_FORESTS = 16

# Forests and their class costs held at once. Where there are more, the distances are computed again.
ANSWER_BYTES = 2**28


class Settings(NamedTuple):
    """What distinguishes the forests of one training set, by the classifier's names."""

    k_max: int
    sigma: float
    competition: str


class ClassCosts(NamedTuple):
    """What each class of one forest offers the evaluation samples."""

    cost: np.ndarray  # (n_r, m, n_classes) mean of the r cheapest offers, for each r asked for
    first: np.ndarray  # (m, n_classes) place in the forest's order of the cheapest offer

    def winner(self, r: int) -> np.ndarray:
        """Class of the smallest cost; on ties the one whose cheapest offer comes first in the order."""
        return cheapest_class(self.cost[r], self.first)


class SharedTraining:
    """The stages of :class:`FuzzyOPFClassifier` on one training set, each done once whatever models ask for.

    `template` is an unfitted classifier with the parameters that all models have in common, and with the
    largest `k_max` of any. Every model it makes equals the one that `fit` would make. Distances of evaluation
    samples are kept for the next call if they take at most `keep_bytes`. `feature_names` are those of `X`, an
    array that has lost them.
    """

    def __init__(
        self,
        template: FuzzyOPFClassifier,
        X: Any,
        y: Any,
        keep_bytes: int = 0,
        make_engine: EngineFactory = build_engine,
        feature_names: np.ndarray | None = None,
    ) -> None:
        self._template = template = clone(template)
        metric, self._n_threads = template._check_settings()
        by_density = not callable(template.membership)
        X, labels, codes, metric = template._check_training(X, y, metric, squares=by_density)
        self.classes, self._feature_names = template.classes_, feature_names
        self._X, self._codes, self._metric = X, codes.astype(np.int32), metric
        self._values = None if by_density else template._call_membership(X, labels)
        self._k = min(int(template.k_max), len(X) - 1)
        self._engine = make_engine(X, metric, template.algorithm, self._n_threads, template.verbose)
        self._graph = knn_graph(self._engine, max(self._k, min(TREE_NEIGHBORS, len(X) - 1)), self._n_threads)
        self._lists = shorter_lists(self._graph, COMPETITION_NEIGHBORS)  # once for all forests
        self._tree = spanning_tree(self._engine, self._graph, self._n_threads)
        self._prototypes = boundary_prototypes(self._tree, codes)
        if by_density:
            _, self._cuts = search_k(self._graph, self._k, metric.squared, self._n_threads)
        template._keep_samples(X, metric, self._engine)
        self._densities: dict[int, np.ndarray] = {}
        self._forests: OrderedDict[Any, Forest] = OrderedDict()  # the last ones used, the latest at the end
        self._keep_bytes = keep_bytes
        self._distances: tuple[np.ndarray, list[np.ndarray]] | None = None

    def forest(self, settings: Settings) -> Forest:
        """Return the forest of some settings."""
        model = self._configure(settings)
        key = _key(model)
        if key not in self._forests:
            self._forests[key] = model._compete(self._engine, self._lists, self._tree, self._prototypes)
        self._forests.move_to_end(key)
        if len(self._forests) > KEPT_FORESTS:
            self._forests.popitem(last=False)
        return self._forests[key]

    def classifier(self, settings: Settings, **params: Any) -> FuzzyOPFClassifier:
        """Return the classifier that `fit` would give for some settings and other parameters."""
        model = self._configure(settings).set_params(**params)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self._template, name):
                setattr(model, name, getattr(self._template, name))
        if self._feature_names is not None:
            model.feature_names_in_ = self._feature_names
        forest = self.forest(settings)
        model._remember(self._X, self._codes, self._metric, self._engine, self._prototypes, forest)
        return model

    def check_queries(self, Q: Any) -> np.ndarray:
        """Check evaluation samples, once for all calls of :meth:`class_costs`."""
        return self._template._check_query(Q)

    def class_costs(
        self,
        Q: np.ndarray,
        settings: Sequence[Settings],
        n_conquerors: Sequence[int],
        advance: Callable[[float], object] = lambda part: None,
    ) -> Iterator[tuple[list[int], ClassCosts]]:
        """Yield, for each different forest, which of the `settings` it serves and its class costs for `Q`.

        `Q` comes from :meth:`check_queries`. `advance` gets each part of the work when it is done: half
        for forests, half for class costs.
        """
        served: dict[Any, list[int]] = {}
        for position, one in enumerate(settings):
            served.setdefault(_key(self._configure(one)), []).append(position)
        rows = [min(int(r), len(self._X)) for r in n_conquerors]
        for group in self._groups(list(served.values()), len(Q), len(rows)):
            forests = []
            for positions in group:
                forests.append(self.forest(settings[positions[0]]))
                advance(0.5 / len(served))
            answers: list[list[ClassCosts]] = [[] for _ in group]
            for block in self._distance_blocks(Q):
                part = 0.5 * len(block) / len(Q) / len(served)
                for forest, parts in zip(forests, answers, strict=True):
                    parts.append(self._block_costs(block, forest, rows))
                    advance(part)
            for positions, parts in zip(group, answers, strict=True):
                cost = np.concatenate([part.cost for part in parts], axis=1)
                yield positions, ClassCosts(cost, np.concatenate([part.first for part in parts]))
                parts.clear()

    def _groups(self, items: list[Any], n_queries: int, n_counts: int) -> Iterator[list[Any]]:
        """Split forests into groups that stay within `ANSWER_BYTES`, or of one forest."""
        costs = n_queries * len(self.classes) * (8 * n_counts + 4)
        arrays = 24 * len(self._X)  # cost, predecessor, root and order of each sample
        size = max(1, ANSWER_BYTES // (costs + arrays))
        return (items[start : start + size] for start in range(0, len(items), size))

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
        for _, block in self._template._query_blocks(Q, width=len(self._X)):
            if self._metric.kind != "features":
                yield np.ascontiguousarray(block, dtype=np.float64)
            elif block.dtype.name == self._engine.dtype:
                yield self._engine.distances(block, self._n_threads)
            else:
                members = np.arange(len(self._X))
                yield self._template._build_engine(block.dtype, members).distances(block, self._n_threads)


def _key(model: FuzzyOPFClassifier) -> Any:
    """Tell forests of one training set apart, given a classifier that has its memberships."""
    if (model.membership_ == 1).all():
        return "plain"
    return getattr(model, "best_k_", None), float(model.sigma), model.competition
