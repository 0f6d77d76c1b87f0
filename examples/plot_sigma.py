"""
Fuzzy membership, and what sigma does
=====================================

Fuzzy OPF measures how typical each training sample is. The density of a sample, relative to the others,
becomes a membership between sigma and 1, and the path cost of the sample is multiplied by it. With sigma = 1
all memberships are 1, and the model is plain OPF.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pathforest import FuzzyOPFClassifier
from pathforest.plotting import plot_forest

X, y = make_blobs([140, 90], centers=[[0, 0], [3.2, 0.6]], cluster_std=[0.9, 0.6], random_state=5)
y = np.array(["left", "right"])[y]

# %%
# Darker samples count more, as in Fig. 5 of the paper. Density does not depend on labels, so the maps differ
# only in scale. The lower row shows the effect on the forest. With sigma = 1 whole branches cost the same,
# namely their longest arc. The smaller sigma is, the faster the effect of a long arc fades: the cost falls
# again with every short step after it.

fig, axes = plt.subplots(2, 3, figsize=(12, 7), sharex=True, sharey=True, layout="constrained")
for sigma, (top, bottom) in zip((1.0, 0.8, 0.4), axes.T, strict=True):
    model = FuzzyOPFClassifier(sigma=sigma).fit(X, y)
    membership = plot_forest(model, color="membership", ax=top, legend=False)
    membership.samples_.set_clim(0.4, 1)
    top.set_title(f"sigma = {sigma:g}" + (": plain OPF" if sigma == 1 else ""))
    forest = plot_forest(model, color="cost", ax=bottom, legend=False)
    forest.samples_.set_clim(0, 0.5)
    print(
        f"sigma {sigma:3g}: mean cost {model.cost_.mean():.3f}, membership from {model.membership_.min():.2f}"
    )
for ax in axes.flat:
    ax.label_outer()
fig.colorbar(membership.samples_, ax=axes[0], label="membership")
fig.colorbar(forest.samples_, ax=axes[1], label="path cost")
plt.show()
