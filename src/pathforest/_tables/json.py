"""JSON, which is written and not read: one array of objects, or an object per line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from pathforest._tables.stream import Column, Layout, Write


@contextmanager
def sink(file: BinaryIO, layout: Layout, *, lines: bool = False) -> Iterator[Write]:
    """Write objects. If this fails, the array stays open, so that nothing takes it for complete."""
    start, between, end = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
    before = start

    def write(columns: Sequence[Column]) -> None:
        nonlocal before
        for row in zip(*(column.values() for column in columns), strict=True):
            cells = dict(zip(layout.names, map(json_value, row), strict=True))
            text = json.dumps(cells, default=str, ensure_ascii=False, allow_nan=False)
            file.write((before + text).encode())
            before = between

    yield write
    if before == between:
        file.write(end.encode())
    elif not lines:
        file.write(b"[]\n")


def json_value(value: Any) -> Any:
    """Put None for what is not finite, for which JSON has no name."""
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
