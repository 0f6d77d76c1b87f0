"""The compiled core refuses arrays of the wrong type or shape instead of reading past their end."""

import numpy as np
import pytest

from pathforest import _core

pytestmark = pytest.mark.kernel

X = np.random.default_rng(0).random((12, 3))
ENGINE = _core.Engine.brute(X, "euclidean")
LISTS = ENGINE.knn(4)
TREE = ENGINE.spanning_tree(*LISTS)
SEEDS = np.array([0, 5], dtype=np.int32)
ONES = np.ones(12)
ORDER = np.arange(12, dtype=np.int32)

WRONG_CALLS = {
    "integer samples": lambda: _core.Engine.tree(X.astype(int), "euclidean"),
    "one-dimensional samples": lambda: _core.Engine.brute(X[0], "euclidean"),
    "unknown metric": lambda: _core.Engine.brute(X, "no such metric"),
    "metric the tree lacks": lambda: _core.Engine.tree(X, "cosine"),
    "matrix that is not square": lambda: _core.Engine.precomputed(X),
    "k of n": lambda: ENGINE.knn(12),
    "negative k": lambda: ENGINE.knn(-1),
    "query of more than n": lambda: ENGINE.query(X, 13),
    "queries of another dtype": lambda: ENGINE.query(X.astype(np.float32), 2),
    "queries of another width": lambda: ENGINE.query(X[:, :2].copy(), 2),
    "lists of other samples": lambda: ENGINE.spanning_tree(LISTS[0][:5], LISTS[1][:5]),
    "lists of two lengths": lambda: ENGINE.spanning_tree(LISTS[0], LISTS[1][:, :3].copy()),
    "long indices": lambda: ENGINE.spanning_tree(LISTS[0], LISTS[1].astype(np.int64)),
    "membership too short": lambda: ENGINE.compete(*LISTS, SEEDS, ONES[:5], False),
    "long prototypes": lambda: ENGINE.compete(*LISTS, SEEDS.astype(np.int64), ONES, False),
    "prototype beyond the tree": lambda: _core.follow_tree(*TREE, SEEDS + 99),
    "tree of other samples": lambda: _core.compete_tree(*TREE, SEEDS, ONES[:5], False),
    "cost too short": lambda: ENGINE.conquer(X, ONES[:5], ORDER),
    "order too short": lambda: ENGINE.conquer(X, ONES, ORDER[:5]),
    "no conqueror": lambda: ENGINE.conquer(X, ONES, ORDER, n_conquerors=0),
    "density of longer lists": lambda: _core.density(LISTS[0], 5, False),
    "clusters of longer lists": lambda: _core.cluster(*LISTS, 5, ONES),
    "clusters of other densities": lambda: _core.cluster(*LISTS, 4, ONES[:5]),
    "search over longer lists": lambda: _core.search_k(*LISTS, 5, False),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_a_wrong_argument_is_refused(case):
    with pytest.raises((TypeError, ValueError), match=r"\w"):
        WRONG_CALLS[case]()
