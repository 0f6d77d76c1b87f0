"""Predictions of Dask collections: lazy, by a model that every worker has or that is divided among them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from pathforest._core import mean_offers
from pathforest._engines.metric import Metric
from pathforest._models.base import check_queries
from pathforest._models.classifier import ForestClassifier
from pathforest._models.offers import bids, cheapest_class, probabilities, ranks
from pathforest._search.ensemble import check_samples, classifier_of, represent
from pathforest.dask.data import check_table
from pathforest.dask.futures import Sent, naming_a_lost_scheduler, send_all, thread_counts
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

# A worker takes samples of an eighth of its memory: engines have copies of them, and queries need room.
MEMORY_SHARE = 1 / 8


def predict_lazily(client: Client, model: Any, X: Any, method: str) -> Any:
    """Ask a method of a local model about each block of a Dask collection."""
    X, is_array = check_table(X), isinstance(X, da.Array)
    # Other features than those of `fit` are refused now, not when blocks are computed.
    example = np.empty((0, X.shape[1])) if is_array else X._meta
    validate_data(model, example, reset=False, skip_check_array=True)
    with naming_a_lost_scheduler(client):
        n_parts = count_parts(client, model)
        if n_parts > 1:
            return _ask_parts(client, model, n_parts, X, method)
        sent = Sent(client, [model], _sample_bytes(_classifiers(model)))[0]
    wide = method != "predict"
    meta = _empty(model, wide)
    if not is_array:
        meta = _label_frame(model, X._meta, method, meta)
        return X.map_partitions(_predict_block, sent, method, meta=meta)
    chunks = {"chunks": (X.chunks[0], (len(model.classes_),))} if wide else {"drop_axis": 1}
    asked = {"model": delayed(sent), "method": method}
    return X.map_blocks(_predict_block, **asked, dtype=meta.dtype, meta=meta, **chunks)


def count_parts(client: Client, model: Any) -> int:
    """Return into how many parts a model is divided; 1 if it fits on the workers as a whole."""
    classifiers = _classifiers(model)
    if any(Metric(*one._fit_metric).kind != "features" for one in classifiers):
        return 1  # has no samples, or needs distances to all of them at once
    n_parts = ceil(_sample_bytes(classifiers) / (MEMORY_SHARE * worker_memory(client)))
    if n_parts <= 1:
        return 1
    n_workers = max(1, len(thread_counts(client)))
    return min(n_workers * ceil(n_parts / n_workers), min(len(one.order_) for one in classifiers))


def worker_memory(client: Client) -> float:
    """Return the memory of the smallest worker, in bytes."""
    workers = client.scheduler_info()["workers"].values()
    return min((worker["memory_limit"] for worker in workers if worker["memory_limit"]), default=inf)


def _predict_block(block: Any, model: Any, method: str) -> Any:
    """Answer for one block, on a worker; an empty one gets an empty answer."""
    values = getattr(model, method)(block) if block.shape[0] else _empty(model, method != "predict")
    return _label_frame(model, block, method, values) if hasattr(block, "columns") else values


def _empty(model: Any, wide: bool) -> np.ndarray:
    return np.empty((0, len(model.classes_))) if wide else model.classes_[:0]


def _label_frame(model: Any, block: Any, method: str, values: np.ndarray) -> Any:
    """Give answers the index of the block they belong to: a series, or a frame with a column per class."""
    import pandas as pd  # whose frames these are, so it is there

    if values.ndim == 2:
        return pd.DataFrame(values, index=block.index[: len(values)], columns=pd.Index(model.classes_))
    dtype = pd.Series(model.classes_).dtype
    return pd.Series(values, index=block.index[: len(values)], dtype=dtype, name=method)


def _ask_parts(client: Client, model: Any, n_parts: int, X: Any, method: str) -> Any:
    """Ask every part of a model about each block, and merge their offers."""
    # Distributed: Dask then moves blocks to parts, which are larger.
    parts, [rest] = send_all(Sent(client, divide(model, n_parts)), Sent(client, [_without_samples(model)]))
    blocks = np.ravel(X.to_delayed()).tolist()
    answers = []
    for block in blocks:
        queries = delayed(take_queries, pure=False)(rest, block)
        offers = [delayed(make_offers, pure=False)(part, queries) for part in parts]
        answers.append(delayed(answer, pure=False)(rest, block, offers, method))
    wide = method != "predict"
    meta = _empty(model, wide)
    if not isinstance(X, da.Array):
        import dask.dataframe as dd

        meta = _label_frame(model, X._meta, method, meta)
        divisions = X.divisions if X.known_divisions else None
        return dd.from_delayed(answers, meta=meta, divisions=divisions, verify_meta=False)
    shapes = [(rows, *meta.shape[1:]) for rows in X.chunks[0]]
    pairs = zip(answers, shapes, strict=True)
    arrays = [da.from_delayed(one, shape, meta=meta, dtype=meta.dtype) for one, shape in pairs]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


class Part:
    """Some training samples of a model: a classifier fitted to them for each that it has."""

    def __init__(self) -> None:
        self.classifiers: list[ForestClassifier] = []
        self.ranks: list[np.ndarray] = []  # place of each sample in the order of the whole forest

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a worker needs: engines have copies of the samples."""
        return object.__sizeof__(self) + 2 * _sample_bytes(self.classifiers)


