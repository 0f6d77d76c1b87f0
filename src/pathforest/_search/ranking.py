"""The order of a search's cells, ties included, which of them are averaged, and the table of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pathforest._persistence.checks import whole
from pathforest._search.folds import Scores
from pathforest._search.plan import Cell, Plan

PARAMETER = "param_"  # begins the names of the columns of parameters

# What plots and rankings read, beside the scores of each fold.
COLUMNS = {"param_k_max", "param_sigma", "param_competition", "mean_test_score", "rank_test_score"}

# Means of the same scores in another order may differ in the last bits; that decides nothing.
DECIMALS = 12

# Cells of one representation that are averaged before others get a turn: their probabilities hardly differ,
# and averaging helps only where they do.
PER_TRANSFORM = 1


def choose_betas(log_loss: np.ndarray) -> np.ndarray:
    """Return the column of the beta with the smallest mean log loss for each cell, the first among equals."""
    return log_loss.mean(axis=1).round(DECIMALS).argmin(axis=1)


def rank(
    cells: Sequence[Cell], score: np.ndarray, log_loss: np.ndarray, transforms: Sequence[str]
) -> np.ndarray:
    """Return the positions of the cells from best to worst, given their mean scores and log losses.

    After the score come the log loss, sigma nearest 1, tree before complete, fewer conquerors, smaller k_max,
    the order of the names in `transforms`, and last the order of the cells.
    """
    score, log_loss = np.round(score, DECIMALS), np.round(log_loss, DECIMALS)
    place = {name: number for number, name in enumerate(transforms)}

    def key(position: int) -> tuple[Any, ...]:
        cell = cells[position]
        distance = round(abs(float(cell.sigma) - 1), DECIMALS)
        simple = distance, cell.competition != "tree", cell.n_conquerors, cell.k_max
        return (-score[position], log_loss[position], *simple, place[cell.transform], position)

    # A score that is not a number, as some scorers return for a fold without a class, comes last.
    last = [position for position in range(len(cells)) if np.isnan(score[position])]
    return np.array(sorted(set(range(len(cells))) - set(last), key=key) + last, dtype=np.intp)


def choose_cells(results: dict[str, Any], n_best: int, by_score: bool) -> np.ndarray:
    """Return the rows of the table whose cells are averaged, the best one first.

    After the best row come the representations by their best cells, each with its `PER_TRANSFORM` best, and
    round again if there are not enough. Cells compare by log loss, or by their rank with `by_score`.
    """
    order = np.argsort(results["rank_test_score"])
    best = int(order[0])
    if not by_score:
        order = order[np.argsort(results["mean_test_log_loss"][order].round(DECIMALS), kind="stable")]
    transform = [params.get("transform", "") for params in results["params"]]
    seen: dict[str, list[int]] = {transform[best]: [best]}  # its representation has had its turn
    for row in order[order != best].tolist():
        seen.setdefault(transform[row], []).append(row)
    turns = sorted(
        (i // PER_TRANSFORM, place, i, row)
        for place, rows in enumerate(seen.values())
        for i, row in enumerate(rows)
    )
    return np.array([row for *_, row in turns][:n_best], dtype=np.intp)


def table(plan: Plan, scores: Scores, with_transform: bool) -> dict[str, Any]:
    """Lay the results out as GridSearchCV does, one row per cell, with the chosen beta and its log loss.

    The rank is that of :func:`rank`, so no two rows share one.
    """
    chosen, cells, row = choose_betas(scores.log_loss), plan.cells, np.arange(len(plan.cells))
    score, log_loss = scores.score[row, :, chosen], scores.log_loss[row, :, chosen].mean(axis=1)
    params = [cell._asdict() for cell in cells]
    if not with_transform:
        for one in params:
            del one["transform"]
    results: dict[str, Any] = {f"{PARAMETER}{name}": _column([p[name] for p in params]) for name in params[0]}
    results["params"] = params
    results |= {f"split{fold}_test_score": score[:, fold].copy() for fold in range(score.shape[1])}
    results["mean_test_score"] = mean = score.mean(axis=1)
    results["std_test_score"] = score.std(axis=1)
    results["rank_test_score"] = np.empty(len(cells), dtype=np.int32)
    results["rank_test_score"][rank(cells, mean, log_loss, list(plan.representations))] = row + 1
    results["mean_test_log_loss"] = log_loss
    results["beta"] = np.array([float(beta) for beta in plan.betas])[chosen]
    return results


def check_table(model: Any) -> None:
    """Raise ValueError unless a model's `cv_results_` is such a table, and its best row is in it."""
    results = vars(model).get("cv_results_")
    if type(results) is not dict or type(results.get("params")) is not list:
        raise ValueError("cv_results_ is not a table with a column params")
    n_rows = len(results["params"])
    for name, column in results.items():
        if not (name == "params" or (isinstance(column, np.ndarray) and column.shape == (n_rows,))):
            raise ValueError(f"the column {name} of cv_results_ has another length than params")
    if missing := COLUMNS - results.keys():
        raise ValueError(f"cv_results_ has no column {min(missing)}")
    names = [name for name in results if name.startswith(PARAMETER)]
    rows = zip(*(results[name].tolist() for name in names), strict=True)
    keys = [name.removeprefix(PARAMETER) for name in names]
    if results["params"] != [dict(zip(keys, row, strict=True)) for row in rows]:
        raise ValueError("the column params of cv_results_ differs from those of the single parameters")
    best = results["params"][whole(0, n_rows - 1)(model, "best_index_", {})]
    if vars(model).get("best_params_") != best:
        raise ValueError("best_params_ is not the best row of cv_results_")
    if not all(type(vars(model).get(name)) is float for name in ("best_score_", "best_beta_")):
        raise ValueError("best_score_ and best_beta_ should be numbers")
    whole(1)(model, "n_splits_", {})


def _column(values: list[Any]) -> np.ma.MaskedArray:
    """Make a column of parameters, masked as in GridSearchCV, where searches may leave some out."""
    return np.ma.MaskedArray(values, mask=np.zeros(len(values), dtype=bool))
