"""Supervised competition (Algorithms 1 and 3), shortest paths, and what prediction makes of a forest."""

import math

import numpy as np

from reference.graph import components, knn, nearest


def prototypes(tree, codes):
    """Both ends of each tree arc that joins two classes; the first sample if there is no such arc."""
    source, target, _ = tree
    ends = {int(u) for i, j in zip(source, target, strict=True) if codes[i] != codes[j] for u in (i, j)}
    return np.array(sorted(ends) or [0], dtype=np.int32)


def compete(D, prototypes, membership, side="target", tree=None, conquest=None):
    """Algorithm 3 with costs that are pairs (value, arc); over the complete graph, or along `tree` only.

    An arc is (its own weight, lower end, higher end). A membership multiplies the value, not the arc. A list
    given as `conquest` gets the samples as they leave the queue.
    """
    conquest = [] if conquest is None else conquest
    n, rows, F = len(D), D.tolist(), [float(f) for f in membership]
    neighbours = [[u for u in range(n) if u != q] for q in range(n)]
    if tree is not None:
        neighbours = [[] for _ in range(n)]
        for i, j in zip(tree[0].tolist(), tree[1].tolist(), strict=True):
            neighbours[i].append(j)
            neighbours[j].append(i)
    pair = [(math.inf, (math.inf, n, n))] * n
    predecessor, root = [-1] * n, list(range(n))
    for q in prototypes:
        pair[q] = (0.0, (-1.0, -1, -1))  # an arc before all others
    waiting = set(range(n))
    while waiting:
        q = min(waiting, key=lambda u: (pair[u], u))
        waiting.remove(q)
        conquest.append(q)
        for u in neighbours[q]:
            if u not in waiting:  # a node that has left the queue is never updated again
                continue
            arc = (rows[q][u], min(q, u), max(q, u))
            value, arc = max(pair[q], (rows[q][u], arc))
            offer = (value * (F[u] if side == "target" else F[q]), arc)
            if offer < pair[u]:
                pair[u], predecessor[u], root[u] = offer, q, root[q]
    order = sorted(range(n), key=lambda u: (pair[u], u))
    cost = np.array([value for value, _ in pair])
    return cost, *(np.array(a, dtype=np.int32) for a in (predecessor, root, order))


def geodesic(D, k, seeds, factors=None):
    """Shortest paths from the seeds over the graph of the k nearest, and a last arc to what they miss.

    An arc is (length, lower end, higher end), and costs its length times the factor of the path's seed.
    """
    n, rows = len(D), D.tolist()
    factor = dict(zip(map(int, seeds), [1.0] * n if factors is None else map(float, factors), strict=False))
    listed = [set(row) for row in knn(D, k)[1].tolist()]
    cost, last = [math.inf] * n, [(math.inf, n, n)] * n
    predecessor, root = [-1] * n, [-1] * n
    for s in seeds:
        cost[s], last[s], root[s] = 0.0, (-1.0, -1, -1), int(s)  # an arc before all others
    waiting, left = set(map(int, seeds)), set()
    while waiting:
        q = min(waiting, key=lambda u: (cost[u], u))
        waiting.remove(q)
        left.add(q)
        for u in range(n):
            if u in left or not (u in listed[q] or q in listed[u]):
                continue
            step = factor[root[q]] * rows[q][u]
            offer = (cost[q] + step, (rows[q][u], min(q, u), max(q, u)))
            if offer < (cost[u], last[u]):
                (cost[u], last[u]), predecessor[u], root[u] = offer, q, root[q]
                waiting.add(u)
    for u in set(range(n)) - left:
        distance, q = min((rows[u][q], q) for q in left)
        cost[u], predecessor[u], root[u] = cost[q] + factor[root[q]] * distance, q, root[q]
    order = sorted(range(n), key=lambda u: (cost[u], u))
    return np.array(cost), *(np.array(a, dtype=np.int32) for a in (predecessor, root, order))


