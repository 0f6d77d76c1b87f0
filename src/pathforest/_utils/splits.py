"""Training and evaluation parts of the samples, for models that choose their parameters by themselves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from pathforest._utils.checks import demand
from pathforest._utils.text import show

Split = tuple[np.ndarray, np.ndarray]  # indices of the training samples, and of those for evaluation


def cross_validation_splits(cv: Any, X: Any, y: np.ndarray, groups: Any = None) -> list[Split]:
    """List the folds of `cv`, none empty, and no more than the largest class has samples."""
    from sklearn.model_selection import check_cv  # slow to import, and not all models need it

    rows, most = np.arange(_num_samples(X)), int(np.unique(y, return_counts=True)[1].max())
    if isinstance(cv, Integral):
        demand(
            most > 1,
            f"cv={cv}: every class has one sample, so none can be predicted from others; pass more samples "
            "or another column of labels",
        )
        cv = min(int(cv), most)
    splitter = check_cv(cv, y, classifier=True)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = [(rows[train], rows[test]) for train, test in splitter.split(X, y, groups)]
    except ValueError as error:
        if "n_splits=" not in str(error):
            raise
        what = f"the largest class has samples, {most}"
        if "each class" not in str(error):  # but of samples, or of groups
            what = str(error).partition("greater than ")[2].rstrip(".")
        raise ValueError(f"cv={show(cv)} has more folds than {what}; pass fewer folds") from None
    if not splits:
        raise ValueError(
            f"cv={show(cv)} gives no fold; pass a number, a splitter or pairs (train, evaluation), and "
            "note that a generator can be used only once"
        )
    for fold, (train, test) in enumerate(splits):
        demand(
            len(train) and len(test),
            f"fold {fold} of cv has {len(train)} training and {len(test)} evaluation samples; each "
            "needs at least one",
        )
    return splits


def choose_part(keys: np.ndarray, codes: np.ndarray, size: int, fewest: int) -> np.ndarray:
    """Choose about `size` samples by smallest `keys`: of each class its share, at least `fewest` or all."""
    counts = np.bincount(codes)
    wanted = np.maximum(np.round(counts * (size / len(codes))), np.minimum(counts, fewest)).astype(np.intp)
    order = np.lexsort((keys, codes))
    place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)  # within the class
    return np.sort(order[place < wanted[codes[order]]])


def content_order(X: np.ndarray) -> np.ndarray:
    """Return the order of rows by their values, first those of the first feature."""
    order, width = np.argsort(X[:, 0], kind="stable"), 1
    places = np.arange(len(X))  # in the order, of rows that may be equal in the features so far
    while width < X.shape[1] and len(places):
        values = X[order[places], :width]
        is_next = np.append((values[1:] == values[:-1]).all(axis=1), False)
        places, width = places[is_next | np.roll(is_next, 1)], 4 * width
        rows = order[places]
        order[places] = rows[np.lexsort(X[rows, :width].T[::-1])]
    return order


def content_keys(columns: Iterable[np.ndarray], n_samples: int) -> np.ndarray:
    """Return a number for each sample that looks random and depends on nothing but its values."""
    # Equal samples get different ones: rows that are repeated very often would else all be chosen, or none.
    keys = np.zeros(n_samples, dtype=np.uint64)
    for column in columns:
        values = np.asarray(column)
        if values.dtype.kind not in "fiub":
            values = np.unique(values.astype(str), return_inverse=True)[1]
        keys = _mix(keys ^ (values.astype(np.float64) + 0.0).view(np.uint64))  # -0.0 is 0.0
    order = np.argsort(keys, kind="stable")
    place = np.arange(n_samples)
    is_first = np.append(True, np.diff(keys[order]) != 0)[:n_samples]
    copy = np.empty(n_samples, dtype=np.uint64)
    copy[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return _mix(_mix(keys ^ copy))


def checksum(columns: Iterable[np.ndarray]) -> int:
    """Return a number for the rows of a table; those of its parts, in any order, add up to it modulo 2^64."""
    keys = np.zeros(1, dtype=np.uint64)
    for column in columns:
        if column.dtype.kind == "f":
            values = (column.astype(np.float64) + 0.0).view(np.uint64)
        else:
            texts = (repr(value).encode("utf-8", "backslashreplace") for value in column.tolist())
            values = np.fromiter(map(crc32, texts), np.uint64, len(column))
        keys = _mix(keys ^ values)
    return int(keys.sum())


def _mix(keys: np.ndarray) -> np.ndarray:
    """Spread every bit of some numbers over all bits."""
    keys = keys * np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern: 2^64 over the golden ratio
    return keys ^ (keys >> np.uint64(29))


def validation_split(codes: np.ndarray, fraction: float, random_state: Any) -> Split:
    """Set aside about the same share of every class, but never a whole class."""
    # Steps from a random start, through samples shuffled within classes: small classes share theirs.
    random = check_random_state(random_state)
    by_class = _shuffle_within_classes(codes, random)
    steps = np.floor(float(fraction) * np.arange(len(codes) + 1) + random.uniform())
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[by_class[np.diff(steps) > 0]] = True
    kept = np.bincount(codes[~chosen], minlength=codes.max() + 1)
    _, first = np.unique(codes[by_class], return_index=True)
    chosen[by_class[first[kept == 0]]] = False
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def deal_folds(labels: np.ndarray, n_folds: int, random: np.random.RandomState) -> np.ndarray:
    """Distribute the samples over folds of equal size, one class after another; return the fold of each."""
    fold = np.empty(len(labels), dtype=np.intp)
    fold[_shuffle_within_classes(labels, random)] = np.arange(len(labels)) % n_folds
    return fold


def _shuffle_within_classes(labels: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Return the samples in order of their classes, in random order within each."""
    shuffled = random.permutation(len(labels))
    return shuffled[np.argsort(labels[shuffled], kind="stable")]
