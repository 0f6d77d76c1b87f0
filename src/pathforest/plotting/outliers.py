"""Outliers among samples: where they lie, and how far their scores are from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from pathforest.plotting._axes import RASTER, check_matplotlib, marker_size
from pathforest.plotting._plane import find_plane
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import column_names, known_names, read_positions, take_apart, without_names
from pathforest.plotting.cluster_tree import two_axes
from pathforest.plotting.regions import limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure

MARK, INK = "#D55E00", "#56B4E9"
GRID = 120  # points of the border along each axis
LOWEST = -3.0  # scores beyond this are drawn here: on their scale the densest sample has 1, the sparsest 0


class OutliersDisplay(NamedTuple):
    """Outliers on a plane, and the scores of all samples; :func:`plot_outliers` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the samples.
    figure_ : matplotlib.figure.Figure
        Their figure.
    score_ax_ : matplotlib.axes.Axes or None
        Axes with the scores.
    samples_ : matplotlib.collections.PathCollection
        One point per sample.
    outliers_ : matplotlib.collections.PathCollection
        A ring around each outlier.
    border_ : matplotlib.contour.QuadContourSet or None
        Where scores cross the threshold; None unless there are two features.
    """

    ax_: Axes
    figure_: Figure
    score_ax_: Axes | None
    samples_: PathCollection
    outliers_: PathCollection
    border_: QuadContourSet | None

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, position: Any = None, ax: Any = None, cmap: str = "cividis_r"
    ) -> OutliersDisplay:
        """Draw samples by their scores with rings around outliers, and beside them how the scores spread.

        Two features are drawn as they are, with the line where scores cross the threshold; more features on
        the plane of their two principal components.

        Parameters
        ----------
        estimator : OPFOutlierDetector
            A fitted detector; also at the end of a pipeline.
        X : array-like of shape (n, n_features), default=None
            Samples to judge, as `predict` takes them; None takes the training samples.
        position : array-like of shape (n, n_columns), default=None
            Where the samples lie: an embedding, for example. ``metric="precomputed"`` needs it.
        ax : matplotlib.axes.Axes or pair of them, default=None
            Axes for the samples, or for samples and scores. None makes a new figure with both.
        cmap : str, default="cividis_r"
            Colour map: darker samples lie where the training samples are denser.

        Returns
        -------
        display : OutliersDisplay
            With the axes `ax_` and `score_ax_`, the figure `figure_` and what was drawn.

        Notes
        -----
        Scores below -3 are drawn as -3. A training sample is not its own neighbour, but new samples beside it
        have it as one, so an outlier may lie on the inner side of the line.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pathforest import OPFOutlierDetector
        >>> from pathforest.plotting import plot_outliers
        >>> plot_outliers(OPFOutlierDetector().fit(load_wine().data))
        <OutliersDisplay: 7 outliers among 178 samples>
        """
        check_matplotlib()
        detector, transformers = take_apart(estimator)
        if not hasattr(detector, "offset_") or not hasattr(detector, "density_"):
            raise TypeError(f"{type(detector).__name__} finds no outliers; pass a fitted OPFOutlierDetector")
        with without_names():
            scores = detector._training_scores() if X is None else estimator.score_samples(X)
        places, names = find_places(detector, transformers, X, position, len(scores))
        shown = np.maximum(scores, LOWEST)
        plane = find_plane(places, names, "score")
        xy = plane.project(places, shown)
        ax, score_ax = two_axes(ax)
        is_own_plane = position is None and places.shape[1] == 2 and not transformers
        border = draw_border(ax, detector, xy) if is_own_plane else None
        size, raster = 1.3 * marker_size(len(xy)), len(xy) > RASTER
        points = ax.scatter(
            *xy.T,
            c=shown,
            s=size,
            cmap=cmap,
            edgecolors="#555555",
            linewidths=0.3,
            zorder=2,
            rasterized=raster,
        )
        is_outlier = scores < detector.offset_
        rings = ax.scatter(
            *xy[is_outlier].T, s=size + 35, facecolors="none", edgecolors=MARK, linewidths=1.3, zorder=3
        )
        n_outliers = int(is_outlier.sum())
        title = f"{n_outliers} outlier{'s' if n_outliers != 1 else ''} among {len(scores)} samples"
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1], title=title)
        if score_ax is not None:
            draw_scores(score_ax, shown, detector.offset_)
        return cls(ax, ax.figure, score_ax, points, rings, border)


plot_outliers = OutliersDisplay.from_estimator


def find_places(
    detector: Any, transformers: list[Any], X: Any, position: Any, n: int
) -> tuple[np.ndarray, list[str]]:
    """Return where samples lie, and the names of the columns."""
    if position is not None:
        places = check_array(position, dtype=np.float64, input_name="position")
        if len(places) != n:
            raise ValueError(f"position has {len(places)} rows for {n} samples; pass one for each")
        return places, column_names(position, places.shape[1])
    if detector._fit_X is None:
        raise ValueError("the detector was fitted to distances and knows no positions; pass position")
    if X is not None:
        return read_positions(X, detector, transformers)
    places = detector._fit_X.astype(np.float64, copy=False)
    return places, known_names(places.shape[1], transformers, detector)


def draw_border(ax: Axes, detector: Any, xy: np.ndarray) -> QuadContourSet:
    """Draw the line where scores cross the threshold."""
    low, high = limits(xy, positive=False)
    x, y = (np.linspace(low[i], high[i], GRID) for i in (0, 1))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    with without_names():
        above = detector.decision_function(grid).reshape(GRID, GRID)
    return ax.contour(x, y, np.maximum(above, LOWEST), levels=[0], colors=MARK, linewidths=1.2, zorder=1)


def draw_scores(ax: Axes, scores: np.ndarray, offset: float) -> None:
    """Draw how many samples have which score, and a line at the threshold."""
    ax.hist(scores, bins=40, color=INK)
    ax.axvline(offset, color=MARK, linewidth=1.5)
    ax.set_yscale("log")
    ax.set(xlabel="score; 0 is the sparsest training sample", ylabel="samples")
    ax.set_title(f"outliers score below {offset:.3g}")
    ax.grid(alpha=0.3)
