"""Numbers beside points, moved where they cover the least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISTANCE = 15  # points from a label's centre to what it names
ANGLES = np.linspace(0, 2 * np.pi, 16, endpoint=False)


def place_labels(ax: Axes, labels: Sequence[tuple[np.ndarray, str, str]], obstacles: np.ndarray) -> None:
    """Write each (position, text, colour) on the side of its point that is farthest from everything else.

    Call it when everything else is drawn: sides are judged by the limits of the axes as they are then.
    """
    from matplotlib.patheffects import withStroke

    ax.autoscale_view()  # moves no limits that were set
    taken = ax.transData.transform(obstacles)
    reach = DISTANCE * ax.figure.dpi / 72
    for position, text, color in labels:
        here = ax.transData.transform(position)
        sides = np.column_stack([1.5 * np.cos(ANGLES), np.sin(ANGLES)])  # texts are wider than high
        places = here + reach * sides
        inside = ax.bbox.padded(-reach / 2)
        gaps = np.linalg.norm((places[:, None] - taken) / [1.5, 1], axis=2).min(axis=1)
        best = np.argmax(
            [gap if inside.contains(*place) else -1 for gap, place in zip(gaps, places, strict=True)]
        )
        taken = np.vstack([taken, places[best]])
        ax.annotate(
            text, position, DISTANCE * sides[best], textcoords="offset points", ha="center", va="center",
            fontsize=8.5, color=color, zorder=9, path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip
