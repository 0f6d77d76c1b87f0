"""What pictures share: axes, colours, legends, the plane samples are drawn on, numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pathforest._search.transformers import principal_axes
from pathforest._utils.text import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:  # matplotlib is imported when something is drawn
    Axes = Figure = Any

RASTER = 5_000  # samples from which vector formats store them as pixels: they would take megabytes
# Okabe and Ito's palette, which colour-blind readers can tell apart, those that show best first; its black,
# which is lost on dark paper, is a violet here. Then a grey and a brown, because ten classes are common.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00",
    "#56B4E9", "#F0E442", "#7A52B3", "#999999", "#A0522D",
)  # fmt: skip
INK, MARK = "#808080", "#D55E00"  # seen on white and on black
DENSITY = "cividis_r"  # darker is denser
LABEL_DISTANCE = 15  # points from a label's centre to what it names
LABEL_ANGLES = np.linspace(0, 2 * np.pi, 16, endpoint=False)


class Display:
    """A picture that was drawn; the function that drew it says what else it has.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the picture.
    figure_ : matplotlib.figure.Figure
        Their figure.
    title_ : str
        The title of the picture.
    """

    def __init__(self, ax: Axes, title: str | None = None, **drawn: Any) -> None:
        self.ax_, self.figure_, self.title_ = ax, ax.figure, ax.get_title() if title is None else title
        vars(self).update(drawn)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        # One line, because a notebook shows it above the picture.
        title = self.title_.replace("\n", ", ")
        return f"<Display{title and ': '}{title}>"


def check_matplotlib() -> None:
    """Say how to install matplotlib if it is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("the figure needs matplotlib; run pip install 'pathforest[plot]'") from None


def axes_or_new(ax: Any, **options: Any) -> Any:
    """Return the axes given, or those of a new figure with these options."""
    check_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained", **options)
    return ax


def two_axes(ax: Any, with_second: bool = True) -> tuple[Axes, Axes | None]:
    """Return the axes of the picture and those beside it, if there are any."""
    second = {"ncols": 2, "figsize": (10, 4.4), "width_ratios": [5, 4]} if with_second else {}
    pair = np.ravel(axes_or_new(ax, **second))
    if len(pair) > 2:
        raise ValueError(
            f"ax has {len(pair)} axes; pass one for the picture, or two with the curve beside it"
        )
    return pair[0], pair[1] if len(pair) == 2 and with_second else None


def ink() -> Any:
    """Return the colour of text, black unless a style of matplotlib says otherwise."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def ring(size: float = 8.0, width: float = 1.0) -> dict[str, Any]:
    """Return how a line of one point draws a prototype."""
    return {
        "ls": "", "marker": "o", "markerfacecolor": "none", "markeredgecolor": ink(),
        "markersize": size, "markeredgewidth": width,
    }  # fmt: skip


def class_colors(n_classes: int) -> np.ndarray:
    """Return one RGB colour per class: the palette, or a colour map if it is too short."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba_array

    if n_classes <= len(PALETTE):
        return to_rgba_array(PALETTE[:n_classes])[:, :3]
    return colormaps["turbo"](np.linspace(0.05, 0.95, n_classes))[:, :3]


