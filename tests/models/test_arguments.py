"""The compiled core refuses arrays of the wrong type or shape instead of reading past their end."""

import numpy as np
import pytest

from pathforest import _core

pytestmark = pytest.mark.kernel

X = np.random.default_rng(0).random((12, 3))
ENGINE = _core.Engine.brute(X, "euclidean")
LISTS = ENGINE.knn(4)
LISTS_OF_5 = _core.Engine.brute(X[:5].copy(), "euclidean").knn(4)
TREE = ENGINE.spanning_tree(LISTS)
SEEDS = np.array([0, 5], dtype=np.int32)
ONES = np.ones(12)
ORDER = np.arange(12, dtype=np.int32)

OTHER_TYPE, NO_SAMPLE = (
    "incompatible function arguments",
    "contains an index that does not belong to a sample",
)
LONGER, ONE_EACH = "^k=5 exceeds the lists' length 4$", "must have one entry per training sample$"

WRONG_CALLS = {
    "integer samples": (
        lambda: _core.Engine.kd_tree(X.astype(int), "euclidean"),
        rf"^kd_tree\(\): {OTHER_TYPE}",
    ),
    "one-dimensional samples": (lambda: _core.Engine.brute(X[0], "euclidean"), rf"^brute\(\): {OTHER_TYPE}"),
    "unknown metric": (lambda: _core.Engine.brute(X, "no such metric"), "^unknown metric 'no such metric'$"),
    "metric the tree lacks": (
        lambda: _core.Engine.kd_tree(X, "cosine"),
        "^the tree engine does not .* 'cosine'$",
    ),
    "matrix that is not square": (lambda: _core.Engine.precomputed(X), "^the distance matrix is not square$"),
    "k of n": (lambda: ENGINE.knn(12), "^k=12 is not between 0 and 11$"),
    "negative k": (lambda: ENGINE.knn(-1), "^k=-1 is not between 0 and 11$"),
    "query of more than n": (lambda: ENGINE.query(X, 13), "^k=13 is not between 0 and 12$"),
    "queries of another dtype": (
        lambda: ENGINE.query(X.astype(np.float32), 2),
        "^the queries .* another type",
    ),
    "queries of another width": (lambda: ENGINE.query(X[:, :2].copy(), 2), "^the queries have another width"),
    "lists of other samples": (lambda: ENGINE.spanning_tree(LISTS_OF_5), f"^the neighbour lists {ONE_EACH}"),
    "lists of more samples": (
        lambda: ENGINE.spanning_tree((LISTS[0][:5], LISTS[1][:5])),
        f"^indices {NO_SAMPLE}",
    ),
    "lists of two lengths": (
        lambda: ENGINE.spanning_tree((LISTS[0], LISTS[1][:, :3].copy())),
        "^distances and indices differ in shape$",
    ),
    "long indices": (
        lambda: ENGINE.spanning_tree((LISTS[0], LISTS[1].astype(np.int64))),
        rf"^spanning_tree\(\): {OTHER_TYPE}",
    ),
    "membership too short": (
        lambda: ENGINE.compete(*LISTS, SEEDS, ONES[:5], False),
        f"^membership {ONE_EACH}",
    ),
    "long prototypes": (
        lambda: ENGINE.compete(*LISTS, SEEDS.astype(np.int64), ONES, False),
        rf"^compete\(\): {OTHER_TYPE}",
    ),
    "prototype beyond the tree": (lambda: _core.follow_tree(*TREE, SEEDS + 99), f"^prototypes {NO_SAMPLE}"),
    "tree of other samples": (
        lambda: _core.compete_tree(*TREE, SEEDS, ONES[:5], False),
        "^membership must have one entry more than the tree has arcs$",
    ),
    "cost too short": (lambda: ENGINE.conquer(X, ONES[:5], ORDER), f"^cost {ONE_EACH}"),
    "order too short": (lambda: ENGINE.conquer(X, ONES, ORDER[:5]), f"^order {ONE_EACH}"),
    "no conqueror": (
        lambda: ENGINE.conquer(X, ONES, ORDER, n_conquerors=0),
        "^n_conquerors must be at least 1$",
    ),
    "density of longer lists": (lambda: _core.density(LISTS[0], 5, False), LONGER),
    "clusters of longer lists": (lambda: _core.cluster(*LISTS, 5, ONES), LONGER),
    "clusters of other densities": (
        lambda: _core.cluster(*LISTS, 4, ONES[:5]),
        "^scaled_density must have one entry per sample$",
    ),
    "search over longer lists": (lambda: _core.search_k(*LISTS, 5, False), LONGER),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_a_wrong_argument_is_refused(case):
    call, message = WRONG_CALLS[case]
    with pytest.raises(TypeError if OTHER_TYPE in message else ValueError, match=message):
        call()
