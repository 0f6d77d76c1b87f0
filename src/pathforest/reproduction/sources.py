"""The datasets an experiment can name: the paper's, and others that need no download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets

from pathforest.datasets import load as load_published
from pathforest.datasets import make_boat, make_cone_torus, make_four_class
from pathforest.datasets.published.checksum import content_sha256
from pathforest.datasets.published.registry import DATASETS
from pathforest.reproduction import published
from pathforest.reproduction.experiment import Samples
from pathforest.reproduction.splits import split_rows

SEED = 2019  # of the generated sets

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
    """Check that every name is known and none comes twice."""
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
    return tuple(names)


def load(name: str) -> Samples:
    """Load a dataset by its name."""
    X, y = BUNDLED[name]() if name in BUNDLED else load_published(name, return_X_y=True)
    samples = Samples(np.asarray(X, dtype=np.float64), np.asarray(y))
    _check_samples(name, samples)
    return samples


def _check_samples(name: str, samples: Samples) -> None:
    """Refuse samples that cannot be cut into parts, or have no numbers."""
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


def is_published(name: str, samples: Samples) -> bool:
    """Whether samples are those that the registry knows by this name, or of a name it does not know."""
    if name not in DATASETS:
        return True
    return samples.y.dtype.kind == "i" and content_sha256(samples.X, samples.y) == DATASETS[name].sha256
