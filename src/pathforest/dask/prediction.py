"""Predictions of Dask collections: lazy, by a model that every worker has or that is divided among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import ceil, inf
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, Future
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from pathforest._core import mean_offers, merge_lists
from pathforest._engines.metric import Metric
from pathforest._models.base import KeptSamples, check_queries
from pathforest._models.classifier import ForestClassifier
from pathforest._models.density import density_query
from pathforest._models.leave_one_out import no_lists
from pathforest._models.offers import KeptForest, bids, cheapest_class, contenders, probabilities
from pathforest._search.ensemble import check_samples, likeliest, of_the_truth, represent, weigh
from pathforest.clustering import OPFClustering
from pathforest.dask.chunks import is_chunked
from pathforest.dask.data import check_collection
from pathforest.dask.engine import Block
from pathforest.dask.futures import Sent, naming_a_lost_scheduler, thread_counts

# A worker takes samples of an eighth of its memory: engines have copies of them, and queries need room.
MEMORY_SHARE = 1 / 8

# What a model without samples knows.
KNOWN = {
    "classes_", "n_features_in_", "feature_names_in_", "categories_", "weights_", "label_noise_",
    "_fit_metric", "_fit_untouched", "_fit_class_weight",
}  # fmt: skip


# What says the cluster of a sample.
CLUSTERS = {
    "cost_", "labels_", "root_", "density_", "cluster_roots_", "best_k_", "_fit_largest_arc",
    "_fit_algorithm",
}  # fmt: skip


def predict_lazily(client: Client, model: Any, X: Any, method: str) -> Any:
    """Ask a method of a local model about each block of a Dask collection."""
    X, is_array = check_collection("X", X), isinstance(X, da.Array)
    # Other features than those of `fit` are refused now, not when blocks are computed.
    example = np.empty((0, X.shape[1])) if is_array else X._meta
    validate_data(model, example, reset=False, skip_check_array=True)
    meta = _answer(X._meta[:0], model, method)
    with naming_a_lost_scheduler(client):
        if is_chunked(model):
            rest, make = _bare(model), chunk_parts
            if isinstance(model, OPFClustering):
                bare, make = _bare(model, CLUSTERS), cluster_parts
                bare._fit_X, bare._fit_cache = None, {}
                rest = Sent(client, [bare])[0]
            return _ask_parts(make(client, model), rest, X, method, meta, True)
        n_parts = count_parts(client, model)
        if n_parts > 1:
            # Distributed: Dask then moves blocks to parts, which are larger.
            *parts, rest = Sent(client, [*divide(model, n_parts), _bare(model)]).all()
            return _ask_parts(parts, rest, X, method, meta, not hasattr(model, "estimators_"))
        sent = Sent(client, [model], _sample_bytes(one._fit_X for one in _classifiers(model)))[0]
    if not is_array:
        return X.map_partitions(_answer, sent, method, meta=meta)
    chunks = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (X.chunks[0], meta.shape[1:])}
    return X.map_blocks(_answer, model=delayed(sent), method=method, dtype=meta.dtype, meta=meta, **chunks)


def count_parts(client: Client, model: Any) -> int:
    """Return into how many parts a model is divided; 1 if it fits on the workers as a whole."""
    classifiers = _classifiers(model)
    if any(Metric(*one._fit_metric).kind != "features" or not hasattr(one, "order_") for one in classifiers):
        return 1  # has no samples, needs distances to all of them at once, or makes no offers
    n_parts = ceil(_sample_bytes(one._fit_X for one in classifiers) / (MEMORY_SHARE * worker_memory(client)))
    if n_parts <= 1:
        return 1
    n_workers = max(1, len(thread_counts(client)))
    return min(n_workers * ceil(n_parts / n_workers), min(len(one.order_) for one in classifiers))


def worker_memory(client: Client) -> float:
    """Return the memory of the smallest worker, in bytes."""
    workers = client.scheduler_info()["workers"].values()
    return min((worker["memory_limit"] for worker in workers if worker["memory_limit"]), default=inf)


def _answer(block: Any, model: Any, method: str, offers: Sequence[list[Offers]] | None = None) -> Any:
    """Answer for one block, on a worker; for a divided model by the offers of its parts.

    Answers for a frame have its index: a series, or a frame with a column for each class.
    """
    classes = getattr(model, "classes_", np.empty(0, dtype=np.intp))  # clusters have numbers
    if not block.shape[0]:
        values = classes[:0] if method == "predict" else np.empty((0, len(classes)))
    else:
        values = getattr(model, method)(block) if offers is None else _decide(model, offers, method)
    if not hasattr(block, "columns"):
        return values
    import pandas as pd  # whose frames these are, so it is there

    if values.ndim == 2:
        return pd.DataFrame(values, index=block.index, columns=pd.Index(classes))
    return pd.Series(values, index=block.index, dtype=pd.Series(classes).dtype, name=method)


# Models that are divided among the workers


def _ask_parts(parts: Sequence[Any], rest: Any, X: Any, method: str, meta: Any, is_alone: bool) -> Any:
    """Ask every part of a model about each block, and merge their offers; `rest` is what else it knows.

    Of a classifier that `is_alone`, not that of a search, labels need no more than the winners.
    """
    answers, for_labels = [], method == "predict" and is_alone
    for block in np.ravel(X.to_delayed()).tolist():
        queries = delayed(take_queries, pure=False)(rest, block)
        offers = [delayed(make_offers, pure=False)(part, queries, for_labels) for part in parts]
        answers.append(delayed(_answer, pure=False)(block, rest, method, offers))
    if not isinstance(X, da.Array):
        import dask.dataframe as dd

        divisions = X.divisions if X.known_divisions else None
        return dd.from_delayed(answers, meta=meta, divisions=divisions, verify_meta=False)
    shapes = [(rows, *meta.shape[1:]) for rows in X.chunks[0]]
    pairs = zip(answers, shapes, strict=True)
    arrays = [da.from_delayed(one, shape, meta=meta, dtype=meta.dtype) for one, shape in pairs]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


# For each class that has samples, its cheapest offers, ascending, and the rank of the first.
Offers = dict[int, tuple[np.ndarray, np.ndarray]]


class Shard(NamedTuple):
    """Some training samples of a classifier."""

    model: ForestClassifier  # knows its features, to check queries
    forest: KeptForest  # of these samples
    rank: np.ndarray  # place of each sample in the order of the whole forest


class Part:
    """Some training samples of a model: a shard of each classifier that it has."""

    def __init__(self, shards: list[Shard]) -> None:
        self.shards = shards

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a worker needs: engines have copies of the samples."""
        return object.__sizeof__(self) + 2 * _sample_bytes(shard.forest.samples.X for shard in self.shards)

    def __reduce__(self) -> tuple[Any, ...]:
        shards = []
        for shard in self.shards:
            samples = shard.forest.samples._replace(cache={})  # engines cannot travel
            shards.append(shard._replace(forest=shard.forest._replace(samples=samples)))
        return Part, (shards,)


