"""The peers: each library's fastest exact method for the same work.

Everything a peer can do beforehand (building an index or a search tree, converting to float64, compiling) is
not timed. A sample counts among its own k neighbours here, as in those libraries, so peers search for one
neighbour fewer than we do.
"""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.speed.contender import (
    Contender,
    Timed,
    accuracy,
    cluster_agreement,
    neighbor_accuracy,
    no_score,
    relative_weight,
)
from benchmarks.speed.data import Problem

# opfython prints, and opens a log file in the working directory, unless its logger already has a handler.
logging.getLogger("opfython").addHandler(logging.NullHandler())


def _faiss_index(problem: Problem, threads: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(problem.X.shape[1])
    index.add(problem.X)
    return index


def faiss_knn(k: int) -> Contender:
    """Scan all samples for the k nearest samples of every sample."""
    return Contender(
        "faiss",
        lambda problem, threads: partial(_faiss_index(problem, threads).search, problem.X, k),
        lambda problem, result: neighbor_accuracy(problem, result[1]),
    )


def _faiss_nearest(problem: Problem, threads: int) -> Callable[[], Any]:
    return partial(_faiss_index(problem, threads).search, problem.queries, 1)


def kdtree_knn(k: int) -> Contender:
    """Query a search tree for the k nearest samples of every sample."""
    return Contender(
        "scipy",
        lambda problem, threads: partial(cKDTree(problem.X64).query, problem.X64, k, workers=threads),
        lambda problem, result: neighbor_accuracy(problem, result[1]),
    )


def _kdtree_nearest(problem: Problem, threads: int) -> Callable[[], Any]:
    return partial(cKDTree(problem.X64).query, problem.queries64, 1, workers=threads)


def _sklearn_predict(problem: Problem, threads: int) -> Callable[[], Any]:
    model = KNeighborsClassifier(1, n_jobs=threads).fit(problem.X, problem.y)
    return partial(model.predict, problem.queries)


def _sklearn_small(problem: Problem, threads: int) -> Callable[[], Any]:
    return lambda: KNeighborsClassifier(1).fit(problem.X, problem.y).predict(problem.queries)


def _sklearn_cosine(problem: Problem, threads: int) -> Callable[[], Any]:
    model = NearestNeighbors(n_neighbors=10, metric="cosine", n_jobs=threads).fit(problem.X)
    return partial(model.kneighbors, problem.X)


def _inner_products(problem: Problem, threads: int) -> Callable[[], Any]:
    return lambda: problem.X @ problem.X.T


def _mlpack_emst(problem: Problem, threads: int) -> Callable[[], Any]:
    import mlpack

    return lambda: mlpack.emst(input_=problem.X64)["output"]


def _hdbscan_tree(problem: Problem, threads: int) -> Callable[[], Any]:
    import numba
    from fast_hdbscan.hdbscan import compute_minimum_spanning_tree

    numba.set_num_threads(threads)
    # One neighbour makes mutual reachability the distance itself. Above 30 features it turns approximate.
    return lambda: compute_minimum_spanning_tree(problem.X, min_samples=1)[0]


def _hdbscan_clusters(problem: Problem, threads: int) -> Callable[[], Any]:
    import numba
    from fast_hdbscan import HDBSCAN

    numba.set_num_threads(threads)
    return partial(HDBSCAN(min_cluster_size=15).fit_predict, problem.X)


def _quitefastmst(problem: Problem, threads: int) -> Callable[[], Any]:
    import quitefastmst

    def call() -> np.ndarray:
        quitefastmst.omp_set_num_threads(threads)
        return quitefastmst.mst_euclid(problem.X)[0]

    return call


def _score_tree(problem: Problem, arcs: np.ndarray) -> dict[str, float]:
    return relative_weight(problem, arcs[:, 2])


def _opfython_fit(problem: Problem, threads: int) -> Callable[[], Any]:
    from opfython.models import SupervisedOPF

    model = SupervisedOPF(distance="euclidean")

    def call() -> SupervisedOPF:
        model.fit(problem.X64, problem.y)  # returns nothing
        return model

    return call


def _score_opfython(problem: Problem, model: Any) -> dict[str, float]:
    return accuracy(problem, model.predict(problem.queries64))


def _nearest_label(problem: Problem, result: Any) -> dict[str, float]:
    return accuracy(problem, problem.y[np.ravel(result[1])])


def importing(module: str) -> Contender:
    """Import a module in a fresh interpreter, which reports the time without its own start-up."""
    code = f"from time import perf_counter as t; s = t(); import {module}; print(t() - s)"

    def prepare(problem: Problem, threads: int) -> Callable[[], Any]:
        command = [sys.executable, "-c", code]
        return lambda: Timed(float(subprocess.run(command, check=True, capture_output=True).stdout))

    return Contender(module, prepare, no_score)


PEERS = {
    "faiss kNN, k = 10": faiss_knn(10),
    "faiss kNN, k = 100": faiss_knn(100),
    "faiss 1-NN": Contender("faiss", _faiss_nearest, _nearest_label),
    "cKDTree query, k = 10": kdtree_knn(10),
    "cKDTree query, k = 100": kdtree_knn(100),
    "cKDTree 1-NN": Contender("scipy", _kdtree_nearest, _nearest_label),
    "KNeighborsClassifier(1)": Contender("sklearn", _sklearn_predict, accuracy),
    "KNeighborsClassifier(1), defaults": Contender("sklearn", _sklearn_small, accuracy),
    "NearestNeighbors(10), cosine": Contender(
        "sklearn", _sklearn_cosine, lambda problem, result: neighbor_accuracy(problem, result[1])
    ),
    "X @ X.T": Contender("scipy", _inner_products, no_score),
    "mlpack emst": Contender("mlpack", _mlpack_emst, _score_tree),
    "fast_hdbscan tree": Contender("fast_hdbscan", _hdbscan_tree, _score_tree),
    "fast_hdbscan clusters": Contender("fast_hdbscan", _hdbscan_clusters, cluster_agreement),
    "quitefastmst tree": Contender("quitefastmst", _quitefastmst, relative_weight),
    "opfython fit": Contender("opfython", _opfython_fit, _score_opfython),
    "import pathforest": importing("pathforest"),
    "import sklearn.neighbors": importing("sklearn.neighbors"),
}


def why_missing(contender: Contender) -> str | None:
    """Say why a contender cannot run here; None if it can."""
    try:
        importlib.import_module(contender.module)
    except Exception as error:  # a broken binary can raise any exception, and the table should report it
        return f"cannot import {contender.module}: {error}"
    return None
