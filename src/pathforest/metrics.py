"""Scores of OPF's own literature.

``opf_accuracy_scorer`` is :func:`opf_accuracy` in the form that `scoring` takes, for example
``GridSearchCV(OPFClassifier(), grid, scoring=opf_accuracy_scorer)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length


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
    check_consistent_length(y_true, y_pred)
    labels = unique_labels(y_true, y_pred)
    true, predicted = np.searchsorted(labels, y_true), np.searchsorted(labels, y_pred)
    groups = true, predicted, true[true == predicted]
    counts = np.array([np.bincount(codes, minlength=len(labels)) for codes in groups])
    own, given, right = counts[:, counts[0] > 0]
    # A single class leaves no others to take from.
    stolen = (given - right) / np.maximum(own.sum() - own, 1)
    return float(1 - (1 - right / own + stolen).mean() / 2)


opf_accuracy_scorer = make_scorer(opf_accuracy)
