"""
Wrong labels, and more than one conqueror
=========================================

A mislabelled sample starts its own tree and conquers its surroundings: with a fifth of the labels wrong, the
regions of plain OPF are full of islands. With `n_conquerors` a class offers the mean of its cheapest paths,
so no sample decides alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from pathforest import OPFClassifier
from pathforest.noise import flip_labels
from pathforest.plotting import plot_decision_regions

X, y = make_moons(800, noise=0.2, random_state=0)
y = np.array(["upper", "lower"])[y]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# A fifth of the training labels are wrong; the test labels are right.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
noisy = flip_labels(y_train, 0.2, random_state=0)
for r, ax in zip((1, 13), axes, strict=True):
    model = OPFClassifier(n_conquerors=r).fit(X_train, noisy)
    plot_decision_regions(model, ax=ax, legend=False)
    ax.set_title(f"n_conquerors={r}: test accuracy {model.score(X_test, y_test):.1%}")

# %%
# `n_conquerors` affects prediction only, so one fit serves all values. With clean labels it costs nothing
# here; the more labels are wrong, the more it gains. FuzzyOPFClassifierCV chooses the value by
# cross-validation.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
numbers = [1, 2, 3, 5, 8, 13, 21, 34]
for share, color in zip((0.0, 0.1, 0.2, 0.3), ("#0072B2", "#009E73", "#E69F00", "#D55E00"), strict=True):
    model = OPFClassifier().fit(X_train, flip_labels(y_train, share, random_state=0))
    scores = [100 * model.set_params(n_conquerors=r).score(X_test, y_test) for r in numbers]
    ax.plot(numbers, scores, "o-", markersize=4, color=color, label=f"{share:.0%} wrong")
ax.set(xscale="log", xlabel="n_conquerors", ylabel="test accuracy [%]", title="Outvoting wrong labels")
ax.set_xticks(numbers, numbers, minor=False)
ax.minorticks_off()
ax.legend(frameon=False, loc="lower right")
plt.show()
