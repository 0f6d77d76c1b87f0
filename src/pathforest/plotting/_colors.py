"""Colours of classes and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathforest._utils.show import show

# Okabe and Ito's palette, which colour-blind readers can tell apart, those that show best on white first;
# then a grey and a brown, because ten classes are common.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00",
    "#56B4E9", "#F0E442", "#000000", "#999999", "#7F3C00",
)  # fmt: skip


def class_colors(n_classes: int) -> np.ndarray:
    """Return one RGB colour per class: the palette, or where it is too short a colour map."""
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
