"""
Competition along the tree or over all pairs
============================================

Algorithm 3 of the paper lets paths run over all pairs of samples. With a small sigma the cost of a path
shrinks with every step, and a class can reach the samples of another class more cheaply than that class's own
prototypes do: *training* samples lose their label. Along the spanning tree this cannot happen, because the
tree is cut where classes meet.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from pathforest import FuzzyOPFClassifier, TrainingErrorWarning
from pathforest.plotting import plot_forest

warnings.simplefilter("ignore", TrainingErrorWarning)  # this example is about them
rng = np.random.default_rng(2)
y = np.array(["first", "second"])[np.arange(240) % 2]
radius = np.sqrt(rng.uniform(0.05, 1, 240))
angle = 3.2 * np.pi * radius + np.pi * (y == "second")  # two arms of a spiral
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + rng.normal(0, 0.03, (240, 2))

# %%
# Both forests at sigma = 0.2. Samples have the colour of their own label, and paths have the colour of the
# class that conquered them; crosses are training samples that lost their label.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for competition, ax in zip(("complete", "tree"), axes, strict=True):
    model = FuzzyOPFClassifier(sigma=0.2, competition=competition).fit(X, y)
    plot_forest(model, y=y, ax=ax, legend=False)
    lost = model.label_ != y
    ax.scatter(*X[lost].T, marker="x", s=40, c="black", linewidths=1.2, zorder=5)
    ax.set(
        title=f'competition="{competition}": {np.mean(lost):.0%} of labels lost',
        aspect="equal",
        xticks=[-1, 0, 1],
    )

# %%
# The share of lost labels, for every sigma. The default, 0.8, is the safest value below 1.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
sigmas = np.linspace(0.05, 1.2, 47)
for competition, color in (("complete", "#D55E00"), ("tree", "#009E73")):
    legal = sigmas if competition == "complete" else sigmas[sigmas <= 1]
    models = (FuzzyOPFClassifier(sigma=sigma, competition=competition).fit(X, y) for sigma in legal)
    ax.plot(legal, [100 * model.training_error_ for model in models], color=color, label=competition)
ax.axvline(0.8, color="#999999", lw=1, ls=":")
ax.set(xlabel="sigma", ylabel="training labels lost [%]", title="Training error")
ax.legend(frameon=False)
plt.show()
