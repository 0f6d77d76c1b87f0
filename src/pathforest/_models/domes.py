"""Domes of the density: which absorb which, how many count as clusters, and which samples are noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathforest import _core
from pathforest.graph import KnnGraph

MEASURES = ("height", "area", "volume")

# One row per dome that another absorbs.
DOME_TREE = np.dtype(
    [
        ("child", np.intp),  # sample that founded the dome
        ("parent", np.intp),  # sample that founded the cluster that its samples go to
        ("level", np.float64),  # density at which it met a larger one, the saddle
        ("height", np.float64),  # density of the founder above that level
        ("area", np.intp),  # samples of the dome above that level
        ("volume", np.float64),  # sum of their densities above that level
    ]
)

# Both, and the square of the ratio, were chosen by benchmarks/studies/clustering.py --choose of be536ff.
SMALLEST = 0.003  # share of the largest size below which all domes are equally small
CLEAR = 2.0  # smaller ratios between neighbours in the list do not count as a gap


def dome_tree(
    graph: KnnGraph, k: int, scaled: np.ndarray, labels: np.ndarray, founders: np.ndarray, measure: str
) -> np.ndarray:
    """Find the order in which domes cease to count, and where their samples go.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of length `k` or more. Their arcs count in both directions.
    k : int
        Size of the neighbourhood.
    scaled : ndarray of shape (n,)
        Densities on their scale from 1 to 1000.
    labels : ndarray of shape (n,)
        Cluster of each sample, as a position among `founders`.
    founders : array-like of int
        The samples that founded the clusters, the densest first. Their domes count.
    measure : {"height", "area", "volume"}
        Of domes that meet, only the one with the largest measure counts from there on; on ties
        the one whose founder comes first.

    Returns
    -------
    tree : ndarray of DOME_TREE, of shape (len(founders) - 1,)
        In ascending order of the measure, so that the first m rows reduce the number of domes by
        m; then in descending order of the level, and the later founder first. Domes that no arc
        joins meet at level 0; those rows come last.

    Notes
    -----
    The domes at level s are the connected components of the samples with a density above s. As s
    falls they grow and meet. What a dome measures when it meets a larger one is known as its
    extinction value: its founder is still a maximum after openings up to that size.

    The larger dome may be far away, behind others that still count. So the samples go to the
    neighbour: to the cluster across the highest arc that leads out, which is the one whose lower
    end is densest; of arcs of equal level the shortest, then the one with the lower first end, then the
    lower second end. Without equal distances the order of the samples then plays no part.
    """
    labels, founders = (np.ascontiguousarray(a, dtype=np.int32) for a in (labels, founders))
    return as_tree(_core.dome_tree(*graph, k, scaled, labels, founders, measure))


def as_tree(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Make a tree of its columns."""
    tree = np.empty(len(columns[0]), dtype=DOME_TREE)
    for name, column in zip(DOME_TREE.names, columns, strict=True):
        tree[name] = column
    return tree


def merge_domes(
    absorbed: np.ndarray, founders: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Let rows of a tree take effect: its first ones, or those whose measure is below a threshold.

    `root` has the founder of each sample's path. Returns the cluster of each sample, numbered in the
    order of `founders`, and the founders that are left.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._models.domes import DOME_TREE, merge_domes
    >>> tree = np.array([(3, 1, 2.0, 0.5, 1, 0.5), (0, 1, 1.0, 2.0, 9, 8.0)], dtype=DOME_TREE)
    >>> labels, roots = merge_domes(tree[:1], np.array([0, 1, 3]), np.array([0, 1, 1, 3]))
    >>> labels.tolist(), roots.tolist()
    ([0, 1, 1, 1], [0, 1])
    """
    samples = (absorbed["child"], absorbed["parent"], founders, root)
    labels, roots = _core.merge_domes(*(np.ascontiguousarray(s, dtype=np.int32) for s in samples))
    return labels.astype(np.intp), roots.astype(np.intp)


def count_above_gap(sizes: np.ndarray) -> int:
    """Return the number of clusters: one, and one for each dome above the largest gap.

    In descending order of the sizes of absorbed domes, a gap is a ratio between neighbours of at least
    `CLEAR`, and of at least the square root of the ratio between the largest dome and the neighbour above:
    far down a smooth decline, which a single cluster of many samples has, a small gap is chance. The domes
    above the largest gap are clusters, beside the one that nothing absorbs; of equal gaps the first counts.
    Without a gap there is one cluster.

    Examples
    --------
    >>> from pathforest._models.domes import count_above_gap
    >>> count_above_gap([90.0, 80.0, 2.0, 1.0])
    3
    >>> count_above_gap([9.0, 8.0, 7.0])  # the largest ratio is to what is not there
    4
    >>> count_above_gap([64.0, 48.0, 36.0, 24.0, 16.0, 12.0, 8.0, 5.0, 3.0, 1.0, 0.5, 0.1])  # a decline
    1
    """
    sizes = np.sort(np.asarray(sizes, dtype=np.float64))[::-1]
    if len(sizes) == 0 or sizes[0] <= 0:
        return 1
    smallest = SMALLEST * sizes[0]
    above = np.maximum(sizes, smallest)
    ratios = above / np.maximum(np.append(sizes[1:], 0.0), smallest)
    is_gap = (ratios >= CLEAR) & (ratios * ratios >= sizes[0] / above)
    return int(np.argmax(ratios * is_gap)) + 2 if is_gap.any() else 1


def noise_levels(scaled: np.ndarray, labels: np.ndarray, roots: np.ndarray, share: float) -> np.ndarray:
    """Return for each cluster the density below which its samples are noise; its root never is.

    At most this share of a cluster is below its level; of equal densities all or none are.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._models.domes import noise_levels
    >>> scaled, labels = np.array([9.0, 5.0, 5.0, 1.0, 3.0, 2.0]), np.array([0, 0, 0, 0, 1, 1])
    >>> noise_levels(scaled, labels, roots=np.array([0, 4]), share=0.5).tolist()
    [5.0, 3.0]
    """
    sizes = np.bincount(labels, minlength=len(roots))
    starts = np.cumsum(sizes) - sizes
    by_cluster = scaled[np.lexsort([scaled, labels])]
    return np.minimum(by_cluster[starts + (share * sizes).astype(np.intp)], scaled[roots])
