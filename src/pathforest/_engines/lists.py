"""Operations on neighbour lists, which are sorted by (distance, index)."""

from __future__ import annotations

import numpy as np

Lists = tuple[np.ndarray, np.ndarray]  # distances and indices, both (n, k)


def merge(
    distances: np.ndarray, indices: np.ndarray, new_distances: np.ndarray, new_indices: np.ndarray
) -> Lists:
    """Merge lists, keeping the length of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._engines.lists import merge
    >>> merge(np.array([[1.0, 3.0]]), np.array([[5, 0]]), np.array([[1.0, 2.0]]), np.array([[4, 7]]))
    (array([[1., 1.]]), array([[4, 5]]))
    """
    k = distances.shape[1]
    distances = np.concatenate([distances, new_distances], axis=1)
    indices = np.concatenate([indices, new_indices], axis=1)
    order = np.lexsort((indices, distances))[:, :k]
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(indices, order, axis=1)


def without_self(distances: np.ndarray, indices: np.ndarray, samples: np.ndarray) -> Lists:
    """Leave each sample out of its own list, which loses its last entry if the sample is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._engines.lists import without_self
    >>> without_self(np.array([[0.0, 0.0, 2.0]] * 2), np.array([[4, 5, 6]] * 2), np.array([5, 9]))
    (array([[0., 2.],
           [0., 0.]]), array([[4, 6],
           [4, 5]]))
    """
    own = indices == samples[:, None]
    own[:, -1] |= ~own.any(axis=1)
    shape = len(samples), indices.shape[1] - 1
    return distances[~own].reshape(shape), indices[~own].reshape(shape)
