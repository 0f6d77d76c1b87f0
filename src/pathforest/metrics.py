"""Scores of OPF's own literature.

``opf_accuracy_scorer`` is :func:`opf_accuracy` in the form that `scoring` takes, for example
``GridSearchCV(OPFClassifier(), grid, scoring=opf_accuracy_scorer)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length


class ClassAccuracy(NamedTuple):
    """The accuracy of each class; ``dict(zip(*per_class_accuracy(...)[:2]))`` looks one up by its label."""

    label: np.ndarray  # (n_classes,) classes with a true sample, sorted
    accuracy: np.ndarray  # (n_classes,) share of its samples that were given its label
    n_samples: np.ndarray  # (n_classes,) how many those are


def opf_accuracy(y_true: Any, y_pred: Any) -> float:
    """Score predictions as LibOPF does: balanced over classes, with false positives counted too.

    A class errs by the share of its samples that were missed, plus the share of all other samples that were
    given to it; the score is 1 minus half the mean over classes. Unlike LibOPF's, it counts label 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of any type.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.

    Returns
    -------
    score : float
        From 0 to 1. Classes without a true sample do not count; with two classes this is the balanced
        accuracy.

    References
    ----------
    J. P. Papa, A. X. Falcão, C. T. N. Suzuki, "Supervised pattern classification based on optimum-path
    forest", International Journal of Imaging Systems and Technology 19(2), 2009.

    Examples
    --------
    >>> from pathforest.metrics import opf_accuracy
    >>> opf_accuracy(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    0.8611111111111112
    """
    _, own, given, right = _count(y_true, y_pred)
    # A single class leaves no others to take from.
    stolen = (given - right) / np.maximum(own.sum() - own, 1)
    return float(1 - (1 - right / own + stolen).mean() / 2)


opf_accuracy_scorer = make_scorer(opf_accuracy)


def per_class_accuracy(y_true: Any, y_pred: Any) -> ClassAccuracy:
    """Return the share of each class's samples that was recognised, as LibOPF's ``opf_accuracy4label`` does.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of any type.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.

    Returns
    -------
    ClassAccuracy
        Named tuple ``(label, accuracy, n_samples)`` of arrays. Labels that are only predicted have no
        samples to recognise and are left out. The mean of `accuracy` is the balanced accuracy, its mean
        weighted by `n_samples` the plain one.

    Examples
    --------
    >>> from pathforest.metrics import per_class_accuracy
    >>> label, accuracy, n_samples = per_class_accuracy(["a", "a", "b", "c"], ["a", "b", "b", "b"])
    >>> dict(zip(label.tolist(), accuracy.tolist()))
    {'a': 0.5, 'b': 1.0, 'c': 0.0}
    """
    label, own, _, right = _count(y_true, y_pred)
    return ClassAccuracy(label, right / own, own)


def _count(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the classes with a true sample: their samples, samples given their label, and both at once."""
    check_consistent_length(y_true, y_pred)
    labels = unique_labels(y_true, y_pred)
    true, predicted = np.searchsorted(labels, y_true), np.searchsorted(labels, y_pred)
    own, given, right = (
        np.bincount(codes, minlength=len(labels)) for codes in (true, predicted, true[true == predicted])
    )
    counted = own > 0
    return labels[counted], own[counted], given[counted], right[counted]
