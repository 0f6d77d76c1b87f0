"""Density of the samples, the fuzzy membership that follows from it, and what is far from dense."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.samples import check_squares
from pathforest._utils.checks import check_integer
from pathforest.graph import KnnGraph

# Tukey's outer fence: so far below the lower quartile, in interquartile ranges, a value counts as far out.
FENCE = 3.0


class DensityEstimate(NamedTuple):
    """Densities, with the neighbourhood they were estimated from."""

    density: np.ndarray  # (n,) Eq. 3 without its constant factor
    best_k: int  # size of the neighbourhood
    cuts: np.ndarray  # normalised cut of each k tried, from k = 1; empty if k was given


def density(graph: KnnGraph, k: int, squared: bool = False) -> np.ndarray:
    """Estimate the density of every sample from its `k` nearest neighbours (Eq. 3).

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of length `k` or more.
    k : int
        Size of the neighbourhood. Larger values give a smoother density.
    squared : bool, default=False
        Whether distances are squares already, as those of ``"sqeuclidean"`` and ``"log_sqeuclidean"``.

    Returns
    -------
    density : ndarray of shape (n,)
        Between 0 and `k`. The constant factor of Eq. 3 is left out: nothing depends on it.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import knn_graph
    >>> from pathforest.membership import density
    >>> graph = knn_graph(make_engine([[0.0], [1.0], [2.0], [5.0]]), k=1)
    >>> density(graph, k=1).round(3).tolist()
    [0.607, 0.607, 0.607, 0.011]
    """
    if k == 0:  # a single sample has no neighbour, and nothing to be less dense than
        return np.ones(len(graph.distances))
    if not isinstance(graph.distances, np.ndarray):  # lists that stay where they are, on a cluster
        return graph.distances.density(k, squared)
    _check_lists(graph, "k", k, squared)
    return _core.density(graph.distances, k, squared)


def search_k(
    graph: KnnGraph, k_max: int, squared: bool = False, n_threads: int = 1
) -> tuple[int, np.ndarray]:
    """Find the neighbourhood whose clustering has the smallest normalised cut.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of length `k_max` or more.
    k_max : int
        Largest size to try. Each size costs one clustering; the search stops at the first cut of 0.
    squared : bool, default=False
        Whether distances are squares already, as those of ``"sqeuclidean"`` and ``"log_sqeuclidean"``.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    best_k : int
        The smallest of the sizes with the smallest cut; 0 if `k_max` is 0.
    cuts : ndarray
        The cut of each size tried, from 1.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import knn_graph
    >>> from pathforest.membership import search_k
    >>> graph = knn_graph(make_engine([[0.0], [1.0], [9.0], [10.0]]), k=2)
    >>> best_k, cuts = search_k(graph, k_max=2)
    >>> best_k, cuts.tolist()
    (1, [0.0])
    """
    if k_max == 0:
        return 0, np.empty(0)
    _check_lists(graph, "k_max", k_max, squared)
    cuts = np.asarray(_core.search_k(graph.distances, graph.indices, k_max, squared, n_threads))
    return int(np.argmin(cuts)) + 1, cuts


def _check_lists(graph: KnnGraph, name: str, k: int, squared: bool) -> None:
    """Refuse lists shorter than `k`, and distances whose squares, which Eq. 3 takes, overflow or vanish."""
    check_integer(name, k, 1, "a neighbourhood has one neighbour or more")
    length = graph.distances.shape[1]
    if k > length:
        raise ValueError(f"{name}={k} exceeds the lists' length {length}; make longer ones with knn_graph")
    if not squared:
        # Digits may be lost here: near copies have such distances, in samples that range widely.
        check_squares(
            float(graph.distances[:, -1].max()), least=float(np.finfo(np.float64).smallest_subnormal)
        )


def estimate_density(
    graph: KnnGraph, k: int, search: bool, squared: bool = False, n_threads: int = 1
) -> DensityEstimate:
    """Estimate the density with the best neighbourhood up to `k`, or with `k` itself.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of length `k` or more.
    k : int
        The largest neighbourhood to try, or the one to use.
    search : bool
        Whether to search.
    squared : bool, default=False
        Whether distances are squares already, as those of ``"sqeuclidean"`` and ``"log_sqeuclidean"``.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    estimate : DensityEstimate
        Density, the neighbourhood it comes from, and the cuts of those tried.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import knn_graph
    >>> from pathforest.membership import estimate_density
    >>> graph = knn_graph(make_engine([[0.0], [1.0], [2.0], [7.0], [8.0]]), k=3)
    >>> estimate = estimate_density(graph, k=3, search=True)
    >>> estimate.best_k, estimate.cuts.tolist()
    (1, [0.0])
    """
    best_k, cuts = search_k(graph, k, squared, n_threads) if search else (k, np.empty(0))
    return DensityEstimate(density(graph, best_k, squared), best_k, cuts)


def fuzzy_membership(density: np.ndarray, sigma: float) -> np.ndarray:
    """Turn densities into memberships (Eq. 5): F = (1 - sigma) t^2 + sigma, with t the density from 0 to 1.

    Parameters
    ----------
    density : array-like of shape (n,)
        Densities of the training samples.
    sigma : float
        Membership of the sparsest sample; the densest gets 1. Below 1 sparse samples pay less for a path and
        conquer more easily, above 1 they pay more. With 1 every membership is 1.

    Returns
    -------
    membership : ndarray of shape (n,)
        One factor per sample: `sigma` for the sparsest, 1 for the densest.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.membership import fuzzy_membership
    >>> fuzzy_membership(np.array([1.0, 2.0, 3.0]), sigma=0.5).tolist()
    [0.5, 0.625, 1.0]
    """
    density, sigma = np.asarray(density, dtype=np.float64), _positive(sigma)
    low, high = float(density.min()), float(density.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            f"densities lie between {low} and {high}, which are not finite; "
            "estimate them from finite distances"
        )
    if low == high:
        return np.ones_like(density)
    if not np.isfinite(high - low):
        raise ValueError(f"densities between {low} and {high} are too far apart for float64; rescale them")
    t = (density - low) / (high - low)
    return values_to_membership(t * t, sigma)


def values_to_membership(values: np.ndarray, sigma: float) -> np.ndarray:
    """Use values in [0, 1] instead of t^2 in Eq. 5: F = (1 - sigma) values + sigma.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.membership import values_to_membership
    >>> values_to_membership(np.array([0.0, 0.5, 1.0]), sigma=0.5).tolist()
    [0.5, 0.75, 1.0]
    """
    sigma = _positive(sigma)
    with np.errstate(over="ignore"):
        membership = (1 - sigma) * np.asarray(values) + sigma
    wrong = np.flatnonzero(~np.isfinite(membership))
    if wrong.size:
        raise ValueError(
            f"membership[{wrong[0]}] for sigma={sigma} would be {membership[wrong[0]]}, which is not finite; "
            "give values in [0, 1]"
        )
    return membership


def _positive(sigma: float) -> float:
    """Return sigma as a float: a fraction or a float32 would decide the type of the result."""
    sigma = float(sigma)
    if not 0 < sigma < np.inf:
        raise ValueError(f"sigma={sigma} is not a positive number; 1 is plain OPF, and 0.8 a safe choice")
    return sigma


# Outliers


def normality(log_density: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Put logarithms on the scale where the sparsest training sample has 0 and the densest 1."""
    low, high = np.log(density.min()), np.log(density.max())
    return 1 + (log_density - high) / (high - low if high > low else 1.0)


def lower_fence(scores: np.ndarray) -> float:
    """Return the score below which samples are far out."""
    low, high = np.quantile(scores, [0.25, 0.75])
    return float(low - FENCE * (high - low))
