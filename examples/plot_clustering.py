"""
Clusters without a number of clusters
=====================================

`OPFClustering` finds the number of clusters by itself. Every maximum of the density founds a cluster and
conquers the samples it can reach without crossing a deep valley. The size of the neighbourhood decides how
detailed the density is. The model chooses the size whose clusters have the smallest normalised cut, the
weight of the arcs between clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pathforest import OPFClustering
from pathforest.plotting import plot_clusters

# %%
# Five clouds of different size and density.

centres = [[0, 0], [4, 0], [2, 4], [6.5, 3.5], [-3, 4]]
X, _ = make_blobs(
    [300, 150, 150, 80, 120], centers=centres, cluster_std=[1, 0.5, 0.8, 0.3, 0.6], random_state=0
)
model = OPFClustering(k_max=60).fit(X)
print(f"{len(model.cluster_roots_)} clusters, sizes {np.bincount(model.labels_)}")

# %%
# Rings mark the founders; lines show the paths of conquest. With small neighbourhoods every clump has its own
# maximum, and cutting the clumps apart is expensive. As the neighbourhood grows, clusters merge and the cut
# falls.

plot_clusters(model)
plt.show()
