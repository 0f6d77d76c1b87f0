"""Which labels are called wrong, and how many there probably are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Opinion(NamedTuple):
    """How well the labels fit."""

    score: np.ndarray  # (n,) of the given class, from 0 to 1
    rival: np.ndarray  # (n,) code of the best other class, -1 if there is none
    prefers_rival: np.ndarray  # (n,) bool, whether it fits better


class Flags(NamedTuple):
    """The labels that are called wrong."""

    is_issue: np.ndarray  # (n,) bool
    share: float  # of wrong labels, an estimate


def flag(opinion: Opinion, codes: np.ndarray, method: str) -> Flags:
    is_issue = opinion.prefers_rival
    return Flags(is_issue, float(is_issue.mean()))
