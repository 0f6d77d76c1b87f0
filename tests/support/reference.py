"""Optimum-Path Forest straight from its definition: slow, obvious, and sharing nothing with the library."""

import decimal
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

SQUARED = {"sqeuclidean", "log_sqeuclidean"}  # already squares: Eq. 3 does not square them again
DELTA = 1.0  # Eq. 4, on densities scaled to [1, 1000]


# Distances


def distance(a, b, metric="euclidean", p=2.0):
    """Distance of two samples, term by term in feature order."""
    a, b = [float(v) for v in a], [float(v) for v in b]
    pairs = list(zip(a, b, strict=True))
    if metric == "minkowski":
        total = 0.0
        for x, y in pairs:
            total += power(abs(x - y), p).item()
        return power(total, 1.0 / p).item()
    if metric == "chebyshev":
        return max((abs(x - y) for x, y in pairs), default=0.0)
    if metric == "cosine":
        dot = na = nb = 0.0
        for x, y in pairs:
            dot += x * y
            na += x * x
            nb += y * y
        if na == 0 or nb == 0:
            return 0.0 if na == nb else 1.0
        in_range = 1e-290 < na * nb < 1e290
        return max(0.0, 1.0 - dot / (math.sqrt(na * nb) if in_range else math.sqrt(na) * math.sqrt(nb)))
    if metric == "braycurtis":
        top = bottom = 0.0
        for x, y in pairs:
            top += abs(x - y)
            bottom += x + y
        return top / bottom if bottom else 0.0
    if metric == "nan_euclidean":
        total, present = 0.0, 0
        for x, y in pairs:
            if x == x and y == y:
                total += (x - y) * (x - y)
                present += 1
        return math.sqrt(total / (present / len(pairs))) if present else math.inf
    if metric == "gower":
        return gower(a, b)
    total = 0.0
    for x, y in pairs:
        if metric in ("euclidean", "sqeuclidean", "log_sqeuclidean"):
            total += (x - y) * (x - y)
        elif metric == "manhattan":
            total += abs(x - y)
        elif metric == "chi2":
            total += (x - y) * (x - y) / (x + y) if x + y else 0.0
        elif metric == "canberra":
            total += abs(x - y) / (abs(x) + abs(y)) if abs(x) + abs(y) else 0.0
        else:
            raise ValueError(metric)
    if metric == "euclidean":
        return math.sqrt(total)
    if metric == "log_sqeuclidean":
        return 1e5 * log_of_one_plus(total).item()
    return total


def distance_matrix(A, B, metric="euclidean", p=2.0):
    """All distances between the rows of A and of B: `distance`, with NumPy running over the pairs."""
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    columns = [(A[:, j, None], B[None, :, j]) for j in range(A.shape[1])]
    zero = np.zeros((len(A), len(B)))
    if metric == "minkowski":
        total = zero
        for a, b in columns:
            total = total + power(np.abs(a - b), p)
        return power(total, 1.0 / p)
    if metric == "chebyshev":
        total = zero
        for a, b in columns:
            total = np.maximum(total, np.abs(a - b))
        return total
    if metric == "cosine":
        dot, na, nb = zero, zero, zero
        for a, b in columns:
            dot, na, nb = dot + a * b, na + a * a, nb + b * b
        with np.errstate(divide="ignore", invalid="ignore"):
            in_range = (na * nb > 1e-290) & (na * nb < 1e290)
            norms = np.where(in_range, np.sqrt(na * nb), np.sqrt(na) * np.sqrt(nb))
            angle = np.maximum(0.0, 1.0 - dot / norms)
        return np.where((na == 0) | (nb == 0), np.where(na == nb, 0.0, 1.0), angle)
    if metric == "braycurtis":
        top, bottom = zero, zero
        for a, b in columns:
            top, bottom = top + np.abs(a - b), bottom + (a + b)
        return np.divide(top, bottom, out=zero.copy(), where=bottom != 0)
    if metric == "nan_euclidean":
        total, present = zero, zero
        for a, b in columns:
            both = ~np.isnan(a) & ~np.isnan(b)
            total, present = total + np.where(both, (a - b) * (a - b), 0.0), present + both
        share = present / A.shape[1]
        return np.sqrt(np.divide(total, share, out=np.full_like(zero, np.inf), where=present > 0))
    if metric == "gower":
        return gower_matrix(A, B)
    total = zero
    for a, b in columns:
        if metric in ("euclidean", "sqeuclidean", "log_sqeuclidean"):
            term = (a - b) * (a - b)
        elif metric == "manhattan":
            term = np.abs(a - b)
        elif metric == "chi2":
            term = np.divide((a - b) * (a - b), a + b, out=zero.copy(), where=a + b != 0)
        elif metric == "canberra":
            size = np.abs(a) + np.abs(b)
            term = np.divide(np.abs(a - b), size, out=zero.copy(), where=size != 0)
        else:
            raise ValueError(metric)
        total = total + term
    if metric == "euclidean":
        return np.sqrt(total)
    if metric == "log_sqeuclidean":
        return 1e5 * log_of_one_plus(total)
    return total


