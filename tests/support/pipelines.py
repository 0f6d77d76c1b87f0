"""Pipelines of every transformer that files take, around our estimators, with tables for them."""

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    TablePreprocessor,
)


def passengers(n=40):
    """A table of numbers, text, truth values and gaps, and labels that depend on it."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(30, 9, n).round(1),
            "fare": rng.exponential(9, n),
            "port": rng.choice(["S", "C", "Q"], n),
            "male": rng.random(n) < 0.5,
        }
    )
    labels = np.where(table["age"] + 9 * table["male"] > 32, "lost", "saved")
    table.loc[::7, "age"] = np.nan
    table.loc[::11, "port"] = None
    return table, labels


TABLE, LABELS = passengers()
NUMBERS = TABLE[["age", "fare"]].fillna(30), LABELS
PLAIN = TABLE.astype(object).where(TABLE.notna(), None).to_numpy(), LABELS  # rows without names of columns
QUICK = {"cv": 2, "k_max": 3, "n_best": 2}
PIPELINES = {
    "tables": (make_pipeline(TablePreprocessor({"fare": "drop"}), FuzzyOPFClassifier()), (TABLE, LABELS)),
    "tables in their units": (
        make_pipeline(TablePreprocessor(scale=False), FuzzyOPFClassifierCV(**QUICK)),
        (TABLE, LABELS),
    ),
    "frames": (
        make_pipeline(TablePreprocessor(), StandardScaler(), OPFClassifier()).set_output(transform="pandas"),
        (TABLE, LABELS),
    ),
    "names": (make_pipeline(TablePreprocessor(), MinMaxScaler(), OPFKNNClassifier()), (TABLE, LABELS)),
    "positions": (make_pipeline(TablePreprocessor(), OPFClustering()), PLAIN),
    "components": (
        make_pipeline(RobustScaler(), MaxAbsScaler(), PCA(1, whiten=True), OPFClassifier()),
        NUMBERS,
    ),
}
