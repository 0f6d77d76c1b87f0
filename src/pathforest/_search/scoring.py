"""Scores of what a model answers, the order that they give the cells of a search, and the table of them.

Any scorer of scikit-learn gives scores, and so does the log loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from pathforest._models.offers import cost_ratios, probabilities, row_sums
from pathforest._persistence.checks import demand, whole
from pathforest._utils.checks import map_threads
from pathforest._utils.text import show
from pathforest.fuzzy import FuzzyOPFClassifier

# Class costs of one model above which NumPy's threads are worth their start.
WORTH_THREADS = 20_000

# Probabilities of 0 would cost infinity; scikit-learn's log_loss stops there too.
SMALLEST = np.finfo(np.float64).eps

PARAMETER = "param_"  # begins the names of the columns of parameters

# What plots and rankings read, beside the scores of each fold.
COLUMNS = {"param_k_max", "param_sigma", "param_competition", "mean_test_score", "rank_test_score"}

# Means of the same scores in another order may differ in the last bits; that decides nothing.
DECIMALS = 12

# Steps of the greedy selection of an average, and the smallest probability that it counts: else a single sure
# mistake would decide.
STEPS = 20
SMALLEST_SHARE = 1e-6

Scorer = Callable[[Any, Any, Any], float]


class Cell(NamedTuple):
    """One candidate model: a representation by its name, then the classifier's own parameters."""

    transform: str
    k_max: int
    sigma: float
    competition: str
    n_conquerors: int


class Scores(NamedTuple):
    """How well each cell did on each fold, for each beta; scores of labels alone are the same for all."""

    score: np.ndarray  # (n_cells, n_folds, n_betas); of a single task without the axis for folds
    log_loss: np.ndarray  # the same
    # What the best cell of each representation gives the labels: its row, and the probabilities (n_models, m)
    # of all evaluation samples; of a single task those of each cell and beta, (n_cells, n_betas, m).
    rows: np.ndarray | None = None
    given: np.ndarray | None = None


def resolve_scoring(scoring: Any) -> Scorer | None:
    """Turn the parameter `scoring` into a scorer; None is accuracy."""
    if scoring is None:
        return None
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError(
            f"scoring={show(scoring)} holds several scores, and one must decide; pass one name or one scorer"
        )
    if not callable(scoring) and not (isinstance(scoring, str) and scoring in get_scorer_names()):
        raise ValueError(
            f"scoring={show(scoring)} is unknown; use a name that sklearn.metrics.get_scorer_names() lists, "
            "or a callable (estimator, X, y)"
        )
    return check_scoring(FuzzyOPFClassifier(), scoring=scoring)


def shown_to_scorers(X: Any, y: Any, given: Any, labels: np.ndarray) -> tuple[Any, Any]:
    """Choose what scorers get slices of: X and y as passed, if scikit-learn knows their types, or checked."""
    known = isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns") or issparse(X)
    try:
        is_target = type_of_target(y) in ("binary", "multiclass")
    except (TypeError, ValueError):  # such as numpy's StringDType
        is_target = False
    return indexable(X)[0] if known else given, indexable(y)[0] if is_target else labels


def asks_answers_only(scorer: Scorer | None) -> bool:
    """Whether a scorer is one of scikit-learn's: they ask for labels or probabilities, and change nothing."""
    return isinstance(scorer, type(get_scorer("accuracy")))


class Answered:
    """A fitted model that has answered for some samples already; for all else it is built."""

    def __init__(
        self,
        X: Any,
        classes: np.ndarray,
        winner: np.ndarray,
        cost: np.ndarray,
        beta: float,
        build: Callable[[], Any],
    ) -> None:
        self.classes_, self.gave_probabilities = classes, False
        self._X, self._winner, self._cost, self._beta, self._build = X, winner, cost, beta, build

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels."""
        return self.classes_[self._winner] if X is self._X else self._model.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities."""
        self.gave_probabilities = True
        return probabilities(self._cost, self._beta) if X is self._X else self._model.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        return FuzzyOPFClassifier().__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name == "decision_function":  # scorers of ranks try it first
            raise AttributeError(f"{type(self).__name__} has no {name}; use predict_proba")
        return getattr(self._model, name)

    @cached_property
    def _model(self) -> Any:
        return self._build()


def call_scorer(scorer: Scorer, model: Any, X: Any, y: Any) -> float:
    """Return the score of a model, which must be one number."""
    score = scorer(model, X, y)
    if hasattr(score, "item"):  # arrays of one value count as a number, as in GridSearchCV
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, Number):
        raise ValueError(
            f"scoring returned {show(score)} of type {type(score).__name__}, which is not a number; "
            "return one float for each model"
        )
    return float(score)


def given_probabilities(
    betas: Sequence[float], classes: np.ndarray, costs: np.ndarray, y: np.ndarray, n_threads: int
) -> np.ndarray:
    """Return each label's probability, 0 of unknown classes, by costs (n_r, m, c): (n_r, n_betas, m)."""
    column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known, own = classes[column] == y, np.arange(len(y)) * len(classes) + column

    def give(costs: np.ndarray) -> list[np.ndarray]:
        ratio = cost_ratios(costs)
        weights = (ratio ** float(beta) for beta in betas)
        return [np.where(known, weight.ravel()[own] / row_sums(weight), 0) for weight in weights]

    return np.array([*map_threads(give, 1 if costs[0].size < WORTH_THREADS else n_threads, costs)])


