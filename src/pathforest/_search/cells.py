"""The cells of a search, scored on every fold with the work they share done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import cached_property, partial
from itertools import groupby, product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _get_feature_names

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.engine import TREE_NEIGHBORS
from pathforest._engines.samples import check_training_values
from pathforest._models.offers import EXTRA_MEMBERS
from pathforest._models.parameters import as_list
from pathforest._search.known import Evaluation, KnownModels
from pathforest._search.neighbors import SharedLists, is_worth_it
from pathforest._search.representations import Representation
from pathforest._search.scoring import Judge
from pathforest._search.shared_work import sharing_work
from pathforest._search.training import Near, Settings, SharedTraining, own_lists
from pathforest._utils.progress import Progress, Share
from pathforest._utils.text import show
from pathforest.fuzzy import FuzzyOPFClassifier, warn_of_training_error

LIST_BYTES = 12  # of a distance and an index


class Cell(NamedTuple):
    """One candidate model: a representation by its name, then the classifier's own parameters."""

    transform: str
    k_max: int
    sigma: float
    competition: str
    n_conquerors: int

    @property
    def settings(self) -> Settings:
        """What decides its forest."""
        return Settings(self.k_max, self.sigma, self.competition)


class Space(NamedTuple):
    """The values that a search combines."""

    transforms: Sequence[str]
    k_max: Sequence[int]
    sigmas: Sequence[float]
    competitions: Sequence[str]
    n_conquerors: Sequence[int]

    @property
    def cells(self) -> list[Cell]:
        """All combinations, but those along the tree with a sigma above 1."""
        cells = (Cell(*values) for values in product(*self))
        return [cell for cell in cells if not (cell.competition == "tree" and cell.sigma > 1)]


def make_space(k_max: Any, sigmas: Any, competitions: Any, n_conquerors: Any) -> Space:
    """List the candidates, which have been checked, for every parameter but the representation."""
    space = Space((), *map(as_list, (k_max, sigmas, competitions, n_conquerors)))
    if min(space.sigmas) > 1:
        space = space._replace(competitions=[c for c in space.competitions if c != "tree"])
    if not space.competitions:
        raise ValueError(
            f"competitions={show(competitions)} with sigmas={show(sigmas)} leave no cell: along the "
            "tree sigma must be <= 1; add a smaller sigma, or 'complete' to competitions"
        )
    return space


class Scores(NamedTuple):
    """How well each cell did on each fold, for each beta; scores of labels alone are the same for all."""

    score: np.ndarray  # (n_cells, n_folds, n_betas)
    log_loss: np.ndarray  # (n_cells, n_folds, n_betas)


class Part(NamedTuple):
    """Cells of one representation, to be scored on one fold."""

    fold: int
    name: str  # of the representation
    cells: list[Cell]
    positions: list[int]  # of the cells among all

    @property
    def n_conquerors(self) -> int:
        """The most that a cell has."""
        return max(cell.n_conquerors for cell in self.cells)


class Samples(NamedTuple):
    """The same samples twice: for transformers, and for classifiers that take them as given."""

    given: Any  # whatever the transformers accept
    checked: np.ndarray | None  # None if every candidate has a transformer


