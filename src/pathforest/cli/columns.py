"""Columns of a table by name or position: which one holds the labels, which are features."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from pathforest.cli.errors import did_you_mean
from pathforest.datasets.formats.stream import Stream
from pathforest.datasets.formats.table import integer, show


def find_column(stream: Stream, wanted: str, way_out: str = "") -> str:
    """Return the name of a column, given by name or position."""
    if wanted in stream.names:
        return wanted
    shown = repr(wanted)
    with suppress(ValueError, IndexError):
        shown = str(integer(wanted))
        return stream.names[integer(wanted)]
    meant = did_you_mean(wanted, stream.names)
    raise ValueError(f"{stream.name}: there is no column {shown}{meant}, only {show(stream.names)}{way_out}")


def find_label(stream: Stream, label: str | None) -> str:
    """Return the name of the label column, given by name or position."""
    if label is None and (own := known_label(stream)) is not None:
        return own
    wanted = "label" if label is None else label
    if wanted in stream.beside:
        raise ValueError(f"{stream.name}: the file has no labels")
    return find_column(stream, wanted, "; say which holds the labels with --label")


def known_label(stream: Stream) -> str | None:
    """Return the label column that the format has, or one called so."""
    return stream.label or ("label" if "label" in stream.names and "label" not in stream.beside else None)


def choose_features(
    stream: Stream, label: str | None, features: Sequence[str] | None, ignore: Sequence[str] | None
) -> list[str]:
    """Return the names of the feature columns."""
    wanted = stream.names if features is None else [find_column(stream, name) for name in features]
    left_out = {label, *stream.beside, *(find_column(stream, name) for name in ignore or ())}
    chosen = [name for name in dict.fromkeys(wanted) if name not in left_out]
    if not chosen:
        raise ValueError(f"{stream.name}: no column is left for features, of {show(stream.names)}")
    return chosen
