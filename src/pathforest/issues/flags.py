"""Which labels are called wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Clarity says how much a sample looks like a class: 0 is undecided, and 0.5 the average of the samples that
# deserve its label. Mistakes happen to all samples, so their clarity is taken to be spread evenly from 0 to
# 1. Where classes overlap it is low, with a density that falls as (1 - clarity) ** FALL. A label is flagged
# if it is a mistake with a probability of at least SURE and the sample at least HALF_CLEAR. A class with more
# mistakes than TOO_MANY for each sample that deserves its label is not known well enough. The values were
# chosen on 45 datasets: others find more wrong labels, but classifiers trained without the flagged samples
# lose where all labels are right.
FALL = 2
SURE = 0.7
HALF_CLEAR = 0.25
TOO_MANY = 0.6
N_ROUNDS = 60


class Opinion(NamedTuple):
    """How well the labels fit."""

    score: np.ndarray  # (n,) of the given class, from 0 to 1
    rival: np.ndarray  # (n,) code of the best other class, -1 if there is none
    prefers_rival: np.ndarray  # (n,) bool, whether that class fits better
    share: np.ndarray  # (n,) part of the given class in what it and its rival have together


def flag(opinion: Opinion, codes: np.ndarray) -> tuple[np.ndarray, float]:
    """Flag labels that are probably mistakes, rather than a sign that classes overlap; estimate their share.

    The only sample of a class is never flagged: nothing can speak for it.
    """
    is_doubtful = opinion.prefers_rival & (np.bincount(codes)[codes] > 1)
    order = np.argsort(opinion.share, kind="stable")  # sums depend on no order of samples or classes
    given, rival, share, is_doubtful = (
        array[order] for array in (codes, opinion.rival, opinion.share, is_doubtful)
    )
    flagged, mistakes = np.zeros(len(codes), dtype=bool), np.zeros(len(codes))
    for code in range(int(codes.max()) + 1):
        agree = share[(given == code) & (share > 0.5)] - 0.5
        disagree = np.flatnonzero(is_doubtful & (rival == code))
        if len(agree) and len(disagree):
            clarity = np.minimum((0.5 - share[disagree]) / (2 * agree.mean()), 1)
            mistake = _probability_of_mistake(clarity)
            if mistake.sum() <= TOO_MANY * len(agree):
                flagged[order[disagree]] = (mistake >= SURE) & (clarity >= HALF_CLEAR)
                mistakes[disagree] = mistake
    return flagged, float(np.sort(mistakes).mean())


def _probability_of_mistake(clarity: np.ndarray) -> np.ndarray:
    """Fit the part of mistakes by expectation-maximisation; return how probably each label is one."""
    overlap = (FALL + 1) * (1 - clarity) ** FALL
    part = 0.5
    for _ in range(N_ROUNDS):
        mistake = part / (part + (1 - part) * overlap)
        part = mistake.mean()
    return mistake
