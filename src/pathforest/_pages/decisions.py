"""Decisions made on pages: read from a file, checked against the table that they are for, and applied."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pathforest._tables.batches import Batch
from pathforest._tables.columns import as_label, integer, texts
from pathforest._tables.read import open_stream
from pathforest._utils.text import listed, show

# The columns that a file of decisions needs, in any order and beside any others.
ROW, GIVEN, DECISION, CHANGE_TO, TABLE = COLUMNS = ("row", "given", "decision", "change_to", "table")
CELLS = "cells"  # one more, the checksum of a row, by which a later audit knows what was kept
LABEL = "label"
LABEL_COLUMNS = (ROW, LABEL, TABLE)
KEEP, CHANGE, DROP = ACTIONS = ("keep", "change", "drop")


class Decisions(NamedTuple):
    """What is to happen with rows of a table, by their position from 0."""

    kept: list[int]
    changed: dict[int, int]  # rows that have their new labels
    dropped: list[int]


def fingerprint(rows: Batch, features: Sequence[str] = ()) -> str:
    """Return a checksum of all names and cells of a table, whatever its file is called, and of features."""
    digest = hashlib.sha256(json.dumps(rows.stream.names).encode())
    for column in rows.columns.values():
        is_numbers = column.dtype.kind in "biuf"  # many numbers take long to write as text
        digest.update(column.tobytes() if is_numbers else json.dumps(texts(column)).encode())
    if features:
        digest.update(json.dumps(features).encode())
    return f"sha256:{digest.hexdigest()[:16]}"


def checksum(rows: Batch, row: int) -> str:
    """Return a checksum of a row: of its cells and their names, in whatever order."""
    cells = sorted((name, *texts(column[row : row + 1])) for name, column in rows.columns.items())
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def read_kept(path: str) -> set[str]:
    """Read which rows were to be kept, by their checksums; they may be those of another table."""
    rows = _decided(path, (DECISION, CELLS))
    pairs = zip(rows.texts(DECISION), rows.texts(CELLS), strict=True)
    return {cells.strip() for decision, cells in pairs if decision.strip().lower() == KEEP}


def read_decisions(path: str, known: Sequence[str | None], table: str, *, of_integers: bool) -> Decisions:
    """Read the decisions about a table with the labels `known` and the fingerprint `table`.

    Rows without a decision are passed over. Anything that does not fit the table is an error.
    """
    classes = {label: row for row, label in reversed([*enumerate(known)]) if label is not None}
    decisions = Decisions([], {}, [])

    def take(row: int, _: str, given: str, decision: str, change_to: str) -> None:
        label = known[row]
        if as_label(given, of_integers=of_integers) != label:
            said = f"the label of row {row} is {show(label)}, not {show(given)}"
            raise ValueError(f"{said}; is --label the same as in the audit?")
        change_to = as_label(change_to, of_integers=of_integers)
        action = decision.strip().lower()
        if action in (KEEP, DROP):
            (decisions.kept if action == KEEP else decisions.dropped).append(row)
        elif action != CHANGE:
            raise ValueError(
                f"{show(action)} is not a decision; write one of {', '.join(ACTIONS)}, or nothing"
            )
        elif change_to not in classes:
            raise ValueError(
                f"{CHANGE_TO} {show(change_to)} is not a class of the table; it has {listed(sorted(classes))}"
            )
        else:
            decisions.changed[row] = classes[change_to]

    _read(path, COLUMNS, DECISION, len(known), table, take)
    return decisions


def read_labels(path: str, known: Sequence[str | None], table: str, *, of_integers: bool) -> dict[int, str]:
    """Read the labels given to rows of a table that had none, by position; `known` are the labels it has."""
    given: dict[int, str] = {}

    def take(row: int, _: str, label: str) -> None:
        label = as_label(label, of_integers=of_integers)
        if known[row] not in (None, label):
            raise ValueError(
                f"row {row} has the label {show(known[row])} in the table, not {show(label)}; leave the line "
                "out, or change the table and write a new page"
            )
        given[row] = label

    _read(path, LABEL_COLUMNS, LABEL, len(known), table, take)
    return given


def _decided(path: str, columns: Sequence[str]) -> Batch:
    """Read a file of decisions."""
    with open_stream(path) as stream:
        missing = [name for name in columns if name not in stream.names]
        if missing:
            raise ValueError(
                f"{stream.name}: there is no column {show(missing[0])}; decisions have the columns "
                f"{', '.join(columns)}, as the page exports them"
            )
        return stream.gather()


def _read(
    path: str, columns: Sequence[str], made: str, n_rows: int, table: str, take: Callable[..., None]
) -> None:
    """Give the cells of each line on which a decision is made, the fingerprint apart, to `take`."""
    rows = _decided(path, columns)
    decided: set[int] = set()
    for place, *cells, found in zip(rows.places, *map(rows.texts, columns), strict=True):
        try:
            if not cells[columns.index(made)].strip():
                continue
            if found.strip() != table:
                raise ValueError(
                    f"the decision is about another table ({show(found)}, and this one is {table}); apply "
                    "it to the table that the page was written for, or write a page for this one"
                )
            row = integer(cells[0].strip())
            if not 0 <= row < n_rows:
                raise ValueError(f"there is no row {row}; the table has {n_rows}, counted from 0")
            if row in decided:
                raise ValueError(f"row {row} is decided twice; leave one of the lines out")
            take(row, *cells)
            decided.add(row)
        except ValueError as error:
            raise ValueError(f"{rows.stream.name}: {rows.stream.place} {place}: {error}") from None


def apply_decisions(rows: Batch, label: str, decisions: Decisions) -> Batch:
    """Return the table with changed labels, and without the rows that are dropped.

    A new label is the cell of the first row that has it, so that it stands there as elsewhere in the table.
    """
    source = np.arange(len(rows.places))
    kept = np.setdiff1d(source, decisions.dropped)
    source[list(decisions.changed)] = list(decisions.changed.values())
    if len(kept) == 0:
        raise ValueError(f"{rows.stream.name}: every row is dropped; a table needs one")
    return rows._replace(columns=rows.columns | {label: rows.columns[label][source]}).take(kept)
