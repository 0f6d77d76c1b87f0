"""
Clusters without a number of clusters
=====================================

`OPFClustering` asks for no number of clusters. Every maximum of the density founds one and conquers what is
reached from it without crossing a deep valley. How fine the density is depends on the size of the
neighbourhood, and that is chosen by the clusters it gives: the one whose normalised cut, the weight of arcs
between clusters, is smallest.
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
# Rings are the founders; lines show who was conquered through whom. Small neighbourhoods see a maximum in
# every clump, and cutting the clumps apart is expensive; as the neighbourhood grows, clusters merge and the
# cut falls.

plot_clusters(model)
plt.show()
