"""Prototypes, the competition of paths that grows the forest, and the conquest of new samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine
from pathforest._utils.checks import check_choice, check_sample_indices
from pathforest.graph import KnnGraph, SpanningTree


class Forest(NamedTuple):
    """The optimum-path forest of the training samples."""

    cost: np.ndarray  # (n,) cost of the path that conquered the node
    predecessor: np.ndarray  # (n,) previous node on that path, -1 at a prototype
    root: np.ndarray  # (n,) prototype the path starts from
    order: np.ndarray  # (n,) nodes sorted by (cost, arc that set it, index); settles ties in prediction


class Conquest(NamedTuple):
    """The cheapest offers of training samples to new ones."""

    offers: np.ndarray  # (m, r) max(cost, distance), ascending
    indices: np.ndarray  # (m, r) the training samples that make them


def boundary_prototypes(tree: SpanningTree, codes: np.ndarray) -> np.ndarray:
    """Return both ends of every tree arc that joins two classes.

    Parameters
    ----------
    tree : SpanningTree
        Minimum spanning tree of the training samples.
    codes : array-like of shape (n,)
        Class of each sample.

    Returns
    -------
    prototypes : ndarray of int32
        Ascending. A single class has no such arc; its first sample is then the one prototype.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import boundary_prototypes
    >>> from pathforest.graph import knn_graph, spanning_tree
    >>> engine = make_engine([[0.0], [1.0], [3.0], [4.5]])
    >>> tree = spanning_tree(engine, knn_graph(engine, k=1))
    >>> boundary_prototypes(tree, np.array([0, 0, 1, 1])).tolist()
    [1, 2]
    """
    n, codes = len(tree.source) + 1, np.asarray(codes)
    if codes.shape != (n,):
        raise ValueError(f"codes has shape {codes.shape}; it must contain one class for each of {n} samples")
    joins = codes[tree.source] != codes[tree.target]
    is_end = np.zeros(n, dtype=bool)
    is_end[tree.source[joins]] = is_end[tree.target[joins]] = True
    ends = np.flatnonzero(is_end).astype(np.int32)
    return ends if ends.size else np.zeros(1, dtype=np.int32)


def grow_forest(
    tree: SpanningTree,
    prototypes: np.ndarray,
    membership: np.ndarray | None = None,
    membership_side: str = "target",
) -> Forest:
    """Let the prototypes compete for the other samples along the arcs of the spanning tree.

    Parameters
    ----------
    tree : SpanningTree
        Minimum spanning tree of the training samples.
    prototypes : array-like of int
        Indices of the samples where paths start, at cost 0; a repeated one counts once.
    membership : ndarray of shape (n,), default=None
        Factor of each sample in Eq. 6. None is plain OPF, where the tree holds all optimum paths.
    membership_side : {"target", "source"}, default="target"
        Whether an offer is multiplied by the membership of the sample that takes it (Eq. 6) or of the one
        that makes it, as the original C code did.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import grow_forest
    >>> from pathforest.graph import knn_graph, spanning_tree
    >>> engine = make_engine([[0.0], [1.0], [3.0], [4.5]])
    >>> tree = spanning_tree(engine, knn_graph(engine, k=1))
    >>> forest = grow_forest(tree, [1, 2])
    >>> forest.cost.tolist(), forest.predecessor.tolist()
    ([1.0, 0.0, 0.0, 1.5], [1, -1, -1, 2])
    """
    n = len(tree.source) + 1
    seeds = _seeds(n, prototypes)
    if membership is None:
        return Forest(*_core.follow_tree(*tree, seeds))
    return Forest(*_core.compete_tree(*tree, seeds, _factors(n, membership), _is_source(membership_side)))


def grow_forest_complete(
    engine: Engine,
    graph: KnnGraph,
    prototypes: np.ndarray,
    membership: np.ndarray,
    membership_side: str = "target",
) -> Forest:
    """Let the prototypes compete for the other samples over the complete graph (Algorithm 3).

    Parameters
    ----------
    engine : Engine
        The engine `graph` was made with. It is asked only where the lists cannot answer.
    graph : KnnGraph
        Neighbour lists; longer ones leave fewer questions to the engine.
    prototypes : array-like of int
        Indices of the samples where paths start, at cost 0; a repeated one counts once.
    membership : ndarray of shape (n,)
        Factor of each sample in Eq. 6.
    membership_side : {"target", "source"}, default="target"
        Whether an offer is multiplied by the membership of the sample that takes it (Eq. 6) or of the one
        that makes it, as the original C code did.

    Returns
    -------
    Forest

    Notes
    -----
    A sample that has left the queue is never updated again. With memberships below 1 the
    competition is greedy for that reason; with memberships of at least 1 it finds the cheapest
    paths.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import grow_forest_complete
    >>> from pathforest.graph import knn_graph
    >>> engine = make_engine([[0.0], [1.0], [3.0], [4.5]])
    >>> graph = knn_graph(engine, k=2)
    >>> membership = [0.5, 1.0, 1.0, 0.5]
    >>> grow_forest_complete(engine, graph, [1, 2], membership).cost.tolist()
    [0.5, 0.0, 0.0, 0.75]
    """
    seeds, factors = _seeds(engine.n_samples, prototypes), _factors(engine.n_samples, membership)
    return Forest(*engine.compete(*graph, seeds, factors, _is_source(membership_side)))


def grow_forest_geodesic(
    engine: Engine,
    graph: KnnGraph,
    prototypes: np.ndarray,
    factor: np.ndarray | None = None,
    n_threads: int = 1,
) -> Forest:
    """Let the prototypes compete for the other samples along neighbour lists, by the length of the way.

    Parameters
    ----------
    engine : Engine
        The engine `graph` was made with. It is asked only where the lists cannot answer.
    graph : KnnGraph
        Neighbour lists. Two samples are joined if either lists the other.
    prototypes : array-like of int
        Indices of the samples where paths start, at cost 0; a repeated one counts once.
    factor : ndarray of shape (n,), default=None
        What the arcs of a path are multiplied by, at the prototype it starts from; at other samples it is
        not used. None is 1 everywhere.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    Forest
        Costs are lengths of paths: sums of arcs, added from the prototype on.

    Notes
    -----
    Of paths that cost the same, the one whose last arc comes first in the order of arcs (length, lower
    end, higher end) wins; samples leave the queue by (cost, index), and one that has left is never
    updated again. Samples that no path reaches are joined to the nearest sample that one reached, the
    lower index on ties. `order` sorts by (cost, index).

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import grow_forest_geodesic
    >>> from pathforest.graph import knn_graph
    >>> engine = make_engine([[0.0], [1.0], [3.0], [4.5]])
    >>> forest = grow_forest_geodesic(engine, knn_graph(engine, k=1), [0])
    >>> forest.cost.tolist(), forest.predecessor.tolist()
    ([0.0, 1.0, 3.0, 4.5], [-1, 0, 1, 1])
    """
    seeds = _seeds(engine.n_samples, prototypes)
    factor = np.ones(engine.n_samples) if factor is None else factor
    cost, predecessor, root = _core.geodesic_paths(*graph, seeds, factor[seeds])
    unreached = np.flatnonzero(root < 0).astype(np.int32)
    if unreached.size:
        component = (root < 0).astype(np.int32)
        found = engine.nearest_outsiders(unreached, component, n_threads)
        distances, nearest = (array[:, 0] for array in found)
        predecessor[unreached], root[unreached] = nearest, root[nearest]
        cost[unreached] = cost[nearest] + factor[root[nearest]] * distances
    if not np.isfinite(cost).all():
        raise ValueError(
            f"the path to sample {int(np.argmax(cost))} is infinitely long: its arcs add up to more than a "
            "float64 can be; rescale the samples, for example with sklearn.preprocessing.MaxAbsScaler"
        )
    return Forest(cost, predecessor, root, np.argsort(cost, kind="stable").astype(np.int32))


def balancing_factors(graph: KnnGraph, labelled: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Find a factor per class that makes paths of a class dearer if it would win more than its share.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists. Two samples are joined if either lists the other.
    labelled : array-like of int of shape (n_labelled,)
        Indices of the samples with a label.
    codes : array-like of int of shape (n_labelled,)
        Their classes, numbered from 0.

    Returns
    -------
    factors : ndarray of shape (n_classes,)

    Notes
    -----
    The paths of each class alone reach a sample at cost C_c. It counts for class c by its share in the sum
    over classes of (smallest cost / C_c)^4. The factor of a class is the fourth root of its mean share, over
    the unlabelled samples that a path reaches, divided by its share of the labels; 1 if it has none of the
    samples.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import balancing_factors
    >>> from pathforest.graph import knn_graph
    >>> graph = knn_graph(make_engine([[0.0], [1.0], [2.0], [3.0], [5.0]]), k=2)
    >>> balancing_factors(graph, [0, 4], [0, 1]).round(3).tolist()
    [1.074, 0.904]
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    labelled = check_sample_indices("labelled", labelled, len(graph.indices)).astype(np.int32)
    return _core.balancing_factors(*graph, labelled, codes, int(codes.max()) + 1)


def _seeds(n: int, prototypes: np.ndarray) -> np.ndarray:
    """Give prototypes the type of the core, each once, and refuse those of other samples."""
    if np.size(prototypes) == 0:
        raise ValueError(f"prototypes is empty; give at least one of the {n} samples, where paths start")
    is_start = np.zeros(n, dtype=bool)  # np.unique would sort, which takes longer than the forest
    is_start[check_sample_indices("prototypes", prototypes, n)] = True
    return np.flatnonzero(is_start).astype(np.int32)


def _factors(n: int, membership: np.ndarray) -> np.ndarray:
    """Give memberships the type of the core, and refuse those of other samples."""
    membership = np.ascontiguousarray(membership, dtype=np.float64)
    if membership.shape != (n,):
        raise ValueError(
            f"membership has shape {membership.shape}; it must hold one value for each of {n} samples"
        )
    return membership


def _is_source(membership_side: str) -> bool:
    check_choice("membership_side", membership_side, ("target", "source"))
    return membership_side == "source"


def conquer(
    engine: Engine,
    Q: np.ndarray,
    cost: np.ndarray,
    order: np.ndarray,
    n_conquerors: int = 1,
    n_threads: int = 1,
) -> Conquest:
    """Find the training samples that offer each new sample the cheapest paths.

    Parameters
    ----------
    engine : Engine
        The engine of the training samples.
    Q : ndarray of shape (m, n_features) or (m, n)
        New samples in the engine's dtype, or their distances to the training samples. Finite; a distance is
        at least 0.
    cost : ndarray of shape (n,)
        Path costs of the training samples.
    order : array-like of int of shape (n,)
        Each training sample once, by ascending cost; of equal offers, that of the first here comes first.
    n_conquerors : int, default=1
        How many offers to return per sample, at most n.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    Conquest

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.distances import make_engine
    >>> from pathforest.forest import conquer, grow_forest
    >>> from pathforest.graph import knn_graph, spanning_tree
    >>> engine = make_engine([[0.0], [1.0], [3.0], [4.5]])
    >>> tree = spanning_tree(engine, knn_graph(engine, k=1))
    >>> forest = grow_forest(tree, [1, 2])
    >>> conquer(engine, np.array([[4.0]]), forest.cost, forest.order).indices.tolist()
    [[2]]
    """
    n = engine.n_samples
    order = check_sample_indices("order", order, n)
    missing = np.flatnonzero(np.bincount(order, minlength=n) == 0)
    if missing.size or len(order) != n:
        reason = f"has {len(order)} entries" if len(order) != n else f"lacks sample {missing[0]}"
        raise ValueError(
            f"order {reason}; it must contain each of the {n} samples once, as the order of a forest does"
        )
    if places := np.argwhere(~np.isfinite(Q)).tolist():
        value = Q[tuple(places[0])]
        raise ValueError(f"Q{places[0]} is {value}, which is not finite; impute or remove such values")
    if engine.takes == "distances" and (places := np.argwhere(Q < 0).tolist()):
        value = Q[tuple(places[0])]
        raise ValueError(f"Q{places[0]} is {value}; it is a distance here and must be at least 0")
    found = Conquest(*engine.conquer(Q, cost, order, n_conquerors, n_threads))
    overflowed = np.isinf(found.offers) & np.isfinite(cost[found.indices])
    if overflowed.any():
        raise ValueError(
            f"Q[{np.argwhere(overflowed)[0, 0]}] is infinitely far from a training sample: the distance "
            "overflows; rescale the samples, for example with sklearn.preprocessing.MaxAbsScaler"
        )
    return found


def path_to_root(predecessor: np.ndarray, node: int) -> list[int]:
    """Follow the predecessors from `node` to its prototype.

    Predecessors that lead in a circle, or to no sample, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.forest import path_to_root
    >>> path_to_root(np.array([-1, 0, 1]), 2)
    [2, 1, 0]
    """
    n, path = len(predecessor), [int(node)]
    if not 0 <= path[0] < n:
        raise ValueError(f"node={node} is not a sample; give an index from 0 to {n - 1}")
    while (previous := int(predecessor[path[-1]])) >= 0:
        if previous >= n:
            raise ValueError(
                f"predecessor[{path[-1]}]={previous} is not a sample; there are {n}, and -1 stands for none"
            )
        if len(path) == n:
            raise ValueError(
                f"the predecessors of node={node} lead in a circle and never to a prototype; take those of a "
                "fitted forest, where prototypes have -1"
            )
        path.append(previous)
    return path
