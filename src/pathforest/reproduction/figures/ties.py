"""What ties cost: training labels lost in every run, by the textbook algorithm and by ours."""

from __future__ import annotations

import plotly.graph_objects as go

from pathforest.reproduction.experiment import Experiment
from pathforest.reproduction.figures.style import COLORS, figure
from pathforest.reproduction.findings import tie_focus


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
        hovertemplate="run %{customdata}: %{y:.2f} % lost<extra>textbook</extra>",
    )
    result.add_scatter(
        x=runs,
        y=100 * here["training_error"],
        mode="markers",
        name="ours",
        cliponaxis=False,
        marker={"color": COLORS["opf"], "size": 9, "line": {"color": "white", "width": 1}},
        customdata=here["run"],
        hovertemplate="run %{customdata}: %{y:.2f} % lost<extra>ours</extra>",
    )
    reach = [0.4, len(here) + 0.6]
    result.update_xaxes(
        title_text="runs, the worst first", range=reach, showgrid=False, zeroline=False, nticks=12
    )
    return result.update_yaxes(title_text="training labels lost, in %", rangemode="tozero")
