"""Tables that commands read and write, and what they print on the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import typer

from pathforest._cli.options import Pictures, Reading, did_you_mean, say
from pathforest._pages.images import FileImages, Show, parse_shape, pixel_images
from pathforest._tables.batches import Batch, Layout, Stream
from pathforest._tables.columns import as_labels, categories, integer, objects
from pathforest._tables.libopf import POSITION
from pathforest._tables.read import open_stream
from pathforest._tables.write import STANDARD_OUTPUT, Write, check_sink, json_value, open_sink
from pathforest._utils.checks import demand
from pathforest._utils.files import check_writable, naming
from pathforest._utils.text import counted, escape, listed, shorten, show
from pathforest.libopf import read_distances

NONE = ("text", "-")  # instead of a number
WIDE = 400  # columns of output that is not a terminal
LONGEST = 60  # characters of a name or a label on the terminal

# Columns


def find_column(stream: Stream, wanted: str, way_out: str = "") -> str:
    """Return the name of a column, given by name or position."""
    position = None
    with suppress(ValueError):
        position = integer(wanted)
    given = wanted if position is None or wanted in stream.names else position
    return stream.column(given, way_out, did_you_mean(wanted, stream.names))


def find_label(
    stream: Stream, label: str | None, *, needed: bool = True, known: str | None = None
) -> str | None:
    """Return the label column: that given, else the format's, the model's (`known`), `label`, or None."""
    way_out = "; name the column of labels with --label"
    usual = stream.label or (known if known in stream.names else "label")
    if label is None and not needed and (usual not in stream.names or usual in stream.beside):
        return None
    if label is None and known is not None and usual not in stream.names:
        usual, way_out = known, f", and the model was trained with this label{way_out}"
    wanted = usual if label is None else label
    demand(wanted not in stream.beside, f"{stream.name}: the file has no labels")
    return find_column(stream, wanted, way_out)


def choose_features(
    stream: Stream, label: str | None, features: Sequence[str] | None = None, ignore: Sequence[str] = ()
) -> list[str]:
    """Return the names of the feature columns."""
    wanted = stream.names if features is None else [find_column(stream, name) for name in features]
    left_out = {label, *stream.beside, *(find_column(stream, name) for name in ignore)}
    chosen = [name for name in dict.fromkeys(wanted) if name not in left_out]
    demand(chosen, f"{stream.name}: no column is left for features, of {listed(stream.names)}")
    return chosen


@contextmanager
def ignorable(choice: str = "") -> Iterator[None]:
    """Let an error about a column name the option that leaves columns out."""
    try:
        yield
    except ValueError as error:
        text, way_out = str(error), "leave the column out"
        text = text if way_out in text else f"{text} (--ignore leaves a column out)"
        raise ValueError(text.replace(way_out, f"{way_out} with --ignore") + choice) from None


# Whole tables

Cells = np.ndarray | dict[str, np.ndarray]  # a matrix of numbers, or columns of a mixed table


class Samples(NamedTuple):
    """A whole table."""

    X: Cells
    y: np.ndarray | None
    features: list[str]
    label: str | None
    stream: Stream  # the columns' names
    rows: Batch  # and all their cells
    kinds: dict[str, str]  # of the columns that were asked for, by name
    whole: Batch  # the file with the rows that are left out
    positions: np.ndarray  # of the samples in it


def read_samples(
    path: str,
    reading: Reading,
    *,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    encode: bool | None = None,
    labels: Literal["needed", "kept", "left out"] = "needed",
    empty_labels: Literal["refused", "masked", "left out"] = "refused",
    distances: str | None = None,
) -> Samples:
    """Read a whole file."""
    # `kinds` are columns to be read as "number" or "category", or to "drop". With `encode` text and gaps are
    # read: `X` is a dict of columns, unless all are numbers; None: there is no such choice. `labels` are
    # needed, read if there are any, or no feature; rows with an empty one can be left out, or `y` be masked
    # there. Distances are a file.
    with open_stream(path, **reading.format) as stream:
        column = find_label(stream, reading.label, needed=labels == "needed")
        kinds = {find_column(stream, name): kind for name, kind in (kinds or {}).items()}
        ignore = [*ignore, *(name for name, kind in kinds.items() if kind == "drop")]
        chosen = [] if distances else choose_features(stream, column, features, ignore)
        rows = whole = stream.gather()
    known = np.full(len(whole.places), True)
    if column is not None and labels != "left out" and empty_labels != "refused":
        known = is_labelled(whole, column)
    if empty_labels == "left out" and not known.all():
        rows = whole.take(np.flatnonzero(known))
        way_out = "name the column of labels with --label"
        demand(known.any(), f"{stream.name}: column {show(column)} is empty; {way_out}")
        say_left_out(len(known) - len(rows.places), len(known), column)
    if distances:
        D = read_distances(distances)
        positions = positions_of(rows, D, distances)
        X, chosen = D[np.ix_(positions, positions)], [f"{POSITION} {p}" for p in positions.tolist()]
    else:
        X = _read_features(rows, chosen, encode, kinds)
    y = None
    if column is not None and labels != "left out":
        y = found = as_labels(rows.labels(column) if known.all() else known_labels(whole, column))
        if empty_labels == "masked":
            y = np.ma.masked_all(len(known), found.dtype)
            y[known] = found
    kinds, positions = {n: k for n, k in kinds.items() if n in chosen}, np.flatnonzero(known)
    return Samples(X, y, chosen, column, stream, rows, kinds, whole, positions)


def say_left_out(n_rows: int, of: int, column: str) -> None:
    """Say how many rows have no label, if any."""
    if n_rows:
        say(f"{n_rows:,} of {counted(of, 'row')} left out: no label in column {show(column)}")


def _read_features(rows: Batch, names: Sequence[str], encode: bool | None, kinds: Mapping[str, str]) -> Cells:
    """Read columns as numbers, or with `encode` as what they are."""
    choice = ", or encode it: omit --no-encode" if encode is False else ""
    with suppress(ValueError) if encode else ignorable(choice):
        if not any(name in kinds for name in names):
            return rows.samples(names)
    with ignorable():
        return rows.table(names, kinds)


def columns_of(X: Cells, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return columns by name."""
    return dict(zip(names, np.ascontiguousarray(X.T), strict=True)) if isinstance(X, np.ndarray) else X


