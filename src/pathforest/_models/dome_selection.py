"""How many domes of the density count as clusters: those above the largest gap in their sizes."""

from __future__ import annotations

import numpy as np

# Both were chosen by benchmarks/studies/clustering.py --choose.
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
        In descending order, two neighbours have the largest ratio; of equal ratios the first counts.
        The domes up to there are clusters, beside the one that nothing absorbs. If it is below `CLEAR`,
        there is one cluster.

    Examples
    --------
    >>> from pathforest._models.dome_selection import count_above_gap
    >>> count_above_gap([90.0, 80.0, 2.0, 1.0])
    3
    >>> count_above_gap([9.0, 8.0, 7.0])  # the largest ratio is to what is not there
    4
    >>> count_above_gap([0.0, 0.0])
    1
    """
    sizes = np.sort(np.asarray(sizes, dtype=np.float64))[::-1]
    if len(sizes) == 0 or sizes[0] <= 0:
        return 1
    smallest = SMALLEST * sizes[0]
    ratios = np.maximum(sizes, smallest) / np.maximum(np.append(sizes[1:], 0.0), smallest)
    last = int(np.argmax(ratios))
    return last + 2 if ratios[last] >= CLEAR else 1
