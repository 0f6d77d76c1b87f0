"""Data: files read and written, published sets fetched, and look-alikes of three of them drawn."""

from pathforest._tables.table import Table
from pathforest._tables.whole import read, read_libopf, write, write_libopf
from pathforest.datasets.generators import make_boat, make_cone_torus, make_four_class
from pathforest.datasets.published.fetch import fetch
from pathforest.datasets.published.loaders import (
    load,
    load_boat,
    load_breast_tissue,
    load_cone_torus,
    load_data1,
    load_data2,
    load_data3,
    load_four_class,
    load_landsat,
    load_landsat_ad,
    load_mpeg7_bas,
    load_thyroid,
    load_thyroid_ad,
)

__all__ = [
    "Table",
    "fetch",
    "load",
    "load_boat",
    "load_breast_tissue",
    "load_cone_torus",
    "load_data1",
    "load_data2",
    "load_data3",
    "load_four_class",
    "load_landsat",
    "load_landsat_ad",
    "load_mpeg7_bas",
    "load_thyroid",
    "load_thyroid_ad",
    "make_boat",
    "make_cone_torus",
    "make_four_class",
    "read",
    "read_libopf",
    "write",
    "write_libopf",
]
