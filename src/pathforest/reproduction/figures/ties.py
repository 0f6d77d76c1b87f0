"""What ties cost: training labels lost in every run, by the textbook algorithm and by ours."""

from __future__ import annotations

import plotly.graph_objects as go

from pathforest.reproduction.experiment import Experiment
from pathforest.reproduction.figures.style import COLORS, figure
from pathforest.reproduction.findings import tie_focus

MOST_TICKS = 12


def tie_figure(experiment: Experiment) -> go.Figure | None:
    """Draw the runs of the dataset that shows it best, the worst first."""
    focus = tie_focus(experiment)
    if focus is None:
        return None
    here = experiment.ties[experiment.ties["dataset"] == focus]
    here = here.sort_values("textbook_error", ascending=False, kind="stable")
    runs = list(range(1, len(here) + 1))
    result = figure(300, bargap=0.25)
    result.add_bar(
        x=runs,
        y=100 * here["textbook_error"],
        name="textbook algorithm",
        marker={"color": COLORS["fuzzy_opf"]},
        customdata=here["run"],
        hovertemplate="textbook algorithm, run %{customdata}: %{y:.2f} % lost<extra></extra>",
    )
    result.add_scatter(
        x=runs,
        y=100 * here["training_error"],
        mode="markers",
        name="ours",
        cliponaxis=False,
        marker={"color": COLORS["opf"], "size": 9, "line": {"color": "white", "width": 1}},
        customdata=here["run"],
        hovertemplate="ours, run %{customdata}: %{y:.2f} % lost<extra></extra>",
    )
    reach = [0.4, len(here) + 0.6]
    step = -(-len(here) // MOST_TICKS)  # there is no half run
    result.update_xaxes(
        title_text="runs, the worst first", range=reach, showgrid=False, zeroline=False, tick0=1, dtick=step
    )
    return result.update_yaxes(title_text="training labels lost, in %", rangemode="tozero")
