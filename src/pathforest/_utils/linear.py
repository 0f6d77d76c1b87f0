"""Linear algebra that representations and plots share."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd


def principal_axes(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors of the scatter; those of value 0 are left out for wide samples."""
    n, d = centred.shape
    if d > n:
        _, roots, axes = svd(centred, full_matrices=False)
        return roots**2, axes.T
    values, vectors = eigh(centred.T @ centred)
    return np.maximum(values, 0), vectors
