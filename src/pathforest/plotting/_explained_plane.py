"""An explanation on the plane: the path that conquered a sample, and the offers of other classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest._models.explanation import Explanation
from pathforest.plotting._axes import add_legend
from pathforest.plotting._colors import PALETTE, class_colors
from pathforest.plotting._labels import place_labels
from pathforest.plotting._plane import find_plane
from pathforest.plotting._source import Source
from pathforest.plotting.forest import RING, draw_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

MOST_COSTS = 8  # costs written along a path, at most: more could not be read
INK = "#555555"
STAR = {"ls": "", "marker": "*", "color": "white", "markeredgecolor": "black", "markersize": 13}
MARKS = {
    "sample explained": STAR,
    "its prototype": {"ls": "", **RING},
    "its path": {"color": INK, "lw": 2.2},
    "other offers": {"color": INK, "lw": 1.4, "ls": ":"},
}


class Bidder(NamedTuple):
    """The cheapest offer of a class that lost."""

    code: int  # class
    conqueror: int  # training sample
    offer: float


def find_bidders(model: Any, Q: Any, winner: int) -> list[Bidder]:
    """List the cheapest offer to a query of each class but the winner's, cheapest first."""
    offers = model._class_offers(model._check_prediction(Q))
    bidders = [
        Bidder(code, int(conqueror), float(offer))
        for code, (conqueror, offer) in enumerate(zip(offers.conqueror[0], offers.cheapest[0], strict=True))
        if conqueror >= 0 and code != winner
    ]
    return sorted(bidders, key=lambda bidder: bidder.offer)


def draw_on_plane(
    ax: Axes,
    source: Source,
    explanation: Explanation,
    bidders: Sequence[Bidder],
    position: Any,
    zoom: bool,
    legend: bool,
) -> tuple[Line2D, LineCollection]:
    """Draw all samples faintly, the path with its costs, and what the other classes offered."""
    plane = find_plane(source.samples, source.names, "path cost")
    star = plane.project(np.reshape(position, (1, -1)), np.array([explanation.offer]))[0]
    xy = plane.project(source.samples, source.model.cost_)
    classes, codes = source.model.classes_, source.model._fit_codes
    colors = class_colors(len(classes))
    draw_forest(ax, xy, source.model.predecessor_, colors[codes], colors[codes], alpha=0.3)
    arcs = draw_bidders(ax, star, xy, bidders, colors)
    path = np.vstack([star, xy[explanation.path]])
    line = draw_path(ax, path, colors[codes[explanation.conqueror]])
    ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
    if zoom:
        set_limits(ax, np.vstack([path, xy[[bidder.conqueror for bidder in bidders[:1]]]]), xy)
    write_costs(ax, path, xy, explanation, bidders)
    if legend:
        known = len(classes) if len(classes) <= len(PALETTE) else 0
        add_legend(ax, classes[:known], colors[:known], MARKS)
    return line, arcs


def draw_path(ax: Axes, path: np.ndarray, color: np.ndarray) -> Line2D:
    """Draw the sample explained, the samples between it and the prototype, and the line through them."""
    front = {"zorder": 6, "color": color}
    ax.plot(*path[:2].T, ls=(0, (2, 1)), lw=2.2, **front)  # an offer, not yet part of the forest
    (line,) = ax.plot(*path.T, lw=0, marker="o", markersize=6, markeredgecolor="white", **front)
    ax.plot(*path[1:].T, lw=2.2, **{**front, "zorder": 5})
    ax.plot(*path[-1], **{**RING, "markersize": 11, "markeredgewidth": 1.6}, zorder=7)
    ax.plot(*path[0], **{**STAR, "markersize": 17, "color": color}, zorder=8)
    return line


def draw_bidders(
    ax: Axes, star: np.ndarray, xy: np.ndarray, bidders: Sequence[Bidder], colors: np.ndarray
) -> LineCollection:
    """Draw a dotted arc from the sample explained to the best bidder of each other class."""
    from matplotlib.collections import LineCollection

    arcs = LineCollection(
        [(star, xy[bidder.conqueror]) for bidder in bidders],
        colors=[colors[bidder.code] for bidder in bidders],
        linewidths=1.4, linestyles=":", alpha=0.8, zorder=4,
    )  # fmt: skip
    ax.add_collection(arcs)
    return arcs


def set_limits(ax: Axes, shown: np.ndarray, xy: np.ndarray) -> None:
    """Show some points with space around them, on at least a quarter of the range of all."""
    low, high = shown.min(axis=0), shown.max(axis=0)
    span = np.maximum(1.5 * (high - low), 0.25 * np.ptp(xy, axis=0))
    span[span == 0] = 1.0  # samples on a line
    corners = (low + high) / 2 + np.array([-0.5, 0.5])[:, None] * span
    ax.set(xlim=corners[:, 0], ylim=corners[:, 1])


def write_costs(
    ax: Axes, path: np.ndarray, xy: np.ndarray, explanation: Explanation, bidders: Sequence[Bidder]
) -> None:
    """Write the winning offer beside the star, costs along the path and offers beside the rivals."""
    texts = [f"{value:.3g}" for value in (explanation.offer, *explanation.costs)]
    changes = [i for i in range(len(texts)) if i < 2 or texts[i] != texts[i - 1]]
    if len(changes) > MOST_COSTS:
        changes = [changes[i] for i in np.linspace(0, len(changes) - 1, MOST_COSTS).round().astype(int)]
    shown = [(path[i], texts[i], "black") for i in changes]
    shown += [(xy[bidder.conqueror], f"{bidder.offer:.3g}", "#777777") for bidder in bidders]
    place_labels(ax, shown, obstacles=np.vstack([path, xy]))
