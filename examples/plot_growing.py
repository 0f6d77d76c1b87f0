"""
A model that follows the annotator
==================================

An annotator labels handwritten digits, twenty at a time, and wants to see after each batch how good the model
is.
:meth:`~pathforest.OPFSemiSupervisedClassifier.set_labels` brings it up to date without a new fit, and the
model is exactly the one that a new `fit` would give.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pathforest import OPFSemiSupervisedClassifier

digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.data))
X, truth = digits.data[order], digits.target[order]

# %%
# At first all images are there, and only one of each digit has a label. -1 marks the others.

y = np.full(len(X), -1)
for digit in range(10):
    y[np.flatnonzero(truth == digit)[0]] = digit
model = OPFSemiSupervisedClassifier().partial_fit(X, y)
print(f"{np.mean(model.transduction_ == truth):.1%} of all digits are right with {np.sum(y >= 0)} labels")

# %%
# Which twenty should be labelled next? Those where the two cheapest classes offer nearly the same. The
# annotator, whose place the known digits take here, labels them, and the model follows.

labels, right = [np.sum(y >= 0)], [np.mean(model.transduction_ == truth)]
for _ in range(15):
    costs = np.sort(model.class_costs(X), axis=1)
    doubt = np.where(y >= 0, 0.0, costs[:, 0] / costs[:, 1])
    chosen = np.argsort(-doubt, kind="stable")[:20]
    y[chosen] = truth[chosen]
    model.set_labels(chosen, truth[chosen])
    labels.append(np.sum(y >= 0))
    right.append(np.mean(model.transduction_ == truth))
print(f"{right[-1]:.1%} with {labels[-1]} labels")

# %%
# It is the model that `fit` gives, in every array.

fresh = OPFSemiSupervisedClassifier().fit(X, y)
print("equal to a new fit:", np.array_equal(model.cost_, fresh.cost_))

# %%
# New images arrive too, some of them labelled, and others turn out to be useless.

model.partial_fit(X[:20] + rng.normal(size=(20, 64)), truth[:20])
model.forget(np.arange(100, 150))
print(len(model.cost_), "digits")

# %%
# What the labels were worth:

fig, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.plot(labels, 100 * np.array(right), marker="o", color="#0072B2")
ax.set(xlabel="labels", ylabel="digits that are right [%]", title="Twenty labels at a time")
plt.show()
