"""Why a sample got its label: on a plane, or as bars of its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest._models.base import check_queries
from pathforest._models.explanation import MOST_FEATURES, Explanation, Opened, explain, open_up, text
from pathforest._models.offers import bids
from pathforest._utils.checks import check_choice
from pathforest.plotting._draw import (
    INK,
    Axes,
    Display,
    add_legend,
    axes_or_new,
    class_codes,
    class_colors,
    draw_forest,
    find_plane,
    ink,
    place_labels,
    ring,
)
from pathforest.plotting._source import Source, find_source, without_names

MOST_COSTS = 8  # costs written along a path, at most: more could not be read
BAR = 0.38  # width of a bar; two of them and a gap make a place


def plot_explanation(
    estimator: Any,
    query: Any,
    X: Any = None,
    *,
    kind: str = "auto",
    position: Any = None,
    ax: Axes | None = None,
    legend: bool = True,
) -> Display:
    """Draw why a sample got its label: the path that conquered it, or its features.

    Parameters
    ----------
    estimator : classifier of pathforest
        A fitted classifier; also at the end of a pipeline or in a search.
    query : array-like of shape (n_features,) or (1, n_features)
        The sample to explain, or its distances to the training samples for ``metric="precomputed"``.
    X : array-like of shape (n_samples, n_columns), default=None
        Positions of the training samples on a plane, as for :func:`plot_forest`.
    kind : {"auto", "plane", "features"}, default="auto"
        What to draw. ``"plane"``: the path with its costs, and faintly the offers of other classes.
        ``"features"``: a bar for each of the ten features that matter most, beside the conqueror and the
        rival, the cheapest bidder of the class that came second. ``"auto"`` draws features if there are more
        than two and X is not given, else a plane.
    position : array-like of shape (n_columns,), default=None
        Where the sample explained lies among X. None takes its features; an embedding or
        ``metric="precomputed"`` needs it.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into; None makes a new figure.
    legend : bool, default=True
        Whether to draw a legend. On a plane of more than 10 classes it has the marks only.

    Returns
    -------
    display : Display
        With `explanation_`, what `explain` says. On a plane: `path_`, the line from the sample through its
        conqueror to the prototype; `rivals_`, arcs to the offers that decide for each other class, the
        cheapest class first; and `offers_`, arcs to the further offers of the class predicted. Of features:
        `bars_`, those of the conqueror and of the rival if there is one.

    Notes
    -----
    The title has the class predicted with its cost, as `class_costs` returns it, and the class that came
    second. With `n_conquerors` above 1 that cost is the mean of several offers, all of which are drawn on a
    plane; the path is that of the cheapest.

    On a plane, a number beside a sample of the path is its cost, beside the star the winning offer, beside a
    rival what it offers. Where a cost repeats along the path it is written once, and at most 8 are written.

    Bars add up to the distance, if the metric is a sum over features; they point to the right if the sample
    has more than the other, or another category. If it is not such a sum, or in a representation that mixes
    features, bars are differences in standard deviations of the training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pathforest import OPFClassifier
    >>> from pathforest.plotting import plot_explanation
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OPFClassifier().fit(X[1:], y[1:])
    >>> plot_explanation(model, X[0])
    <Display: Predicted 0, cost 18.6 (next: 9, 29.8)>
    """
    check_choice("kind", kind, ("auto", "plane", "features"))
    query = np.reshape(query, (1, -1)) if np.ndim(query) == 1 else query
    if len(query) != 1:
        raise ValueError(f"query has {len(query)} rows; one sample is explained at a time")
    opened = open_up(estimator, explains=True)
    with without_names():
        one = explain(estimator, query)[0]
        if kind == "auto":
            is_wide = one.features is not None and len(one.features) > 2 and X is None
            kind = "features" if is_wide else "plane"
        if kind == "plane":
            model = opened.model
            chosen = model.estimators_[one.cell] if hasattr(model, "estimators_") else model
            source = find_source(chosen, X, needs="classes_")
            Q = Opened(source.model, opened.steps + source.steps).represent(query)
            bidders = find_bidders(source.model, Q, one)
            if position is None:
                position = np.asarray(Q if X is None else query, dtype=np.float64)
                n_values, n_columns = position.shape[1], source.samples.shape[1]
                if n_values != n_columns:
                    raise ValueError(
                        f"the query has {n_values} values that do not say where it lies among the "
                        f"{n_columns} columns of X; pass its position"
                    )
            ax = axes_or_new(ax)
            drawn = draw_on_plane(ax, source, one, bidders, position, legend)
        elif one.features is None:
            raise ValueError(
                f"kind={kind!r} needs features, and the model has none to show: it was fitted to distances, "
                "or to what a transformer made of other things than numbers; use kind='plane' and pass X"
            )
        else:
            ax = axes_or_new(ax, figsize=(8, 4.6))
            drawn = {"bars_": draw_features(ax, one, opened.model.classes_.tolist(), legend)}
    ax.set_title(one.headline, parse_math=False)
    return Display(ax, explanation_=one, **drawn)


# On a plane


class Bidder(NamedTuple):
    """The offers that decide for a class that lost."""

    code: int  # class
    conquerors: np.ndarray  # training samples, that of the cheapest offer first
    offer: float  # the cheapest


def find_bidders(model: Any, Q: Any, one: Explanation) -> list[Bidder]:
    """List the offers to a query of each class but the winner, that with the cheapest offer first."""
    if one.density is not None:  # of such paths only that of the rival is known
        codes = [] if one.rival is None else np.flatnonzero(model.classes_ == one.rival.label).tolist()
        return [Bidder(code, np.array(one.rival.conquerors), one.rival.offers[0]) for code in codes]
    bidders = [
        Bidder(code, indices[0, indices[0] >= 0], float(offers[0, 0]))
        for _, code, offers, indices in bids(model._forest, check_queries(model, Q))
        if indices[0, 0] >= 0 and model.classes_[code] != one.label
    ]
    return sorted(bidders, key=lambda bidder: bidder.offer)


def draw_on_plane(
    ax: Axes, source: Source, explanation: Explanation, bidders: Sequence[Bidder], position: Any, legend: bool
) -> dict[str, Any]:
    """Draw all samples faintly, the path with its costs, and what the other classes offered."""
    from matplotlib.collections import LineCollection

    model, plane = source.model, find_plane(source.samples, source.names, "path cost")
    star = plane.project(np.reshape(position, (1, -1)), explanation.offer)[0]
    xy = plane.project(source.samples, model.cost_)
    colors = class_colors(len(model.classes_))
    shades = colors[class_codes(model.label_, model.classes_, len(xy))]
    draw_forest(ax, xy, model.predecessor_, shades, shades, alpha=0.3)

    def draw_arcs(ends: Sequence[tuple[int, Any]]) -> LineCollection:
        lines, shades = [(star, xy[end]) for end, _ in ends], [shade for _, shade in ends]
        style = {"linewidths": 1.4, "linestyles": ":", "alpha": 0.8, "zorder": 4}
        return ax.add_collection(LineCollection(lines, colors=shades, **style))

    arcs = draw_arcs([(end, colors[bidder.code]) for bidder in bidders for end in bidder.conquerors])
    further = draw_arcs([(end, shades[end]) for end in explanation.conquerors[1:]])
    path = np.vstack([star, xy[explanation.path]])
    marker = {"ls": "", "marker": "*", "markeredgecolor": ink()}
    front = {"zorder": 6, "color": shades[explanation.conqueror]}
    ax.plot(*path[:2].T, ls=(0, (2, 1)), lw=2.2, **front)  # an offer, not yet part of the forest
    (line,) = ax.plot(*path.T, lw=0, marker="o", markersize=6, markeredgecolor=ax.get_facecolor(), **front)
    ax.plot(*path[1:].T, lw=2.2, **{**front, "zorder": 5})
    ax.plot(*path[-1], **ring(11, 1.6), zorder=7)
    ax.plot(*path[0], **marker, markersize=17, **{**front, "zorder": 8})
    plane.name(ax)
    # Path and cheapest rival with space around them, on at least a quarter of the range of all.
    near = [*explanation.conquerors[1:], *(end for bidder in bidders[:1] for end in bidder.conquerors)]
    shown = np.vstack([path, xy[near]])
    low, high = shown.min(axis=0), shown.max(axis=0)
    span = np.maximum(1.5 * (high - low), 0.25 * np.ptp(xy, axis=0))
    span[span == 0] = 1.0  # samples on a line
    corners = (low + high) / 2 + np.array([-0.5, 0.5])[:, None] * span
    ax.set(xlim=corners[:, 0], ylim=corners[:, 1])
    write_costs(ax, path, xy, explanation, bidders)
    if legend:
        marks = {
            "sample explained": {**marker, "markersize": 13, "markerfacecolor": "none"},
            "its prototype": ring(),
            "its path": {"color": INK, "lw": 2.2},
            "other offers": {"color": INK, "lw": 1.4, "ls": ":"},
        }
        add_legend(ax, model.classes_, colors, marks)
    return {"path_": line, "rivals_": arcs, "offers_": further}


def write_costs(
    ax: Axes, path: np.ndarray, xy: np.ndarray, explanation: Explanation, bidders: Sequence[Bidder]
) -> None:
    """Write the winning offer beside the star, costs along the path and offers beside the rivals."""
    texts = [f"{value:.3g}" for value in (explanation.offer, *explanation.costs)]
    changes = [i for i in range(len(texts)) if i < 2 or texts[i] != texts[i - 1]]
    if len(changes) > MOST_COSTS:
        changes = [changes[i] for i in np.linspace(0, len(changes) - 1, MOST_COSTS).round().astype(int)]
    shown = [(path[i], texts[i], ink()) for i in changes]
    shown += [(xy[bidder.conquerors[0]], f"{bidder.offer:.3g}", INK) for bidder in bidders]
    place_labels(ax, shown, obstacles=np.vstack([path, xy]))


# Bars of features


def draw_features(ax: Axes, explanation: Explanation, classes: list[Any], legend: bool) -> list[Any]:
    """Draw bars for the features that matter most, to the right where the sample has more."""
    features, colors = explanation.features[:MOST_FEATURES], class_colors(len(classes))
    as_parts = features[0].share is not None
    bars, places = [], np.arange(len(features))
    for side, other in (("conqueror", explanation), ("rival", explanation.rival)):
        if other is None:
            continue
        shares = [feature.share if side == "conqueror" else feature.rival_share for feature in features]
        pairs = [(feature, getattr(feature, side)) for feature in features]
        if as_parts:  # their sign says which sample has more, unless of categories
            more = [1 if one.is_category else np.sign(one.value - value) for one, value in pairs]
            lengths = np.nan_to_num(np.multiply(more, shares) * other.distance).tolist()
        else:
            lengths = [(one.value - value) / one.scale for one, value in pairs]
        style = {"color": colors[classes.index(other.label)], "label": f"{side}: {text(other.label)}"}
        bars.append(ax.barh(places + len(bars) * BAR, lengths, BAR, zorder=2, **style))
    ax.set_yticks(
        places + BAR / 2 * (len(bars) - 1),
        [f"{text(feature.name)} = {feature.shown[0]}" for feature in features],
        parse_math=False,  # names may have dollars
    )
    ax.invert_yaxis()
    ax.axvline(0, color=INK, lw=0.8, zorder=1)
    ax.grid(axis="x", alpha=0.3, zorder=0)
    unit = "parts of the distance" if as_parts else "differences in standard deviations"
    category = ", or another category" if any(feature.is_category for feature in features) else ""
    ax.set_xlabel(f"{unit}; to the right the sample has more{category}")
    if legend:
        for entry in ax.legend(frameon=False, loc="best", title="compared with").get_texts():
            entry.set_parse_math(False)
    return bars
