"""
The idea in three pictures
==========================

An Optimum-Path Forest grows in three steps. A minimum spanning tree connects the samples. Where an arc of
that tree joins two classes, the classes meet, and both its ends become *prototypes*. The prototypes then
compete for the other samples, along paths that cost as much as their longest arc. A new sample joins the tree
that reaches it most cheaply, which divides the whole space.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from pathforest import OPFClassifier
from pathforest.plotting import plot_decision_regions, plot_forest

X, y = make_moons(90, noise=0.2, random_state=3)
y = np.array(["upper", "lower"])[y]

# %%
# First the spanning tree: the shortest network that connects all samples. Arcs that join two classes are
# bold; they show where the classes meet.

tree = minimum_spanning_tree(cdist(X, X)).tocoo()
joins_classes = y[tree.row] != y[tree.col]
arcs = np.stack([X[tree.row], X[tree.col]], axis=1)
fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
ax.add_collection(LineCollection(arcs[~joins_classes], colors="#aaaaaa", linewidths=1))
ax.add_collection(LineCollection(arcs[joins_classes], colors="black", linewidths=2.5))
for name, color in (("lower", "#0072B2"), ("upper", "#E69F00")):
    ax.scatter(*X[y == name].T, c=color, s=36, edgecolors="white", linewidths=0.4, zorder=3, label=name)
ax.set(xlabel="x0", ylabel="x1")
ax.legend(frameon=False)
plt.show()

# %%
# The ends of those arcs become prototypes, drawn with rings. The prototype that reaches a sample most cheaply
# conquers it; the lines are the paths. Nothing needs tuning, and training loses no label.

model = OPFClassifier().fit(X, y)
print(f"{len(model.prototypes_)} prototypes for {len(X)} samples, training error {model.training_error_}")
fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
plot_forest(model, ax=ax)
plt.show()

# %%
# All training samples make an offer to a new sample: the cost of their own path or the distance to the new
# sample, whichever is larger. The cheapest offer wins, and the new sample takes its label.

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
plot_decision_regions(model, ax=ax)
ax.scatter(*X[model.prototypes_].T, s=60, facecolors="none", edgecolors="black")
plt.show()
