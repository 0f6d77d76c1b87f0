"""Samples checked as scikit-learn does, with the way out; text and missing dates are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from pathforest._utils.columns import is_gap, named_columns
from pathforest._utils.sparse import SVD
from pathforest._utils.text import show

NAT = -(2.0**63)  # what NaT becomes

GAPS = (
    "metric='gower' and metric='nan_euclidean' take missing values; or fill them in, for example with "
    "make_pipeline(TablePreprocessor(), model)."
)

# What to do about other errors of scikit-learn's, by a part of their text.
REMEDIES = {
    "Sparse data was passed": "Pass X.toarray(), or X.sparse.to_coo() of a DataFrame if the estimator "
    f"takes sparse matrices; for text, {SVD}.",
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
                "it with make_pipeline(TablePreprocessor(), model) or TablePreprocessor().fit_transform(X), "
                "or pass metric='gower'"
            ) from None


def _first_gaps(X: Any) -> str:
    """Say which column has missing values, if samples have columns."""
    for name, column in named_columns(X):
        if n := sum(map(is_gap, column.tolist())):
            return f": column {show(name)} has {n} missing value{'s' * (n > 1)}"
    return ""


def validated(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Check samples as scikit-learn's ``validate_data`` does, and refuse missing dates.

    What it says about text, missing values and sparse matrices ends with the way out.
    """
    try:
        values = validate_data(estimator, X, **options)
    except (TypeError, ValueError) as error:
        refuse_text(X)
        if "Input X contains NaN" in str(error):
            raise ValueError(f"Input X contains NaN{_first_gaps(X)}.\n{GAPS}") from None
        for part, remedy in REMEDIES.items():
            if part in str(error):
                raise type(error)(f"{error}\n{remedy}") from None
        raise
    refuse_missing_dates(X, values)
    return values