def class_codes(labels: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the position of each label in `classes`; refuse labels that are not there."""
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"y has shape {labels.shape}; it needs one label for each of the {n_samples} samples"
        )
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y contains {show(labels[unknown].tolist()[0])}, which is none of the model's classes; those "
            f"are {show(classes.tolist())}"
        )
    return np.searchsorted(classes, labels)


def add_legend(ax: Axes, names: Sequence[Any], colors: np.ndarray, marks: dict[str, dict[str, Any]]) -> None:
    """Put a legend to the right of the axes, where it covers no data: up to ten classes, then marks."""
    from matplotlib.lines import Line2D

    dot = {"ls": "", "marker": "o", "markeredgecolor": ax.get_facecolor(), "markersize": 7}
    known = zip(names, colors, strict=True) if len(names) <= len(PALETTE) else ()
    handles = [Line2D([], [], color=color, label=str(name), **dot) for name, color in known]
    handles += [Line2D([], [], label=name, **style) for name, style in marks.items()]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, handlelength=1.2)


class Plane(NamedTuple):
    """Two features, two principal components, or one feature and a height that comes with the samples."""

    centre: np.ndarray  # (n_columns,)
    axes: np.ndarray  # (n_columns, 2), or (1, 1) for one feature
    labels: tuple[str, str]
    fill: np.ndarray  # (n_columns,) where samples lie that lack a value

    def project(self, samples: np.ndarray, height: Any) -> np.ndarray:
        """Return (n, 2) coordinates; `height` counts for one feature only."""
        xy = (np.where(np.isnan(samples), self.fill, samples) - self.centre) @ self.axes
        return xy if xy.shape[1] == 2 else np.column_stack([xy, np.broadcast_to(height, len(xy))])

    def name(self, ax: Axes) -> None:
        """Label the axes."""
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])


def find_plane(samples: np.ndarray, names: Sequence[str], height: str) -> Plane:
    """Choose the plane that shows samples best; `height` names the second axis if there is one feature."""
    n_columns, known = samples.shape[1], ~np.isnan(samples)
    fill = np.nan_to_num(samples).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    if n_columns <= 2:
        return Plane(np.zeros(n_columns), np.eye(n_columns), (*names, height)[:2], fill)
    samples = np.where(known, samples, fill)
    centre = samples.mean(axis=0)
    spread, axes = principal_axes(samples - centre)
    first = np.argsort(-spread, kind="stable")[:2]
    axes = np.column_stack([axes[:, first], np.zeros((n_columns, 2 - len(first)))])
    # The sign of a component is arbitrary; this one is stable.
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    shares = np.append(spread[first], [0, 0]) / max(spread.sum(), np.finfo(float).tiny)
    labels = tuple(f"principal component {i + 1} ({shares[i]:.0%} of variance)" for i in (0, 1))
    return Plane(centre, axes, labels, fill)


def marker_size(n_samples: int) -> float:
    """Area of one sample, smaller the more there are."""
    return float(np.clip(9000 / n_samples, 3, 30))


def draw_forest(
    ax: Axes, xy: np.ndarray, predecessor: np.ndarray, samples: Any, paths: np.ndarray, alpha: float = 1.0
) -> dict[str, Any]:
    """Draw samples, in colours or by numbers, arcs to predecessors in colours, and rings around roots."""
    from matplotlib.collections import LineCollection

    child, raster = np.flatnonzero(predecessor >= 0), len(xy) > RASTER
    size, is_scale = marker_size(len(xy)), np.ndim(samples) == 1
    arcs = LineCollection(
        np.stack([xy[child], xy[predecessor[child]]], axis=1), colors=paths[child],
        linewidths=0.6 + size / 50, alpha=(0.4 if is_scale else 0.7) * alpha, zorder=2, rasterized=raster,
    )  # fmt: skip
    ax.add_collection(arcs)
    edges = {"edgecolors": [ax.get_facecolor()], "linewidths": size / 75, "alpha": alpha}
    if is_scale:
        edges = {"edgecolors": "#555555", "linewidths": 0.3, "cmap": DENSITY}
    points = ax.scatter(*xy.T, s=size, c=samples, zorder=3, rasterized=raster, **edges)
    rings = ax.scatter(
        *xy[predecessor < 0].T, s=size + 25, facecolors="none", edgecolors=ink(), linewidths=1.1,
        alpha=alpha, zorder=4, rasterized=raster,
    )  # fmt: skip
    return {"samples_": points, "paths_": arcs, "prototypes_": rings}


def place_labels(ax: Axes, labels: Sequence[tuple[np.ndarray, str, Any]], obstacles: np.ndarray) -> None:
    """Write, when all else is drawn, each (position, text, colour) on the side farthest from all else."""
    from matplotlib.patheffects import withStroke

    ax.autoscale_view()  # moves no limits that were set
    taken = ax.transData.transform(obstacles)
    reach = LABEL_DISTANCE * ax.figure.dpi / 72
    sides = np.column_stack([1.5 * np.cos(LABEL_ANGLES), np.sin(LABEL_ANGLES)])  # texts are wider than high
    inside, outline = ax.bbox.padded(-reach / 2), [withStroke(linewidth=2.5, foreground=ax.get_facecolor())]
    for position, text, color in labels:
        places = ax.transData.transform(position) + reach * sides
        gaps = np.linalg.norm((places[:, None] - taken) / [1.5, 1], axis=2).min(axis=1)
        best = np.argmax(np.where([inside.contains(*place) for place in places], gaps, -1))
        taken = np.vstack([taken, places[best]])
        ax.annotate(
            text, position, LABEL_DISTANCE * sides[best], textcoords="offset points", ha="center",
            va="center", fontsize=8.5, color=color, zorder=9, path_effects=outline,
        )  # fmt: skip
