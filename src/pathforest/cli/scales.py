"""Features of very different scales: a warning, and a way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import typer

from pathforest.cli.errors import UsageError

FACTOR = 30  # between the widest and the narrowest feature, from which on we warn


def set_scale(model: Any) -> None:
    """Let a search standardise its samples."""
    from sklearn.preprocessing import StandardScaler

    params = model.get_params(deep=False)
    if "transforms" not in params:
        name = type(model).__name__
        raise UsageError(
            f"--scale: {name} has no transforms; use fuzzy-cv, or convert --normalize before the split"
        )
    if params["transforms"] is not None:
        raise UsageError("--scale: not with --set transforms; choose one of them")
    model.set_params(transforms=[StandardScaler()])


def warn_scales(model: Any, X: np.ndarray, names: Sequence[str]) -> None:
    """Say so if one feature is likely to drown the others."""
    params = model.get_params(deep=False)
    spans = np.ptp(X, axis=0)
    moving = np.flatnonzero(spans > 0)  # constant features have no scale
    if params.get("metric") == "precomputed" or params.get("transforms") is not None or len(moving) < 2:
        return
    narrow, wide = moving[spans[moving].argmin()], moving[spans[moving].argmax()]
    if spans[wide] <= FACTOR * spans[narrow]:
        return
    way_out = "--scale evens them out"
    if "transforms" not in params:  # scaled apart, two files would no longer be comparable
        way_out = "convert --normalize evens them out, for training and new samples in one file"
    typer.echo(
        f"pathforest: warning: features differ in scale ({names[narrow]!r} spans {spans[narrow]:.4g}, "
        f"{names[wide]!r} {spans[wide]:.4g}); {way_out}",
        err=True,
    )
