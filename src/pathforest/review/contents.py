"""What a review shows: suspects beside their conquerors, features that speak against a label first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

CONQUERORS = 3  # of each class beside a suspect
FEATURES = 8  # of a suspect that are shown


class Table(NamedTuple):
    """A table as the page shows it."""

    name: str  # of the file
    place: str  # what its places count: line or row
    places: Sequence[int]  # of the samples in the file
    X: np.ndarray  # features as they are in the file
    features: list[str]
    label: str  # the column of labels
    y: np.ndarray
    others: Mapping[str, Sequence[str]]  # cells of the columns that are neither
    fingerprint: str

    def where(self, row: int) -> str:
        """Say where a sample is in the file."""
        return f"{self.place} {self.places[row]}"


class Witness(NamedTuple):
    """A conqueror of a suspect."""

    row: int
    cost: float


class Suspect(NamedTuple):
    """A sample whose label deserves a second look."""

    row: int
    given: int  # classes by their codes
    better: int
    score: float
    costs: tuple[float, float]  # of both classes
    witnesses: tuple[list[Witness], list[Witness]]  # nearest conquerors of both classes
    remarks: list[str]


class Review(NamedTuple):
    """Everything that the page, the terminal and the CSV show."""

    table: Table
    issues: Any
    classes: list[str]
    codes: np.ndarray  # of the given labels
    suspects: list[Suspect]  # all of them, the worst first


def make_review(table: Table, issues: Any) -> Review:
    """Rank the suspects: flagged labels by their score, then equal rows with different labels."""
    names, codes = np.unique(table.y, return_inverse=True)
    better = np.searchsorted(names, issues.suggested)
    rank = np.lexsort((issues.score, ~issues.is_label_issue))
    chosen = rank[(issues.is_label_issue | issues.is_conflict)[rank]]
    suspects = [
        Suspect(
            row,
            int(codes[row]),
            int(better[row]),
            float(issues.score[row]),
            (float(issues.cost_for[row]), float(issues.cost_against[row])),
            (
                _witnesses(issues.conquerors_for[row], issues.conqueror_costs_for[row]),
                _witnesses(issues.conquerors_against[row], issues.conqueror_costs_against[row]),
            ),
            _remarks(issues, row),
        )
        for row in chosen.tolist()
    ]
    return Review(table, issues, list(map(str, names.tolist())), codes, suspects)


def _witnesses(rows: np.ndarray, costs: np.ndarray) -> list[Witness]:
    found = zip(rows[:CONQUERORS].tolist(), costs[:CONQUERORS].tolist(), strict=True)
    return [Witness(row, cost) for row, cost in found if row >= 0]


def _remarks(issues: Any, row: int) -> list[str]:
    remarks = []
    if issues.is_conflict[row]:
        remarks.append("an equal row has another label")
    elif issues.duplicate_group[row] >= 0:
        remarks.append("has equal rows")
    if issues.is_outlier[row]:
        remarks.append("outlier")
    return remarks


def telling_features(X: np.ndarray, suspect: Suspect, spread: np.ndarray) -> np.ndarray:
    """Return the features that speak most against the given label, first those that do so most.

    A feature speaks against it by how much farther, in standard deviations, the sample is from the mean of
    its conquerors of the given class than from those of the other.
    """
    own, other = ([witness.row for witness in witnesses] for witnesses in suspect.witnesses)
    distance = [np.abs(X[suspect.row] - X[rows].mean(axis=0)) if rows else 0 for rows in (own, other)]
    against = (distance[0] - distance[1]) / spread
    return np.argsort(-np.broadcast_to(against, X.shape[1:]), kind="stable")[:FEATURES]
