"""A contender: one way to do some work, ours or a peer's, and how accurate its answer is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.speed.data import Problem


class Contender(NamedTuple):
    """The call that is timed, and the untimed preparation and scoring around it."""

    module: str  # the module that must be importable
    prepare: Callable[[Problem, int], Callable[[], Any]]  # (problem, threads) -> the call that is timed
    score: Callable[[Problem, Any], dict[str, float]]  # (problem, result of the call) -> how accurate it is


class Timed(NamedTuple):
    """Returned by a call that measured itself, such as one that starts another process."""

    seconds: float


def accuracy(problem: Problem, labels: Any) -> dict[str, float]:
    """Share of the queries whose label is right."""
    return {"accuracy": float(np.mean(np.asarray(labels) == problem.answers))}


def neighbor_accuracy(problem: Problem, indices: np.ndarray) -> dict[str, float]:
    """Share of the training samples whose nearest neighbour has the same label."""
    own = np.arange(len(indices))
    other = np.where(indices[:, 0] == own, indices[:, 1], indices[:, 0])
    return {"accuracy": float(np.mean(problem.y[other] == problem.y))}


def relative_weight(problem: Problem, lengths: np.ndarray) -> dict[str, float]:
    """Weight of a spanning tree as a multiple of ours: 1 is right, less is impossible."""
    return {"tree weight / ours": float(lengths.sum()) / problem.tree_weight}


def cluster_agreement(problem: Problem, clusters: np.ndarray) -> dict[str, float]:
    """Compare with the true clusters by the adjusted Rand index, and count the clusters."""
    known = clusters >= 0  # HDBSCAN leaves samples out
    found = {"ARI": float(adjusted_rand_score(problem.y[known], clusters[known]))}
    return found | {"clusters": float(len(np.unique(clusters[known])))}
