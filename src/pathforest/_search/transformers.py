"""What a search makes of samples by itself: discriminant analyses, and features joined with a random forest.

The discriminant analyses choose their own ridge; they work on features, and on those of a kernel. The trees
of a random forest give weights of the features, and shares of the classes that stand next to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pathforest._persistence.checks import (
    PARTS,
    Saved,
    array,
    check_attributes,
    check_transformer,
    demand,
    indices,
    saved,
    transformer,
)
from pathforest._utils.checks import check_positive, map_threads, thread_count
from pathforest.preprocessing import TablePreprocessor

LANDMARKS = 300  # samples that span the kernel features, at most
JITTER = 1e-6  # added to the kernel of the landmarks, as a part of its diagonal: near ones make it singular
RIDGES = np.logspace(-4, 1.5, 12)  # ridges tried, as multiples of the mean eigenvalue
SMALLEST_SCATTER = 1e-9
SMALLEST_SCALE = 1e-200  # of the ridges of constant features: their inverses stay finite
N_TREES = 200  # of every random forest
GAP = -1e9  # where trees split: below all standardised numbers and codes
BLOCK = 2**22  # pairs of sample and tree that are walked together: 140 MB at most

# ``once(key, make)`` calls `make` for the first of all transformers of the same samples that have this key.
Once = Callable[[Any, Callable[[], Any]], Any]


def make_now(key: Any, make: Callable[[], Any]) -> Any:
    """Share nothing with other transformers."""
    return make()


class SharingTransformer(TransformerMixin, BaseEstimator):
    """A transformer whose ``fit_transform(X, y, once)`` shares work with others; it does all of the fit."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the samples."""
        self.fit_transform(X, y)
        return self


@saved(PARTS)
class RidgeDiscriminant(TransformerMixin, BaseEstimator):
    """Linear discriminant analysis with the covariance shrunk as far as leave-one-out error advises."""

    # Its directions are those of ridge regression on class indicators, whose leave-one-out error has a closed
    # form: from one eigenvalue decomposition the ridge is chosen for the data at hand, wrong labels included.

    _saved = Saved({"mean_": array("features"), "ridge_": None, "scalings_": array("features outputs")})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Find the directions: at most one fewer than there are classes, or features."""
        X = np.asarray(X, dtype=np.float64)
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        values, vectors = principal_axes(centred)
        scores = centred @ vectors
        indicators = (codes[:, None] == np.arange(len(classes))) - counts / len(X)
        products = scores.T @ indicators
        scale = max(values.sum() / X.shape[1], SMALLEST_SCALE)
        self.ridge_ = _choose_ridge(scale * RIDGES, values, scores, indicators, products)
        # Between-class scatter M M^T in the eigenbasis; total scatter D with the ridge is diagonal there. The
        # eigenvectors q of M^T D^-1 M give the directions D^-1 M q, of within-class scatter g (1 - g).
        between = products / np.sqrt(counts)
        weighted = between / (values + self.ridge_)[:, None]
        gains, rotation = eigh(between.T @ weighted)
        n_directions = max(1, min(len(classes) - 1, X.shape[1]))
        gains, rotation = gains[::-1][:n_directions], rotation[:, ::-1][:, :n_directions]
        within = np.maximum(gains * (1 - gains), SMALLEST_SCATTER)
        self.scalings_ = vectors @ (weighted @ rotation) * np.sqrt(len(X) / within)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on the directions."""
        check_is_fitted(self)
        return (X - self.mean_) @ self.scalings_


def _choose_ridge(
    ridges: np.ndarray, values: np.ndarray, scores: np.ndarray, indicators: np.ndarray, products: np.ndarray
) -> float:
    """Return the ridge whose regression on class indicators has the smallest leave-one-out error."""
    squares = scores**2
    best, ridge = np.inf, ridges[-1]
    for candidate in ridges:
        weights = 1 / (values + candidate)
        residual = indicators - scores @ (weights[:, None] * products)
        leverage = squares @ weights + 1 / len(scores)
        error = np.sum((residual / np.maximum(1 - leverage, SMALLEST_SCATTER)[:, None]) ** 2)
        if error < best:
            best, ridge = error, candidate
    return float(ridge)


def _check_landmarks(discriminant: KernelDiscriminant, sizes: dict[str, int]) -> None:
    demand(discriminant.root_.diagonal().all(), "root_ is singular")
    check_positive("gamma_scale", discriminant.gamma_scale, "1 is the default")


