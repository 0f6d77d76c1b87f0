"""Training samples exchanged for validation samples that were misclassified."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length

from pathforest._engines.metric import array_options
from pathforest._engines.samples import validated
from pathforest._models.labels import check_labels, check_labels_like
from pathforest._tables.columns import as_table
from pathforest._utils.checks import check_integer, random_generator
from pathforest.classifier import OPFClassifier
from pathforest.pruning import pass_on_names


class Learned(NamedTuple):
    """A classifier whose training samples were exchanged for more useful ones."""

    model: OPFClassifier  # fitted to the rows below
    train_rows: np.ndarray  # (n_train,) rows of the training samples followed by the validation samples
    val_rows: np.ndarray  # (n_val,) the other rows


def learn(
    model: OPFClassifier,
    X_train: Any,
    y_train: Any,
    X_val: Any,
    y_val: Any,
    n_iter: int = 10,
    random_state: Any = 0,
) -> Learned:
    """Exchange training samples for validation samples that were misclassified.

    Each iteration fits the classifier and exchanges every validation sample it gets wrong for a training
    sample of the same class that is not a prototype, drawn at random. The model with the best accuracy on its
    validation samples is returned; of equally good ones, the earliest.

    Parameters
    ----------
    model : OPFClassifier
        The parameters to fit with. It is not changed.
    X_train : array-like of shape (n_train, n_features)
        Training samples to start from.
    y_train : array-like of shape (n_train,)
        Their labels.
    X_val : array-like of shape (n_val, n_features)
        Validation samples.
    y_val : array-like of shape (n_val,)
        Their labels.
    n_iter : int, default=10
        Largest number of exchanges; fewer if no validation sample is wrong, or none can be exchanged.
    random_state : int, RandomState or None, default=0
        Decides which training samples are exchanged.

    Returns
    -------
    Learned
        Named tuple ``(model, train_rows, val_rows)``. Rows are counted through the training samples first,
        then through the validation samples.

    Notes
    -----
    The number of training samples does not change, nor that of any class. Because samples that are hard to
    classify leave the validation set, its accuracy after an exchange is optimistic: judge the model by
    samples that had no part in this.

    References
    ----------
    J. P. Papa, A. X. Falcão, C. T. N. Suzuki, "Supervised pattern classification based on optimum-path
    forest", International Journal of Imaging Systems and Technology 19(2), 2009.

    Examples
    --------
    >>> from pathforest import OPFClassifier
    >>> from pathforest.learning import learn
    >>> X_train, y_train = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], [0, 0, 0, 1, 1, 1]
    >>> learned = learn(OPFClassifier(), X_train, y_train, [[3.8], [4.6]], [0, 1])
    >>> sorted(learned.train_rows.tolist())  # the first validation sample, row 6, has taken a place
    [1, 2, 3, 4, 5, 6]
    >>> learned.model.predict([[3.7]]).tolist()
    [0]
    """
    if not isinstance(model, OPFClassifier):
        raise TypeError(f"learn takes an OPFClassifier, got {type(model).__name__}")
    if get_tags(model).input_tags.pairwise:
        raise ValueError(
            "learn needs features, not metric='precomputed': distances between validation samples are missing"
        )
    check_integer("n_iter", n_iter, 0, "10 is the default")
    rng = random_generator(random_state)
    named = clone(model)  # keeps the names of the features, which the rows below do not
    metric = model._settings().metric
    if metric.name == "gower" and any(as_table(X) is not None for X in (X_train, X_val)):
        raise TypeError(  # no exchange could keep categories apart
            "learn takes arrays of numbers for metric='gower', not tables; encode categories, for example "
            "with sklearn.preprocessing.OrdinalEncoder, and set metric_params['categorical']"
        )
    options = array_options(metric) | {"dtype": [np.float64, np.float32]}
    X_train, X_val = validated(named, X_train, **options), validated(named, X_val, reset=False, **options)
    y_train = check_labels(y_train)
    y_val = check_labels_like(y_train, y_val)
    check_consistent_length(X_train, y_train)
    check_consistent_length(X_val, y_val)
    X, y = np.concatenate([X_train, X_val]), np.concatenate([y_train, y_val])
    train, val = np.arange(len(y_train)), np.arange(len(y_train), len(y))
    best, most = None, -1
    for iteration in range(int(n_iter) + 1):
        fitted = clone(model).fit(X[train], y[train])
        wrong = np.flatnonzero(fitted.predict(X[val]) != y[val])
        if len(val) - len(wrong) > most:
            best, most = Learned(fitted, train.copy(), val.copy()), len(val) - len(wrong)
        if iteration == n_iter or not _exchange(train, val, wrong, y, fitted.prototypes_, rng):
            break
    pass_on_names(named, best.model)
    return best


def _exchange(
    train: np.ndarray,
    val: np.ndarray,
    wrong: np.ndarray,
    y: np.ndarray,
    prototypes: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Exchange validation samples, at these positions, for training samples of their class; count them."""
    free = np.delete(np.arange(len(train)), prototypes)
    n_exchanged = 0
    for label in np.unique(y[val[wrong]]):
        leaving = wrong[y[val[wrong]] == label]
        offered = rng.permutation(free[y[train[free]] == label])[: len(leaving)]
        leaving = leaving[: len(offered)]
        train[offered], val[leaving] = val[leaving], train[offered]
        n_exchanged += len(offered)
    return n_exchanged
