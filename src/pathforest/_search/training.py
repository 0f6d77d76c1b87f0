"""One training set, many models: neighbours, tree, cuts, densities and forests are computed once for all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.engine import TREE_NEIGHBORS, Engine, KnnGraph
from pathforest._models.base import check_queries, keep_samples, open_fit
from pathforest._models.classifier import keep_forest
from pathforest._models.offers import (
    EXTRA_MEMBERS,
    AskedForest,
    ClassCosts,
    ClassGroups,
    Lists,
    answer_each,
)
from pathforest._utils.threads import map_threads
from pathforest.forest import Forest, boundary_prototypes
from pathforest.fuzzy import FuzzyOPFClassifier, call_membership, compete
from pathforest.graph import COMPETITION_NEIGHBORS, knn_graph, shorter_lists, spanning_tree
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

# Forests kept for models that scorers ask for.
KEPT_FORESTS = 16

# Forests and their class costs held at once. Where there are more, neighbours are searched again.
ANSWER_BYTES = 2**28


class Settings(NamedTuple):
    """What distinguishes the forests of one training set, by the classifier's names."""

    k_max: int
    sigma: float
    competition: str


class Block(NamedTuple):
    """Some evaluation samples."""

    rows: slice
    queries: np.ndarray  # features, or distances to all training samples
    nearest: list[Lists]  # the training samples of each class near them


Near = tuple[slice, list[Lists]]  # some evaluation samples, and the training samples of each class near them

ListFinder = Callable[[Engine, np.ndarray, int, int], KnnGraph]


def own_lists(engine: Engine, X: np.ndarray, k: int, n_threads: int) -> KnnGraph:
    """Search the training set itself for the neighbours of its samples."""
    return knn_graph(engine, k, n_threads)


