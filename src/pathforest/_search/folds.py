"""The cells of a plan, scored on every fold and fitted at the end, with the work they share done once.

:func:`prepare` does what all models of a representation on a fold share: lists of neighbours, the spanning
tree, prototypes, the cuts of all neighbourhoods. :func:`score` then grows each different forest once and asks
it for the evaluation samples; :func:`refit` makes models that equal those of an ordinary `fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from pathforest import _core
from pathforest._engines.build import EngineFactory
from pathforest._engines.engine import TREE_NEIGHBORS, Engine, KnnGraph
from pathforest._engines.samples import check_training_values, without_self
from pathforest._models.base import FitData, check_queries, keep_samples, open_fit
from pathforest._models.classifier import keep_forest
from pathforest._models.labels import Labels, compare_costs, flag
from pathforest._models.leave_one_out import leave_one_out_offers
from pathforest._models.offers import EXTRA_MEMBERS, AskedForest, ClassCosts, ClassGroups, Lists, answer_each
from pathforest._search.plan import ALL, Plan, Task
from pathforest._search.representations import STANDARDISED, fit_candidate, take_rows
from pathforest._search.scoring import (
    Answered,
    Cell,
    Scores,
    asks_answers_only,
    best_cell,
    call_scorer,
    given_probabilities,
    log_losses,
)
from pathforest._utils.checks import map_threads, thread_count
from pathforest._utils.progress import progress
from pathforest._utils.text import show
from pathforest.forest import Forest, SpanningTree, boundary_prototypes
from pathforest.fuzzy import FuzzyOPFClassifier, call_membership, compete, warn_of_training_error
from pathforest.graph import COMPETITION_NEIGHBORS, knn_graph, shorter_lists, spanning_tree
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

# Forests and their class costs held at once. Where there are more, neighbours are searched again.
ANSWER_BYTES = 2**28

# A pass over all samples pays if parts of this size in all would otherwise be searched, as multiples of it:
# its lists are longer, and a scan of a part costs the square of its size.
WORTH = 2.5

NOISE_CONQUERORS = 13  # that decide which labels are doubtful, the default of find_issues


class FoldWork:
    """What the representations of a fold share, each made once. It stays where it is; plans can travel."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` gave at the first call for a key; of two threads the first one's."""
        found = self._made.get(key)
        return self._made.setdefault(key, make()) if found is None else found

    def take(self, key: Any) -> Any:
        """Return what was made for a key and forget it; None if nothing was."""
        return self._made.pop(key, None)


class Part(NamedTuple):
    """The training samples of a fold in one representation, checked, with the evaluation samples."""

    transformer: Any  # fitted; None for samples as given
    model: FuzzyOPFClassifier  # unfitted, but it knows classes and features, and keeps the samples
    data: FitData
    codes: np.ndarray  # (n,) int32 class of each sample
    Q: np.ndarray  # evaluation samples, as `check_queries` returns them


class Ready(NamedTuple):
    """A part with all that its forests have in common."""

    part: Part
    names: np.ndarray | None  # of the features, which arrays of samples have lost
    graph: KnnGraph
    lists: KnnGraph  # the same, as long as competitions need them
    tree: SpanningTree
    prototypes: np.ndarray
    values: np.ndarray | None  # of the user's membership, instead of the density
    cuts: np.ndarray | None  # of every neighbourhood up to the largest k_max
    densities: dict[int, np.ndarray]  # of the neighbourhoods asked for so far


Near = tuple[slice, Lists]  # some evaluation samples, and the training samples of each class near them


def search(plan: Plan, build: EngineFactory) -> tuple[Plan, Scores]:
    """Score every cell here; return the plan with the lists that folds share."""
    plan, works = share_lists(plan, build), [FoldWork() for _ in plan.splits]
    collected = Collected(plan)
    with progress(len(plan.cells) * len(plan.splits), "pathforest search") as bar:
        for task in sorted(plan.tasks(), key=attrgetter("rows")):
            ready, n_steps = prepare(plan, task, works[task.fold], build), len(task.rows)
            bar.update(0.25 * n_steps)
            found = score(plan, task, ready, lambda part, n_steps=n_steps: bar.update(part * n_steps))
            collected.add(task, found)
    return plan, collected.scores()


