"""What an engine answers, wherever it computes; the defaults for those in Python.

Every question about distances goes to an engine. :class:`pathforest._core.Engine` is the one in C++; those in
Python answer the large questions elsewhere or in parts, and leave the others to one in C++.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from pathforest._core import TreeBuilder
from pathforest._engines.metric import Metric, features_engine
from pathforest._engines.samples import SparseSamples

# Lists of this length leave few components for the slower search of the tree's remaining arcs.
TREE_NEIGHBORS = 10

Samples = np.ndarray | SparseSamples
Lists = tuple[np.ndarray, np.ndarray]  # distances (n, k) and indices, each row by (distance, index)
TreeArrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # the fields of a SpanningTree


class KnnGraph(NamedTuple):
    """The k nearest others of every sample, each list sorted by (distance, index)."""

    distances: np.ndarray  # (n, k) float64
    indices: np.ndarray  # (n, k) int32


class SpanningTree(NamedTuple):
    """The minimum spanning tree, unique because arcs compare by (weight, lower end, higher end)."""

    source: np.ndarray  # (n - 1,) lower end of each arc
    target: np.ndarray  # (n - 1,) higher end
    weight: np.ndarray  # (n - 1,) length, ascending


@runtime_checkable
class Engine(Protocol):
    """Answers every question about the distances of one metric between the samples it was built from.

    Answers are exact, ties included, and depend neither on the number of threads nor on earlier questions.
    Queries are new samples in the engine's dtype, or their distances to its samples: see `takes`. A question
    with a reach looks no farther; inf and -1 stand for samples beyond it.
    """

    name: str  # how distances are searched: "kd_tree", "brute", "sparse", "precomputed" or "rows"
    dtype: str  # type of the samples: "float32" or "float64"
    n_samples: int
    n_features: int
    takes: str  # what queries are: "features", or "distances" to all samples
    concurrent: bool  # whether several threads gain from asking at once

    def knn(self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None) -> Lists:
        """Find the k nearest others of each sample, or of those from `start` to `stop`."""

    def query(self, queries: Samples, k: int, n_threads: int = 1, reach: np.ndarray | None = None) -> Lists:
        """Find the k nearest samples of each query."""

    def spanning_tree(self, graph: KnnGraph | None = None, n_threads: int = 1) -> TreeArrays:
        """Build the minimum spanning tree from neighbour lists; None leaves it to the engine to make some."""

    def nearest_foreign(
        self, queries: Samples, own: np.ndarray, component: np.ndarray, reach: np.ndarray, n_threads: int = 1
    ) -> Lists:
        """Find for each query the nearest sample whose component is not its own, as lists of one."""

    def joining_arcs(
        self,
        component: np.ndarray,
        n_threads: int = 1,
        reach: np.ndarray | None = None,
        queries: Samples | None = None,
        own: np.ndarray | None = None,
    ) -> TreeArrays:
        """Find the arcs that join components as a minimum spanning forest does, ascending.

        It looks at each pair of samples of two components once, which is less work than asking most samples
        for their :meth:`nearest_foreign`. `component` has those of the engine's samples, numbered from 0, few
        enough for a table of all pairs; arcs between a and b longer than ``reach[a, b]`` do not count. With
        queries, of components `own`, only arcs from a query (source) to a sample (target) do; on ties queries
        come before samples. So samples in parts are joined by merging forests: what joins all components is
        the forest of the arcs that join them within each part and between each two.
        """

    def nearest_query(self, queries: Samples, reach: np.ndarray, n_threads: int = 1) -> Lists:
        """Find for each sample the nearest query, the first of equally near ones, as arrays of length n."""

    def nearest_outsiders(self, samples: np.ndarray, component: np.ndarray, n_threads: int = 1) -> Lists:
        """Find the nearest sample of another component for some samples, given by index, as lists of one."""

    def compete(
        self,
        distances: np.ndarray,
        indices: np.ndarray,
        prototypes: np.ndarray,
        membership: np.ndarray,
        source_side: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Run the competition over the complete graph as (cost, predecessor, root, order)."""

    def conquer(
        self, queries: Samples, cost: np.ndarray, order: np.ndarray, n_conquerors: int = 1, n_threads: int = 1
    ) -> Lists:
        """Find the smallest max(cost, distance), of equals the first in `order`, which ascends by cost."""

    def class_offers(
        self,
        queries: Samples,
        cost: np.ndarray,
        order: np.ndarray,
        code: np.ndarray,
        r: int = 1,
        n_threads: int = 1,
    ) -> Lists:
        """Find each class's r smallest offers, in one scan: (m, n_classes, r), inf and -1 for none."""

    def cheapest_class(
        self,
        queries: Samples,
        cost: np.ndarray,
        order: np.ndarray,
        code: np.ndarray,
        r: int = 1,
        n_threads: int = 1,
        without: np.ndarray | None = None,
        nearest_first: bool = False,
    ) -> Lists:
        """Find the r smallest offers of the class whose mean of them is the smallest, and their samples.

        `without` has a class for each query that is left out, or -1. Of equal means the class wins whose
        smallest offer comes first in `order`; or, with `nearest_first`, is smaller, and then comes first.
        """

    def distances(self, queries: Samples, n_threads: int = 1) -> np.ndarray:
        """Compute the distance of each query to each sample."""


