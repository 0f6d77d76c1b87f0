"""The presets of a search: which representations each of them tries, and which one "auto" chooses."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest._search.discriminants import KernelDiscriminant, QuadraticDiscriminant, RidgeDiscriminant
from pathforest._search.tree_features import ImportanceScaler, TreeShares

PRESETS = ("auto", "linear", "kernel", "full")
GAMMA_SCALES = (4.0, 1.0, 0.25, 0.0625)  # widths of the RBF kernel tried, times 1 / n_features
WEIGHTED_SCALES = (1.0, 0.25)  # those on features weighted by their importance

# "auto" chooses the first preset that suits so many samples and features; see docs/guide/fuzzy_cv.md.
LIMITS = {"kernel": (5_000, 500), "linear": (50_000, 500)}


class Representation(NamedTuple):
    """A candidate: its name in the results, and an unfitted transformer or None for the samples as given."""

    name: str
    transformer: Any


def make_preset(name: str | None, n_classes: int, seed: int) -> list[Representation]:
    """List the candidates of a preset; where there is a single class, nothing is to be separated."""
    candidates = [Representation("as given", None)]
    if name in (None, "auto"):
        return candidates
    candidates.append(Representation("standardised", StandardScaler()))
    if n_classes == 1:
        return candidates
    candidates.append(_scaled("LDA", RidgeDiscriminant()))
    if name == "linear":
        return candidates
    for scale in GAMMA_SCALES:
        candidates.append(_scaled(f"kernel LDA {scale:g}/d", KernelDiscriminant(scale, random_state=seed)))
    return candidates if name == "kernel" else candidates + _more(seed)


def _more(seed: int) -> list[Representation]:
    """List what "full" adds to "kernel"."""
    weighted = [
        _scaled(
            f"weighted kernel LDA {scale:g}/d",
            ImportanceScaler(random_state=seed),
            KernelDiscriminant(scale, random_state=seed),
        )
        for scale in WEIGHTED_SCALES
    ]
    return [
        *weighted,
        _scaled("quadratic LDA", QuadraticDiscriminant(random_state=seed)),
        _scaled("random forest", TreeShares(random_state=seed)),
    ]


def _scaled(name: str, *steps: Any) -> Representation:
    return Representation(name, make_pipeline(StandardScaler(), *steps))


def choose_preset(
    n_samples: int, n_features: int, metric: str, own_membership: bool
) -> tuple[str | None, str]:
    """Return the preset that "auto" stands for, and the reason."""
    if metric != "euclidean":
        return None, f"metric={metric!r} is for the features as given"
    if own_membership:
        return None, "membership is a function of the samples as given"
    size = f"{n_samples} samples x {n_features} features"
    for name, (most_samples, most_features) in LIMITS.items():
        if n_samples <= most_samples and n_features <= most_features:
            return name, f"{size} are at most {most_samples} x {most_features}"
    return None, f"{size} are more than any preset is quick for"
