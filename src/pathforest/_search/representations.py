"""Candidate representations of the samples: those of a preset, or what the user passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from numbers import Integral
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from pathforest._search.presets import PRESETS, Representation, make_preset
from pathforest._utils.text import show


def resolve_transforms(transforms: Any, n_classes: int = 2, random_state: Any = 0) -> list[Representation]:
    """Turn the parameter `transforms` into named candidates.

    What ``"auto"`` stands for is chosen elsewhere; here it is the samples as given. A preset leaves out what
    separates classes where there is a single one.
    """
    if transforms is None or isinstance(transforms, str):
        if transforms not in (None, *PRESETS):
            raise ValueError(
                f"transforms={show(transforms)} is unknown; use None, {' or '.join(map(repr, PRESETS))}, or "
                "a sequence of transformers"
            )
        return make_preset(transforms, n_classes, _seed(random_state))
    if not isinstance(transforms, Sequence) or not len(transforms):
        raise ValueError(
            f"transforms={show(transforms)} is not a sequence of transformers; pass a list such as [None, "
            f"StandardScaler()], or one of {', '.join(map(repr, PRESETS))}"
        )
    return _number_names([_candidate(item) for item in transforms])


def _seed(random_state: Any) -> int:
    """Draw one seed for all transformers of a preset, so that they can share landmarks and trees."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _candidate(item: Any) -> Representation:
    """Name one of the user's candidates, which may come as a pair (name, transformer)."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return Representation(item[0], _candidate(item[1]).transformer)
    if item is None or (isinstance(item, str) and item == "passthrough"):
        return Representation("as given", None)
    if isinstance(item, type) or not (hasattr(item, "fit") and hasattr(item, "transform")):
        raise TypeError(
            f"transforms holds {show(item)}, which has no fit and transform; use scikit-learn transformers, "
            "None for the samples as given, or pairs (name, transformer)"
        )
    steps = item.steps if isinstance(item, Pipeline) else [("", item)]
    return Representation("+".join(type(step).__name__ for _, step in steps), item)


def _number_names(candidates: list[Representation]) -> list[Representation]:
    """Tell candidates with equal names apart by the first numbers that make no name twice."""
    totals = Counter(name for name, _ in candidates)
    taken = {name for name, total in totals.items() if total == 1}
    result = []
    for name, transformer in candidates:
        if totals[name] > 1:
            name = next(new for i in count(1) if (new := f"{name} {i}") not in taken)
            taken.add(name)
        result.append(Representation(name, transformer))
    return result
