"""What the commands show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from pathforest.datasets.formats.sinks import json_value

NONE = ("text", "-")  # in the place of a number
WIDE = 400  # columns of a terminal that is none


def show_facts(facts: Any, text: str, as_json: bool, *, on_error_stream: bool = False) -> None:
    """Print a result, for people or for programs."""
    if as_json:
        text = json.dumps(json_value(json.loads(json.dumps(facts, default=_plain))), allow_nan=False)
    typer.echo(text, err=on_error_stream)


def _plain(value: Any) -> Any:
    """Turn numpy's values into Python's; what has no counterpart in JSON is shown as text."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


@contextmanager
def counted(what: str) -> Iterator[Any]:
    """Show a count that grows, on a terminal only."""
    console = Console(stderr=True)
    columns = (TextColumn(what), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda n: bar.advance(task, n)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(header):
        is_number = all(_looks_like_number(row[j]) or row[j] in NONE for row in rows)
        table.add_column(Text(name), justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*map(Text, row))  # names may hold what rich would take for markup
    # In a pipe there is no window to fit into.
    Console(width=None if Console().is_terminal else WIDE).print(table, highlight=False)


def _looks_like_number(text: str) -> bool:
    return text[:1] in "-+.0123456789"
