"""Issues in samples that stay on the workers: every chunk lists the members of each class near a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from dask import is_dask_collection
from dask.array import Array
from distributed import Client, Future
from sklearn.utils.validation import check_consistent_length

import pathforest
from pathforest import _core
from pathforest._engines.engine import KnnGraph
from pathforest._engines.metric import Metric
from pathforest._engines.samples import without_self
from pathforest._issues.find import Question, Way, bytes_of_rows, may_have_copies, number_groups, report
from pathforest._issues.issues import Issues
from pathforest._models.base import FitData, KeptSamples
from pathforest._models.labels import compare_costs, flag, read_labels
from pathforest._models.leave_one_out import NearestOthers, Offers
from pathforest._models.offers import NONE, ClassGroups, Contenders, mean_offers
from pathforest._utils.text import show
from pathforest.dask.chunks import ChunkedEngine, ChunkedSamples, check_limit, must_gather, open_samples
from pathforest.dask.data import gather, inspect_labels
from pathforest.dask.engine import Block, go_round
from pathforest.dask.futures import (
    GONE,
    Sent,
    checked_client,
    naming_a_lost_scheduler,
    run_all,
    wait_for_workers,
)

TASK_BYTES = 2**26  # of the lists that a task takes along, at most
DIGEST = 16  # bytes that stand for a row; two of a billion rows are the same with a chance of 1 to 10^21


def find_issues(
    X: Any,
    y: Any,
    *,
    client: Client | None = None,
    method: str = "auto",
    n_conquerors: int = 13,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
    device: str = "cpu",
    n_jobs: int | None = None,
    gather_limit: float = 2**32,
) -> Issues:
    """Find the samples whose label is probably wrong, and outliers, duplicates and borders, on a cluster.

    Every array equals that of :func:`pathforest.find_issues` with ``method="fast"``. Samples stay in their
    chunks, on the workers; the client gets what is returned, 24 bytes per sample and conqueror and some 200
    bytes per sample.

    Parameters
    ----------
    X : dask array or dask data frame of shape (n_samples, n_features)
        Samples, in chunks of any size, known or not.
    y : dask array, dask series or array-like of shape (n_samples,)
        Their labels. Their chunks need not be those of X.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time.
    method : {"auto", "fast"}, default="auto"
        Both compare the costs of the classes, on the features as given: scale those in different units first.
    n_conquerors : int, default=13
        How many of its nearest members speak for each class.
    metric : str or callable, default="euclidean"
        Distance between samples. Metrics without an engine of their own, ``"gower"`` and ``"nan_euclidean"``
        need all samples at once.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched. Answers are the same.
    device : str, default="cpu"
        Where the workers compute distances.
    n_jobs : int, default=None
        Threads of the client, if it gathers the samples; tasks on the cluster use one each.
    gather_limit : float, default=2**32
        How many bytes of samples the client may gather if they are needed all at once.

    Returns
    -------
    Issues
        Arrays with one entry per sample, in the order of `X`.

    See Also
    --------
    pathforest.find_issues : The same for samples in memory, with methods that find more.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pathforest.dask import find_issues
    >>> X = da.from_array([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0], [11.0], [12.0], [13.0], [14.0]], 3)
    >>> y = ["low", "low", "high", "low", "low", "high", "high", "high", "high", "high"]
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     issues = find_issues(X, y, client=client, n_conquerors=3)
    >>> issues.suspects.tolist()
    [2]
    """
    if method not in ("auto", "fast"):
        raise ValueError(
            f"method={show(method)} needs models of all samples; on a cluster method must be 'auto' or "
            "'fast', or call pathforest.find_issues(X.compute(), y)"
        )
    if not is_dask_collection(X):
        raise TypeError(f"X is a {type(X).__name__}, not on a cluster; call pathforest.find_issues")
    how = {"n_conquerors": n_conquerors, "metric": metric, "metric_params": metric_params}
    how |= {"algorithm": algorithm, "device": device, "n_jobs": n_jobs}
    question = Question(method="fast", random_state=0, **how)
    settings, client = question._settings(), checked_client(client, "find_issues")
    with naming_a_lost_scheduler(client):
        wait_for_workers(client)
        if isinstance(X, Array):
            check_limit(question, X.nbytes, must_gather(question), gather_limit)
        y = gather(client, "y", y, inspect_labels)
        X = open_samples(client, question, X, must_gather(question), gather_limit)
        if not isinstance(X, ChunkedSamples):
            return pathforest.find_issues(X, y, method="fast", **how)
        try:
            data = FitData(question, X, settings, read_labels(question, y))
            check_consistent_length(X, data.labels.codes)
            offers, digests = ask_chunks(X, data.labels.codes, int(n_conquerors))
        finally:
            X.close()
    codes, group = data.labels.codes, np.full(len(X), NONE)
    group[may_have_copies(data.metric, offers.nearest.distances)] = number_groups(digests)
    opinion = compare_costs(offers.own, offers.rival_cost, offers.rival)
    return report(data, Way("fast", False), offers, opinion, flag(opinion, codes), group)


def ask_chunks(samples: ChunkedSamples, codes: np.ndarray, n_conquerors: int) -> tuple[Offers, np.ndarray]:
    """Return what classes offer, and a digest of each row that may have a copy, in their order."""
    n, n_classes = len(codes), int(codes.max()) + 1
    r = min(n_conquerors, n)
    blocks = ClassBlocks(samples, codes, n_classes, r)
    most = TASK_BYTES / (12 * n_classes * (r + 1))
    engine = ChunkedEngine(samples, True)
    pieces = engine.pieces(0, n, most)
    at_home, judged = (near_at_home, r), partial(judge, n_classes=n_classes, metric=samples.how[0])

    def submit(i: int) -> Future:
        found = go_round(blocks, engine.tour, pieces[i], at_home, near_abroad)
        own = codes[pieces[i].rows].astype(np.int32)
        return samples.client.submit(judged, found, own, min(r, n - 1), pure=False)

    found = run_all(samples.client, len(pieces), submit)
    *columns, digests = (np.concatenate(parts) for parts in zip(*found, strict=True))
    own, own_distances, own_indices, rival, cost, distances, indices, *nearest = columns
    lists = NearestOthers(own_distances, own_indices), NearestOthers(distances, indices)
    return Offers(own, lists[0], rival, cost, lists[1], KnnGraph(*nearest)), digests


class ClassBlocks:
    """Blocks of samples that know the class of each; made again if a worker takes one along."""

    def __init__(self, samples: ChunkedSamples, codes: np.ndarray, n_classes: int, r: int) -> None:
        self._samples, self._how = samples, (n_classes, r)
        self._codes = Sent(samples.client, [[codes[rows].astype(np.int32)] for rows in samples.rows])
        self._made: dict[int, Future] = {}

    def ask(self, position: int, function: Any, *args: Any) -> Future:
        """Submit a function of one of the blocks."""
        made = self._made.get(position)
        if made is None or made.status in GONE:
            made = self._samples.ask(position, ClassBlock.of, self._codes[position], *self._how)
            self._made[position] = made
        return self._samples.client.submit(function, made, *args, **self._samples.where(position))


# What runs on the workers


class ClassBlock(Block):
    """Consecutive samples, whose engine lists the members of each class."""

    @classmethod
    def of(cls, block: Block, codes: list[np.ndarray], n_classes: int, r: int) -> ClassBlock:
        """Add the classes of samples to a block of them."""
        made = cls(block.X, block.first, *block.how)
        (made.codes,), made.n_classes, made.r = codes, n_classes, r
        return made

    def _build(self, metric: Metric, algorithm: str, device: str) -> Contenders:
        samples = KeptSamples(self.X, metric, algorithm, 1, device, {})
        groups = ClassGroups(samples, self.codes, self.n_classes, self.X.dtype)
        # No list takes more than r + 1 equal rows.
        members = samples.without_spare_copies(np.arange(len(self)), self.r + 1, self.codes)
        return groups.contenders(members, self.codes, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassBlock.of, (Block(self.X, self.first, *self.how), [self.codes], self.n_classes, self.r)


class Near(NamedTuple):
    """The members of each class nearest to some samples in the blocks seen so far, without themselves."""

    distances: np.ndarray  # (m, n_classes, r) ascending, of equal ones by index; inf where there are fewer
    indices: np.ndarray  # (m, n_classes, r) int32, among all samples; -1 where there are fewer
    queries: np.ndarray  # (m, n_features)


def _members(block: ClassBlock, X: np.ndarray, r: int, reach: np.ndarray | None = None) -> tuple[Any, ...]:
    """List the members of each class, as rows."""
    distances, places = block.engine().offers(X, r, 1, reach)
    missing = (0, 0), (0, 0), (0, r - distances.shape[2])
    distances = np.pad(distances, missing, constant_values=np.inf)
    indices = np.pad(np.where(places < 0, NONE, places + block.first), missing, constant_values=NONE)
    return distances.reshape(-1, r), indices.reshape(-1, r).astype(np.int32)


def near_at_home(block: ClassBlock, rows: slice, r: int, is_last: bool) -> Near:
    """Find the members of each class in the block that samples are in."""
    X, numbers = block.X[rows.start - block.first : rows.stop - block.first], np.arange(rows.start, rows.stop)
    found = without_self(*_members(block, X, r + 1), np.repeat(numbers, block.n_classes))
    return Near(*(array.reshape(len(X), block.n_classes, r) for array in found), X)


def near_abroad(block: ClassBlock, near: Near, is_last: bool) -> Near:
    """Go on in another block, no farther than the lists reach."""
    distances, indices, X = near
    found = _members(block, X, distances.shape[2], distances[:, :, -1])
    merged = _core.merge_lists(*(array.reshape(len(found[0]), -1) for array in (distances, indices)), *found)
    return Near(*(array.reshape(distances.shape) for array in merged), X)


def judge(near: Near, own: np.ndarray, k: int, n_classes: int, metric: Metric) -> tuple[np.ndarray, ...]:
    """Return the columns of `Offers`, and digests of the rows that may have a copy."""
    (distances, indices, X), rows = near, np.arange(len(own))
    given = distances[rows, own], indices[rows, own]
    cost = mean_offers(distances, distances.shape[2])
    own_cost, is_other = cost[rows, own], np.arange(n_classes) != own[:, None]
    cost = np.where(is_other, cost, np.inf)
    # Of the cheapest others the one with the nearest member, then the one whose member comes first.
    order = np.lexsort((indices[:, :, 0], distances[:, :, 0], cost, ~is_other), axis=-1)
    rival = order[:, 0]
    has_rival = np.isfinite(cost[rows, rival])
    rival_cost, rival = cost[rows, rival], np.where(has_rival, rival, NONE)
    rivals = np.where(has_rival[:, None], distances[rows, rival], np.inf)
    others = np.where(has_rival[:, None], indices[rows, rival], np.int32(NONE))
    flat = distances.reshape(len(own), -1), indices.reshape(len(own), -1)
    by_distance = np.lexsort(flat[::-1], axis=-1)[:, :k]
    nearest = [np.take_along_axis(array, by_distance, axis=1) for array in flat]
    copied = bytes_of_rows(X[may_have_copies(metric, nearest[0])])
    digests = [blake2b(row, digest_size=DIGEST).digest() for row in copied.tolist()]
    digests = np.frombuffer(b"".join(digests), dtype=(np.void, DIGEST))
    return own_cost, *given, rival, rival_cost, rivals, others, *nearest, digests
