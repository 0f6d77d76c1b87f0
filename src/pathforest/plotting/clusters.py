"""The clusters that were found, beside the curve that chose the neighbourhood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest.plotting._axes import check_matplotlib
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import find_source
from pathforest.plotting.cluster_tree import two_axes
from pathforest.plotting.forest import ForestDisplay, plot_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MARK = "#555555", "#D55E00"
STEEP = 20  # times the smallest cut from which the curve has a logarithmic scale: its end could not be read


class ClustersDisplay(NamedTuple):
    """Clusters and the curve of cuts; :func:`plot_clusters` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the clusters.
    figure_ : matplotlib.figure.Figure
        Their figure.
    cut_ax_ : matplotlib.axes.Axes or None
        Axes with the curve.
    forest_ : ForestDisplay
        Samples, paths and roots of the clusters.
    """

    ax_: Axes
    figure_: Figure
    cut_ax_: Axes | None
    forest_: ForestDisplay

    __repr__ = short_repr

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, ax: Any = None, legend: bool = True
    ) -> ClustersDisplay:
        """Draw the clusters with their roots, and the normalised cut of every neighbourhood tried.

        Parameters
        ----------
        estimator : OPFClustering
            A fitted clustering; also at the end of a pipeline.
        X : array-like of shape (n_samples, n_columns), default=None
            Positions of the training samples, as for :func:`plot_forest`.
        ax : matplotlib.axes.Axes or pair of them, default=None
            Axes for the clusters, or for clusters and curve. None makes a new figure with both. Only
            ``selection="cut"`` tries neighbourhoods; without a search there is no curve.
        legend : bool, default=True
            Whether to put a legend to the right of the clusters. More than 10 have none.

        Returns
        -------
        display : ClustersDisplay
            With the axes `ax_` and `cut_ax_`, the figure `figure_` and what was drawn.

        Examples
        --------
        >>> from pathforest import OPFClustering
        >>> from pathforest.plotting import plot_clusters
        >>> X = [[0, 0], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9]]
        >>> model = OPFClustering(selection="cut").fit(X)
        >>> plot_clusters(model).cut_ax_.get_title()
        'smallest cut at k = 1'
        """
        check_matplotlib()
        model = find_source(estimator, X, needs="cluster_roots_").model
        ax, cut_ax = two_axes(ax, with_second=len(model.cuts_) > 0)
        forest = plot_forest(estimator, X, ax=ax, legend=legend)
        n_clusters = len(model.cluster_roots_)
        ax.set_title(f"{n_clusters} cluster{'s' if n_clusters != 1 else ''}")
        if cut_ax is not None:
            draw_cuts(cut_ax, model.cuts_, model.best_k_)
        return cls(ax, ax.figure, cut_ax, forest)


plot_clusters = ClustersDisplay.from_estimator


def draw_cuts(ax: Axes, cuts: np.ndarray, best_k: int) -> None:
    """Draw the curve, with a ring around the neighbourhood chosen."""
    from matplotlib.ticker import MaxNLocator

    ax.plot(np.arange(1, len(cuts) + 1), cuts, "o-", color=INK, markersize=3.5, linewidth=1.2)
    ring = {"markerfacecolor": "none", "markeredgecolor": MARK, "markeredgewidth": 2}
    ax.plot(best_k, cuts[best_k - 1], "o", markersize=12, **ring)
    if 0 < cuts.min() < cuts.max() / STEEP:
        ax.set_yscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="neighbours k", ylabel="normalised cut", title=f"smallest cut at k = {best_k}")
    ax.grid(alpha=0.3)
