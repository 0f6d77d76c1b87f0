"""
Memberships from other detectors
================================

Density is one measure of how typical a sample is; scikit-learn has others. Any function of samples and labels
can replace it. Six maps of the same data show how much they differ.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor

from pathforest import FuzzyOPFClassifier
from pathforest.plotting import plot_forest

X, y = make_moons(300, noise=0.18, random_state=0)

# %%
# A membership is a function of the samples and their labels that returns one value in [0, 1] per sample.
# Scores of detectors have no common scale, so we use their ranks.


def ranks(values):
    return np.argsort(np.argsort(values, kind="stable")) / (len(values) - 1)


def same_label_nearby(X, y):
    """Share of neighbours with the same label; the only membership here that looks at labels."""
    model = KNeighborsClassifier(15).fit(X, y)
    return model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]


memberships = {
    "density (the paper)": "density",
    "local outlier factor": lambda X, y: ranks(LocalOutlierFactor(20).fit(X).negative_outlier_factor_),
    "isolation forest": lambda X, y: ranks(IsolationForest(random_state=0).fit(X).score_samples(X)),
    "Gaussian mixture": lambda X, y: ranks(GaussianMixture(4, random_state=0).fit(X).score_samples(X)),
    "HDBSCAN": lambda X, y: np.clip(HDBSCAN(min_cluster_size=10, copy=True).fit(X).probabilities_, 0, 1),
    "neighbours of the same label": same_label_nearby,
}

# %%
# Darker samples count more.

fig, axes = plt.subplots(2, 3, figsize=(12, 6.4), sharex=True, sharey=True, layout="constrained")
for ax, (name, membership) in zip(axes.flat, memberships.items(), strict=True):
    model = FuzzyOPFClassifier(sigma=0.2, competition="tree", membership=membership).fit(X, y)
    display = plot_forest(model, color="membership", ax=ax, legend=False)
    display.samples_.set_clim(0.2, 1)
    ax.set_title(name)
    ax.label_outer()
fig.colorbar(display.samples_, ax=axes, label="membership")
plt.show()
