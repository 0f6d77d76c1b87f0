"""The minimum spanning tree on a device: Borůvka's algorithm over whole arrays, as in the core.

Each component adds its lightest outgoing arc. A sample's list names its nearest sample outside the component
until all its entries lie inside; from then on only a lower bound is known, the arc to the list's last entry.
A component whose best known arc is below all such bounds is settled. Only if none is settled, samples are
asked for their nearest outsider, but never those of the largest component, which the others will join; or
all pairs between components are looked at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

LAST = 2**62  # after every pair of ends
MOST_JOINED = 64  # components that are joined at once


class Arcs(NamedTuple):
    """Arcs in their order: by weight, then by the lower end and the higher one."""

    weight: Any  # float64
    ends: Any  # lower end * n + higher end

    def before(self, other: Arcs) -> Any:
        """Tell which come before those of another array."""
        is_tied = (self.weight == other.weight) & (self.ends < other.ends)
        return (self.weight < other.weight) | is_tied

    def take(self, index: Any) -> Arcs:
        """Return some of the arcs."""
        return Arcs(self.weight[index], self.ends[index])


def build_tree(
    distances: Any,
    indices: Any,
    nearest_foreign: Callable[[Any, Any, Any], tuple[Any, Any]],
    join: Callable[[Any], Arcs],
) -> tuple[Any, Any, Any]:
    """Return the arcs of the tree as (source, target, weight), ascending.

    `nearest_foreign` takes samples, the component of every sample, and how far to look from each of those
    asked; it returns the distance and index of the nearest sample of another component, -1 if there is none.
    `join` takes the component of every sample and returns the arcs that complete the tree: it is called
    instead where few components are left and it looks at fewer pairs.
    """
    n, k = indices.shape
    sample = torch.arange(n, device=indices.device)
    component, found = sample, [between(n, sample[:0], sample[:0], distances[:0, 0])] if k else []
    n_components, has_asked = n, False
    # What lies beyond the list: the nearest outsider that was found by asking, and a bound on all others.
    asked, asked_distance = torch.full_like(sample, -1), torch.full_like(distances[:, :1].sum(1), torch.inf)
    if k:
        bound = between(n, sample, indices[:, -1].long(), distances[:, -1].clone())
    while n_components > 1:
        other, weight = _nearest_known(distances, indices, component, asked, asked_distance)
        is_known = other >= 0
        best = lightest(between(n, sample, other, weight), component, is_known, n)
        is_open = ~is_known & bound.before(best.take(component))
        is_settled = best.ends < LAST
        is_settled[component[is_open]] = False
        if is_settled.any():
            component, chosen = _merge(component, best, is_settled)
            found.append(best.take(chosen))
            n_components, has_asked = n_components - len(chosen), False
            continue
        if has_asked:
            raise RuntimeError("the answers join no components, so the tree would never be complete")
        has_asked = True
        sizes = torch.bincount(component)
        asking = (is_open & (component != sizes.argmax())).nonzero()[:, 0]
        n_pairs = (n * n - int((sizes * sizes).sum())) / 2  # between components
        if n_components <= MOST_JOINED and n_pairs < n * len(asking):
            found.append(join(component))
            break
        reach = best.weight[component[asking]]
        distance, nearest = nearest_foreign(asking, component, reach)
        is_found = nearest >= 0
        asked[asking], asked_distance[asking] = nearest, distance
        ends = between(n, asking, nearest, distance).ends.masked_fill(~is_found, LAST)
        bound.weight[asking], bound.ends[asking] = torch.where(is_found, distance, reach), ends
    if not found:
        return sample[:0], sample[:0], asked_distance[:0]
    weight, ends = (torch.cat(parts) for parts in zip(*found, strict=True))
    order = ends.argsort()
    order = order[weight[order].argsort(stable=True)]
    return ends[order] // n, ends[order] % n, weight[order]


def between(n: int, first: Any, second: Any, weight: Any) -> Arcs:
    return Arcs(weight, torch.minimum(first, second) * n + torch.maximum(first, second))


def _nearest_known(
    distances: Any, indices: Any, component: Any, asked: Any, asked_distance: Any
) -> tuple[Any, Any]:
    """Return the nearest outsider that each sample knows and its distance, or -1."""
    outside = component.index_select(0, indices.flatten()).view(indices.shape) != component[:, None]
    place = outside.byte().argmax(1, keepdim=True)  # the first of them
    in_list = outside.gather(1, place)[:, 0]
    by_asking = (asked >= 0) & (component[asked.clamp(min=0)] != component)
    other = torch.where(in_list, indices.gather(1, place)[:, 0].long(), asked.masked_fill(~by_asking, -1))
    return other, torch.where(in_list, distances.gather(1, place)[:, 0], asked_distance)


def joined(arcs: list[tuple[float, int, int, int]], device: Any) -> Arcs:
    """Return the lightest arcs that join few components; each is its weight, its ends and the components."""
    leads_to, kept = list(range(len(arcs) + 1)), []
    for weight, ends, first, second in sorted(arcs):
        if leads_to[first] != leads_to[second]:
            leads_to = [leads_to[second] if one == leads_to[first] else one for one in leads_to]
            kept.append((weight, ends))
    weights, ends = zip(*kept, strict=True) if kept else ((), ())
    ends = torch.tensor(ends, dtype=torch.int64, device=device)
    return Arcs(torch.tensor(weights, dtype=torch.float64, device=device), ends)


def lightest(arcs: Arcs, component: Any, is_known: Any, n_components: int) -> Arcs:
    """Return the lightest of the known arcs of each component."""
    weight = arcs.weight.new_full((n_components,), torch.inf)
    weight.scatter_reduce_(0, component[is_known], arcs.weight[is_known], "amin")
    is_tied = is_known & (arcs.weight == weight[component])
    ends = arcs.ends.new_full((n_components,), LAST)
    ends.scatter_reduce_(0, component[is_tied], arcs.ends[is_tied], "amin")
    return Arcs(weight, ends)


def _merge(component: Any, best: Arcs, is_settled: Any) -> tuple[Any, Any]:
    """Join settled components to others along their arcs; return components, and who added an arc."""
    n = len(component)
    settled = is_settled.nonzero()[:, 0]
    low, high = component[best.ends[settled] // n], component[best.ends[settled] % n]
    other = torch.where(low == settled, high, low)
    leads_to = torch.arange(n, device=component.device)
    leads_to[settled] = other
    # Arcs are in a total order, so the only circles are two components that choose the same arc.
    is_first = (leads_to[other] == settled) & (settled < other)
    leads_to[settled[is_first]] = settled[is_first]
    while not torch.equal(further := leads_to[leads_to], leads_to):
        leads_to = further
    return leads_to[component], settled[~is_first]
