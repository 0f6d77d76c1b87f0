"""The questions of an engine on a device: estimates discard, float64 sums in feature order decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from pathforest._core import distances_of_sums
from pathforest._engines.engine import KnnGraph, Lists, PythonEngine, Samples, TreeArrays
from pathforest._engines.metric import Metric
from pathforest._engines.torch.candidates import (
    CONVERTED,
    Cells,
    Directions,
    Estimator,
    Pairs,
    Scaling,
    find_candidates,
    find_cells,
    group_size,
    make_costs,
)
from pathforest._engines.torch.devices import can_use, current, free_bytes, in_blocks, pieces, room_for
from pathforest._engines.torch.tree import Arcs, between, build_tree, joined, lightest

if TYPE_CHECKING:
    from pathforest._engines.torch.tiles import Tiles  # which needs Triton

FEW = 2**12  # queries below which groups are quick enough to spare the wait for a kernel
WORTH_CELLS = 1 / 8  # of the queries left open, or as many as that of the samples, to look in clusters
PROBE = 2**13  # queries of the first block, where a way of answering may leave many open
CROWD = 8  # candidates per answer above which better estimates pay
SETTLED = 2**27  # values whose differences are added up at a time, at most
SETTLED_BYTES = 48  # that each of them takes: both rows, their difference, its square, and that transposed


class TorchEngine(PythonEngine):
    """The :class:`Engine` on a device of PyTorch's; its answers are those of the engine in C++.

    The competition over the complete graph asks one sample at a time, and runs on the host.
    """

    def __init__(
        self, X: np.ndarray, metric: Metric, name: str, device: Any, n_threads: int = 1, samples: Any = None
    ) -> None:
        super().__init__(X, metric, name, n_threads)
        self._device = device
        self._samples = self._load(X) if samples is None else samples
        self._lengths = self._squared_lengths(self._samples)
        self._tiles_made: dict[bool, Tiles] = {}  # of whole and of split values
        self._latest: tuple[int, Estimator] | None = None  # size of groups, and the estimates for it

    def knn(self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None) -> Lists:
        own = np.arange(self.n_samples)[start:stop]
        return self._best(self._samples[start:stop], k, own=own)

    def query(
        self, queries: np.ndarray, k: int, n_threads: int = 1, reach: np.ndarray | None = None
    ) -> Lists:
        return self._best(self._load(queries), k, reach=reach)

    def spanning_tree(self, graph: KnnGraph | None = None, n_threads: int = 1) -> TreeArrays:
        lists = self._tree_lists(graph, n_threads)

        def nearest_foreign(samples: Any, component: Any, reach: Any) -> tuple[Any, Any]:
            with room_for(f"a copy of the {len(samples):,} samples that are asked"):
                asked = self._samples[samples]
            found = self._foreign(asked, component[samples].int(), component.int(), reach.cpu().numpy())
            return self._load(found[0][:, 0]), self._load(found[1][:, 0]).long()

        with room_for(f"neighbour lists of {lists.indices.shape[1]}"):
            loaded = self._load(lists.distances), self._load(lists.indices)
            tree = build_tree(*loaded, nearest_foreign, self._join)
        source, target, weight = (array.cpu().numpy() for array in tree)
        return source.astype(np.int32), target.astype(np.int32), weight

    def joining_arcs(
        self,
        component: np.ndarray,
        n_threads: int = 1,
        reach: np.ndarray | None = None,
        queries: Samples | None = None,
        own: np.ndarray | None = None,
    ) -> TreeArrays:
        if reach is not None or queries is not None:
            return super().joining_arcs(component, n_threads, reach, queries, own)
        weight, ends = self._join(self._load(component))
        source, target = ends // self.n_samples, ends % self.n_samples
        return source.int().cpu().numpy(), target.int().cpu().numpy(), weight.cpu().numpy()

    def nearest_foreign(
        self, queries: Samples, own: np.ndarray, component: np.ndarray, reach: np.ndarray, n_threads: int = 1
    ) -> Lists:
        return self._foreign(self._load(queries), self._load(own), self._load(component), reach)

    def nearest_outsiders(self, samples: np.ndarray, component: np.ndarray, n_threads: int = 1) -> Lists:
        asked = self._load(np.ascontiguousarray(self._X[samples]))
        return self._foreign(asked, self._load(component[samples]), self._load(component))

    def conquer(
        self, queries: Samples, cost: np.ndarray, order: np.ndarray, n_conquerors: int = 1, n_threads: int = 1
    ) -> Lists:
        """Find the smallest offers max(cost, distance) to each query, and who makes them.

        It is fastest if `order` is that of the samples; for any other they are copied in that order.
        """
        if np.array_equal(order, np.arange(self.n_samples)):
            k = min(n_conquerors, self.n_samples)
            return self._best(self._load(queries), k, cost=np.asarray(cost))
        ordered = self._part(self._load(order).long())
        places = np.arange(self.n_samples, dtype=np.int32)
        offers, indices = ordered.conquer(queries, cost[order], places, n_conquerors, n_threads)
        return offers, np.asarray(order, dtype=np.int32)[indices]

    def distances(self, queries: np.ndarray, n_threads: int = 1) -> np.ndarray:
        Q, found = self._load(queries), np.empty((len(queries), self.n_samples))
        lengths = self._squared_lengths(Q)

        def block(rows: slice) -> None:
            sums = _sums(Q[rows][:, None, :], self._samples, lengths is not None)
            squares = lengths is not None and (lengths[rows][:, None], self._lengths)
            found[rows] = self._finish(sums, squares or ()).cpu().numpy()

        in_blocks(self._device, len(Q), 32 * self.n_samples * self.n_features, block)
        return found

    def _part(self, rows: Any) -> TorchEngine:
        """Return an engine over some of the samples."""
        shape = np.broadcast_to(self._X[:1], (len(rows), self.n_features))  # the samples are on the device
        with room_for(f"a copy of {len(rows):,} samples"):
            samples = self._samples[rows]
        return TorchEngine(shape, self._metric, self.name, self._device, self._n_threads, samples)

    def _join(self, component: Any) -> Arcs:
        """Find the arcs that join components: the tree of the lightest between each two.

        The samples of all smaller components are asked for the nearest in a component, no farther than some
        of them have found it.
        """
        component, counts = component.unique(return_inverse=True, return_counts=True)[1:]
        place = counts.argsort(descending=True, stable=True).argsort()[component]  # the largest is the first
        found: list[tuple[float, int, int, int]] = []
        for one in range(len(counts) - 1):
            members, asking = (place == one).nonzero()[:, 0], (place > one).nonzero()[:, 0]
            part, reach = self._part(members), torch.full_like(counts, torch.inf, dtype=torch.float64)
            for some in (asking[:: 1 + len(asking) // PROBE], asking):
                asked = part._best(self._samples[some], 1, reach=reach[place[some]].cpu().numpy())
                weight, nearest = (self._load(array[:, 0]) for array in asked)
                is_known = nearest >= 0
                arcs = between(self.n_samples, some, members[nearest.clamp(min=0).long()], weight)
                best = lightest(arcs, place[some], is_known, len(counts))
                reach = best.weight
            weights, ends = best.weight.tolist(), best.ends.tolist()
            found += [(weights[other], ends[other], one, other) for other in range(one + 1, len(counts))]
        return joined(found, self._device)

    def _foreign(self, Q: Any, own: Any, component: Any, reach: np.ndarray | None = None) -> Lists:
        return self._best(Q, 1, component=(own, component), reach=reach)

    def _best(self, Q: Any, k: int, **condition: Any) -> Lists:
        return _Search(self, Q, k, **condition).answers()

    def _load(self, array: np.ndarray) -> Any:
        # Torch warns of arrays that are not writable, although nothing writes to them.
        array = np.require(array, requirements=["C", "W"])
        with room_for(f"an array of {array.nbytes:,} bytes"):
            return torch.as_tensor(array, device=self._device)

    def _squared_lengths(self, rows: Any) -> Any:
        """Return the squares of the lengths of rows, which distances of "cosine" are made of; else None."""
        if self._metric.name != "cosine":
            return None
        parts = pieces(len(rows), max(1, CONVERTED // rows.shape[1]))
        return torch.cat([_sums(rows[part], rows[part], True) for part in parts] or [rows[:0, 0].double()])

    # What is made of the samples at first use.

    @cached_property
    def _directions(self) -> Directions:
        with room_for(f"a copy of the samples in float64, {8 * self._X.size:,} bytes"):
            return Directions(self._samples, self._lengths)

    @cached_property
    def _seen(self) -> Any:
        """The samples as estimates see them: their squared distances ascend with those of the metric."""
        return self._samples if self._lengths is None else self._directions.samples

    @property
    def _noise(self) -> float:
        return 0.0 if self._lengths is None else self._directions.noise

    @cached_property
    def _scaling(self) -> Scaling:
        return Scaling(self._seen, self._noise)

    def _has_kernels(self, k: int, n: int) -> bool:
        """Say whether there are kernels that find k of n samples, and samples enough for them."""
        if not can_use(self._device):
            return False
        from pathforest._engines.torch.tiles import is_worth_it

        return is_worth_it(n, self.n_features, k)

    @cached_property
    def _cells(self) -> Cells | None:
        return find_cells(self._seen, self._scaling)

    def _tiles(self, split: bool, centre: Any = None, members: Any = None) -> Tiles:
        from pathforest._engines.torch.tiles import Tiles

        if centre is None and split in self._tiles_made:
            return self._tiles_made[split]
        with room_for(f"a copy of the samples in half precision, {2 * self._X.size:,} bytes"):
            seen = self._seen if members is None else self._seen[members]
            scaling = self._scaling if centre is None else Scaling(seen, self._noise, centre)
            tiles = Tiles(self._seen, scaling, split, members)
        tiles.compile_kernels(self._samples, self._lengths is not None)
        if centre is None:
            self._tiles_made[split] = tiles
        return tiles

    def _estimator(self, group: int) -> Estimator:
        latest = self._latest
        if latest is None or latest[0] != group:
            with room_for(f"a copy of the samples in float32, {4 * self._X.size:,} bytes"):
                latest = group, Estimator(self._seen, self._scaling, group)
            self._latest = latest  # threads keep theirs while they need it
        return latest[1]

    def _measure(self, Q: Any, lengths: Any, query: Any, sample: Any, has_kernels: bool) -> Any:
        """Compute the distances of pairs of queries and samples."""
        squares = () if lengths is None else (lengths[query], self._lengths[sample])
        if has_kernels:
            from pathforest._engines.torch.tiles import pair_sums

            return self._finish(pair_sums(Q, self._samples, query, sample, bool(squares)), squares)
        return self._finish(_sums(Q[query], self._samples[sample], bool(squares)), squares)

    def _finish(self, sums: Any, squares: tuple[Any, ...] = ()) -> Any:
        """Turn sums into distances, rounded as the other engines round them.

        `squares` are those of the lengths of both rows, if sums are of products. Logarithms differ
        everywhere, so they are the host's.
        """
        name = self._metric.name
        if name == "sqeuclidean":
            return sums
        if name == "euclidean":
            return _root(sums)
        if name == "cosine":
            first, second = squares
            product = first * second
            in_range = (product > 1e-290) & (product < 1e290)
            distances = 1 - sums / torch.where(in_range, _root(product), _root(first) * _root(second))
            without = ((first != 0) | (second != 0)).double()  # where one of them has no direction
            return torch.where((first == 0) | (second == 0), without, distances.clamp(min=0))
        flat = distances_of_sums(name, sums.cpu().numpy().ravel())
        return torch.as_tensor(flat, device=sums.device).view(sums.shape)

    def _squares(self, distances: np.ndarray) -> np.ndarray:
        """Return the squared distances between samples as estimates see them, but for rounding."""
        if self._metric.name in ("sqeuclidean", "cosine"):
            return distances * (1 + (self._metric.name == "cosine"))
        with np.errstate(over="ignore"):
            return distances**2 if self._metric.name == "euclidean" else np.expm1(distances / 1e5)


class _Way(NamedTuple):
    """A way to find candidates."""

    find: Callable[[Any, Any], tuple[Pairs, Any]]  # takes rows of queries and their numbers
    row_bytes: int  # memory that the work on one query takes
    may_fail: bool  # whether it may leave many queries unanswered
    takes: Any = None  # whether it is for a query; None: it is for all
    gap: Any = None  # square, in units of the scale, of how far it has surely looked; None: everywhere


class _Search:
    """One question: the k best samples for each query, by offer and then index.

    `own` names the sample that each query is, which is not to be found; `component` has those of queries and
    of samples, of which the own one is not to be found; `reach` how far to look; `cost` what samples cost,
    ascending.
    """

    def __init__(
        self,
        engine: TorchEngine,
        Q: Any,
        k: int,
        own: np.ndarray | None = None,
        component: tuple[Any, Any] | None = None,
        reach: np.ndarray | None = None,
        cost: np.ndarray | None = None,
    ) -> None:
        self._engine, self._Q, self._k, self._component, self._reach = engine, Q, k, component, reach
        squares = (array if array is None else engine._squares(array) for array in (reach, cost))
        self._own, self._cost, self._squared_reach, self._squared_cost = (
            array if array is None else engine._load(array) for array in (own, cost, *squares)
        )
        self._lengths = engine._squared_lengths(Q)
        self._n_wanted = k + (own is not None)  # each finds itself
        self._has_kernels_for = partial(engine._has_kernels, self._n_wanted)  # so many samples
        self._has_kernels = len(Q) >= FEW and self._has_kernels_for(engine.n_samples)
        self._values, self._indices = np.full((len(Q), k), np.inf), np.full((len(Q), k), -1, dtype=np.int32)

    def answers(self) -> Lists:
        """Find the answers to all queries; infinity and -1 stand for samples out of reach."""
        ways, left = self._ways(), np.arange(len(self._Q))
        while self._k and len(left):
            self._share_open = len(left) / len(self._Q)
            way = next(ways)
            takes = np.full(len(left), True) if way.takes is None else way.takes[left]
            left = np.sort(np.append(left[~takes], self._try(way, left[takes])), kind="stable")
        return self._values, self._indices

    def _ways(self) -> Iterator[_Way]:
        """Yield ways to find the k best, from the fastest to those that always end."""
        k = self._k
        if self._has_kernels:
            cells = self._engine._cells
            # Before all samples, unless there are few queries or samples for the work on each cell.
            in_cells = cells is not None and self._component is None
            in_cells = in_cells and len(self._Q) > WORTH_CELLS * self._engine.n_samples
            in_cells = in_cells and self._has_kernels_for(int(torch.bincount(cells.cell).max()))
            if not in_cells:
                yield self._by_tiles(False)
            if cells is not None and self._share_open > WORTH_CELLS:
                yield from self._by_cells(cells, in_cells)
            if in_cells:
                yield self._by_tiles(False)
            yield self._by_tiles(True)
        # Shortened values leave about twice as many groups in doubt.
        yield self._by_groups(2 * k + 8, True)
        n_chosen = k + max(4, k // 8)
        while True:
            yield self._by_groups(n_chosen, False)
            n_chosen *= 4

    def _by_cells(self, cells: Cells, in_cells: bool) -> Iterator[_Way]:
        """Look from the centre of the query's cell, at samples in cells near it or at all."""
        parts = pieces(len(self._Q), max(1, CONVERTED // self._Q.shape[1]))
        seen = (self._see(*self._taken(part)) for part in parts)
        own, gap = (array.cpu().numpy() for array in cells.of(seen))
        for number, centre in enumerate(cells.centres):
            way = self._by_tiles(False, centre)
            if in_cells:
                members = cells.near[number][cells.cell.long()].nonzero()[:, 0].int()
                if self._has_kernels_for(len(members)) and len(members) < self._engine.n_samples:
                    way = self._by_tiles(False, centre, members)._replace(gap=gap)
            yield way._replace(takes=own == number)

    def _by_tiles(self, split: bool, *part: Any) -> _Way:
        """Look at products where they are computed, which needs a kernel."""
        from pathforest._engines.torch.tiles import row_bytes

        n_wanted, made = self._n_wanted, cache(self._engine._tiles)

        def find(queries: Any, block: Any) -> tuple[Pairs, Any]:
            tiles = made(split, *part)
            cost = None if self._cost is None else self._squared_cost * tiles.scale**2
            limit = None if self._reach is None else self._squared_reach[block] * tiles.scale**2
            component = self._component and (self._component[0][block], self._component[1])
            return tiles.find(queries, n_wanted, limit, component, cost)

        return _Way(find, row_bytes(self._engine.n_features, n_wanted), True)

    def _by_groups(self, n_chosen: int, shortened: bool) -> _Way:
        """Write products to memory, and look into the groups of columns that may count."""
        group = group_size(self._engine.n_samples, self._k)
        estimator = self._engine._estimator(group)
        scale = estimator.scale**2
        limits = None if self._reach is None else (self._squared_reach * scale).float() * (1 + 2.0**-20)
        costs = None
        if self._cost is not None:
            costs = make_costs(self._squared_cost * scale, group, estimator.n_padded)

        def find(queries: Any, block: Any) -> tuple[Pairs, Any]:
            estimates = estimator.estimate(queries, shortened)
            self._exclude_own(estimates.brackets, block)
            limit = None if limits is None else limits[block]
            most = CROWD * self._k if shortened else None
            return find_candidates(estimates, self._k, n_chosen, group, costs, limit, most)

        n_groups = estimator.n_padded // group
        inside = min(n_chosen, n_groups) * group
        return _Way(find, 4 * estimator.n_padded + 32 * n_groups + 40 * inside, shortened)

    def _try(self, way: _Way, left: np.ndarray) -> np.ndarray:
        """Answer some queries; return those that must be answered in another way."""
        still: list[np.ndarray] = [left[:0]]

        def block(rows: slice) -> None:
            # A way that has decided too few so far is not tried any further.
            if way.may_fail and sum(map(len, still)) > rows.start // 4:
                still.append(left[rows])
            else:
                with current(self._engine._device):
                    still.append(self._run(way, left[rows]))

        in_blocks(self._engine._device, len(left), way.row_bytes, block, PROBE if way.may_fail else None)
        return np.concatenate(still)

    def _run(self, way: _Way, rows: np.ndarray) -> np.ndarray:
        block = self._engine._load(rows)
        queries, lengths = (self._Q, self._lengths) if len(rows) == len(self._Q) else self._taken(block)
        pairs, is_open = way.find(self._see(queries, lengths), block)
        best = self._settle(queries, lengths, self._allowed(pairs, block))
        if self._reach is not None:  # estimates let some through
            beyond = best[0] > self._engine._load(self._reach[rows])[:, None]
            best[0].masked_fill_(beyond, torch.inf), best[1].masked_fill_(beyond, -1)
        is_open = is_open.cpu().numpy()
        if way.gap is not None:  # samples not looked at may be as near as the last of the answers
            last, scaling = best[0][:, -1].cpu().numpy(), self._engine._scaling
            last = last if self._reach is None else np.minimum(last, self._reach[rows])
            squares = self._engine._squares(last) * scaling.scale**2 * (1 + 1e-6)
            is_open |= ~(squares + 4 * scaling.noise < way.gap[rows])
        is_whole = rows[-1] - rows[0] == len(rows) - 1 and not is_open.any()  # rows ascend
        for found, target in zip(best, (self._values, self._indices), strict=True):
            if is_whole:
                torch.from_numpy(target[rows[0] : rows[-1] + 1]).copy_(found)
            else:
                target[rows[~is_open]] = found.cpu().numpy()[~is_open]
        return rows[is_open]

    def _taken(self, rows: Any) -> tuple[Any, Any]:
        return self._Q[rows], None if self._lengths is None else self._lengths[rows]

    def _see(self, queries: Any, lengths: Any) -> Any:
        """Return queries as estimates see them."""
        return queries if lengths is None else self._engine._directions(queries, lengths)

    def _exclude_own(self, brackets: Any, block: Any) -> None:
        """Put out of reach what a query must not find: itself, or its component."""
        if self._own is not None:
            own = self._own[block].long()
            brackets[torch.arange(len(own), device=own.device), own] = torch.inf
        if self._component is not None:
            of_query, of_sample = self._component
            same = of_query[block][:, None] == of_sample
            brackets[:, : len(of_sample)].masked_fill_(same, torch.inf)

    def _allowed(self, pairs: Pairs, block: Any) -> Pairs:
        """Leave out what was infinitely far, and found because nothing nearer was."""
        query, sample = (array[pairs.sample < self._engine.n_samples] for array in pairs)
        if self._own is not None:
            allowed = sample != self._own[block].long()[query]
        elif self._component is not None:
            of_query, of_sample = self._component
            allowed = of_sample[sample] != of_query[block][query]
        else:
            return Pairs(query, sample)
        return Pairs(query[allowed], sample[allowed])

    def _settle(self, queries: Any, lengths: Any, pairs: Pairs) -> tuple[Any, Any]:
        """Compare pairs exactly; return the k best offers to each query and their samples, or inf and -1."""
        offers = torch.empty(len(pairs.query), dtype=torch.float64, device=pairs.query.device)
        n_values = min(SETTLED, free_bytes(self._engine._device) // SETTLED_BYTES)
        step = 2 * max(1, n_values // (2 * queries.shape[1]))  # odd ones would need a kernel of their own
        for part in pieces(len(offers), step):
            query, sample = pairs.query[part], pairs.sample[part]
            distances = self._engine._measure(queries, lengths, query, sample, self._has_kernels)
            offers[part] = distances if self._cost is None else torch.maximum(distances, self._cost[sample])
        # Pairs come in the order in which equal offers win; two stable sorts keep it.
        order = offers.argsort(stable=True)
        order = order[pairs.query[order].argsort(stable=True)]
        counts, query = torch.bincount(pairs.query, minlength=len(queries)), pairs.query[order]
        rank = torch.arange(len(order), device=order.device) - (counts.cumsum(0) - counts)[query]
        is_best = rank < self._k
        order, query, rank = order[is_best], query[is_best], rank[is_best]
        shape = (len(queries), self._k)
        best = torch.full(shape, torch.inf, dtype=torch.float64, device=order.device)
        samples = torch.full(shape, -1, dtype=torch.int32, device=order.device)
        best[query, rank] = offers[order]
        samples[query, rank] = pairs.sample[order].int()
        return best, samples


def _sums(first: Any, second: Any, are_products: bool) -> Any:
    """Add squared differences or products of rows in feature order, each term and each sum rounded alone."""
    first, second = first.double(), second.double()
    if not are_products:
        first = second = first - second
    terms = (first * second).movedim(-1, 0).contiguous()
    total = terms[0].clone()
    for term in terms[1:]:
        total += term
    return total


def _root(values: Any) -> Any:
    """Return roots, correctly rounded as CUDA's are; torch's own on the CPU are not."""
    return values.sqrt() if values.is_cuda else torch.from_numpy(np.sqrt(values.numpy()))
