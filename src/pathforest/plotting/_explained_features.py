"""An explanation as bars: how the features of a sample differ from those of conqueror and rival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pathforest._models.explanation import MOST_FEATURES, Explanation, Feature, text
from pathforest.plotting._colors import class_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

WIDTH = 0.38  # of a bar; two of them and a gap make a place


def draw_features(ax: Axes, explanation: Explanation, classes: list[Any], legend: bool) -> list[BarContainer]:
    """Draw bars for the features that matter most, to the right where the sample has more."""
    features, colors = explanation.features[:MOST_FEATURES], class_colors(len(classes))
    as_parts = features[0].share is not None
    conqueror = [feature.conqueror for feature in features], [feature.share for feature in features]
    sides = [("conqueror", explanation.label, explanation.distance, *conqueror)]
    if rival := explanation.rival:
        values = [feature.rival for feature in features], [feature.rival_share for feature in features]
        sides.append(("rival", rival.label, rival.distance, *values))
    bars = []
    for i, (side, label, distance, values, shares) in enumerate(sides):
        lengths = parts(features, values, shares, distance) if as_parts else deviations(features, values)
        places = np.arange(len(features)) + i * WIDTH
        color, name = colors[classes.index(label)], f"{side}: {text(label)}"
        bars.append(ax.barh(places, lengths, WIDTH, color=color, label=name, zorder=2))
    ax.set_yticks(
        np.arange(len(features)) + WIDTH / 2 * (len(bars) - 1),
        [f"{text(feature.name)} = {feature.shown[0]}" for feature in features],
        parse_math=False,  # names may have dollars
    )
    ax.invert_yaxis()
    ax.axvline(0, color="#888888", lw=0.8, zorder=1)
    ax.grid(axis="x", alpha=0.3, zorder=0)
    unit = "parts of the distance" if as_parts else "differences in standard deviations"
    other = ", or another category" if any(feature.is_category for feature in features) else ""
    ax.set_xlabel(f"{unit}; to the right the sample has more{other}")
    if legend:
        for entry in ax.legend(frameon=False, loc="best", title="compared with").get_texts():
            entry.set_parse_math(False)
    return bars


def parts(
    features: Sequence[Feature], values: Sequence[float], shares: Sequence[float], distance: float
) -> list[float]:
    """Divide the distance among the features; the sign says which sample has more, unless of categories."""
    more = [
        1 if feature.is_category else np.sign(feature.value - value)
        for feature, value in zip(features, values, strict=True)
    ]
    return np.nan_to_num(np.multiply(more, shares) * distance).tolist()


def deviations(features: Sequence[Feature], values: Sequence[float]) -> list[float]:
    """Return the differences in standard deviations of the training samples."""
    return [(feature.value - value) / feature.scale for feature, value in zip(features, values, strict=True)]
