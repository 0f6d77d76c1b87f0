"""LibOPF, slow and obvious: training and classification with float32 as it does them, and its files."""

import struct
from typing import NamedTuple

import numpy as np
import reference

F = np.float32


class Trained(NamedTuple):
    """What LibOPF keeps of a trained model."""

    X: np.ndarray
    label: np.ndarray
    true_label: np.ndarray
    predecessor: np.ndarray
    cost: np.ndarray
    order: np.ndarray
    best_k: int = 0
    df: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    density: np.ndarray | None = None


def model_bytes(model, real="f", newer=True, position=None):
    """A model file; `real` is "f" or "d", and older files lack the neighbourhood and the densities."""
    n, n_features = model.X.shape
    density = np.zeros(n) if model.density is None else model.density
    position = range(n) if position is None else position
    data = struct.pack("<3i", n, int(max(model.true_label)), n_features) + struct.pack("<" + real, model.df)
    if newer:
        data += struct.pack("<i", model.best_k)
    data += struct.pack("<3" + real, 2 * model.df / 9, model.lowest, model.highest)
    for i in range(n):
        integers = position[i], model.true_label[i], model.predecessor[i], model.label[i]
        reals = [model.cost[i], 0.0, *([density[i]] if newer else []), *model.X[i]]
        data += struct.pack("<4i", *integers) + struct.pack(f"<{len(reals)}{real}", *reals)
    return data + struct.pack(f"<{n}i", *model.order)


# Training and classification


def arc(a, b):
    """LibOPF's distance: the log of the squared Euclidean one, which is summed as float32."""
    total = F(0)
    for x, y in zip(a, b, strict=True):
        total += (F(x) - F(y)) * (F(x) - F(y))
    return F(1e5 * np.log(float(total + F(1))))


def arcs(A, B):
    return np.array([[arc(a, b) for b in B] for a in A], dtype=F)


def train(X, y):
    """The complete graph: a path costs as much as its longest arc."""
    D = arcs(X, X)
    prototypes = reference.prototypes(reference.spanning_tree(D), y)
    cost, predecessor, root, order = reference.compete(D, prototypes, np.ones(len(X)))
    return Trained(X, y[root], y, predecessor, cost, order)


def classify(model, Q):
    """The label of the first training sample, in order, that makes the lowest offer."""
    _, conquerors = reference.conquer(arcs(Q, model.X), model.cost, model.order)
    return model.label[conquerors[:, 0]]


def train_densities(X, k, y=None):
    """The graph of k nearest neighbours: paths are worth their lowest density, and keep to a class."""
    D, n = arcs(X, X), len(X)
    near = [sorted((q for q in range(n) if q != p), key=lambda q: D[p, q])[:k] for p in range(n)]
    df = max(D[p, near[p][-1]] for p in range(n))
    width = F(2 * float(df) / 9)
    value = np.array(
        [F(sum(np.exp(-D[p, q] / width) for q in near[p])) / F(k + 1) for p in range(n)], dtype=F
    )
    lowest, highest = value.min(), value.max()
    density = (F(999) * (value - lowest) / (highest - lowest) + F(1)).astype(F)
    cost, predecessor, order = density - F(1), np.full(n, -1), []
    label, n_clusters = np.zeros(n, dtype=int), 0
    while len(order) < n:
        p = max((q for q in range(n) if q not in order), key=lambda q: cost[q])
        order.append(p)
        if predecessor[p] < 0:
            cost[p], label[p] = density[p], n_clusters if y is None else y[p]
            n_clusters += 1
        for q in near[p]:
            offer = min(cost[p], density[q])
            if q not in order and offer > cost[q] and (y is None or y[p] == y[q]):
                cost[q], label[q], predecessor[q] = offer, label[p], p
    true_label = np.zeros(n, dtype=int) if y is None else y
    extremes = float(df), float(lowest), float(highest)
    return Trained(X, label, true_label, predecessor, cost, np.array(order), k, *extremes, density)


def classify_by_density(model, Q):
    """Of the k nearest, the one with the largest min(path value, density of the query), and the nearest."""
    width, answers = F(2 * model.df / 9), []
    for row in arcs(Q, model.X):
        near = np.argsort(row, kind="stable")[: model.best_k]
        value = F(sum(np.exp(-row[q] / width) for q in near)) / F(model.best_k)
        density = F(999) * (value - F(model.lowest)) / (F(model.highest) - F(model.lowest)) + F(1)
        answers.append(model.label[near[np.argmax(np.minimum(model.cost[near], density))]])
    return np.array(answers)
