"""The forest itself: samples, the paths that conquered them, and the prototypes these start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathforest._utils.checks import check_choice
from pathforest.plotting._draw import (
    INK,
    RASTER,
    Axes,
    Display,
    add_legend,
    axes_or_new,
    class_codes,
    class_colors,
    draw_forest,
    find_plane,
    marker_size,
    ring,
)
from pathforest.plotting._source import find_source

NOISE = (0.8, 0.8, 0.8)  # colour of samples that clusters leave out
GONE = {"ls": "", "marker": "x", "color": INK, "markersize": 4, "markeredgewidth": 0.8}
COLORS = ("label", "membership", "density", "cost")


def plot_forest(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    color: str = "label",
    ax: Axes | None = None,
    legend: bool = True,
) -> Display:
    """Draw the paths from training samples to their prototypes.

    Two features are drawn as they are, more on the plane of their two principal components, which the axes'
    labels say. A single feature has the cost of its path as height. Where a value is missing, a sample is
    drawn at the mean of the feature.

    Parameters
    ----------
    estimator : estimator of pathforest
        A fitted classifier, clustering or pruner; also at the end of a pipeline, where the forest lives in
        the transformed features, or in a search, of which the best estimator is drawn.
    X : array-like of shape (n_samples, n_columns), default=None
        Positions of the samples that `fit` was given, in its order: an embedding, or the features before a
        pipeline; a table with text or gaps goes through the pipeline first. None takes the samples the model
        was fitted on. With ``metric="precomputed"`` it keeps none, and X is needed. A pruner keeps only some
        samples; with X the others are drawn too, as crosses.
    y : array-like of shape (n_samples,), default=None
        Labels that colour the samples of the forest, such as the true ones; None takes those the forest gave
        them. The paths always have the colour of their prototype.
    color : {"label", "membership", "density", "cost"}, default="label"
        What colours the samples: their labels, or the values of ``membership_``, ``density_`` or ``cost_``,
        where darker is higher. To compare pictures, give them one scale by ``display.samples_.set_clim``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into; None makes a new figure.
    legend : bool, default=True
        Whether to put a legend to the right of the axes, or the scale of the values. More than 10 classes
        have none.

    Returns
    -------
    display : Display
        With `samples_`, one point per sample of the forest in the order of `fit`; `paths_`, one segment from
        each sample that is not a prototype to its predecessor; `prototypes_`, a ring around each prototype;
        and `gone_`, the crosses, or None.

    Notes
    -----
    Every sample is drawn, however many there are. Above 5,000 they are stored as pixels in vector formats
    such as PDF, which keeps the files small.

    Examples
    --------
    >>> from pathforest import OPFClassifier, OPFPruner
    >>> from pathforest.plotting import plot_forest
    >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
    >>> display = plot_forest(model)
    >>> len(display.paths_.get_segments()), len(display.prototypes_.get_offsets())
    (2, 2)
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> plot_forest(OPFPruner(max_loss=0.02).fit(X, y), X)
    <Display: 55 of 150 samples kept>
    """
    check_choice("color", color, COLORS)
    source = find_source(estimator, X, "predecessor_" if color == "label" else f"{color}_")
    model, samples, gone = source.model, source.samples, source.gone
    classes, names, given = groups(model)
    shown = given if y is None else class_codes(y, classes, len(given))
    plane = find_plane(samples if gone is None else np.vstack([samples, gone]), source.names, "path cost")
    xy = plane.project(samples, model.cost_)
    has_noise = classes[0] == -1 and not hasattr(model, "classes_")
    ax, colors = axes_or_new(ax), class_colors(len(classes) - has_noise)
    if has_noise:
        colors = np.concatenate([[NOISE], colors])
    values = colors[shown] if color == "label" else getattr(model, f"{color}_")
    drawn = draw_forest(ax, xy, model.predecessor_, values, colors[given])
    plane.name(ax)
    drawn["gone_"] = None
    if gone is not None:
        n = len(samples) + len(gone)
        style = {"marker": "x", "c": INK, "linewidths": 0.8, "alpha": 0.6, "zorder": 1}
        drawn["gone_"] = ax.scatter(
            *plane.project(gone, 0).T, s=marker_size(n), rasterized=n > RASTER, **style
        )
        ax.set_title(f"{len(samples)} of {n} samples kept")
    if legend and color != "label":
        ax.figure.colorbar(drawn["samples_"], ax=ax, label=color)
    elif legend and len(classes) <= 10:
        marks = {"prototype" if hasattr(model, "classes_") else "root": ring()}
        add_legend(ax, names, colors, marks | ({} if gone is None else {"not in the model": GONE}))
    return Display(ax, **drawn)


def groups(model: Any) -> tuple[np.ndarray, list[Any], np.ndarray]:
    """Return the classes or clusters of a model, their names in a legend, and that of each sample."""
    if hasattr(model, "classes_"):
        return model.classes_, model.classes_.tolist(), np.searchsorted(model.classes_, model.label_)
    clusters = np.unique([*model.labels_, *range(len(model.cluster_roots_))])
    names = ["noise" if cluster < 0 else f"cluster {cluster}" for cluster in clusters]
    return clusters, names, np.searchsorted(clusters, model.labels_)
