"""Samples checked as scikit-learn does, with the way out; text and missing dates are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from pathforest._utils.columns import named_columns
from pathforest._utils.show import show

NAT = -(2.0**63)  # what NaT becomes

# What to do about errors of scikit-learn's, by a part of their text.
REMEDIES = {
    "contains NaN": "Here metric='gower' and metric='nan_euclidean' take missing values; or fill them in, "
    "for example with make_pipeline(TablePreprocessor(), model).",
    "Sparse data was passed": "For text, reduce the features first: make_pipeline(TruncatedSVD(100), "
    "Normalizer(), model), with TruncatedSVD from sklearn.decomposition, needs no dense copy of X.",
}


def refuse_missing_dates(given: Any, values: np.ndarray) -> None:
    """Raise if samples that were given as dates or durations, and are now `values`, have a NaT among them."""
    kind = getattr(getattr(given, "dtype", None), "kind", "?")
    if kind in "biuf" or values.min() > NAT:
        return
    dates = np.asarray(given)
    if dates.dtype.kind in "mM" and (missing := np.isnat(dates)).any():
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"X contains {missing.sum()} missing date(s) (NaT), the first in row {row}, column {column}; "
            "drop those rows or fill in their dates"
        )


def refuse_text(X: Any) -> None:
    """Raise if samples have a column of text, and say what to do about it."""
    for name, column in named_columns(X):
        texts = (value for value in column.tolist() if isinstance(value, str))
        if column.dtype.kind not in "biufcmM" and (text := next(texts, None)) is not None:
            raise ValueError(
                f"column {show(name)} holds text, such as {show(text)}, and distances need numbers; encode "
                "it with make_pipeline(TablePreprocessor(), model), or pass metric='gower'"
            ) from None


def validated(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Check samples as scikit-learn's ``validate_data`` does, and refuse missing dates.

    What it says about text, missing values and sparse matrices ends with the way out.
    """
    try:
        values = validate_data(estimator, X, **options)
    except (TypeError, ValueError) as error:
        refuse_text(X)
        for part, remedy in REMEDIES.items():
            if part in str(error):
                raise type(error)(f"{error}\n{remedy}") from None
        raise
    refuse_missing_dates(X, values)
    return values
