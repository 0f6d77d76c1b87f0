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
from pathforest.plotting import plot_explanation

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
fig, panels = plt.subplots(len(chosen), figsize=(10, 6.2), layout="constrained")
for i, ax in zip(chosen, panels, strict=True):
    plot_explanation(model, X_test[i], image_shape=(8, 8), ax=ax)
plt.show()
