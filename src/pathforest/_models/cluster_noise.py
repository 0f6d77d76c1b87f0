"""The densities below which samples are left out of their clusters as noise."""

from __future__ import annotations

import numpy as np


def noise_levels(scaled: np.ndarray, labels: np.ndarray, roots: np.ndarray, share: float) -> np.ndarray:
    """Return for each cluster the density below which its samples are noise.

    Parameters
    ----------
    scaled : ndarray of shape (n,)
        Densities.
    labels : ndarray of shape (n,)
        Cluster of each sample, from 0.
    roots : ndarray of shape (n_clusters,)
        The sample that founded each cluster; it is never noise.
    share : float
        At most this share of a cluster is below its level; of equal densities all or none are.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._models.cluster_noise import noise_levels
    >>> scaled, labels = np.array([9.0, 5.0, 5.0, 1.0, 3.0, 2.0]), np.array([0, 0, 0, 0, 1, 1])
    >>> noise_levels(scaled, labels, roots=np.array([0, 4]), share=0.5).tolist()
    [5.0, 3.0]
    """
    sizes = np.bincount(labels, minlength=len(roots))
    starts = np.cumsum(sizes) - sizes
    by_cluster = scaled[np.lexsort([scaled, labels])]
    return np.minimum(by_cluster[starts + (share * sizes).astype(np.intp)], scaled[roots])
