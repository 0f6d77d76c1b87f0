"""Which labels are called wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# How clearly a sample must look like another class, on a scale where 0 is undecided and 1 the average of the
# samples of that class; and which share of those that look so clearly like it may have another label. Above
# that share the classes overlap, and labels that disagree are not mistakes.
CLARITY = 0.75
OVERLAP = 0.35


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
    share, rival, sizes = opinion.share, opinion.rival, np.bincount(codes)
    flagged = np.zeros(len(codes), dtype=bool)
    for code in range(len(sizes)):
        agree = share[(codes == code) & (share > 0.5)] - 0.5
        disagree = np.flatnonzero(opinion.prefers_rival & (rival == code))
        usual = (
            agree.mean() if len(agree) else 0.5
        )  # nothing is known of a class that fits none of its samples
        clarity = (0.5 - share[disagree]) / usual
        flagged[disagree] = clarity >= _clear_enough(np.sort(clarity), np.sort(agree / usual))
    return flagged & (sizes[codes] > 1)


def _clear_enough(disagree: np.ndarray, agree: np.ndarray) -> float:
    """Return the clarity from which on few enough disagree, at least `CLARITY`; both arrays ascend."""
    levels = np.append(CLARITY, disagree[disagree >= CLARITY])
    n_disagree, n_agree = (len(array) - np.searchsorted(array, levels) for array in (disagree, agree))
    found = levels[n_disagree <= OVERLAP * (n_disagree + n_agree)]
    return found[0] if len(found) else np.inf
