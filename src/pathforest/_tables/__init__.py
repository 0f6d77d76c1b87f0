"""Data file formats, each a stream of batches in and a sink of batches out."""

from pathforest._tables.files import STANDARD_OUTPUT, check_sink, format_of, open_sink, open_stream
from pathforest._tables.json import json_value
from pathforest._tables.libopf import POSITION
from pathforest._tables.stream import (
    ArrayColumn,
    Batch,
    Column,
    LabelColumn,
    Layout,
    Stream,
    array_columns,
    as_labels,
    gather,
)
from pathforest._tables.table import default_names, listed
from pathforest._tables.text import as_label, integer

__all__ = [
    "POSITION",
    "STANDARD_OUTPUT",
    "ArrayColumn",
    "Batch",
    "Column",
    "LabelColumn",
    "Layout",
    "Stream",
    "array_columns",
    "as_label",
    "as_labels",
    "check_sink",
    "default_names",
    "format_of",
    "gather",
    "integer",
    "json_value",
    "listed",
    "open_sink",
    "open_stream",
]
