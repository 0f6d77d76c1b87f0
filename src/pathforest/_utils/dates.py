"""Samples checked as scikit-learn does; missing dates, which would become a number, are refused too."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

NAT = -(2.0**63)  # what NaT becomes

# What to do about errors of scikit-learn's, by a part of their text.
REMEDIES = {
    "contains NaN": "Here metric='gower' and metric='nan_euclidean' take missing values; or fill them in, "
    "for example with sklearn.impute.SimpleImputer.",
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


def validated(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Check samples as scikit-learn's ``validate_data`` does, and refuse missing dates.

    What it says about missing values and sparse matrices ends with the way out.
    """
    try:
        values = validate_data(estimator, X, **options)
    except (TypeError, ValueError) as error:
        for part, remedy in REMEDIES.items():
            if part in str(error):
                raise type(error)(f"{error}\n{remedy}") from None
        raise
    refuse_missing_dates(X, values)
    return values
