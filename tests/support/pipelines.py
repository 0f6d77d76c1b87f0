"""Pipelines of every transformer that files take, around our estimators, with tables for them."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

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
NUMBERS = TABLE[["age", "fare"]], LABELS
PLAIN = TABLE.astype(object).where(TABLE.notna(), None).to_numpy(), LABELS  # rows without names of columns
QUICK = {"cv": 2, "k_max": 3, "n_best": 2}
UNKNOWN = {"handle_unknown": "use_encoded_value", "unknown_value": -1, "encoded_missing_value": -2}

SELECTED = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age", "fare"]),
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
)
REMAINDER = ColumnTransformer(
    [("codes", OrdinalEncoder(**UNKNOWN), ["port", "male"])], remainder=SimpleImputer()
)
BY_POSITION = ColumnTransformer(
    [
        ("numbers", SimpleImputer(), slice(0, 2)),
        (
            "text",
            make_pipeline(
                SimpleImputer(strategy="most_frequent", missing_values=None),
                OneHotEncoder(drop="first", sparse_output=False, handle_unknown="ignore"),
            ),
            [2],
        ),
        ("nothing", "drop", [3]),
    ],
    transformer_weights={"numbers": 0.5},
)

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
    "selected columns": (make_pipeline(SELECTED, FuzzyOPFClassifierCV(**QUICK)), (TABLE, LABELS)),
    "a remainder": (make_pipeline(REMAINDER, FunctionTransformer(), OPFKNNClassifier()), (TABLE, LABELS)),
    "positions": (make_pipeline(BY_POSITION, OPFClustering()), PLAIN),
    "neighbours": (make_pipeline(KNNImputer(n_neighbors=3), MinMaxScaler(), OPFClassifier()), NUMBERS),
    "components": (
        make_pipeline(SimpleImputer(), RobustScaler(), MaxAbsScaler(), PCA(1, whiten=True), OPFClassifier()),
        NUMBERS,
    ),
}
