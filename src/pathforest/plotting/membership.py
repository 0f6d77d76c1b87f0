"""The fuzzy memberships: how much each training sample counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pathforest.plotting._axes import RASTER, axes_or_new, marker_size
from pathforest.plotting._plane import find_plane
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import find_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure


class MembershipDisplay(NamedTuple):
    """Memberships drawn on a plane; :func:`plot_membership` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    samples_ : matplotlib.collections.PathCollection
        One point per training sample, in the order of `fit`.
    colorbar_ : matplotlib.colorbar.Colorbar or None
        The scale.
    """

    ax_: Axes
    figure_: Figure
    samples_: PathCollection
    colorbar_: Colorbar | None

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        ax: Axes | None = None,
        cmap: str = "cividis_r",
        vmin: float | None = None,
        vmax: float | None = None,
        colorbar: bool = True,
    ) -> MembershipDisplay:
        """Colour the training samples by `membership_`: darker ones count more, as in Fig. 5 of the paper.

        Parameters
        ----------
        estimator : FuzzyOPFClassifier or FuzzyOPFClassifierCV
            A fitted classifier; also at the end of a pipeline or in a search.
        X : array-like of shape (n_samples, n_columns), default=None
            Positions of the training samples, as for :func:`plot_forest`. A single column has the
            membership as height.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.
        cmap : str, default="cividis_r"
            Colour map.
        vmin, vmax : float, default=None
            Ends of the scale, to compare pictures; None takes the smallest and the largest membership.
        colorbar : bool, default=True
            Whether to draw the scale.

        Returns
        -------
        display : MembershipDisplay
            With the axes `ax_`, the figure `figure_` and what was drawn.

        Examples
        --------
        >>> from pathforest import FuzzyOPFClassifier
        >>> from pathforest.plotting import plot_membership
        >>> X, y = [[0, 0], [1, 0], [1, 1], [3, 1], [4, 1]], [0, 0, 0, 1, 1]
        >>> model = FuzzyOPFClassifier(n_neighbors=2).fit(X, y)
        >>> plot_membership(model).samples_.get_array().max()
        np.float64(1.0)
        """
        source = find_source(estimator, X, needs="membership_")
        membership = source.model.membership_
        plane = find_plane(source.samples, source.names, "membership")
        xy = plane.project(source.samples, membership)
        ax = axes_or_new(ax)
        points = ax.scatter(
            *xy.T, c=membership, s=1.5 * marker_size(len(xy)), cmap=cmap, vmin=vmin, vmax=vmax,
            edgecolors="#555555", linewidths=0.3, rasterized=len(xy) > RASTER,
        )  # fmt: skip
        ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
        bar = ax.figure.colorbar(points, ax=ax, label="membership") if colorbar else None
        return cls(ax, ax.figure, points, bar)


plot_membership = MembershipDisplay.from_estimator
