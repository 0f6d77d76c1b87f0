"""Samples of two features: by class, and by membership."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from sklearn.preprocessing import StandardScaler

from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.reproduction.contestants import METRIC
from pathforest.reproduction.experiment import Experiment, Samples, in_order
from pathforest.reproduction.figures.style import MOST_POINTS, PALETTE, SCALE, SYMBOLS, figure, text

USUAL_K_MAX = 100  # where the search chose none


def flat_datasets(experiment: Experiment) -> list[str]:
    """List the datasets with two features, those of the paper first."""
    flat = [name for name, samples in experiment.samples.items() if samples.X.shape[1] == 2]
    return in_order(flat)


def dataset_figure(samples: Samples) -> go.Figure:
    """Draw the samples by class; colour and symbol say the same."""
    X, y = _drawn(samples.X, samples.y)
    result = _square_figure()
    for place, label in enumerate(np.unique(samples.y)):
        here = y == label
        result.add_scatter(
            x=X[here, 0],
            y=X[here, 1],
            mode="markers",
            name=text(f"class {label}"),
            hovertemplate=text(f"class {label}") + ": %{x:.3g}, %{y:.3g}<extra></extra>",
            marker={
                "color": PALETTE[place % len(PALETTE)],
                # Past one round of colours the symbols move on, so that pairs stay distinct.
                "symbol": SYMBOLS[(place + place // len(PALETTE)) % len(SYMBOLS)],
                "size": 5,
                "opacity": 0.8,
            },
        )
    return result


def membership_datasets(experiment: Experiment) -> list[str]:
    """Choose the two that the paper shows, or the first ones of two features."""
    return in_order(flat_datasets(experiment), ("data1", "data2"))[:2]


def membership_figure(experiment: Experiment, dataset: str) -> go.Figure:
    """Draw the samples by membership, as the forest sees them: z-scored."""
    samples = experiment.samples[dataset]
    X = StandardScaler().fit_transform(samples.X)
    # The membership comes before the competition; along the tree that costs least.
    model = FuzzyOPFClassifier(metric=METRIC, k_max=usual_k_max(experiment, dataset), competition="tree").fit(
        X, samples.y
    )
    X, membership = _drawn(X, model.membership_)
    order = np.argsort(membership, kind="stable")  # the most representative ones on top
    result = _square_figure()
    return result.add_scatter(
        x=X[order, 0],
        y=X[order, 1],
        mode="markers",
        showlegend=False,
        hovertemplate="membership %{marker.color:.3f}<extra></extra>",
        marker={
            "color": membership[order],
            "colorscale": SCALE,
            "size": 6 if len(X) < 500 else 4.5,
            "line": {"width": 0.5, "color": "rgba(128,128,128,0.6)"},
            "colorbar": {"thickness": 10, "outlinewidth": 0, "title": {"text": "F", "side": "top"}},
        },
    )


def usual_k_max(experiment: Experiment, dataset: str) -> int:
    """Return the k_max that the search chose most often for a dataset."""
    results = experiment.results
    chosen = results.loc[
        (results["dataset"] == dataset) & (results["classifier"] == "fuzzy_opf"), "k_max"
    ].dropna()
    return int(chosen.mode().iloc[0]) if len(chosen) else USUAL_K_MAX


def _square_figure() -> go.Figure:
    result = figure(300, legend={"itemsizing": "constant", "font": {"size": 11}})
    return result.update_xaxes(zeroline=False, nticks=6).update_yaxes(zeroline=False, nticks=6)


def _drawn(X: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thin out large datasets, evenly: a browser draws every point."""
    if len(X) <= MOST_POINTS:
        return X, values
    chosen = np.random.default_rng(0).choice(len(X), MOST_POINTS, replace=False)
    return X[chosen], values[chosen]
