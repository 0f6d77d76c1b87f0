"""Why a sample got its label: its conqueror, the path to it, and what the other classes offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest._models.prediction import Explanation
from pathforest.plotting._axes import add_legend, axes_or_new
from pathforest.plotting._colors import PALETTE, class_colors
from pathforest.plotting._labels import place_labels
from pathforest.plotting._plane import find_plane
from pathforest.plotting._source import Source, find_source, without_names
from pathforest.plotting.forest import RING, draw_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
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


class ExplanationDisplay(NamedTuple):
    """One prediction explained on a plane; :func:`plot_explanation` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    explanation_ : Explanation
        What `explain` says: label, conqueror, offer, path and costs.
    path_ : matplotlib.lines.Line2D
        From the sample explained through its conqueror to the prototype.
    rivals_ : matplotlib.collections.LineCollection
        From the sample to the cheapest offer of each other class, cheapest first.
    """

    ax_: Axes
    figure_: Figure
    explanation_: Explanation
    path_: Line2D
    rivals_: LineCollection

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        query: Any,
        X: Any = None,
        *,
        position: Any = None,
        ax: Axes | None = None,
        zoom: bool = True,
        legend: bool = True,
    ) -> ExplanationDisplay:
        """Draw the path that conquered a sample, with its costs, and faintly the offers of other classes.

        Parameters
        ----------
        estimator : classifier of pathforest
            A fitted classifier; also at the end of a pipeline or in a search, of which the best estimator
            is drawn.
        query : array-like of shape (n_features,) or (1, n_features)
            The sample to explain, or its distances to the training samples for ``metric="precomputed"``.
        X : array-like of shape (n_samples, n_columns), default=None
            Positions of the training samples, as for :func:`plot_forest`.
        position : array-like of shape (n_columns,), default=None
            Where the sample explained lies among X. None takes its features; an embedding or
            ``metric="precomputed"`` needs it.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.
        zoom : bool, default=True
            Whether to show the surroundings of the path and of the cheapest rival; False shows all samples.
        legend : bool, default=True
            Whether to put a legend to the right of the axes. Of more than 10 classes it has the marks only.

        Returns
        -------
        display : ExplanationDisplay
            With the axes `ax_`, the figure `figure_` and what was drawn.

        Notes
        -----
        A number beside a sample of the path is its cost, beside the star the winning offer, beside a rival
        what it offers. Where a cost repeats along the path it is written once, and at most 8 are written.
        With `n_conquerors` above 1 each class is drawn with the cheapest of its offers, while their mean
        decides.

        Examples
        --------
        >>> from pathforest import OPFClassifier
        >>> from pathforest.plotting import plot_explanation
        >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
        >>> display = plot_explanation(model, [5, 1])
        >>> display.explanation_.path, display.ax_.get_title()
        ([3, 2], 'b offers 1, a offers 4.12')
        """
        source = find_source(estimator, X, needs="classes_")
        query = np.reshape(query, (1, -1)) if np.ndim(query) == 1 else query
        if len(query) != 1:
            raise ValueError(f"query has {len(query)} rows; one sample is explained at a time")
        with without_names():
            Q = source.transform(query)
            explanation, rivals = explain(source.model, Q)
        if position is None:
            position = find_position(source, Q if X is None else query)
        plane = find_plane(source.samples, source.names, "path cost")
        star = plane.project(np.reshape(position, (1, -1)), np.array([explanation.offer]))[0]
        xy = plane.project(source.samples, source.model.cost_)
        classes, codes = source.model.classes_, source.model._fit_codes
        ax, colors = axes_or_new(ax), class_colors(len(classes))
        draw_forest(ax, xy, source.model.predecessor_, colors[codes], colors[codes], alpha=0.3)
        arcs = draw_rivals(ax, star, xy, rivals, colors)
        path = np.vstack([star, xy[explanation.path]])
        line = draw_path(ax, path, colors[codes[explanation.conqueror]])
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1], title=headline(explanation, rivals, classes))
        if zoom:
            set_limits(ax, np.vstack([path, xy[[rival.conqueror for rival in rivals[:1]]]]), xy)
        write_costs(ax, path, xy, explanation, rivals)
        if legend:
            known = len(classes) if len(classes) <= len(PALETTE) else 0
            add_legend(ax, classes[:known], colors[:known], MARKS)
        return cls(ax, ax.figure, explanation, line, arcs)


plot_explanation = ExplanationDisplay.from_estimator


class Rival(NamedTuple):
    """The cheapest offer of a class that lost."""

    code: int  # class
    conqueror: int  # training sample
    offer: float


def explain(model: Any, Q: Any) -> tuple[Explanation, list[Rival]]:
    """Explain one query; list the cheapest offer of each other class that has samples, cheapest first."""
    explanation = model.explain(Q)[0]
    offers = model._class_offers(model._check_prediction(Q))
    rivals = [
        Rival(code, int(conqueror), float(offer))
        for code, (conqueror, offer) in enumerate(zip(offers.conqueror[0], offers.cheapest[0], strict=True))
        if conqueror >= 0 and code != model._fit_codes[explanation.conqueror]
    ]
    return explanation, sorted(rivals, key=lambda rival: rival.offer)


def find_position(source: Source, query: Any) -> np.ndarray:
    """Take the position of the query from its features, if these are what the picture shows."""
    query = np.asarray(query, dtype=np.float64)
    if query.shape[1] != source.samples.shape[1]:
        raise ValueError(
            f"the query has {query.shape[1]} values that do not say where it lies among the "
            f"{source.samples.shape[1]} columns of X; pass its position"
        )
    return query


def headline(explanation: Explanation, rivals: Sequence[Rival], classes: np.ndarray) -> str:
    """Say what the winner and the next class offer."""
    parts = [f"{explanation.label} offers {explanation.offer:.3g}"]
    return ", ".join(parts + [f"{classes[rival.code]} offers {rival.offer:.3g}" for rival in rivals[:1]])


def draw_path(ax: Axes, path: np.ndarray, color: np.ndarray) -> Line2D:
    """Draw the sample explained, the samples between it and the prototype, and the line through them."""
    front = {"zorder": 6, "color": color}
    ax.plot(*path[:2].T, ls=(0, (2, 1)), lw=2.2, **front)  # an offer, not yet part of the forest
    (line,) = ax.plot(*path.T, lw=0, marker="o", markersize=6, markeredgecolor="white", **front)
    ax.plot(*path[1:].T, lw=2.2, **{**front, "zorder": 5})
    ax.plot(*path[-1], **{**RING, "markersize": 11, "markeredgewidth": 1.6}, zorder=7)
    ax.plot(*path[0], **{**STAR, "markersize": 17, "color": color}, zorder=8)
    return line


def draw_rivals(
    ax: Axes, star: np.ndarray, xy: np.ndarray, rivals: Sequence[Rival], colors: np.ndarray
) -> LineCollection:
    """Draw a dotted arc from the sample explained to the best bidder of each other class."""
    from matplotlib.collections import LineCollection

    arcs = LineCollection(
        [(star, xy[rival.conqueror]) for rival in rivals], colors=[colors[rival.code] for rival in rivals],
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
    ax: Axes, path: np.ndarray, xy: np.ndarray, explanation: Explanation, rivals: Sequence[Rival]
) -> None:
    """Write the winning offer beside the star, costs along the path and offers beside the rivals."""
    texts = [f"{value:.3g}" for value in (explanation.offer, *explanation.costs)]
    changes = [i for i in range(len(texts)) if i < 2 or texts[i] != texts[i - 1]]
    if len(changes) > MOST_COSTS:
        changes = [changes[i] for i in np.linspace(0, len(changes) - 1, MOST_COSTS).round().astype(int)]
    shown = [(path[i], texts[i], "black") for i in changes]
    shown += [(xy[rival.conqueror], f"{rival.offer:.3g}", "#777777") for rival in rivals]
    place_labels(ax, shown, obstacles=np.vstack([path, xy]))
