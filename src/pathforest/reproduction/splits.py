"""Cutting a dataset into parts for training, search and test, the paper's way and a clean way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from pathforest.reproduction.experiment import Samples

FOLDS = 5  # of the search, with the clean preset


class Parts(NamedTuple):
    """One run's share of a dataset: what models train on, what they are judged by, what a search may see."""

    train: Samples
    test: Samples
    search: Samples
    folds: list[tuple[np.ndarray, np.ndarray]]  # rows of `search`: (train, evaluation)


def split_rows(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw rows for training, evaluation and test, class by class, in LibOPF's integer arithmetic.

    Of n samples of a class, 4 n // 5 = m are for training and evaluation, and 3 m // 4 of these for training:
    the paper's averages are multiples of 1 / (20 times the test sizes that come out).
    """
    train, evaluation, test = [], [], []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        seen = 4 * len(rows) // 5
        kept = 3 * seen // 4
        train.append(rows[:kept])
        evaluation.append(rows[kept:seen])
        test.append(rows[seen:])
    return np.concatenate(train), np.concatenate(evaluation), np.concatenate(test)


def paper_parts(samples: Samples, rng: np.random.Generator) -> Parts:
    """Cut as the paper did: features z-scored on all samples first, and a search on one evaluation part.

    The scaling leaks test samples into training, by today's rules; without it the numbers differ. Models are
    trained on the training part alone, after the search too.
    """
    train, evaluation, test = split_rows(samples.y, rng)
    samples = Samples(StandardScaler().fit_transform(samples.X), samples.y)
    seen = _rows(samples, np.concatenate([train, evaluation]))
    rows = np.arange(len(seen.y))
    folds = [(rows[: len(train)], rows[len(train) :])]
    return Parts(_rows(samples, train), _rows(samples, test), seen, folds)


def clean_parts(samples: Samples, rng: np.random.Generator) -> Parts:
    """Cut off the same test part; scale by the rest, search in folds of the rest, train on the rest."""
    train, evaluation, test = split_rows(samples.y, rng)
    seen, held_out = _rows(samples, np.concatenate([train, evaluation])), _rows(samples, test)
    scaler = StandardScaler().fit(seen.X)
    seen = Samples(scaler.transform(seen.X), seen.y)
    smallest = np.unique(seen.y, return_counts=True)[1].min()
    splitter = StratifiedKFold(
        max(2, min(FOLDS, smallest)), shuffle=True, random_state=int(rng.integers(2**31))
    )
    folds = list(splitter.split(seen.X, seen.y))
    return Parts(seen, Samples(scaler.transform(held_out.X), held_out.y), seen, folds)


def _rows(samples: Samples, rows: np.ndarray) -> Samples:
    return Samples(samples.X[rows], samples.y[rows])


PRESETS = {"paper": paper_parts, "clean": clean_parts}
