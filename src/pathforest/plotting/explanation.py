"""Why a sample got its label: on a plane, as bars of its features, or as a row of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest._models.explaining import Explainer, explain, find_explainer, only_scales
from pathforest._models.explanation import Explanation
from pathforest._utils.checks import check_choice
from pathforest.plotting._axes import axes_or_new, check_matplotlib
from pathforest.plotting._explained_features import draw_features
from pathforest.plotting._explained_images import check_image_shape, draw_images
from pathforest.plotting._explained_plane import draw_on_plane, find_bidders
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import Source, find_source, without_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D


class ExplanationDisplay(NamedTuple):
    """One prediction explained; :func:`plot_explanation` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    explanation_ : Explanation
        What `explain` says: label, cost, conquerors, path, rival and features.
    path_ : matplotlib.lines.Line2D or None
        On a plane: from the sample explained through its conqueror to the prototype.
    rivals_ : matplotlib.collections.LineCollection or None
        On a plane: from the sample to the cheapest offer of each other class, cheapest first.
    bars_ : list of matplotlib.container.BarContainer or None
        Of features: bars of the conqueror, and of the rival if there is one.
    images_ : list of matplotlib.image.AxesImage or None
        Of images: the sample, the path from the conqueror to the prototype, and the rival.
    """

    ax_: Axes
    figure_: Figure
    explanation_: Explanation
    path_: Line2D | None = None
    rivals_: LineCollection | None = None
    bars_: list[BarContainer] | None = None
    images_: list[AxesImage] | None = None

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        query: Any,
        X: Any = None,
        *,
        kind: str = "auto",
        image_shape: tuple[int, ...] | None = None,
        position: Any = None,
        ax: Axes | None = None,
        zoom: bool = True,
        legend: bool = True,
    ) -> ExplanationDisplay:
        """Draw why a sample got its label: the path that conquered it, its features, or images.

        Parameters
        ----------
        estimator : classifier of pathforest
            A fitted classifier; also at the end of a pipeline or in a search.
        query : array-like of shape (n_features,) or (1, n_features)
            The sample to explain, or its distances to the training samples for ``metric="precomputed"``.
        X : array-like of shape (n_samples, n_columns), default=None
            Positions of the training samples on a plane, as for :func:`plot_forest`; or the training samples
            as images, if a pipeline changes them.
        kind : {"auto", "plane", "features", "images"}, default="auto"
            What to draw. ``"plane"``: the path with its costs, and faintly the offers of other classes.
            ``"features"``: a bar for each of the ten features that matter most, beside the conqueror and the
            rival, the cheapest bidder of the class that came second. ``"images"``: the samples of the path in
            a row, and the rival. ``"auto"`` draws images if `image_shape` is given, features if there are
            more than two and X is not given, else a plane.
        image_shape : tuple of int, default=None
            Height and width of images whose pixels are the features, such as ``(8, 8)``; a third number, 3,
            stands for the channels of colour images.
        position : array-like of shape (n_columns,), default=None
            Where the sample explained lies among X. None takes its features; an embedding or
            ``metric="precomputed"`` needs it.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.
        zoom : bool, default=True
            Whether a plane shows the surroundings of the path and of the cheapest rival; False shows all
            samples.
        legend : bool, default=True
            Whether to draw a legend. On a plane of more than 10 classes it has the marks only.

        Returns
        -------
        display : ExplanationDisplay
            With the axes `ax_`, the figure `figure_` and what was drawn.

        Notes
        -----
        The title has the class predicted with its cost, as `class_costs` returns it, and the class that came
        second. With `n_conquerors` above 1 that cost is the mean of several offers, and the cheapest of them
        is drawn.

        On a plane, a number beside a sample of the path is its cost, beside the star the winning offer,
        beside a rival what it offers. Where a cost repeats along the path it is written once, and at most 8
        are written.

        Bars add up to the distance, if the metric is a sum over features; they point to the right if the
        sample has more than the other, or another category. If it is not such a sum, or in a representation
        that mixes features, bars are differences in standard deviations of the training samples.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from pathforest import OPFClassifier
        >>> from pathforest.plotting import plot_explanation
        >>> X, y = load_digits(return_X_y=True)
        >>> model = OPFClassifier().fit(X[1:], y[1:])
        >>> plot_explanation(model, X[0], image_shape=(8, 8))
        <ExplanationDisplay: Predicted 0, cost 18.6 (next: 9, 29.8)>
        """
        check_matplotlib()
        check_choice("kind", kind, ("auto", "plane", "features", "images"))
        query = np.reshape(query, (1, -1)) if np.ndim(query) == 1 else query
        if len(query) != 1:
            raise ValueError(f"query has {len(query)} rows; one sample is explained at a time")
        explainer = find_explainer(estimator)
        with without_names():
            explanation = explain(estimator, query)[0]
            if kind == "auto":
                kind = choose_kind(explanation, image_shape, X)
            drawn: dict[str, Any] = {}
            if kind == "plane":
                source, Q = plane_source(explainer, explanation, query, X)
                winner = source.model._fit_codes[explanation.conqueror]
                bidders = find_bidders(source.model, Q, winner)
                if position is None:
                    position = find_position(source, Q if X is None else query)
                ax = axes_or_new(ax)
                seen = draw_on_plane(ax, source, explanation, bidders, position, zoom, legend)
                drawn = dict(zip(("path_", "rivals_"), seen, strict=True))
            else:
                check_features(explanation, kind)
            if kind == "images":
                sample, training = image_rows(explainer, explanation, query, X)
                shape = check_image_shape(image_shape, len(sample))
                ax = axes_or_new(ax, size=(9.5, 2.1))
                drawn["images_"] = draw_images(ax, explanation, sample, training, shape)
            if kind == "features":
                ax = axes_or_new(ax, size=(8, 4.6))
                classes = explainer.estimator.classes_.tolist()
                drawn["bars_"] = draw_features(ax, explanation, classes, legend)
        ax.set_title(explanation.headline, parse_math=False)
        return cls(ax, ax.figure, explanation, **drawn)


plot_explanation = ExplanationDisplay.from_estimator


def choose_kind(explanation: Explanation, image_shape: Any, X: Any) -> str:
    """Choose the picture that says most about a sample."""
    if image_shape is not None:
        return "images"
    is_wide = explanation.features is not None and len(explanation.features) > 2
    return "features" if is_wide and X is None else "plane"


def check_features(explanation: Explanation, kind: str) -> None:
    """Refuse to draw features that are not known."""
    if explanation.features is None:
        raise ValueError(
            f"kind={kind!r} needs features, and the model has none to show: it was fitted to distances, or "
            "to what a transformer made of other things than numbers; use kind='plane' and pass X"
        )


def plane_source(explainer: Explainer, explanation: Explanation, query: Any, X: Any) -> tuple[Source, Any]:
    """Return the model whose forest is drawn, of a search the one that is explained, and its query."""
    model = explainer.estimator
    chosen = model.estimators_[explanation.cell] if hasattr(model, "estimators_") else model
    source = find_source(chosen, X, needs="classes_")
    return source, source.transform(explainer.represent(query))


def find_position(source: Source, query: Any) -> np.ndarray:
    """Take the position of the query from its features, if these are what the picture shows."""
    query = np.asarray(query, dtype=np.float64)
    if query.shape[1] != source.samples.shape[1]:
        raise ValueError(
            f"the query has {query.shape[1]} values that do not say where it lies among the "
            f"{source.samples.shape[1]} columns of X; pass its position"
        )
    return query


def image_rows(
    explainer: Explainer, explanation: Explanation, query: Any, X: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sample and the training samples as images show them."""
    if X is not None:
        return np.asarray(query, dtype=np.float64)[0], np.asarray(X, dtype=np.float64)
    model = explainer.estimator
    training = model._training_samples() if hasattr(model, "estimators_") else model._fit_X
    if not explainer.transformers:
        return np.asarray(query, dtype=np.float64)[0], training
    if not all(map(only_scales, explainer.transformers)):
        raise ValueError(
            "the pipeline does not keep the images it was fitted on, only what its transformers made of "
            "them; pass them as X"
        )
    for transformer in reversed(explainer.transformers):
        training = transformer.inverse_transform(training)
    return np.asarray(query, dtype=np.float64)[0], np.asarray(training)