def gower(a, b, categorical=None, ranges=None, weights=None):
    """Gower's distance of two samples: no categories, and ranges and weights of 1, unless they are given."""
    total = present = 0.0
    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        x, y, weight = float(x), float(y), 1.0 if weights is None else float(weights[j])
        if x != x or y != y:
            continue
        if categorical is not None and categorical[j]:
            term = float(x != y)
        else:
            width = 1.0 if ranges is None else float(ranges[j])
            term = abs(x - y) / width if width else 0.0
        total += term * weight
        present += weight
    return total / present if present else 1.0


def gower_matrix(A, B, categorical=None, ranges=None, weights=None):
    """All of Gower's distances between the rows of A and of B."""
    return np.array([[gower(a, b, categorical, ranges, weights) for b in B] for a in A]).reshape(
        len(A), len(B)
    )


def power(x, y):
    """The double nearest to x^y, for each x >= 0."""
    return _nearest(x, lambda wide: np.power(wide, np.longdouble(y)), lambda v: exact_power(v, y))


def log_of_one_plus(x):
    """The double nearest to log(1 + x), for each x >= 0."""
    return _nearest(x, np.log1p, exact_log_of_one_plus)


def exact_power(x, y):
    """The same for one number and by decimal digits alone."""
    return float(DIGITS.power(decimal.Decimal(x), decimal.Decimal(y))) if x else 0.0


def exact_log_of_one_plus(x):
    """The same for one number and by decimal digits alone."""
    return float(DIGITS.ln(DIGITS.add(1, decimal.Decimal(x)))) if x > 1e-16 else x


DIGITS = decimal.Context(prec=100, Emin=-(10**6), Emax=10**6)


