"""The plane a picture is drawn on: two features, two principal components, or one feature and a height."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pathforest._utils.linear import principal_axes


class Plane(NamedTuple):
    """A linear map to two coordinates; for one feature the second is a height that comes with the samples."""

    centre: np.ndarray  # (n_columns,)
    axes: np.ndarray  # (n_columns, 2), or (1, 1) for one feature
    labels: tuple[str, str]
    fill: np.ndarray  # (n_columns,) where samples lie that lack a value

    def project(self, samples: np.ndarray, height: np.ndarray) -> np.ndarray:
        """Return (n, 2) coordinates; `height` counts for one feature only."""
        xy = (np.where(np.isnan(samples), self.fill, samples) - self.centre) @ self.axes
        return xy if xy.shape[1] == 2 else np.column_stack([xy, height])


def find_plane(samples: np.ndarray, names: Sequence[str], height: str) -> Plane:
    """Choose the plane that shows samples best; `height` names the second axis if there is one feature."""
    n_columns, known = samples.shape[1], ~np.isnan(samples)
    fill = np.nan_to_num(samples).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    if n_columns <= 2:
        return Plane(
            np.zeros(n_columns), np.eye(n_columns), (names[0], names[1] if n_columns == 2 else height), fill
        )
    samples = np.where(known, samples, fill)
    centre = samples.mean(axis=0)
    spread, axes = principal_axes(samples - centre)
    first = np.argsort(-spread, kind="stable")[:2]
    axes = np.column_stack([axes[:, first], np.zeros((n_columns, 2 - len(first)))])
    axes *= np.where(
        axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1
    )  # a sign is arbitrary; this one is stable
    shares = np.append(spread[first], [0, 0]) / max(spread.sum(), np.finfo(float).tiny)
    return Plane(
        centre,
        axes,
        tuple(f"principal component {i + 1} ({shares[i]:.0%} of variance)" for i in (0, 1)),
        fill,
    )
