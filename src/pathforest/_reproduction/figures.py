"""The figures of the report: SVG whose greys are variables of the page's style sheet, light or dark."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from pathforest._reproduction import statistics
from pathforest._reproduction.experiment import CLASSIFIERS, COMPETITIONS, dataset_title
from pathforest._reproduction.statistics import Summary
from pathforest._reproduction.tables import signed

# What is drawn in these becomes the variable of the page.
INK, MUTED, GRID, BAND = "#1b1f24", "#59636e", "#d9dee4", "#e6f0f7"
VARIABLES = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)", BAND: "var(--band)"}
# Okabe and Ito's palette, without its yellow, which is lost on white.
COLORS = dict(
    zip(CLASSIFIERS, ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK), strict=True)
)
MARKERS = dict(zip(CLASSIFIERS, "oDs^PX*", strict=True))
LOOK = {
    "svg.fonttype": "none", "svg.hashsalt": "pathforest", "font.family": "sans-serif", "font.size": 9,
    "text.color": INK, "text.parse_math": False, "axes.labelcolor": INK, "axes.edgecolor": GRID,
    "xtick.color": GRID, "ytick.color": GRID, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "axes.facecolor": "none", "figure.facecolor": "none", "grid.color": GRID, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "ytick.major.size": 0,
}  # fmt: skip
NOTES = ("Creator", "Date", "Format", "Type")  # of the program that draws
WIDTH = 5.0  # inches; the page stretches it to its own width
FARTHEST = 6.0  # standard errors; what is farther stands at the edge, and says so
SPREAD = 0.13  # of equal gains about their line
SPAN = 0.02  # of accuracy that the colours of a map cover at least, so that flat maps look flat
TIE = 1e-12  # means nearer than this are equal


def svg(name: str, summary: Summary, *args: Any) -> str:
    """Draw a figure of FIGURES; nothing is found in the file but shapes and texts."""
    with rc_context(LOOK):
        file = StringIO()
        FIGURES[name](summary, *args).savefig(file, format="svg", metadata=dict.fromkeys(NOTES))
    text = file.getvalue()[file.getvalue().index("<svg") :]
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    # A page has several figures, each with names of its own.
    mark = "-".join([name, *(re.sub(r"\W", "_", arg) for arg in args)])
    text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{mark}-", text)
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    return text


def agreement_figure(summary: Summary) -> Figure:
    """Draw z of every score, with the band in which scores agree."""
    table = summary.agreement
    names, classifiers = table["dataset"].unique().tolist()[::-1], table["classifier"].unique()
    axes = _rows(names, 0.36, "z, in standard errors")
    axes.axvspan(-statistics.AGREES, statistics.AGREES, color=BAND)
    axes.axvline(0, color=INK, linewidth=0.8, linestyle=":")
    for place, classifier in enumerate(classifiers):
        here = table[table["classifier"] == classifier]
        # Each classifier has a height of its own within the row, so that equal scores do not hide each other.
        height = 0.17 * ((len(classifiers) - 1) / 2 - place)
        y = np.array([names.index(name) + height for name in here["dataset"]])
        x, edge = here["z"].clip(-FARTHEST, FARTHEST).to_numpy(), (here["z"].abs() > FARTHEST).to_numpy()
        look = {"color": COLORS[classifier], "linestyle": "", "markersize": 5.5, "clip_on": False}
        axes.plot(x[~edge], y[~edge], MARKERS[classifier], label=CLASSIFIERS[classifier], **look)
        for z, end, row in zip(here["z"][edge], x[edge], y[edge], strict=True):
            axes.plot(end, row, ">" if z > 0 else "<", **look)
            axes.annotate(
                signed(z, 1), (end, row), (-6 if z > 0 else 6, 0), textcoords="offset points", fontsize=7,
                ha="right" if z > 0 else "left", va="center",
            )  # fmt: skip
    axes.set_xlim(-FARTHEST - 0.4, FARTHEST + 0.4)
    _legend(axes)
    return axes.figure


def gain_figure(summary: Summary) -> Figure:
    """Draw the difference in accuracy of each run, in points, and its mean."""
    names = summary.gains["dataset"].unique().tolist()[::-1]
    axes = _rows(names, 0.45, "gain over OPF, in points")
    axes.axvline(0, color=INK, linewidth=0.8, linestyle=":")
    axes.hlines(
        np.arange(1, len(names)) - 0.5, 0, 1, GRID, linewidth=0.8, transform=axes.get_yaxis_transform()
    )
    # Each competition has its half of a dataset's band.
    label = "mean"
    for classifier, gained in summary.gained.groupby("classifier"):
        half = 0.2 if classifier == "fuzzy_opf" else -0.2
        lines = gained.index.get_level_values("dataset").map(names.index) + half
        look = {"color": COLORS[classifier], "markersize": 3.5, "markeredgewidth": 0, "alpha": 0.6}
        runs = f"{CLASSIFIERS[classifier]}, one run"
        axes.plot(
            100 * gained, lines + _jitter(gained), MARKERS[classifier], linestyle="", label=runs, **look
        )
        means = summary.gains[summary.gains["classifier"] == classifier]
        lines = means["dataset"].map(names.index) + half
        look = {"color": INK, "markersize": 11, "markeredgewidth": 2}
        axes.plot(100 * means["gain"], lines, "|", linestyle="", label=label, **look)
        label = None  # in the legend once
    _legend(axes)
    return axes.figure


def _jitter(gained: pd.Series) -> np.ndarray:
    """Spread equal gains evenly about the line of their dataset, so that their number can be seen."""
    groups = gained.groupby([gained.index.get_level_values("dataset"), gained.round(9)])
    return SPREAD * (2 * (groups.cumcount() + 0.5) / groups.transform("size") - 1).to_numpy()


def landscape_figure(summary: Summary, dataset: str) -> Figure:
    """Draw the mean held-out accuracy of every cell, in the same colours; dots mark the best of both."""
    landscapes = summary.experiment.landscapes
    here = landscapes[landscapes["dataset"] == dataset]
    means = here.groupby(["competition", "sigma", "k_max"])["accuracy"].mean()
    maps = {name: means[name].unstack() for name in COMPETITIONS if name in means.index.unique(0)}
    heights, best = [len(table) for table in maps.values()], means.max()
    figure = Figure((3.4, 0.9 + 0.18 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(maps), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (name, table) in zip(panels, maps.items(), strict=True):
        low = min(means.min(), best - SPAN)
        image = axes.imshow(
            table, "cividis", aspect="auto", origin="lower", interpolation="none", vmin=low, vmax=best
        )
        row, column = np.nonzero(table.to_numpy() >= best - TIE)
        axes.plot(
            column, row, "o", color="#D55E00", markersize=3.5, markeredgecolor="white", markeredgewidth=0.6
        )
        axes.set_yticks(range(len(table)), [f"{sigma:g}" for sigma in table.index])
        axes.set_title(COMPETITIONS[name], fontsize=9, loc="left")
        axes.set(ylabel="σ")
    step = -(-len(table.columns) // 6)  # few labels, so that they fit a narrow page
    ticks = range(0, len(table.columns), step)
    panels[-1].set_xticks(ticks, [f"{table.columns[tick]:g}" for tick in ticks])
    panels[-1].set_xlabel("k_max")
    bar = figure.colorbar(image, ax=panels, aspect=30, format="{x:.3f}")
    bar.outline.set_visible(False)
    return figure


FIGURES = {"agreement": agreement_figure, "gains": gain_figure, "landscape": landscape_figure}


def _rows(names: list[str], height: float, label: str) -> Any:
    """Start a figure with a row for each name, the first at the bottom."""
    figure = Figure((WIDTH, 0.8 + height * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), [dataset_title(name) for name in names])
    axes.set(ylim=(-0.5, len(names) - 0.5), xlabel=label)
    axes.grid(axis="x")
    return axes


def _legend(axes: Any) -> None:
    axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
