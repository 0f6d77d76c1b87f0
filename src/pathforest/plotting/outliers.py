"""Outliers among samples: where they lie, and how far their scores are from the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from pathforest.plotting._draw import (
    MARK,
    PALETTE,
    Axes,
    Display,
    draw_scores,
    find_plane,
    marker_size,
    two_axes,
)
from pathforest.plotting._source import column_names, find_positions, open_model, without_names
from pathforest.plotting.regions import limits

GRID = 120  # points of the border along each axis
LOWEST = -3.0  # scores beyond this are drawn here: on their scale the densest sample has 1, the sparsest 0


def plot_outliers(estimator: Any, X: Any = None, *, position: Any = None, ax: Any = None) -> Display:
    """Draw samples by their scores with rings around outliers, and beside them how the scores spread.

    Two features are drawn as they are, with the line where scores cross the threshold; more features on the
    plane of their two principal components.

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

    Returns
    -------
    display : Display
        With `samples_`, one point per sample, darker where the training samples are denser; `outliers_`, a
        ring around each outlier; `border_`, where scores cross the threshold, None unless there are two
        features; and `score_ax_`, the axes with the scores, or None.

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
    <Display: 7 outliers among 178 samples>
    """
    opened, _ = open_model(estimator, "offset_")
    detector = opened.model
    with without_names():
        scores = detector._training_scores() if X is None else estimator.score_samples(X)
    if position is None:
        X = X if detector._fit_X is not None else None  # distances say nothing of positions
        places, names = find_positions(opened, X)
    else:
        places = check_array(position, dtype=np.float64, input_name="position")
        names = column_names(position, places.shape[1])
    if len(places) != len(scores):
        raise ValueError(f"position has {len(places)} rows for {len(scores)} samples; pass one for each")
    shown, plane = np.maximum(scores, LOWEST), find_plane(places, names, "score")
    xy = plane.project(places, shown)
    ax, score_ax = two_axes(ax)
    is_own_plane = position is None and places.shape[1] == 2 and not opened.steps
    border = draw_border(ax, detector, xy) if is_own_plane else None
    points, is_outlier = draw_scores(ax, xy, shown, larger=1.3), scores < detector.offset_
    rings = ax.scatter(
        *xy[is_outlier].T, s=1.3 * marker_size(len(xy)) + 35, facecolors="none", edgecolors=MARK,
        linewidths=1.3, zorder=4,
    )  # fmt: skip
    plane.name(ax)
    n_outliers = int(is_outlier.sum())
    ax.set_title(f"{n_outliers} outlier{'s' if n_outliers != 1 else ''} among {len(scores)} samples")
    if score_ax is not None:
        score_ax.hist(shown, bins=40, color=PALETTE[5])
        score_ax.axvline(detector.offset_, color=MARK, linewidth=1.5)
        score_ax.set(yscale="log", xlabel="score; 0 is the sparsest training sample", ylabel="samples")
        score_ax.set_title(f"outliers score below {detector.offset_:.3g}")
        score_ax.grid(alpha=0.3)
    return Display(ax, samples_=points, outliers_=rings, border_=border, score_ax_=score_ax)


def draw_border(ax: Axes, detector: Any, xy: np.ndarray) -> Any:
    """Draw the line where scores cross the threshold."""
    low, high = limits(xy, positive=False)
    x, y = (np.linspace(low[i], high[i], GRID) for i in (0, 1))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    with without_names():
        above = detector.decision_function(grid).reshape(GRID, GRID)
    return ax.contour(x, y, np.maximum(above, LOWEST), levels=[0], colors=MARK, linewidths=1.2, zorder=1)
