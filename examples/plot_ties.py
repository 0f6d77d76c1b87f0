"""
Why ties matter
===============

Counts, pixels and ratings are integers, and integers make equal distances common. The textbook algorithm
compares path costs by value alone. When two paths cost the same, the first to arrive wins, and one class
can leak into another: *training* samples lose their own label, although the theory promises that none does.

Here arcs are always compared by length, then by lower endpoint, then by higher endpoint. With this rule the
promise holds on every input.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.spatial.distance import cdist

from pathforest import OPFClassifier
from pathforest.plotting import plot_forest

# %%
# Sixty points of an integer grid, in three classes: the class is the nearest of three centres.

rng = np.random.default_rng(4379)  # found by trial: on this grid one class is nearly lost
cells = rng.choice(144, size=60, replace=False)
X = np.column_stack([cells // 12, cells % 12])
y = np.abs(X[:, None] - rng.integers(0, 12, size=(3, 2))).sum(axis=2).argmin(axis=1)
D = cdist(X, X)
print(f"{len(np.unique(D)) - 1} different distances among {len(X) * (len(X) - 1) // 2} pairs")


# %%
# The textbook: Prim's spanning tree, then a competition over all pairs in which only values are compared.


def textbook_opf(D, y):
    parent, length, left = np.full(len(D), -1), np.full(len(D), np.inf), np.ones(len(D), dtype=bool)
    prototypes = set()
    for _ in D:
        q = np.flatnonzero(left)[length[left].argmin()]
        left[q] = False
        if parent[q] >= 0 and y[parent[q]] != y[q]:
            prototypes |= {q, parent[q]}
        closer = left & (D[q] < length)
        parent[closer], length[closer] = q, D[q][closer]

    cost, predecessor, queue = np.full(len(D), np.inf), np.full(len(D), -1), sorted(prototypes)
    cost[queue], label = 0.0, y.copy()
    while queue:
        q = queue.pop(int(np.argmin(cost[queue])))
        offer = np.maximum(cost[q], D[q])
        for u in np.flatnonzero(offer < cost):
            cost[u], predecessor[u], label[u] = offer[u], q, label[q]
            queue = [other for other in queue if other != u] + [u]  # behind others of the same cost
    return label, predecessor


textbook, predecessor = textbook_opf(D, y)
model = OPFClassifier().fit(X, y)
print(f"training labels lost: textbook {np.sum(textbook != y)}, here {np.sum(model.label_ != y)}")

# %%
# Samples have the colour of their own class, and paths have the colour of the class that conquered them;
# crosses are samples that lost their label.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), sharey=True, layout="constrained")
colors = np.array(["#0072B2", "#E69F00", "#009E73"])
child, lost = np.flatnonzero(predecessor >= 0), textbook != y
arcs = np.stack([X[child], X[predecessor[child]]], axis=1)
left.add_collection(LineCollection(arcs, colors=colors[textbook[child]], linewidths=1.2, alpha=0.7))
left.scatter(*X.T, c=colors[y], s=30, edgecolors="white", linewidths=0.4, zorder=3)
left.scatter(*X[predecessor < 0].T, s=55, facecolors="none", edgecolors="black", linewidths=1.1, zorder=4)
left.scatter(*X[lost].T, marker="x", s=55, c="black", linewidths=1.2, zorder=5)
left.set(title=f"Textbook: {np.sum(lost)} of {len(X)} training labels lost", xlabel="x0", ylabel="x1")
plot_forest(model, ax=right)
right.set(title="With one rule for ties: none lost", ylabel="")
plt.show()
