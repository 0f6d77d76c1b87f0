"""What a search answers once it has chosen: the average of its best cells, and the reasons of the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from pathforest._engines.build import build_engine
from pathforest._engines.metric import Metric
from pathforest._models.base import answering, check_queries
from pathforest._models.explanation import (
    Explanation,
    Explanations,
    Feature,
    Shown,
    compare_features,
    explain_queries,
    feature_scales,
    in_units_of,
    only_scales,
    with_texts,
)
from pathforest._models.offers import KeptForest, class_costs, decide, probabilities, row_sums
from pathforest._models.parameters import AT_PREDICTION, check_parameters
from pathforest._persistence.checks import (
    FEATURE_TYPES,
    INPUT,
    LEARNED,
    Saved,
    array,
    check_classes,
    check_steps,
    check_transformer,
    demand,
    indices,
    number,
    one_of,
)
from pathforest._search import folds
from pathforest._search.plan import Plan, Samples, Task, as_numbers, take_samples
from pathforest._tables.columns import CATEGORY, DATE, day_text, default_names
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.preprocessing import DROP, TablePreprocessor


def check_samples(search: Any, X: Any) -> Samples:
    """Check new samples, as far as no transformer does."""
    check_is_fitted(search, "estimators_")
    as_given = any(isinstance(model, FuzzyOPFClassifier) for model in search.estimators_)
    samples = take_samples(search, X, Metric(*search._fit_metric), as_given, reset=False)
    if samples.checked is None:
        return samples
    named = all(hasattr(model, "feature_names_in_") for model in search.estimators_)
    # The command line fits arrays and adds the names afterwards.
    if named or search._fit_untouched or "table_" in vars(search):
        return samples
    return samples._replace(given=samples.checked)


def classifier_of(model: Any) -> FuzzyOPFClassifier:
    """Return a classifier itself, or the one at the end of a pipeline."""
    return model if isinstance(model, FuzzyOPFClassifier) else model[-1]


def represent(model: Any, samples: Samples) -> Any:
    """Give samples the representation that the classifier of a model takes."""
    if isinstance(model, Pipeline):
        return model[:-1].transform(samples.given)
    return samples.given if hasattr(model, "feature_names_in_") else samples.checked


def ask(
    search: Any, models: Sequence[Any], samples: Samples, rows: np.ndarray | None = None
) -> tuple[list[KeptForest], np.ndarray]:
    """Return the forests of models with the same representation, and the queries in it."""
    classifiers = [classifier_of(model) for model in models]
    for classifier in classifiers:
        check_parameters(classifier, AT_PREDICTION)
    X = represent(models[0], samples)
    Q = check_queries(classifiers[0], X if rows is None else _safe_indexing(X, rows))
    return [classifier._forest.on(search.device) for classifier in classifiers], Q


def grow(search: Any, samples: Samples, y: Any) -> None:
    """Add samples to each model, whose transformers stay as they are."""
    made: dict[int, Any] = {}  # by transformer, which models share
    models = []
    for model in search.estimators_:
        *steps, (name, classifier) = model.steps if isinstance(model, Pipeline) else [("", model)]
        key = id(steps[0][1]) if steps else 0
        if key not in made:
            made[key] = represent(model, samples)
        grown = object.__new__(type(classifier))  # a copy: the models stay as they are if one fails
        vars(grown).update(vars(classifier))
        grown.partial_fit(made[key], y)
        models.append(Pipeline([*steps, (name, grown)]) if steps else grown)
    search.estimators_ = models
    if "_fit_samples" in vars(search):
        numbers = as_numbers(search, samples)
        search._fit_samples = None if numbers is None else np.concatenate([search._fit_samples, numbers])


def costs_of(search: Any, models: Sequence[Any], samples: Samples) -> list[np.ndarray]:
    """Return the class costs of some models that were trained on the same samples."""
    forests, Q = ask(search, models, samples)
    with answering(search, Q) as bar:
        return [costs.cost[0] for costs in class_costs(forests, Q, bar)]


# Probabilities that the correction for wrong labels leaves at least, and as a part of their share: chosen on
# 24 tables with and without wrong labels. And what it leaves at most the other classes of a sure answer
# together: where there are many, they would else have more than the answer.
FLOOR = 0.003
FLOOR_SHARE = 0.05
FLOOR_SUM = 0.01


def of_the_truth(given: np.ndarray, noise: float) -> np.ndarray:
    """Turn probabilities of labels into those of the true classes, if a share `noise` of labels is wrong."""
    n_classes = given.shape[1]
    if not noise or n_classes == 1:
        return given
    taken = noise / (n_classes - 1)
    # The likeliest class has at least 1 / n_classes, and stays above the floor.
    room = max((1 / n_classes - taken) / 2, np.finfo(np.float64).tiny)
    floor = min(FLOOR, noise * FLOOR_SHARE, FLOOR_SUM / (n_classes - 1), room)
    q = np.maximum(given - taken, floor)
    return q / row_sums(q)[:, None]


def likeliest(search: Any, given: np.ndarray) -> np.ndarray:
    """Return the code of the likeliest class, times its weight if there are any."""
    weights = vars(search).get("_fit_class_weight")
    return (given if weights is None else given * weights).argmax(axis=1)


def probabilities_of_each(search: Any, samples: Samples, positions: np.ndarray) -> np.ndarray:
    """Return the probabilities of some of the cells, of shape (n_models, n_queries, n_classes)."""
    found: dict[int, np.ndarray] = {}
    for group in _by_samples([search.estimators_[position] for position in positions]):
        places = positions[group]
        models = [search.estimators_[place] for place in places]
        for place, model, cost in zip(places, models, costs_of(search, models, samples), strict=True):
            found[place] = probabilities(cost, classifier_of(model).beta)
    return np.array([found[position] for position in positions])


def mean_probabilities(search: Any, samples: Samples) -> np.ndarray:
    """Return the weighted mean of the cells' probabilities, corrected for wrong labels."""
    positions = np.flatnonzero(search.weights_)
    # One after the other, because classes may be many; those with a weight have no samples in common.
    parts = (probabilities_of_each(search, samples, positions[i : i + 1]) for i in range(len(positions)))
    each = (weigh(weight, part) for weight, part in zip(search.weights_[positions, None], parts, strict=True))
    return of_the_truth(reduce(np.add, each), search.label_noise_)


