"""Hypothesis inputs made to hurt: ties, duplicates, lone samples, constant columns, extreme values."""

from typing import NamedTuple

import numpy as np
import reference
from hypothesis import strategies as st

METRICS = [
    ("euclidean", 2.0),
    ("sqeuclidean", 2.0),
    ("log_sqeuclidean", 2.0),
    ("manhattan", 2.0),
    ("chebyshev", 2.0),
    ("minkowski", 3.0),
    ("minkowski", 1.5),
]
BRUTE_METRICS = [
    ("cosine", 2.0),
    ("chi2", 2.0),
    ("canberra", 2.0),
    ("braycurtis", 2.0),
    ("nan_euclidean", 2.0),
    ("gower", 2.0),
]
BRUTE_NAMES = {name for name, _ in BRUTE_METRICS}
NON_NEGATIVE = {"chi2", "braycurtis"}
DTYPES = [np.float32, np.float64]

# The kernels work on blocks of 16 rows: sizes on both sides of the seams must come up.
SEAMS = [1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80]


def sizes(smallest=1, largest=80):
    """Numbers of samples, often next to a block boundary."""
    seams = [n for n in SEAMS if smallest <= n <= largest]
    return st.one_of(st.sampled_from(seams), st.integers(smallest, largest))


# One recipe per way to hurt: an (n, d) float64 array of a random generator.


def _grid(rng, n, d):
    return rng.integers(0, rng.integers(2, 6), size=(n, d)).astype(float)


