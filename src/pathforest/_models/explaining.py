"""Explanations of any fitted model: estimators, pipelines that end in one, and searches for the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from pathforest._models.explanation import Explanation, Explanations, in_units_of, rescaled
from pathforest._utils.sparse import is_sparse

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
