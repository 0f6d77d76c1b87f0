"""Continuous search with Optuna: trials over ranges instead of a grid, on the same shared work."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pathforest._search.cells import Cell, Folds, Scores, Space
from pathforest._search.ranking import choose_betas
from pathforest._search.scoring import Judge
from pathforest._utils.progress import Progress

SAMPLERS = ("tpe", "evolutionary")
POPULATION = 10  # of the evolutionary sampler: a search of 50 trials is then five generations


def import_optuna() -> Any:
    """Import Optuna, or say how to get it."""
    try:
        import optuna
    except ImportError:
        raise ImportError(
            "search='optuna' needs Optuna, which is not installed; run pip install 'pathforest[optuna]', or "
            "use search='grid'"
        ) from None
    return optuna


def make_sampler(sampler: Any, random_state: Any) -> Any:
    """Return an Optuna sampler: the one named, or the one given."""
    optuna = import_optuna()
    if isinstance(sampler, optuna.samplers.BaseSampler):
        return sampler
    if not (isinstance(sampler, str) and sampler in SAMPLERS):
        raise ValueError(
            f"sampler={sampler!r} is unknown; use one of {', '.join(map(repr, SAMPLERS))}, or one of Optuna's"
        )
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    if sampler == "tpe":
        return optuna.samplers.TPESampler(seed=seed)
    return optuna.samplers.NSGAIISampler(seed=seed, population_size=POPULATION)


def search_by_trials(
    folds: Folds, space: Space, n_trials: int, sampler: Any, judge: Judge, bar: Progress
) -> tuple[list[Cell], Scores]:
    """Run the trials; return the different cells among them, in the order tried, and their scores.

    A trial gets the mean score of its cell, as the results show it. A cell drawn again costs nothing.
    """
    optuna = import_optuna()
    with _quiet():
        study = optuna.create_study(direction="maximize", sampler=sampler)
    found: dict[Cell, Scores] = {}
    for _ in range(n_trials):
        trial = study.ask()
        cell = _suggest(trial, space)
        if cell in found:
            bar.update(found[cell].score.shape[1])
        else:
            found[cell] = folds.score([cell], judge, bar)
        chosen = choose_betas(found[cell].log_loss)[0]
        score = found[cell].score[0, :, chosen].mean()
        if np.isnan(score):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, score)
    return list(found), Scores(*(np.concatenate(parts) for parts in zip(*found.values(), strict=True)))


def _suggest(trial: Any, space: Space) -> Cell:
    competition = trial.suggest_categorical("competition", list(space.competitions))
    lowest, highest = float(min(space.sigmas)), float(max(space.sigmas))
    # Along the tree sigma ends at 1. Optuna allows one range per name, so that range has its own.
    ends_early = competition == "tree" and highest > 1
    name, end = ("sigma of the tree", 1.0) if ends_early else ("sigma", highest)
    sigma = trial.suggest_float(name, lowest, end)
    few, many = min(space.n_conquerors), max(space.n_conquerors)
    return Cell(
        trial.suggest_categorical("transform", list(space.transforms)),
        trial.suggest_int("k_max", min(space.k_max), max(space.k_max)),
        sigma,
        competition,
        trial.suggest_int("n_conquerors", few, many, log=True),
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from announcing the study on the error stream."""
    logger = logging.getLogger("optuna")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
