"""Which samples can be among the k best of a query: found while products are in registers, none missed.

Samples y and queries q are centred and scaled by a power of two, so that no sample is farther than 256 from
the centre, and rounded to half precision: each value is off by 2^-11 of itself, or by 2^-25 if it is tiny.
Products of two such values are exact, and sums of D products are off by less than 4 (D + 24) 2^-24 of the sum
of their magnitudes, however tensor cores order and cut them. Since 2 |q| |y| <= |q|^2 + |y|^2, a squared
distance that is computed as |q|^2 + |y|^2 - 2 q.y is off by less than

    e (|q|^2 + |y|^2) + b  with  b = 2^-24 sqrt(d)  and  e = 2^-10 + 4 (D + 24) 2^-24 + b.

Five percent more are for comparisons, and for what float64 rounds. If values are split into two halves, and
three products of these are added, 3 * 2^-22 replaces 2^-10, and D = 3 d.

The value of a sample for a query is v = q.y - (1 - e) |y|^2 / 2. So its squared distance is at least
low = (1 - e) |q|^2 - b - 2 v, and at most low + 2 e (|q|^2 + |y|^2) + 2 b. As |y| is at most |q| plus the
distance, that is at most (low + 6 e |q|^2 + 2 b) / (1 - 4 e). The k-th best value so far thus limits the
squared distances that count, and the limit says which values are wanted. Columns are in random order: a first
look at a few of them sets limits, and after each further look several times as many have been seen.

Where exact answers are off from squared distances by some noise, b has that too.

A sample's offer is the larger of its cost and its distance; for plain neighbours costs are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from pathforest._engines.torch import kernels
from pathforest._engines.torch.candidates import CONVERTED, ROOM, Pairs, Scaling
from pathforest._engines.torch.devices import current, pieces
from pathforest._utils.checks import map_threads

FIRST = 2**13  # columns of the first look, or more for large k
GROWTH = 4  # how many times as many columns have been seen after the next look
REACH = 2.0**8  # of the farthest sample
FAR = 2.0**14  # from the centre, queries are not answered: half precision ends at 2^16
HUGE = 2.0**100  # above all squares that are computed
SLACK = 1 + 2.0**-20  # for numbers that are rounded to float32
MAX_FEATURES = 2**14  # so that e stays small
PROGRAMS = 2**11  # keep all multiprocessors busy


class Groups(NamedTuple):
    """The best groups of samples for each query, the best first."""

    value: Any  # (m, width) that of the best sample, -inf where there is no group
    number: Any  # (m, width)


class Limits(NamedTuple):
    """What is known about the samples that count for each query."""

    square: Any  # (m,) no squared distance or cost above this counts
    value: Any  # (m,) nor a value below this
    is_open: Any  # (m,) whether groups have been lost, or nothing is known


def pair_sums(queries: Any, samples: Any, query: Any, sample: Any, are_products: bool) -> Any:
    """Add up products of pairs of rows, or their squared differences, in feature order."""
    sums = torch.empty(len(query), dtype=torch.float64, device=query.device)
    kernels.sum_kernel[(-(-len(query) // kernels.PAIRS),)](
        queries,
        samples,
        query,
        sample,
        sums,
        len(query),
        queries.shape[1],
        are_products,
        kernels.PAIRS,
        enable_fp_fusion=False,
    )
    return sums


def is_worth_it(n: int, d: int, k: int) -> bool:
    """Say whether there are enough samples to look at some of them first."""
    return n >= GROWTH * _first_look(k) and d <= MAX_FEATURES


def row_bytes(d: int, k: int) -> int:
    """Return how much memory the work on one query of d features takes."""
    width, kept = _first_look(k) // kernels.GROUP, _kept(k)
    return 16 * width + 60 * kept + 12 * kept * kernels.GROUP + 24 * d


class Tiles:
    """Samples, or `members` of them, in half precision and random order; `split` makes halves of values."""

    def __init__(self, X: Any, scaling: Scaling, split: bool, members: Any = None) -> None:
        self._X, self._scaling, self._split = X, scaling, split
        self.scale = scaling.scale * REACH
        n, d = len(X if members is None else members), X.shape[1]
        depth = 3 * d if split else d
        self._at_once = kernels.at_once(depth)
        self._depth = -(-depth // self._at_once) * self._at_once
        absolute = 1.05 * 2.0**-24 * d**0.5
        rounding = 3 * 2.0**-22 if split else 2.0**-10
        self._rate = 1.05 * (rounding + 4 * (self._depth + 24) * 2.0**-24) + absolute
        self._absolute = absolute + scaling.noise * REACH**2
        # Padding fills the last tile up; its columns are infinitely far.
        self._n_tiles = -(-n // kernels.COLUMNS)
        n_padded = self._n_tiles * kernels.COLUMNS
        seeded = torch.Generator(X.device).manual_seed(0)
        self._order = torch.full((n_padded,), -1, dtype=torch.int32, device=X.device)
        order = torch.randperm(n, generator=seeded, device=X.device)
        self._order[:n] = order if members is None else members[order]
        self._values = torch.zeros((n_padded, self._depth), dtype=torch.half, device=X.device)
        self._half_norms = torch.full((n_padded,), torch.inf, device=X.device)
        for rows in pieces(n, max(1, CONVERTED // d)):
            part = self._centred(X[self._order[rows].long()])
            self._fill(self._values[rows], part, is_query=False)
            self._half_norms[rows] = (part.square().sum(1) * (0.5 * (1 - self._rate))).float()

    def find(
        self, Q: Any, k: int, limit: Any, component: tuple[Any, Any] | None, cost: Any
    ) -> tuple[Pairs, Any]:
        """Return the pairs that may be among the k best, and which queries must be asked in another way.

        Conditions are None if they do not matter: `limit` has the squared distances, in units of the tiles,
        beyond which a query wants no sample; `component` those of queries and of samples, of which the own is
        not wanted; `cost` the squares of what samples cost, in units of the tiles.
        """
        groups, limits = self._look(k, _Scan(self, Q, limit, component, cost))
        is_wanted = (groups.value >= limits.value[:, None]) & ~limits.is_open[:, None]
        query, place = is_wanted.nonzero(as_tuple=True)
        pairs = self._open_groups(Q, query, groups.number[query, place], limits.square, cost)
        return pairs, limits.is_open

    def compile_kernels(self, samples: Any, are_products: bool) -> None:
        """Run the kernels of plain neighbours on nothing, which compiles them at the same time."""
        none, some = torch.empty(0, dtype=torch.long, device=samples.device), self._X[:1]

        def run(kernel: Callable[[], Any]) -> None:
            with current(samples.device):
                kernel()

        works = (
            lambda: _Scan(self, some, None, None, None).all_groups(0),
            lambda: self._open_groups(some, none, none.int(), none.double(), None),
            lambda: pair_sums(samples[:1], samples, none, none, are_products),
        )
        # Kernels that Triton interprets take turns.
        list(map_threads(run, 3 if samples.is_cuda else 1, works))

    def _look(self, k: int, scan: _Scan) -> tuple[Groups, Limits]:
        """Find the groups of samples that may count."""
        first, kept = _first_look(k) // kernels.COLUMNS, _kept(k)
        groups, seen = scan.all_groups(first), first
        while True:
            best, place = groups.value.topk(kept, dim=1)
            groups = Groups(best, groups.number.gather(1, place))
            scan.tighten(best[:, k - 1])
            is_wanted = best >= scan.limits.value[:, None]
            scan.leave_open(is_wanted.all(1))  # some that count may not have been kept
            if seen == self._n_tiles:
                break
            groups = Groups(best.masked_fill(~is_wanted, -torch.inf), groups.number)
            following = min(self._n_tiles, GROWTH * seen)
            groups, seen = scan.more_groups(groups, is_wanted.sum(1), seen, following), following
        scan.leave_open(~(scan.limits.square < HUGE))
        return groups, scan.limits

    def _open_groups(self, Q: Any, query: Any, group: Any, limit: Any, cost: Any) -> Pairs:
        """Return the samples in groups that are near enough, by query and sample."""
        n, d = self._X.shape
        squares = torch.empty((len(query), kernels.GROUP), device=Q.device)
        kernels.measure_kernel[(-(-len(query) // kernels.ITEMS),)](
            Q,
            self._X,
            self._order,
            query,
            group,
            len(query),
            torch.tensor([self.scale], dtype=torch.float64, device=Q.device),
            squares,
            d,
            kernels.at_once(d),
            kernels.ITEMS,
            kernels.COLUMNS,
            kernels.CELLS,
        )
        # Sums of d squares in float32 are off by less than d + 2 roundings.
        limit = (limit * (1 + (d + 24) * 2.0**-23) + self._absolute).float()
        item, member = (squares <= limit[query, None]).nonzero(as_tuple=True)
        query, group = query[item], group[item]
        column = group // kernels.CELLS * kernels.COLUMNS + group % kernels.CELLS + member * kernels.CELLS
        sample = self._order[column].long()
        if cost is not None:
            is_cheap = cost[sample] <= limit[query] * SLACK
            query, sample = query[is_cheap], sample[is_cheap]
        # The order of samples is that in which equal offers win.
        key = (query * n + sample).sort().values
        return Pairs(key // n, key % n)

    def _centred(self, rows: Any) -> Any:
        return self._scaling(rows) * REACH

    def _fill(self, target: Any, rows: Any, is_query: bool) -> None:
        """Write values as halves: once, or as the factors of three products."""
        d, high = rows.shape[1], rows.half()
        target[:, :d] = high
        if self._split:
            low = (rows - high.double()).half()
            target[:, d : 2 * d] = high if is_query else low
            target[:, 2 * d : 3 * d] = low if is_query else high


class _Scan:
    """Looks at columns for one block of queries, and what they have shown."""

    def __init__(self, tiles: Tiles, Q: Any, limit: Any, component: Any, cost: Any) -> None:
        self._tiles, self._component, self._cost = tiles, component, cost
        self._m, self._m_padded = len(Q), -(-len(Q) // kernels.ROWS) * kernels.ROWS
        self._device = Q.device
        self._queries = self._padded(torch.half, 0, tiles._depth)
        self._norms = torch.empty(self._m, dtype=torch.float64, device=Q.device)
        is_open = torch.empty(self._m, dtype=torch.bool, device=Q.device)
        for rows in pieces(self._m, max(1, CONVERTED // Q.shape[1])):
            part = tiles._centred(Q[rows])
            self._norms[rows] = part.square().sum(1)
            is_open[rows] = ~(self._norms[rows] <= FAR**2)
            part[is_open[rows]] = 0
            tiles._fill(self._queries[rows], part, is_query=True)
        self._norms[is_open] = 0
        self._base = (1 - tiles._rate) * self._norms - tiles._absolute
        square = torch.full((self._m,), HUGE, dtype=torch.float64, device=Q.device)
        if limit is not None:
            square = torch.minimum(square, limit * SLACK)
        self.limits = Limits(square, self._value_at(square), is_open)
        self._sides = self._make_sides()

    def tighten(self, value: Any) -> None:
        """Take note of a value that k samples reach, each in a group of its own."""
        tiles = self._tiles
        low = self._base - 2 * value.double()
        high = (low + 6 * tiles._rate * self._norms + 2 * tiles._absolute) / (1 - 4 * tiles._rate)
        square = torch.minimum(self.limits.square, high * SLACK)
        self.limits = self.limits._replace(square=square, value=self._value_at(square))

    def leave_open(self, which: Any) -> None:
        """Leave queries to others."""
        self.limits = self.limits._replace(is_open=self.limits.is_open | which)

    def all_groups(self, n_tiles: int) -> Groups:
        """Return all groups of the first tiles."""
        width = n_tiles * kernels.CELLS
        value = self._padded(torch.float32, 0, width)
        unused = self._padded(torch.int32, 0)
        self._run(0, n_tiles, value, unused, unused, value, is_dense=True)
        number = torch.arange(width, dtype=torch.int32, device=self._device)
        return Groups(value[: self._m], number.expand(self._m, -1))

    def more_groups(self, known: Groups, n_known: Any, first: int, last: int) -> Groups:
        """Return known groups, of which the first `n_known` count, and those in further tiles that do."""
        kept = known.value.shape[1]
        width = 3 * kept
        value, number = self._padded(torch.float32, -torch.inf, width), self._padded(torch.int32, 0, width)
        value[: self._m, :kept], number[: self._m, :kept] = known
        counts, wanted = self._padded(torch.int32, 0), self._padded(torch.float32, torch.inf)
        counts[: self._m] = n_known
        wanted[: self._m] = self.limits.value.masked_fill(self.limits.is_open, torch.inf)
        self._run(first, last - first, value, number, counts, wanted, is_dense=False)
        self.leave_open(counts[: self._m] > width)
        return Groups(value[: self._m], number[: self._m])

    def _run(
        self, first: int, n_tiles: int, value: Any, number: Any, counts: Any, wanted: Any, is_dense: bool
    ) -> None:
        tiles = self._tiles
        blocks = self._m_padded // kernels.ROWS
        each = max(1, -(-n_tiles // -(-PROGRAMS // blocks)))
        kernels.scan_kernel[(blocks, -(-n_tiles // each))](
            self._queries,
            tiles._values,
            tiles._half_norms,
            wanted,
            *self._sides,
            value,
            number,
            counts,
            first,
            n_tiles,
            each,
            value.shape[1],
            int(is_dense),
            tiles._depth,
            tiles._at_once,
            tiles._depth == tiles._at_once,
            kernels.ROWS,
            kernels.COLUMNS,
            kernels.CELLS,
            self._component is not None,
            self._cost is not None,
            num_warps=kernels.WARPS,
            num_stages=kernels.STAGES,
        )

    def _value_at(self, square: Any) -> Any:
        """Return the value that samples have at a squared distance, if not a higher one."""
        return ((self._base - square) / 2).float()

    def _make_sides(self) -> tuple[Any, Any]:
        """Return what a condition compares: components, or costs and what to subtract them from."""
        if self._component is not None:
            of_query, of_sample, kind = *self._component, torch.int32
        elif self._cost is not None:
            of_query, of_sample, kind = self._base / 2, self._cost * ((1 - ROOM) / 2), torch.float32
        else:
            return self._queries, self._queries  # not looked at
        queries = self._padded(kind, 0)
        queries[: self._m] = of_query
        # A column without a sample gets what belongs to the last one; it is infinitely far.
        return queries, of_sample[self._tiles._order.long()].to(kind)

    def _padded(self, kind: Any, fill: float, *width: int) -> Any:
        """Return an array with a row for each query, and some that fill the last block up."""
        return torch.full((self._m_padded, *width), fill, dtype=kind, device=self._device)


def _first_look(k: int) -> int:
    """Return how many columns are looked at first: enough for limits that leave few."""
    least = kernels.GROUP * max(8 * k, _kept(k))
    return max(FIRST, -(-least // kernels.COLUMNS) * kernels.COLUMNS)


def _kept(k: int) -> int:
    """Return how many groups of a query are kept after each look."""
    return 2 ** (3 * k + 23).bit_length()