def divide(model: Any, n_parts: int) -> list[Part]:
    """Divide the training samples of a model into parts, each with some of every classifier's."""
    parts: list[Part] = [Part([]) for _ in range(n_parts)]
    samples: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}  # of classifiers that share them, once
    for one in _classifiers(model):
        forest, bare = one._forest, _bare(one)
        if id(one._fit_X) not in samples:
            # Class by class, so that few parts make offers for each.
            chosen = np.array_split(np.argsort(forest.code, kind="stable"), n_parts)
            samples[id(one._fit_X)] = [(rows, one._fit_X[rows]) for rows in chosen]
        for part, (rows, X) in zip(parts, samples[id(one._fit_X)], strict=True):
            shard = forest.take(rows)
            kept = shard.samples._replace(X=X, n_threads=1)  # tasks use one thread
            part.shards.append(Shard(bare, shard._replace(samples=kept), forest.rank[rows]))
    return parts


def chunk_parts(client: Client, model: ForestClassifier) -> list[Future]:
    """Make a part of each block of samples that a model has on the workers."""
    samples, forest, bare = model._fit_X, model._forest, _bare(model)
    kept = forest._replace(samples=forest.samples._replace(X=None, n_threads=1, cache={}), order=None)
    shares = [kept._replace(cost=forest.cost[rows], code=forest.code[rows]) for rows in samples.rows]
    ranks = [forest.rank[rows] for rows in samples.rows]
    sent = Sent(client, [[*pair] for pair in zip(shares, ranks, strict=True)]).all()
    return [samples.ask(i, make_part, bare, share) for i, share in enumerate(sent)]