def _nearest(x, wide_function, exact_function):
    """Round values that long doubles have computed; where these lie too near the middle, decimals decide."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        wide = wide_function(x.astype(np.longdouble))
        doubt = 8 * np.finfo(np.longdouble).eps
        low, high = (np.asarray(wide * (1 + d), dtype=np.float64) for d in (-doubt, doubt))
    for place in np.argwhere(low != high):
        low[tuple(place)] = exact_function(x[tuple(place)].item())
    return low


# Graph


def nearest(D, k):
    """The k smallest entries of each row of D, by (distance, index)."""
    lists = [sorted((w, j) for j, w in enumerate(row))[:k] for row in D.tolist()]
    return _split_lists(lists, k)


def knn(D, k):
    """The k nearest others of every sample, by (distance, index)."""
    lists = [sorted((w, j) for j, w in enumerate(row) if j != i)[:k] for i, row in enumerate(D.tolist())]
    return _split_lists(lists, k)


def _split_lists(lists, k):
    distances = np.array([[w for w, _ in row] for row in lists], dtype=np.float64).reshape(len(lists), k)
    indices = np.array([[j for _, j in row] for row in lists], dtype=np.int32).reshape(len(lists), k)
    return distances, indices


def spanning_tree(D):
    """Kruskal over every arc in the order (weight, lower endpoint, higher endpoint)."""
    n, rows = len(D), D.tolist()
    component = list(range(n))
    tree = []
    arcs = [(rows[a][b], a, b) for a in range(n) for b in range(a + 1, n)]
    for w, i, j in sorted(arcs):
        if component[i] != component[j]:
            old, new = component[j], component[i]
            component = [new if c == old else c for c in component]
            tree.append((w, i, j))
    source = np.array([i for _, i, _ in tree], dtype=np.int32)
    target = np.array([j for _, _, j in tree], dtype=np.int32)
    return source, target, np.array([w for w, _, _ in tree], dtype=np.float64)


# Supervised competition (Algorithms 1 and 3)


def prototypes(tree, codes):
    """Both ends of each tree arc that joins two classes; the first sample if there is no such arc."""
    source, target, _ = tree
    ends = {int(u) for i, j in zip(source, target, strict=True) if codes[i] != codes[j] for u in (i, j)}
    return np.array(sorted(ends) or [0], dtype=np.int32)


def compete(D, prototypes, membership, side="target", tree=None):
    """Algorithm 3 with costs that are pairs (value, arc); over the complete graph, or along `tree` only.

    An arc is (its own weight, lower end, higher end). A membership multiplies the value, not the arc.
    """
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


# Density, clustering (Algorithm 2) and membership


def kernel_width(distances, squared):
    """The divisor inside the exponential of Eq. 3, from the largest arc of the graph."""
    largest = float(distances.max()) if distances.size else 0.0
    return 2.0 * largest / 9.0 if squared else 2.0 * (largest / 3.0) * (largest / 3.0)


def exponential(x):
    """exp(x) for x <= 0 in plain IEEE arithmetic, so that it has the same bits on every machine.

    The C library's exp has not. With n the integer nearest to x / log(2), exp(x) = 2^n exp(r), and for exp(r)
    there is a polynomial, that of the kernels; that it is right is tested against exact arithmetic.
    """
    x = np.maximum(np.asarray(x, dtype=np.float64), -746.0)
    shift = float.fromhex("0x1.8p52")
    n = (x * float.fromhex("0x1.71547652b82fep+0") + shift) - shift
    r = (x - n * float.fromhex("0x1.62e42fefa3p-1")) - n * float.fromhex("0x1.3de6af278ece6p-42")
    square = r * r
    odd = even = np.zeros_like(x)
    for factor in ("1.ad7f6f0799ee2p-26", "1.71df2552390c2p-19", "1.a01a012a57b51p-13", "1.1111111127be5p-7"):
        odd = (odd + float.fromhex(f"0x{factor}")) * square
    for factor in ("1.28ad72cc30daap-22", "1.a0199a0c677acp-16", "1.6c16c1842a11dp-10", "1.555555555087cp-5"):
        even = (even + float.fromhex(f"0x{factor}")) * square
    odd, even = odd + float.fromhex("0x1.55555555554fap-3"), even + float.fromhex("0x1.000000000000ap-1")
    return np.ldexp(1.0 + (r + square * (even + odd * r)), n.astype(int))


def density(distances, width, squared):
    """Eq. 3 without its constant factor; one value per row of neighbour distances."""
    if width == 0:
        return np.ones(len(distances))
    terms = exponential(-distances / width if squared else -(distances * distances) / width)
    total = np.zeros(len(distances))
    for column in terms.T:
        total = total + column
    return total


def scale_density(rho, low=None, high=None):
    """Densities on [1, 1000] by the extremes given (default: their own); all 1000 if those are equal."""
    low, high = (rho.min() if low is None else low), (rho.max() if high is None else high)
    return np.full(len(rho), 1000.0) if low == high else (rho - low) / (high - low) * 999.0 + 1.0


def cluster_arcs(distances, indices, rho):
    """Arcs (target, weight) of every node: its neighbours, then those added to make plateaus symmetric."""
    n, indices, distances = len(rho), indices.tolist(), distances.tolist()
    listed = [list(zip(indices[q], distances[q], strict=True)) for q in range(n)]
    added = [[] for _ in range(n)]
    for q in range(n):
        for u, w in listed[q]:
            if rho[u] == rho[q] and q not in indices[u]:
                added[u].append((q, w))
    return [listed[q] + sorted(added[q]) for q in range(n)]


def cluster(distances, indices, rho):
    """Algorithm 2 on scaled densities: labels, predecessor, root, cost, and the normalised cut."""
    n, rho = len(rho), [float(r) for r in rho]
    arcs = cluster_arcs(distances, indices, rho)
    cost = [r - DELTA for r in rho]
    labels, predecessor, root = [-1] * n, [-1] * n, list(range(n))
    waiting, born = set(range(n)), 0
    while waiting:
        q = max(waiting, key=lambda u: (cost[u], -u))
        waiting.remove(q)
        if predecessor[q] == -1:
            labels[q], cost[q], born = born, rho[q], born + 1
        for u, _ in arcs[q]:
            offer = min(cost[q], rho[u])
            if u in waiting and offer > cost[u]:
                cost[u], predecessor[u], root[u], labels[u] = offer, q, root[q], labels[q]
    # int + ext in one sum; sub-totals of each node first. No rule asks for this order of the additions, but
    # with the library's own the cuts can be compared for equality.
    total, outside = [0.0] * born, [0.0] * born
    for q in range(n):
        own_total = own_outside = 0.0
        for u, w in arcs[q]:
            if w > 0:
                own_total += 1.0 / w
                own_outside += 1.0 / w if labels[u] != labels[q] else 0.0
        total[labels[q]] += own_total
        outside[labels[q]] += own_outside
    cut = 0.0
    for t, o in zip(total, outside, strict=True):
        cut += o / t if t > 0 else 0.0
    return *(np.array(a, dtype=np.int32) for a in (labels, predecessor, root)), np.array(cost), cut


def components(samples, indices):
    """Connected components of some samples, arcs of the neighbour lists taken in both directions."""
    rest, found = set(samples), []
    while rest:
        grown, fresh = set(), {min(rest)}
        while fresh:
            grown |= fresh
            fresh = {u for u in rest - grown if any(u in indices[q] or q in indices[u] for q in fresh)}
        rest -= grown
        found.append(frozenset(grown))
    return found


def dome_tree(distances, indices, rho, labels, founders, attribute):
    """Rows (child, parent, level, height, area, volume) of domes that cease to count, in order.

    `founders` come densest first. Of domes that meet the largest attribute wins, then the earlier founder;
    the samples of the others go across the highest arc that leads out, of equally high ones the shortest, and
    of equally long ones that with the lower ends.
    """
    rho, indices, rows, winner = [Fraction(float(r)) for r in rho], indices.tolist(), [], {}
    place = {int(q): i for i, q in enumerate(founders)}
    position = ("height", "area", "volume").index(attribute)

    def meet(domes, level):
        measured = []
        for dome, q in domes:
            above = [rho[u] - level for u in dome]
            measured.append(((rho[q] - level, len(above), sum(above)), -place[q], q))
        measured.sort(key=lambda one: (one[0][position], one[1]))
        rows.extend((q, measured[-1][2], level, *measures) for measures, _, q in measured[:-1])
        return measured[-1][2] if measured else None

    for level in sorted(set(rho), reverse=True):
        higher = [u for u in range(len(rho)) if rho[u] > level]
        domes = [(dome, winner[dome]) for dome in components(higher, indices) if winner[dome] is not None]
        domes += [(frozenset(), q) for q in place if rho[q] == level]
        for grown in components([u for u in range(len(rho)) if rho[u] >= level], indices):
            winner[grown] = meet([(dome, q) for dome, q in domes if q in grown], level)
    rows.sort(key=lambda row: (float(row[3 + position]), -row[2], -place[row[0]]))
    meet([(part, winner[part]) for part in components(range(len(rho)), indices)], 0)
    owner = [int(founders[label]) for label in labels]
    listed = (
        (q, *arc) for q in range(len(rho)) for arc in zip(indices[q], distances[q].tolist(), strict=True)
    )
    arcs = [(-min(rho[u], rho[q]), length, min(u, q), max(u, q)) for q, u, length in listed]
    result = []
    for child, parent, level, height, area, volume in rows:
        leaving = [arc for arc in arcs if (owner[arc[2]] == child) != (owner[arc[3]] == child)]
        if leaving:
            *_, i, j = min(leaving)
            parent = owner[j] if owner[i] == child else owner[i]
        owner = [parent if q == child else q for q in owner]
        result.append((child, parent, float(level), float(height), area, float(volume)))
    return result


def count_above_gap(sizes):
    """Number of clusters if the sizes of the absorbed domes are cut at the largest clear ratio."""
    sizes = sorted(map(Fraction, sizes), reverse=True)
    if not sizes or sizes[0] == 0:
        return 1
    smallest = Fraction(0.003 * float(sizes[0]))
    raised = [max(size, smallest) for size in [*sizes, 0]]
    ratios = [float(a / b) for a, b in pairwise(raised)]
    gaps = [r for r, a in zip(ratios, raised, strict=False) if r >= 2 and r * r >= float(raised[0] / a)]
    return ratios.index(max(gaps)) + 2 if gaps else 1


def merge_domes(tree, labels, founders, n_clusters):
    """Founder of each sample's cluster when the first rows have taken effect."""
    owner = [int(founders[label]) for label in labels]
    for child, parent, *_ in tree[: len(founders) - n_clusters]:
        owner = [parent if q == child else q for q in owner]
    return owner