def _duplicates(rng, n, d):
    return rng.normal(size=(max(1, n // 4), d))[rng.integers(0, max(1, n // 4), size=n)]


def _near_ties(rng, n, d):
    X = (_grid(rng, n, d) + 1).astype(np.float32)
    return np.where(rng.random((n, d)) < 0.3, np.nextafter(X, np.float32(9)), X).astype(float)


RECIPES = {
    "grid": _grid,
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "duplicates": _duplicates,
    "collinear": lambda rng, n, d: 1.0 * np.outer(rng.integers(-5, 6, n), rng.integers(-3, 4, d)),
    "constant columns": lambda rng, n, d: np.where(rng.random(d) < 0.5, 7.25, _grid(rng, n, d)),
    "all equal": lambda rng, n, d: np.full((n, d), rng.normal()),
    "tiny": lambda rng, n, d: _grid(rng, n, d) * 1e-30,
    "huge": lambda rng, n, d: (_grid(rng, n, d) - 1) * 1e30,
    "mixed columns": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.choice([-30, 0, 30], size=d),
    "mixed values": lambda rng, n, d: _grid(rng, n, d) * 10.0 ** rng.choice([-30, -3, 0, 3, 30], size=(n, d)),
    "signed zeros": lambda rng, n, d: rng.choice([-0.0, 0.0, 1.0], size=(n, d)),
    # Squared norms dwarf the differences: |a|^2 + |b|^2 - 2ab has no digits left to tell them apart.
    "offset grid": lambda rng, n, d: _grid(rng, n, d) + 2.0 ** rng.integers(12, 23),
    "near ties": _near_ties,
    "far clusters": lambda rng, n, d: rng.integers(0, 3, size=(n, 1)) * 1000.0 + _grid(rng, n, d),
}


def make_samples(recipe, seed, n, d, dtype=np.float64, non_negative=False):
    """The samples a recipe makes, and up to eight query rows: half new, half repeats."""
    rng = np.random.default_rng(seed)
    X = RECIPES[recipe](rng, n + 4, d)
    X = np.abs(X) if non_negative else X
    X, fresh = X[:n].astype(dtype), X[n:].astype(dtype)
    return X, np.concatenate([fresh, X[rng.integers(0, n, size=4)]])


def with_gaps(X, Q, whole_rows=True):
    """Samples and queries with missing values; without `whole_rows` each keeps its first feature."""
    rng = np.random.default_rng(X.size)
    for array in (X := X.copy(), Q := Q.copy()):
        gaps = rng.random(array.shape) < 0.25
        if whole_rows:
            gaps |= rng.random((len(array), 1)) < 0.1
        else:
            gaps[:, 0] = False
        array[gaps] = np.nan
    return X, Q


def make_codes(kind, seed, X):
    """Class codes 0..C-1, every code in use."""
    rng, n = np.random.default_rng(seed), len(X)
    if kind == "one class":
        codes = np.zeros(n, dtype=int)
    elif kind == "all different":
        codes = rng.permutation(n)
    elif kind == "one against all":
        codes = (np.arange(n) == rng.integers(n)).astype(int)
    elif kind == "regions":  # what a learner expects: classes that follow the data
        codes = np.argsort(np.argsort(X.astype(float).sum(axis=1), kind="stable")) * 3 // n
    else:
        codes = rng.integers(0, min(n, 4), size=n)
    return np.unique(codes, return_inverse=True)[1]


CODE_KINDS = ["regions", "random", "one class", "all different", "one against all"]
seeds = st.integers(0, 2**32 - 1)


class Problem(NamedTuple):
    """A training set with labels and queries, as fit sees it."""

    X: np.ndarray  # (n, d) float32 or float64
    codes: np.ndarray  # (n,) class codes
    Q: np.ndarray  # (8, d) queries, same dtype
    k: int  # length of the neighbour lists, up to n - 1


@st.composite
def problems(draw, smallest=1, largest=80, most_features=40, dtypes=DTYPES, non_negative=False):
    """Problems of every recipe, labelling, size and dtype."""
    recipe = draw(st.sampled_from(list(RECIPES)))
    n = draw(sizes(smallest, largest))
    d = draw(st.one_of(st.sampled_from([1, 2, 3, 8]), st.integers(1, most_features)))
    seed = draw(seeds)
    X, Q = make_samples(recipe, seed, n, d, draw(st.sampled_from(dtypes)), non_negative)
    codes = make_codes(draw(st.sampled_from(CODE_KINDS)), seed, X)
    k = draw(st.one_of(st.just(n - 1), st.integers(min(1, n - 1), min(n - 1, 10))))
    return Problem(X, codes, Q, k)


class Measured(NamedTuple):
    """A problem with its distances and the parameters of an estimator that computes these, in any way."""

    X: np.ndarray
    codes: np.ndarray
    Q: np.ndarray
    k: int
    D: np.ndarray  # (n, n) by definition
    DQ: np.ndarray  # (8, n) by definition
    squared: bool  # whether they are squares
    params: dict


@st.composite
def measured_problems(draw, metrics=METRICS, **limits):
    """Problems with every metric, and gaps where it takes them."""
    metric, p = draw(st.sampled_from(metrics))
    X, codes, Q, k = draw(problems(non_negative=metric in NON_NEGATIVE, **limits))
    if metric in ("nan_euclidean", "gower"):
        X, Q = with_gaps(X, Q, whole_rows=metric == "gower")
    D, DQ = (reference.distance_matrix(A, X, metric, p) for A in (X, Q))
    given = {"minkowski": {"p": p}, "gower": {"ranges": np.ones(X.shape[1])}}
    params = {
        "metric": metric,
        "metric_params": given.get(metric),
        "algorithm": draw(st.sampled_from(["auto" if metric in BRUTE_NAMES else "kd_tree", "brute"])),
        "n_jobs": draw(st.sampled_from([None, 3])),
    }
    return Measured(X, codes, Q, k, D, DQ, metric in reference.SQUARED, params)


@st.composite
def memberships(draw, n):
    """Membership values as Eq. 5 makes them: between sigma and 1, ties included."""
    sigma = draw(st.sampled_from([0.01, 0.2, 0.5, 0.8, 0.99, 1.0, 1.2]))
    rng = np.random.default_rng(draw(seeds))
    t = rng.integers(0, 4, size=n) / 3 if draw(st.booleans()) else rng.random(n)
    return (1 - sigma) * (t * t) + sigma
