"""The plan of a search: everything it needs to know, checked and complete before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing, check_array, indexable
from sklearn.utils.validation import check_consistent_length, validate_data

from pathforest._engines.engine import KnnGraph
from pathforest._engines.metric import Metric, array_options
from pathforest._engines.samples import (
    SparseSamples,
    check_training_values,
    is_sparse,
    read_samples,
    read_sparse,
    refuse_missing_dates,
)
from pathforest._models.labels import read_labels
from pathforest._models.parameters import as_list, check_parameters, checked_metric
from pathforest._search.representations import (
    AS_GIVEN,
    Representations,
    behind_table,
    representations_of,
    resolve_transforms,
    take_rows,
    why_as_given,
)
from pathforest._search.scoring import Cell, Scorer, resolve_scoring, shown_to_scorers
from pathforest._tables.columns import as_table, is_table
from pathforest._utils.progress import say
from pathforest._utils.splits import Split, choose_part, content_keys, cross_validation_splits
from pathforest._utils.text import show
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.preprocessing import TablePreprocessor

# The parameters handed on to every classifier as they are.
COMMON = ("metric", "metric_params", "membership", "algorithm", "n_jobs", "device", "verbose")

ALL = -1  # instead of a fold: all samples, for the final fit

PART = 4_500  # samples that are searched on, about and at most, where `cv` is a number of folds


class Task(NamedTuple):
    """Cells of one representation, to be scored on one fold."""

    fold: int
    transform: str
    rows: list[int]  # of the plan's cells


class Samples(NamedTuple):
    """The same samples twice: for transformers, and for classifiers that take them as given."""

    given: Any  # whatever the transformers accept; a table may be a dict of columns
    checked: Any  # None if every candidate has a transformer


@dataclass(frozen=True, eq=False)
class Plan:
    """What a search will do, as plain data: it can be pickled if its metric, scorer and so on can."""

    template: FuzzyOPFClassifier  # unfitted, with what all cells have in common and the largest `k_max`
    samples: Samples
    names: np.ndarray | None  # of the features
    y: np.ndarray
    part: np.ndarray | None  # the samples that are searched on, ascending; None for all
    shown: tuple[Any, Any]  # samples and labels as scorers get slices of them
    metric: Metric
    splits: list[Split]
    representations: Representations
    is_preset: bool  # whether these share work
    cells: list[Cell]
    betas: list[float]
    scorer: Scorer | None
    refit: bool
    averages: bool  # whether there are several models to choose an average from
    lists: KnnGraph | None = None  # neighbours of all samples, if those of folds are read from them

    def tasks(self) -> list[Task]:
        """List what has to be scored, fold by fold."""
        rows: dict[str, list[int]] = {}
        for row, cell in enumerate(self.cells):
            rows.setdefault(cell.transform, []).append(row)
        return [Task(fold, *one) for fold in range(len(self.splits)) for one in rows.items()]

    def split(self, fold: int) -> Split:
        """Return the training and the evaluation samples of a fold, by their indices."""
        everyone = np.arange(len(self.y))
        return (everyone, everyone[:0]) if fold == ALL else self.splits[fold]

    def shown_samples(self, fold: int) -> Any:
        """Cut out the evaluation samples of a fold as scorers get them."""
        train, rows = self.splits[fold]
        if self.metric.kind == "precomputed":
            return self.samples.checked[np.ix_(rows, train)]
        return take_rows(self.shown[0], rows)

    def shown_labels(self, fold: int) -> Any:
        """Cut out their labels."""
        return _safe_indexing(self.shown[1], self.splits[fold][1])

    def takes_as_given(self, transform: str) -> bool:
        """Whether classifiers take the samples of a representation without any transformer."""
        return self.representations[transform] is None


def make_plan(
    search: Any, X: Any, y: Any, groups: Any = None, kinds: Mapping[str, str] | None = None
) -> Plan:
    """Check all that a search gets, remember what it learns; `kinds` are columns to be treated otherwise."""
    metric, search.scorer_ = check_search(search)
    known = read_labels(search, y)
    search.classes_, labels = known.values, known.all()
    search._fit_untouched = not (search.transforms is None or isinstance(search.transforms, str))
    asked = resolve_transforms(search.transforms)
    as_given = asked is None or None in asked.values()
    _weigh_classes(search, labels)
    if not search._fit_untouched and metric.kind != "precomputed" and not metric.takes_gaps and is_table(X):
        samples = _learn_table(search, X, metric, kinds)
    else:
        samples = take_samples(search, X, metric, as_given, reset=True)
    # Here, because folds would name other rows than the user's.
    if metric.kind == "precomputed" or (metric.name == "nan_euclidean" and as_given):
        check_training_values(samples.checked, metric, squares=not callable(search.membership))
    rows = next(iter(samples.given.values())) if isinstance(samples.given, dict) else samples.given
    check_consistent_length(rows, labels)
    if len(labels) == 1:
        raise ValueError(
            "FuzzyOPFClassifierCV cannot cross-validate 1 sample; pass more, or use FuzzyOPFClassifier"
        )
    part = _choose_part(search, samples, labels, metric)
    if part is None:
        splits = cross_validation_splits(search.cv, rows, labels, groups)
    else:
        found = cross_validation_splits(search.cv, part, labels[part])
        splits = [(part[train], part[test]) for train, test in found]
    fewest = min(len(train) for train, _ in splits)
    representations = _choose_representations(search, samples, len(labels), metric, fewest)
    cells = list_cells(search, representations)
    search.part_ = np.arange(len(labels)) if part is None else part
    search.transforms_["part"] = len(search.part_)
    search.n_splits_, search._fit_metric = len(splits), tuple(metric)
    common = {name: getattr(search, name) for name in COMMON}
    shown = shown_to_scorers(X, y, samples.given, labels)
    return Plan(
        template=FuzzyOPFClassifier(k_max=max(cell.k_max for cell in cells), **common),
        samples=samples,
        names=vars(search).get("feature_names_in_"),
        y=labels,
        part=part,
        shown=shown,
        metric=metric,
        splits=splits,
        representations=representations,
        is_preset=search.transforms_["preset"] != "sequence",
        cells=cells,
        betas=as_list(search.betas),
        scorer=search.scorer_,
        refit=search.refit,
        averages=bool(search.refit and search.n_best != 1 and len(representations) > 1),
    )


def check_search(search: Any) -> tuple[Metric, Scorer | None]:
    """Check every parameter, before X and y are looked at; return the metric and the scorer."""
    check_parameters(search)
    metric = checked_metric(search)
    list_cells(search, [AS_GIVEN])
    scorer = resolve_scoring(search.scoring)
    resolve_transforms(search.transforms)
    if metric.kind == "precomputed" and search.transforms not in (None, "auto"):
        raise ValueError(
            f"transforms={show(search.transforms)} cannot be applied to metric='precomputed', where X "
            "has no features; use transforms=None, or pass features"
        )
    return metric, scorer


def list_cells(search: Any, names: Iterable[str]) -> list[Cell]:
    """List all combinations in these representations, but those along the tree with a sigma above 1."""
    values = map(as_list, (search.k_max, search.sigmas, search.competitions, search.n_conquerors))
    cells = [Cell(*one) for one in product(names, *values)]
    cells = [cell for cell in cells if not (cell.competition == "tree" and cell.sigma > 1)]
    if not cells:
        raise ValueError(
            f"competitions={show(search.competitions)} with sigmas={show(search.sigmas)} leave no cell: "
            "along the tree sigma must be <= 1; add a smaller sigma, or 'complete' to competitions"
        )
    return cells


def take_samples(search: Any, X: Any, metric: Metric, as_given: bool, reset: bool) -> Samples:
    """Check samples as far as no transformer does; those of users may take what no classifier would."""
    # A search that was fitted to a table checks new samples by what it learned of the columns.
    if "table_" in vars(search):
        checked = search.table_._check(X, reset=False)
        return Samples(X if isinstance(X, dict) else checked, None)
    # Every classifier learns the categories of its own samples.
    table = as_table(X) if metric.name == "gower" else None
    if not search._fit_untouched:
        checked, _ = read_samples(search, X, metric, reset)
        if table is not None:
            return Samples(table, table)
        with_names = hasattr(search, "feature_names_in_") and hasattr(X, "columns")
        return Samples(X if with_names and metric.kind != "precomputed" else checked, checked)
    (given,) = indexable(validate_data(search, X, reset=reset, skip_check_array=True))
    if not as_given:
        return Samples(given, None)
    if table is not None:
        return Samples(given, table)
    if is_sparse(X):
        return Samples(given, read_sparse(search, X, metric, reset, copy=False))
    checked = check_array(X, input_name="X", **array_options(metric))
    refuse_missing_dates(X, checked)
    return Samples(given, checked)


def _learn_table(search: Any, X: Any, metric: Metric, kinds: Mapping[str, str] | None) -> Samples:
    """Learn the columns of a whole table, of which every fold learns its own part again."""
    as_given = search.transforms is None or why_as_given(metric.name, callable(search.membership), False)
    search.table_ = TablePreprocessor(kinds, scale=bool(as_given)).fit(X)
    for name in ("n_features_in_", "feature_names_in_"):
        if name in vars(search.table_):
            setattr(search, name, getattr(search.table_, name))
    return Samples({name: np.asarray(X[name]) for name in X} if isinstance(X, dict) else X, None)


def as_numbers(search: Any, samples: Samples) -> np.ndarray | None:
    """Return a copy of samples as they were given; codes for texts, None if there is no number for a cell."""
    if "table_" in vars(search):
        return search.table_._codes(samples.given)
    if isinstance(samples.checked, np.ndarray) and samples.checked.dtype.kind == "f":
        return samples.checked.copy()
    try:
        numbers = np.array(samples.given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 2 and np.isfinite(numbers).all() else None


def _weigh_classes(search: Any, labels: np.ndarray) -> None:
    """Check what is said of the classes, and remember the weight of each, None for equal ones."""
    n, noise = len(search.classes_), search.label_noise
    if noise != "estimate" and n > 1 and n * noise >= n - 1:
        raise ValueError(
            f"label_noise={show(noise)} must be below {1 - 1 / n:.3g} for {n} classes, where labels would "
            "say nothing; pass a smaller share or 'estimate'"
        )
    weights, chosen = None, search.class_weight
    if isinstance(chosen, Mapping) and (unknown := [c for c in chosen if c not in search.classes_.tolist()]):
        raise ValueError(
            f"class_weight names {show(unknown[0])}, which is not among the classes; use those of y"
        )
    if isinstance(chosen, Mapping):
        weights = np.array([float(chosen.get(c, 1.0)) for c in search.classes_.tolist()])
    elif chosen is not None:
        weights = len(labels) / np.unique(labels, return_counts=True)[1] / n
    search._fit_class_weight = weights


def _choose_part(search: Any, samples: Samples, labels: np.ndarray, metric: Metric) -> np.ndarray | None:
    """Choose the samples to search on, where there are too many to search on all."""
    n = len(labels)
    if isinstance(search.cv, bool) or not isinstance(search.cv, Integral) or n <= PART:
        return None
    if metric.kind != "features":
        return None
    codes = np.unique(labels, return_inverse=True)[1]
    keys = content_keys([*_columns(samples), codes], n)
    part = choose_part(keys, codes, PART, int(search.cv))
    return part if len(part) < n else None


def _columns(samples: Samples) -> Iterable[np.ndarray]:
    """List the values of samples, column by column."""
    given = samples.given if samples.checked is None else samples.checked
    if isinstance(given, dict):
        return given.values()
    if isinstance(given, SparseSamples) or is_sparse(given):
        given = given if isinstance(given, SparseSamples) else given.tocsr()
        weights = np.random.RandomState(0).uniform(1, 2, given.shape[1])
        rows = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        # One after the other: the last bits of other sums depend on what stands beside a row.
        return [np.bincount(rows, given.data * weights[given.indices], given.shape[0])]
    if hasattr(given, "columns"):
        return (given[name] for name in given.columns)
    if isinstance(given, np.ndarray):
        return given.reshape(len(given), -1).T
    return [np.array([*map(repr, given)])]


def _choose_representations(
    search: Any, samples: Samples, n_samples: int, metric: Metric, fewest: int
) -> Representations:
    """List the candidates, and record what "auto" has chosen and why; each is fitted to `fewest` or more."""
    candidates, preset, reason = resolve_transforms(search.transforms), search.transforms, "as asked for"
    if search._fit_untouched:
        preset = "sequence"
    if candidates is None:
        is_sparse = isinstance(samples.checked, SparseSamples)
        as_given = why_as_given(metric.name, callable(search.membership), is_sparse)
        if as_given is None:
            if samples.checked is None:
                width = len(search.table_._sources())
            else:
                check_training_values(samples.checked, metric, squares=True)  # before scaling would hide them
                width = samples.checked.shape[1]
            sizes = n_samples, width, len(search.classes_)
            candidates, reason = representations_of(*sizes, search.random_state, search.n_jobs, fewest)
        else:
            candidates, preset, reason = resolve_transforms(None), None, as_given
    if "table_" in vars(search):
        candidates = behind_table(candidates, search.table_)
    search.transforms_ = {"preset": preset, "reason": reason, "names": list(candidates)}
    if search.verbose:
        say(f"{type(search).__name__}: transforms={preset!r} ({reason})")
    return candidates