# For each class that has samples, its cheapest offers, ascending, and the rank of the first.
Offers = dict[int, tuple[np.ndarray, np.ndarray]]


def divide(model: Any, n_parts: int) -> list[Part]:
    """Divide the training samples of a model into parts, each with some of every classifier's."""
    parts = [Part() for _ in range(n_parts)]
    samples: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}  # of classifiers that share them, once
    for one in _classifiers(model):
        if id(one._fit_X) not in samples:
            # Class by class, so that few parts make offers for each.
            chosen = np.array_split(np.argsort(one._fit_codes, kind="stable"), n_parts)
            samples[id(one._fit_X)] = [(rows, one._fit_X[rows]) for rows in chosen]
        rank = ranks(one.order_)
        for part, (rows, X) in zip(parts, samples[id(one._fit_X)], strict=True):
            part.classifiers.append(_with_samples(one, rows, X, rank[rows]))
            part.ranks.append(rank[rows])
    return parts


def _classifiers(model: Any) -> list[ForestClassifier]:
    return (
        [classifier_of(one) for one in model.estimators_]
        if isinstance(model, FuzzyOPFClassifierCV)
        else [model]
    )


def _sample_bytes(classifiers: Sequence[ForestClassifier]) -> int:
    return sum({id(one._fit_X): getattr(one._fit_X, "nbytes", 0) for one in classifiers}.values())


def _with_samples(
    model: ForestClassifier, rows: np.ndarray, X: np.ndarray, rank: np.ndarray
) -> ForestClassifier:
    """Return a classifier that makes the offers of some samples only; tasks use one thread."""
    part = _bare(model).set_params(n_jobs=None)
    part._fit_X, part._fit_codes, part.cost_ = X, model._fit_codes[rows], model.cost_[rows]
    part._fit_metric, part._fit_algorithm, part._fit_cache = model._fit_metric, model._fit_algorithm, {}
    part.order_ = np.argsort(rank)
    return part


def _without_samples(model: Any) -> Any:
    bare = _bare(model)
    if isinstance(model, FuzzyOPFClassifierCV):
        bare._fit_metric, bare._fit_untouched = model._fit_metric, model._fit_untouched
        bare.estimators_ = [
            Pipeline([*one.steps[:-1], ("classifier", _bare(one[-1]))])
            if isinstance(one, Pipeline)
            else _bare(one)
            for one in model.estimators_
        ]
    return bare


def _bare(model: Any) -> Any:
    """Return a model that knows its classes and features, and nothing else."""
    bare = clone(model)
    for name in ("classes_", "n_features_in_", "feature_names_in_", "categories_"):
        if hasattr(model, name):
            setattr(bare, name, getattr(model, name))
    return bare


def take_queries(model: Any, block: Any) -> list[Any]:
    """Represent a block for each classifier, on a worker; an empty one for none."""
    if not block.shape[0]:
        return []
    if not isinstance(model, FuzzyOPFClassifierCV):
        return [block]
    samples = check_samples(model, block)
    return [represent(one, samples) for one in model.estimators_]


def make_offers(part: Part, queries: list[Any]) -> list[Offers]:
    """Ask the samples of one part, on a worker."""
    if not queries:
        return []
    return [_offers(*one) for one in zip(part.classifiers, part.ranks, queries, strict=True)]


def _offers(classifier: ForestClassifier, rank: np.ndarray, X: Any) -> Offers:
    found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for _, code, offers, conquerors in bids(classifier._forest, check_queries(classifier, X)):
        found.setdefault(code, []).append((offers, rank[conquerors[:, 0]]))
    return {code: tuple(map(np.concatenate, zip(*made, strict=True))) for code, made in found.items()}


def answer(model: Any, block: Any, offers: Sequence[list[Offers]], method: str) -> Any:
    """Merge the offers of all parts and answer, on a worker, for a model without samples."""
    values = _decide(model, offers, method) if block.shape[0] else _empty(model, method != "predict")
    return _label_frame(model, block, method, values) if hasattr(block, "columns") else values


def _decide(model: Any, offers: Sequence[list[Offers]], method: str) -> np.ndarray:
    classifiers, n_classes = _classifiers(model), len(model.classes_)
    asked = zip(*offers, classifiers, strict=True)
    merged = [merge_offers(made, n_classes, int(one.n_conquerors)) for *made, one in asked]
    if method == "class_costs":
        return merged[0][0]
    if method == "predict" and len(merged) == 1:
        return model.classes_[cheapest_class(*merged[0])]
    pairs = zip(merged, classifiers, strict=True)
    mean = np.mean([probabilities(cost, one.beta) for (cost, _), one in pairs], axis=0)
    return mean if method == "predict_proba" else model.classes_[mean.argmax(axis=1)]


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
