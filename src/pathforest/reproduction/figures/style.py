"""How every figure looks: colours that colour-blind readers can distinguish, quiet axes, no background.

Colours written as `var(--name)` are variables of the page's style sheet; its script puts their values in, and
does so again when the reader's scheme changes from light to dark.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from pathforest.reproduction.experiment import CLASSIFIERS, dataset_title

INK, MUTED, GRID, BAND = "var(--ink)", "var(--muted)", "var(--grid)", "var(--band)"

# Okabe and Ito's palette, without its yellow, which is lost on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star")
COLORS = dict(zip(CLASSIFIERS, PALETTE, strict=True))
MARKERS = dict(zip(CLASSIFIERS, SYMBOLS, strict=True))
# Viridis, turned so that high values stand out from the page, light or dark.
SCALE = [[place / 4, f"var(--scale-{place})"] for place in range(5)]
MOST_POINTS = 2000  # of a dataset that are drawn

AXIS = {
    "gridcolor": GRID,
    "zerolinecolor": GRID,
    "linecolor": GRID,
    "tickcolor": GRID,
    "automargin": True,
    "title": {"font": {"size": 13}},
}
LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "title": {"text": ""}}
LAYOUT = {
    "template": "none",
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"color": INK, "family": "system-ui, sans-serif", "size": 13},
    "margin": {"l": 8, "r": 12, "t": 10, "b": 8},
    "hoverlabel": {"font": {"family": "system-ui, sans-serif"}},
    "xaxis": AXIS,
    "yaxis": AXIS,
}


def figure(height: int, *, legend: Mapping[str, Any] | None = None, **layout: Any) -> go.Figure:
    """Return an empty figure that is as wide as its place on the page."""
    return go.Figure(layout={**LAYOUT, "height": height, "legend": {**LEGEND, **(legend or {})}, **layout})


def text(name: str) -> str:
    """Escape a name, because plotly reads some tags in its texts."""
    return html.escape(name, quote=False)


def name_rows(result: go.Figure, names: Sequence[str], **options: Any) -> go.Figure:
    """Give each dataset a row of the vertical axis, the first at the bottom."""
    titles = [text(dataset_title(name)) for name in names]
    return result.update_yaxes(tickvals=list(range(len(names))), ticktext=titles, zeroline=False, **options)
