"""The findings of an audit as numbers, groups and sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pathforest._utils.text import shorten
from pathforest.review.contents import Review

PAIRS = 3  # of classes in a sentence


class Pair(NamedTuple):
    """Two classes that mix, by their codes."""

    given: int
    better: int
    count: int  # samples of the one that the other fits better
    share: float  # of all samples of the one
    suspects: int  # labels among them that are probably wrong


def mixing(review: Review) -> list[Pair]:
    """Return the pairs of classes that mix, those with the most samples first."""
    issues = review.issues
    sizes = issues.confusion.sum(axis=1)
    flagged = np.zeros_like(issues.confusion)
    rows = issues.suspects
    np.add.at(flagged, (review.codes[rows], np.searchsorted(issues.classes, issues.suggested[rows])), 1)
    pairs = [
        Pair(i, j, int(issues.confusion[i, j]), issues.confusion[i, j] / sizes[i], int(flagged[i, j]))
        for i, j in np.argwhere(issues.confusion).tolist()
        if i != j
    ]
    return sorted(pairs, key=lambda pair: -pair.count)


def conflicts(review: Review) -> list[np.ndarray]:
    """Return the groups of equal rows with different labels, the largest first."""
    return _groups(np.where(review.issues.is_conflict, review.issues.duplicate_group, -1))


def duplicates(review: Review) -> list[np.ndarray]:
    """Return the groups of equal rows with the same label, the largest first."""
    return _groups(np.where(review.issues.is_conflict, -1, review.issues.duplicate_group))


def islands(review: Review) -> list[np.ndarray]:
    """Return the small groups of samples apart from the rest of their class, the largest first."""
    return _groups(review.issues.island)


def _groups(number: np.ndarray) -> list[np.ndarray]:
    rows = np.flatnonzero(number >= 0)
    if len(rows) == 0:
        return []
    rows = rows[np.argsort(number[rows], kind="stable")]
    parts = np.split(rows, np.flatnonzero(np.diff(number[rows])) + 1)
    return sorted(parts, key=lambda part: -len(part))


def outliers(review: Review) -> np.ndarray:
    """Return the outliers, the farthest out first."""
    rows = np.flatnonzero(review.issues.is_outlier)
    return rows[np.argsort(-review.issues.outlier_score[rows], kind="stable")]


def percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.1f} %"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number and what it counts."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def headline(review: Review) -> str:
    """Say in a sentence what was found."""
    flagged = int(review.issues.is_label_issue.sum())
    return (
        f"{counted(len(review.codes), 'sample')} in {counted(len(review.classes), 'class', 'classes')}; "
        f"{counted(flagged, 'label')} {'is' if flagged == 1 else 'are'} probably wrong."
    )


def key_numbers(review: Review) -> list[tuple[str, str]]:
    """Return numbers, each with what it counts."""
    issues = review.issues
    return [
        (f"{issues.is_label_issue.sum():,}", "labels that are probably wrong"),
        (percent(issues.noise_share), "estimated share of wrong labels"),
        (f"{len(conflicts(review)):,}", "groups of equal rows with different labels"),
        (f"{len(duplicates(review)):,}", "groups of equal rows with the same label"),
        (f"{issues.is_outlier.sum():,}", "outliers"),
        (f"{len(islands(review)):,}", "small islands"),
    ]


def findings(review: Review) -> list[tuple[str, str]]:
    """Return questions and their answers."""
    issues = review.issues
    names = [shorten(name) for name in review.classes]
    pairs = ", ".join(
        f"{names[pair.given]} samples that fit {names[pair.better]} better ({pair.count:,})"
        for pair in mixing(review)[:PAIRS]
    )
    border, near = int(issues.is_border.sum()), int(issues.is_near_duplicate.sum())
    return [
        ("Which classes mix?", f"Most often {pairs}." if pairs else "None."),
        (
            "How clear is the rest?",
            f"{counted(border, 'sample')} at a border, where two classes fit about equally well.",
        ),
        (
            "Are there copies?",
            f"{counted(near, 'sample has', 'samples have')} a copy or nearly one; "
            "a model that is tested on copies of its training samples looks better than it is."
            if near
            else "",
        ),
    ]
