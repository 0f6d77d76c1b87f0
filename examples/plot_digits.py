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
most = 7  # steps of a path, at most
fig, panels = plt.subplots(len(chosen), most + 2, figsize=(10, 4.4), layout="constrained")
for i, row in zip(chosen, panels, strict=True):
    one = explanations[i]
    steps = np.unique(np.linspace(0, len(one.path) - 1, most).round().astype(int))
    shown = [(f"offer {one.offer:.3g}", X_test[i])]
    shown += [(f"cost {one.costs[step]:.3g}", X_train[one.path[step]]) for step in steps]
    shown.append((f"rival {one.rival.offers[0]:.3g}", X_train[one.rival.conquerors[0]]))
    for ax, (title, image) in zip(row, shown, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_title(title, fontsize=9)
        ax.set_axis_off()
plt.show()
