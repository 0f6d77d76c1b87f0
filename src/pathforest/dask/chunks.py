"""Samples that stay on the workers, in the chunks of a Dask collection, and so do their neighbour lists.

The client has a few numbers per sample, never the samples: the tree is made from its lists by `tree.py`, and
the forest from the tree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from dask import is_dask_collection
from distributed import Client, Future
from sklearn.utils.validation import check_array, validate_data

from pathforest import _core
from pathforest._engines.engine import TREE_NEIGHBORS, KnnGraph, TreeArrays
from pathforest._engines.metric import NONNEGATIVE, WITH_GAPS, Metric, choose_algorithm, resolve_metric
from pathforest._engines.samples import check_features, check_spread, check_squares
from pathforest._models.base import warn_of_units
from pathforest._persistence.checks import Elsewhere
from pathforest._utils.progress import note
from pathforest._utils.text import show
from pathforest.dask import engine
from pathforest.dask.data import inspect_samples, inspected, put_together
from pathforest.dask.engine import Block, DaskEngine, Lists, Piece, count_blocks, pass_seconds
from pathforest.dask.futures import Sent, run_all, wait_for_workers
from pathforest.dask.spill import Spill, check_shared, load_lists, write_lists
from pathforest.dask.tree import Rounds
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV


class ChunkedSamples(Elsewhere):
    """The training samples of a model, in blocks on the workers; what stages use of an array of samples.

    A block that a worker takes along is made again, from the graph of the collection.
    """

    def __init__(
        self,
        client: Client,
        chunks: Sequence[Future],
        sizes: Sequence[int],
        shape: Any,
        how: Sequence[Any],
        spill: Spill | None = None,
    ) -> None:
        self.client, (self.n_features, self.dtype, *self.how) = client, (*shape, *how)
        self.workers = wait_for_workers(client)
        self.lists: list[list[Future]] = []  # neighbour lists, for the time of a fit
        (_, *where), self._n = self.how, sum(sizes)
        self.spill, planned = spill, spill.plan if spill else {}
        most = -(-self.nbytes // count_blocks(client, self.nbytes, *where))
        self.most = most = planned.get("block_bytes", most)
        groups: list[list[int]] = [[]]
        for i, size in enumerate(sizes):
            held = sum(sizes[j] for j in groups[-1])
            if held and (held + size) * self.n_features * self.dtype.itemsize > most:
                groups.append([])
            if size:
                groups[-1].append(i)
        ends = list(accumulate(sum(sizes[i] for i in group) for group in groups))
        self.rows = [slice(start, stop) for start, stop in zip([0, *ends], ends, strict=False)]
        self.futures = [
            client.submit(
                make_block,
                rows.start,
                self.dtype,
                self.how,
                *(chunks[i] for i in group),
                **self.where(position),
            )
            for position, (rows, group) in enumerate(zip(self.rows, groups, strict=True))
        ]

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self._n, self.n_features

    @property
    def nbytes(self) -> int:
        """Bytes of the samples, wherever they are."""
        return self._n * self.n_features * self.dtype.itemsize

    def ask(self, position: int, function: Any, *args: Any) -> Future:
        """Submit a function of one of the blocks."""
        return self.client.submit(function, self.futures[position], *args, **self.where(position))

    def where(self, position: int) -> dict[str, Any]:
        """Wish for the worker that a block was made for: it is not copied to others that have less to do."""
        workers, n_blocks = self.workers, len(self.rows)
        home = [workers[position * len(workers) // n_blocks]] if n_blocks > 1 else None
        return {"workers": home, "allow_other_workers": home is not None, "pure": False}

    def close_lists(self) -> None:
        """Let the cluster drop the neighbour lists."""
        for futures in self.lists:
            futures.clear()

    def close(self) -> None:
        """Let the cluster drop the blocks."""
        self.close_lists()
        self.futures.clear()

    def gather(self) -> np.ndarray:
        """Bring the samples to the client."""
        return np.concatenate(run_all(self.client, len(self.rows), lambda i: self.ask(i, values_of)))


def is_chunked(model: Any) -> bool:
    """Say whether the samples of a fitted model are on the workers."""
    return isinstance(vars(model).get("_fit_X") if model is not None else None, ChunkedSamples)


class ChunkedLists:
    """Neighbour lists on the workers, one future for some samples, which replace arrays."""

    def __init__(self, blocks: ChunkedSamples, pieces: list[Piece], futures: list[Future]) -> None:
        self._blocks, self.pieces, self.futures = blocks, pieces, futures

    def ask(self, function: Callable[..., Any], *args: Any, of_rows: bool = False, **told: Any) -> list[Any]:
        """Ask a function about each piece, where its lists have ended, or about the lists and their rows.

        What was sent is looked up at every attempt: it may have gone with a worker.
        """
        client, n_blocks = self._blocks.client, len(self._blocks.rows)

        def submit(i: int) -> Future:
            home, rows = self.pieces[i]
            where = self._blocks.where((home - (self._blocks.spill is None)) % n_blocks)
            found = [one[0] if isinstance(one, Sent) else one for one in args]
            return client.submit(function, self.futures[i], *([rows] if of_rows else []), *found, **where)

        return run_all(client, len(self.pieces), submit, **told)

    def density(self, k: int, squared: bool) -> np.ndarray:
        """Estimate the density of every sample from its `k` nearest neighbours (Eq. 3)."""
        largest, longest = np.max(self.ask(longest_arcs, k), axis=0).tolist()
        if not squared:
            check_squares(longest, least=float(np.finfo(np.float64).smallest_subnormal))
        return np.concatenate(self.ask(densities, k, largest, squared))


class ChunkedEngine(DaskEngine):
    """The engine of samples in chunks; its lists stay on the workers, and the tree is made from them.

    Only for clusters, which are made of the lists, these come to the client.
    """

    def __init__(self, samples: ChunkedSamples, lists_stay: bool) -> None:
        self._lists_stay, self._task_rows = lists_stay, 0
        (_, self.name, self._device), self.dtype = samples.how, samples.dtype.name
        self.n_samples, self.n_features = samples.shape
        self._client, self._rows, self.blocks = samples.client, samples.rows, samples
        self.tour = range(len(self._rows))  # those of a worker follow one another: lists stay there

    def knn(self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None) -> Any:
        """Make the lists of all samples."""
        if self.blocks.spill:
            self._spill(self.blocks.spill, k)
        if not self._lists_stay:
            return super().knn(k, n_threads, start, stop)
        pieces = self.pieces(0, self.n_samples)
        lists = ChunkedLists(self.blocks, pieces, [self._lists(piece, k) for piece in pieces])
        self.blocks.lists.append(lists.futures)
        lists.ask(len, told=self._telling(pieces, k))
        return lists, lists

    def _telling(self, pieces: list[Piece], k: int) -> Callable[[int], None]:
        """Return what says how far the pass has come, given which piece is complete."""
        sizes, start, done = [rows.stop - rows.start for _, rows in pieces], time.monotonic(), [0]
        crossings = len(self.blocks.workers) * (1 - 1 / len(self._rows))
        row_bytes = self.n_features * self.blocks.dtype.itemsize + 12 * k + 1

        def told(i: int) -> None:
            done[0] += sizes[i]
            left, moved = (
                (time.monotonic() - start) * (sum(sizes) / done[0] - 1),
                done[0] * row_bytes * crossings,
            )
            pairs, all_pairs = (rows * self.n_samples for rows in (done[0], sum(sizes)))
            note(f"{pairs:.2g} of {all_pairs:.2g} pairs, {moved / 1e9:.1f} GB moved, {left:.0f} s left")

        return told

    def _spill(self, spill: Spill, k: int) -> None:
        """Write the lists that are not in files."""
        self._task_rows = spill.open(self.blocks, k, self.task_size(self.n_samples))
        left = [piece for piece in self.pieces(0, self.n_samples) if not os.path.exists(spill.path(piece))]

        def submit(i: int) -> Future:
            lists = super(ChunkedEngine, self)._lists(left[i], k)
            return self._client.submit(write_lists, lists, spill.path(left[i]), pure=False)

        run_all(self._client, len(left), submit, self._telling(left, k))
        check_shared([spill.path(piece) for piece in left])

    def _lists(self, part: Piece, k: int) -> Future:
        if self.blocks.spill:
            where = self.blocks.where(part.home)
            return self._client.submit(load_lists, self.blocks.spill.path(part), **where)
        return super()._lists(part, k)

    def task_size(self, n_queries: int) -> int:
        """Choose how many samples a task asks, as the fit did that began the files."""
        return self._task_rows or super().task_size(n_queries)

    def spanning_tree(self, graph: KnnGraph | None = None, n_threads: int = 1) -> TreeArrays:
        """Build the minimum spanning tree from lists on the workers."""
        lists, _ = graph or self.knn(min(TREE_NEIGHBORS, self.n_samples - 1))
        # What joins two blocks, a device would look for on its host.
        questions_are_cheap = self.name == "kd_tree" or self._device != "cpu"
        return Rounds(self._client, self.blocks, lists, self.tour, questions_are_cheap).tree()


def open_samples(
    client: Client, model: Any, X: Any, why: str | None, limit: float, spill_folder: Any = None
) -> Any:
    """Return the samples of a collection: in chunks on the workers, or here if they are few or have to be.

    They have to be if `must_gather` says why, up to `limit` bytes.
    """
    if not is_dask_collection(X):
        return X
    settings = model._settings()
    # Transformers that the user passes may take missing values; they are refused later if they do not.
    finite = isinstance(getattr(model, "transforms", None), str | None) and model.metric not in WITH_GAPS
    with inspected(client, "X", X, partial(inspect_samples, finite=finite)) as (chunks, found):
        sizes, d = [one.n_rows for one in found], len(found[0].columns)
        if why or sum(sizes) < 2 or not d:
            check_limit(model, 8.0 * sum(sizes) * d, why, limit)  # chunks may have had unknown sizes
            return put_together(client.gather(chunks))
        dtype = np.result_type(*(one.dtype for one in found))
        dtype = np.dtype(np.float32 if dtype in (np.float16, np.float32) else np.float64)
        algorithm = choose_algorithm(settings.metric, d, model.algorithm)
        if pass_seconds(sum(sizes), sum(sizes), d, algorithm) < engine.LOCAL_SECONDS:
            return put_together(client.gather(chunks))
        validate_data(
            model, X._meta if hasattr(X._meta, "columns") else np.empty((0, d)), skip_check_array=True
        )
        widest = check_values([one.extremes for one in found], dtype, settings.metric, settings.squares)
        warn_of_units(model, widest, settings.metric)
        how, spill = (settings.metric, algorithm, model.device), Spill(spill_folder) if spill_folder else None
        return ChunkedSamples(client, chunks, sizes, (d, dtype), how, spill)


def must_gather(model: Any) -> str | None:
    """Say why the client needs all samples, and what to use if it should not; None if it does not."""
    if isinstance(model, FuzzyOPFClassifierCV):
        return "a search compares candidates on all samples; search on a part of them"
    metric = resolve_metric(model.metric, model.metric_params)
    if metric.kind != "features" or metric.name in WITH_GAPS:
        return f"metric={show(model.metric)} needs all samples at once; use another metric"
    if isinstance(model, FuzzyOPFClassifier):
        if callable(model.membership):
            return "a callable membership gets all samples; use membership='density'"
        if model.competition != "tree" or model.n_neighbors is None:
            return (
                "the complete competition and the search for k need all samples at once; use "
                "competition='tree' and n_neighbors="
            )
    return None


def check_limit(model: Any, n_bytes: float, why: str | None, limit: float) -> None:
    """Refuse to gather more than the limit; an unknown size is not more."""
    if why and n_bytes > limit:
        raise ValueError(
            f"{type(model).__name__} would gather {n_bytes:.3g} bytes of samples at the client, more than "
            f"gather_limit={limit:.3g}: {why}; or raise gather_limit"
        )


def check_values(
    extremes: Sequence[np.ndarray], dtype: np.dtype, metric: Metric, squares: bool
) -> np.ndarray:
    """Refuse values that do not suit the metric; return the smallest and the largest of each feature."""
    for i, (lows, _) in enumerate(extremes):
        if metric.name in NONNEGATIVE and lows.min() < 0:
            raise ValueError(
                f"Negative values in data passed to metric={metric.name!r}, which needs features >= 0: chunk "
                f"{i} of X has {lows.min():.6g} in its column {lows.argmin()}; shift or clip them, or choose "
                "another metric"
            )
    lows, highs = zip(*extremes, strict=True)
    widest = np.stack([np.min(lows, axis=0), np.max(highs, axis=0)]).astype(dtype)
    check_features(widest, metric, squares)
    check_spread(widest, metric, squares)
    return widest


# What runs on the workers


def make_block(first: int, dtype: np.dtype, how: Sequence[Any], *chunks: Any) -> Block:
    """Make a block of consecutive chunks."""
    checked = [check_array(chunk, dtype=dtype, order="C", ensure_all_finite=False) for chunk in chunks]
    X = checked[0] if len(checked) == 1 else np.concatenate(checked)
    return Block(X, first, *how)


def values_of(block: Block) -> np.ndarray:
    """Return the samples of a block."""
    return block.X


def longest_arcs(lists: Lists, k: int) -> tuple[float, float]:
    """Return the longest distance to the `k`-th neighbour, and to the last."""
    return float(lists.distances[:, k - 1].max()), float(lists.distances[:, -1].max())


def densities(lists: Lists, k: int, largest: float, squared: bool) -> np.ndarray:
    """Estimate densities, given the longest arc of all lists."""
    return _core.query_density(np.ascontiguousarray(lists.distances[:, :k]), largest, squared)
