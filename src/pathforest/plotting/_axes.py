"""Axes to draw into, and legends beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RASTER = (
    5_000  # samples from which they are stored as pixels in vector formats, where they would take megabytes
)


def check_matplotlib() -> None:
    """Say how to install matplotlib if it is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("the figure needs matplotlib; run pip install 'pathforest[plot]'") from None


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the axes given, or those of a new figure of some size."""
    check_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def marker_size(n_samples: int) -> float:
    """Area of one sample, smaller the more there are."""
    return float(np.clip(9000 / n_samples, 3, 30))


def add_legend(ax: Axes, names: Sequence[Any], colors: np.ndarray, marks: dict[str, dict[str, Any]]) -> None:
    """Put a legend to the right of the axes, where it covers no data: the classes, then other marks."""
    from matplotlib.lines import Line2D

    dot = {"ls": "", "marker": "o", "markeredgecolor": "white", "markersize": 7}
    handles = [
        Line2D([], [], color=color, label=str(name), **dot) for name, color in zip(names, colors, strict=True)
    ]
    handles += [Line2D([], [], label=name, **style) for name, style in marks.items()]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, handlelength=1.2)
