"""Pieces of the page that several of its parts are made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from html import escape

import numpy as np

from pathforest._utils.text import escape as escape_controls
from pathforest.review.contents import Review
from pathforest.review.map import class_kind

LONGEST = 200  # characters of a cell


def visible(text: str) -> str:
    """Return a text of the table as one line that cannot turn around or hide what is next to it."""
    text = escape_controls(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def number(value: float) -> str:
    """Write a number with four digits."""
    return "∞" if value == np.inf else f"{value:.4g}"


def chip(review: Review, code: int) -> str:
    """Write the name of a class beside its colour."""
    name = escape(visible(review.classes[code]))
    return f'<span class="chip"><i class="{class_kind(code)}"></i><b>{name}</b></span>'


def cell(text: str, kind: str = "") -> str:
    """Write a cell of a table, given as HTML."""
    return f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>"


def heads(names: Iterable[str], words: Collection[str] = ()) -> str:
    """Write the header of a table; columns of words are aligned to the left."""
    return "".join(
        f'<th scope="col"{" class=word" if name in words else ""}>{escape(name)}</th>' for name in names
    )


def link(row: int, text: str, shown: Collection[int]) -> str:
    """Lead to a sample, if it is one of those that are shown."""
    text = escape(text)
    return f'<a href="#{anchor(row)}">{text}</a>' if row in shown else text


def anchor(row: int) -> str:
    """Return the name that links to a suspect use."""
    return f"row-{row}"
