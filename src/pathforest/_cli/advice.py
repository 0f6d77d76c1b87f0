"""Warnings about tables that are probably not what the user means."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from pathforest._cli.errors import say
from pathforest._utils.text import show

# Names of columns that number the rows: id, row_id, PassengerId, index, Unnamed: 0 (from pandas).
ROW_NUMBER = re.compile(r"(?i:(.*[ _.-])?(id|index)|unnamed: \d+|row( ?(number|no))?)|.*[a-z0-9]I[dD]|")
FEWEST = 10  # ascending numbers that are not an accident


def warn_row_numbers(X: np.ndarray | Mapping[str, np.ndarray], names: Sequence[str]) -> None:
    """Warn of features that look like numbers of rows: they tell nothing about new samples."""
    columns = dict(zip(names, X.T, strict=True)) if isinstance(X, np.ndarray) else X
    found = [name for name, column in columns.items() if _numbers_rows(name, column)]
    if found:
        several, ignored = len(found) > 1, shlex.quote(",".join(map(_quoted, found)))
        say(
            f"warning: {', '.join(map(show, found))} look{'s' * (not several)} like "
            f"{'numbers' if several else 'the number'} of the row, which tells nothing about new samples; "
            f"leave {'them' if several else 'it'} out with --ignore {ignored}"
        )


def _numbers_rows(name: str, column: np.ndarray) -> bool:
    if column.dtype.kind not in "iuf" or len(np.unique(column)) < len(column):
        return False
    is_named = ROW_NUMBER.fullmatch(name) is not None
    is_counted = len(column) >= FEWEST and bool(
        (column == np.floor(column)).all() and (np.diff(column) > 0).all()
    )
    return is_named or is_counted


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name


def warn_one_class(y: np.ndarray, label: str | None) -> None:
    """Warn if all labels are the same."""
    classes = np.unique(np.ma.compressed(y) if isinstance(y, np.ma.MaskedArray) else y).tolist()
    if len(classes) == 1:
        say(
            f"warning: the label{'' if label is None else ' ' + show(label)} has one class, "
            f"{show(classes[0])}, so every prediction will be this class; is --label right?"
        )