def _by_local(question: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(question)
    def answer(self: PythonEngine, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._local, question.__name__)(*args, **kwargs)

    return answer


class PythonEngine:
    """Defaults in Python: a tree from lists and questions; an engine in C++ answers the rest."""

    takes, concurrent = "features", False
    joins = True  # whether pairs between components are looked at here at once, if that is less work

    def __init__(self, X: np.ndarray, metric: Metric, algorithm: str, n_threads: int = 1) -> None:
        self.name, self.dtype = algorithm, X.dtype.name
        self.n_samples, self.n_features = X.shape
        self._X, self._metric, self._n_threads = X, metric, n_threads

    @cached_property
    def _local(self) -> Engine:
        return features_engine(self._X, self._metric, self.name, self._n_threads)

    knn, query, distances = map(_by_local, (Engine.knn, Engine.query, Engine.distances))
    nearest_foreign, nearest_query = map(_by_local, (Engine.nearest_foreign, Engine.nearest_query))
    nearest_outsiders, joining_arcs = map(_by_local, (Engine.nearest_outsiders, Engine.joining_arcs))
    compete, conquer = map(_by_local, (Engine.compete, Engine.conquer))
    class_offers, cheapest_class = map(_by_local, (Engine.class_offers, Engine.cheapest_class))

    def spanning_tree(self, graph: KnnGraph | None = None, n_threads: int = 1) -> TreeArrays:
        """Build the minimum spanning tree from neighbour lists, or from some of its own."""

        def nearest_foreign(samples: np.ndarray, component: np.ndarray, reach: np.ndarray) -> Lists:
            queries, own = self._X[samples], component[samples]
            distances, indices = self.nearest_foreign(queries, own, component, reach, n_threads)
            return distances[:, 0], indices[:, 0]

        def joining_arcs(component: np.ndarray) -> TreeArrays:
            return self.joining_arcs(component, n_threads)

        return spanning_tree_by_asking(
            self._tree_lists(graph, n_threads), nearest_foreign, self._X, joining_arcs if self.joins else None
        )

    def _tree_lists(self, graph: KnnGraph | None, n_threads: int) -> KnnGraph:
        if graph is None:
            graph = self.knn(min(TREE_NEIGHBORS, self.n_samples - 1), n_threads)
        return KnnGraph(*graph)


def spanning_tree_by_asking(
    graph: KnnGraph,
    nearest_foreign: Callable[[np.ndarray, np.ndarray, np.ndarray], Lists],
    X: np.ndarray | None = None,
    joining_arcs: Callable[[np.ndarray], TreeArrays] | None = None,
) -> SpanningTree:
    """Build the minimum spanning tree with the help of any engine, wherever it computes."""
    # Where lists end, `nearest_foreign(samples, component, reach)` says how far each of `samples` has the
    # nearest one of another component, and which that is; inf and -1 beyond its reach. Of equal rows of `X`
    # only one is asked. `joining_arcs(component)` is asked instead where that is less work.
    builder = TreeBuilder(*graph) if X is None else TreeBuilder(*graph, np.ascontiguousarray(X))
    return answered(builder, nearest_foreign, joining_arcs)


def answered(
    builder: TreeBuilder,
    nearest_foreign: Callable[[np.ndarray, np.ndarray, np.ndarray], Lists],
    joining_arcs: Callable[[np.ndarray], TreeArrays] | None = None,
) -> SpanningTree:
    """Answer the questions of a builder until its tree is complete."""
    while True:
        samples, component, reach = builder.ask()
        if not len(samples):
            return SpanningTree(*builder.arcs())
        if joining_arcs is not None and builder.is_joined_sooner():
            builder.join(*joining_arcs(component))
        else:
            builder.answer(*nearest_foreign(samples, component, reach))
