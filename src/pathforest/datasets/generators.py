"""Look-alikes of three published sets in the plane, drawn from their geometry, of any size."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pathforest._utils.checks import demand, random_generator

# Bands of four_class as (class, width, corners), read off the published set by eye.
BANDS = (
    (-1, 16, ((22, 186), (20, 160), (16, 140), (15, 116))),
    (-1, 17, ((39, 182), (46, 155))),
    (-1, 19, ((46, 155), (66, 147), (75, 133))),
    (-1, 20, ((75, 133), (98, 135), (119, 124), (134, 108), (137, 84))),
    (-1, 24, ((30, 108), (48, 116), (45, 90))),
    (-1, 22, ((52, 108), (75, 96), (112, 96))),
    (-1, 21, ((28, 92), (30, 60), (40, 42), (60, 38))),
    (-1, 22, ((60, 38), (70, 52), (100, 40), (118, 24))),
    (-1, 14, ((120, 174), (136, 176), (152, 182))),
    (-1, 14, ((152, 182), (172, 173), (187, 155))),
    (1, 17, ((86, 172), (94, 158), (124, 149))),
    (1, 17, ((124, 149), (152, 143), (168, 126))),
    (1, 15, ((168, 126), (178, 110), (176, 60), (175, 20))),
    (1, 16, ((58, 74), (80, 73), (109, 70))),
    (1, 18, ((109, 70), (135, 50), (147, 30), (175, 22))),
)


def make_boat(
    n_samples: int = 100, *, noise: float = 0.05, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a disc and a square inside an ellipse, like the set `boat`.

    Parameters
    ----------
    n_samples : int, default=100
        Number of samples, a third of them in each class.
    noise : float, default=0.05
        Standard deviation of the distance from the ellipse.
    random_state : int, RandomState or None, default=0
        Decides the samples; None draws others every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Samples, class after class.
    y : ndarray of shape (n_samples,)
        Labels: 1 the disc around (-1.5, 0), 2 the square from (0.9, -1) to (2.9, 1), 3 the ellipse around
        (0, 0), of half axes 5 and 2.

    Examples
    --------
    >>> from pathforest.datasets import make_boat
    >>> X, y = make_boat(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [1, 2, 3])
    """
    rng, y = _start(n_samples, {1: 33, 2: 33, 3: 34}, noise, random_state)
    disc, square, ellipse = (np.sum(y == label) for label in (1, 2, 3))
    angle = rng.uniform(0, 2 * np.pi, ellipse)
    around = np.column_stack([5 * np.cos(angle), 2 * np.sin(angle)])
    X = np.concatenate(
        [
            # The square root spreads samples evenly over the disc.
            [-1.5, 0] + _polar(np.sqrt(rng.random(disc)), rng.uniform(0, 2 * np.pi, disc)),
            rng.uniform([0.9, -1], [2.9, 1], (square, 2)),
            around + rng.normal(0, noise, (ellipse, 2)),
        ]
    )
    return X, y


def make_cone_torus(
    n_samples: int = 400, *, noise: float = 0.17, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a cone, half a torus and a normal distribution over both, like the set `cone_torus`.

    Parameters
    ----------
    n_samples : int, default=400
        Number of samples: a quarter in the cone, a quarter in the torus, the others from the normal
        distribution.
    noise : float, default=0.17
        Standard deviation of the normal distribution, the class that overlaps the others.
    random_state : int, RandomState or None, default=0
        Decides the samples; None draws others every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Samples, class after class.
    y : ndarray of shape (n_samples,)
        Labels: 1 the cone, of radius 0.18 and densest in the middle at (0.37, 0.21); 2 the torus, the upper
        half of a ring of radius 0.32 around (0.46, 0.19); 3 the normal distribution around (0.64, 0.53).

    Examples
    --------
    >>> from pathforest.datasets import make_cone_torus
    >>> X, y = make_cone_torus(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((400, 2), [1, 2, 3])
    """
    rng, y = _start(n_samples, {1: 92, 2: 99, 3: 209}, noise, random_state)
    cone, torus, normal = (np.sum(y == label) for label in (1, 2, 3))
    # Density (1 - r / R) over the disc makes r / R follow a beta distribution.
    radius = 0.18 * rng.beta(2, 2, cone)
    ring = 0.32 + rng.uniform(-0.045, 0.045, torus)
    X = np.concatenate(
        [
            [0.37, 0.21] + _polar(radius, rng.uniform(0, 2 * np.pi, cone)),
            [0.46, 0.19] + _polar(ring, rng.uniform(0, np.pi, torus)),
            rng.normal([0.64, 0.53], noise, (normal, 2)),
        ]
    )
    return X, y


def make_four_class(
    n_samples: int = 862, *, noise: float = 1.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw irregular bands of two classes at integer coordinates, like the set `four_class`.

    Parameters
    ----------
    n_samples : int, default=862
        Number of samples. Many of them share distances; a multiple of the default also shares places.
    noise : float, default=1.0
        Width of the bands, as a multiple of that in the published set. At 1 the classes stay apart.
    random_state : int, RandomState or None, default=0
        Decides the samples; None draws others every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Samples, whole numbers as float64.
    y : ndarray of shape (n_samples,)
        Labels -1 and 1.

    Examples
    --------
    >>> from pathforest.datasets import make_four_class
    >>> X, y = make_four_class(random_state=0)
    >>> X.shape, bool((X == X.round()).all())
    ((862, 2), True)
    """
    rng, y = _start(n_samples, {-1: 555, 1: 307}, noise, random_state)
    X = np.empty((len(y), 2))
    for label in (-1, 1):
        X[y == label] = _in_bands(label, int(np.sum(y == label)), noise, rng)
    return np.round(X), y


def _start(
    n_samples: int, counts: dict[int, int], noise: float, random_state: Any
) -> tuple[np.random.Generator, np.ndarray]:
    """Check what all generators take; labels come in the published proportions."""
    demand(n_samples >= 1, f"n_samples={n_samples} draws nothing; pass at least 1")
    demand(0 <= noise < np.inf, f"noise={noise!r} is not a width; pass a number from 0 on")
    ends = np.round(np.cumsum(list(counts.values())) * (n_samples / sum(counts.values()))).astype(int)
    y = np.repeat(list(counts), np.diff(ends, prepend=0))
    return random_generator(random_state), y


def _polar(radius: np.ndarray, angle: np.ndarray) -> np.ndarray:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _in_bands(label: int, n: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Spread samples evenly over the bands of a class, piece by piece in proportion to area."""
    pieces = [(*ends, width) for kind, width, corners in BANDS if kind == label for ends in pairwise(corners)]
    start, end, width = (np.array(column, dtype=float) for column in zip(*pieces, strict=True))
    length = np.hypot(*(end - start).T)
    area = length * width
    piece = rng.choice(len(pieces), n, p=area / area.sum())
    along = (end - start)[piece]
    across = np.column_stack([-along[:, 1], along[:, 0]]) / length[piece, None]
    offset = (rng.random(n) - 0.5) * noise * width[piece]
    return start[piece] + rng.random(n)[:, None] * along + offset[:, None] * across