def weigh(weights: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the weighted mean of probabilities; the same bits whatever the linear algebra library."""
    return (weights[:, None, None] * given).sum(axis=0)


def predict(search: Any, samples: Samples) -> np.ndarray:
    """Return the class with the largest mean probability, or that of a single model."""
    if len(search.estimators_) == 1 and search._fit_class_weight is None:
        (forest,), Q = ask(search, search.estimators_, samples)
        with answering(search, Q) as bar:
            return search.classes_[decide(forest, Q, bar).code]
    return search.classes_[likeliest(search, mean_probabilities(search, samples))]


def labels_and_probabilities(search: Any, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Return what `predict` and `predict_proba` do, for the price of one of them."""
    if len(search.estimators_) == 1 and search._fit_class_weight is None:
        (forest,), Q = ask(search, search.estimators_, samples)
        with answering(search, Q) as bar:
            (costs,) = class_costs([forest], Q, bar)
        given = probabilities(costs.cost[0], search.best_beta_)
        return search.classes_[costs.winner(0)], of_the_truth(given, search.label_noise_)
    found = mean_probabilities(search, samples)
    return search.classes_[likeliest(search, found)], found


def _by_samples(models: Sequence[Any]) -> list[list[int]]:
    """Put together the positions of models with the same training samples, not copies, and metric."""
    groups: dict[Any, list[int]] = {}
    for position, model in enumerate(models):
        *steps, classifier = [*model] if isinstance(model, Pipeline) else [model]
        *metric, params = classifier._fit_metric
        samples = id(classifier._fit_X), len(classifier.order_), *map(id, steps)
        groups.setdefault((samples, *metric, id(params) if params else None), []).append(position)
    return list(groups.values())


# Explanations


def explain(search: Any, X: Any) -> Explanations:
    """Explain each answer by a model that stands for the average."""
    samples = check_samples(search, X)
    given = probabilities_of_each(search, samples, np.arange(len(search.estimators_)))
    answer = likeliest(search, of_the_truth(weigh(search.weights_, given), search.label_noise_))
    chosen, queries = _representative(given, answer), as_numbers(search, samples)
    found: dict[int, Explanation] = {}
    for position in np.unique(chosen):
        model, rows = search.estimators_[position], np.flatnonzero(chosen == position)
        name = search.cv_results_["params"][search.averaged_[position]].get("transform", "as given")
        (forest,), Q = ask(search, [model], samples, rows)
        explained = explain_queries(classifier_of(model), forest, Q)
        explained = [one._replace(transform=name, cell=int(position)) for one in explained]
        if "table_" in vars(search):
            explained = _with_columns(search, explained, queries[rows], model[0])
        elif isinstance(model, Pipeline):
            explained = _with_own_features(search, explained, queries, rows, only_scales(model[:-1]))
        found |= zip(rows.tolist(), explained, strict=True)
    return Explanations(found[row] for row in range(len(chosen)))


def _representative(given: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Choose a model for each sample that stands for the answer, given the probabilities of all models."""
    agrees = given.argmax(axis=2) == answer
    surest = given[:, np.arange(len(answer)), answer].argmax(axis=0)
    return np.where(agrees.any(axis=0), agrees.argmax(axis=0), surest)


def _with_own_features(
    search: Any, explained: Sequence[Explanation], queries: np.ndarray | None, rows: np.ndarray, scaled: bool
) -> Iterator[Explanation]:
    """Show the features of the samples instead of those that a transformer made of them."""
    bare = [model for model in search.estimators_ if isinstance(model, FuzzyOPFClassifier)]
    kept = bare[0]._fit_X if bare else vars(search).get("_fit_samples")
    if kept is None or queries is None:
        yield from (one._replace(features=None) for one in explained)
        return
    names = getattr(search, "feature_names_in_", None)
    names, scale = default_names(queries.shape[1]) if names is None else names, feature_scales(kept)
    for one, row in zip(explained, rows, strict=True):
        rival = None if one.rival is None else kept[one.rival.conquerors[0]]
        shown = Shown(names, queries[row], kept[one.conqueror], rival, scale)
        features = in_units_of(one.features, shown) if scaled else compare_features(shown)
        yield one._replace(features=features)


def _with_columns(
    search: Any, explained: Sequence[Explanation], codes: np.ndarray, transformer: Any
) -> Iterator[Explanation]:
    """Show the columns of the table, in the user's units and words, instead of what was made of them."""
    table, kept = search.table_, search._fit_samples
    first, *others = getattr(transformer, "steps", [("", transformer)])
    has_shares = isinstance(first[1], TablePreprocessor) and only_scales(step for _, step in others)
    names = getattr(search, "feature_names_in_", default_names(codes.shape[1]))
    known = [texts if len(texts) else None for texts in table._texts_seen]
    scale = feature_scales(np.where(np.isnan(kept), table.fill_, kept))
    scale[table.kinds_ == CATEGORY] = 1
    for one, row in zip(explained, codes, strict=True):
        rival = None if one.rival is None else kept[one.rival.conquerors[0]]
        features = with_texts(compare_features(Shown(names, row, kept[one.conqueror], rival, scale)), known)
        features = [_in_words(f, table.kinds_[f.column]) for f in features if table.kinds_[f.column] != DROP]
        if has_shares and one.features[0].share is not None:
            features = _with_shares(features, one.features, first[1]._sources())
        yield one._replace(features=sorted(features, key=lambda feature: -feature.weight))


def _in_words(feature: Feature, kind: str) -> Feature:
    """Show a date as text, and say which features are categories."""
    if kind == DATE:
        values = feature.value, feature.conqueror, feature.rival
        feature = feature._replace(texts=tuple(None if day is None else day_text(day) for day in values))
    return feature._replace(is_category=kind == CATEGORY)


def _with_shares(features: Sequence[Feature], made: Sequence[Feature], sources: np.ndarray) -> list[Feature]:
    """Give the columns of a table the shares of the features that were made of them."""
    found = [{"share": 0.0, "rival_share": None if one.rival is None else 0.0} for one in features]
    place = {feature.column: shares for feature, shares in zip(features, found, strict=True)}
    for feature in made:
        for name, total in place[sources[feature.column]].items():
            if total is not None:
                place[sources[feature.column]][name] = total + getattr(feature, name)
    return [feature._replace(**shares) for feature, shares in zip(features, found, strict=True)]


# The folds once more


def balanced_accuracy(search: Any, plan: Plan) -> float:
    """Return that of the best cell of a fitted search in its folds, with the weights of the classes."""
    cell, classes, recalls = plan.cells[search.best_index_], search.classes_, []
    for fold, (_, rows) in enumerate(plan.splits):
        ready = folds.prepare(plan, Task(fold, cell.transform, []), folds.FoldWork(), build_engine)
        ((_, _, costs),) = folds.class_costs(ready, [folds.configure(ready, cell)], [cell.n_conquerors])
        given, true = np.zeros((len(rows), len(classes))), plan.y[rows]
        known = np.searchsorted(classes, ready.part.model.classes_)
        given[:, known] = probabilities(costs.cost[0], search.best_beta_)
        right = classes[likeliest(search, of_the_truth(given, search.label_noise_))] == true
        recalls.append(np.mean([right[true == label].mean() for label in np.unique(true)]))
    return float(np.mean(recalls))


# What a file of a search may contain, and what the search shows of its best model


def check_members(search: Any, sizes: dict[str, int]) -> None:
    """Check the models that are averaged, and what belongs to them."""
    chosen = search.transforms_
    is_known = type(chosen) is dict and chosen.keys() == {"preset", "reason", "names", "part"}
    demand(is_known, "transforms_ does not have preset, reason, names and part")
    if "table_" in vars(search):
        demand(type(search.table_) is TablePreprocessor, "table_ is not a preprocessor of tables")
        check_transformer(search.table_, search.n_features_in_)
    if "estimators_" not in vars(search):
        return
    is_list = type(search.estimators_) is list and search.estimators_
    demand(is_list, "estimators_ is not a list of models")
    for model in search.estimators_:
        width, classifier = sizes.get("features"), model
        if isinstance(model, Pipeline):
            width, classifier = check_steps(model, width, -1), model.steps[-1][1]
        is_ours = isinstance(classifier, FuzzyOPFClassifier)
        demand(is_ours, "estimators_ holds something other than classifiers and pipelines of them")
        is_same = np.array_equal(classifier.classes_, search.classes_) and classifier.n_features_in_ == width
        demand(is_same, "estimators_ holds a classifier of other classes or features")
    n_samples, n_rows = len(classifier.order_), len(search.cv_results_["params"])
    sizes |= {"samples": n_samples, "rows": n_rows, "members": len(search.estimators_)}
    if "_fit_samples" in vars(search):
        array("samples features", FEATURE_TYPES, gaps="table_" in vars(search))(search, "_fit_samples", sizes)
    demand((array("members", nonnegative=True)(search, "weights_", sizes)).any(), "weights_ are all 0")
    indices("*", "samples", ascending=True)(search, "part_", sizes)
    number(0.0, 1.0)(search, "label_noise_", sizes)
    if search._fit_class_weight is not None:
        array("classes", nonnegative=True)(search, "_fit_class_weight", sizes)
    is_first = indices("members", "rows")(search, "averaged_", sizes)[0] == search.best_index_
    demand(is_first, "averaged_ does not begin with best_index_")


_of_classifiers = {*FuzzyOPFClassifier._saved.always, *FuzzyOPFClassifier._saved.sometimes}
OF_BEST = _of_classifiers - {"classes_", "n_features_in_", *INPUT}
RESULTS = "cv_results_", "best_index_", "best_params_", "best_score_", "best_beta_", "n_splits_"
SAVED = Saved(
    {
        "_fit_metric": LEARNED["_fit_metric"],
        "classes_": check_classes,
        "_fit_untouched": one_of(bool, "True or False"),
        "transforms_": None,
        "part_": None,
        "_fit_class_weight": None,
        **dict.fromkeys(RESULTS),
    },
    # Lists of texts, for a user's transformer, have no features.
    {"n_features_in_": LEARNED["n_features_in_"], **INPUT}
    | dict.fromkeys(("estimators_", "averaged_", "weights_", "label_noise_", "table_", "_fit_samples")),
    derived=("scorer_", "best_estimator_", *OF_BEST),
)
