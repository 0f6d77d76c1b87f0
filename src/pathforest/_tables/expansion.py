"""A bound on what a compressed file may unpack to."""

from __future__ import annotations

# A small file can unpack to any size. Contents this small are always unpacked; larger ones must not be more
# than so many times as large as the file.
SMALL = 2**28
MOST_EXPANDED = 100


def check_expansion(unpacked: int, packed: int, way_out: str) -> None:
    """Refuse contents that are out of proportion to the file."""
    if unpacked > max(SMALL, MOST_EXPANDED * packed):
        raise ValueError(
            f"its {packed} bytes unpack to {unpacked} or more, over {MOST_EXPANDED} times as many; if you "
            f"trust the file, {way_out}"
        )
