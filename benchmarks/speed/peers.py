"""The peers: each library's fastest exact method for the same work.

Everything a peer can do beforehand (building an index or a search tree, converting to float64, compiling) is
not timed. A sample counts among its own k neighbours here, as in those libraries, so peers search for one
neighbour fewer than we do.
"""

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
    relative_weight,
)
from benchmarks.speed.data import Problem

# opfython prints, and opens a log file in the working directory, unless its logger already has a handler.
logging.getLogger("opfython").addHandler(logging.NullHandler())


def _faiss(problem: Problem, threads: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(problem.X.shape[1])
    index.add(problem.X)
    return index.search


def _tree(problem: Problem, threads: int) -> Any:
    return partial(cKDTree(problem.X64).query, workers=threads)


def neighbors(module: str, search: Callable[[Problem, int], Any], k: int) -> Contender:
    """Find the k nearest samples of every sample."""
    return Contender(
        module,
        lambda p, threads: partial(search(p, threads), p.X if module == "faiss" else p.X64, k),
        lambda p, found: neighbor_accuracy(p, found[1]),
    )


def nearest(module: str, search: Callable[[Problem, int], Any]) -> Contender:
    """Find the nearest sample of every query."""
    return Contender(
        module,
        lambda p, threads: partial(search(p, threads), p.queries if module == "faiss" else p.queries64, 1),
        lambda p, found: accuracy(p, p.y[np.ravel(found[1])]),
    )


def _nearest_label(problem: Problem, threads: int) -> Callable[[], Any]:
    return partial(KNeighborsClassifier(1, n_jobs=threads).fit(problem.X, problem.y).predict, problem.queries)


def _cosine(problem: Problem, threads: int) -> Callable[[], Any]:
    model = NearestNeighbors(n_neighbors=10, metric="cosine", n_jobs=threads)
    return partial(model.fit(problem.X).kneighbors, problem.X)


def _mlpack(problem: Problem, threads: int) -> Callable[[], Any]:
    import mlpack

    return lambda: mlpack.emst(input_=problem.X64)["output"][:, 2]


def _hdbscan_tree(problem: Problem, threads: int) -> Callable[[], Any]:
    import numba
    from fast_hdbscan.hdbscan import compute_minimum_spanning_tree

    numba.set_num_threads(threads)
    # One neighbour makes mutual reachability the distance itself. Above 30 features it turns approximate.
    return lambda: compute_minimum_spanning_tree(problem.X, min_samples=1)[0][:, 2]


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


def _opfython(problem: Problem, threads: int) -> Callable[[], Any]:
    from opfython.models import SupervisedOPF

    model = SupervisedOPF(distance="log_squared_euclidean")

    def call() -> np.ndarray:
        model.fit(problem.X64, problem.y)  # returns nothing
        return np.asarray(model.predict(problem.queries64))

    return call


def importing(module: str) -> Contender:
    """Import a module in a fresh interpreter, which reports the time without its own start-up."""
    code = f"from time import perf_counter as t; s = t(); import {module}; print(t() - s)"

    def call() -> Timed:
        found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        return Timed(float(found.stdout))

    return Contender(module, lambda problem, threads: call, lambda problem, result: {})


PEERS = {
    "faiss kNN, k = 10": neighbors("faiss", _faiss, 10),
    "faiss kNN, k = 100": neighbors("faiss", _faiss, 100),
    "faiss 1-NN": nearest("faiss", _faiss),
    "cKDTree query, k = 10": neighbors("scipy", _tree, 10),
    "cKDTree query, k = 100": neighbors("scipy", _tree, 100),
    "cKDTree 1-NN": nearest("scipy", _tree),
    "KNeighborsClassifier(1)": Contender("sklearn", _nearest_label, accuracy),
    "KNeighborsClassifier(1), defaults": Contender(
        "sklearn",
        lambda p, threads: lambda: KNeighborsClassifier(1).fit(p.X, p.y).predict(p.queries),
        accuracy,
    ),
    "NearestNeighbors(10), cosine": Contender(
        "sklearn", _cosine, lambda problem, result: neighbor_accuracy(problem, result[1])
    ),
    "X @ X.T": Contender("scipy", lambda p, threads: lambda: p.X @ p.X.T, lambda problem, result: {}),
    "mlpack emst": Contender("mlpack", _mlpack, relative_weight),
    "fast_hdbscan tree": Contender("fast_hdbscan", _hdbscan_tree, relative_weight),
    "fast_hdbscan clusters": Contender("fast_hdbscan", _hdbscan_clusters, cluster_agreement),
    "quitefastmst tree": Contender("quitefastmst", _quitefastmst, relative_weight),
    "opfython fit + predict": Contender("opfython", _opfython, accuracy),
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
