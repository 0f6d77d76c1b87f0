"""The four questions on a device: estimates discard, float64 sums in feature order decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathforest._core import distances_of_sums
from pathforest._engines.features import features_engine
from pathforest._engines.metric import Metric
from pathforest._engines.protocol import KnnGraph
from pathforest._engines.spanning_tree import spanning_tree_by_asking
from pathforest._engines.torch.candidates import Pairs, find_candidates, group_size, make_costs
from pathforest._engines.torch.devices import (
    find_device,
    free_bytes,
    in_blocks,
    pieces,
    require_torch,
    room_for,
)
from pathforest._engines.torch.estimates import Estimator

METRICS = ("euclidean", "sqeuclidean", "log_sqeuclidean")
CROWD = 8  # candidates per answer above which better estimates pay
SETTLED = 2**27  # values whose differences are added up at a time, at most
SETTLED_BYTES = 48  # that each of them takes: both rows, their difference, its square, and that transposed


class TorchEngine:
    """The :class:`Engine` on a device of PyTorch's; its answers are those of the engine in C++."""

    def __init__(self, X: np.ndarray, metric: Metric, name: str, device: str) -> None:
        if metric.name not in METRICS:
            raise ValueError(
                f"metric={metric.name!r} is not available with device={device!r}, only {', '.join(METRICS)}; "
                "use one of these, or device='cpu'"
            )
        self.name, self.dtype = name, X.dtype.name
        self.n_samples, self.n_features = X.shape
        self._X, self._metric = X, metric
        self._device = find_device(device)
        self._samples = self._load(X)
        self._estimators: dict[int, Estimator] = {}
        self._host, self._n_threads = None, 1

    def knn(self, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest other samples of each sample, by (distance, index)."""
        self._n_threads = n_threads
        return self._best(self._samples, k, own=np.arange(self.n_samples))

    def query(self, queries: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest training samples of each query, by (distance, index)."""
        return self._best(self._load(queries), k)

    def spanning_tree(
        self, distances: np.ndarray, indices: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Build the minimum spanning tree as (source, target, weight), ascending."""
        return tuple(spanning_tree_by_asking(KnnGraph(distances, indices), self._nearest_foreign))

    def compete(
        self,
        distances: np.ndarray,
        indices: np.ndarray,
        prototypes: np.ndarray,
        membership: np.ndarray,
        source_side: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Run the competition over the complete graph, on the host: it asks one sample at a time."""
        if self._host is None:
            self._host = features_engine(self._X, self._metric, self.name, self._n_threads, True)
        return self._host.compete(distances, indices, prototypes, membership, source_side)

    def conquer(
        self,
        queries: np.ndarray,
        cost: np.ndarray,
        order: np.ndarray,
        n_conquerors: int = 1,
        n_threads: int = 1,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the smallest offers max(cost, distance) to each query, and who makes them."""
        if not np.array_equal(order, np.arange(self.n_samples)):
            raise ValueError("the samples of this engine must be in the order in which equal offers win")
        k = min(n_conquerors, self.n_samples)
        return self._best(self._load(queries), k, cost=np.asarray(cost))

    def distances(self, queries: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Compute the distance of each query to each training sample."""
        Q, found = self._load(queries), np.empty((len(queries), self.n_samples))

        def block(rows: slice) -> None:
            sums = _sums(Q[rows][:, None, :], self._samples)
            found[rows] = self._finish(sums).cpu().numpy()

        in_blocks(self._device, len(Q), 32 * self.n_samples * self.n_features, block)
        return found

    def _nearest_foreign(
        self, samples: np.ndarray, component: np.ndarray, reach: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = self._load(samples).long()
        with room_for(f"a copy of the {len(samples):,} samples that are asked"):
            asked = self._samples[rows]
        distances, indices = self._best(asked, 1, own=samples, component=component, reach=reach)
        return distances[:, 0], indices[:, 0]

    def _best(
        self,
        Q: Any,
        k: int,
        *,
        own: np.ndarray | None = None,
        component: np.ndarray | None = None,
        reach: np.ndarray | None = None,
        cost: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best samples for each query, by offer and then index.

        `own` names the sample that each query is, which is not to be found; `component` those of all samples,
        of which the own one is not to be found either; `reach` how far to look; `cost` what samples cost,
        ascending.
        """
        values, indices = np.full((len(Q), k), np.inf), np.full((len(Q), k), -1, dtype=np.int32)
        if k == 0 or not len(Q):
            return values, indices
        group = group_size(self.n_samples, k)
        search = _Search(self, group, k, own, component, reach, cost)
        # Shortened values leave about twice as many groups in doubt.
        left = self._answer(search, Q, np.arange(len(Q)), 2 * k + 8, True, values, indices)
        n_chosen = k + max(4, k // 8)
        while len(left):
            left = self._answer(search, Q, left, n_chosen, False, values, indices)
            n_chosen *= 4
        return values, indices

    def _answer(
        self,
        search: _Search,
        Q: Any,
        left: np.ndarray,
        n_chosen: int,
        shortened: bool,
        values: np.ndarray,
        indices: np.ndarray,
    ) -> np.ndarray:
        """Answer for some queries; return those that need better estimates or more groups."""
        still: list[np.ndarray] = [left[:0]]

        def block(rows: slice) -> None:
            # If shortened values have decided too few so far, they are not tried any further.
            if shortened and sum(map(len, still)) > rows.start // 4:
                still.append(left[rows])
            else:
                still.append(search.run(Q, left[rows], n_chosen, shortened, values, indices))

        in_blocks(self._device, len(left), search.row_bytes(n_chosen), block)
        return np.concatenate(still)

    def _load(self, array: np.ndarray) -> Any:
        # Torch warns of arrays that are not writable, although nothing writes to them.
        array = np.require(array, requirements=["C", "W"])
        with room_for(f"an array of {array.nbytes:,} bytes"):
            return require_torch().as_tensor(array, device=self._device)

    def _estimator(self, group: int) -> Estimator:
        estimator = self._estimators.get(group)
        if estimator is None:
            with room_for(f"a copy of the samples in float32, {4 * self._X.size:,} bytes"):
                estimator = Estimator(self._samples, group)
            self._estimators = {group: estimator}  # one at a time; threads keep theirs while they need it
        return estimator

    def _finish(self, sums: Any) -> Any:
        """Turn sums of squares into distances, rounded as the other engines round them.

        CUDA's root of a float64 is correctly rounded. Torch's own on the CPU is not, and logarithms differ
        everywhere, so those are the host's.
        """
        torch = require_torch()
        if self._metric.name == "sqeuclidean":
            return sums
        if self._metric.name == "euclidean" and sums.is_cuda:
            return sums.sqrt()
        flat = distances_of_sums(self._metric.name, sums.cpu().numpy().ravel())
        return torch.as_tensor(flat, device=sums.device).view(sums.shape)

    def _squares(self, distances: np.ndarray) -> np.ndarray:
        """Return sums of squares that are about those of distances."""
        if self._metric.name == "euclidean":
            return distances**2
        if self._metric.name == "sqeuclidean":
            return distances
        return np.expm1(distances / 1e5)


class _Search:
    """What all blocks of one question share."""

    def __init__(
        self,
        engine: TorchEngine,
        group: int,
        k: int,
        own: np.ndarray | None,
        component: np.ndarray | None,
        reach: np.ndarray | None,
        cost: np.ndarray | None,
    ) -> None:
        self._engine, self._group, self._k = engine, group, k
        self._estimator = engine._estimator(group)
        self._own = None if own is None else self._tensor(own)
        self._component = None if component is None else self._tensor(component)
        self._limit = None if reach is None else self._tensor(self._scaled(reach)).float() * (1 + 2.0**-20)
        self._cost, self._costs = None, None
        if cost is not None:
            self._cost = self._tensor(cost)
            self._costs = make_costs(self._tensor(self._scaled(cost)), group, self._estimator.n_padded)
        self._torch = require_torch()

    def row_bytes(self, n_chosen: int) -> int:
        """Return how much memory the work on one query takes."""
        n_groups = self._estimator.n_padded // self._group
        inside = min(n_chosen, n_groups) * self._group
        return 4 * self._estimator.n_padded + 32 * n_groups + 40 * inside

    def run(
        self,
        Q: Any,
        rows: np.ndarray,
        n_chosen: int,
        shortened: bool,
        values: np.ndarray,
        indices: np.ndarray,
    ) -> np.ndarray:
        """Answer for some queries; return those that need better estimates or more groups."""
        block = self._tensor(rows)
        queries = Q[block]
        estimates = self._estimator.estimate(queries, shortened)
        self._exclude_own(estimates.brackets, block)
        limit = None if self._limit is None else self._limit[block]
        most = CROWD * self._k if shortened else None
        pairs, is_open = find_candidates(estimates, self._k, n_chosen, self._group, self._costs, limit, most)
        del estimates
        best = self._settle(queries, self._allowed(pairs, block))
        is_open = is_open.cpu().numpy()
        done = slice(rows[0], rows[-1] + 1) if _is_range(rows) and not is_open.any() else rows[~is_open]
        values[done], indices[done] = (array.cpu().numpy()[~is_open] for array in best)
        return rows[is_open]

    def _exclude_own(self, brackets: Any, block: Any) -> None:
        """Put out of reach what a query must not find: itself, or its component."""
        if self._own is None:
            return
        own = self._own[block].long()
        if self._component is None:
            brackets[self._torch.arange(len(own), device=own.device), own] = self._torch.inf
        else:
            same = self._component[own][:, None] == self._component
            brackets[:, : len(self._component)].masked_fill_(same, self._torch.inf)

    def _allowed(self, pairs: Pairs, block: Any) -> Pairs:
        """Leave out what was infinitely far, and found because nothing nearer was."""
        allowed = pairs.sample < self._engine.n_samples
        pairs = Pairs(pairs.query[allowed], pairs.sample[allowed])
        if self._own is None:
            return pairs
        own = self._own[block].long()[pairs.query]
        if self._component is None:
            allowed = pairs.sample != own
        else:
            allowed = self._component[pairs.sample] != self._component[own]
        return Pairs(pairs.query[allowed], pairs.sample[allowed])

    def _settle(self, queries: Any, pairs: Pairs) -> tuple[Any, Any]:
        """Compare pairs exactly; return the k best offers to each query and their samples, or inf and -1."""
        torch = self._torch
        offers = torch.empty(len(pairs.query), dtype=torch.float64, device=pairs.query.device)
        n_values = min(SETTLED, free_bytes(self._engine._device) // SETTLED_BYTES)
        step = max(1, n_values // queries.shape[1])
        for part in pieces(len(offers), step):
            query, sample = pairs.query[part], pairs.sample[part]
            sums = _sums(queries[query], self._engine._samples[sample])
            distances = self._engine._finish(sums)
            offers[part] = distances if self._cost is None else torch.maximum(distances, self._cost[sample])
        # Pairs come in the order in which equal offers win; two stable sorts keep it.
        order = offers.argsort(stable=True)
        order = order[pairs.query[order].argsort(stable=True)]
        counts = torch.bincount(pairs.query, minlength=len(queries))
        first = counts.cumsum(0) - counts
        query = pairs.query[order]
        rank = torch.arange(len(order), device=order.device) - first[query]
        is_best = rank < self._k
        order, query, rank = order[is_best], query[is_best], rank[is_best]
        shape = (len(queries), self._k)
        best = torch.full(shape, torch.inf, dtype=torch.float64, device=order.device)
        samples = torch.full(shape, -1, dtype=torch.int32, device=order.device)
        best[query, rank] = offers[order]
        samples[query, rank] = pairs.sample[order].int()
        return best, samples

    def _scaled(self, distances: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return self._engine._squares(distances) * self._estimator.scale**2

    def _tensor(self, array: np.ndarray) -> Any:
        return self._engine._load(array)


def _sums(first: Any, second: Any) -> Any:
    """Add squared differences of rows in feature order, each product and each sum rounded on its own."""
    difference = first.double() - second.double()
    squares = (difference * difference).movedim(-1, 0).contiguous()
    total = squares[0].clone()
    for square in squares[1:]:
        total += square
    return total


def _is_range(rows: np.ndarray) -> bool:
    return rows[-1] - rows[0] == len(rows) - 1  # they ascend