def make_part(block: Block, model: ForestClassifier, share: tuple[KeptForest, np.ndarray]) -> Part:
    """Make a part of a block of samples, on a worker."""
    forest, rank = share
    samples = forest.samples._replace(X=block.X, cache={})
    forest = forest._replace(samples=samples, order=np.argsort(rank, kind="stable"))
    return Part([Shard(model, forest, rank)])


class ClusterPart(NamedTuple):
    """Some training samples of a clustering."""

    model: OPFClustering  # knows its features, to check queries
    samples: KeptSamples
    first: int
    k: int

    def nearest(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest of the samples to each query."""
        Q, n = check_queries(self.model, X, self.samples), len(self.samples.X)
        found, k = no_lists(len(Q), self.k), min(self.k, n)
        for rows, distances, indices in self.samples.nearest(Q, k, n):
            found.distances[rows, :k], found.indices[rows, :k] = distances, indices + self.first
        return found


def cluster_parts(client: Client, model: OPFClustering) -> list[Future]:
    """Make a part of each block of samples that a clustering has on the workers."""
    samples = model._samples._replace(X=None, n_threads=1, cache={})
    chunks, rest = model._fit_X, (_bare(model), samples, model.best_k_)
    return [chunks.ask(i, make_cluster_part, *rest) for i in range(len(chunks.rows))]


def make_cluster_part(block: Block, model: OPFClustering, samples: KeptSamples, k: int) -> ClusterPart:
    """Make a part of a block of samples, on a worker."""
    return ClusterPart(model, samples._replace(X=block.X, cache={}), block.first, k)


def _clusters(model: OPFClustering, lists: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the clusters of queries, given the nearest samples of each part."""
    found = lists[0]
    for further in lists[1:]:
        found = merge_lists(*found, *further)
    return model._labels_of(*density_query(model, model.selection != "cut").conquerors(*found))


def _classifiers(model: Any) -> list[ForestClassifier]:
    """Return the classifiers of a search, or the one that the model is."""
    models = getattr(model, "estimators_", [model])
    return [one[-1] if isinstance(one, Pipeline) else one for one in models]


def _sample_bytes(samples: Iterable[Any]) -> int:
    """Return the size of arrays of samples; those that occur twice count once."""
    return sum({id(X): getattr(X, "nbytes", 0) for X in samples}.values())


def _bare(model: Any, also: Collection[str] = ()) -> Any:
    """Return a model without samples, which knows its classes and represents what is new."""
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], ("classifier", _bare(model[-1]))])
    bare = clone(model)
    vars(bare).update((name, value) for name, value in vars(model).items() if name in {*KNOWN, *also})
    if hasattr(model, "estimators_"):
        bare.estimators_ = [_bare(one) for one in model.estimators_]
    return bare


def take_queries(model: Any, block: Any) -> list[Any]:
    """Represent a block for each classifier, on a worker; an empty one for none."""
    if not block.shape[0]:
        return []
    if not hasattr(model, "estimators_"):
        return [block]
    samples = check_samples(model, block)
    return [represent(one, samples) for one in model.estimators_]