def noise(rho, owner, share):
    """Which samples are below the density that at most this share of their cluster is below."""
    result = []
    for i, q in enumerate(owner):
        own = sorted(rho[j] for j, other in enumerate(owner) if other == q)
        result.append(bool(rho[i] < min(own[int(share * len(own))], rho[q])))
    return result


def compete_within_classes(distances, indices, rho, codes):
    """The competition of Algorithm 2 with arcs between classes left out: predecessor, root, cost."""
    n, rho = len(rho), [float(r) for r in rho]
    arcs = cluster_arcs(distances, indices, rho)
    cost, predecessor, root = [r - DELTA for r in rho], [-1] * n, list(range(n))
    waiting = set(range(n))
    while waiting:
        q = max(waiting, key=lambda u: (cost[u], -u))
        waiting.remove(q)
        if predecessor[q] == -1:
            cost[q] = rho[q]
        for u, _ in arcs[q]:
            offer = min(cost[q], rho[u]) if codes[u] == codes[q] else -math.inf
            if u in waiting and offer > cost[u]:
                cost[u], predecessor[u], root[u] = offer, q, root[q]
    return *(np.array(a, dtype=np.int32) for a in (predecessor, root)), np.array(cost)


def search_k(distances, indices, k_max, squared):
    """The smallest k with the smallest cut, and the cuts tried: the search ends at a cut of 0."""
    cuts = []
    for k in range(1, k_max + 1):
        near = distances[:, :k]
        rho = scale_density(density(near, kernel_width(near, squared), squared))
        cuts.append(cluster(near, indices[:, :k], rho)[-1])
        if cuts[-1] == 0:
            break
    return (cuts.index(min(cuts)) + 1 if cuts else 0), np.array(cuts)


def membership(rho, sigma):
    """Eq. 5; equal densities give 1."""
    low, high = rho.min(), rho.max()
    if low == high:
        return np.ones(len(rho))
    t = (rho - low) / (high - low)
    return (1.0 - sigma) * (t * t) + sigma


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


def predict_cluster(D, k, squared, width, low, high, cost, labels):
    """Clusters of new samples, one per row of D: among the k nearest, the largest min(C(q), rho(t))."""
    if k == 0:
        return np.zeros(len(D), dtype=np.int32)
    distances, indices = nearest(D, k)
    rho = scale_density(density(distances, width, squared), low, high)
    winners = [
        max(range(k), key=lambda i: (min(float(cost[near[i]]), float(r)), -i))
        for near, r in zip(indices, rho, strict=True)
    ]
    return np.array([labels[indices[t, i]] for t, i in enumerate(winners)], dtype=np.int32)
