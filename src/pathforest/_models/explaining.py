"""Explanations of any fitted model: estimators, pipelines that end in one, and searches for the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from pathforest._models.explanation import (
    Explanation,
    Explanations,
    Feature,
    Rival,
    compare_features,
    compare_sparse,
    feature_scales,
    in_units_of,
    rescaled,
    with_texts,
)
from pathforest._models.offers import KeptForest, bids, decide, mean_offers
from pathforest._utils.sparse import SparseSamples, is_sparse
from pathforest.forest import path_to_root

# Transformers that change features one by one, so that what holds of scaled features holds of them.
SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)


class Explainer(NamedTuple):
    """The estimator that explains, and what samples go through before they reach it."""

    estimator: Any
    transformers: list[Pipeline]

    def represent(self, X: Any) -> Any:
        """Give samples the representation of the estimator."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X

    def unscale(self, row: np.ndarray) -> np.ndarray:
        """Undo what scalers did to a sample."""
        for transformer in reversed(self.transformers):
            row = np.asarray(transformer.inverse_transform(row[None]))[0]
        return row


def explain_queries(model: Any, forest: KeptForest, Q: np.ndarray) -> Explanations:
    """Explain the answers of a classifier, given its forest and queries that have been checked."""
    explanations = Explanations()
    codes = decide(forest, Q).code
    for query, code, made in zip(Q, codes, _rivals_of_each(forest, model.classes_, Q), strict=True):
        made = sorted(made, key=lambda pair: (pair[0] != code, pair[1].cost))
        winner, rival = (
            one and one._replace(distance=_distance(forest, query, one.conquerors[0]))
            for one in (*(rival for _, rival in made[:2]), None)[:2]
        )
        path = path_to_root(model.predecessor_, winner.conquerors[0])
        features = _compare(model, query, winner, rival)
        explanations.append(Explanation(*winner, path, model.cost_[path].tolist(), rival, features))
    return explanations


def _rivals_of_each(forest: KeptForest, classes: np.ndarray, Q: np.ndarray) -> list[list[tuple[int, Rival]]]:
    """List for each query the classes that make offers, as code and what explanations say of them."""
    found: list[list[tuple[int, Rival]]] = [[] for _ in Q]
    for rows, code, offers, indices in bids(forest, Q):
        costs = mean_offers(offers, forest.r).tolist()
        made = np.isfinite(offers[:, : forest.r]).sum(axis=1).tolist()
        for i, query in enumerate(range(rows.start, rows.stop)):
            if made[i]:
                members, values = indices[i, : made[i]].tolist(), offers[i, : made[i]].tolist()
                found[query].append((code, Rival(classes.item(code), costs[i], members, values, np.nan)))
    return found


def _distance(forest: KeptForest, query: np.ndarray, member: int) -> float:
    """Return the distance from a query to a training sample."""
    samples = forest.samples
    if samples.X is None:
        return float(query[member])
    one_row = query if isinstance(query, SparseSamples) else query[None]
    ((_, block),) = samples.blocks(one_row, width=1)
    if samples.metric.kind == "matrix":
        return float(block[0, member])
    return float(samples.engine(np.array([member]), query.dtype).query(block, 1, 1)[0][0, 0])


def _compare(model: Any, query: np.ndarray, winner: Rival, rival: Rival | None) -> list[Feature] | None:
    """Set the features of a query beside those of the samples that made the cheapest offers."""
    samples = model._samples
    if samples.X is None:
        return None
    names = getattr(model, "feature_names_in_", None)
    scale = samples.cached("scale", lambda: feature_scales(samples.X))
    other = None if rival is None else samples.X[rival.conquerors[0]]
    near = samples.X[winner.conquerors[0]]
    if isinstance(near, SparseSamples):
        return compare_sparse(names, query, near, other, scale, samples.metric)
    names = feature_names(len(query)) if names is None else names
    features = compare_features(names, query, near, other, scale, samples.metric)
    return with_texts(features, model.categories_) if "categories_" in vars(model) else features


def feature_names(n_features: int) -> list[str]:
    """Name features that have no names."""
    return [f"feature {i}" for i in range(n_features)]


