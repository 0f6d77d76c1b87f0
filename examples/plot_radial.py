"""
A representation for classes that surround one another
======================================================

A sphere inside a shell is easy to see in two dimensions. In ten, nearly all samples of both classes are far
from each other, nearest neighbours say little, and a linear boundary does not help. With
``transforms="kernel"`` the search also tries discriminant analysis on the features of an RBF kernel, which
turns the distance from the centre into one coordinate. The representation is chosen inside the folds, like
all other parameters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_gaussian_quantiles

from pathforest import FuzzyOPFClassifierCV
from pathforest.plotting import plot_forest

# %%
# The same search with the samples as given, after linear, and after kernel representations; 300 training and
# 300 test samples.

DIMENSIONS = (2, 4, 7, 10)
PRESETS = {"as given": None, "linear": "linear", "kernel": "kernel"}
scores, models = {name: [] for name in PRESETS}, {}
for n_features in DIMENSIONS:
    X, y = make_gaussian_quantiles(n_samples=600, n_features=n_features, n_classes=2, random_state=0)
    y = y.astype(str)
    y[y == "0"], y[y == "1"] = "core", "shell"
    for name, transforms in PRESETS.items():
        search = FuzzyOPFClassifierCV(
            k_max=10, sigmas=1.0, n_conquerors=(1, 5, 13, 34), transforms=transforms, cv=3
        ).fit(X[:300], y[:300])
        scores[name].append(100 * search.score(X[300:], y[300:]))
        models[name] = search
print(f"chosen in {n_features} dimensions: {search.best_params_}")

# %%
# With more features, samples have fewer close neighbours: only the kernel keeps up.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, values), color in zip(scores.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    ax.plot(DIMENSIONS, values, "o-", color=color, label=name)
ax.set(xlabel="features", ylabel="test accuracy [%]", xticks=DIMENSIONS)
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# Left: the forest of ten features as given, drawn on two principal components. Right: the forest after the
# kernel. It has one coordinate, so the vertical axis shows the path cost.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_forest(models["as given"], ax=left, legend=False)
left.set_title(f"{n_features} features as given: {scores['as given'][-1]:.0f} % right")
plot_forest(models["kernel"], ax=right)
right.set(title=f"After the kernel: {scores['kernel'][-1]:.0f} % right", xlabel="kernel discriminant")
plt.show()
