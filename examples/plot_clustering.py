"""
Clusters without a number of clusters
=====================================

`OPFClustering` finds the number of clusters by itself. Every maximum of the density founds a cluster and
conquers the samples it can reach without crossing a deep valley. Most maxima are noise: their domes are
small, and a gap in the sizes separates them from those that count.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pathforest import OPFClustering
from pathforest.plotting import plot_cluster_tree, plot_clusters

# %%
# Five clouds of different size and density.

centres = [[0, 0], [4, 0], [2, 4], [6.5, 3.5], [-3, 4]]
X, _ = make_blobs(
    [300, 150, 150, 80, 120], centers=centres, cluster_std=[1, 0.5, 0.8, 0.3, 0.6], random_state=0
)
model = OPFClustering().fit(X)
print(f"{len(model.cluster_roots_)} clusters, sizes {np.bincount(model.labels_)}")

# %%
# Rings mark the maxima of the density; lines show the paths of conquest.

plot_clusters(model)
plt.show()

# %%
# The tree of domes: a bar goes from the density at which a dome meets a larger one up to its top. On the
# right, the sizes of the domes, and the gap that decides.

plot_cluster_tree(model)
plt.show()

# %%
# Coarser and finer clusters come from the same tree, without fitting again.

for n_clusters in (2, 3, 8):
    print(n_clusters, np.bincount(model.layer(n_clusters)))

# %%
# The paper's clustering has a cluster for every maximum, and chooses the neighbourhood whose clusters have
# the smallest normalised cut, the weight of the arcs between clusters.

plot_clusters(OPFClustering(selection="cut", k_max=60).fit(X))
plt.show()