class SharedTraining:
    """The stages of :class:`FuzzyOPFClassifier` on one training set, each done once whatever models ask for.

    `template` is an unfitted classifier with the parameters that all models have in common, and with the
    largest `k_max` of any. Every model it makes equals the one that `fit` would make. `feature_names` are
    those of `X`, an array that has lost them. ``find_lists(engine, X, k, n_threads)`` gives the neighbour
    lists.
    """

    def __init__(
        self,
        template: FuzzyOPFClassifier,
        X: Any,
        y: Any,
        make_engine: EngineFactory = build_engine,
        feature_names: np.ndarray | None = None,
        find_lists: ListFinder = own_lists,
    ) -> None:
        self._template = template = clone(template)
        self._data = data = open_fit(template, X, y, labelled=True)
        self.classes, codes = data.labels
        template.classes_, self._feature_names = self.classes, feature_names
        self._X, self._codes, self._metric = data.X, codes.astype(np.int32), data.metric
        self._values, self.n_threads = None, data.n_threads
        if callable(template.membership):
            self._values = call_membership(template.membership, data.X, data.labels.all())
        self._k = min(int(template.k_max), len(data.X) - 1)
        options = template.algorithm, self.n_threads, template.verbose
        data.engine = self._engine = make_engine(data.X, data.metric, *options)
        data.grown = None  # models of a search do not grow
        self._find_lists, self._graph = find_lists, None
        keep_samples(template, data)
        self._densities: dict[int, np.ndarray] = {}
        self._forests: OrderedDict[Any, Forest] = OrderedDict()  # the last ones used, the latest at the end
        self._groups: dict[str, ClassGroups] = {}  # by the type of the queries
        self._kept: tuple[np.ndarray, int, list[Block]] | None = None

    def grow(self) -> None:
        """Do what all forests have in common, at the first call: lists, spanning tree, prototypes, cuts."""
        if self._graph is not None:
            return
        length = max(self._k, min(TREE_NEIGHBORS, len(self._X) - 1))
        self._graph = self._find_lists(self._engine, self._X, length, self.n_threads)
        self._lists = shorter_lists(self._graph, COMPETITION_NEIGHBORS)
        self._tree = spanning_tree(self._engine, self._graph, self.n_threads)
        self._prototypes = boundary_prototypes(self._tree, self._codes)
        if self._values is None:
            _, self._cuts = search_k(self._graph, self._k, self._metric.squared, self.n_threads)

    def forests(self, settings: Sequence[Settings]) -> Iterator[Forest]:
        """Yield the forest of each of some settings. A forest grows on one thread, so several do at once."""
        models = [self._configure(one) for one in settings]
        keys = [*map(_key, models)]

        def grow(key: Any, model: FuzzyOPFClassifier) -> Forest:
            if (known := self._forests.get(key)) is not None:
                return known
            grown = self._engine, self._lists, self._tree, self._prototypes, model.membership_
            return compete(*grown, model.competition, model.membership_side, model.sigma)

        n_threads = self.n_threads if len(models) > 1 and self._engine.concurrent else 1
        for key, forest in zip(keys, map_threads(grow, n_threads, keys, models), strict=True):
            self._forests[key] = forest
            self._forests.move_to_end(key)
            if len(self._forests) > KEPT_FORESTS:
                self._forests.popitem(last=False)
            yield forest

    def classifier(self, settings: Settings, **params: Any) -> FuzzyOPFClassifier:
        """Return the classifier that `fit` would give for some settings and other parameters."""
        model = self._configure(settings).set_params(**params)
        for name in ("classes_", "n_features_in_", "feature_names_in_", "categories_"):
            if hasattr(self._template, name):
                setattr(model, name, getattr(self._template, name))
        if self._feature_names is not None:
            model.feature_names_in_ = self._feature_names
        (forest,) = self.forests([settings])
        return keep_forest(model, self._data, self._prototypes, forest, self._codes)

    def check_queries(self, Q: Any) -> np.ndarray:
        """Check evaluation samples, once for all calls of :meth:`class_costs`."""
        return check_queries(self._template, Q)

    def find_near(self, Q: np.ndarray, rows: slice, r: int) -> Near:
        """List the training samples of each class near some evaluation samples, for `r` conquerors."""
        return rows, self._classes_of(Q.dtype).nearest(Q[rows], r)

    def keep_near(self, Q: np.ndarray, r: int, found: Sequence[Near]) -> None:
        """Keep what :meth:`find_near` found for all of `Q`, for the next call of :meth:`class_costs`."""
        self._kept = Q, r, [Block(rows, Q[rows], nearest) for rows, nearest in found]

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
        counts = np.array([min(int(r), len(self._X)) for r in n_conquerors], dtype=np.int32)
        for batch in self._batches(list(served.values()), len(Q), len(counts)):
            forests = []
            for forest in self.forests([settings[positions[0]] for positions in batch]):
                forests.append(self._enter(forest, Q.dtype))
                advance(0.5 / len(served))
            shape = len(counts), len(Q), len(self.classes)
            answers = [ClassCosts(np.empty(shape), np.empty(shape[1:], dtype=np.int32)) for _ in batch]
            for rows, block, nearest in self._near(Q, int(counts[-1])):
                parts = answer_each(forests, block, nearest, [counts] * len(forests))
                for answer, part in zip(answers, parts, strict=True):
                    answer.cost[:, rows], answer.first[rows] = part
                    advance(0.5 * len(block) / len(Q) / len(served))
            del forests
            while answers:
                yield batch[-len(answers)], answers.pop(0)

    def _batches(self, items: list[Any], n_queries: int, n_counts: int) -> Iterator[list[Any]]:
        """Split forests into groups that stay within `ANSWER_BYTES`, or of one forest."""
        costs = n_queries * len(self.classes) * (8 * n_counts + 4)
        arrays = 32 * len(self._X)  # membership, cost, predecessor, root and order of each sample
        size = max(1, ANSWER_BYTES // (costs + arrays))
        return (items[start : start + size] for start in range(0, len(items), size))

    def _configure(self, settings: Settings) -> FuzzyOPFClassifier:
        """Make an unfitted classifier that has its memberships already."""
        self.grow()
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

    def _classes_of(self, dtype: np.dtype) -> ClassGroups:
        """Return the training samples class by class, for queries of some type."""
        if dtype.name not in self._groups:
            options = self._codes, len(self.classes), dtype
            self._groups[dtype.name] = ClassGroups(self._template._samples, *options)
        return self._groups[dtype.name]

    def _enter(self, forest: Forest, dtype: np.dtype) -> AskedForest:
        return AskedForest(self._classes_of(dtype), forest.cost, forest.order, self._codes[forest.root])

    def _near(self, Q: np.ndarray, r: int) -> Iterator[Block]:
        """Yield the evaluation samples block by block, with the training samples near them."""
        if self._kept is not None and self._kept[0] is Q and r <= self._kept[1]:
            yield from self._kept[2]
            return
        yield from self._find_near(Q, r, (r + EXTRA_MEMBERS) * len(self.classes))

    def _find_near(self, Q: np.ndarray, r: int, width: int) -> Iterator[Block]:
        classes = self._classes_of(Q.dtype)
        for rows, block in self._template._samples.blocks(Q, width=2 * width):
            yield Block(rows, block, classes.nearest(block, r))


def _key(model: FuzzyOPFClassifier) -> Any:
    """Tell forests of one training set apart, given a classifier that has its memberships."""
    if (model.membership_ == 1).all():
        return "plain"
    return getattr(model, "best_k_", None), float(model.sigma), model.competition
