"""How far our scores are from the published ones, in standard errors."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from pathforest.reproduction import published, statistics
from pathforest.reproduction.experiment import Experiment, classifier_title, dataset_title, in_order
from pathforest.reproduction.figures.style import BAND, COLORS, INK, MARKERS, figure, name_rows, text
from pathforest.reproduction.formats import signed

FARTHEST = 6.0  # what is farther stands at the edge, and says so


def agreement_figure(experiment: Experiment) -> go.Figure | None:
    """Draw z of every score, with the band in which scores agree."""
    table = statistics.agreement(experiment.results)
    if table.empty or not experiment.is_repeated:
        return None
    names = in_order(table["dataset"])[::-1]
    classifiers = in_order(table["classifier"], published.CLASSIFIERS)
    result = figure(110 + 40 * len(names))
    agrees = statistics.AGREES
    result.add_vrect(x0=-agrees, x1=agrees, fillcolor=BAND, line_width=0, layer="below")
    for place, classifier in enumerate(classifiers):
        here = table[table["classifier"] == classifier]
        # Each classifier has a height of its own within the row, so that equal scores do not hide each other.
        height = 0.17 * ((len(classifiers) - 1) / 2 - place)
        edge = here["z"].abs() > FARTHEST
        arrows = np.where(here["z"] > 0, "triangle-right", "triangle-left")
        symbols = np.where(edge, arrows, MARKERS[classifier])
        result.add_scatter(
            x=here["z"].clip(-FARTHEST, FARTHEST),
            y=[names.index(name) + height for name in here["dataset"]],
            mode="markers+text",
            name=classifier_title(classifier),
            text=[signed(z, 1) if far else "" for z, far in zip(here["z"], edge, strict=True)],
            textposition=["middle left" if z > 0 else "middle right" for z in here["z"]],
            textfont={"color": INK, "size": 11},
            customdata=[
                f"{text(dataset_title(line.dataset))}: {line.ours:.4f}, published {line.published:.4f}, "
                f"z = {signed(line.z)}"
                for line in here.itertuples()
            ],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
            marker={"color": COLORS[classifier], "symbol": symbols.tolist(), "size": 10},
        )
    result.add_vline(x=0, line={"color": INK, "width": 1, "dash": "dot"})
    reach = [-FARTHEST - 0.4, FARTHEST + 0.4]
    result.update_xaxes(title_text="z, in standard errors", range=reach, dtick=2, zeroline=False)
    return name_rows(result, names, range=[-0.5, len(names) - 0.5])