def balancing_factors(D, k, seeds, codes):
    """The fourth root of (mean share of the unlabelled samples) / (share of the labels), for each class."""
    n, n_classes, seeds = len(D), int(max(codes)) + 1, [int(s) for s in seeds]
    own = [[s for s, code in zip(seeds, codes, strict=True) if code == c] for c in range(n_classes)]
    linked = _linked(knn(D, k)[1])
    costs = [geodesic(D, k, mine)[0].tolist() for mine in own]
    shares = []
    for u in sorted(set(range(n)) - set(seeds)):
        reached = [costs[c][u] if set(own[c]) & linked[u] else math.inf for c in range(n_classes)]
        best = min(reached)
        if best < math.inf:
            ratio = [1.0 if cost == best else best / cost for cost in reached]
            weight = [(r * r) * (r * r) for r in ratio]
            total = 0.0
            for w in weight:
                total += w
            shares.append([w / total for w in weight])
    factors = []
    for c in range(n_classes):
        total = 0.0
        for share in shares:
            total += share[c]
        wanted = len(own[c]) / len(seeds)
        factors.append(math.sqrt(math.sqrt(total / len(shares) / wanted)) if total > 0 else 1.0)
    return np.array(factors)


def _linked(indices):
    """The set of samples in the component of each sample, arcs of the lists taken in both directions."""
    found = components(range(len(indices)), indices.tolist())
    return [next(component for component in found if u in component) for u in range(len(indices))]


def textbook_opf(D, labels):
    """Algorithm 1 as printed, comparing values only; returns the training labels it ends with."""
    n = len(D)
    labels = list(labels)
    parent, best, inside = [-1] * n, [math.inf] * n, set()
    best[0] = 0.0
    chosen = set()
    while len(inside) < n:  # Prim's spanning tree
        q = min((u for u in range(n) if u not in inside), key=lambda u: best[u])
        inside.add(q)
        if parent[q] >= 0 and labels[parent[q]] != labels[q]:
            chosen |= {q, parent[q]}
        for u in range(n):
            if u not in inside and D[q, u] < best[u]:
                best[u], parent[u] = D[q, u], q
    cost, label, queue = [math.inf] * n, [None] * n, []
    for q in sorted(chosen) or [0]:
        cost[q], label[q] = 0.0, labels[q]
        queue.append(q)
    while queue:
        q = min(queue, key=lambda u: cost[u])
        queue.remove(q)
        for u in range(n):
            if u != q and cost[u] > cost[q]:
                offer = max(cost[q], D[q, u])
                if offer < cost[u]:
                    if u in queue:
                        queue.remove(u)
                    label[u], cost[u] = label[q], offer
                    queue.append(u)
    return np.array(label)


# Prediction


def conquer(D, cost, order, r=1):
    """The r best offers max(C(q), d(q, t)) to each row of D and who made them, by (offer, place in order)."""
    offers, indices = [], []
    for row in D.tolist():
        ranked = sorted((max(float(cost[q]), row[q]), place, int(q)) for place, q in enumerate(order))[:r]
        offers.append([offer for offer, _, _ in ranked])
        indices.append([q for _, _, q in ranked])
    return np.array(offers), np.array(indices, dtype=np.int32)


def class_costs(D, cost, order, codes, n_classes, r=1):
    """Mean of the r cheapest offers of each class, and the winning class, for every row of D."""
    offers = [
        [(max(float(cost[q]), row[q]), place, int(codes[q])) for place, q in enumerate(order)]
        for row in D.tolist()
    ]
    return _mean_offers(offers, n_classes, r)


def geodesic_class_costs(D, k, cost, order, codes, factors, r=1):
    """The same where only the k nearest make offers, sums of cost and distance times a factor per class."""
    place = {int(q): i for i, q in enumerate(order)}
    offers = [
        [
            (float(cost[q]) + float(factors[codes[q]]) * d, place[q], int(codes[q]))
            for d, q in zip(near, which, strict=True)
        ]
        for near, which in zip(*(a.tolist() for a in nearest(D, k)), strict=True)
    ]
    return _mean_offers(offers, len(factors), r)


def _mean_offers(offers, n_classes, r):
    """Costs of classes and the winner from offers (value, place, class), a list for each new sample."""
    costs, winners = np.full((len(offers), n_classes), np.inf), []
    for t, made in enumerate(offers):
        first = {}
        for c in range(n_classes):
            own = [(offer, place) for offer, place, code in sorted(made) if code == c][:r]
            if own:
                total = 0.0
                for offer, _ in own:
                    total += offer
                costs[t, c] = total / len(own)
                first[c] = own[0][1]
        winners.append(min(first, key=lambda c: (costs[t, c], first[c])))
    return costs, np.array(winners, dtype=np.intp)


def probabilities(costs, beta):
    """p_c proportional to (cost_min / cost_c) ** beta, 1 where both are 0."""
    result = []
    for row in costs.tolist():
        best = min(row)
        score = [1.0 if c == best else math.pow(best / c, beta) for c in row]
        result.append([s / sum(score) for s in score])
    return np.array(result)
