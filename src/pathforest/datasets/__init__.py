"""Data: files read and written, published sets fetched, and look-alikes of three of them drawn."""

from pathforest.datasets._formats import read, read_libopf, write, write_libopf
from pathforest.datasets._table import Table

__all__ = ["Table", "read", "read_libopf", "write", "write_libopf"]