class Collected:
    """Scores of tasks as they come; what cells give the labels is kept of one cell per representation."""

    def __init__(self, plan: Plan) -> None:
        self._plan, shape = plan, (len(plan.cells), len(plan.splits), len(plan.betas))
        self._score, self._log_loss = np.empty(shape), np.empty(shape)
        self._waiting: dict[str, dict[int, np.ndarray]] = {}  # of each fold
        self._best: dict[str, tuple[int, np.ndarray]] = {}  # row and probabilities of the best cell

    def add(self, task: Task, found: Scores) -> None:
        """Take the scores of one task."""
        plan, rows, name = self._plan, task.rows, task.transform
        self._score[rows, task.fold], self._log_loss[rows, task.fold] = found.score, found.log_loss
        if found.given is None:
            return
        given = self._waiting.setdefault(name, {})
        given[task.fold] = found.given
        if len(given) == len(plan.splits):
            cells, scores = [plan.cells[row] for row in rows], (self._score[rows], self._log_loss[rows])
            best, beta = best_cell(cells, *scores, by_score=plan.scorer is not None)
            parts = [given[fold][best, beta] for fold in range(len(plan.splits))]
            self._best[name] = rows[best], np.concatenate(parts)
            del self._waiting[name]

    def scores(self) -> Scores:
        """Return the scores of all tasks together."""
        if not self._best:
            return Scores(self._score, self._log_loss)
        rows, given = zip(*(self._best[name] for name in self._plan.representations), strict=True)
        return Scores(self._score, self._log_loss, np.array(rows), np.array(given))


# What models of a representation on a fold have in common


def represent(plan: Plan, task: Task, work: FoldWork, build: EngineFactory) -> Part:
    """Fit the transformer of a representation, and check what it makes of both parts of a fold."""
    train, _ = plan.split(task.fold)
    X, Q = _both_parts(plan, task)
    transformer, y = plan.representations[task.transform], plan.y[train]
    if transformer is not None:
        once, part = work.once if plan.is_preset else None, plan.part if task.fold == ALL else None
        transformer, X, Q = fit_candidate(transformer, X, y, Q, once, part)
    try:
        model = clone(plan.template)
        data = open_fit(model, X, y, labelled=True, as_given=False)
        model.classes_, codes = data.labels
        options = model.algorithm, data.n_threads, model.verbose
        data.engine = build(data.X, data.metric, *options, device=model.device)
        data.grown = data.grown if task.fold == ALL else None  # models of folds do not grow
        keep_samples(model, data)
        Q = None if Q is None else check_queries(model, Q)
    except (TypeError, ValueError) as error:
        if transformer is None:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"the samples of transform {show(task.transform)} cannot be used: {error}; leave it out of "
            "transforms, or choose another metric"
        ) from error
    return Part(transformer, model, data, codes.astype(np.int32), Q)


def prepare(plan: Plan, task: Task, work: FoldWork, build: EngineFactory) -> Ready:
    """Do what all forests of a task have in common: lists, spanning tree, prototypes, cuts."""
    part = work.take(task.transform) or represent(plan, task, work, build)
    data, (train, _) = part.data, plan.split(task.fold)
    k, n_threads, values, cuts = min(int(plan.template.k_max), len(data.X) - 1), data.n_threads, None, None
    if callable(plan.template.membership):
        values = call_membership(plan.template.membership, data.X, data.labels.all())
    length = max(k, min(TREE_NEIGHBORS, len(data.X) - 1))
    names = plan.names if plan.representations[task.transform] is None else None  # transformers have them
    if plan.lists is not None and plan.takes_as_given(task.transform) and (np.diff(train) > 0).all():
        graph = lists_of_part(plan.lists, train, data.engine, data.X, length, n_threads)
    else:
        graph = knn_graph(data.engine, length, n_threads)
    tree = spanning_tree(data.engine, graph, n_threads)
    prototypes = boundary_prototypes(tree, part.codes)
    if values is None:
        _, cuts = search_k(graph, k, data.metric.squared, n_threads)
    lists = shorter_lists(graph, COMPETITION_NEIGHBORS)
    return Ready(part, names, graph, lists, tree, prototypes, values, cuts, {})


