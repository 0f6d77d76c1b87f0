"""Refusal of missing dates in samples, which become a number when dates do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

NAT = -(2.0**63)  # what NaT becomes

GAPS = (
    "In pathforest, metric='gower' and metric='nan_euclidean' take missing values; or fill them in, for "
    "example with sklearn.impute.SimpleImputer."
)


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

    What it says about missing values ends with what this library does for them.
    """
    try:
        values = validate_data(estimator, X, **options)
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError(f"{error}\n{GAPS}") from None
    refuse_missing_dates(X, values)
    return values
