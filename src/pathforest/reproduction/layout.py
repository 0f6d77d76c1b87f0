"""Tables laid out: as Markdown, for the terminal, and as HTML."""

from __future__ import annotations

import re
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING

from pathforest._page.document import scrolling_table
from pathforest.reproduction.tables import MISSING, Cell, Grid, Row

if TYPE_CHECKING:
    from rich.table import Table

WIDE = 6  # columns; tables with more are set in smaller type


def markdown_table(grid: Grid, *sentences: str) -> str:
    """Write a table under its title and the sentences about it; nothing if there is neither."""
    text = _escape_markdown(" ".join(filter(None, sentences)))
    if not grid.rows:
        return f"## {grid.title}\n\n{text}" if text else ""
    who = [["ours"], ["paper"]] if grid.has_paper else [[], []]
    header = [grid.header[0], *([""] if grid.has_paper else []), *grid.header[1:]]
    lines = [header, ["---"] * len(header)]
    for row in grid.rows:
        heading = f"{row.heading} ({row.remark})" if row.remark else row.heading
        lines.append([_escape_cell(heading), *who[0], *map(_markdown_cell, row.cells)])
        if row.paper:
            lines.append(["", *who[1], *map(_markdown_cell, row.paper)])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join(part for part in (f"## {grid.title}", text, table) if part)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_escape_cell(cell.text)}**" if cell.bold else _escape_cell(cell.text)
    return f"{text}, {_escape_cell(cell.extra)}" if cell.extra else text


def _escape_cell(text: str) -> str:
    return _escape_markdown(text).replace("|", r"\|")


def _escape_markdown(text: str) -> str:
    """Escape the characters that have a meaning in Markdown or HTML."""
    text = re.sub(r"([\\`*_\[\]~])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", text.replace("&", "&amp;"))


def terminal_table(grid: Grid, *captions: str) -> Table:
    """Lay out a table for the terminal, the paper's values under ours; print it with `rich.print`."""
    try:
        from rich import box
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        raise ImportError("the table needs rich; run pip install 'pathforest[reproduce]'") from None

    caption = "\n".join(captions) or None
    # Little around the columns: four of them and a name are to fit 80 characters.
    table = Table(title=grid.title, caption=caption, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(grid.header):
        table.add_column(Text(name), justify="right" if place else "left", no_wrap=place > 0)
    for row in grid.rows:
        heading = Text.assemble(row.heading, (f"\n{row.remark}" if row.remark else "", "dim"))
        cells = zip_longest(row.cells, row.paper)
        table.add_row(heading, *(Text.assemble(*_terminal_cell(ours, theirs)) for ours, theirs in cells))
    return table


def _terminal_cell(ours: Cell, theirs: Cell | None) -> list[tuple[str, str]]:
    """Styled pieces of a cell: ours, then the paper's on a line below."""
    pieces = [(_tight(ours.text), "bold" if ours.bold else "")]
    if ours.flagged:
        pieces.append((" ≠", "yellow"))
    if theirs is not None:
        pieces.append((f"\n{_tight(theirs.text)}", "dim bold" if theirs.bold else "dim"))
    return pieces


def _tight(score: str) -> str:
    return score.replace(" ± ", "±")


def html_table(grid: Grid) -> str:
    """Write a table for the page; nothing if it has no rows."""
    if not grid.rows:
        return ""
    kinds = ["word" if name in grid.words else "" for name in grid.header]
    header = "".join(
        f'<th scope="col"{_class(kind)}>{escape(name)}</th>'
        for name, kind in zip(grid.header, kinds, strict=True)
    )
    rows = (_html_row(row, kinds[1:]) for row in grid.rows)
    return scrolling_table(grid.title, header, rows, wide=len(grid.header) > WIDE)


def _class(*kinds: str) -> str:
    names = " ".join(filter(None, kinds))
    return f' class="{names}"' if names else ""


def _html_row(row: Row, kinds: list[str]) -> str:
    remark = f'<span class="remark">{escape(row.remark)}</span>' if row.remark else ""
    paper = row.paper or (MISSING,) * len(row.cells)
    cells = "".join(map(_html_cell, row.cells, paper, kinds))
    return f'<th scope="row">{escape(row.heading)}{remark}</th>{cells}'


def _html_cell(ours: Cell, theirs: Cell, kind: str) -> str:
    note = f' title="{escape(ours.note)}"' if ours.note else ""
    text = f'<span class="ours">{_html_text(ours)}</span>'
    if theirs != MISSING:
        text += f'<span class="paper"><span class="who">paper</span> {_html_text(theirs)}</span>'
    return f"<td{_class(kind, 'differs' if ours.flagged else '')}{note}>{text}</td>"


def _html_text(cell: Cell) -> str:
    text = escape(cell.text)
    text = f"<strong>{text}</strong>" if cell.bold else text
    if cell.flagged:
        text += ' <span class="flag" role="img" aria-label="does not agree">≠</span>'
    return f'{text}<span class="extra">{escape(cell.extra)}</span>' if cell.extra else text