def _both_parts(plan: Plan, task: Task) -> tuple[Any, Any]:
    """Return both parts of a fold as a representation takes them."""
    has_transformer = plan.representations[task.transform] is not None
    source = plan.samples.given if has_transformer else plan.samples.checked
    if task.fold == ALL:
        return source, None
    train, rows = plan.splits[task.fold]
    if plan.metric.kind == "precomputed":
        return source[np.ix_(train, train)], source[np.ix_(rows, train)]
    return take_rows(source, train), take_rows(source, rows)


# Neighbours of all samples, enough for the lists of large parts to be read from them


def share_lists(plan: Plan, build: EngineFactory, always: bool = False) -> Plan:
    """Find the neighbours of all samples if folds can read theirs from them, and if that pays or `always`."""
    n, sizes = len(plan.y), [len(train) for train, _ in plan.splits]
    if not (
        (always or sum(sizes) + n * plan.refit >= WORTH * n)
        and any(map(plan.takes_as_given, plan.representations))
        # Each part of the samples has Gower's distances of its own.
        and plan.metric.kind == "features"
        and plan.metric.name != "gower"
        and 2 * min(sizes) >= n  # else lists of all samples would have to be very long
    ):
        return plan
    template, X = plan.template, plan.samples.checked
    try:
        check_training_values(X, plan.metric, squares=True)
    except ValueError:  # the fold that meets such values says so
        return plan
    n_threads = thread_count(template.n_jobs)
    engine = build(X, plan.metric, template.algorithm, n_threads, device=template.device)
    k = min(max(int(template.k_max), TREE_NEIGHBORS), engine.n_samples - 1)
    length = min(list_length(k, min(sizes) / n), engine.n_samples - 1)
    return replace(plan, lists=knn_graph(engine, length, n_threads))


def list_length(k: int, share: float) -> int:
    """Return how long lists of all samples must be for lists of k in random parts with a share of them."""
    return int(np.ceil((k + np.sqrt(k)) / share))  # two standard deviations fewer than expected are enough


def lists_of_part(
    lists: KnnGraph, chosen: np.ndarray, engine: Engine, X: np.ndarray, k: int, n_threads: int
) -> KnnGraph:
    """Return the lists of some samples, ascending, among themselves; `engine` answers where one ends."""
    *found, short = _core.subset_lists(*lists, chosen.astype(np.int32), k, n_threads)
    graph = KnnGraph(*found)
    if len(short):
        near = engine.query(X[short], k + 1, n_threads)
        graph.distances[short], graph.indices[short] = without_self(*near, short)
    return graph


# One forest of many


def configure(ready: Ready, cell: Cell, **params: Any) -> FuzzyOPFClassifier:
    """Make the unfitted classifier of a cell, which has its memberships already."""
    part, settings = ready.part, {name: getattr(cell, name) for name in ("k_max", "sigma", "competition")}
    model = clone(part.model).set_params(**settings, **params)
    if ready.values is not None:
        model.membership_ = values_to_membership(ready.values, cell.sigma)
        return model
    # The search of a smaller k_max would have tried a part of the same cuts.
    model.cuts_ = ready.cuts[: int(cell.k_max)]
    k = model.best_k_ = int(np.argmin(model.cuts_)) + 1 if len(part.data.X) > 1 else 0
    if k not in ready.densities:
        ready.densities[k] = density(ready.graph, k, part.data.metric.squared)
    model.density_ = ready.densities[k]
    model.membership_ = fuzzy_membership(model.density_, cell.sigma)
    return model


def _key(model: FuzzyOPFClassifier) -> Any:
    """Tell forests of one training set apart, given a classifier that has its memberships."""
    if (model.membership_ == 1).all():
        return "plain"
    return getattr(model, "best_k_", None), float(model.sigma), model.competition


def grow(ready: Ready, models: Sequence[FuzzyOPFClassifier]) -> Iterator[Forest]:
    """Yield the forest of each configured model. One grows on one thread, so several do at once."""
    engine = ready.part.data.engine

    def compete_for(model: FuzzyOPFClassifier) -> Forest:
        common = engine, ready.lists, ready.tree, ready.prototypes, model.membership_
        return compete(*common, model.competition, model.membership_side, model.sigma)

    n_threads = ready.part.data.n_threads if len(models) > 1 and engine.concurrent else 1
    return map_threads(compete_for, n_threads, models)


