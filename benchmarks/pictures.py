"""One picture for light and dark pages: no paper of its own, and ink that is seen on both."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

INK = "#808080"  # contrast of 3.9 with white and of 4.5 with the dark theme's page
STYLE = {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none"),
    "grid.color": INK,
    "legend.edgecolor": INK,
    "lines.color": INK,
    "patch.edgecolor": INK,
}


def save(fill: Callable[[Any], None], path: Path, size: tuple[float, float], dpi: int = 150) -> None:
    """Save a new figure that a function fills, in as few colours as do."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        fill(figure)
        figure.savefig(path, dpi=dpi)
    shrink(path)


def shrink(path: Path) -> None:
    """Store a picture with a palette of 256 colours: a third of the size, and no difference to be seen."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGBA").quantize(256, method=Image.Quantize.FASTOCTREE)
    small.save(path, optimize=True)
