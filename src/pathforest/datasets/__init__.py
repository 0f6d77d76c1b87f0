"""Data: files read and written, published sets fetched, and look-alikes of three of them drawn."""

from pathforest.datasets.files import Table, read, write
from pathforest.datasets.generators import make_boat, make_cone_torus, make_four_class
from pathforest.datasets.published import fetch, load

__all__ = ["Table", "fetch", "load", "make_boat", "make_cone_torus", "make_four_class", "read", "write"]
