"""
A path of images
================

The path that explains a prediction consists of training samples. If samples are images, you can look at it:
the new digit, the training digit most like it, and from there step by step to the prototype, a digit at the
border of its class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pathforest import OPFClassifier
from pathforest.plotting import plot_forest

digits = load_digits()
X_train, X_test, y_train, y_test = train_test_split(digits.data, digits.target, random_state=0)
model = OPFClassifier().fit(X_train, y_train)
print(f"test accuracy {model.score(X_test, y_test):.1%}, nothing tuned")

# %%
# Three test digits with long paths, and the images along the path: first the new digit, last the prototype,
# whose path costs 0.

explanations = model.explain(X_test)
by_length = np.argsort([-len(reason.path) for reason in explanations], kind="stable")
chosen = [next(i for i in by_length if explanations[i].label == label) for label in (3, 5, 8)]
n_steps = 8
fig, panels = plt.subplots(len(chosen), n_steps + 1, figsize=(10, 4.2), layout="constrained")
for row, i in zip(panels, chosen, strict=True):
    reason = explanations[i]
    steps = np.linspace(0, len(reason.path) - 1, min(n_steps, len(reason.path))).round().astype(int)
    images = [X_test[i], *X_train[np.array(reason.path)[steps]]]
    titles = ["new", *(f"cost {reason.costs[step]:.3g}" for step in steps)]
    for ax, image, title in zip(row, images, titles, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_title(title, fontsize=10)
    for ax in row:
        ax.set_axis_off()
plt.show()

# %%
# The whole forest, drawn in two of its 64 dimensions.

fig, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plot_forest(model, ax=ax)
plt.show()
