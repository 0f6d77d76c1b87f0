"""Which samples can be among the k best of a query: found from estimates, none missed.

A sample's offer is the larger of its cost and its distance, in squared and scaled units; for plain neighbours
costs are 0. Columns are in the order in which equal offers win, which is also that of ascending costs. They
are looked at in groups first: a group's smallest distance and its cheapest and dearest cost bound its offers.

Estimates come from a float32 matrix product with a bound on its error: fit to discard, not to decide.
Samples are centred and scaled by a power of two so that the farthest is no farther than 1 from the centre.
The squared distance of q and x is |q|^2 + (|x|^2 - 2 q.x). The bracket is one matrix product; its d + 1 terms
and as many sums are rounded, and so were samples and norms: with u = 2^-24 that makes less than
(d + 24) u (|q| + |x|)^2, whatever the order of the sums. Five percent more are for the comparisons that
follow, and for distances that differ in exact arithmetic and not in float64. Where squares are so small that
float64 has lost their digits, the scale stays below what would show them: all samples look equally near.

Tensor cores compute the product several times faster from shortened values (TF32), which keep 10 bits behind
the leading one: that adds 2^-9 of |q| |x| to the error of q.x, and their sums are rounded less carefully.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import torch

from pathforest._engines.torch.devices import pieces

ROOM = 2.0**-22  # for the rounding of costs to float32
ROUNDING = 2.0**-24
CONVERTED = 2**24  # values that are converted at a time
SEEN, MOST_CENTRES = 2**12, 16  # samples that clusters are sought among, and how many at most
CROSSING = 0.05  # of the samples of a cell: so many may have their nearest in a cell that is not near
MAX_EXPONENT = 500  # of the scale: its square is finite, and squares that underflow are far below the error
SHARPEST = 26  # exponent where there is noise: it then hides what lies closer together
LEAST = 1e-280  # squares of lengths below have lost digits

_precision = Lock()  # held while the precision of products, which all threads share, is ours


class Estimates(NamedTuple):
    """Squared distances in parts: those of a query to all samples, and what to add for each query."""

    brackets: Any  # (m, padded n) |x|^2 - 2 q.x
    norms: Any  # (m,) |q|^2
    error: Any  # (m,) how far a sum of both may be off


class Scaling:
    """Centres samples, and scales them by a power of two so that the farthest has a length of at most 1.

    The centre is their mean if none is given.
    """

    def __init__(self, X: Any, noise: float = 0.0, centre: Any = None) -> None:
        n, d = X.shape
        step, most = max(1, CONVERTED // d), SHARPEST if noise else MAX_EXPONENT
        if centre is None:
            mean = sum((X[rows].double() / n).sum(0) for rows in pieces(n, step))
            # A mean may be rounded beyond the values; constant features are to vanish, however large.
            centre = mean.clamp(X.amin(0).double(), X.amax(0).double())
        self._centre = centre
        farthest = max((X[rows].double() - self._centre).norm(dim=1).max() for rows in pieces(n, step))
        # A power of two changes no digit.
        self.scale = 2.0 ** min(most, -float(farthest.log2().ceil())) if farthest > 0 else 1.0
        self.noise = noise * self.scale**2

    def __call__(self, rows: Any) -> Any:
        """Return scaled rows, in float64."""
        return (rows.double() - self._centre) * self.scale


class Cells:
    """Samples by the nearest of a few centres, and how far a query is from those of cells that are not near.

    Half precision tells samples of one cluster apart if they are centred there; and what lies in clusters far
    away need not be looked at. Whatever is nearer to centre b than to a is beyond the plane halfway between
    both: from q, at a distance of (|q - b|^2 - |q - a|^2) / (2 |a - b|) or more.
    """

    def __init__(self, X: Any, scaling: Scaling, few: Any, centres: Any) -> None:
        self._scaling, self.centres = scaling, centres
        self._scaled = scaling(centres)
        self._apart = torch.cdist(self._scaled, self._scaled)
        own, gaps = self._measure(scaling(few))
        # Of all samples the nearest ones are no farther than the nearest of these few.
        reach = torch.cdist(few, few).fill_diagonal_(torch.inf).amin(1) * scaling.scale
        members = torch.nn.functional.one_hot(own, len(centres)).double()
        crossing = members.T @ (gaps < reach[:, None]).double()
        self.near = crossing > CROSSING * members.sum(0)[:, None]
        self.near.fill_diagonal_(True)
        self.cell, _ = self.of(X[rows] for rows in pieces(len(X), max(1, CONVERTED // X.shape[1])))

    def of(self, parts: Iterable[Any]) -> tuple[Any, Any]:
        """Return the cell of each row, and the square of how far surely all are that are in none near it."""
        cells, gaps = [], []
        for rows in parts:
            own, gap = self._measure(self._scaling(rows))
            cells.append(own.to(torch.uint8))
            gaps.append(gap.masked_fill_(self.near[own], torch.inf).amin(1).clamp(min=0).square())
        return torch.cat(cells), torch.cat(gaps)

    def _measure(self, rows: Any) -> tuple[Any, Any]:
        lengths = rows.square().sum(1, keepdim=True)
        squares = lengths - 2 * rows @ self._scaled.T + self._scaled.square().sum(1)
        own = squares.argmin(1)
        # What is rounded in these squares, and in those that put samples into cells, is far less.
        ahead = squares - squares.gather(1, own[:, None]) - 1e-8 * (1 + lengths)
        return own, ahead / (2 * self._apart[own])


def find_cells(X: Any, scaling: Scaling) -> Cells | None:
    """Return cells around clusters, if samples are much nearer to those than to the centre of all."""
    seeded = torch.Generator(X.device).manual_seed(0)
    few = X[torch.randint(len(X), (SEEN,), generator=seeded, device=X.device)].double()
    centres, spread = few[:1], torch.cdist(few, few.mean(0, keepdim=True)).square()
    nearest = torch.cdist(few, centres)[:, 0]
    first = nearest.max()
    while len(centres) < MOST_CENTRES and nearest.max() > first / 3:
        centres = torch.cat([centres, few[nearest.argmax()][None]])
        nearest = torch.minimum(nearest, torch.cdist(few, centres[-1:])[:, 0])
    own = torch.cdist(few, centres).argmin(1)
    members = torch.nn.functional.one_hot(own, len(centres)).double()
    centres = (members.T @ few) / members.sum(0)[:, None]
    if 2 * (few - centres[own]).square().sum() < spread.sum():
        return Cells(X, scaling, few, centres)
    return None


class Directions:
    """Rows divided by their lengths: squared distances of these are twice the distances of "cosine".

    That holds up to `noise`, for what float64 rounds. Rows of zeros are at 1 from all others and at 0 from
    each other; if there are such samples, one more feature sets them apart. NaN stands for queries of which
    nothing is known, so that all samples are compared with them exactly: those of zeros where no sample is,
    and any if squares have lost digits.
    """

    def __init__(self, X: Any, squares: Any) -> None:
        self._has_zeros = bool((squares == 0).any())
        self._is_sure = bool(((squares == 0) | (squares > LEAST)).all())
        self.noise = 8 * (X.shape[1] + 16) * 2.0**-53
        self.samples = self._divided(X, squares)

    def __call__(self, queries: Any, squares: Any) -> Any:
        """Return the directions of queries, given the squares of their lengths."""
        is_sure = (squares > LEAST) | ((squares == 0) & self._has_zeros)
        return self._divided(queries, squares).masked_fill_(~(is_sure & self._is_sure)[:, None], torch.nan)

    def _divided(self, rows: Any, squares: Any) -> Any:
        is_zero = (squares == 0)[:, None]
        directions = rows.double() / squares.sqrt()[:, None].masked_fill(is_zero, 1)
        return torch.cat([directions, is_zero.double()], 1) if self._has_zeros else directions


class Estimator:
    """Squared distances of queries to samples, in units of the scale."""

    def __init__(self, X: Any, scaling: Scaling, group: int) -> None:
        n, d = X.shape
        self._scaling, self.scale = scaling, scaling.scale
        self._rate = (d + 24) * ROUNDING * 1.05
        # Padding fills the last group up; its rows are infinitely far.
        self.n_padded = -(-n // group) * group
        self._samples = torch.zeros((self.n_padded, d), dtype=torch.float32, device=X.device)
        self._norms = torch.full((self.n_padded,), torch.inf, dtype=torch.float32, device=X.device)
        for rows in pieces(n, max(1, CONVERTED // d)):
            self._samples[rows] = scaling(X[rows])
            self._norms[rows] = _squared_norms(self._samples[rows])

    def estimate(self, Q: Any, shortened: bool) -> Estimates:
        """Estimate the squared distances of queries to all samples, from shortened values if asked."""
        scaled = self._scaling(Q).float()
        norms = _squared_norms(scaled)
        lengths = norms.double().sqrt()
        error = self._rate * (lengths + 1) ** 2 + self._scaling.noise
        if shortened:
            error = 4 * error + 2.1 * 2.0**-9 * lengths
        samples = self._samples
        if shortened and not samples.is_cuda:  # what tensor cores would do, for tests
            scaled, samples = _shorten(scaled), _shorten(samples)
        with _products(Q.device, shortened):
            brackets = torch.addmm(self._norms, scaled, samples.T, alpha=-2)
        return Estimates(brackets, norms, error.float())


def _squared_norms(rows: Any) -> Any:
    return rows.double().square().sum(1).float()


def _shorten(values: Any) -> Any:
    return (values.view(torch.int32) & ~0x1FFF).view(torch.float32)


@contextmanager
def _products(device: Any, shortened: bool) -> Iterator[None]:
    """Set the precision of products while it lasts, whatever users and other threads want for theirs."""
    matmul = torch.backends.cuda.matmul
    # From 2.9 on torch refuses to report the older setting where the newer one has been used.
    is_new = hasattr(matmul, "fp32_precision")
    name, wanted = (
        ("fp32_precision", "tf32" if shortened else "ieee") if is_new else ("allow_tf32", shortened)
    )
    with _precision, torch.autocast(device.type, enabled=False):
        before = getattr(matmul, name)
        setattr(matmul, name, wanted)
        try:
            yield
        finally:
            setattr(matmul, name, before)


class Costs(NamedTuple):
    """What samples cost, from below and from above, and the extremes of each group."""

    below: Any  # (padded n,)
    above: Any
    cheapest: Any  # (n_groups,)
    dearest: Any


class Pairs(NamedTuple):
    """Queries and samples to be compared exactly, by query and then in the order of the columns."""

    query: Any  # (p,) position in the block
    sample: Any  # (p,) column


def group_size(n: int, k: int) -> int:
    """Return how many columns make a group: few groups to choose from, and few columns in those chosen."""
    size = 8
    while size * size * max(1, k) < n and size < 1024:
        size *= 2
    return size


def make_costs(costs: Any, group: int, n_padded: int) -> Costs:
    """Take squared and scaled costs, ascending, one per sample."""
    padded = torch.full((n_padded,), torch.inf, dtype=torch.float32, device=costs.device)
    padded[: len(costs)] = costs.float()
    below, above = padded * (1 - ROOM), padded * (1 + ROOM)
    groups = below.view(-1, group), above.view(-1, group)
    return Costs(below, above, groups[0].amin(1), groups[1].amax(1))


def find_candidates(
    estimates: Estimates,
    k: int,
    n_chosen: int,
    group: int,
    costs: Costs | None,
    limit: Any = None,
    most: int | None = None,
) -> tuple[Pairs, Any]:
    """Return the pairs that may be among the k best, and which queries must be asked again.

    Those are the ones that need more than `n_chosen` groups of `group` columns, or have more than `most`
    candidates. Estimates are infinite for samples that must not be found; `limit` has the squared distances
    beyond which no sample is wanted.
    """
    in_groups = estimates.brackets.view(len(estimates.norms), -1, group)
    norms, error = estimates.norms[:, None], estimates.error[:, None]
    nearest = in_groups.amin(2) + norms
    low = nearest if costs is None else torch.maximum(nearest, costs.cheapest)
    high = nearest if costs is None else torch.maximum(nearest, costs.dearest)
    bound = _smallest(high, k)[:, None] + 2 * error
    if limit is not None:
        bound = torch.minimum(bound, limit[:, None] + 2 * error)
    wanted = ~(low > bound)
    if costs is not None:
        # Surely nearer than it costs: whatever comes behind k of those costs no less and loses.
        wanted &= _fewer_before(nearest + error < costs.cheapest, k)
    n_chosen = min(n_chosen, in_groups.shape[1])
    is_done = wanted.sum(1) <= n_chosen
    # Not by their offers, which may be infinite where they are wanted as well.
    chosen = wanted.float().topk(n_chosen, dim=1).indices.sort(1).values
    inside = in_groups.gather(1, chosen[:, :, None].expand(-1, -1, group)).flatten(1) + norms
    columns = (chosen[:, :, None] * group + torch.arange(group, device=chosen.device)).flatten(1)
    offers = inside if costs is None else torch.maximum(inside, costs.above[columns])
    bound = torch.minimum(bound, _smallest(offers, k)[:, None] + 2 * error)
    offers = inside if costs is None else torch.maximum(inside, costs.below[columns])
    kept = ~(offers > bound) & is_done[:, None]
    if costs is not None:
        kept &= _fewer_before(inside + error < costs.below[columns], k)
    if most is not None:
        is_done &= kept.sum(1) <= most
        kept &= is_done[:, None]
    query, position = kept.nonzero(as_tuple=True)
    return Pairs(query, columns[query, position]), ~is_done


def _smallest(values: Any, k: int) -> Any:
    """Return the k-th smallest of each row; infinity where there are fewer."""
    if values.shape[1] < k:
        return torch.full((len(values),), torch.inf, device=values.device)
    if k == 1:
        return values.amin(1)
    return values.topk(k, dim=1, largest=False).values[:, -1]


def _fewer_before(hits: Any, k: int) -> Any:
    """Tell where fewer than k hits lie to the left."""
    return hits.cumsum(1) - hits.long() < k
