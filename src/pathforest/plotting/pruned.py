"""What a pruner kept: the forest of the samples that are left, among those that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest.plotting._axes import RASTER, add_legend, axes_or_new, marker_size
from pathforest.plotting._colors import PALETTE, class_colors
from pathforest.plotting._plane import find_plane
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import known_names, read_positions, take_apart
from pathforest.plotting.forest import RING, draw_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

GONE = {"ls": "", "marker": "x", "color": "#999999", "markersize": 4, "markeredgewidth": 0.8}


class PrunedDisplay(NamedTuple):
    """What a pruner kept, drawn on a plane; :func:`plot_pruned` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    kept_ : matplotlib.collections.PathCollection
        One point per sample of the pruned classifier.
    gone_ : matplotlib.collections.PathCollection or None
        One cross per sample that is not in it; None without X.
    """

    ax_: Axes
    figure_: Figure
    kept_: PathCollection
    gone_: PathCollection | None

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, ax: Axes | None = None, legend: bool = True
    ) -> PrunedDisplay:
        """Draw the forest of the samples that a pruner kept, and crosses in the place of the others.

        Two features are drawn as they are, more on the plane of their two principal components.

        Parameters
        ----------
        estimator : OPFPruner
            A fitted pruner; also at the end of a pipeline.
        X : array-like of shape (n_samples, n_columns), default=None
            All samples that `fit` was given, or other positions of them, to draw those that are gone too:
            pruned, or set aside for validation. A table with text or gaps goes through the pipeline first.
            None draws the samples kept.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.
        legend : bool, default=True
            Whether to put a legend to the right of the axes. More than 10 classes have none.

        Returns
        -------
        display : PrunedDisplay
            With the axes `ax_`, the figure `figure_` and what was drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pathforest import OPFPruner
        >>> from pathforest.plotting import plot_pruned
        >>> X, y = load_iris(return_X_y=True)
        >>> plot_pruned(OPFPruner(max_loss=0.02).fit(X, y), X)
        <PrunedDisplay: 55 of 150 samples kept>
        """
        pruner, transformers = take_apart(estimator)
        if not hasattr(pruner, "sample_indices_"):
            raise TypeError(f"{type(pruner).__name__} prunes nothing; pass a fitted OPFPruner")
        model, kept = pruner.estimator_, pruner.sample_indices_
        samples, names = positions(X, pruner, transformers)
        plane = find_plane(samples, names, "path cost")
        rows = kept if X is not None else np.arange(len(kept))
        height = np.zeros(len(samples))
        height[rows] = model.cost_
        xy = plane.project(samples, height)
        ax, colors = axes_or_new(ax), class_colors(len(model.classes_))
        gone = None
        if X is not None:
            others = np.delete(xy, kept, axis=0)
            size = marker_size(len(xy))
            gone = ax.scatter(
                *others.T, s=size, marker="x", c="#999999", linewidths=0.8, alpha=0.6, zorder=1,
                rasterized=len(xy) > RASTER,
            )  # fmt: skip
        shades = colors[model._fit_codes]
        points, *_ = draw_forest(ax, xy[rows], model.predecessor_, shades, shades)
        of_all = f" of {len(samples)}" if X is not None else ""
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1], title=f"{len(kept)}{of_all} samples kept")
        if legend and len(model.classes_) <= len(PALETTE):
            marks = {"prototype": {"ls": "", **RING}} | ({"not in the model": GONE} if X is not None else {})
            add_legend(ax, model.classes_, colors, marks)
        return cls(ax, ax.figure, points, gone)


plot_pruned = PrunedDisplay.from_estimator


def positions(X: Any, pruner: Any, transformers: list[Any]) -> tuple[np.ndarray, list[str]]:
    """Return where samples lie, all of them or those kept, and the names of the columns."""
    kept, samples = pruner.sample_indices_, pruner.estimator_._fit_X
    if X is not None:
        samples, names = read_positions(X, pruner.estimator_, transformers)
        if len(samples) <= kept[-1]:
            raise ValueError(
                f"X has {len(samples)} rows, but sample {kept[-1]} was kept; pass one row for each sample "
                "that fit was given, in its order"
            )
        return samples, names
    if samples is None:
        raise ValueError(
            "the pruner was fitted to distances and knows no positions; pass X with one row for each sample "
            "that fit was given"
        )
    samples = samples.astype(np.float64, copy=False)
    return samples, known_names(samples.shape[1], transformers, pruner)
