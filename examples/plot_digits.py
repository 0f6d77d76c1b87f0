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

digits = load_digits()
X_train, X_test, y_train, y_test = train_test_split(digits.data, digits.target, random_state=0)
model = OPFClassifier().fit(X_train, y_train)
print(f"test accuracy {model.score(X_test, y_test):.1%}, nothing tuned")

# %%
# Three test digits with long paths: first the new digit, then its conqueror, step by step to the prototype,
# whose path costs 0; apart from them the best sample of the class that came second.

explanations = model.explain(X_test)
by_length = np.argsort([-len(reason.path) for reason in explanations], kind="stable")
chosen = [next(i for i in by_length if explanations[i].label == label) for label in (3, 5, 8)]
longest = max(len(explanations[i].path) for i in chosen)
fig, panels = plt.subplots(len(chosen), longest + 2, figsize=(10, 6.2), layout="constrained")
for i, row in zip(chosen, panels, strict=True):
    one = explanations[i]
    for ax, image, cost in zip(row, [X_test[i], *X_train[one.path]], [one.offer, *one.costs], strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{cost:.3g}", fontsize=9)
    row[0].set_title(f"{one.label}: offer {one.offer:.3g}", fontsize=9)
    row[-1].imshow(X_train[one.rival.conquerors[0]].reshape(8, 8), cmap="gray_r")
    row[-1].set_title(f"rival {one.rival.label}: {one.rival.offers[0]:.3g}", fontsize=9)
    for ax in row:
        ax.set_axis_off()
plt.show()
