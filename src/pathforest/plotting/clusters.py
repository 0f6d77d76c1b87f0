"""The clusters that were found, beside the curve that chose the neighbourhood; the tree of their domes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathforest._utils.checks import check_integer
from pathforest.plotting._draw import INK, MARK, Axes, Display, class_colors, ring, two_axes
from pathforest.plotting._source import find_source, open_model
from pathforest.plotting.forest import plot_forest

STEEP = 20  # times the smallest cut from which the curve has a logarithmic scale: its end could not be read


def plot_clusters(estimator: Any, X: Any = None, *, ax: Any = None, legend: bool = True) -> Display:
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
    display : Display
        With `samples_`, `paths_` and `prototypes_` as from :func:`plot_forest`, and `cut_ax_`, the axes with
        the curve, or None.

    Examples
    --------
    >>> from pathforest import OPFClustering
    >>> from pathforest.plotting import plot_clusters
    >>> X = [[0, 0], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9]]
    >>> model = OPFClustering(selection="cut").fit(X)
    >>> plot_clusters(model).cut_ax_.get_title()
    'smallest cut at k = 1'
    """
    model = find_source(estimator, X, needs="cluster_roots_").model
    ax, cut_ax = two_axes(ax, with_second=len(model.cuts_) > 0)
    display = plot_forest(estimator, X, ax=ax, legend=legend)
    ax.set_title(count_clusters(model))
    if cut_ax is not None:
        cuts, k = model.cuts_, model.best_k_
        cut_ax.plot(np.arange(1, len(cuts) + 1), cuts, "o-", color=INK, markersize=3.5, linewidth=1.2)
        cut_ax.plot(k, cuts[k - 1], **{**ring(12, 2), "markeredgecolor": MARK})
        cut_ax.locator_params(axis="x", integer=True)
        if 0 < cuts.min() < cuts.max() / STEEP:
            cut_ax.set_yscale("log")
        cut_ax.set(xlabel="neighbours k", ylabel="normalised cut", title=f"smallest cut at k = {k}")
        cut_ax.grid(alpha=0.3)
    display.title_, display.cut_ax_ = ax.get_title(), cut_ax
    return display


def plot_cluster_tree(estimator: Any, *, n_domes: int = 30, ax: Any = None) -> Display:
    """Draw which dome meets which at what density, and the sizes that decide which are clusters.

    A bar goes from the density at which a dome meets a larger one up to its top, and a line leads to the
    cluster that absorbs it or would. Clusters have the colours of :func:`plot_clusters`, absorbed domes are
    grey. Beside them are the sizes of all domes but the one that nothing absorbs, in descending order, with a
    line between clusters and the rest.

    Parameters
    ----------
    estimator : OPFClustering
        A fitted clustering; also at the end of a pipeline.
    n_domes : int, default=30
        Largest number of domes in the tree: those that would be absorbed last.
    ax : matplotlib.axes.Axes or pair of them, default=None
        Axes for the tree, or for tree and sizes. None makes a new figure with both.

    Returns
    -------
    display : Display
        With `founders_`, the samples that founded the domes drawn, from left to right, and `size_ax_`, the
        axes with the sizes, or None.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pathforest import OPFClustering
    >>> from pathforest.plotting import plot_cluster_tree
    >>> model = OPFClustering().fit(make_moons(200, noise=0.08, random_state=0)[0])
    >>> plot_cluster_tree(model)
    <Display: 2 clusters, 18 maxima>
    """
    check_integer("n_domes", n_domes, 1, "it is a number of bars")
    model = open_model(estimator, "cluster_tree_")[0].model
    ax, size_ax = two_axes(ax)
    founders = draw_tree(ax, model, n_domes)
    ax.set_title(f"{count_clusters(model)}, {len(model.cluster_tree_) + 1} maxima")
    if size_ax is not None:
        measure, n_clusters = model.measure or "height", len(model.cluster_roots_)
        sizes = np.sort(model.cluster_tree_[measure])[::-1]
        size_ax.plot(np.arange(2, len(sizes) + 2), sizes, "o", color=INK, markersize=3.5)
        size_ax.axvline(n_clusters + 0.5, color=MARK, linewidth=1.5)
        if (sizes > 0).any():
            size_ax.set_yscale("log")
        if len(sizes) > 10 * n_clusters:
            size_ax.set_xscale("log")
        labels = {"xlabel": "number of clusters", "ylabel": f"{measure} of the next dome"}
        size_ax.set(title="sizes of the domes", **labels)
        size_ax.grid(alpha=0.3)
    return Display(ax, founders_=founders, size_ax_=size_ax)


def count_clusters(model: Any) -> str:
    """Say how many clusters there are."""
    n_clusters = len(model.cluster_roots_)
    return f"{n_clusters} cluster{'s' if n_clusters != 1 else ''}"


def draw_tree(ax: Axes, model: Any, n_domes: int) -> np.ndarray:
    """Draw the domes that are absorbed last; return their founders from left to right."""
    tree = model.cluster_tree_[max(0, len(model.cluster_tree_) - n_domes + 1) :]
    maxima = np.flatnonzero(model.predecessor_ < 0)
    order = np.setdiff1d(maxima, model.cluster_tree_["child"]).tolist()  # the one that nothing absorbs
    for child, parent in tree[["child", "parent"]][::-1].tolist():
        order.insert(order.index(parent) + 1, child)  # beside its parent, the largest next to it
    place = {founder: x for x, founder in enumerate(order)}
    level = dict(zip(tree["child"].tolist(), tree["level"].tolist(), strict=True))
    colors = dict(zip(model.cluster_roots_.tolist(), class_colors(len(model.cluster_roots_)), strict=True))
    for child, parent in tree[["child", "parent"]].tolist():
        ax.plot([place[child], place[parent]], [level[child]] * 2, color=INK, linewidth=0.8, zorder=1)
    low, top = [level.get(q, 0.0) for q in order], model.cost_[order]
    ax.vlines(range(len(order)), low, top, colors=[colors.get(q, INK) for q in order], linewidths=5)
    ax.set(xlabel="domes", ylabel="density, from 1 to 1000", xticks=[])
    return np.array(order)
