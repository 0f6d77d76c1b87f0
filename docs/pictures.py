"""Draw the picture of the README and the front page, and those that guides open with.

`python docs/pictures.py` writes `images/wrong_labels.png`, what a fifth of wrong labels does to two
classifiers, and `images/guide_*.png`; it needs matplotlib and imbalanced-learn. A test compares the scores.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.pictures import save
from pathforest import (
    FuzzyOPFClassifierCV,
    O2PFSampler,
    OPFClassifier,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFSemiSupervisedClassifier,
    OPFUnderSampler,
)
from pathforest.noise import flip_labels
from pathforest.plotting import plot_decision_regions, plot_forest
from pathforest.plotting._draw import class_colors
from pathforest.pruning import prune

PICTURE = Path(__file__).parent / "images" / "wrong_labels.png"
MARGIN = 0.15
PANELS = {
    "Plain OPF": "every wrong label conquers an island",
    "FuzzyOPFClassifierCV": "wrong labels are outvoted",
}


class Story(NamedTuple):
    """Two half-moons, their labels, the same with a fifth wrong, the models and their accuracy."""

    X: np.ndarray
    y: np.ndarray
    noisy: np.ndarray
    models: list[Any]
    scores: list[float]


def tell() -> Story:
    """Fit the models of the story."""
    X, y = make_moons(1600, noise=0.2, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=0)
    noisy = flip_labels(y, 0.2, random_state=0)
    models = [OPFClassifier().fit(X, noisy), FuzzyOPFClassifierCV().fit(X, noisy)]
    return Story(X, y, noisy, models, [model.score(X_test, y_test) for model in models])


def regions(model: Any, low: np.ndarray, high: np.ndarray, columns: int = 480) -> np.ndarray:
    """Return what a model answers over the plane, top row first, as translucent colours for any paper."""
    x, y = np.meshgrid(np.linspace(low[0], high[0], columns), np.linspace(high[1], low[1], columns * 3 // 4))
    codes = model.predict(np.c_[x.ravel(), y.ravel()])
    image = np.concatenate([class_colors(2)[codes], np.full((codes.size, 1), 0.38)], axis=1)
    return image.reshape(*x.shape, 4)


def draw(story: Story, figure: Any) -> None:
    """Draw plain OPF beside the search, each with its accuracy; wrong labels are ringed."""
    low, high = story.X.min(axis=0) - MARGIN, story.X.max(axis=0) + MARGIN
    wrong = story.noisy != story.y
    shown = zip(figure.subplots(1, 2), PANELS.items(), story.models, story.scores, strict=True)
    for ax, (title, remark), model, score in shown:
        extent = low[0], high[0], low[1], high[1]
        ax.imshow(regions(model, low, high), extent=extent, aspect="auto")
        ax.scatter(*story.X.T, s=17, c=class_colors(2)[story.noisy], edgecolors="none")
        ax.scatter(*story.X[wrong].T, s=46, facecolors="none", edgecolors="#808080", linewidths=1.1)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(f"{title}: {score:.1%} right", fontsize=15, fontweight="bold")
        ax.set_xlabel(remark, fontsize=12)


# The guides

MOONS = make_moons(160, noise=0.12, random_state=1)
BLUE, ORANGE = class_colors(2)


def bare(ax: Any, title: str = "") -> None:
    """Leave nothing but points and a title."""
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=14)


def dots(ax: Any, X: np.ndarray, codes: np.ndarray, title: str) -> None:
    """Draw samples in the colours of their classes; of no class, -1, in grey."""
    colors = np.vstack([class_colors(2), [[0.5, 0.5, 0.5]]])
    ax.scatter(*X.T, s=16, c=colors[codes], edgecolors="none")
    bare(ax, title)


def opf(figure: Any) -> None:
    """Draw a forest, and what it answers."""
    left, right = figure.subplots(1, 2)
    model = OPFClassifier().fit(*MOONS)
    plot_forest(model, ax=left, legend=False)
    plot_decision_regions(model, ax=right, legend=False)
    bare(left, "prototypes conquer along the cheapest paths")
    bare(right, "and so divide the plane")


def knn(figure: Any) -> None:
    """Draw prototypes at borders and in the middle of classes."""
    models = {"meet": OPFClassifier(), "are dense": OPFKNNClassifier(n_neighbors=12)}
    for ax, (where, model) in zip(figure.subplots(1, 2), models.items(), strict=True):
        plot_forest(model.fit(*MOONS), MOONS[0], ax=ax, legend=False)
        bare(ax, f"{type(model).__name__}: where classes {where}")


def semi_supervised(figure: Any) -> None:
    """Draw two labels, and where they flow."""
    X, y = make_moons(300, noise=0.07, random_state=1)
    given, seeds = np.full(len(X), -1), [X[:, 1].argmax(), X[:, 1].argmin()]
    given[seeds] = y[seeds]
    flowed = OPFSemiSupervisedClassifier().fit(X, given).transduction_
    titles = ["two labels", f"flow to all samples: {np.mean(flowed == y):.0%} right"]
    for ax, codes, title in zip(figure.subplots(1, 2), (given, flowed), titles, strict=True):
        dots(ax, X, codes, title)
        ax.scatter(*X[seeds].T, s=110, c=[BLUE, ORANGE], edgecolors="#808080")


def outliers(figure: Any) -> None:
    """Draw a line, outside of which samples are sparse."""
    rng = np.random.default_rng(0)
    blobs, _ = make_blobs(150, centers=[[0, 0], [5, 1]], cluster_std=[0.5, 1], random_state=0)
    X = np.vstack([blobs, rng.uniform([-3, -4], [9, 6], (8, 2))])
    model, ax = OPFOutlierDetector(contamination=0.06).fit(X), figure.subplots()
    x, y = np.meshgrid(np.linspace(-3.5, 9.5, 300), np.linspace(-4.5, 6.5, 200))
    scores = model.decision_function(np.c_[x.ravel(), y.ravel()]).reshape(x.shape)
    dots(ax, X, (model.predict(X) < 0).astype(int), "")
    ax.contour(x, y, scores, levels=[0], colors=["#808080"])


def pruning(figure: Any) -> None:
    """Draw a forest with all samples, and with those that are needed."""
    model, test = OPFClassifier().fit(*MOONS), make_moons(2000, noise=0.12, random_state=3)
    pruned = prune(model, *make_moons(160, noise=0.12, random_state=2), max_loss=0.01).model
    for ax, one in zip(figure.subplots(1, 2), (model, pruned), strict=True):
        plot_forest(one, ax=ax, legend=False)
        bare(ax, f"{len(one.cost_)} samples: {one.score(*test):.1%} right")


def resampling(figure: Any) -> None:
    """Draw two classes of different sizes, and the same balanced."""
    X, y = make_blobs([150, 20], centers=[[0, 0], [3, 1.5]], cluster_std=[1.2, 0.7], random_state=2)
    found = [(X, y), *(s(random_state=0).fit_resample(X, y) for s in (OPFUnderSampler, O2PFSampler))]
    names = ["as they are", "OPFUnderSampler", "O2PFSampler"]
    for ax, (X, y), name in zip(figure.subplots(1, 3), found, names, strict=True):
        dots(ax, X, y, f"{name}: {np.bincount(y)[0]} and {np.bincount(y)[1]}")
        ax.set(xlim=(-4, 6), ylim=(-4, 5))


if __name__ == "__main__":
    for guide in (opf, knn, semi_supervised, outliers, pruning, resampling):
        save(guide, PICTURE.with_name(f"guide_{guide.__name__}.png"), (10, 3.6), dpi=100)
    story = tell()
    save(lambda figure: draw(story, figure), PICTURE, (10, 4.2), dpi=120)
    print([f"{score:.1%}" for score in story.scores])
