"""Critical differences: mean ranks of the classifiers, and which of them the datasets do not tell apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pathforest.reproduction import statistics
from pathforest.reproduction.experiment import Experiment, classifier_title
from pathforest.reproduction.figures.style import COLORS, INK, MARKERS, MUTED, figure, text


def rank_figure(experiment: Experiment) -> go.Figure | None:
    """Draw the mean rank of each classifier; bars on the right join those that do not differ."""
    ranks, difference = statistics.average_ranks(experiment.results)
    if not np.isfinite(difference):
        return None
    groups = cliques(ranks, difference)
    room = 0.045 * len(groups)  # on the right, for the bars
    result = figure(110 + 34 * len(ranks), showlegend=False, margin={"l": 8, "r": 16, "t": 34, "b": 8})
    places = np.arange(len(ranks))[::-1]
    result.add_scatter(
        x=ranks.to_numpy(),
        y=places,
        mode="markers+text",
        text=[f"  {rank:.2f}" for rank in ranks],
        textposition="middle right",
        textfont_color=INK,
        hovertemplate="%{x:.2f}<extra></extra>",
        cliponaxis=False,
        marker_color=[COLORS.get(name, MUTED) for name in ranks.index],
        marker_symbol=[MARKERS.get(name, "circle") for name in ranks.index],
        marker_size=12,
    )
    for place, (first, last) in enumerate(groups):
        x, ends = 1 - room + 0.045 * (place + 0.7), {"y0": places[first] + 0.25, "y1": places[last] - 0.25}
        result.add_shape(type="line", xref="paper", x0=x, x1=x, **ends, line={"color": MUTED, "width": 5})
    ruler = {"x0": 1, "x1": 1 + difference, "y0": 1.03, "y1": 1.03}
    result.add_shape(type="line", yref="paper", **ruler, line={"color": INK, "width": 2})
    place = {"x": 1, "y": 1.035, "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    result.add_annotation(text=f"critical difference {difference:.2f}", **place, showarrow=False)
    reach = [0.8, max(len(ranks), 1 + difference) + 0.2]
    result.update_xaxes(
        title_text="mean rank, 1 is best", range=reach, domain=[0, 1 - room], dtick=1, zeroline=False
    )
    return result.update_yaxes(
        tickvals=places,
        ticktext=[text(classifier_title(name)) for name in ranks.index],
        range=[-0.6, len(ranks) - 0.4],
        zeroline=False,
    )


def cliques(ranks: pd.Series, difference: float) -> list[tuple[int, int]]:
    """Find the longest stretches of sorted ranks that span less than the difference, as (first, last)."""
    values = ranks.to_numpy()
    ends = [int(np.flatnonzero(values - value < difference)[-1]) for value in values]
    return [
        (first, last)
        for first, last in enumerate(ends)
        if last > first and (first == 0 or ends[first - 1] < last)
    ]
