"""How much of the search loses accuracy: one bar per dataset and competition."""

from __future__ import annotations

import plotly.graph_objects as go

from pathforest.reproduction import published, statistics
from pathforest.reproduction.figures.style import COLORS, INK, figure, text
from pathforest.reproduction.names import COMPETITIONS, dataset_title, in_order
from pathforest.reproduction.types import Experiment

BARS = {"complete": COLORS["fuzzy_opf"], "tree": COLORS["fuzzy_opf_tree"]}


def sensitivity_figure(experiment: Experiment) -> go.Figure | None:
    """Draw the share of cells that lose more than a point against the best."""
    table = statistics.sensitivity(experiment.landscapes)
    if table.empty:
        return None
    names = in_order(table["dataset"].unique(), tuple(published.TITLES))[::-1]
    result = figure(110 + 38 * len(names), barmode="group", bargap=0.3, legend={"traceorder": "reversed"})
    longest = max(10, 100 * (table["losing"] / table["cells"]).max())
    # Horizontal bars are stacked upwards, so the first competition comes last.
    for competition in reversed(BARS):
        here = table[table["competition"] == competition].set_index("dataset")
        if here.empty:
            continue
        here = here.reindex(names)
        share = 100 * here["losing"] / here["cells"]
        result.add_bar(
            y=list(range(len(names))),
            x=share,
            orientation="h",
            name=COMPETITIONS[competition],
            marker={"color": BARS[competition]},
            text=[f"{value:.0f} %" if value == value else "" for value in share],
            textposition="outside",
            textfont={"color": INK},
            cliponaxis=False,
            customdata=100 * here["worst"],
            hovertemplate="%{x:.1f} % of the cells; the worst loses %{customdata:.1f} points<extra></extra>",
        )
    result.update_xaxes(
        title={"text": "cells losing over a point, in %"}, range=[0, 1.15 * longest], zeroline=False
    )
    return result.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[text(dataset_title(name)) for name in names],
        showgrid=False,
        zeroline=False,
    )
