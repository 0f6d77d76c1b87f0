"""Which labels are called wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# How sure a label must be to be called wrong: 0 is the point where the rival begins to fit better, 1 where it
# fits as well as it does on average the samples that carry its label and deserve it. On 45 datasets this
# value made the share of flagged labels the best estimate of that of wrong ones, for both methods.
CONFIDENCE = 0.75


class Opinion(NamedTuple):
    """How well the labels fit."""

    score: np.ndarray  # (n,) of the given class, from 0 to 1
    rival: np.ndarray  # (n,) code of the best other class, -1 if there is none
    prefers_rival: np.ndarray  # (n,) bool, whether that class fits better
    share: np.ndarray  # (n,) part of the given class in what it and its rival have together


def flag(opinion: Opinion, codes: np.ndarray) -> np.ndarray:
    """Flag labels whose rival fits nearly as well as a class usually fits the samples that deserve it.

    The only sample of a class is never flagged: nothing can speak for it.
    """
    share, sizes = opinion.share, np.bincount(codes)
    usual = np.ones(len(sizes))  # of a class that fits none of its samples nothing is known
    for code in np.unique(codes[share > 0.5]):
        usual[code] = share[(codes == code) & (share > 0.5)].mean()
    needed = 0.5 + CONFIDENCE * (usual - 0.5)
    return opinion.prefers_rival & (sizes[codes] > 1) & (1 - share >= needed[opinion.rival])
