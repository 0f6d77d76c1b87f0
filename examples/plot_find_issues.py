"""
Find wrong labels in images
===========================

:func:`pathforest.find_issues` compares each sample with the most similar ones of every class. Here the
samples are handwritten digits, so you can see for yourself which labels are doubtful.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pathforest import find_issues
from pathforest.noise import flip_labels

digits = load_digits()
issues = find_issues(digits.data, digits.target, method="fast")
print(issues)

# %%
# No label is called wrong: people checked this set. Still, some digits look like another number. These are
# the six whose label fits least. Beside each are the nearest digits with the same label, and the nearest
# of the class that fits better.


def show(issues, samples, n_shown=4):
    """Draw suspects, each followed by samples that speak for its label and against it."""
    fig, panels = plt.subplots(len(samples), 1 + 2 * n_shown, figsize=(10, 1.25 * len(samples)))
    fig.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.93, hspace=0.5, wspace=0.1)
    for row, i in zip(panels, samples, strict=True):
        shown = [i, *issues.conquerors[i, :n_shown], *issues.rival_conquerors[i, :n_shown]]
        for place, (ax, sample) in enumerate(zip(row, shown, strict=True)):
            ax.imshow(digits.images[sample], cmap="Reds" if place == 0 else "gray_r")
            ax.set_axis_off()
        row[0].set_title(f"labelled {issues.given[i]}", fontsize=9, color="#B2182B")
        row[1].set_title(f"like other {issues.given[i]}s", fontsize=9, loc="left")
        row[1 + n_shown].set_title(f"or like {issues.rival[i]}s?", fontsize=9, loc="left")


show(issues, np.argsort(issues.score)[:6])
plt.show()

# %%
# Now a tenth of the labels are wrong on purpose, so that the answers can be checked.

wrong = flip_labels(digits.target, 0.1)
issues = find_issues(digits.data, wrong, method="fast")
is_wrong = wrong != digits.target
hits = is_wrong[issues.suspects].sum()
print(
    f"{len(issues.suspects)} labels called wrong; {hits} of them are, of {is_wrong.sum()} wrong labels in all"
)
print(f"{(issues.relabel() != digits.target).sum()} wrong labels are left after relabelling")
show(issues, issues.suspects[:3])
plt.show()
