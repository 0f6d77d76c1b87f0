"""Models in files that are safe to open: `save` writes a fitted estimator, `load` reads it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pathforest._persistence.file import read_model, read_shard, save

__all__ = ["load", "save"]


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model or a pipeline that `save` has written.

    Loading is safe whoever made the file: it contains numbers and text, no code and no pickle, and can only
    ask for the estimators of this package and a few transformers on a list.

    Parameters
    ----------
    path : str or path-like
        The file, or the folder that :meth:`pathforest.dask.OnCluster.save` has written: all of its samples
        are read. :func:`pathforest.dask.load` leaves them to the workers.

    Returns
    -------
    model : estimator
        With the class, the parameters and the fitted attributes of the saved model. It gives the same
        answers.

    Raises
    ------
    ValueError
        If the file is not a model, is incomplete, was changed in any bit, has a later version of the format,
        or contains values that do not fit together: indices out of range, paths that run in circles, costs
        that are not numbers, arrays of different lengths.
    OSError
        If the file cannot be read.

    Notes
    -----
    The checksum detects damage; it does not say who made the file. A stranger's model is safe to open, but
    it may give wrong answers on purpose.

    Loading needs memory for the model and a second copy of its largest array.

    Examples
    --------
    >>> import os, tempfile
    >>> import pathforest
    >>> model = pathforest.OPFClassifier().fit([[0.0], [1.0], [3.0], [4.5]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.pf"))
    ...     loaded = pathforest.load(os.path.join(folder, "model.pf"))
    >>> loaded.predict([[1.9], [2.1]]).tolist()
    ['a', 'b']
    """
    return read_model(path, _read_shards)


def _read_shards(folder: str, shards: list[Any], model: Any) -> np.ndarray:
    """Read all samples of a folder."""
    return np.concatenate([read_shard(folder, i, digest) for i, (_, digest) in enumerate(shards)])
