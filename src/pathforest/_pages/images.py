"""Samples as small pictures: rows of pixels, or image files that a column names."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

SHAPE = re.compile(r"(\d{1,4})x(\d{1,4})(?:x([34]))?")
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")  # for some of the others Pillow starts programs
LARGEST = 30_000_000  # bytes of a file
SIDE = 112  # pixels of its picture

Show = Callable[[int], str | None]  # returns the image of a sample for a page, None if it has none


def parse_shape(text: str, n_features: int) -> tuple[int, ...]:
    """Read a shape such as 8x8, or 32x32x3 for colours; it must fit the features."""
    found = SHAPE.fullmatch(text.strip().lower())
    shape = tuple(int(part) for part in found.groups() if part) if found else ()
    if prod(shape) != n_features or not found:
        raise ValueError(
            f"--image-shape {text}: write HEIGHTxWIDTH, or HEIGHTxWIDTHx3 for colours, whose product is the "
            f"number of features, {n_features}"
        )
    return shape


def pixel_images(X: np.ndarray, shape: tuple[int, ...]) -> Show:
    """Show features as pixels, from black at the smallest value of all to white at the largest."""
    low, high = float(X.min()), float(X.max())
    span = max(high - low, np.finfo(float).tiny)
    image = _pillow()

    def show(row: int) -> str:
        levels = np.rint(255 * ((X[row] - low) / span)).astype(np.uint8)
        return _data_url(image.fromarray(levels.reshape(shape)), "png")

    return show


class FileImages:
    """Shows the files that samples name, if they lie below a folder: a table can name any file."""

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self._names, self._image, self.folder = names, _pillow(), folder.resolve(strict=True)
        self.asked: dict[str, str | None] = {}  # what was shown for each name

    def __call__(self, row: int) -> str | None:
        """Return the image of a sample."""
        name = self._names[row]
        if name not in self.asked:
            self.asked[name] = self._read(name)
        return self.asked[name]

    @property
    def counts(self) -> dict[str, Any]:
        """How many files were embedded, and from where; names of files that were not are left out."""
        embedded = sum(image is not None for image in self.asked.values())
        return {
            "folder": str(self.folder),
            "embedded": embedded,
            "left_out": len(self.asked) - embedded - ("" in self.asked),
        }

    def _read(self, name: str) -> str | None:
        try:
            path = (self.folder / name).resolve()  # links that lead out are outside
            if not (path.is_relative_to(self.folder) and path.is_file() and path.stat().st_size <= LARGEST):
                return None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", self._image.DecompressionBombWarning)
                with self._image.open(path, formats=FORMATS) as image:
                    image.thumbnail((SIDE, SIDE))
                    return _data_url(image.convert("RGB"), "jpeg")
        except Exception:  # whatever Pillow stumbles over in a damaged file
            return None


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("images need Pillow; run: pip install 'pathforest[images]'") from None
    return Image


def _data_url(image: Any, kind: str) -> str:
    image.info.clear()  # comments are private
    file = io.BytesIO()
    image.save(file, kind)
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"
