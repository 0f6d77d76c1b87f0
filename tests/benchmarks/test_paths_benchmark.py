"""The experiment on paths: what it calls distances alone is just that."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.studies.paths import forget_paths, spread, tree_of, without_paths
from benchmarks.studies.problems import Data
from pathforest import FuzzyOPFClassifierCV, OPFClassifier


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    return rng.normal(size=(80, 2)) + y[:, None], y, rng.normal(0.5, 1, (200, 2))


def test_without_paths_plain_opf_is_the_nearest_neighbour(problem):
    X, y, Q = problem
    nearest = KNeighborsClassifier(1).fit(X, y).predict(Q)
    model = OPFClassifier().fit(X, y)
    assert (model.predict(Q) != nearest).any()
    np.testing.assert_array_equal(forget_paths(model).predict(Q), nearest)


def test_a_search_without_paths_scores_the_nearest_neighbour(problem):
    X, y, Q = problem
    pair = np.arange(60), np.arange(60, 80)
    nearest = KNeighborsClassifier(1).fit(X[:60], y[:60])
    with without_paths():
        search = FuzzyOPFClassifierCV(transforms=None, n_conquerors=1, n_best=1, cv=[pair]).fit(X, y)
    assert search.best_score_ == nearest.score(X[60:], y[60:])
    np.testing.assert_array_equal(search.predict(Q), KNeighborsClassifier(1).fit(X, y).predict(Q))


def test_labels_spread_along_a_chain_of_samples():
    """The far end of a chain is nearer to the other class, and yet belongs to its own."""
    chain = np.column_stack([np.arange(20.0), np.zeros(20)])
    other = np.array([[19.0, 3.0], [19.5, 3.0]])
    data = Data(np.concatenate([chain, other]), np.repeat([0, 1], [20, 2]))
    np.testing.assert_array_equal(spread(tree_of(data), data.y, np.array([0, 20])), data.y)
