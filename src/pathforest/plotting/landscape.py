"""The landscape of a search: its mean score over k_max and sigma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pathforest.plotting._axes import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TIE = 1e-12  # scores nearer than this are equal
WIDEST = 12  # columns up to which every cell has its number


def plot_landscape(
    results: Mapping[str, Any], best: Mapping[str, Any], *, figure: Figure | None = None
) -> Figure:
    """Draw the mean score over k_max and sigma, one panel per competition.

    Parameters
    ----------
    results : dict
        `cv_results_` of a fitted search.
    best : dict
        `best_params_` of the same search; its cell is marked.
    figure : matplotlib.figure.Figure, default=None
        Figure or subfigure to draw into, best with ``layout="constrained"``. None makes a new one, of a size
        that suits the grid and outside pyplot: save it, or let a notebook show it.

    Returns
    -------
    figure : matplotlib.figure.Figure
        A grid search as a map with a number in every cell; a search by trials as points. Of the other
        parameters, such as the number of conquerors, each place shows the best value. Places that share the
        best score of all have a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest import FuzzyOPFClassifierCV
    >>> from pathforest.plotting import plot_landscape
    >>> X, y = load_iris(return_X_y=True)
    >>> search = FuzzyOPFClassifierCV(k_max=(5, 10), sigmas=(0.8, 1.0), cv=3).fit(X, y)
    >>> figure = plot_landscape(search.cv_results_, search.best_params_)
    >>> figure.axes[0].get_title()
    'competition="tree"'
    """
    check_matplotlib()
    k_max, sigma = (np.asarray(results[f"param_{name}"]) for name in ("k_max", "sigma"))
    competition = np.asarray(results["param_competition"])
    score = np.asarray(results["mean_test_score"], dtype=float)
    if np.isnan(score).all():
        raise ValueError("every mean score is nan, which leaves nothing to draw; check scoring and the folds")
    names = list(dict.fromkeys(competition.tolist()))
    sizes, factors = np.unique(k_max), np.unique(sigma)
    is_grid = len(sizes) * len(factors) * len(names) <= 2 * len(score)
    if figure is None:
        figure = _new_figure(_size(len(sizes), len(factors), len(names), is_grid))
    limits = np.nanmin(score), np.nanmax(score)
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        here = competition == name
        if is_grid:
            values = _best_values(k_max[here], sigma[here], score[here], sizes, factors)
            drawn = _draw_map(axes, values, sizes, factors, limits)
        else:
            drawn = _draw_points(axes, k_max[here], sigma[here], score[here], limits)
        axes.set(title=f'competition="{name}"', xlabel="k_max")
        if name == best["competition"]:
            _mark_best(axes, best, sizes, factors, is_grid)
    panels[0].set_ylabel("sigma")
    tied = int(np.sum(score >= limits[1] - TIE))
    figure.colorbar(drawn, ax=list(panels), label="mean score of the folds")
    rest = {key: value for key, value in best.items() if key not in ("k_max", "sigma", "competition")}
    others = ", ".join(f"{key}={value}" for key, value in rest.items())
    figure.suptitle(
        f"best {limits[1]:.4f}, shared by {tied} of {len(score)} cells; chosen: {others}", fontsize=10
    )
    return figure


def _new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure outside pyplot, which need not be closed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _size(n_sizes: int, n_factors: int, n_panels: int, is_grid: bool) -> tuple[float, float]:
    width = np.clip(0.62 * n_sizes, 2.6, 9) if is_grid else 4.5
    height = np.clip(0.45 * n_factors + 1.7, 3, 8) if is_grid else 4
    return float(n_panels * width + 2.2), float(height)


def _best_values(
    k_max: np.ndarray, sigma: np.ndarray, score: np.ndarray, sizes: np.ndarray, factors: np.ndarray
) -> np.ndarray:
    """Best score at each (sigma, k_max), over all other parameters; nan if there is none."""
    values = np.full((len(factors), len(sizes)), -np.inf)
    np.fmax.at(values, (np.searchsorted(factors, sigma), np.searchsorted(sizes, k_max)), score)
    return np.where(np.isfinite(values), values, np.nan)


def _draw_map(
    axes: Axes, values: np.ndarray, sizes: np.ndarray, factors: np.ndarray, limits: Sequence[float]
) -> Any:
    """Draw one cell per place, with its score; those that share the best have a frame."""
    from matplotlib.patches import Rectangle

    image = axes.imshow(
        values, cmap="viridis", vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto"
    )  # places are evenly spaced, whatever their values
    axes.set_xticks(range(len(sizes)), [f"{size:g}" for size in sizes])
    axes.set_yticks(range(len(factors)), [f"{factor:g}" for factor in factors])
    middle = (limits[0] + limits[1]) / 2
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        if len(sizes) <= 2 * WIDEST:
            color = "white" if value < middle else "black"
            size = 7 if len(sizes) <= WIDEST else 6
            axes.text(
                column, row, f"{value:.3f}".lstrip("0"), ha="center", va="center", fontsize=size, color=color
            )
        if value >= limits[1] - TIE:
            axes.add_patch(
                Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor="#D55E00", lw=1.4)
            )
    return image


def _draw_points(
    axes: Axes, k_max: np.ndarray, sigma: np.ndarray, score: np.ndarray, limits: Sequence[float]
) -> Any:
    """Draw one point per trial, the better ones on top."""
    order = np.argsort(score, kind="stable")
    axes.grid(alpha=0.3)
    return axes.scatter(
        k_max[order], sigma[order], c=score[order], cmap="viridis", vmin=limits[0], vmax=limits[1], s=36,
        edgecolors="white", linewidths=0.4,
    )  # fmt: skip


def _mark_best(
    axes: Axes, best: Mapping[str, Any], sizes: np.ndarray, factors: np.ndarray, is_grid: bool
) -> None:
    """Put a ring around the cell that was chosen."""
    x, y = best["k_max"], best["sigma"]
    if is_grid:
        x, y = np.searchsorted(sizes, x), np.searchsorted(factors, y)
    axes.plot(x, y, "o", markersize=21, markerfacecolor="none", markeredgecolor="#D55E00", markeredgewidth=2)
