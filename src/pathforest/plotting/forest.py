"""The forest itself: samples, the paths that conquered them, and the prototypes these start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest.plotting._axes import RASTER, add_legend, axes_or_new, marker_size
from pathforest.plotting._colors import PALETTE, class_codes, class_colors
from pathforest.plotting._plane import find_plane
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import find_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure

NOISE = (0.8, 0.8, 0.8)  # colour of samples that clusters leave out
RING = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": "black", "markersize": 8}


class ForestDisplay(NamedTuple):
    """A forest drawn on a plane; :func:`plot_forest` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    samples_ : matplotlib.collections.PathCollection
        One point per training sample, in the order of `fit`.
    paths_ : matplotlib.collections.LineCollection
        One segment from each sample that is not a prototype to its predecessor.
    prototypes_ : matplotlib.collections.PathCollection
        A ring around each prototype.
    """

    ax_: Axes
    figure_: Figure
    samples_: PathCollection
    paths_: LineCollection
    prototypes_: PathCollection

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None, legend: bool = True
    ) -> ForestDisplay:
        """Draw the paths from training samples to their prototypes.

        Two features are drawn as they are, more on the plane of their two principal components, which the
        axes' labels say. A single feature has the cost of its path as height. Where a value is missing, a
        sample is drawn at the mean of the feature.

        Parameters
        ----------
        estimator : estimator of pathforest
            A fitted classifier or clustering; also at the end of a pipeline, where the forest lives in the
            transformed features, or in a search, of which the best estimator is drawn.
        X : array-like of shape (n_samples, n_columns), default=None
            Positions of the training samples, in the order of `fit`: an embedding, or the features before
            a pipeline; a table with text or gaps goes through the pipeline first. None takes the samples the
            model was fitted on. With ``metric="precomputed"`` it keeps none, and X is needed.
        y : array-like of shape (n_samples,), default=None
            Labels that colour the samples, such as the true ones; None takes those the forest gave them.
            The paths always have the colour of their prototype.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.
        legend : bool, default=True
            Whether to put a legend to the right of the axes. More than 10 classes have none.

        Returns
        -------
        display : ForestDisplay
            With the axes `ax_`, the figure `figure_` and what was drawn.

        Notes
        -----
        Every sample is drawn, however many there are. Above 5,000 they are stored as pixels in vector
        formats such as PDF, which keeps the files small.

        Examples
        --------
        >>> from pathforest import OPFClassifier
        >>> from pathforest.plotting import plot_forest
        >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
        >>> display = plot_forest(model)
        >>> len(display.paths_.get_segments()), len(display.prototypes_.get_offsets())
        (2, 2)
        """
        source = find_source(estimator, X)
        model = source.model
        is_classifier = hasattr(model, "classes_")
        noise = not is_classifier and bool((model.labels_ < 0).any())
        classes = model.classes_ if is_classifier else np.arange(-noise, len(model.cluster_roots_))
        given = class_codes(model.label_ if is_classifier else model.labels_, classes, len(source.samples))
        shown = given if y is None else class_codes(y, classes, len(given))
        plane = find_plane(source.samples, source.names, "path cost")
        xy = plane.project(source.samples, model.cost_)
        ax, colors = axes_or_new(ax), class_colors(len(classes) - noise)
        if noise:
            colors = np.concatenate([[NOISE], colors])
        artists = draw_forest(ax, xy, model.predecessor_, colors[shown], colors[given])
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
        if legend and len(classes) <= len(PALETTE):
            names = classes if is_classifier else ["noise" if c < 0 else f"cluster {c}" for c in classes]
            add_legend(ax, names, colors, {"prototype" if is_classifier else "root": {"ls": "", **RING}})
        return cls(ax, ax.figure, *artists)


plot_forest = ForestDisplay.from_estimator


def draw_forest(
    ax: Axes,
    xy: np.ndarray,
    predecessor: np.ndarray,
    samples: np.ndarray,
    paths: np.ndarray,
    alpha: float = 1.0,
) -> tuple[PathCollection, LineCollection, PathCollection]:
    """Draw samples, arcs to predecessors and rings around roots; samples and paths have their own colours."""
    from matplotlib.collections import LineCollection

    child, raster = np.flatnonzero(predecessor >= 0), len(xy) > RASTER
    size = marker_size(len(xy))
    arcs = LineCollection(
        np.stack([xy[child], xy[predecessor[child]]], axis=1), colors=paths[child],
        linewidths=0.6 + size / 50, alpha=0.7 * alpha, zorder=2, rasterized=raster,
    )  # fmt: skip
    ax.add_collection(arcs)
    points = ax.scatter(
        *xy.T,
        s=size,
        c=samples,
        alpha=alpha,
        edgecolors="white",
        linewidths=size / 75,
        zorder=3,
        rasterized=raster,
    )
    rings = ax.scatter(
        *xy[predecessor < 0].T, s=size + 25, facecolors="none", edgecolors="black", linewidths=1.1,
        alpha=alpha, zorder=4, rasterized=raster,
    )  # fmt: skip
    return points, arcs, rings