class First(NamedTuple):
    """A transformer that comes before every representation, fitted in each fold, and what it takes."""

    transformer: Any
    X: Any  # rows that can be indexed, or a dict of columns


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of samples, which may be a dict of columns."""
    if isinstance(X, dict):
        return {name: column[rows] for name, column in X.items()}
    return _safe_indexing(X, rows)


def as_numbers(samples: Samples) -> np.ndarray | None:
    """Return a copy of samples as they were given; None if they are not all numbers."""
    if isinstance(samples.checked, np.ndarray) and samples.checked.dtype.kind == "f":
        return samples.checked.copy()
    try:
        numbers = np.array(samples.given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 2 and np.isfinite(numbers).all() else None


# Scores the parts of some folds, in any order: ``run(folds, parts, judge, bar)``.
Runner = Callable[["Folds", list[Part], Judge, Progress], Iterator[tuple[Part, Scores]]]


def one_by_one(folds: Folds, parts: list[Part], judge: Judge, bar: Progress) -> Iterator[tuple[Part, Scores]]:
    """Score parts here, one after the other; those of a fold share what they have in common."""
    for _, of_fold in groupby(parts, attrgetter("fold")):
        with sharing_work():
            for part in of_fold:
                share = Share(bar, len(part.cells))
                yield part, folds.score_part(part, judge, share)
                share.finish()


class Folds:
    """Training and evaluation parts of the samples, in every candidate representation.

    `shown` are samples and labels as the user passed them: scorers get their evaluation parts.
    """

    def __init__(
        self,
        template: FuzzyOPFClassifier,
        samples: Samples,
        y: np.ndarray,
        shown: tuple[Any, Any],
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
        representations: Sequence[Representation],
        make_engine: EngineFactory,
        refit: bool = True,
        run: Runner = one_by_one,
        first: First | None = None,
    ) -> None:
        self._first, self._encoded = first, None
        self._template, self._samples, self._y, self._splits = template, samples, y, splits
        self._shown, self._names = shown, _get_feature_names(samples.given)
        self._transformers = dict(representations)
        self._make_engine, self._run = make_engine, run
        self._n_kept = 0
        self._kept: dict[tuple[int, str], tuple[Any, SharedTraining, np.ndarray]] = {}
        self._refit = refit
        self._lists: SharedLists | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was prepared: engines cannot travel, and are made again where they are needed."""
        return {**vars(self), "_kept": {}, "_encoded": None}

    def score(self, cells: Sequence[Cell], judge: Judge, bar: Progress) -> Scores:
        """Score the cells on all folds; the bar moves by one step per cell and fold."""
        shape = len(cells), len(self._splits), len(judge.betas)
        scores = Scores(np.empty(shape), np.empty(shape))
        by_name: dict[str, list[int]] = {}
        for position, cell in enumerate(cells):
            by_name.setdefault(cell.transform, []).append(position)
        parts = [
            Part(fold, name, [cells[position] for position in positions], positions)
            for fold in range(len(self._splits))
            for name, positions in by_name.items()
        ]
        for part, done in self._run(self, parts, judge, bar):
            scores.score[part.positions, part.fold], scores.log_loss[part.positions, part.fold] = done
        return scores

    def score_part(self, part: Part, judge: Judge, share: Share, near: Sequence[Near] = ()) -> Scores:
        """Score the cells of a part; the result has no axis for folds.

        `near` are answers of :meth:`near` for all its evaluation samples; without them they are found here.
        """
        take = partial(self._evaluation_samples, part.fold), partial(self._evaluation_labels, part.fold)
        evaluation = Evaluation(*take, self._y[self._splits[part.fold][1]])
        transformer, shared, Q = self._prepare(part)
        self._kept.pop((part.fold, part.name), None)  # nothing comes back to it
        shared.grow()
        share.advance(0.25)
        if near:
            shared.keep_near(Q, part.n_conquerors, near)
        blank, build = _chain(transformer, self._template), partial(_own_model, transformer, shared)
        models = KnownModels(evaluation, shared.classes, blank, build)
        return _score(shared, Q, models, part.cells, judge, share)

    def refit(self, cells: Sequence[Cell], betas: Sequence[float], bar: Progress) -> list[Any]:
        """Fit the cells on all samples: classifiers, or pipelines that end in one, each a step of the bar."""
        trained: dict[str, tuple[Any, SharedTraining]] = {}
        with sharing_work():
            for name in dict.fromkeys(cell.transform for cell in cells):
                transformer, X = self._represent(name, self._source(name), self._y)
                with _naming(name, transformer):
                    trained[name] = transformer, self._train(transformer, X, np.arange(len(self._y)))
        models = []
        for cell, beta in zip(cells, betas, strict=True):
            transformer, shared = trained[cell.transform]
            models.append(_model(transformer, shared, cell, beta))
            classifier = models[-1] if transformer is None else models[-1][-1]
            warn_of_training_error(classifier)
            bar.update()
        return models

    @property
    def n_samples(self) -> int:
        """Number of samples, in all folds."""
        return len(self._y)

    def numbers(self) -> np.ndarray | None:
        """Return a copy of all samples as given, None if they have no numbers for features."""
        return None if self._template.metric == "precomputed" else as_numbers(self._samples)

    def search_size(self, part: Part) -> tuple[int, int, int] | None:
        """Return the numbers of evaluation samples, of training samples and of features.

        None if a transformer decides them, or if the metric takes no features.
        """
        is_as_given = self._transformers[part.name] is None and self._first is None
        if not (is_as_given and self._template._settings().metric.kind == "features"):
            return None
        train, rows = self._splits[part.fold]
        return len(rows), len(train), self._samples.checked.shape[1]

    def near_bytes(self, part: Part) -> int:
        """Return how much :meth:`near` gives for all evaluation samples of a part, at most."""
        n_rows = len(self._splits[part.fold][1])
        return n_rows * self._n_classes * (part.n_conquerors + EXTRA_MEMBERS) * LIST_BYTES

    @cached_property
    def _n_classes(self) -> int:
        return len(np.unique(self._y))

    def find_lists(self) -> None:
        """Find the neighbours of all samples now, if training parts can take theirs from them."""
        if self._can_share_lists():
            self._lists_of_all()

    def local_copy(self, n_kept: int) -> Folds:
        """Return what scores parts on another machine, and keeps what it has prepared for `n_kept`."""
        folds = copy(self)
        folds._make_engine, folds._run, folds._kept = build_engine, one_by_one, {}
        folds._n_kept = n_kept
        return folds

    def near(self, part: Part, rows: slice) -> Near:
        """Find the training samples of each class near some of the evaluation samples of a part."""
        _, shared, Q = self._prepare(part)
        return shared.find_near(Q, rows, part.n_conquerors)

    def _evaluation_samples(self, fold: int) -> Any:
        train, rows = self._splits[fold]
        if self._template.metric == "precomputed":
            return self._samples.checked[np.ix_(rows, train)]
        return take_rows(self._shown[0], rows)

    def _evaluation_labels(self, fold: int) -> Any:
        return _safe_indexing(self._shown[1], self._splits[fold][1])

    def _prepare(self, part: Part) -> tuple[Any, SharedTraining, np.ndarray]:
        """Represent the samples of a part; return its transformer, training set and evaluation samples."""
        fold, name = part.fold, part.name
        if prepared := self._kept.get((fold, name)):
            return prepared
        train = self._splits[fold][0]
        first, X, Q = self._parts(fold, name)
        transformer, X = self._represent(name, X, self._y[train])
        if transformer is not None:
            Q = transformer.transform(Q)
        with _naming(name, transformer):
            shared = self._train(transformer, X, train)
            before = transformer if first is None else make_pipeline(first, transformer)
            prepared = before, shared, shared.check_queries(Q)
        self._kept[fold, name] = prepared
        for key in list(self._kept)[: max(0, len(self._kept) - self._n_kept)]:
            self._kept.pop(key, None)  # another thread may do the same
        return prepared

    def _parts(self, fold: int, name: str) -> tuple[Any, Any, Any]:
        """Return both parts of a fold as a representation takes them, and the fitted first step, if any."""
        train, rows = self._splits[fold]
        if self._template.metric == "precomputed":
            D = self._samples.checked
            return None, D[np.ix_(train, train)], D[np.ix_(rows, train)]
        if self._first is None:
            source = self._source(name)
            return None, _safe_indexing(source, train), _safe_indexing(source, rows)
        encoded = self._encoded  # of the last fold; another thread may replace it
        if encoded is None or encoded[0] != fold:
            first, (X, Q) = (
                clone(self._first.transformer),
                (take_rows(self._first.X, r) for r in (train, rows)),
            )
            encoded = fold, (first, first.fit_transform(X, self._y[train]), first.transform(Q))
            self._encoded = encoded
        return encoded[1]

    def _train(self, transformer: Any, X: Any, rows: np.ndarray) -> SharedTraining:
        names = self._names if transformer is None else None  # a transformer has them itself
        find_lists = own_lists
        if transformer is None and self._share_lists() and (np.diff(rows) > 0).all():
            find_lists = partial(self._lists_of_all().of_part, rows)
        y, places = self._y[rows], (self._make_engine, names)
        return SharedTraining(self._template, X, y, *places, find_lists)

    def _share_lists(self) -> bool:
        """Whether training parts of the samples as given take their neighbour lists from those of all."""
        if self._lists is not None:
            return True
        everyone = [np.arange(len(self._y))] if self._refit else []
        parts = [train for train, _ in self._splits] + everyone
        return self._can_share_lists() and is_worth_it(parts, len(self._y))

    def _can_share_lists(self) -> bool:
        metric = self._template._settings().metric
        if metric.kind != "features" or metric.name == "gower" or self._samples.checked is None:
            return False  # each part of the samples has Gower's distances of its own
        if self._first is not None:
            return False  # and features of its own after a first step
        if 2 * min(len(train) for train, _ in self._splits) < len(self._y):
            return False  # lists of all samples would have to be very long
        try:
            check_training_values(self._samples.checked, metric, squares=True)
        except ValueError:  # the fold that meets such values says so
            return False
        return True

    def _lists_of_all(self) -> SharedLists:
        if self._lists is None:
            metric, n_threads, _ = self._template._settings()
            X, share = self._samples.checked, min(len(train) for train, _ in self._splits) / len(self._y)
            engine = self._make_engine(X, metric, self._template.algorithm, n_threads)
            k = min(max(int(self._template.k_max), TREE_NEIGHBORS), engine.n_samples - 1)
            self._lists = SharedLists(engine, k, share, n_threads)
        return self._lists

    def _represent(self, name: str, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        """Fit a representation; return its transformer, None for samples as given, and what it makes of X."""
        transformer = self._transformers[name]
        if transformer is None:
            return None, X
        transformer = clone(transformer)
        if hasattr(transformer, "fit_transform"):
            return transformer, transformer.fit_transform(X, y)
        return transformer, transformer.fit(X, y).transform(X)

    def _source(self, name: str) -> Any:
        return self._samples.checked if self._transformers[name] is None else self._samples.given


@contextmanager
def _naming(name: str, transformer: Any) -> Iterator[None]:
    """Say which representation the classifier refuses, if it has a transformer."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if transformer is None:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"the samples of transform {show(name)} cannot be used: {error}; leave it out of transforms, or "
            "choose another metric"
        ) from error


def _chain(transformer: Any, classifier: FuzzyOPFClassifier) -> Any:
    """Put a transformer, if any, before a classifier."""
    steps = [("transform", transformer), ("classifier", classifier)]
    return classifier if transformer is None else Pipeline(steps)


def _model(transformer: Any, shared: SharedTraining, cell: Cell, beta: float) -> Any:
    """Make the fitted model of a cell: a classifier, or a pipeline that ends in one."""
    classifier = shared.classifier(cell.settings, n_conquerors=cell.n_conquerors, beta=beta)
    return _chain(transformer, classifier)


def _own_model(transformer: Any, shared: SharedTraining, cell: Cell, beta: float) -> Any:
    """Make a model that shares nothing with others, for scorers that fit it again or write into it."""
    return deepcopy(_model(transformer, shared, cell, beta))


def _score(
    shared: SharedTraining,
    Q: np.ndarray,
    models: KnownModels,
    cells: Sequence[Cell],
    judge: Judge,
    share: Share,
) -> Scores:
    """Score cells of one training set on its evaluation samples `Q`, which scorers get from `models`."""
    shape = len(cells), len(judge.betas)
    result = Scores(np.empty(shape), np.empty(shape))
    settings = list(dict.fromkeys(cell.settings for cell in cells))
    counts = sorted({cell.n_conquerors for cell in cells})
    positions: dict[Any, list[int]] = {}
    for position, cell in enumerate(cells):
        positions.setdefault((cell.settings, cell.n_conquerors), []).append(position)
    answers = shared.class_costs(Q, settings, counts, lambda part: share.advance(part / 2))
    y = models.evaluation.labels
    for served, costs in answers:
        log_losses = judge.log_losses(shared.classes, costs.cost, y, shared.n_threads)
        for r, count in enumerate(counts):
            coinciding = [p for s in served for p in positions.get((settings[s], count), ())]
            if coinciding:
                result.score[coinciding] = judge.scores(models, [cells[p] for p in coinciding], costs, r)
                result.log_loss[coinciding] = log_losses[r]
                share.advance(0.25 * len(coinciding) / len(cells))
    return result
