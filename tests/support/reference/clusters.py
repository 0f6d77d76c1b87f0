"""Density (Eq. 3), clusters (Algorithm 2), domes, the search for k, and membership (Eq. 5)."""

import math
from fractions import Fraction

import numpy as np

from reference.distances import log_of_one_plus
from reference.graph import components, nearest

SQUARED = {"sqeuclidean", "log_sqeuclidean"}  # already squares: Eq. 3 does not square them again
DELTA = 1.0  # Eq. 4, on densities scaled to [1, 1000]


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


def scale_density(rho, low=None, high=None, k=None):
    """Densities on [1, 1000] by the extremes given (default: their own); all 1000 if those are equal.

    Given the k they come from, their logarithms.
    """
    low, high = (rho.min() if low is None else low), (rho.max() if high is None else high)
    if k is not None:
        rho, (low, high) = log_density(rho, k), log_density(np.array([low, high]), k)
    return np.full(len(rho), 1000.0) if low == high else (rho - low) / (high - low) * 999.0 + 1.0


def log_density(rho, k):
    """-log(log(k / rho)), the logarithm of the density but for factor and constant, of our own rounding."""
    with np.errstate(divide="ignore"):
        exponent = log_of_one_plus(np.maximum((k - rho) / rho, 2.0**-53))
    small, large = np.minimum(exponent, 1), np.maximum(exponent, 1)
    return np.where(exponent < 1, log_of_one_plus(1 / small - 1), -log_of_one_plus(large - 1))


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


def cluster(distances, indices, rho, codes=None, conquest=None):
    """Algorithm 2 on scaled densities: labels, predecessor, root, cost, and the normalised cut.

    Given codes of classes, no offer crosses from one to another. A list given as `conquest` gets the samples
    as they leave the queue.
    """
    conquest = [] if conquest is None else conquest
    n, rho = len(rho), [float(r) for r in rho]
    arcs = cluster_arcs(distances, indices, rho)
    cost = [r - DELTA for r in rho]
    labels, predecessor, root = [-1] * n, [-1] * n, list(range(n))
    waiting, born = set(range(n)), 0
    while waiting:
        q = max(waiting, key=lambda u: (cost[u], -u))
        waiting.remove(q)
        conquest.append(q)
        if predecessor[q] == -1:
            labels[q], cost[q], born = born, rho[q], born + 1
        for u, _ in arcs[q]:
            offer = min(cost[q], rho[u]) if codes is None or codes[u] == codes[q] else -math.inf
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


def clear_height(distances, rho, squared):
    """Height that makes a dome clear of chance, for the logarithms of these densities on [1, 1000]."""
    n, k = distances.shape
    low, high = (float(x) for x in log_density(np.array([rho.min(), rho.max()]), k))
    if low == high:
        return math.inf
    inner = max(k // 2, 1)
    near, far = distances[:, inner - 1], distances[:, k - 1]
    growth = np.log(far[near > 0] / near[near > 0])
    d = math.log(k / inner) / growth.mean() if growth.sum() > 0 else 1.0
    d = min(max(1.0, 2 * d if squared else d), max(1.0, math.log2(n)))
    return (1 + 2 / d) * math.sqrt(math.log(n / k) / k) * 2 / d * 999 / (high - low)


def merge_domes(tree, labels, founders, n_clusters):
    """Founder of each sample's cluster when the first rows have taken effect."""
    owner = [int(founders[label]) for label in labels]
    for child, parent, *_ in tree[: len(founders) - n_clusters]:
        owner = [parent if q == child else q for q in owner]
    return owner


def noise(rho, owner, share):
    """Which samples are below the density that at most this share of their cluster is below.

    For "auto" below the median less three times what the 95th percentile is above it.
    """
    result = []
    for i, q in enumerate(owner):
        own = sorted(rho[j] for j, other in enumerate(owner) if other == q)
        if share == "auto":
            middle, high = own[int(0.5 * len(own))], own[int(0.95 * len(own))]
            level = middle - 3.0 * (high - middle)
        else:
            level = own[int(share * len(own))]
        result.append(bool(rho[i] < min(level, rho[q])))
    return result


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


def predict_cluster(D, k, squared, width, low, high, cost, labels, logarithmic=False):
    """Clusters of new samples, one per row of D: among the k nearest, the largest min(C(q), rho(t))."""
    if k == 0:
        return np.zeros(len(D), dtype=np.int32)
    distances, indices = nearest(D, k)
    rho = scale_density(density(distances, width, squared), low, high, k if logarithmic else None)
    winners = [
        max(range(k), key=lambda i: (min(float(cost[near[i]]), float(r)), -i))
        for near, r in zip(indices, rho, strict=True)
    ]
    return np.array([labels[indices[t, i]] for t, i in enumerate(winners)], dtype=np.int32)
