"""Draw the picture of the README and the front page: what a fifth of wrong labels does to two classifiers.

`python docs/pictures.py` writes `images/wrong_labels.png` and needs matplotlib. A test compares the scores.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.pictures import save
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest.noise import flip_labels
from pathforest.plotting._draw import class_colors

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


if __name__ == "__main__":
    story = tell()
    save(lambda figure: draw(story, figure), PICTURE, (10, 4.2), dpi=120)
    print([f"{score:.1%}" for score in story.scores])
