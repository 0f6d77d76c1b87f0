"""What Fuzzy OPF gains over OPF: a point for every run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pathforest.reproduction import statistics
from pathforest.reproduction.experiment import Experiment, classifier_title, dataset_title
from pathforest.reproduction.figures.style import COLORS, GRID, INK, MARKERS, figure, name_rows, text

ROWS = {"fuzzy_opf": 0.2, "fuzzy_opf_tree": -0.2}  # each competition has its half of a dataset's band
SPREAD = 0.13


def gain_figure(experiment: Experiment) -> go.Figure | None:
    """Draw the difference in accuracy of each run, in points, and its mean."""
    means = statistics.gains(experiment.results).set_index(["classifier", "dataset"])["gain"]
    if means.empty:
        return None
    runs = experiment.results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    compared = set(means.index.get_level_values("dataset"))
    names = [name for name in reversed(experiment.datasets) if name in compared]
    result = figure(110 + 54 * len(names))
    for classifier, offset in ROWS.items():
        if classifier not in means.index.get_level_values("classifier"):
            continue
        difference = 100 * (runs[classifier] - runs["opf"]).dropna()
        x, y, labels = [], [], []
        for place, name in enumerate(names):
            if name not in difference.index:
                continue
            here = difference[name]
            x.extend(here)
            y.extend(place + offset + _jitter(here))
            labels.extend(text(f"{dataset_title(name)}, run {run}") for run in here.index)
        result.add_scatter(
            x=x,
            y=y,
            text=labels,
            mode="markers",
            name=f"{classifier_title(classifier)}, one run",
            hovertemplate="%{text}: %{x:+.2f} points<extra></extra>",
            marker={"color": COLORS[classifier], "symbol": MARKERS[classifier], "size": 6, "opacity": 0.6},
        )
    for classifier, offset in ROWS.items():
        here = [name for name in names if (classifier, name) in means.index]
        result.add_scatter(
            x=[100 * means[classifier, name] for name in here],
            y=[names.index(name) + offset for name in here],
            mode="markers",
            name="mean",
            legendgroup="mean",
            showlegend=classifier == means.index[0][0],
            hovertemplate="mean %{x:+.3f} points<extra></extra>",
            marker={"color": INK, "symbol": "line-ns-open", "size": 17, "line": {"width": 2.5}},
        )
    result.add_vline(x=0, line={"color": INK, "width": 1, "dash": "dot"})
    for edge in range(1, len(names)):
        result.add_hline(y=edge - 0.5, line={"color": GRID, "width": 1})
    result.update_xaxes(title_text="gain over OPF, in points", zeroline=False)
    return name_rows(result, names, range=[-0.5, len(names) - 0.5], showgrid=False)


def _jitter(values: pd.Series) -> np.ndarray:
    """Spread equal values evenly about their line, so that their number can be seen."""
    groups = values.round(9).groupby(values.round(9))
    size = groups.transform("size").to_numpy()
    place = groups.cumcount().to_numpy()
    return SPREAD * (2 * (place + 0.5) / size - 1)
