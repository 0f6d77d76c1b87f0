"""The kernels of pathforest; use the Python modules above them."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

import pathforest._utils


class Engine:
    """Answers every question about distances between samples."""

    @staticmethod
    def rows(n_samples: int, dtype: str) -> Engine:
        """No samples at all: queries come as rows of distances to them."""

    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> str: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def takes(self) -> str:
        """What queries are: "features", or "distances" to the samples."""

    @property
    def concurrent(self) -> bool:
        """Whether several threads gain from asking at once."""

    def knn(self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        The k nearest others of each sample, or of those from start to stop, by (distance, index).
        """

    def spanning_tree(self, graph: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None = None, n_threads: int = 1) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
        """
        The minimum spanning tree from neighbour lists, its own if there are none, as (source, target, weight), ascending.
        """

    @overload
    def joining_arcs(self, component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1, reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
        """
        The arcs that join components as a minimum spanning forest does, no longer than reach[a, b] between two of them, as (source, target, weight), ascending.
        """

    @overload
    def joining_arcs(self, component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    @overload
    def joining_arcs(self, component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, queries: pathforest._utils.sparse.SparseSamples, own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    @overload
    def joining_arcs(self, component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    @overload
    def joining_arcs(self, component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, reach: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, queries: pathforest._utils.sparse.SparseSamples, own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
        """The same of arcs between queries, which come first, and samples."""

    def nearest_outsiders(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        For each of some samples the nearest one whose component is another, by (distance, index).
        """

    def compete(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], prototypes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], membership: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_side: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
        """
        The competition over the complete graph as (cost, predecessor, root, order).
        """

    @overload
    @staticmethod
    def kd_tree(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, p: float = 2.0, n_threads: int = 1) -> Engine: ...

    @overload
    @staticmethod
    def kd_tree(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, p: float = 2.0, n_threads: int = 1) -> Engine:
        """A k-d tree over the samples, for few dimensions."""

    @overload
    @staticmethod
    def brute(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, p: float = 2.0, keep_order: bool = False, n_threads: int = 1, ranges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Engine: ...

    @overload
    @staticmethod
    def brute(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, p: float = 2.0, keep_order: bool = False, n_threads: int = 1, ranges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Engine:
        """
        A blocked scan of the samples, for many dimensions. For 'gower' with a range per feature, 0 for categories, and a weight.
        """

    @overload
    @staticmethod
    def precomputed(distances: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Engine: ...

    @overload
    @staticmethod
    def precomputed(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Engine:
        """A symmetric distance matrix, kept by reference."""

    @overload
    @staticmethod
    def sparse(X: pathforest._utils.sparse.SparseSamples, metric: str) -> Engine: ...

    @overload
    @staticmethod
    def sparse(X: pathforest._utils.sparse.SparseSamples, metric: str) -> Engine:
        """
        Columns of sparse samples, for 'cosine', 'euclidean' and 'sqeuclidean'.
        """

    @overload
    def query(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, n_threads: int = 1, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def query(self, queries: pathforest._utils.sparse.SparseSamples, k: int, n_threads: int = 1, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def query(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, n_threads: int = 1, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def query(self, queries: pathforest._utils.sparse.SparseSamples, k: int, n_threads: int = 1, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        The k nearest samples of each query, by (distance, index); inf and -1 beyond its reach.
        """

    @overload
    def nearest_foreign(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_foreign(self, queries: pathforest._utils.sparse.SparseSamples, own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_foreign(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_foreign(self, queries: pathforest._utils.sparse.SparseSamples, own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], component: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        For each query the nearest sample whose component is not its own, no farther than its reach.
        """

    @overload
    def nearest_query(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_query(self, queries: pathforest._utils.sparse.SparseSamples, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_query(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def nearest_query(self, queries: pathforest._utils.sparse.SparseSamples, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        For each sample the nearest query no farther than its reach, the first of equally near ones.
        """

    @overload
    def distances(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

    @overload
    def distances(self, queries: pathforest._utils.sparse.SparseSamples, n_threads: int = 1) -> NDArray[numpy.float64]: ...

    @overload
    def distances(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

    @overload
    def distances(self, queries: pathforest._utils.sparse.SparseSamples, n_threads: int = 1) -> NDArray[numpy.float64]:
        """The distance of each query to each training sample."""

    @overload
    def conquer(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_conquerors: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def conquer(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_conquerors: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def conquer(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_conquerors: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def conquer(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_conquerors: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        The smallest offers max(cost, distance) to each query, and who makes them.
        """

    @overload
    def class_offers(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def class_offers(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def class_offers(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def class_offers(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        The r smallest offers of each class to each query, and who makes them; inf and -1 where a class has fewer.
        """

    @overload
    def cheapest_class(self, queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1, without: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nearest_first: bool = False) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def cheapest_class(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1, without: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nearest_first: bool = False) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def cheapest_class(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1, without: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nearest_first: bool = False) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

    @overload
    def cheapest_class(self, queries: pathforest._utils.sparse.SparseSamples, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], r: int = 1, n_threads: int = 1, without: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nearest_first: bool = False) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        The r smallest offers to each query of the class whose mean of them is smallest, and who makes them.
        """

@overload
def copy_numbers(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.int32]: ...

@overload
def copy_numbers(X: pathforest._utils.sparse.SparseSamples, groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.int32]: ...

@overload
def copy_numbers(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.int32]:
    """
    How many rows before each row are the same, bit by bit, and of the same group.
    """

@overload
def copy_numbers(X: pathforest._utils.sparse.SparseSamples, groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.int32]: ...

def distances_of_sums(metric: str, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], p: float = 2.0) -> NDArray[numpy.float64]:
    """
    Distances from the sums that a metric is built from, such as squared differences.
    """

def class_costs(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], samples: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], further: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], further_first: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_conquerors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
    """
    What each class offers each query, for each number of conquerors, from its members nearest to it and further offers; and the rank of the smallest offer, -1 where other members could change it.
    """

def settle_winners(offers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], samples: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], all: bool, rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """
    From the smallest offers of all samples the one that makes the winner's smallest, -1 where others could change it.
    """

def mean_offers(offers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_conquerors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    For each number of conquerors the mean of so many ascending offers, row by row.
    """

def follow_tree(source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prototypes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Plain OPF along ascending tree arcs as (cost, predecessor, root, order).
    """

def compete_tree(source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prototypes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], membership: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_side: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """The competition along tree arcs as (cost, predecessor, root, order)."""

def geodesic_paths(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Paths over neighbour lists that cost the sum of their arcs times the factor of their seed, as (cost, predecessor, root); inf, -1 and -1 where none leads.
    """

def balancing_factors(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], labelled: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> NDArray[numpy.float64]:
    """
    A factor per class that makes its paths dearer if it would win more than its share.
    """

def density(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, squared: bool) -> NDArray[numpy.float64]:
    """Eq. 3 without its constant factor."""

def query_density(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], largest_arc: float, squared: bool) -> NDArray[numpy.float64]:
    """
    Eq. 3 for new samples, from the distances to their nearest training samples.
    """

def scale_density(density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: float | None = None, high: float | None = None, k: int | None = None) -> NDArray[numpy.float64]:
    """
    Densities, or given k their logarithms, scaled to [1, 1000] between the extremes given, or their own.
    """

def clear_neighborhood(n_samples: int) -> int:
    """The neighbourhood of a density whose clear domes are clusters."""

def clear_height(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, squared: bool, low: float, high: float) -> float:
    """
    The height that makes a dome clear of chance, of scaled logarithms; low and high are densities.
    """

def cluster(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, scaled_density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
    """
    Clusters of the k-nn graph as (labels, predecessor, root, cost). Given classes, arcs between them take no part.
    """

def dome_tree(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, scaled_density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], founders: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], measure: str) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.float64]]:
    """
    Domes that others absorb, smallest first, as (child, parent, level, height, area, volume).
    """

def merge_domes(child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], founders: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], root: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """Labels and founders that are left once rows of a tree take effect."""

def search_k(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k_max: int, squared: bool, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The normalised cut of every k, up to the first that is 0."""

def subset_lists(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Lists of the chosen samples among themselves, from lists of all; and which of them are too short.
    """

def merge_lists(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], further_distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], further_indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
    """The nearest of two lists per sample, as many as the first has."""

def parts_of_classes(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """One sample of each sample's part: those of a class that lists join."""

class KnownTree:
    """The spanning tree of the first samples, ascending."""

    def __init__(self, source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def levels(self) -> NDArray[numpy.float64]:
        """
        Per sample, how near a new sample must be to displace an arc of a component with it that joined one at least as large.
        """

class TreeBuilder:
    """
    The minimum spanning tree from neighbour lists, and from answers where they end.
    """

    @overload
    def __init__(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """With samples, of equal ones only one is asked."""

    def keep(self, source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Before any question: ascending arcs that belong to the tree."""

    def know(self, tree: KnownTree, distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], searched: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Before any question: the tree of some samples, and answers for all samples with how far was searched. Lists and answers need not concern arcs between samples of that tree.
        """

    def ask(self) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
        """
        Samples to ask, component of every sample, and how far each of those asked must look; none when the tree is complete.
        """

    def answer(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        The nearest sample of another component for each sample asked; -1 where none is in reach.
        """

    def is_joined_sooner(self) -> bool:
        """
        After a question: whether arcs that join all components take less work than its answers.
        """

    def join(self, source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Instead of answers: these arcs, ascending."""

    def arcs(self) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]:
        """The tree as (source, target, weight), ascending."""

def max_threads() -> int:
    """The most threads to use here; 1 in a build without threads."""

def set_watcher(call: object | None) -> None:
    """
    Call a function with the share of a loop that is done, a few times a second while the main thread computes; None stops that. If it raises, the computation ends with that exception. To be set from the main thread.
    """

def simd_level() -> str:
    """The instruction set the kernels use on this machine."""

METRICS_KD_TREE: tuple = ...

METRICS_BRUTE: tuple = ...
