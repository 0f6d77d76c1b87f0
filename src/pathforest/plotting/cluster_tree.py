"""The tree of a clustering's domes, beside their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest._utils.checks import check_integer
from pathforest.plotting._axes import check_matplotlib
from pathforest.plotting._colors import class_colors
from pathforest.plotting._repr import short_repr
from pathforest.plotting._source import open_up

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABSORBED, MARK = "#8C8C8C", "#D55E00"  # seen on white and on black


class ClusterTreeDisplay(NamedTuple):
    """The domes of a density; :func:`plot_cluster_tree` makes one.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the tree.
    figure_ : matplotlib.figure.Figure
        Their figure.
    size_ax_ : matplotlib.axes.Axes or None
        Axes with the sizes.
    founders_ : ndarray of shape (n_drawn,)
        The samples that founded the domes drawn, from left to right.
    """

    ax_: Axes
    figure_: Figure
    size_ax_: Axes | None
    founders_: np.ndarray

    __repr__ = short_repr

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_domes: int = 30, ax: Any = None) -> ClusterTreeDisplay:
        """Draw which dome meets which at what density, and the sizes that decide which are clusters.

        A bar goes from the density at which a dome meets a larger one up to its top, and a line leads to the
        cluster that absorbs it or would. Clusters have the colours of :func:`plot_clusters`, absorbed domes
        are grey. Beside them are the sizes of all domes but the one that nothing absorbs, in descending
        order, with a line between clusters and the rest.

        Parameters
        ----------
        estimator : OPFClustering
            A fitted clustering with `cluster_tree_`; also at the end of a pipeline.
        n_domes : int, default=30
            Largest number of domes in the tree: those that would be absorbed last.
        ax : matplotlib.axes.Axes or pair of them, default=None
            Axes for the tree, or for tree and sizes. None makes a new figure with both.

        Returns
        -------
        display : ClusterTreeDisplay
            With the axes `ax_` and `size_ax_`, the figure `figure_` and what was drawn.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from pathforest import OPFClustering
        >>> from pathforest.plotting import plot_cluster_tree
        >>> model = OPFClustering().fit(make_moons(200, noise=0.08, random_state=0)[0])
        >>> plot_cluster_tree(model).ax_.get_title()
        '2 clusters, 8 maxima'
        """
        check_matplotlib()
        check_integer("n_domes", n_domes, 1, "it is a number of bars")
        model, _ = open_up(estimator)
        if not hasattr(model, "cluster_tree_"):
            raise TypeError(
                f"{type(model).__name__} has no cluster_tree_ to draw; pass an OPFClustering, with merge_by "
                "if selection='cut'"
            )
        ax, size_ax = two_axes(ax)
        founders = draw_tree(ax, model, n_domes)
        n_clusters = len(model.cluster_roots_)
        ax.set_title(
            f"{n_clusters} cluster{'s' if n_clusters != 1 else ''}, {len(model.cluster_tree_) + 1} maxima"
        )
        if size_ax is not None:
            attribute = model._check_merging()
            draw_sizes(size_ax, model.cluster_tree_[attribute], attribute, n_clusters)
        return cls(ax, ax.figure, size_ax, founders)


plot_cluster_tree = ClusterTreeDisplay.from_estimator


def two_axes(ax: Any, with_second: bool = True) -> tuple[Axes, Axes | None]:
    """Return the axes of the picture and those beside it, if there are any."""
    if ax is None:
        import matplotlib.pyplot as plt

        size, widths = ((10, 4.4), [5, 4]) if with_second else (None, [1])
        _, ax = plt.subplots(1, len(widths), figsize=size, width_ratios=widths, layout="constrained")
    pair = np.ravel(ax)
    if len(pair) > 2:
        raise ValueError(
            f"ax has {len(pair)} axes; pass one for the picture, or two with the curve beside it"
        )
    return pair[0], pair[1] if len(pair) == 2 and with_second else None


def draw_tree(ax: Axes, model: Any, n_domes: int) -> np.ndarray:
    """Draw the domes that are absorbed last; return their founders from left to right."""
    tree = model.cluster_tree_[max(0, len(model.cluster_tree_) - n_domes + 1) :]
    maxima = np.flatnonzero(model.predecessor_ < 0)
    order = np.setdiff1d(maxima, model.cluster_tree_["child"]).tolist()  # the one that nothing absorbs
    for child, parent in tree[["child", "parent"]][
        ::-1
    ].tolist():  # beside its parent, the largest next to it
        order.insert(order.index(parent) + 1, child)
    place = {founder: x for x, founder in enumerate(order)}
    level = dict(zip(tree["child"].tolist(), tree["level"].tolist(), strict=True))
    colors = dict(zip(model.cluster_roots_.tolist(), class_colors(len(model.cluster_roots_)), strict=True))
    for child, parent in tree[["child", "parent"]].tolist():
        ax.plot([place[child], place[parent]], [level[child]] * 2, color=ABSORBED, linewidth=0.8, zorder=1)
    low, top = [level.get(q, 0.0) for q in order], model.cost_[order]
    ax.vlines(range(len(order)), low, top, colors=[colors.get(q, ABSORBED) for q in order], linewidths=5)
    ax.set(xlabel="domes", ylabel="density, from 1 to 1000", xticks=[])
    return np.array(order)


def draw_sizes(ax: Axes, sizes: np.ndarray, attribute: str, n_clusters: int) -> None:
    """Draw the sizes of domes in descending order, and a line below those of clusters."""
    sizes = np.sort(sizes)[::-1]
    ax.plot(np.arange(2, len(sizes) + 2), sizes, "o", color=ABSORBED, markersize=3.5)
    ax.axvline(n_clusters + 0.5, color=MARK, linewidth=1.5)
    if (sizes > 0).any():
        ax.set_yscale("log")
    if len(sizes) > 10 * n_clusters:
        ax.set_xscale("log")
    ax.set(xlabel="number of clusters", ylabel=f"{attribute} of the next dome", title="sizes of the domes")
    ax.grid(alpha=0.3)
