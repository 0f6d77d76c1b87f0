"""What `find_issues` reports, straight from the definitions: one sample after the other."""

import math

import numpy as np

import reference


def others(D, i, samples):
    """Distances and indices of some samples apart from i, by (distance, index)."""
    return sorted((float(D[i, j]), int(j)) for j in samples if j != i)


def mean(values):
    """The mean of ascending numbers, added one after the other; infinity if there are none."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else math.inf


def class_offers(D, codes, r):
    """For each sample and class, its r nearest others in the class as (distance, index)."""
    classes = range(int(codes.max()) + 1)
    return [[others(D, i, np.flatnonzero(codes == c))[:r] for c in classes] for i in range(len(codes))]


def label_score(own, other):
    """Score of a label, given the costs of its class and of the best other."""
    if own == math.inf:
        return 0.0
    if other == math.inf:
        return 1.0
    return 0.5 if own == other == 0 else other / (own + other)


def border_score(own, other):
    """The smaller cost as a share of the larger."""
    low, high = min(own, other), max(own, other)
    if high == 0:
        return 1.0
    return 0.0 if high == math.inf else low / high


def padded(lists, r):
    """Lists of (distance, index) as two arrays, inf and -1 behind the last."""
    full = [found + [(math.inf, -1)] * (r - len(found)) for found in lists]
    return np.array([[d for d, _ in row] for row in full]), np.array([[j for _, j in row] for row in full])


def joined(n, are_joined):
    """Groups of samples that a symmetric relation joins, by their first sample."""
    related = [[j for j in range(n) if are_joined(i, j)] for i in range(n)]
    return [sorted(group) for group in reference.components(range(n), related)]


def numbered(n, groups):
    """Number of the group of each sample, -1 for those in none."""
    number = np.full(n, -1)
    for place, group in enumerate(groups):
        number[group] = place
    return number


def duplicate_groups(X):
    """Groups of two or more equal rows."""
    groups = joined(len(X), lambda i, j: all(a == b for a, b in zip(X[i], X[j], strict=True)))
    return numbered(len(X), [group for group in groups if len(group) > 1])


def islands(D, codes, r):
    """Groups of 2 to r samples of a class, joined by neighbour lists, that are smaller than its largest."""
    n = len(D)
    near = [{j for _, j in others(D, i, range(n))[:r]} for i in range(n)]
    parts = joined(n, lambda i, j: codes[i] == codes[j] and (j in near[i] or i in near[j]))
    largest = {}
    for part in parts:
        largest[codes[part[0]]] = max(largest.get(codes[part[0]], 0), len(part))
    return numbered(
        n, [part for part in parts if 2 <= len(part) <= r and len(part) < largest[codes[part[0]]]]
    )


def fast(D, codes, r):
    """Everything that comes from distances and labels, by the names of `Issues`; classes as codes."""
    n, offers = len(D), class_offers(D, codes, r)
    found = {name: [] for name in ("cost", "rival", "rival_cost", "score", "suggested", "border_score")}
    own_lists, rival_lists = [], []
    for i, code in enumerate(codes):
        costs = [mean([d for d, _ in lists]) for lists in offers[i]]
        rivals = [c for c in range(len(costs)) if c != code]
        rival = min(rivals, key=lambda c: (costs[c], offers[i][c][:1]), default=None)  # (distance, index)
        if rival is not None and costs[rival] == math.inf:
            rival = None
        own, other = costs[code], math.inf if rival is None else costs[rival]
        own_lists.append(offers[i][code])
        rival_lists.append([] if rival is None else offers[i][rival])
        found["cost"].append(own)
        found["rival"].append(code if rival is None else rival)
        found["rival_cost"].append(other)
        found["score"].append(label_score(own, other))
        found["suggested"].append(rival if other < own else code)
        found["border_score"].append(border_score(own, other))
    found = {name: np.array(values) for name, values in found.items()}
    better = found["rival_cost"] < found["cost"]
    found["is_label_issue"], found["noise_share"] = flags(found["score"], better, found["rival"], codes)
    found["distances"], found["conquerors"] = padded(own_lists, r)
    found["rival_distances"], found["rival_conquerors"] = padded(rival_lists, r)
    nearest = [others(D, i, range(n))[:1] for i in range(n)]
    found["nearest_distance"], found["nearest"] = (array[:, 0] for array in padded(nearest, 1))
    found["island"] = islands(D, codes, r)
    confusion = np.zeros((codes.max() + 1,) * 2, dtype=int)
    for given, suggested in zip(codes, found["suggested"], strict=True):
        confusion[given, suggested] += 1
    found["confusion"] = confusion
    return found


def flags(share, prefers_rival, rival, codes):
    """Labels that are called wrong, and the share of wrong ones, by classes that fit better."""
    n, found, n_mistakes = len(codes), np.zeros(len(codes), dtype=bool), 0.0
    for code in sorted(set(codes.tolist())):
        agree = [share[i] - 0.5 for i in range(n) if codes[i] == code and share[i] > 0.5]
        doubted = [
            i for i in range(n) if prefers_rival[i] and rival[i] == code and (codes == codes[i]).sum() > 1
        ]
        if agree and doubted:
            usual = float(np.mean(agree))
            clarity = [min((0.5 - share[i]) / (2 * usual), 1) for i in doubted]
            mistake = probabilities_of_mistakes(clarity)
            if sum(mistake) <= 0.6 * len(agree):
                n_mistakes += sum(mistake)
                for i, clear, probability in zip(doubted, clarity, mistake, strict=True):
                    found[i] = probability >= 0.7 and clear >= 0.25
    return found, n_mistakes / n


def probabilities_of_mistakes(clarity):
    """Probabilities of the even part, mixed with a parabola that falls to 0 where clarity is 1."""
    part = 0.5
    for _ in range(60):
        mistake = [part / (part + (1 - part) * (3 * (1 - value) ** 2)) for value in clarity]
        part = sum(mistake) / len(mistake)
    return mistake


def outlier_scores(D, r, squared):
    """Density on a logarithmic scale, 0 for the highest and 1 for the lowest; and which are far out."""
    k = min(r, len(D) - 1)
    if k == 0:
        return np.zeros(1), np.zeros(1, dtype=bool)
    distances, _ = reference.knn(D, k)
    rho = reference.density(distances, reference.kernel_width(distances, squared), squared)
    log = [math.log(value) for value in rho]
    low, high = min(log), max(log)
    score = np.array([(high - value) / (high - low if high > low else 1.0) for value in log])
    lower, upper = np.quantile(score, [0.25, 0.75])
    return score, score > upper + 3 * (upper - lower)
