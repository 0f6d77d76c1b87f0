"""A map of the samples in two dimensions, drawn without a script, on which suspects stand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST = 2000  # samples that are drawn beside suspects
WIDTH, HEIGHT = 1000, 600  # steps of the map; the page stretches it
MARGIN = 20
TAIL = 0.5  # per cent of the samples at each end that may lie beyond the edge
COLOURS = 10  # of classes; more classes use them again, with square marks


class Map(NamedTuple):
    """Coordinates of the samples that are drawn."""

    rows: np.ndarray
    xy: np.ndarray  # (n_rows, 2) in the plane
    places: np.ndarray  # (n_rows, 2) on the map, whole steps
    axes: tuple[str, str]
    is_thinned: bool
    is_cut: bool  # whether some samples lie beyond the edge


def make_map(X: np.ndarray, features: Sequence[str], suspects: Sequence[int]) -> Map:
    """Put samples on a plane: two features as they are, or the two directions in which samples vary most."""
    others = np.setdiff1d(np.arange(len(X)), suspects)
    is_thinned = len(others) > MOST
    if is_thinned:
        others = np.sort(np.random.default_rng(0).choice(others, MOST, replace=False))
    rows = np.concatenate([others, np.asarray(suspects, dtype=np.intp)])
    xy, axes = plane(np.asarray(X[rows], dtype=np.float64), features)
    low, high = bounds(xy)
    is_cut = bool(((xy < low) | (xy > high)).any())
    share = np.clip((xy - low) / np.where(high > low, high - low, 1), 0, 1)
    share = np.where(high > low, share, 0.5)
    size = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    places = np.rint(MARGIN + np.column_stack([share[:, 0], 1 - share[:, 1]]) * size).astype(int)
    return Map(rows, xy, places, axes, is_thinned, is_cut)


def bounds(xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a map on which a few samples far out do not squeeze the others."""
    low, high = np.percentile(xy, [TAIL, 100 - TAIL], axis=0)
    reach = 0.25 * (high - low)  # this far beyond the bulk, every sample has its true place
    return np.maximum(low - reach, xy.min(axis=0)), np.minimum(high + reach, xy.max(axis=0))


def plane(samples: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, str]]:
    """Return coordinates in two dimensions, and what they are."""
    n, n_features = samples.shape
    if n_features <= 2:
        return np.column_stack([samples, np.zeros((n, 2 - n_features))]), (names[0], [*names, "nothing"][1])
    from sklearn.utils.extmath import randomized_svd  # all axes would take minutes if features are many

    centred = samples - samples.mean(axis=0)
    _, spread, axes = randomized_svd(centred, 2, n_iter=10, random_state=0)
    whole = max((centred**2).sum(), np.finfo(float).tiny)
    xy = np.column_stack([centred @ axes.T, np.zeros((n, 2 - len(axes)))])
    shares = [*(spread**2 / whole), 0.0][:2]
    return xy, tuple(f"principal component {i} ({s:.0%} of variance)" for i, s in enumerate(shares, 1))


def class_kind(code: int) -> str:
    """Return the style of a class: its colour, and square marks if the colours are used again."""
    square = " square" if code // COLOURS % 2 else ""
    return f"c{code % COLOURS}{square}"


def layers(drawn: Map, codes: np.ndarray, marked: Sequence[int]) -> list[tuple[str, str]]:
    """Return the style of each class, and the path that draws its samples but for those that are marked."""
    plain = ~np.isin(drawn.rows, marked)
    return [
        (class_kind(code), "".join(map(dot, drawn.places[plain & (codes[drawn.rows] == code)].tolist())))
        for code in np.unique(codes[drawn.rows]).tolist()
    ]


def dot(place: Sequence[int]) -> str:
    """Return the path of one sample: a line without length, whose ends are round."""
    return f"M{place[0]} {place[1]}h0"
