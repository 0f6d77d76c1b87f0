"""Which samples can be among the k best of a query: found while products are in registers, none missed.

Samples y and queries q are centred and scaled by a power of two, so that no sample is farther than 256 from the
centre, and rounded to half precision: each value is off by 2^-11 of itself, or 2^-25 where it is tiny. Products
of two are exact, and sums of D of them are off by less than 4 (D + 24) 2^-24 of the sum of their magnitudes,
however tensor cores order and cut them. With 2 |q| |y| <= |q|^2 + |y|^2, a squared distance that is computed as
|q|^2 + |y|^2 - 2 q.y is off by less than

    e (|q|^2 + |y|^2) + b,  e = 2^-10 + 4 (D + 24) 2^-24 + b  and  b = 2^-24 sqrt(d), and 5 percent more,

which also covers comparisons and what float64 rounds. If values are split into two halves and three products of
these added, 3 * 2^-22 takes the place of 2^-10, and D = 3 d.

The value of a sample for a query is v = q.y - (1 - e) |y|^2 / 2, so its squared distance is at least
low(v) = (1 - e) |q|^2 - b - 2 v. It is at most low + 2 e (|q|^2 + |y|^2) + 2 b; since |y| is no longer than |q|
and the distance together, it is at most (low + 6 e |q|^2 + 2 b) / (1 - 4 e). The k-th best value so far thus
limits the squared distances that count, and the limit says from which value on samples are wanted. Columns are
in random order: a first look at a few of them sets limits, and each further look is at several times as many.

A sample's offer is the larger of its cost and its distance; for plain neighbours costs are 0.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any, NamedTuple

from pathforest._engines.torch.candidates import ROOM, Pairs
from pathforest._engines.torch.devices import pieces, require_torch
from pathforest._engines.torch.estimates import CONVERTED, Scaling

FIRST = 2**13  # columns of the first look; fewer than four times as many are not worth it
GROWTH = 4  # how many times as many columns have been seen after the next look
REACH = 2.0**8  # of the farthest sample; the products of queries no farther than FAR are finite
FAR = 2.0**14
HUGE = 2.0**100  # above all squares that are computed
SPLIT_LIMIT = 2**14  # features up to which bounds stay small
PROGRAMS = 2**11  # that keep all multiprocessors busy


class Condition(NamedTuple):
    """What makes a sample count for a query, besides being near; None if it does not matter."""

    limit: Any = None  # (m,) squared distances, in units of the tiles, beyond which no sample is wanted
    component: tuple[Any, Any] | None = None  # of queries and samples; only samples of others are wanted
    cost: Any = None  # (n,) squares of what samples cost, in units of the tiles


class Found(NamedTuple):
    """The best groups of each query, best first, and which of them count."""

    values: Any  # (m, width)
    groups: Any
    is_wanted: Any
    limit: Any  # (m,) squared distance beyond which no sample counts
    is_open: Any  # (m,) whether groups may be missing


def can_use(device: Any) -> bool:
    """Tell whether there are kernels for a device."""
    torch = require_torch()
    if find_spec("triton") is None:
        return False
    if device.type != "cuda":
        return os.environ.get("TRITON_INTERPRET") == "1"  # slow, for tests
    return torch.version.cuda is not None and torch.cuda.get_device_capability(device) >= (8, 0)


def is_worth_it(n: int, d: int, k: int) -> bool:
    """Tell whether there are enough samples to look at some of them first."""
    return n >= 4 * _first_look(k) and d <= SPLIT_LIMIT


class Tiles:
    """Samples in half precision, in random order; `split` makes two halves of each value."""

    def __init__(self, X: Any, scaling: Scaling, split: bool) -> None:
        torch = require_torch()
        from pathforest._engines.torch import kernels

        self._kernels = kernels
        n, d = X.shape
        self._X, self._scaling, self._split = X, scaling, split
        self.scale = scaling.scale * REACH
        depth = 3 * d if split else d
        self._at_once = min(kernels.FEATURES, max(16, 2 ** (depth - 1).bit_length()))
        self._depth = -(-depth // self._at_once) * self._at_once
        self._absolute = 2.0**-24 * d**0.5 * 1.05
        rounding = 3 * 2.0**-22 if split else 2.0**-10
        self._rate = 1.05 * (rounding + 4 * (self._depth + 24) * 2.0**-24) + self._absolute
        self.n_padded = -(-n // kernels.COLUMNS) * kernels.COLUMNS
        shuffled = torch.Generator(X.device).manual_seed(0)
        self._order = torch.full((self.n_padded,), -1, dtype=torch.int32, device=X.device)
        self._order[:n] = torch.randperm(n, generator=shuffled, device=X.device)
        self._values = torch.zeros((self.n_padded, self._depth), dtype=torch.half, device=X.device)
        self._half_norms = torch.full((self.n_padded,), torch.inf, device=X.device)
        for rows in pieces(n, max(1, CONVERTED // d)):
            part = self._centred(X[self._order[rows].long()])
            self._fill(self._values[rows], part, is_query=False)
            self._half_norms[rows] = (part.square().sum(1) * (0.5 * (1 - self._rate))).float()

    def row_bytes(self, k: int) -> int:
        """Return how much memory the work on one query takes."""
        looked_at = _first_look(k) // self._kernels.GROUP
        kept = _kept(k)
        return 16 * looked_at + 60 * kept + 12 * kept * self._kernels.GROUP + 24 * self._X.shape[1]

    def find(self, Q: Any, k: int, condition: Condition) -> tuple[Pairs, Any]:
        """Return the pairs that may be among the k best, and which queries must be asked in another way."""
        found = self._look(Q, k, condition)
        query, place = found.is_wanted.nonzero(as_tuple=True)
        group = found.groups[query, place]
        torch, kernels = require_torch(), self._kernels
        squares = torch.empty((len(query), kernels.GROUP), device=Q.device)
        d = Q.shape[1]
        at_once = min(64, max(2, 2 ** (d - 1).bit_length()))
        if len(query):
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
                at_once,
                kernels.ITEMS,
                kernels.COLUMNS,
                kernels.CELLS,
            )
        limit = (found.limit * (1 + (d + 24) * 2.0**-23) + self._absolute).float()
        item, member = (squares <= limit[query, None]).nonzero(as_tuple=True)
        column = group[item] // kernels.CELLS * kernels.COLUMNS + group[item] % kernels.CELLS
        query, sample = query[item], self._order[column + member * kernels.CELLS].long()
        if condition.cost is not None:
            counts = condition.cost[sample] <= limit[query] * (1 + ROOM)
            query, sample = query[counts], sample[counts]
        # By query and then sample, which is the order in which equal offers win.
        key = (query * len(self._X) + sample).sort().values
        return Pairs(key // len(self._X), key % len(self._X)), found.is_open

    def _look(self, Q: Any, k: int, condition: Condition) -> Found:
        torch, kernels = require_torch(), self._kernels
        m, n_tiles = len(Q), self.n_padded // kernels.COLUMNS
        m_padded = -(-m // kernels.ROWS) * kernels.ROWS
        queries = torch.zeros((m_padded, self._depth), dtype=torch.half, device=Q.device)
        norms = torch.empty(m, dtype=torch.float64, device=Q.device)
        is_open = torch.empty(m, dtype=torch.bool, device=Q.device)
        for rows in pieces(m, max(1, CONVERTED // Q.shape[1])):
            part = self._centred(Q[rows])
            norms[rows] = part.square().sum(1)
            is_open[rows] = ~(norms[rows] <= FAR**2)
            part[is_open[rows]] = 0
            self._fill(queries[rows], part, is_query=True)
        norms[is_open] = 0
        base = (1 - self._rate) * norms - self._absolute
        limit = torch.full((m,), HUGE, dtype=torch.float64, device=Q.device)
        if condition.limit is not None:
            limit = torch.minimum(limit, condition.limit.double() * (1 + 2.0**-20))
        sides = self._sides(condition, base, m_padded)
        kept = _kept(k)
        scan = _Scan(self, queries, sides, condition)

        # The first look writes all groups; later ones those that are wanted, behind those that are kept.
        first = _first_look(k) // kernels.COLUMNS
        width = first * kernels.CELLS
        values = torch.empty((m_padded, width), device=Q.device)
        scan.run(0, first, values, None, None, None)
        groups = torch.arange(width, dtype=torch.int32, device=Q.device).expand(m, -1)
        values, seen = values[:m], first
        while True:
            best, place = values.topk(kept, dim=1)
            numbers = groups.gather(1, place)
            at_least = base - 2 * best[:, k - 1].double()
            at_most = (at_least + 6 * self._rate * norms + 2 * self._absolute) / (1 - 4 * self._rate)
            limit = torch.minimum(limit, at_most.nan_to_num(HUGE, HUGE) * (1 + 2.0**-20))
            threshold = ((base - limit) / 2).float()
            is_wanted = best >= threshold[:, None]
            counts = is_wanted.sum(1, dtype=torch.int32)
            is_open |= counts == kept
            if seen == n_tiles:
                break
            values = torch.full((m_padded, 3 * kept), -torch.inf, device=Q.device)
            groups = torch.zeros((m_padded, 3 * kept), dtype=torch.int32, device=Q.device)
            values[:m, :kept], groups[:m, :kept] = best.masked_fill(~is_wanted, -torch.inf), numbers
            padded = torch.full((m_padded,), torch.inf, device=Q.device)
            padded[:m] = threshold.masked_fill(is_open, torch.inf)
            found = torch.zeros(m_padded, dtype=torch.int32, device=Q.device)
            found[:m] = counts
            following = min(n_tiles, GROWTH * seen)
            scan.run(seen, following - seen, values, groups, padded, found)
            is_open |= found[:m] > 3 * kept
            values, groups, seen = values[:m], groups[:m], following
        is_open |= ~(limit < HUGE)
        is_wanted &= ~is_open[:, None]
        return Found(best, numbers, is_wanted, limit, is_open)

    def _sides(self, condition: Condition, base: Any, m_padded: int) -> tuple[Any, Any]:
        """Return what a condition compares, for queries and columns."""
        torch = require_torch()
        if condition.component is None and condition.cost is None:
            return base, base  # not looked at
        if condition.component is not None:
            of_query, of_sample, kind = *condition.component, torch.int32
        else:
            of_query, of_sample, kind = base / 2, condition.cost * ((1 - ROOM) / 2), torch.float32
        queries = torch.zeros(m_padded, dtype=kind, device=base.device)
        queries[: len(of_query)] = of_query
        columns = torch.zeros(self.n_padded, dtype=kind, device=base.device)
        n = len(self._X)
        columns[:n] = of_sample[self._order[:n].long()]
        return queries, columns

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
    """The kernel over columns, for one block of queries."""

    def __init__(self, tiles: Tiles, queries: Any, sides: tuple[Any, Any], condition: Condition) -> None:
        self._tiles, self._queries, self._sides, self._condition = tiles, queries, sides, condition

    def run(self, first: int, n_tiles: int, values: Any, groups: Any, threshold: Any, counts: Any) -> None:
        """Look at some tiles; without a threshold all their groups are written."""
        tiles, kernels = self._tiles, self._tiles._kernels
        blocks = len(self._queries) // kernels.ROWS
        each = -(-n_tiles // min(n_tiles, -(-PROGRAMS // blocks)))
        unused = values
        kernels.scan_kernel[(blocks, -(-n_tiles // each))](
            self._queries,
            tiles._values,
            tiles._half_norms,
            unused if threshold is None else threshold,
            *self._sides,
            values,
            unused if groups is None else groups,
            unused if counts is None else counts,
            first,
            n_tiles,
            each,
            values.shape[1],
            tiles._depth,
            tiles._at_once,
            kernels.ROWS,
            kernels.COLUMNS,
            kernels.CELLS,
            threshold is None,
            self._condition.component is not None,
            self._condition.cost is not None,
            num_warps=kernels.WARPS,
            num_stages=kernels.STAGES,
        )


def _first_look(k: int) -> int:
    """Return how many columns are looked at first: enough for limits that leave few."""
    from pathforest._engines.torch import kernels

    least = kernels.GROUP * max(8 * k, _kept(k))
    return max(FIRST, -(-least // kernels.COLUMNS) * kernels.COLUMNS)


def _kept(k: int) -> int:
    """Return how many groups of a query are kept after each look."""
    return 2 ** (3 * k + 23).bit_length()
