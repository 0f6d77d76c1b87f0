"""An explanation as a row of images: the sample, its conqueror, the path to the prototype, the rival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pathforest._models.explanation import Explanation, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MOST_STEPS = 7  # images of a path, at most
GAP = 0.12  # between images, as a share of their width
PAUSE = 0.35  # before the rival, which is not on the path


def draw_images(
    ax: Axes, explanation: Explanation, sample: np.ndarray, training: np.ndarray, shape: tuple[int, ...]
) -> list[AxesImage]:
    """Draw images side by side, each with its cost below; grey levels are the same for all."""
    steps = np.unique(np.linspace(0, len(explanation.path) - 1, MOST_STEPS).round().astype(int))
    shown = [("sample", f"offer {explanation.offer:.3g}", sample)]
    for step in steps.tolist():
        name = "conqueror" if step == 0 else "prototype" if step == len(explanation.path) - 1 else ""
        shown.append((name, f"cost {explanation.costs[step]:.3g}", training[explanation.path[step]]))
    if rival := explanation.rival:
        best = f"offer {rival.offers[0]:.3g}"
        shown.append((f"rival: {text(rival.label)}", best, training[rival.conquerors[0]]))
    rows = np.array([image for *_, image in shown])
    limits = {"vmin": rows.min(), "vmax": rows.max()} if len(shape) == 2 else {}
    height, images, left = shape[0] / shape[1], [], 0.0
    for i, (name, cost, image) in enumerate(shown):
        left += PAUSE if rival and i == len(shown) - 1 else 0
        extent = (left, left + 1, 0, height)
        images.append(ax.imshow(as_image(image, shape), cmap="gray_r", extent=extent, **limits))
        middle = {"ha": "center", "fontsize": 9}
        ax.text(left + 0.5, height + 0.06, name, va="bottom", **middle)
        ax.text(left + 0.5, -0.06, cost, va="top", **middle)
        left += 1 + GAP
    ax.set(xlim=(0, left - GAP), ylim=(-0.3, height + 0.35), aspect="equal")
    ax.set_axis_off()
    return images


def as_image(row: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Give the features of a sample the shape of an image; three channels become colours."""
    image = np.asarray(row, dtype=np.float64).reshape(shape)
    if len(shape) == 2:
        return image
    return image / 255 if image.max() > 1 else image


def check_image_shape(shape: Any, n_features: int) -> tuple[int, ...]:
    """Return the shape of images, which must take all features."""
    try:
        checked = tuple(int(length) for length in shape)
        fits = len(checked) in (2, 3) and int(np.prod(checked)) == n_features and checked[2:] in ((), (3,))
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"image_shape={shape!r} does not fit {n_features} features; pass (height, width), or "
            "(height, width, 3) for colours, whose product is that"
        )
    return checked