@saved(PARTS)
class KernelDiscriminant(SharingTransformer):
    """The discriminant analysis of :class:`RidgeDiscriminant` on Nystroem features of an RBF kernel."""

    # `gamma_scale` is gamma times the number of features; `random_state` chooses `n_landmarks` samples.

    _saved = Saved(
        {
            "landmarks_": array("landmarks features"),
            "root_": array("landmarks landmarks"),
            "discriminant_": transformer("landmarks"),
        },
        agree=(_check_landmarks,),
    )

    def __init__(self, gamma_scale: float = 1.0, n_landmarks: int = LANDMARKS, random_state: Any = 0) -> None:
        self.gamma_scale = gamma_scale
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit_transform(self, X: np.ndarray, y: np.ndarray, once: Once = make_now) -> np.ndarray:
        """Choose landmarks and project the samples on the directions that separate the classes."""
        chosen = check_random_state(self.random_state).permutation(len(X))[: self.n_landmarks]
        self.landmarks_ = np.asarray(X[chosen], dtype=np.float64)  # the root needs all the digits
        kernel = self._kernel(self.landmarks_, "landmarks", once)
        kernel.flat[:: len(kernel) + 1] += JITTER * kernel.diagonal().mean()
        # Any root of the kernel gives the same inner products; Cholesky's is the cheapest.
        self.root_ = cholesky(kernel, lower=True)
        features = self._features(X, "samples", once)
        self.discriminant_ = RidgeDiscriminant().fit(features, y)
        return self.discriminant_.transform(features)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on these directions, at most one fewer than there are classes."""
        check_is_fitted(self)
        return self.discriminant_.transform(self._features(X))

    def _features(self, X: np.ndarray, *sharing: Any) -> np.ndarray:
        return solve_triangular(self.root_, self._kernel(X, *sharing).T, lower=True).T

    def _kernel(self, X: np.ndarray, part: str = "queries", once: Once = make_now) -> np.ndarray:
        def measure() -> np.ndarray:  # for kernels of all widths
            return euclidean_distances(np.asarray(X, dtype=np.float64), self.landmarks_, squared=True)

        squares = once((part, self.n_landmarks, self.random_state), measure)
        return np.exp(squares * (-self.gamma_scale / X.shape[1]))


def _check_walks(trees: RandomTrees, sizes: dict[str, int]) -> None:
    own = np.arange(sizes["nodes"])
    # Children come after their parents, so that every walk ends.
    demand((trees.left_ >= own).all() and (trees.right_ >= own).all(), "left_ or right_ leads back")
    demand(len(trees.roots_), "there are no trees")


@saved(PARTS)
class RandomTrees(BaseEstimator):
    """The trees of a fitted random forest: answers are those of scikit-learn's, bit for bit."""

    # Nodes are numbered together; a leaf is its own child, with a row of shares in `leaf_`. Leaves of one
    # class have a row for each class: there are as many as samples in every tree.

    _saved = Saved(
        {
            "threshold_": array("nodes"),
            "feature_": indices("nodes", "features"),
            "roots_": indices("trees", "nodes", ascending=True),
            "left_": indices("nodes", "nodes"),
            "right_": indices("nodes", "nodes"),
            "shares_": array("leaves outputs", nonnegative=True),
            "leaf_": indices("nodes", "leaves"),
        },
        agree=(_check_walks,),
    )

    def fit(self, forest: RandomForestClassifier) -> Self:
        """Copy the trees of a fitted forest."""
        trees = [tree.tree_ for tree in forest.estimators_]
        self.roots_ = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        own = np.arange(sum(tree.node_count for tree in trees))
        start = np.repeat(self.roots_, [tree.node_count for tree in trees])
        feature, left, right = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("feature", "children_left", "children_right")
        )
        leaf = feature < 0
        self.left_, self.right_ = (np.where(leaf, own, child + start) for child in (left, right))
        self.feature_ = np.where(leaf, 0, feature).astype(np.int32)
        self.threshold_ = np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees]))
        self.leaf_, shares = np.zeros(len(own), dtype=np.int32), [np.eye(forest.n_classes_)]
        for root, tree in zip(self.roots_, trees, strict=True):
            leaves = np.flatnonzero(tree.feature < 0)
            own_shares = tree.value[leaves, 0]
            row, is_mixed = own_shares.argmax(axis=1), own_shares.max(axis=1) < 1
            row[is_mixed] = sum(map(len, shares)) + np.arange(is_mixed.sum())
            shares.append(own_shares[is_mixed])
            self.leaf_[root + leaves] = row
        self.shares_ = np.concatenate(shares)
        return self

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return the mean share of each class in the leaves that samples reach."""
        X = np.asarray(X, dtype=np.float32)  # as scikit-learn does
        result, size = np.zeros((len(X), self.shares_.shape[1])), max(1, BLOCK // len(self.roots_))
        for start in range(0, len(X), size):
            block = slice(start, start + size)
            for leaf in self._walk(X[block]).T:  # tree by tree, as scikit-learn adds them
                result[block] += self.shares_[self.leaf_[leaf]]
        return result / len(self.roots_)

    def _walk(self, X: np.ndarray) -> np.ndarray:
        """Return the leaf that each sample reaches in each tree, of shape (n_samples, n_trees)."""
        node = np.broadcast_to(self.roots_, (len(X), len(self.roots_))).copy()
        rows = np.arange(len(X))[:, None]
        while True:
            goes_left = X[rows, self.feature_[node]] <= self.threshold_[node]
            below = np.where(goes_left, self.left_[node], self.right_[node])
            if np.array_equal(below, node):
                return node
            node = below


def unseen_shares(forest: RandomForestClassifier, X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return class shares by trees that did not see a sample, without the warning of scikit-learn's."""
    X, total, count = np.asarray(X, dtype=np.float32), np.zeros((len(X), forest.n_classes_)), np.zeros(len(X))

    def ask(tree: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        unseen = np.flatnonzero(np.bincount(rows, minlength=len(X)) == 0)
        return unseen, tree.tree_.value[tree.tree_.apply(X[unseen]), 0]

    n_threads = thread_count(forest.n_jobs)
    for unseen, shares in map_threads(ask, n_threads, forest.estimators_, forest.estimators_samples_):
        total[unseen] += shares  # tree by tree
        count[unseen] += 1
    count, overall = count[:, None], np.bincount(codes) / len(codes)  # for samples that every tree has seen
    return np.where(count > 0, total / np.maximum(count, 1), overall)


def _check_joint(joint: JointFeatures, sizes: dict[str, int]) -> None:
    demand(type(joint.trees_) is RandomTrees, "trees_ are not trees")
    width, own = sizes["features"], {"features": sizes["features"]}
    if joint.kinds is not None:
        is_table = type(vars(joint).get("table_")) is TablePreprocessor
        demand(is_table, "table_ is not a preprocessor of tables")
        width = check_transformer(joint.table_, width)
        own["features"] = len(np.unique(joint.table_._sources()))
    array("width")(joint, "scale_", {"width": width})
    check_attributes(joint.trees_, RandomTrees._saved, own)
    sizes["outputs"] = width + own["outputs"]
    check_positive("weight", joint.weight, "3 is the default")


@saved(PARTS)
class JointFeatures(SharingTransformer):
    """Features by their importance in a random forest, next to its shares of the classes."""

    # Features are stretched by the root of their importance, of mean 1; shares are those of the leaves that a
    # sample reaches times `weight`, of training samples by the trees that did not see them. With `kinds` of
    # columns it takes a table: distances compare columns of 0 and 1, and trees split codes, gaps first.
    _saved = Saved({"trees_": None, "scale_": None}, {"table_": None}, agree=(_check_joint,))

    def __init__(
        self,
        min_samples_leaf: int = 1,
        weight: float = 3.0,
        n_trees: int = N_TREES,
        random_state: Any = 0,
        n_jobs: int | None = None,
        kinds: Sequence[str] | None = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.weight = weight
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.kinds = kinds

    def fit_transform(self, X: Any, y: np.ndarray, once: Once = make_now) -> np.ndarray:
        """Grow trees; join the features with the shares of the classes in trees that did not see a sample."""
        if self.kinds is None:
            return self._grow(X, X, np.arange(X.shape[1]), y)

        def encode() -> tuple[TablePreprocessor, np.ndarray, np.ndarray]:
            table = TablePreprocessor(dict(enumerate(self.kinds))).fit(X)
            return table, table.transform(X), table._codes(X, scaled=True)

        self.table_, Z, codes = once("table", encode)
        sources = np.unique(self.table_._sources(), return_inverse=True)[1]
        return self._grow(Z, self._split(codes), sources, y)

    def _grow(self, X: np.ndarray, split: np.ndarray, sources: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Grow trees that split other columns, given the one of these that each feature was made from."""
        codes, n_columns = np.unique(y, return_inverse=True)[1], split.shape[1]
        options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        forest = RandomForestClassifier(self.n_trees, min_samples_leaf=self.min_samples_leaf, **options)
        importances = forest.fit(split, codes).feature_importances_
        if not importances.any():  # no tree has a split: every feature is constant
            importances = np.full(n_columns, 1 / n_columns)
        self.scale_ = np.sqrt(importances * n_columns)[sources]
        self.trees_ = RandomTrees().fit(forest)
        return self._join(X, unseen_shares(forest, split, codes))

    def transform(self, X: Any) -> np.ndarray:
        """Join the features with the mean shares of the classes in the leaves that samples reach."""
        check_is_fitted(self)
        if self.kinds is None:
            return self._join(X, self.trees_.shares(X))
        shares = self.trees_.shares(self._split(self.table_._codes(X, scaled=True)))
        return self._join(self.table_.transform(X), shares)

    def _join(self, X: np.ndarray, shares: np.ndarray) -> np.ndarray:
        return np.hstack([X * self.scale_, self.weight * shares])

    def _split(self, codes: np.ndarray) -> np.ndarray:
        """Return the columns of a table that trees split."""
        return np.nan_to_num(codes[:, np.unique(self.table_._sources())], nan=GAP)


def principal_axes(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors of the scatter; those of value 0 are left out for wide samples."""
    n, d = centred.shape
    if d > n:
        _, roots, axes = svd(centred, full_matrices=False)
        return roots**2, axes.T
    values, vectors = eigh(centred.T @ centred)
    return np.maximum(values, 0), vectors
