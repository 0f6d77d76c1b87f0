"""What a review shows: suspects beside their conquerors, features that speak against a label first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pathforest._issues.issues import Issues

CONQUERORS = 3  # of each class beside a suspect
FEATURES = 8  # of a suspect that are shown


class Table(NamedTuple):
    """A table as the page shows it."""

    name: str  # of the file
    place: str  # what its places count: line or row
    places: Sequence[int]  # of the samples in the file
    X: np.ndarray  # features as they are in the file
    Z: np.ndarray  # and as the audit took them, perhaps scaled
    features: list[str]
    label: str  # the column of labels
    others: Mapping[str, Sequence[str]]  # cells of the columns that are neither
    fingerprint: str

    def where(self, row: int) -> str:
        """Say where a sample is in the file."""
        return f"{self.place} {self.places[row]}"


class Witness(NamedTuple):
    """A conqueror of a suspect."""

    row: int
    distance: float


class Suspect(NamedTuple):
    """A sample whose label deserves a second look."""

    row: int
    given: int  # classes by their codes
    rival: int  # the best other class
    rival_fits_better: bool
    score: float
    costs: tuple[float, float]  # of both classes
    witnesses: tuple[list[Witness], list[Witness]]  # nearest conquerors of both classes
    remarks: list[str]


class Review(NamedTuple):
    """Everything that the page, the terminal and the CSV show."""

    table: Table
    issues: Issues
    classes: list[str]
    codes: np.ndarray  # of the given labels
    suspects: list[Suspect]  # all of them, the worst first


def make_review(table: Table, issues: Issues) -> Review:
    """Rank the suspects: labels that are probably wrong, then other equal rows with different labels."""
    codes, rivals = (np.searchsorted(issues.classes, labels) for labels in (issues.given, issues.rival))
    others = np.flatnonzero(issues.is_conflict & ~issues.is_label_issue)
    others = others[np.argsort(issues.score[others], kind="stable")]
    suspects = [
        Suspect(
            row,
            int(codes[row]),
            int(rivals[row]),
            bool(issues.suggested[row] != issues.given[row]),
            float(issues.score[row]),
            (float(issues.cost[row]), float(issues.rival_cost[row])),
            (
                _witnesses(issues.conquerors[row], issues.distances[row]),
                _witnesses(issues.rival_conquerors[row], issues.rival_distances[row]),
            ),
            _remarks(issues, row),
        )
        for row in [*issues.suspects.tolist(), *others.tolist()]
    ]
    return Review(table, issues, list(map(str, issues.classes.tolist())), codes, suspects)


def _witnesses(rows: np.ndarray, distances: np.ndarray) -> list[Witness]:
    found = zip(rows[:CONQUERORS].tolist(), distances[:CONQUERORS].tolist(), strict=True)
    return [Witness(row, distance) for row, distance in found if row >= 0]


def _remarks(issues: Issues, row: int) -> list[str]:
    remarks = {
        "an equal row has another label": issues.is_conflict[row],
        "has copies": issues.duplicate_group[row] >= 0 and not issues.is_conflict[row],
        "outlier": issues.is_outlier[row],
        "part of an island": issues.island[row] >= 0,
    }
    return [remark for remark, holds in remarks.items() if holds]


def telling_features(X: np.ndarray, suspect: Suspect, spread: np.ndarray) -> np.ndarray:
    """Return the features that speak most against the given label, first those that do so most.

    A feature speaks against it by how much farther, in standard deviations, the sample is from the mean of
    its conquerors of the given class than from that of its rival's.
    """
    own, other = ([witness.row for witness in witnesses] for witnesses in suspect.witnesses)
    distance = [np.abs(X[suspect.row] - X[rows].mean(axis=0)) if rows else 0 for rows in (own, other)]
    against = (distance[0] - distance[1]) / spread
    return np.argsort(-np.broadcast_to(against, X.shape[1:]), kind="stable")[:FEATURES]
