"""Draw the story of the front page: paths conquer samples, then a fifth of the labels are wrong.

`python docs/pictures.py` writes the pictures of the README (`images/wrong_labels_{light,dark}.png`) and the
animation of the site (`images/story.html`); it needs matplotlib. A test draws them again and compares.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest.noise import flip_labels
from pathforest.plotting._draw import class_colors

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT = 320, 240  # of a panel of the animation
MARGIN = 0.15
RADIUS = 2.9
THEMES = {  # paper and ink, as on GitHub, and the colours of the two classes
    "light": ("#ffffff", "#1f2328", ("#0072B2", "#E69F00")),
    "dark": ("#0d1117", "#e6edf3", ("#56B4E9", "#FFC13B")),
}


class Story(NamedTuple):
    """Two half-moons, the same with wrong labels, and the models of both."""

    X: np.ndarray
    y: np.ndarray
    noisy: np.ndarray
    clean_model: OPFClassifier
    plain: OPFClassifier
    search: FuzzyOPFClassifierCV
    scores: dict[str, float]  # test accuracy with wrong training labels


def tell() -> Story:
    """Fit the models of the story."""
    X, y = make_moons(1600, noise=0.2, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=0)
    noisy = flip_labels(y, 0.2, random_state=0)
    plain, search = OPFClassifier().fit(X, noisy), FuzzyOPFClassifierCV().fit(X, noisy)
    scores = {"plain": plain.score(X_test, y_test), "search": search.score(X_test, y_test)}
    return Story(X, y, noisy, OPFClassifier().fit(X, y), plain, search, scores)


def regions(model, low: np.ndarray, high: np.ndarray, columns: int = 240) -> np.ndarray:
    """Return what a model answers over the plane, top row first, as translucent colours for any paper."""
    x, y = np.meshgrid(np.linspace(low[0], high[0], columns), np.linspace(high[1], low[1], columns * 3 // 4))
    codes = model.predict(np.c_[x.ravel(), y.ravel()])
    image = np.concatenate([class_colors(2)[codes], np.full((codes.size, 1), 0.38)], axis=1)
    return image.reshape(*x.shape, 4)


def corners(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower left and the upper right corner of the plane shown."""
    return X.min(axis=0) - MARGIN, X.max(axis=0) + MARGIN


# The picture of the README


def static_picture(story: Story, theme: str) -> bytes:
    """Draw plain OPF beside the search, each with its accuracy, as a PNG file."""
    from matplotlib.figure import Figure

    paper, ink, colors = THEMES[theme]
    low, high = corners(story.X)
    figure = Figure(figsize=(10, 4.2), layout="constrained", facecolor=paper)
    panels = {
        "plain": ("Plain OPF", "every wrong label conquers an island"),
        "search": ("FuzzyOPFClassifierCV", "wrong labels are outvoted"),
    }
    for ax, (name, (title, remark)) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        ax.imshow(
            regions(getattr(story, name), low, high, 480),
            extent=(low[0], high[0], low[1], high[1]),
            aspect="auto",
        )
        wrong = story.noisy != story.y
        ax.scatter(
            *story.X.T, s=17, c=[colors[code] for code in story.noisy], edgecolors=paper, linewidths=0.6
        )
        ax.scatter(*story.X[wrong].T, s=46, facecolors="none", edgecolors=ink, linewidths=0.9)
        ax.set(xticks=[], yticks=[], facecolor=paper)
        ax.spines[:].set_visible(False)
        ax.set_title(f"{title}: {story.scores[name]:.1%} right", color=ink, fontsize=15, fontweight="bold")
        ax.set_xlabel(remark, color=ink, fontsize=12)
    return as_png(lambda file: figure.savefig(file, dpi=120, facecolor=paper))


# The animation of the site


def animation(story: Story) -> str:
    """Write three panels of SVG that play once; the style sheet of the site has their colours and motion."""
    panels = [
        ("1. Paths conquer", "Prototypes, where classes meet, compete for all samples.", conquest(story)),
        (
            f"2. Plain OPF, a fifth of the labels wrong: {story.scores['plain']:.1%} right",
            "Every wrong label (ringed) conquers an island.",
            poisoned(story, story.plain, "plain"),
        ),
        (
            f"3. FuzzyOPFClassifierCV, the same labels: {story.scores['search']:.1%} right",
            "Several paths vote for each class; it chooses how many.",
            poisoned(story, story.search, "search"),
        ),
    ]
    figures = "\n".join(
        f'<figure class="panel"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}. {text}">\n{drawing}\n</svg>'
        f"<figcaption><strong>{title}</strong><br>{text}</figcaption></figure>"
        for title, text, drawing in panels
    )
    again = "for (const a of this.parentElement.getAnimations({subtree: true})) { a.cancel(); a.play(); }"
    button = f'<button type="button" onclick="{again}">Play again</button>'
    return f'<div class="story">\n{figures}\n{button}\n</div>\n'


def conquest(story: Story) -> str:
    """Draw the forest of the right labels; each sample and its arc appear in the order of the competition."""
    model, at = story.clean_model, places(story.X)
    turn = np.empty(len(at), dtype=int)
    turn[model.order_] = np.arange(len(at))
    arcs = [
        f'<path class="arc" style="--t:{turn[i]}" d="M{at[j]}L{at[i]}"/>'
        for i, j in enumerate(model.predecessor_)
        if j >= 0
    ]
    roots = set(model.prototypes_.tolist())
    dots = [
        f'<circle class="{"root " if i in roots else ""}won c{label}" style="--t:{turn[i]}" {dot(at[i])}/>'
        for i, label in enumerate(story.y)
    ]
    return "\n".join(arcs + dots)


def poisoned(story: Story, model, name: str) -> str:
    """Draw the samples, some of which change their colour, and the regions that result."""
    at = places(story.X)
    image = regions(model, *corners(story.X))
    href = base64.b64encode(as_png(lambda file: save_pixels(file, image))).decode()
    picture = (
        f'<image class="regions {name}" width="{WIDTH}" height="{HEIGHT}" preserveAspectRatio="none" '
        f'href="data:image/png;base64,{href}"/>'
    )
    dots = [
        f'<circle class="c{new}{f" wrong was{old}" if new != old else ""}" {dot(place)}/>'
        for place, old, new in zip(at, story.y, story.noisy, strict=True)
    ]
    return "\n".join([picture, *dots])


def places(X: np.ndarray) -> list[str]:
    """Return the place of each sample in a panel."""
    low, high = corners(X)
    x, y = ((X - low) / (high - low) * [WIDTH, HEIGHT]).T
    return [f"{a:.0f} {b:.0f}" for a, b in zip(x, HEIGHT - y, strict=True)]


def dot(place: str) -> str:
    """Return the attributes of a circle."""
    x, y = place.split()
    return f'cx="{x}" cy="{y}" r="{RADIUS}"'


def save_pixels(file: io.BytesIO, image: np.ndarray) -> None:
    """Write few colours as a palette: the page contains these pictures as text."""
    from PIL import Image

    Image.fromarray((255 * image).astype(np.uint8)).quantize(4).save(file, format="png", optimize=True)


def as_png(save) -> bytes:
    """Return what a function writes to a file."""
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def main() -> None:
    """Write the pictures and print the scores in them."""
    story = tell()
    (IMAGES / "story.html").write_text(animation(story), encoding="utf-8")
    for theme in THEMES:
        (IMAGES / f"wrong_labels_{theme}.png").write_bytes(static_picture(story, theme))
    print({name: f"{score:.1%}" for name, score in story.scores.items()})


if __name__ == "__main__":
    main()
