"""Output of the commands: facts and tables on the terminal, tables in files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from pathforest import _tables
from pathforest._tables import STANDARD_OUTPUT
from pathforest._utils.files import check_writable, naming
from pathforest._utils.progress import hidden_progress, is_wanted
from pathforest._utils.text import escape

NONE = ("text", "-")  # in the place of a number
WIDE = 400  # columns of output that is not a terminal
LONGEST = 60  # characters of a name or a label on the terminal

# The terminal


@naming(STANDARD_OUTPUT)
def show_facts(facts: Any, lines: Sequence[str], as_json: bool, *, on_error_stream: bool = False) -> None:
    """Print a result, for people or for programs.

    Lines are given one by one, because a name in one of them could have a line break.
    """
    if as_json:
        plain = json.loads(json.dumps(facts, default=_plain))
        lines = [json.dumps(_tables.json_value(plain), allow_nan=False)]
    typer.echo("\n".join(map(escape, lines)), err=on_error_stream)


def _plain(value: Any) -> Any:
    """Turn numpy's values into Python's; what has no counterpart in JSON is shown as text."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


def visible(value: Any) -> str:
    """Return a name or a label as one short line that a terminal only prints."""
    text = escape(str(value)[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def listed(values: Iterable[Any], most: int) -> str:
    """List names or labels, the first of many."""
    values = list(values)
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(visible, values[:most])) + more


@contextmanager
def counted(what: str) -> Iterator[Any]:
    """Show a count that grows, where progress bars are shown."""
    console, hidden = Console(stderr=True), not is_wanted(sys.stderr)
    columns = (TextColumn(what), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    with hidden_progress(), Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        yield lambda n: bar.advance(task, n)


@naming(STANDARD_OUTPUT)
def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(header):
        is_number = all(row[j][:1] in "-+.0123456789" or row[j] in NONE for row in rows)
        table.add_column(Text(visible(name)), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # rich would take [red] for markup
    # In a pipe there is no window to fit into.
    Console(width=None if Console().is_terminal else WIDE).print(table, highlight=False)


# Files


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Check, before any work, that files can be written, and that none of them is another or an input."""
    known = [path for path in inputs if path is not None]
    for path in outputs:
        if path is not None:
            check_writable(path)
            taken = next((other for other in known if _is_same(path, other)), None)
            if taken is not None:
                raise ValueError(f"{path}: writing it would replace {taken}; name another file")
            known.append(path)


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(path) == os.path.realpath(other)


class TableOutput:
    """A table with all columns of the input and some more, in a file or on the standard output."""

    def __init__(self, out: str | None, to: str | None, *, as_json: bool = False) -> None:
        self.path = None if out == "-" else out
        self._ending = "json" if as_json and self.path is None and to is None else to
        self._form = _tables.check_sink(self.path, self._ending)

    def open(self, names: Sequence[str], source: _tables.Stream | None = None) -> AbstractContextManager[Any]:
        """Open the file, in CSV with separator and decimals of the source; what this gives writes columns."""
        known, dialect = ([], None) if source is None else (source.names, source.dialect)
        added = tuple(name for name in names if name not in known)
        layout = _tables.Layout(list(names), dialect=dialect, added=added)
        return _tables.open_sink(self.path, self._ending, layout)

    def columns(
        self, stream: _tables.Stream, batch: _tables.Batch, numbers: Mapping[str, np.ndarray]
    ) -> list[Any]:
        """Return the columns of the input as the output shows them: in CSV, character by character.

        If the output distinguishes numbers from text, features that came as text are written as numbers.
        """
        return stream.with_numbers(batch, numbers) if self._form.has_types else batch.columns
