"""Datasets of an experiment by name, and how each run cuts them: the paper's way, and a clean way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from pathforest._reproduction import published
from pathforest._reproduction.experiment import Samples
from pathforest.datasets import load as load_published
from pathforest.datasets import make_boat, make_cone_torus, make_four_class
from pathforest.datasets.published import DATASETS, content_sha256

SEED = 2019  # of the generated sets
FOLDS = 5  # of the search, with the clean preset

# Sets that need no download: shapes like the paper's, and scikit-learn's own.
BUNDLED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "boat_like": lambda: make_boat(random_state=SEED),
    "cone_torus_like": lambda: make_cone_torus(random_state=SEED),
    "four_class_like": lambda: make_four_class(random_state=SEED),
    "iris": lambda: sklearn_datasets.load_iris(return_X_y=True),
    "wine": lambda: sklearn_datasets.load_wine(return_X_y=True),
    "breast_cancer": lambda: sklearn_datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: sklearn_datasets.load_digits(return_X_y=True),
}

# Small enough for a first look.
QUICK = ("boat_like", "cone_torus_like", "four_class_like", "iris", "wine")


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Check that every name is known and none comes twice; return them in the paper's order."""
    known = [*DATASETS, *BUNDLED]
    if not names:
        raise ValueError(f"no dataset is named; choose from {', '.join(known)}")
    for name in names:
        if name in published.PRIVATE:
            raise ValueError(f"dataset {name!r} is private: only the paper's authors have it")
        if name not in known:
            raise ValueError(f"dataset {name!r} is unknown; choose from {', '.join(known)}")
    if len(set(names)) < len(names):
        raise ValueError(f"datasets {', '.join(names)}: one is named twice")
    return tuple(published.in_order(names))


def load(name: str) -> Samples:
    """Load a dataset by its name; refuse samples that are not finite, or too few to be cut into parts."""
    X, y = BUNDLED[name]() if name in BUNDLED else load_published(name, return_X_y=True)
    samples = Samples(np.asarray(X, dtype=np.float64), np.asarray(y))
    bad = np.argwhere(~np.isfinite(samples.X))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"dataset {name!r}: feature {column} of sample {row} is {samples.X[row, column]}; leave such "
            "samples out"
        )
    train, *others = split_rows(samples.y, np.random.default_rng(0))
    if len(np.unique(samples.y[train])) < 2 or not all(map(len, others)):
        n_classes = len(np.unique(samples.y))
        raise ValueError(
            f"dataset {name!r}: {len(samples.y)} samples in {n_classes} classes cannot be cut into parts for "
            "training, evaluation and test with two classes to train on; pass more samples"
        )
    return samples


def is_published(name: str, samples: Samples) -> bool:
    """Whether samples are those that the registry knows by this name, or of a name it does not know."""
    if name not in DATASETS:
        return True
    return samples.y.dtype.kind == "i" and content_sha256(samples.X, samples.y) == DATASETS[name].sha256


# How a run cuts a dataset


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
    parts = []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        seen = 4 * len(rows) // 5
        parts.append(np.split(rows, [3 * seen // 4, seen]))
    train, evaluation, test = map(np.concatenate, zip(*parts, strict=True))
    return train, evaluation, test


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
