"""The data that all contenders share: Gaussians, uniform points, texts, digits."""

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.datasets import load_digits

N_CENTRES, N_CLASSES = 15, 5
N_CLUSTERS = 20  # of standard deviation 1 in a square of side 60; a few of them overlap
SEED = 7

# Standard deviation around centres drawn from N(0, I), by number of features. With these values the nearest
# neighbour is right for 0.65 to 0.85 of the queries at the sizes with a bar: classes overlap, and there are
# many prototypes.
SPREAD = {2: 0.17, 3: 0.28, 4: 0.4, 5: 0.5, 8: 0.85, 20: 1.45, 21: 1.48, 32: 1.7, 64: 2.15, 784: 4.5}


class Spec(NamedTuple):
    """What to generate or read: enough to make the same data again in another process."""

    kind: str  # "mixture", "uniform", "clusters", "digits"; sparse: "text", "uniform text"
    n_samples: int
    n_features: int

    def __str__(self) -> str:
        size = f"{self.n_samples:,} x {self.n_features}"
        return size if self.kind == "mixture" else f"{size} {self.kind}"


class Problem:
    """Training samples and queries with labels; float64 copies for peers that would convert anyway."""

    def __init__(self, X: Any, y: np.ndarray, queries: Any, answers: np.ndarray) -> None:
        self.X, self.y, self.queries, self.answers = _float32(X), y, _float32(queries), answers

    X64 = cached_property(lambda self: self.X.astype(np.float64))
    queries64 = cached_property(lambda self: self.queries.astype(np.float64))

    @cached_property
    def tree_weight(self) -> float:
        """Weight of our spanning tree, for comparison with those of the peers."""
        from pathforest.distances import make_engine
        from pathforest.graph import spanning_tree

        return float(spanning_tree(make_engine(self.X), None, 2).weight.sum())


def _float32(X: Any) -> Any:
    return X.astype(np.float32) if issparse(X) else np.ascontiguousarray(X, dtype=np.float32)


@lru_cache(maxsize=1)  # rows on the same data follow one another
def load(spec: Spec) -> Problem:
    """Make the data of a specification, with as many queries as samples (fewer of digits)."""
    rng = np.random.default_rng(SEED)
    n, d = 2 * spec.n_samples, spec.n_features
    if spec.kind == "digits":
        X, y = load_digits(return_X_y=True)
        order = rng.permutation(len(X))
        X, y = X[order], y[order]
    elif spec.kind in ("text", "uniform text"):
        y = rng.integers(0, N_CLASSES, n)
        X = _texts(rng, y, d, spec.kind == "text")
    elif spec.kind == "uniform":
        X = rng.random((n, d), dtype=np.float32)
        y = rng.integers(0, N_CLASSES, n)
    elif spec.kind == "clusters":
        y = rng.integers(0, N_CLUSTERS, n)
        X = rng.standard_normal((n, d)) + rng.uniform(-30, 30, (N_CLUSTERS, d))[y]
    else:
        centres = rng.normal(size=(N_CENTRES, d)).astype(np.float32)
        component = rng.integers(0, N_CENTRES, n)
        X = rng.standard_normal((n, d), dtype=np.float32)
        X *= np.float32(SPREAD[d])
        X += centres[component]
        y = component % N_CLASSES
    half = spec.n_samples
    return Problem(X[:half], y[:half], X[half:], y[half:])


def _texts(rng: np.random.Generator, y: np.ndarray, n_words: int, zipf: bool) -> csr_array:
    """Weigh the words of texts by tf-idf: all words equally frequent, or by Zipf's law, some by class."""
    length = 150 if zipf else n_words // 200
    words = rng.integers(0, n_words, (len(y), length))
    if zipf:
        share = np.cumsum(1 / np.arange(1, n_words + 1))
        words = np.searchsorted(share, share[-1] * rng.random((len(y), length)))
        own = rng.random((len(y), length)) < 0.3
        words = np.where(own, (words + 1000 * y[:, None]) % n_words, words)
    X = csr_array(
        (np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, length)), shape=(len(y), n_words)
    )
    X.sum_duplicates()
    known = np.bincount(X.indices, minlength=n_words)
    X.data = (1 + np.log(X.data)) * np.log((1 + len(y)) / (1 + known[X.indices]))
    return X
