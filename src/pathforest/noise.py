"""Wrong labels on purpose, to measure how well a classifier copes with them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from pathforest._models.labels import check_labels
from pathforest._utils.checks import random_generator
from pathforest._utils.text import show


def flip_labels(y: Any, share: float, random_state: Any = 0) -> np.ndarray:
    """Change a share of the labels to another class, each of the others equally likely.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels of any type.
    share : float
        How many of them to change, from 0 to 1; rounded to whole labels.
    random_state : int, RandomState or None, default=0
        Decides which, and to what.

    Returns
    -------
    flipped : ndarray of shape (n_samples,)
        A copy with wrong labels. If there is a single class, nothing changes.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.noise import flip_labels
    >>> y = np.repeat(["a", "b"], 5)
    >>> int((flip_labels(y, 0.2) != y).sum())
    2
    """
    if not (isinstance(share, Real) and 0 <= share <= 1):
        raise ValueError(f"share={show(share)} is not a share of the labels; pass a number from 0 to 1")
    rng = random_generator(random_state)
    classes, codes = np.unique(check_labels(y), return_inverse=True)
    chosen = rng.permutation(len(codes))[: round(share * len(codes))]
    if len(classes) > 1:
        codes[chosen] += rng.integers(1, len(classes), len(chosen))
    return classes[codes % len(classes)]
