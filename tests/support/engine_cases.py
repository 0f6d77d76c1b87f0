"""Every engine with every metric it has, under one calling convention."""

from typing import NamedTuple

import numpy as np
import pytest
import reference
from hypothesis import settings
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, with_gaps

from pathforest import _core
from pathforest._engines.metric import SPARSE_METRICS
from pathforest._engines.samples import SparseSamples

CASES = [("kd_tree", *m) for m in METRICS]
CASES += [("brute", *m) for m in METRICS + BRUTE_METRICS]
CASES += [("sparse", metric, 2.0) for metric in SPARSE_METRICS]
CASES += [("in order", "euclidean", 2.0), ("in order", "chi2", 2.0)]
CASES += [("precomputed", "euclidean", 2.0), ("precomputed", "cosine", 2.0)]

# The engine of rows knows no samples: it answers queries only.
QUERY_CASES = [*CASES, ("rows", "euclidean", 2.0)]


def each(cases):
    """Give a Hypothesis test all cases; they share most of their code: a third of the examples is enough."""
    mark = pytest.mark.parametrize("case", cases, ids=[f"{name}-{metric}-{p:g}" for name, metric, p in cases])
    return lambda test: mark(settings(max_examples=settings().max_examples // 3)(test))


every_engine = each(CASES)
every_query_engine = each(QUERY_CASES)


class Opened(NamedTuple):
    """An engine over a training set, with the distances it must agree with."""

    engine: _core.Engine
    D: np.ndarray  # (n, n) by definition
    DQ: np.ndarray  # (m, n) by definition
    Q: np.ndarray  # queries in the form the engine takes


def needs_non_negative(case):
    """Whether the metric of a case is undefined for negative features."""
    return case[1] in NON_NEGATIVE


def open_engine(case, X, Q):
    """The engine of a case over X, and the reference distances of X and Q."""
    name, metric, p = case
    if metric == "gower":
        return open_gower(*with_gaps(X, Q))
    if metric == "nan_euclidean":
        X, Q = with_gaps(X, Q, whole_rows=False)
    D, DQ = reference.distance_matrix(X, X, metric, p), reference.distance_matrix(Q, X, metric, p)
    if name == "rows":
        return Opened(_core.Engine.rows(len(X), "float64"), D, DQ, DQ)
    if name == "sparse":
        return Opened(_core.Engine.sparse(SparseSamples.of(X), metric), D, DQ, SparseSamples.of(Q))
    if name == "precomputed":
        D, DQ = D.astype(X.dtype), DQ.astype(X.dtype)  # which the engine widens
        return Opened(_core.Engine.precomputed(D), D, DQ, DQ)
    if name == "in order":
        return Opened(_core.Engine.brute(X, metric, p, keep_order=True), D, DQ, Q)
    return Opened(getattr(_core.Engine, name)(X, metric, p), D, DQ, Q)


def open_gower(X, Q):
    """A scan by Gower's distance: every third feature is a category, and every fourth has no weight."""
    j = np.arange(X.shape[1])
    categorical, weights = j % 3 == 1, np.where(j % 4 == 3, 0.0, 1 + j / 3)
    low, high = np.fmin.reduce(X.astype(float)), np.fmax.reduce(X.astype(float))
    ranges = np.nan_to_num(high - low)
    params = {"categorical": categorical, "ranges": ranges, "weights": weights}
    D, DQ = reference.gower_matrix(X, X, **params), reference.gower_matrix(Q, X, **params)
    as_taken = np.where(categorical, 0.0, np.where(ranges > 0, ranges, np.inf))
    return Opened(_core.Engine.brute(X, "gower", ranges=as_taken, weights=weights), D, DQ, Q)
