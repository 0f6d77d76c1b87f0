"""
The idea in one picture
=======================

An Optimum-Path Forest grows in three steps. The samples are joined by a minimum spanning tree. Where an arc
of that tree joins two classes, the classes meet, and both its ends become *prototypes*. The prototypes then
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
model = OPFClassifier().fit(X, y)

# %%
# The model needs no tuning; what it learned are arrays. Training never loses a label.

print(f"{len(model.prototypes_)} prototypes for {len(X)} samples, training error {model.training_error_}")

# %%
# The spanning tree is not kept, so the first panel computes it again. Arcs that join two classes are black.

fig, (tree_ax, forest_ax, region_ax) = plt.subplots(
    1, 3, figsize=(13, 4), sharex=True, sharey=True, layout="constrained"
)
tree = minimum_spanning_tree(cdist(X, X)).tocoo()
joins_classes = y[tree.row] != y[tree.col]
arcs = np.stack([X[tree.row], X[tree.col]], axis=1)
tree_ax.add_collection(LineCollection(arcs[~joins_classes], colors="#aaaaaa", linewidths=1))
tree_ax.add_collection(LineCollection(arcs[joins_classes], colors="black", linewidths=2.2))
colors = np.where(y == "upper", "#E69F00", "#0072B2")
tree_ax.scatter(*X.T, c=colors, s=30, edgecolors="white", linewidths=0.4, zorder=3)
tree_ax.set(title="1. Spanning tree: black where classes meet", xlabel="feature 0", ylabel="feature 1")

plot_forest(model, ax=forest_ax, legend=False)
forest_ax.set(title="2. Prototypes conquer the training samples", ylabel="")

plot_decision_regions(model, ax=region_ax)
region_ax.scatter(*X[model.prototypes_].T, s=60, facecolors="none", edgecolors="black")
region_ax.set(title="3. New samples join the cheapest tree", ylabel="")
plt.show()
