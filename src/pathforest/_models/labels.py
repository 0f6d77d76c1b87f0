"""Class labels: checked when they are read, and judged by what the classes cost."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from pathforest._engines.samples import from_torch


class Labels(NamedTuple):
    """Checked labels of samples."""

    values: np.ndarray  # distinct and ascending; some may be in no sample
    codes: np.ndarray  # (n,) place of each sample's label in `values`

    @classmethod
    def of(cls, labels: np.ndarray) -> Self:
        """Take apart the labels of samples."""
        if _are_small_numbers(labels):  # which are counted in less time
            used = np.bincount(labels.astype(np.intp)) > 0
            return cls(np.flatnonzero(used).astype(labels.dtype), (np.cumsum(used) - 1)[labels])
        values = narrow(np.unique(labels))
        # Quicker than return_inverse, which sorts the samples.
        return cls(values, np.searchsorted(values, labels))

    def all(self) -> np.ndarray:
        """Return the label of each sample."""
        return self.values[self.codes]

    def extended(self, new: Labels) -> Labels:
        """Add samples with labels of the same kind."""
        if _is_text(self.values) != _is_text(new.values):
            raise TypeError(
                f"new labels are of type {new.values.dtype} and earlier ones of type {self.values.dtype}, "
                "which have no common order; convert them to one type"
            )
        values = np.unique(np.concatenate([self.values, new.values]))
        if len(values) < len({*self.values.tolist(), *new.values.tolist()}):
            raise ValueError(
                f"labels of types {self.values.dtype} and {new.values.dtype} are not all distinct as "
                f"{values.dtype}: some are too large; convert them to one type"
            )
        codes = [np.searchsorted(values, part.values)[part.codes] for part in (self, new)]
        return Labels(values, np.concatenate(codes))

    def in_use(self, named: np.ndarray | None = None) -> Labels:
        """Leave out values that no sample has; those that are named stay, or join."""
        used = np.bincount(self.codes, minlength=len(self.values)) > 0
        if named is None and used.all():
            return self
        values = narrow(self.values[used])
        values = values if named is None else Labels.of(values).extended(Labels.of(named)).values
        place = np.searchsorted(values, self.values)
        return Labels(values, place[self.codes])


def narrow(values: np.ndarray) -> np.ndarray:
    """Give text the type of its longest value, whatever other values were there before."""
    if values.dtype.kind != "U":
        return values
    return values.astype(f"U{np.char.str_len(values).max(initial=1)}")


def read_labels(estimator: Any, y: Any, *, reset: bool = True) -> Labels:
    """Check the labels that an estimator is to learn, and remember their name."""
    if y is None:  # in the words that scikit-learn looks for
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    labels = Labels.of(check_labels(y))
    if reset:
        for known in ("label_name_", "_fit_rows"):
            vars(estimator).pop(known, None)
    # `evaluate` in the shell looks for a column of this name. Series have to_frame, in pandas and in polars;
    # arrays of Dask have names too, which mean nothing.
    name = getattr(y, "name", None) if hasattr(y, "to_frame") else None
    if isinstance(name, str) and name:
        estimator.label_name_ = str(name)
    return labels


def check_labels(y: Any) -> np.ndarray:
    """Return `y` as a one-dimensional array of class labels without missing values."""
    y = from_torch(y)
    if isinstance(y, np.ma.MaskedArray) and (masked := np.ma.getmaskarray(y)).any():
        _raise_missing(masked)
    # Lists go through object arrays first: numpy would turn ["a", nan] into the texts "a" and "nan".
    is_list = isinstance(y, (list, tuple))
    values = np.asarray(y, dtype=object if is_list else None)
    if values.dtype.kind == "T":  # numpy's StringDType, which scikit-learn does not know
        values = values.astype(object)
    if values.dtype == object and values.ndim <= 2:
        _check_objects(values)
        # Numbers and booleans held as objects get their own dtype; text stays as it is.
        typed = np.asarray(y) if is_list else np.array(values.tolist())
        values = typed if is_list or typed.dtype.kind in "biuf" else values
    elif values.dtype.kind in "fcmM" and (missing := values != values).any():
        _raise_missing(missing)
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("y contains infinity, which is not a class label; pass finite labels")
    labels = column_or_1d(values, warn=True)
    if not _are_small_numbers(labels):  # those are classes, and the check takes a while
        check_classification_targets(labels)
    return labels


def check_labels_like(known: np.ndarray, y: Any) -> np.ndarray:
    """Return `y` as labels, which must be text if those known are and numbers if they are."""
    labels = check_labels(y)
    if _is_text(known) != _is_text(labels):
        raise TypeError(
            f"validation labels are of type {labels.dtype} and training labels of type {known.dtype}, so "
            "that no prediction could be right; convert them to one type"
        )
    return labels


def _are_small_numbers(labels: np.ndarray) -> bool:
    """Say whether labels are integers from 0 up, of which at most half as many exist as there are labels."""
    is_integer = labels.dtype.kind in "iu" and labels.size > 0
    return is_integer and bool(labels.min() >= 0 and 2 * int(labels.max()) <= labels.size - 2)


def _is_text(labels: np.ndarray) -> bool:
    return labels.dtype.kind in "OU"


def _check_objects(values: np.ndarray) -> None:
    """Refuse missing values and labels of several kinds in an object array."""
    flat = values.ravel()
    missing = np.fromiter(map(_is_missing, flat), dtype=bool, count=flat.size)
    if missing.any():
        _raise_missing(missing)
    n_text = sum(isinstance(value, str) for value in flat)
    if 0 < n_text < flat.size:
        raise TypeError(
            f"y mixes text with other labels ({n_text} of {flat.size} are text), which have no common order; "
            "convert them to one type, for example with y.astype(str)"
        )


def _is_missing(value: Any) -> bool:
    try:
        return value is None or value is np.ma.masked or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return not isinstance(value, (list, tuple, np.ndarray))


def _raise_missing(missing: np.ndarray) -> None:
    rows = np.flatnonzero(missing)
    raise ValueError(
        f"y has {rows.size} missing label(s), the first at position {rows[0]} (Input y contains NaN or "
        "None); drop those rows or fill in their labels; OPFSemiSupervisedClassifier learns from such rows, "
        "marked by -1, or by '' among texts"
    )


# How well labels fit

# Clarity says how much a sample looks like a class: 0 is undecided, and 0.5 the average of the samples that
# deserve its label. Mistakes happen to all samples, so their clarity is taken to be spread evenly from 0 to
# 1. Where classes overlap it is low, with a density that falls as (1 - clarity) ** FALL. A label is flagged
# if it is a mistake with a probability of at least SURE and the sample at least HALF_CLEAR. A class with more
# mistakes than TOO_MANY for each sample that deserves its label is not known well enough. The values were
# chosen on 45 datasets: others find more wrong labels, but classifiers trained without the flagged samples
# lose where all labels are right.
FALL = 2
SURE = 0.7
HALF_CLEAR = 0.25
TOO_MANY = 0.6
N_ROUNDS = 60


# Where models that have not seen a label and distances are heard together, a label is flagged if it gets less
# than this part of what it and its rival have; chosen on 45 datasets with 0, 5 and 10 % wrong labels.
LITTLE = 0.35


class Opinion(NamedTuple):
    """How well the labels fit."""

    score: np.ndarray  # (n,) of the given class, from 0 to 1
    rival: np.ndarray  # (n,) code of the best other class, -1 if there is none
    prefers_rival: np.ndarray  # (n,) bool, whether that class fits better
    share: np.ndarray  # (n,) part of the given class in what it and its rival have together


def compare_costs(own: np.ndarray, other: np.ndarray, rival: np.ndarray) -> Opinion:
    """Judge labels by the costs of the given class and of its rival, a code or -1."""
    with np.errstate(invalid="ignore"):
        score = other / (own + other)
    score[(own == 0) & (other == 0)] = 0.5
    score[np.isinf(other)] = 1.0
    score[np.isinf(own)] = 0.0
    return Opinion(score, rival, other < own, score)


def join(models: Opinion, distances: Opinion) -> Opinion:
    """Judge labels by the mean of two opinions about the same rivals."""
    share = (models.share + distances.share) / 2
    return Opinion(share, models.rival, share < 0.5, share)


def flag_little(opinion: Opinion, codes: np.ndarray) -> np.ndarray:
    """Flag labels with a small share, unless they are the only ones of a class."""
    return (opinion.share < LITTLE) & (np.bincount(codes)[codes] > 1)


def flag(opinion: Opinion, codes: np.ndarray) -> tuple[np.ndarray, float]:
    """Flag labels that are probably mistakes, not overlap nor alone in their class; estimate their share."""
    is_doubtful = opinion.prefers_rival & (np.bincount(codes)[codes] > 1)
    order = np.argsort(opinion.share, kind="stable")  # sums depend on no order of samples or classes
    columns = codes, opinion.rival, opinion.share, is_doubtful
    given, rival, share, is_doubtful = (column[order] for column in columns)
    flagged, mistakes = np.zeros(len(codes), dtype=bool), np.zeros(len(codes))
    n_classes = int(codes.max()) + 1
    of_size: dict[int, list[Any]] = {}  # classes that as many labels disagree with are judged together
    for own, against in zip(
        by_class(given, np.flatnonzero(share > 0.5), n_classes),
        by_class(rival, np.flatnonzero(is_doubtful), n_classes),
        strict=True,
    ):
        if len(own) and len(against):
            of_size.setdefault(len(against), []).append((against, len(own), (share[own] - 0.5).mean()))
    for classes in of_size.values():
        disagree, n_agree, clear = map(np.array, zip(*classes, strict=True))
        clarity = np.minimum((0.5 - share[disagree]) / (2 * clear[:, None]), 1)
        mistake = _probability_of_mistake(clarity)
        known = mistake.sum(axis=1) <= TOO_MANY * n_agree
        flagged[order[disagree[known]]] = ((mistake >= SURE) & (clarity >= HALF_CLEAR))[known]
        mistakes[disagree[known]] = mistake[known]
    return flagged, float(np.sort(mistakes).mean())


def by_class(codes: np.ndarray, rows: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Divide some samples among their classes, in their order."""
    by_code = rows[np.argsort(codes[rows], kind="stable")]
    return np.split(by_code, np.searchsorted(codes[by_code], np.arange(1, n_classes)))


def _probability_of_mistake(clarity: np.ndarray) -> np.ndarray:
    """Fit the part of mistakes in each row by expectation-maximisation; return how probably each is one."""
    overlap = (FALL + 1) * (1 - clarity) ** FALL
    part = np.full((len(clarity), 1), 0.5)
    for _ in range(N_ROUNDS):
        mistake = part / (part + (1 - part) * overlap)
        part = mistake.mean(axis=1, keepdims=True)
    return mistake
