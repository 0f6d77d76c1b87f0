"""Samples as small pictures: rows of pixels, or files that a column names."""

from __future__ import annotations

import base64
import io
import re
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from math import isqrt, prod
from pathlib import Path

import numpy as np

SMALLEST = 36  # features of a table that is taken for square images without being asked
NUMBERED = re.compile(r"\D*\d+(\D+\d+)?\D*")  # names such as 17, pixel17, f17 or pixel_1_7
SHAPE = re.compile(r"(\d{1,4})x(\d{1,4})(?:x([34]))?")
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
STARTS = {  # how the files start that every browser shows, and what they are
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF8": "gif",
}
THUMB = 112  # pixels of a picture made smaller
LARGEST = 24_000  # bytes of a picture that is taken as it is

Shape = tuple[int, ...]  # height, width and, for colours, channels


def parse_shape(text: str, n_features: int) -> Shape:
    """Read a shape such as 8x8, or 32x32x3 for colours; it must fit the features."""
    found = SHAPE.fullmatch(text.strip().lower())
    shape = tuple(int(part) for part in found.groups() if part) if found else ()
    if prod(shape) != n_features or not found:
        raise ValueError(
            f"--image-shape {text}: write HEIGHTxWIDTH, or HEIGHTxWIDTHx3 for colours, whose product is the "
            f"number of features, {n_features}"
        )
    return shape


def guess_shape(X: np.ndarray, names: Sequence[str]) -> Shape | None:
    """Return the shape of square grey images if features look like their pixels.

    Pixels are whole numbers from 0 to 255 and have numbered names.
    """
    n_features = X.shape[1]
    side = isqrt(n_features)
    if n_features < SMALLEST or side**2 != n_features or not all(map(NUMBERED.fullmatch, names)):
        return None
    first = X[:1000]
    are_pixels = first.min() >= 0 and 2 <= first.max() <= 255 and (first == np.floor(first)).all()
    return (side, side) if are_pixels else None


def pixel_image(pixels: np.ndarray, shape: Shape, smallest: float, largest: float) -> str:
    """Return pixels as an image for a page, from black at `smallest` to white at `largest`."""
    span = max(largest - smallest, np.finfo(float).tiny)
    levels = np.rint(255 * ((pixels - smallest) / span)).astype(np.uint8)
    return _data_url("png", _png(levels.reshape(shape)))


def _png(pixels: np.ndarray) -> bytes:
    """Write a PNG file: grey, RGB or RGBA, 8 bits."""
    height, width = pixels.shape[:2]
    colour = {1: 0, 3: 2, 4: 6}[prod(pixels.shape[2:])]
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # filter 0: bytes as they are

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )


def _data_url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def names_images(cells: Sequence[str]) -> bool:
    """Return whether cells are names of image files."""
    return len(cells) > 0 and all(cell.lower().endswith(ENDINGS) for cell in cells[:100])


def file_image(folder: Path, name: str) -> str | None:
    """Return an image file for a page, made smaller if Pillow is installed; None if it cannot be shown."""
    try:
        data = (folder / name).read_bytes()
    except (OSError, ValueError):
        return None
    with suppress(Exception):  # Pillow is missing, or does not understand the file
        from PIL import Image

        with Image.open(io.BytesIO(data)) as image:
            image.thumbnail((THUMB, THUMB))
            made = io.BytesIO()
            image.convert("RGB").save(made, "JPEG", quality=80)
        return _data_url("jpeg", made.getvalue())
    kind = next((kind for start, kind in STARTS.items() if data.startswith(start)), None)
    return _data_url(kind, data) if kind is not None and len(data) <= LARGEST else None
