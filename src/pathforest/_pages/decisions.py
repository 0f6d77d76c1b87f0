"""Decisions about suspects: read from a file, checked against the table that they are for, and applied."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

import numpy as np

from pathforest._tables.batches import Batch
from pathforest._tables.columns import as_label, integer, texts
from pathforest._tables.read import open_stream
from pathforest._utils.text import listed, show

# The columns that a file of decisions needs, in any order and beside any others.
ROW, GIVEN, DECISION, CHANGE_TO, TABLE = COLUMNS = ("row", "given", "decision", "change_to", "table")
KEEP, CHANGE, DROP = ACTIONS = ("keep", "change", "drop")


class Decisions(NamedTuple):
    """What is to happen with rows of a table, by their position from 0."""

    kept: list[int]
    changed: dict[int, int]  # rows that have their new labels
    dropped: list[int]


def fingerprint(rows: Batch) -> str:
    """Return a checksum of all names and cells of a table, whatever its file is called."""
    digest = hashlib.sha256(json.dumps(rows.stream.names).encode())
    for column in rows.columns.values():
        is_numbers = column.dtype.kind in "biuf"  # many numbers take long to write as text
        digest.update(column.tobytes() if is_numbers else json.dumps(texts(column)).encode())
    return f"sha256:{digest.hexdigest()[:16]}"


def read_decisions(path: str, y: np.ndarray, table: str) -> Decisions:
    """Read the decisions about a table with the labels `y` and the fingerprint `table`.

    Rows without a decision are passed over. Anything that does not fit the table is an error.
    """
    with open_stream(path) as stream:
        missing = [name for name in COLUMNS if name not in stream.names]
        if missing:
            raise ValueError(
                f"{stream.name}: there is no column {show(missing[0])}; decisions have the columns "
                f"{', '.join(COLUMNS)}, as the page exports them"
            )
        rows = stream.gather()
    cells = map(rows.texts, COLUMNS)
    classes = dict(
        zip(*(found.tolist() for found in np.unique(y.astype(str), return_index=True)), strict=True)
    )
    decisions = Decisions([], {}, [])
    decided: set[int] = set()
    for place, row, given, decision, change_to, found in zip(rows.places, *cells, strict=True):
        try:
            if not decision.strip():
                continue
            if found.strip() != table:
                raise ValueError(
                    f"the decision is about another table ({show(found)}, and this one is {table}); apply "
                    "it to the table that was audited, or audit this one"
                )
            position = _position(row, given, y)
            if position in decided:
                raise ValueError(f"row {position} is decided twice; leave one of the lines out")
            decided.add(position)
            change_to = as_label(change_to, of_integers=y.dtype.kind == "i")
            action = decision.strip().lower()
            if action in (KEEP, DROP):
                (decisions.kept if action == KEEP else decisions.dropped).append(position)
            elif action != CHANGE:
                known = ", ".join(ACTIONS)
                raise ValueError(f"{show(action)} is not a decision; write one of {known}, or nothing")
            elif change_to not in classes:
                raise ValueError(
                    f"{CHANGE_TO} {show(change_to)} is not a class of the table; it has {listed(classes)}"
                )
            else:
                decisions.changed[position] = classes[change_to]
        except ValueError as error:
            raise ValueError(f"{stream.name}: {stream.place} {place}: {error}") from None
    return decisions


def _position(row: str, given: str, y: np.ndarray) -> int:
    position = integer(row.strip())
    if not 0 <= position < len(y):
        raise ValueError(f"there is no row {position}; the table has {len(y)}, counted from 0")
    label = str(y[position])
    if as_label(given, of_integers=y.dtype.kind == "i") != label:
        raise ValueError(
            f"the label of row {position} is {show(label)}, not {show(given)}; is --label the same as in "
            "the audit?"
        )
    return position


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
