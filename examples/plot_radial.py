"""
A representation for classes that surround one another
======================================================

A sphere inside a shell is easy to see in two dimensions. In ten, nearly all samples of both classes are far
from each other, nearest neighbours say little, and a linear boundary does not help. By default the search
also tries discriminant analysis on the features of RBF kernels, which turn the distance from the centre into
one coordinate. Representations are chosen inside the folds, like all other parameters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_gaussian_quantiles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pathforest import FuzzyOPFClassifierCV

# %%
# The same search with the samples as given, after a linear projection, and with the default; 300 training and
# 300 test samples.

DIMENSIONS = (2, 4, 7, 10)
CHOICES = {"as given": None, "linear": [None, LinearDiscriminantAnalysis()], "default": "auto"}
scores = {name: [] for name in CHOICES}
for n_features in DIMENSIONS:
    X, y = make_gaussian_quantiles(n_samples=600, n_features=n_features, n_classes=2, random_state=0)
    y = y.astype(str)
    y[y == "0"], y[y == "1"] = "core", "shell"
    for name, transforms in CHOICES.items():
        search = FuzzyOPFClassifierCV(k_max=10, sigmas=1.0, transforms=transforms).fit(X[:300], y[:300])
        scores[name].append(100 * search.score(X[300:], y[300:]))
print(f"chosen in {n_features} dimensions: {search.best_params_}")

# %%
# With more features, samples have fewer close neighbours: only the default keeps up.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, values), color in zip(scores.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    ax.plot(DIMENSIONS, values, "o-", color=color, label=name)
ax.set(xlabel="features", ylabel="test accuracy [%]", xticks=DIMENSIONS)
ax.legend(frameon=False, loc="lower left")
plt.show()