def positions_of(batch: Batch, D: np.ndarray, path: str) -> np.ndarray:
    """Return the rows of samples in a matrix of distances."""
    stream = batch.stream
    demand(
        POSITION in stream.names,
        f"{stream.name}: there is no column {POSITION!r}, which says where samples are in {path}",
    )
    positions = batch.labels(POSITION)
    if positions.dtype.kind in "OU":
        positions = np.array([integer(cell) for cell in positions.tolist()])
    wrong = np.flatnonzero((positions < 0) | (positions >= len(D)))
    if len(wrong):
        raise ValueError(
            f"{stream.name}: {stream.place} {batch.places[wrong[0]]}: position {positions[wrong[0]]} "
            f"is not in {path}, which has {len(D)} samples"
        )
    return positions


def is_labelled(batch: Batch, name: str) -> np.ndarray:
    """Return which cells of a column are not empty."""
    cells = batch.columns[name].tolist()
    return np.array([cell is not None and cell == cell and str(cell).strip() != "" for cell in cells])


def known_labels(batch: Batch, name: str) -> np.ndarray:
    """Return the labels of the cells that are not empty, which `as_labels` makes integers if all are."""
    rest = batch.take(np.flatnonzero(is_labelled(batch, name)))
    try:
        return rest.labels(name)
    except ValueError:  # such as the floats that pandas makes of integers if some are missing
        return objects([str(value) for value in categories(rest.columns[name])])


def images_of(pictures: Pictures, samples: Samples, folder: Path) -> Callable[[np.ndarray], Show | None]:
    """Check how samples are to be shown, and return what opens their images, given their features."""
    shape, column = None, None
    if pictures.image_shape is not None:
        shape = parse_shape(pictures.image_shape, len(samples.features))
    if pictures.image_column is not None:
        column = find_column(samples.stream, pictures.image_column)
    demand(
        column is None or column != samples.label,
        f"--image-column {column}: this is the column of the labels; name another",
    )

    def opened(X: np.ndarray) -> Show | None:
        if shape is not None:
            return pixel_images(X, shape)
        return None if column is None else FileImages(samples.rows.texts(column), folder)

    return opened


def said_of_images(images: Show | None) -> str:
    """Say how many image files a page has."""
    if not isinstance(images, FileImages):
        return ""
    count = images.counts
    text = f", {counted(count['embedded'], 'image')} embedded from {count['folder']}"
    if count["left_out"]:
        text += f"; {count['left_out']} left out: outside it, missing, no image, or too large"
    return text


# Files


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Check, before any work, that files can be written, and that none of them is another or an input."""
    known = [path for path in inputs if path is not None]
    for path in outputs:
        if path is not None:
            check_writable(path)
            taken = next((other for other in known if _is_same(path, other)), None)
            demand(taken is None, f"{path}: writing it would replace {taken}; name another file")
            known.append(path)


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(path) == os.path.realpath(other)


class TableOutput:
    """A table with all columns of the input and some more, in a file or on the standard output."""

    def __init__(self, out: str | None, to: str | None = None, *, as_json: bool = False) -> None:
        self.path = None if out == "-" else out
        self._ending = "json" if as_json and self.path is None and to is None else to
        self.has_types = check_sink(self.path, self._ending).has_types

    def open(
        self,
        names: Sequence[str],
        source: Stream | None = None,
        labels: Sequence[str] = (),
        way_out: str = "pass another --column",
    ) -> AbstractContextManager[Write]:
        """Open the file, CSV with separator and decimals of the source; what this gives writes columns."""
        # Of the columns that are added, `labels` are written as the input has them.
        taken = next((name for name in reversed(names) if names.count(name) > 1), None)
        if taken is not None:
            raise ValueError(f"{source.name}: there is a column {show(taken)} already; {way_out}")
        source = source or Layout([])
        added = tuple(name for name in names if name not in source.names)
        layout = Layout(list(names), None, (), source.dialect, source.types, added, tuple(labels))
        return open_sink(self.path, self._ending, layout)

    def columns(self, batch: Batch, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the input's columns as shown: character by character in CSV, numbers in typed output."""
        if not self.has_types or batch.stream.dialect is None:
            return batch.columns
        return batch.columns | {name: column for name, column in features.items() if column.dtype.kind == "f"}


# The terminal


@naming(STANDARD_OUTPUT)
def show_facts(
    facts: Any, lines: Iterable[str], as_json: bool = False, *, on_error_stream: bool = False
) -> None:
    """Print a result, for people, line by line because a name may have a line break, or for programs."""
    if as_json:
        lines = [json.dumps(json_value(facts), default=str, allow_nan=False)]
    typer.echo("\n".join(map(escape, lines)), err=on_error_stream)


def visible(value: Any) -> str:
    """Return a name or a label as one short line that a terminal only prints."""
    return shorten(str(value), LONGEST)


@naming(STANDARD_OUTPUT)
def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(header):
        is_number = all(row[j][:1] in "-+.0123456789" or row[j] in NONE for row in rows)
        table.add_column(Text(visible(name)), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # rich would take [red] for markup
    # In a pipe there is no window to fit into.
    Console(width=None if Console().is_terminal else WIDE).print(table, highlight=False)
