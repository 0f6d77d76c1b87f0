"""The search over σ and k_max: a map of each competition, and how much of it loses accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pathforest.reproduction import statistics
from pathforest.reproduction.experiment import COMPETITIONS, Experiment, in_order
from pathforest.reproduction.figures.style import AXIS, COLORS, INK, figure, name_rows

TIE = 1e-12  # means nearer than this are equal
SPAN = 0.02  # of accuracy that the colours cover at least, so that flat maps look flat
LABELS = 6  # of k_max at most, so that they fit a narrow page
BARS = {"complete": COLORS["fuzzy_opf"], "tree": COLORS["fuzzy_opf_tree"]}
CELL, TITLE = 20, 26  # heights in pixels, of a row of cells and of what stands above a map


def landscape_figure(experiment: Experiment, dataset: str) -> go.Figure:
    """Draw the mean held-out accuracy of every cell, one map above the other on the same colours.

    A dot marks the cells that share the best mean of both maps.
    """
    here = experiment.landscapes[experiment.landscapes["dataset"] == dataset]
    means = here.groupby(["competition", "sigma", "k_max"])["accuracy"].mean()
    sizes = np.unique(here["k_max"])
    maps = {
        name: means[name].unstack().reindex(columns=sizes)
        for name in COMPETITIONS
        if name in means.index.get_level_values("competition")
    }
    heights = [len(table) for table in maps.values()]
    domains = _domains(heights)
    result = figure(
        75 + CELL * sum(heights) + TITLE * len(maps),
        coloraxis={
            "colorscale": "Cividis",
            "cmin": min(means.min(), means.max() - SPAN),
            "cmax": means.max(),
            "colorbar": {"thickness": 10, "outlinewidth": 0, "tickformat": ".3f", "nticks": 6},
        },
        margin={"l": 8, "r": 8, "t": 24, "b": 8},
        showlegend=False,
    )
    for place, (name, table) in enumerate(maps.items(), start=1):
        _add_map(result, table, means.max(), place)
        is_last = place == len(maps)
        domain = domains[place - 1]
        labels = [f"{size:g}" for size in sizes[:: -(-len(sizes) // LABELS)]]
        across = _axis("k_max" if is_last else "", f"y{place}", len(sizes), tickvals=labels)
        up = _axis("σ", f"x{place}", len(table), domain=domain)
        result.update_layout({f"xaxis{place}": {**across, "showticklabels": is_last}, f"yaxis{place}": up})
        corner = {"x": 0, "y": domain[1], "xref": "paper", "yref": "paper"}
        corner |= {"xanchor": "left", "yanchor": "bottom"}
        result.add_annotation(text=COMPETITIONS[name], **corner, showarrow=False, font_size=12)
    return result


def _domains(heights: Sequence[int]) -> list[list[float]]:
    """Share the height from the top: cells are equally high in every map, titles stand between the maps."""
    total = CELL * sum(heights) + TITLE * (len(heights) - 1)
    tops = [total - CELL * sum(heights[:place]) - TITLE * place for place in range(len(heights))]
    return [
        [max(0.0, (top - CELL * height) / total), top / total]
        for top, height in zip(tops, heights, strict=True)
    ]


def _add_map(result: go.Figure, table: pd.DataFrame, best: float, place: int) -> None:
    sizes = [f"{size:g}" for size in table.columns]
    factors = [f"{factor:g}" for factor in table.index]
    axes = {"xaxis": f"x{place}", "yaxis": f"y{place}"}
    result.add_heatmap(
        z=table.to_numpy(),
        x=sizes,
        y=factors,
        coloraxis="coloraxis",
        xgap=1,
        ygap=1,
        hovertemplate="k_max %{x}, σ %{y}: %{z:.4f}<extra></extra>",
        **axes,
    )
    tied = np.argwhere(table.to_numpy() >= best - TIE)
    result.add_scatter(
        x=[sizes[column] for _, column in tied],
        y=[factors[row] for row, _ in tied],
        mode="markers",
        marker={"color": "#D55E00", "size": 6, "line": {"color": "white", "width": 1}},
        hoverinfo="skip",
        **axes,
    )


def _axis(title: str, anchor: str, length: int, **options) -> dict:
    look = {"type": "category", "showgrid": False, "tickangle": 0, "range": [-0.5, length - 0.5]}
    return {**AXIS, **look, "title": {"text": title, "font": {"size": 13}}, "anchor": anchor, **options}


def sensitivity_figure(experiment: Experiment) -> go.Figure | None:
    """Draw the share of cells that lose more than a point against the best."""
    table = statistics.sensitivity(experiment.landscapes)
    if table.empty:
        return None
    names = in_order(table["dataset"])[::-1]
    result = figure(110 + 38 * len(names), barmode="group", bargap=0.3, legend={"traceorder": "reversed"})
    longest = max(10, 100 * (table["losing"] / table["cells"]).max())
    # Horizontal bars are stacked upwards, so the first competition comes last.
    for competition in in_order(table["competition"], BARS)[::-1]:
        here = table[table["competition"] == competition].set_index("dataset").reindex(names)
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
        title_text="cells losing over a point, in %", range=[0, 1.15 * longest], zeroline=False
    )
    return name_rows(result, names, showgrid=False)