def log_losses(given: np.ndarray) -> np.ndarray:
    """Return the log loss of each number of conquerors and each beta, given what they give the labels."""
    return -np.log(np.maximum(given, SMALLEST)).mean(axis=-1)


# The cells from best to worst, ties included, and which of them are averaged


def rank(
    cells: Sequence[Cell], score: np.ndarray, log_loss: np.ndarray, transforms: Sequence[str]
) -> np.ndarray:
    """Return the positions of the cells from best to worst, given their mean scores and log losses."""
    # After these come sigma nearest 1, tree before complete, fewer conquerors, smaller k_max, and the orders.
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


def best_betas(log_loss: np.ndarray) -> np.ndarray:
    """Return the place of each cell's beta, the first among equals, by log losses (cells, folds, betas)."""
    return log_loss.mean(axis=1).round(DECIMALS).argmin(axis=1)


def best_cell(
    cells: Sequence[Cell], score: np.ndarray, log_loss: np.ndarray, by_score: bool
) -> tuple[int, int]:
    """Return the place of the best cell, by log loss or rank, and that of its beta: (cells, folds, betas)."""
    row, beta = np.arange(len(cells)), best_betas(log_loss)
    score, loss = score[row, :, beta].mean(axis=1), log_loss[row, :, beta].mean(axis=1)
    order = rank(cells, score, loss, [cells[0].transform])
    best = order[0] if by_score else order[loss[order].round(DECIMALS).argmin()]
    return int(best), int(beta[best])


def average(given: np.ndarray, n_best: int | None) -> np.ndarray:
    """Weigh models by greedy selection (Caruana et al., ICML 2004); ties go to the earlier one."""
    # `given` are probabilities (n_models, n_samples) of labels they have not seen; at most `n_best` get in.
    given, count = np.maximum(given, SMALLEST_SHARE), np.zeros(len(given), dtype=np.intp)
    total = np.zeros(given.shape[1])
    for step in range(1, STEPS + 1):
        is_full = n_best is not None and np.count_nonzero(count) >= n_best
        loss = -np.log((total + given) / step).mean(axis=1).round(DECIMALS)
        best = np.where(is_full & (count == 0), np.inf, loss).argmin()
        total += given[best]
        count[best] += 1
    return count / STEPS


def choose(scores: Scores, best: int, n_best: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the cells to fit, the best one first, and what each weighs in the average."""
    if scores.given is None:
        return np.array([best]), np.ones(1)
    weights = average(scores.given, n_best)
    rows, weights = scores.rows[weights > 0], weights[weights > 0]
    if best not in rows:
        rows, weights = np.append(rows, best), np.append(weights, 0.0)
    order = np.lexsort((-weights, rows != best))
    return rows[order], weights[order]


def table(
    cells: Sequence[Cell], betas: Sequence[float], scores: Scores, transforms: Sequence[str], named: bool
) -> dict[str, Any]:
    """Lay the results out as GridSearchCV does, a row per cell, ranked without ties."""
    row = np.arange(len(cells))
    chosen = best_betas(scores.log_loss)
    score, log_loss = scores.score[row, :, chosen], scores.log_loss[row, :, chosen].mean(axis=1)
    names = [name for name in cells[0]._fields if named or name != "transform"]
    # Masked as in GridSearchCV, where searches may leave some out.
    mask = np.zeros(len(cells), dtype=bool)
    results: dict[str, Any] = {
        f"{PARAMETER}{name}": np.ma.MaskedArray([getattr(cell, name) for cell in cells], mask=mask.copy())
        for name in names
    }
    results["params"] = [{name: getattr(cell, name) for name in names} for cell in cells]
    results |= {f"split{fold}_test_score": score[:, fold].copy() for fold in range(score.shape[1])}
    results["mean_test_score"] = mean = score.mean(axis=1)
    results["std_test_score"] = score.std(axis=1)
    results["rank_test_score"] = np.empty(len(cells), dtype=np.int32)
    results["rank_test_score"][rank(cells, mean, log_loss, transforms)] = row + 1
    results["mean_test_log_loss"] = log_loss
    results["beta"] = np.array([float(beta) for beta in betas])[chosen]
    return results


def check_table(model: Any) -> None:
    """Raise ValueError unless a model's `cv_results_` is such a table, and its best row is in it."""
    results = vars(model).get("cv_results_")
    is_table = type(results) is dict and type(results.get("params")) is list
    demand(is_table, "cv_results_ is not a table with a column params")
    n_rows = len(results["params"])
    for name, column in results.items():
        is_long = name == "params" or (isinstance(column, np.ndarray) and column.shape == (n_rows,))
        demand(is_long, f"the column {name} of cv_results_ has another length than params")
    missing = min(COLUMNS - results.keys(), default=None)
    demand(missing is None, f"cv_results_ has no column {missing}")
    names = [name for name in results if name.startswith(PARAMETER)]
    rows = zip(*(results[name].tolist() for name in names), strict=True)
    keys = [name.removeprefix(PARAMETER) for name in names]
    is_same = results["params"] == [dict(zip(keys, row, strict=True)) for row in rows]
    demand(is_same, "the column params of cv_results_ differs from those of the single parameters")
    best = results["params"][whole(0, n_rows - 1)(model, "best_index_", {})]
    demand(vars(model).get("best_params_") == best, "best_params_ is not the best row of cv_results_")
    are_numbers = all(type(vars(model).get(name)) is float for name in ("best_score_", "best_beta_"))
    demand(are_numbers, "best_score_ and best_beta_ should be numbers")
    whole(1)(model, "n_splits_", {})
