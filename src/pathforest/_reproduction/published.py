"""What the paper published: Table I (accuracy and F1 over 20 runs) and Table II (seconds of training)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

RUNS = 20
SIGNIFICANCE = 0.05  # of the Wilcoxon signed-rank test behind the bold marks

# The paper's columns, by our names.
CLASSIFIERS = ("opf", "fuzzy_opf", "svm_linear", "naive_bayes")

# The paper's rows, by our names. Its thyroid and Landsat are the two-class versions for anomaly detection.
TITLES = {
    "boat": "Boat",
    "cone_torus": "Cone-Torus",
    "four_class": "Four-Class",
    "data1": "Data1",
    "data2": "Data2",
    "data3": "Data3",
    "thyroid_ad": "Thyroid",
    "breast_tissue": "Breast Tissue",
    "landsat_ad": "Landsat Satellite",
    "mpeg7_bas": "MPEG-7 BAS",
    "electric_industrial": "Elec. Ind. Prof.",
    "electric_commercial": "Elec. Com. Prof.",
}
PRIVATE = ("electric_industrial", "electric_commercial")  # never published
PUBLIC = tuple(name for name in TITLES if name not in PRIVATE)


# By dataset and classifier: mean and standard deviation of the accuracy, the mean F1, bold (the best mean, or
# not significantly different from it), and seconds of training on a Xeon Bronze 3106 at 1.7 GHz.
TABLE = pd.read_csv(
    Path(__file__).with_name("published.csv"),
    index_col=["dataset", "classifier"],
    converters=dict.fromkeys(("mean", "std", "f1", "seconds"), float),  # exact, whatever pandas does
)


def in_order(names: Iterable[str]) -> list[str]:
    """Sort datasets as the paper does; those that it does not have follow as they come."""
    places = {name: place for place, name in enumerate(TITLES)}
    return sorted(names, key=lambda name: places.get(name, len(places)))
