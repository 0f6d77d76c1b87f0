"""Tables and figures as pieces of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from pathforest.reproduction.cells import MISSING, Cell, Grid, Row

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDE = 6  # columns; tables with more are set in smaller type


def table_html(grid: Grid) -> str:
    """Write a table in a region of its own, which scrolls by keyboard where the page is narrow."""
    if not grid.rows:
        return ""
    kinds = ["word" if name in grid.words else "" for name in grid.header]
    header = "".join(
        f'<th scope="col"{_class(kind)}>{escape(name)}</th>'
        for name, kind in zip(grid.header, kinds, strict=True)
    )
    rows = "\n".join(_row_html(row, kinds[1:]) for row in grid.rows)
    title = escape(grid.title)
    kind = _class("wide" if len(grid.header) > WIDE else "")
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}">\n<table{kind}>\n'
        f"<caption><span>{title}</span></caption>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n"
        "</table>\n</div>"
    )


def _class(*kinds: str) -> str:
    names = " ".join(kind for kind in kinds if kind)
    return f' class="{names}"' if names else ""


def _row_html(row: Row, kinds: Sequence[str]) -> str:
    remark = f'<span class="remark">{escape(row.remark)}</span>' if row.remark else ""
    paper = row.paper or (None,) * len(row.cells)
    cells = "".join(_cell_html(*each) for each in zip(row.cells, paper, kinds, strict=True))
    return f'<tr><th scope="row">{escape(row.heading)}{remark}</th>{cells}</tr>'


def _cell_html(ours: Cell, theirs: Cell | None, kind: str) -> str:
    note = f' title="{escape(ours.note)}"' if ours.note else ""
    parts = [f'<span class="ours">{_text(ours)}</span>']
    if theirs is not None and theirs != MISSING:
        parts.append(f'<span class="paper"><span class="who">paper</span> {_text(theirs)}</span>')
    return f"<td{_class(kind, 'differs' if ours.flagged else '')}{note}>{''.join(parts)}</td>"


def _text(cell: Cell) -> str:
    text = escape(cell.text)
    text = f"<strong>{text}</strong>" if cell.bold else text
    if cell.flagged:
        text += ' <span class="flag" role="img" aria-label="does not agree">≠</span>'
    return f'{text}<span class="extra">{escape(cell.extra)}</span>' if cell.extra else text


def figure_html(name: str, caption: str, panels: Sequence[tuple[str, go.Figure | None]]) -> str:
    """Write a figure of one or more panels, each with the data that the script draws.

    Nothing where there is nothing to draw.
    """
    drawn = [(title, panel) for title, panel in panels if panel is not None]
    if not drawn:
        return ""
    # Few panels get more room each.
    kind = "single" if not drawn[0][0] else "panels few" if len(drawn) <= 2 else "panels"
    parts = [_panel_html(title or caption, title, panel) for title, panel in drawn]
    note = '<noscript><p class="note">This figure needs JavaScript; the tables do not.</p></noscript>'
    return (
        f'<figure id="{escape(name)}">\n{note}\n<div class="{kind}">\n{"".join(parts)}</div>\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>"
    )


def _panel_html(label: str, title: str, panel: go.Figure) -> str:
    heading = f"<h4>{escape(title)}</h4>" if title else ""
    # plotly writes <, > and / as escapes, so that no text of the data can end the element.
    return (
        f'<div class="panel">{heading}'
        f'<div class="plot" role="img" aria-label="{escape(label)}" '
        f'style="height:{panel.layout.height}px"></div>'
        f'<script type="application/json">{panel.to_json()}</script></div>\n'
    )


def paragraph(*sentences: str) -> str:
    """Write sentences as one paragraph, nothing if there are none."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return f"<p>{escape(text)}</p>" if text else ""
