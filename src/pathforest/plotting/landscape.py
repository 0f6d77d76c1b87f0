"""The landscape of a search: its scores over the two parameters that matter most, and what each is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pathforest.plotting._draw import MARK, PALETTE, Axes, Display, Figure, check_matplotlib, ring

TIE = 1e-12  # scores nearer than this are equal
WIDEST = 12  # columns up to which every cell has its number
NUMBERS = ("k_max", "sigma", "n_conquerors")  # parameters for axes
NAMES = ("competition", "transform")  # parameters for panels
MOST_PANELS = 3
BARS_WIDTH = 2.4  # inches


def plot_landscape(search: Any, *, figure: Figure | None = None) -> Display:
    """Draw the mean scores of a search over the two parameters that matter most, and what each is worth.

    Parameters
    ----------
    search : FuzzyOPFClassifierCV
        A fitted search; also at the end of a pipeline.
    figure : matplotlib.figure.Figure, default=None
        Figure or subfigure to draw into, best with ``layout="constrained"``. None makes a new one, of a size
        that suits the grid.

    Returns
    -------
    display : Display
        With `axes_`, the list of panels, and `worth_ax_`, the axes of the bars.

    Notes
    -----
    There is a panel for each competition if there are several, else for each of the three best
    representations. Of the parameters that are not shown, each place has the best value. Places that share
    the best score of all have a frame, and the cell chosen has a ring. The bars on the right show how much a
    parameter matters: what its worst value loses if all others stay as chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest import FuzzyOPFClassifierCV
    >>> from pathforest.plotting import plot_landscape
    >>> X, y = load_iris(return_X_y=True)
    >>> search = FuzzyOPFClassifierCV(k_max=(5, 10), sigmas=(0.8, 1.0), transforms=None, cv=3).fit(X, y)
    >>> display = plot_landscape(search)
    >>> display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()
    ('n_conquerors', 'k_max')
    """
    check_matplotlib()
    while isinstance(search, Pipeline):
        search = search[-1]
    check_is_fitted(search, "cv_results_")
    results, best = search.cv_results_, search.best_params_
    score = np.asarray(results["mean_test_score"], dtype=float)
    if np.isnan(score).all():
        raise ValueError("every mean score is nan, which leaves nothing to draw; check scoring and the folds")
    names = [name for name in (*NUMBERS, *NAMES) if f"param_{name}" in results]
    values = {name: np.asarray(results[f"param_{name}"]) for name in names}
    worth = {name: _worth(name, values, score, best) for name in names}
    ranked = sorted(NUMBERS, key=lambda name: (len(np.unique(values[name])) == 1, -worth[name]))
    # The one with more values goes along the wide side.
    x, y = sorted(ranked[:2], key=lambda name: -len(np.unique(values[name])))
    by, panels = _panels(values, worth, score, best)
    columns, rows = np.unique(values[x]), np.unique(values[y])
    width, height = np.clip(0.55 * len(columns), 2.4, 9), np.clip(0.45 * len(rows) + 2.0, 3.2, 8)  # inches
    if figure is None:
        import matplotlib.pyplot as plt

        size = len(panels) * width + BARS_WIDTH + 1.6, height
        figure = plt.figure(figsize=size, layout="constrained")
    seen = score[np.isin(values[by], panels)] if by else score  # colours are for the differences in sight
    limits = np.nanmin(seen), np.nanmax(score)
    ratios = [*[width] * len(panels), BARS_WIDTH]
    *maps, beside = figure.subplots(1, len(ratios), squeeze=False, width_ratios=ratios)[0]
    for axes, name in zip(maps, panels, strict=True):
        here = np.ones(len(score), dtype=bool) if by is None else values[by] == name
        tops = np.full((len(rows), len(columns)), -np.inf)  # of each place, over all other parameters
        place = np.searchsorted(rows, values[y][here]), np.searchsorted(columns, values[x][here])
        np.fmax.at(tops, place, score[here])
        drawn = _draw_map(axes, tops, columns, rows, limits)
        axes.set(xlabel=x, ylabel=y, title="" if by is None else f'{by}="{name}"')
        if by is None or name == best[by]:
            chosen = np.searchsorted(columns, best[x]), np.searchsorted(rows, best[y])
            axes.plot(*chosen, **{**ring(21, 2), "markeredgecolor": MARK})
        axes.label_outer()
    figure.colorbar(drawn, ax=maps, label="mean score of the folds")
    _draw_worth(beside, worth, {x, y, by})
    tied = int(np.sum(score >= limits[1] - TIE))
    shown = (f"{value:.3g}" if isinstance(value, float) else value for value in best.values())
    choice = ", ".join(f"{key}={value}" for key, value in zip(best, shown, strict=True))
    title = f"best {limits[1]:.4f}, shared by {tied} of {len(score)} cells"
    figure.suptitle(f"{title}\nchosen: {choice}", fontsize=10)
    return Display(maps[0], title, axes_=maps, worth_ax_=beside)


def _worth(name: str, values: Mapping[str, np.ndarray], score: np.ndarray, best: Mapping[str, Any]) -> float:
    """Return how much a parameter matters: the range of scores along it, through the chosen cell."""
    others = [values[other] == best[other] for other in values if other != name]
    along = np.all([*others, ~np.isnan(score)], axis=0)
    return float(np.ptp(score[along]))


def _panels(
    values: Mapping[str, np.ndarray], worth: Mapping[str, float], score: np.ndarray, best: Mapping[str, Any]
) -> tuple[str | None, list[Any]]:
    """Choose the parameter of the panels, if one has several values, and which of them are shown."""
    for by in NAMES:
        names = list(dict.fromkeys(values[by].tolist())) if by in values else []
        if len(names) > 1:
            tops = {name: np.nanmax(score[values[by] == name], initial=-np.inf) for name in names}
            leading = sorted(names, key=lambda name: (name != best[by], -tops[name]))[:MOST_PANELS]
            return by, [name for name in names if name in leading]
    return None, [None]


def _draw_map(
    axes: Axes, values: np.ndarray, columns: np.ndarray, rows: np.ndarray, limits: Sequence[float]
) -> Any:
    """Draw one cell per place, with its score; those that share the best have a frame."""
    from matplotlib.patches import Rectangle

    values = np.where(np.isfinite(values), values, np.nan)
    image = axes.imshow(
        values, cmap="viridis", vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto"
    )  # places are evenly spaced, whatever their values
    axes.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    axes.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    middle = (limits[0] + limits[1]) / 2
    for (row, column), value in np.ndenumerate(values):
        if len(columns) <= 2 * WIDEST and not np.isnan(value):
            color = "white" if value < middle else "black"
            size = 7 if len(columns) <= WIDEST else 6
            axes.text(
                column, row, f"{value:.3f}".lstrip("0"), ha="center", va="center", fontsize=size, color=color
            )
        if value >= limits[1] - TIE:
            axes.add_patch(
                Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor=MARK, lw=1.4)
            )
    return image


def _draw_worth(axes: Axes, worth: Mapping[str, float], shown: set[str | None]) -> None:
    """Draw a bar per parameter, the most important on top; those with one value have none."""
    names = sorted(worth, key=lambda name: worth[name])
    axes.barh(names, [worth[name] for name in names], color=[PALETTE[5 if n in shown else 8] for n in names])
    axes.set(title="what matters", xlabel="score lost by the worst value")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.25)
    axes.locator_params(axis="x", nbins=3)
    for place, name in enumerate(names):
        axes.text(worth[name], place, f" {worth[name]:.3f}", va="center", fontsize=8)