def make_offers(part: Part | ClusterPart, queries: list[Any], for_labels: bool) -> Any:
    """Ask the samples of one part, on a worker."""
    if not queries:
        return []
    if isinstance(part, ClusterPart):
        return part.nearest(*queries)
    if for_labels and len(part.shards) == 1 and part.shards[0].forest.r == 1:
        return _cheapest(*part.shards[0], *queries)
    return [_offers(*shard, X) for shard, X in zip(part.shards, queries, strict=True)]


def _cheapest(model: ForestClassifier, forest: KeptForest, rank: np.ndarray, X: Any) -> np.ndarray:
    """Return the cheapest offer to each query, its rank and its class: no other class of the part can win."""
    Q = check_queries(model, X, forest.samples)
    everyone, found = contenders(forest, Q.dtype, together=True), np.empty((3, len(Q)))
    for rows, block in forest.samples.blocks(Q, width=1):
        offers, indices = (array[:, 0, 0] for array in everyone.offers(block, 1, 1))
        found[:, rows] = offers, rank[indices], forest.code[indices]
    return found


def _offers(model: ForestClassifier, forest: KeptForest, rank: np.ndarray, X: Any) -> Offers:
    found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for _, code, offers, conquerors in bids(forest, check_queries(model, X, forest.samples)):
        found.setdefault(code, []).append((offers, rank[conquerors[:, 0]]))
    return {code: tuple(map(np.concatenate, zip(*made, strict=True))) for code, made in found.items()}


def _decide(model: Any, offers: Sequence[list[Offers]], method: str) -> np.ndarray:
    if isinstance(model, OPFClustering):
        return _clusters(model, offers)
    if isinstance(offers[0], np.ndarray):  # of the winners alone
        cost, first, code = np.stack(offers, axis=1)
        winner = np.lexsort((first, cost), axis=0)[0]
        return model.classes_[np.take_along_axis(code, winner[None], axis=0)[0].astype(np.intp)]
    classifiers, n_classes = _classifiers(model), len(model.classes_)
    asked = zip(*offers, classifiers, strict=True)
    merged = [merge_offers(made, n_classes, int(one.n_conquerors)) for *made, one in asked]
    if method == "class_costs":
        return merged[0][0]
    searched = hasattr(model, "weights_")
    if method == "predict" and len(merged) == 1 and not (searched and model._fit_class_weight is not None):
        return model.classes_[cheapest_class(*merged[0])]
    pairs = zip(merged, classifiers, strict=True)
    given = np.array([probabilities(cost, one.beta) for (cost, _), one in pairs])
    mean = of_the_truth(weigh(model.weights_, given), model.label_noise_) if searched else given[0]
    return mean if method == "predict_proba" else model.classes_[likeliest(model, mean)]


def merge_offers(parts: Sequence[Offers], n_classes: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each class's `r` cheapest offers, and the rank of the cheapest one.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.dask.prediction import merge_offers
    >>> parts = {0: (np.array([[1.0, 4.0]]), np.array([7]))}, {0: (np.array([[1.0, 2.0]]), np.array([5]))}
    >>> merge_offers(parts, 2, 3)  # no sample makes an offer for the second class
    (array([[1.33333333,        inf]]), array([[                  5, 9223372036854775807]]))
    """
    m = len(next(iter(parts[0].values()))[1])
    cost, first = np.full((m, n_classes), np.inf), np.full((m, n_classes), np.iinfo(np.intp).max)
    for code in range(n_classes):
        made = [part[code] for part in parts if code in part]
        if made:
            offers, ranks = zip(*made, strict=True)
            cheapest = np.stack([one[:, 0] for one in offers])
            first[:, code] = np.where(cheapest == cheapest.min(axis=0), ranks, first[0, code]).min(axis=0)
            ascending = np.ascontiguousarray(np.sort(np.concatenate(offers, axis=1), axis=1)[:, :r])
            cost[:, code] = mean_offers(ascending, np.array(ascending.shape[1:], dtype=np.int32))[0]
    return cost, first
