"""
How time grows with the data
============================

Training costs about one nearest-neighbour pass, and a prediction about one nearest-neighbour query: with few
features, time grows slightly faster than the number of samples. These curves are measured when the script
runs, with one thread; ``make bench`` measures carefully and compares with other libraries.
"""

import timeit

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering

SIZES = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]


def seconds(call, *arguments):
    """Best of two, because the machine may be busy."""
    return min(timeit.repeat(lambda: call(*arguments), number=1, repeat=2))


# %%
# Overlapping clouds with two features; half of the samples are new samples.

X, cloud = make_blobs(2 * SIZES[-1], centers=15, cluster_std=1.5, random_state=0)
X, y = X.astype(np.float32), cloud % 5
Q = X[SIZES[-1] :]
models = {
    "OPF": OPFClassifier(),
    "fuzzy OPF, tree": FuzzyOPFClassifier(competition="tree"),
    "fuzzy OPF, complete": FuzzyOPFClassifier(),
    "clustering": OPFClustering(),
}
curves = {name: [seconds(model.fit, X[:n], y[:n]) for n in SIZES] for name, model in models.items()}
curves["predict"] = [seconds(OPFClassifier().fit(X[:n], y[:n]).predict, Q[:n]) for n in SIZES]

# %%
# On these axes the dotted line of slope 1 means time in proportion to the number of samples.

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
colors = ["#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000"]
for (name, times), color in zip(curves.items(), colors, strict=True):
    label = f"{name}: {times[-1]:.2g} s for {SIZES[-1]:,}"
    ax.loglog(SIZES, times, "o-", color=color, markersize=4, label=label)
first = curves["OPF"][0] / 2
ax.loglog(SIZES, first * np.array(SIZES) / SIZES[0], ":", color="#999999", label="slope 1")
ax.set(xlabel="samples", ylabel="time [s]", title="One thread, two features")
ax.grid(alpha=0.3)
ax.legend(frameon=False, loc="upper left")
ax.set_ylim(top=30 * max(map(max, curves.values())))  # room for the legend
plt.show()
