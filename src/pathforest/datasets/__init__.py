"""Data: files read and written, published sets fetched, and look-alikes of three of them drawn."""

from pathforest._tables.table import Table
from pathforest._tables.whole import read, read_libopf, write, write_libopf
from pathforest.datasets.generators import make_boat, make_cone_torus, make_four_class
from pathforest.datasets.published.fetch import fetch
from pathforest.datasets.published.loaders import load

__all__ = [
    "Table",
    "fetch",
    "load",
    "make_boat",
    "make_cone_torus",
    "make_four_class",
    "read",
    "read_libopf",
    "write",
    "write_libopf",
]
