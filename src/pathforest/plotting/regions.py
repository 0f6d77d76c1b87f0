"""The decision regions of a classifier of two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted

from pathforest.plotting._draw import (
    PALETTE,
    RASTER,
    Axes,
    Display,
    add_legend,
    axes_or_new,
    class_codes,
    class_colors,
    marker_size,
)
from pathforest.plotting._source import column_names, find_source, without_names

MARGIN = 0.06  # of the range of each feature, around the samples
FAINT, STRONG = 0.10, 0.50  # opacity where classes are equally probable, and where one is certain


def plot_decision_regions(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
    grid_resolution: int = 200,
    legend: bool = True,
) -> Display:
    """Colour the plane by what `predict` answers, fainter where `predict_proba` is less sure.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier of two features. With more features no picture in the plane is true: samples
        would lie on regions of another colour than their prediction. Fit on two of them, or on two principal
        components.
    X : array-like of shape (n, 2), default=None
        Samples to draw on top, which also set the limits; None takes those the model was fitted on.
        Pipelines and searches with transformers do not keep them and need X.
    y : array-like of shape (n,), default=None
        Labels that colour the samples; None takes the training labels of the model, or predicts
        those of the X given.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into; None makes a new figure.
    grid_resolution : int, default=200
        Points of the grid along each axis. Time grows with its square.
    legend : bool, default=True
        Whether to put a legend to the right of the axes. More than 10 classes have none.

    Returns
    -------
    display : Display
        With `regions_`, the background, one colour per point of the grid, and `samples_`, one point per
        sample.

    Examples
    --------
    >>> from pathforest import OPFClassifier
    >>> from pathforest.plotting import plot_decision_regions
    >>> model = OPFClassifier().fit([[0, 0], [1, 0], [3, 1], [4, 1]], ["a", "a", "b", "b"])
    >>> plot_decision_regions(model).regions_.get_array().shape
    (200, 200, 4)
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict") or not hasattr(estimator, "classes_"):
        raise TypeError(
            f"{type(estimator).__name__} does not predict classes; pass a fitted classifier, with refit=True "
            "if it is a search"
        )
    tags = get_tags(estimator).input_tags
    if tags.pairwise:
        raise ValueError("decision regions need features, and metric='precomputed' has none; fit on features")
    if estimator.n_features_in_ != 2:
        raise ValueError(
            f"decision regions need 2 features, and the model has {estimator.n_features_in_}; fit it on two "
            "of them or on PCA(n_components=2).fit_transform(X), or use plot_forest, which draws any number"
        )
    samples, names, labels = top_samples(estimator, X, y)
    codes = class_codes(labels, estimator.classes_, len(samples))
    ax, colors = axes_or_new(ax), class_colors(len(estimator.classes_))
    low, high = samples.min(axis=0), samples.max(axis=0)
    margin = np.where(high > low, MARGIN * (high - low), 0.5)
    low, high = low - margin, high + margin
    low = np.maximum(low, 0) if tags.positive_only else low  # such metrics get no others
    # The colour of a pixel is that of its centre.
    steps = (np.arange(grid_resolution) + 0.5) / grid_resolution
    grid = np.stack(np.meshgrid(*(low + steps[:, None] * (high - low)).T), axis=-1)
    image = tint(estimator, grid.reshape(-1, 2), colors).reshape(*grid.shape[:2], 4)
    regions = ax.imshow(
        image, extent=(low[0], high[0], low[1], high[1]), origin="lower", aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    points = ax.scatter(
        *samples.T, s=marker_size(len(samples)), c=colors[codes], edgecolors=[ax.get_facecolor()],
        linewidths=0.5, rasterized=len(samples) > RASTER,
    )  # fmt: skip
    ax.set(xlabel=names[0], ylabel=names[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if legend and len(colors) <= len(PALETTE):
        add_legend(ax, estimator.classes_, colors, {})
    return Display(ax, regions_=regions, samples_=points)


def top_samples(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the samples to draw on top of the regions, the names of their columns and their labels."""
    if X is not None:
        samples = check_array(X, dtype=np.float64, input_name="X")
        if samples.shape[1] != 2:
            raise ValueError(f"X has {samples.shape[1]} columns, but the model was fitted on 2 features")
        names = column_names(estimator if hasattr(estimator, "feature_names_in_") else X, 2)
        return samples, names, predict(estimator, samples) if y is None else y
    source = find_source(estimator)
    if source.steps:
        raise ValueError(
            "a pipeline does not keep the samples it was fitted on, only what its transformers made of them; "
            "pass X, and y for their labels"
        )
    return source.samples, source.names, source.model.label_ if y is None else y


def tint(estimator: Any, grid: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Return the colour of the predicted class, the more transparent the less probable it is."""
    codes = np.searchsorted(estimator.classes_, predict(estimator, grid))
    strength = np.full(len(grid), (FAINT + STRONG) / 2)
    if hasattr(estimator, "predict_proba"):
        probability = predict(estimator, grid, "predict_proba")[np.arange(len(grid)), codes]
        even = 1 / len(colors) if len(colors) > 1 else 0.0
        sureness = np.clip((probability - even) / (1 - even), 0, 1)
        strength = FAINT + (STRONG - FAINT) * sureness
    return np.column_stack([colors[codes], strength])


def predict(estimator: Any, X: np.ndarray, method: str = "predict") -> np.ndarray:
    """Ask the model about points of the plane."""
    with without_names():
        return getattr(estimator, method)(X)