def explain(estimator: Any, X: Any) -> Explanations:
    """Explain the predictions of any model that has one of our classifiers inside.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with a method `explain`, alone, at the end of a pipeline, or as the best estimator
        of a search such as :class:`sklearn.model_selection.GridSearchCV`.
    X : array-like of shape (n_queries, n_features)
        New samples, as `predict` takes them.

    Returns
    -------
    explanations : list of Explanation
        As from :meth:`pathforest.OPFClassifier.explain`. If all transformers of a pipeline are scalers of
        scikit-learn, or one TablePreprocessor, `features` has the values before they were scaled, else those
        that the classifier sees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pathforest import OPFClassifier, explain
    >>> iris = load_iris(as_frame=True)
    >>> model = make_pipeline(StandardScaler(), OPFClassifier()).fit(iris.data[1:], iris.target[1:])
    >>> print(explain(model, iris.data[:1])[0])
    Predicted 0, cost 1.39 (next: 1, 2.44)
    Conquered by training sample 0 at distance 1.18, whose path costs 1.39: 0 -> 33 -> 29 -> 2 -> ... -> 40
    feature            sample  conqueror 0 (0)  difference  share of distance  rival 63 (1)
    sepal width (cm)      3.5                3         0.5                96%           2.9
    sepal length (cm)     5.1              4.9         0.2                 4%           5.6
    petal length (cm)     1.4              1.4           0                 0%           3.6
    petal width (cm)      0.2              0.2           0                 0%           1.3
    """
    explainer = find_explainer(estimator)
    explanations = explainer.estimator.explain(explainer.represent(X))
    if not explainer.transformers:
        return explanations
    names = [_names_after(pipeline) for pipeline in explainer.transformers][-1]
    explanations = Explanations(with_names(one, names) for one in explanations)
    if len(explainer.transformers) == 1:
        explanations = Explanations(in_units_of_table(one, explainer.transformers[0]) for one in explanations)
    if is_sparse(X) or not all(map(only_scales, explainer.transformers)):
        return explanations
    rows = np.asarray(X, dtype=np.float64)
    return Explanations(_unscaled(one, row, explainer) for one, row in zip(explanations, rows, strict=True))


def find_explainer(estimator: Any) -> Explainer:
    """Look for what explains inside pipelines and searches."""
    check_is_fitted(estimator)
    transformers = []
    while not hasattr(estimator, "explain"):
        if isinstance(estimator, Pipeline):
            transformers.append(estimator[:-1])
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            raise TypeError(
                f"{type(estimator).__name__} explains no predictions; pass a fitted classifier of pathforest "
                "with a method explain, alone, at the end of a pipeline or in a search with refit=True"
            )
    return Explainer(estimator, transformers)


def only_scales(pipeline: Pipeline) -> bool:
    """Say whether all steps of a pipeline change features one by one."""
    return all(step in (None, "passthrough") or isinstance(step, SCALERS) for _, step in pipeline.steps)


def _names_after(pipeline: Pipeline) -> list[str] | None:
    """Name the features that a pipeline makes, if it knows."""
    try:
        return pipeline.get_feature_names_out().tolist()
    except (AttributeError, ValueError):
        return None


def with_names(explanation: Explanation, names: Sequence[str] | None) -> Explanation:
    """Name the features of an explanation, if their names are known."""
    if names is None or explanation.features is None:
        return explanation
    features = [feature._replace(name=str(names[feature.column])) for feature in explanation.features]
    return explanation._replace(features=features)


def in_units_of_table(explanation: Explanation, pipeline: Pipeline) -> Explanation:
    """Show numbers as they are in a table, if a preprocessor of tables alone has standardised them."""
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    if explanation.features is None or len(steps) != 1 or not hasattr(steps[0], "_scaling_out"):
        return explanation
    return explanation._replace(features=rescaled(explanation.features, *steps[0]._scaling_out()))


def _unscaled(explanation: Explanation, sample: np.ndarray, explainer: Explainer) -> Explanation:
    """Show features as they were before scalers changed them."""
    if explanation.features is None:
        return explanation
    columns = sorted(explanation.features, key=lambda feature: feature.column)
    names, near = [feature.name for feature in columns], np.array([feature.conqueror for feature in columns])
    rival = None
    if explanation.rival is not None:
        rival = explainer.unscale(np.array([feature.rival for feature in columns]))
    step = explainer.unscale(near + [feature.scale for feature in columns])
    near = explainer.unscale(near)
    features = in_units_of(explanation.features, names, sample, near, rival, np.abs(step - near))
    return explanation._replace(features=features)
