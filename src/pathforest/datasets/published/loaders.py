"""The published sets as arrays, one function each."""

from __future__ import annotations

from collections.abc import Callable
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


def _loader(name: str) -> Callable[..., Any]:
    entry = DATASETS[name]

    def loader(*, return_X_y: bool = False) -> Any:
        return load(name, return_X_y=return_X_y)

    loader.__name__ = loader.__qualname__ = f"load_{name}"
    loader.__doc__ = f"""Load the set "{entry.title}": {entry.shape[0]} samples, {entry.shape[1]} features.

    {entry.about}

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return samples and labels alone.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As from `load`; with `return_X_y`, a tuple of samples and labels.
    """
    return loader


load_boat = _loader("boat")
load_cone_torus = _loader("cone_torus")
load_four_class = _loader("four_class")
load_data1 = _loader("data1")
load_data2 = _loader("data2")
load_data3 = _loader("data3")
load_thyroid_ad = _loader("thyroid_ad")
load_thyroid = _loader("thyroid")
load_breast_tissue = _loader("breast_tissue")
load_landsat_ad = _loader("landsat_ad")
load_landsat = _loader("landsat")
load_mpeg7_bas = _loader("mpeg7_bas")
