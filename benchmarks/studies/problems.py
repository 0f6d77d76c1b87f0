"""The datasets of the studies, scikit-learn's, generated and from a local folder, and how they are split."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pathforest.datasets import read
from pathforest.noise import flip_labels

SEED = 2019
# Larger datasets are subsampled in every repeat: tuning the slowest classifier takes long enough.
LARGEST = 1500
FEWEST = 2  # samples of a class: one to train, one to test

# Datasets in the folder that PATHFOREST_DATA names, <name>.csv.gz: a column `label`, then features. The
# paper's come first: its thyroid and Landsat are the two-class versions for anomaly detection; the last two
# are the originals. MPEG-7 (70 classes) is left out because boosting takes too long on it.
LOCAL = (
    "boat", "cone_torus", "four_class", "data1", "data2", "data3", "breast_tissue", "thyroid_ad",
    "landsat_ad", "thyroid", "landsat",
)  # fmt: skip


class Data(NamedTuple):
    """Samples and their labels."""

    X: np.ndarray
    y: np.ndarray


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _rings() -> Data:
    """Three rings in the plane, each around the other."""
    rng = _rng()
    y = np.repeat([0, 1, 2], 200)
    radius, angle = rng.normal(1.0 + y, 0.28), rng.uniform(0, 2 * np.pi, len(y))
    return Data(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y)


def _shells() -> Data:
    """Make a ball inside a shell inside another shell, in five dimensions."""
    rng = _rng()
    y = np.repeat([0, 1, 2], 200)
    direction = rng.normal(size=(len(y), 5))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return Data(direction * rng.normal(1.0 + y, 0.35)[:, None], y)


def _spirals() -> Data:
    """Two thin spirals."""
    rng = _rng()
    y = np.repeat([0, 1], 250)
    t = np.sqrt(rng.uniform(0.05, 1, len(y))) * 3 * np.pi
    X = np.column_stack([t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)])
    return Data(X + rng.normal(0, 0.55, X.shape), y)


def _checkerboard() -> Data:
    """Squares of two colours."""
    rng = _rng()
    X = rng.uniform(0, 4, (600, 2))
    return Data(X + rng.normal(0, 0.06, X.shape), np.floor(X).sum(axis=1).astype(int) % 2)


def _mixture() -> Data:
    """Overlapping Gaussians in eight dimensions, three per class."""
    rng = _rng()
    component = rng.integers(0, 12, 800)
    return Data(rng.normal(size=(12, 8))[component] + rng.normal(0, 0.85, (800, 8)), component % 4)


def _classification(n_features: int, n_informative: int, n_classes: int, sep: float) -> Data:
    return Data(
        *datasets.make_classification(
            700, n_features=n_features, n_informative=n_informative, n_redundant=2, n_classes=n_classes,
            n_clusters_per_class=2, class_sep=sep, flip_y=0.0, random_state=SEED,
        )
    )  # fmt: skip


GENERATED: dict[str, Callable[[], Data]] = {
    "moons": lambda: Data(*datasets.make_moons(500, noise=0.25, random_state=SEED)),
    "circles": lambda: Data(*datasets.make_circles(500, noise=0.12, factor=0.55, random_state=SEED)),
    "rings": _rings,
    "shells": _shells,
    "quantiles": lambda: Data(
        *datasets.make_gaussian_quantiles(n_samples=700, n_features=6, n_classes=3, random_state=SEED)
    ),
    "hastie": lambda: Data(*datasets.make_hastie_10_2(1000, random_state=SEED)),
    "spirals": _spirals,
    "checkerboard": _checkerboard,
    "mixture": _mixture,
    "classification10": lambda: _classification(10, 6, 3, 1.0),
    "classification30": lambda: _classification(30, 12, 4, 1.2),
}

SCIKIT_LEARN: dict[str, Callable[[], Data]] = {
    "iris": lambda: Data(*datasets.load_iris(return_X_y=True)),
    "wine": lambda: Data(*datasets.load_wine(return_X_y=True)),
    "breast_cancer": lambda: Data(*datasets.load_breast_cancer(return_X_y=True)),
    "digits": lambda: Data(*datasets.load_digits(return_X_y=True)),
}


def problems() -> dict[str, Callable[[], Data]]:
    """Map the name of every available dataset to the function that loads it."""
    folder = os.environ.get("PATHFOREST_DATA")
    paths = {name: Path(folder) / f"{name}.csv.gz" for name in LOCAL} if folder else {}
    here = {name: path for name, path in paths.items() if path.exists()}
    return SCIKIT_LEARN | GENERATED | {name: partial(_read, path) for name, path in here.items()}


def _read(path: Path) -> Data:
    table = read(path)
    return Data(table.X, table.y)


def announce(only: str = "") -> str:
    """Report which datasets whose name contains a text are available, and which are missing."""
    here = [name for name in problems() if only in name]
    missing = [name for name in LOCAL if only in name and name not in here]
    text = f"{len(here)} datasets: {', '.join(here) or 'none'}"
    if not missing:
        return text
    folder = os.environ.get("PATHFOREST_DATA")
    advice = f"not in {folder}" if folder else "set PATHFOREST_DATA to the folder with their <name>.csv.gz"
    return f"{text}\nmissing: {', '.join(missing)} ({advice})"


def thin(data: Data, rng: np.random.Generator, largest: int = LARGEST) -> Data:
    """Draw samples from a dataset that has more than `largest`."""
    if len(data.X) <= largest:
        return data
    chosen = rng.choice(len(data.X), largest, replace=False)
    return Data(data.X[chosen], data.y[chosen])


class Split(NamedTuple):
    """Training samples and queries, standardised on the training part."""

    X: np.ndarray
    y: np.ndarray
    Q: np.ndarray
    answers: np.ndarray
    seed: int  # for whatever else is drawn


def split(data: Data, name: str, repeat: int, noise: float = 0.0, largest: int = LARGEST) -> Split:
    """Keep a fifth for testing, stratified, and change a share of the training labels.

    Classes of which fewer than `FEWEST` samples were drawn are left out. All is decided by the arguments.
    """
    rng = np.random.default_rng([repeat, *name.encode()])
    data, seed = thin(data, rng, largest), int(rng.integers(2**31))
    _, codes, counts = np.unique(data.y, return_inverse=True, return_counts=True)
    if counts.min() < FEWEST <= counts.max():
        data = Data(*(part[counts[codes] >= FEWEST] for part in data))
    X, Q, y, answers = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), flip_labels(y, noise, rng), scaler.transform(Q), answers, seed)
