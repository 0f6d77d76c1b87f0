"""Files of LibOPF, the C library: trained models, matrices of distances, and the positions that link them.

Data files (`.dat`) are read by :func:`pathforest.datasets.read`.
"""

from pathforest.libopf._distances import read_distances, write_distances
from pathforest.libopf._models import read_model, read_positions

__all__ = ["read_distances", "read_model", "read_positions", "write_distances"]
