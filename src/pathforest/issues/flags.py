"""Which labels are called wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Clarity says how much a sample looks like a class: 0 is undecided, and 1 the average of the samples that
# deserve its label. Where more than a share of the clear samples have another label, classes overlap, and
# labels that disagree are not mistakes. Samples half as clear count too, unless labels disagree much more
# often among them: mistakes happen everywhere, overlap does not. The values were chosen on 45 datasets. Some
# find more wrong labels, but classifiers trained without the flagged samples lose where all labels are right.
CLEAR = 1.0
HALF_CLEAR = 0.5
OVERLAP = 0.4
MORE_OFTEN = 1.5


class Opinion(NamedTuple):
    """How well the labels fit."""

    score: np.ndarray  # (n,) of the given class, from 0 to 1
    rival: np.ndarray  # (n,) code of the best other class, -1 if there is none
    prefers_rival: np.ndarray  # (n,) bool, whether that class fits better
    share: np.ndarray  # (n,) part of the given class in what it and its rival have together


def flag(opinion: Opinion, codes: np.ndarray) -> np.ndarray:
    """Flag labels of samples that clearly look like another class, whose own labels mostly agree.

    The only sample of a class is never flagged: nothing can speak for it.
    """
    share, sizes = opinion.share, np.bincount(codes)
    flagged = np.zeros(len(codes), dtype=bool)
    for code in range(len(sizes)):
        agree = share[(codes == code) & (share > 0.5)] - 0.5
        disagree = np.flatnonzero(opinion.prefers_rival & (opinion.rival == code))
        usual = agree.mean() if len(agree) else 0.5  # a class that fits none of its samples is unknown
        clarity = (0.5 - share[disagree]) / usual
        flagged[disagree] = clarity >= _clear_enough(clarity, agree / usual)
    return flagged & (sizes[codes] > 1)


def _clear_enough(disagree: np.ndarray, agree: np.ndarray) -> float:
    """Return the clarity from which on labels that disagree are mistakes, given that of all samples."""
    disagree, agree = np.sort(disagree), np.sort(agree)

    def count(level: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count the samples that are at least so clear: those that disagree, and all."""
        wrong, right = (len(array) - np.searchsorted(array, level) for array in (disagree, agree))
        return wrong, wrong + right

    levels = np.append(CLEAR, disagree[disagree >= CLEAR])
    n_wrong, n_all = count(levels)
    is_few = n_wrong <= OVERLAP * n_all
    if not is_few.any():
        return np.inf
    if not is_few[0]:
        return levels[is_few.argmax()]
    half_wrong, half_all = count(HALF_CLEAR)
    between_wrong, between_all = half_wrong - n_wrong[0], half_all - n_all[0]
    limit = MORE_OFTEN * n_wrong[0] / max(1, n_all[0])
    return HALF_CLEAR if between_wrong <= limit * between_all else CLEAR