def fitted(ready: Ready, cell: Cell, beta: float, forest: Forest) -> Any:
    """Make the model that `fit` would give for a cell: a classifier, or a pipeline that ends in one."""
    part, model = ready.part, configure(ready, cell, n_conquerors=cell.n_conquerors, beta=beta)
    for name in ("classes_", "n_features_in_", "feature_names_in_", "categories_"):
        if hasattr(part.model, name):
            setattr(model, name, getattr(part.model, name))
    if ready.names is not None:
        model.feature_names_in_ = ready.names
    keep_forest(model, part.data, ready.prototypes, forest, part.codes)
    if part.transformer is None:
        return model
    return Pipeline([("transform", part.transformer), ("classifier", model)])


def refit(plan: Plan, rows: Sequence[int], betas: Sequence[float], build: EngineFactory) -> list[Any]:
    """Fit cells on all samples: classifiers, or pipelines that end in one."""
    cells, work, forests, models = [plan.cells[row] for row in rows], FoldWork(), FoldWork(), []
    with progress(len(cells), "pathforest refit") as bar:
        names = dict.fromkeys(cell.transform for cell in cells)
        ready = {name: prepare(plan, Task(ALL, name, []), work, build) for name in names}
        for cell, beta in zip(cells, betas, strict=True):
            own, model = ready[cell.transform], configure(ready[cell.transform], cell)
            make = partial(next, grow(own, [model]))
            model = fitted(own, cell, beta, forests.once((cell.transform, _key(model)), make))
            warn_of_training_error(model[-1] if isinstance(model, Pipeline) else model)
            models.append(model)
            bar.update()
    return models


# Wrong labels among the training samples


def estimate_noise(plan: Plan, build: EngineFactory) -> float:
    """Estimate the share of wrong labels among the samples searched on, less one standard error."""
    name = STANDARDISED if STANDARDISED in plan.representations else next(iter(plan.representations))
    found = represent(plan, Task(ALL, name, []), FoldWork(), build)
    X, codes = found.data.X, found.codes
    if plan.part is not None:
        X, codes = X[plan.part], Labels.of(codes[plan.part]).codes
    samples = found.model._samples._replace(X=X, cache={})
    offers = leave_one_out_offers(samples, codes, NOISE_CONQUERORS)
    _, share = flag(compare_costs(offers.own, offers.rival_cost, offers.rival), codes)
    return max(0.0, share - float(np.sqrt(share * (1 - share) / len(codes))))


# Scores


def find_near(part: Part, rows: slice, n_conquerors: int) -> Near:
    """List the training samples of each class near some evaluation samples."""
    return rows, _classes_of(part).nearest(part.Q[rows], n_conquerors)


def _classes_of(part: Part) -> ClassGroups:
    """Return the training samples class by class."""
    samples, options = part.model._samples, (part.codes, len(part.model.classes_), part.Q.dtype)
    return samples.cached("classes", lambda: ClassGroups(samples, *options))


