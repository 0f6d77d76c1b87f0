"""
Tuning by cross-validation
==========================

`FuzzyOPFClassifierCV` tries every combination of its parameters by cross-validation. The candidates share
their neighbours, spanning trees and densities, so a hundred of them cost only a few fits. The landscape of
scores shows how much tuning matters, and how much of it is luck: if neighbouring cells differ a lot, the
difference is noise.
"""

import warnings
from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV, TrainingErrorWarning
from pathforest.plotting import plot_landscape

warnings.simplefilter("ignore", TrainingErrorWarning)
X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# The paper's two parameters are `k_max`, the largest neighbourhood, and `sigma`. Both competitions, 5 folds.

start = perf_counter()
search = FuzzyOPFClassifierCV(
    k_max=(1, 5, 10, 20, 30, 50, 70, 100),
    sigmas=(0.2, 0.4, 0.6, 0.8, 1.0, 1.2),
    competitions=("tree", "complete"),
    n_conquerors=1,
    transforms=None,
    cv=5,
).fit(X, y)
n_cells = len(search.cv_results_["params"])
print(f"{n_cells} models in 5 folds took {perf_counter() - start:.1f} s; best: {search.best_params_}")

# %%
# Cells that share the best score have a frame, and the chosen cell has a ring: among equal scores, the
# simplest model wins. The row of sigma = 1 is plain OPF. Along the tree sigma may not exceed 1, hence the
# empty row. The bars show what the worst value of a parameter loses if all others stay as chosen.

plot_landscape(search)
plt.show()

# %%
# More conquerors, and other representations of the samples, matter more than both. The default search tries
# them; its landscape shows the parameters that matter most, in the three best representations.

search = FuzzyOPFClassifierCV().fit(X, y)
plot_landscape(search)
plt.show()
