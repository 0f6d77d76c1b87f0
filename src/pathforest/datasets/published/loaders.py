"""The published sets as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from pathforest._tables.whole import read
from pathforest.datasets.published.fetch import fetch
from pathforest.datasets.published.registry import DATASETS


def load(name: str, *, return_X_y: bool = False) -> Any:
    """Load a published set, from this machine or from the addresses of its authors; see `fetch`.

    Parameters
    ----------
    name : str
        One of boat, cone_torus, four_class, data1, data2, data3, thyroid_ad, thyroid, breast_tissue,
        landsat_ad, landsat and mpeg7_bas.
    return_X_y : bool, default=False
        Whether to return samples and labels alone.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data`, `target`, `feature_names`, `target_names` (of the classes in the order of their labels),
        `DESCR` and `filename`. With `return_X_y`, a tuple of `data` and `target` instead.

    Examples
    --------
    >>> from pathforest.datasets import load
    >>> X, y = load("boat", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (100, 2)
    """
    path = fetch(name)
    entry = DATASETS[name]
    table = read(path)
    if return_X_y:
        return table.X, table.y
    classes = np.unique(table.y).tolist()
    return Bunch(
        data=table.X,
        target=table.y,
        feature_names=list(entry.feature_names) or table.feature_names,
        target_names=np.array([entry.classes.get(label, str(label)) for label in classes]),
        DESCR=f"{entry.title}: {entry.shape[0]} samples, {entry.shape[1]} features.\n\n{entry.about}",
        filename=str(path),
    )
