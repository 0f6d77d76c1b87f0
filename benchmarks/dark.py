"""The dark version of a matplotlib figure, for pages in dark mode: the same drawing in other colours.

Paper and ink change places, greys between them too; hues stay and are lightened a little, which dark paper
needs. What is drawn by a colour map still stands out where it did: sequential maps of marks are reversed, and
images that fade to white fade to the paper.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

PAPER, INK = np.array([20, 24, 30]) / 255, np.array([230, 237, 243]) / 255  # the page's own, in dark mode
NEUTRAL = 0.1  # colours whose channels differ by less are greys
LIFT = 0.6  # share of a hue's blackness that is replaced by ink


def save_both(figure: Any, path: Path, **options: Any) -> None:
    """Save a figure, and its dark version beside it; the figure is dark afterwards."""
    figure.savefig(path, **options)
    darken(figure)
    figure.savefig(dark_path(path), facecolor=PAPER, **options)


def dark_path(path: Path) -> Path:
    """Name the dark version of a picture."""
    return path.with_stem(f"{path.stem}_dark")


def darken(figure: Any) -> None:
    """Change the colours of a figure to those of its dark version, in place."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Annotation, Text

    figure.draw_without_rendering()  # ticks exist from now on
    kept = _over_color_maps(figure)
    for ax in figure.axes:
        if ax.get_label() != "<colorbar>":  # it follows what it explains
            for drawn in (*ax.images, *ax.collections):
                _change_color_map(drawn)
    for artist in figure.findobj():
        if artist in kept:
            continue
        if isinstance(artist, Text):
            artist.set_color(_of_a_mark(artist.get_color()))
            if artist.get_path_effects():
                artist.set_path_effects([withStroke(linewidth=2.5, foreground=PAPER)])
            if isinstance(artist, Annotation) and artist.arrow_patch is not None:
                _change(artist.arrow_patch, "facecolor", "edgecolor")
        elif isinstance(artist, Line2D):
            _change(artist, "color", "markerfacecolor", "markeredgecolor")
        elif isinstance(artist, Patch):
            _change(artist, "facecolor", "edgecolor")
        elif isinstance(artist, Collection):
            mapped = artist.get_array() is not None
            _change(artist, *(["edgecolor"] if mapped else ["facecolor", "edgecolor"]))


def _over_color_maps(figure: Any) -> set[Any]:
    """Return the texts that were given a colour to be read on an image, which keeps its own."""
    return {
        text
        for ax in figure.axes
        if any(image.get_array().ndim == 2 and not _fades(image.cmap) for image in ax.images)
        for text in ax.texts
    }


def _change(artist: Any, *names: str) -> None:
    """Change colours of an artist; "none" and the like have no channels and stay."""
    # All are read before one is changed: the colours of a line's marks may follow that of the line.
    for name, color in [(name, getattr(artist, f"get_{name}")()) for name in names]:
        if not isinstance(color, str) or color not in ("none", "auto", "face"):
            getattr(artist, f"set_{name}")(_of_a_mark(color))


def _change_color_map(drawn: Any) -> None:
    """Change the colours of an image, or of marks that are coloured by value."""
    from matplotlib.colors import ListedColormap
    from matplotlib.image import AxesImage

    values = drawn.get_array()
    if values is None:
        return
    if not isinstance(drawn, AxesImage):
        drawn.set_cmap(drawn.cmap.reversed())
    elif values.ndim == 3:
        drawn.set_data(_of_an_image(np.asarray(values)))
    elif _fades(drawn.cmap):
        drawn.set_cmap(ListedColormap(_of_an_image(drawn.cmap(np.linspace(0, 1, 256)))))


def _fades(cmap: Any) -> bool:
    """Tell whether one end of a colour map is the white of the paper."""
    return max(min(cmap(0.0)), min(cmap(1.0))) > 0.9


def _of_a_mark(color: Any) -> Any:
    """Return the dark versions of one colour or several: of lines, marks and texts."""
    from matplotlib.colors import to_hex, to_rgba_array

    rgba = to_rgba_array(color)
    white, black = _white_and_black(rgba)
    grey = np.ptp(rgba[:, :3], axis=1, keepdims=True) < NEUTRAL
    rgba[:, :3] = np.where(grey, white * PAPER + black * INK, np.minimum(rgba[:, :3] + LIFT * black * INK, 1))
    return rgba if np.ndim(color) == 2 else to_hex(rgba[0], keep_alpha=True)


def _of_an_image(pixels: np.ndarray) -> np.ndarray:
    """Return pixels with paper in place of their white and ink in place of their black; alpha stays."""
    result = np.asarray(pixels / 255 if pixels.dtype == np.uint8 else pixels, dtype=float).copy()
    white, black = _white_and_black(result)
    result[..., :3] = result[..., :3] - white * (1 - PAPER) + black * INK
    return np.clip(result, 0, 1)


def _white_and_black(colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of white and black in colours, as in HWB."""
    return colors[..., :3].min(axis=-1, keepdims=True), 1 - colors[..., :3].max(axis=-1, keepdims=True)
