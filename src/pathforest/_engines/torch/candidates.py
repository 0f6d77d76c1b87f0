"""Which samples can be among the k best of a query: found from estimates, none missed.

A sample's offer is the larger of its cost and its distance, in squared and scaled units; for plain neighbours
costs are 0. Columns are in the order in which equal offers win, which is also that of ascending costs. They
are looked at in groups first: a group's smallest distance and its cheapest and dearest cost bound its offers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pathforest._engines.torch.devices import require_torch
from pathforest._engines.torch.estimates import Estimates

ROOM = 2.0**-22  # for the rounding of costs to float32


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
    torch = require_torch()
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

    Those are the ones that need more than `n_chosen` groups, or have more than `most` candidates.

    Parameters
    ----------
    estimates : Estimates
        Of squared distances; infinite for samples that must not be found.
    k : int
        How many are wanted.
    n_chosen : int
        How many groups to look into.
    group : int
        Columns of a group.
    costs : Costs or None
        Costs of samples; None is 0 for all.
    limit : Tensor of shape (m,), default=None
        Squared distances beyond which no sample is wanted.
    most : int, default=None
        Candidates of a query that are welcome; None is any number.
    """
    torch = require_torch()
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
    torch = require_torch()
    if values.shape[1] < k:
        return torch.full((len(values),), torch.inf, device=values.device)
    if k == 1:
        return values.amin(1)
    return values.topk(k, dim=1, largest=False).values[:, -1]


def _fewer_before(hits: Any, k: int) -> Any:
    """Tell where fewer than k hits lie to the left."""
    return hits.cumsum(1) - hits.long() < k
