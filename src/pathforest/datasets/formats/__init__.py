"""Data file formats, each a stream of batches in and a sink of batches out."""

from pathforest.datasets.formats.files import Format, check_sink, format_of, open_sink, open_stream
from pathforest.datasets.formats.json import json_value
from pathforest.datasets.formats.libopf import POSITION
from pathforest.datasets.formats.stream import (
    ArrayColumn,
    Batch,
    Column,
    Layout,
    Stream,
    TextColumn,
    array_columns,
    as_labels,
    gather,
    rows_per_batch,
)

__all__ = [
    "POSITION",
    "ArrayColumn",
    "Batch",
    "Column",
    "Format",
    "Layout",
    "Stream",
    "TextColumn",
    "array_columns",
    "as_labels",
    "check_sink",
    "format_of",
    "gather",
    "json_value",
    "open_sink",
    "open_stream",
    "rows_per_batch",
]
