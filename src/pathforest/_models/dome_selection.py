"""How many domes of the density count as clusters: those above the largest gap in their sizes."""

from __future__ import annotations

import numpy as np

# Both, and the square of the ratio, were chosen by benchmarks/studies/clustering.py --choose of be536ff.
SMALLEST = 0.003  # share of the largest size below which all domes are equally small
CLEAR = 2.0  # smaller ratios between neighbours in the list do not count as a gap


def count_above_gap(sizes: np.ndarray) -> int:
    """Return the number of clusters: one, and one for each dome above the largest gap.

    Parameters
    ----------
    sizes : array-like of shape (n_domes,)
        Heights, areas or volumes of the domes that others absorb, in any order.

    Returns
    -------
    n_clusters : int
        In descending order, a gap is a ratio between neighbours of at least `CLEAR`, and of at least the
        square root of the ratio between the largest dome and the neighbour above: far down a smooth
        decline, which a single cluster of many samples has, a small gap is chance. The domes above the
        largest gap are clusters, beside the one that nothing absorbs; of equal gaps the first counts. Without
        a gap there is one cluster.

    Examples
    --------
    >>> from pathforest._models.dome_selection import count_above_gap
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