def class_costs(
    ready: Ready,
    models: Sequence[FuzzyOPFClassifier],
    n_conquerors: Sequence[int],
    near: Sequence[Near] = (),
    report: Callable[[float], object] = lambda part: None,
) -> Iterator[tuple[int, Forest, ClassCosts]]:
    """Yield place, forest and class costs of each configured model; `report` gets each part of the work."""
    part, Q, n_classes = ready.part, ready.part.Q, len(ready.part.model.classes_)
    counts = np.array([min(int(r), len(part.codes)) for r in n_conquerors], dtype=np.int32)
    shape, groups, r = (len(counts), len(Q), n_classes), _classes_of(part), int(counts[-1])
    # Memberships, costs, predecessors, roots and orders of the samples, and what their classes cost.
    n_bytes = 32 * len(part.codes) + len(Q) * n_classes * (8 * len(counts) + 4)
    size = max(1, ANSWER_BYTES // n_bytes)
    for start in range(0, len(models), size):
        batch, forests, asked = models[start : start + size], [], []
        for forest in grow(ready, batch):
            forests.append(forest)
            asked.append(AskedForest(groups, forest.cost, forest.order, part.codes[forest.root]))
            report(0.5 / len(models))
        answers = [ClassCosts(np.empty(shape), np.empty(shape[1:], dtype=np.int32)) for _ in batch]
        blocks = ((rows, Q[rows], lists) for rows, lists in near)
        if not near:  # queries become distances if there is no engine for the metric
            found = part.model._samples.blocks(Q, width=2 * (r + EXTRA_MEMBERS) * n_classes)
            blocks = ((rows, block, groups.nearest(block, r)) for rows, block in found)
        for rows, block, lists in blocks:
            parts = answer_each(asked, block, lists, [counts] * len(asked))
            for answer, one in zip(answers, parts, strict=True):
                answer.cost[:, rows], answer.first[rows] = one
                report(0.5 * len(block) / len(Q) / len(models))
        del asked
        while answers:
            yield start + len(batch) - len(answers), forests.pop(0), answers.pop(0)


def score(
    plan: Plan, task: Task, ready: Ready, report: Callable[[float], object], near: Sequence[Near] = ()
) -> Scores:
    """Score the cells of a task; `near` is what `find_near` gave for all evaluation samples, or nothing."""
    cells, shape = [plan.cells[row] for row in task.rows], (len(task.rows), len(plan.betas))
    found = Scores(np.empty(shape), np.empty(shape))
    if plan.averages:
        found = found._replace(given=np.empty((*shape, len(ready.part.Q)), dtype=np.float32))
    y, classes = plan.y[plan.splits[task.fold][1]], ready.part.model.classes_
    counts = sorted({cell.n_conquerors for cell in cells})
    models, served = {}, {}
    for position, cell in enumerate(cells):
        settings = cell[1:-1]
        if settings not in models:
            models[settings] = configure(ready, cell)
        served.setdefault(_key(models[settings]), []).append(position)
    positions_of = list(served.values())
    first = [models[cells[positions[0]][1:-1]] for positions in positions_of]
    X = None if plan.scorer is None else plan.shown_samples(task.fold)
    for place, forest, costs in class_costs(ready, first, counts, near, lambda part: report(part / 2)):
        given = given_probabilities(plan.betas, classes, costs.cost, y, ready.part.data.n_threads)
        losses = log_losses(given)
        for r, count in enumerate(counts):
            coinciding = [p for p in positions_of[place] if cells[p].n_conquerors == count]
            if coinciding:
                same = [cells[p] for p in coinciding]
                found.score[coinciding] = _scores(plan, task.fold, ready, same, forest, costs, r, X)
                found.log_loss[coinciding] = losses[r]
                if found.given is not None:
                    found.given[coinciding] = given[r]
                report(0.25 * len(coinciding) / len(cells))
    return found


def _scores(
    plan: Plan, fold: int, ready: Ready, cells: list[Cell], forest: Forest, costs: ClassCosts, r: int, X: Any
) -> np.ndarray:
    """Return the score of each cell for each beta, given cells that have these class costs in common."""
    # scikit-learn's scorers are called once, or per beta if they ask for probabilities; others may change
    # what they get, so each has a model and samples of its own.
    classes, winner = ready.part.model.classes_, costs.winner(r)
    if plan.scorer is None:
        return np.mean(classes[winner] == plan.y[plan.splits[fold][1]])
    scores = np.empty((len(cells), len(plan.betas)))
    for b, beta in enumerate(plan.betas):
        if asks_answers_only(plan.scorer):
            build = partial(fitted, ready, cells[0], beta, forest)
            model = Answered(X, classes, winner, costs.cost[r], beta, build)
            scores[:, b:] = call_scorer(plan.scorer, model, X, plan.shown_labels(fold))
            if not model.gave_probabilities:
                break
        else:
            for c, cell in enumerate(cells):
                model = deepcopy(fitted(ready, cell, beta, forest))
                samples = plan.shown_samples(fold), plan.shown_labels(fold)
                scores[c, b] = call_scorer(plan.scorer, model, *samples)
    return scores
