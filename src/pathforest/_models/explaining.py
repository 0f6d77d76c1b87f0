"""Explanations of any fitted model: estimators, pipelines that end in one, and searches for the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from pathforest._models.explanation import Explanation, Explanations, in_units_of

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

    def restore(self, explanation: Explanation, sample: np.ndarray | None = None) -> Explanation:
        """Give features the names and units that they had before the transformers, as far as possible.

        `sample` are the values explained, if they are known.
        """
        if not self.transformers or explanation.features is None:
            return explanation
        explanation = with_names(explanation, _names_after(self.transformers[-1]))
        if not all(map(only_scales, self.transformers)):
            return explanation
        columns = sorted(explanation.features, key=lambda feature: feature.column)
        value, near, rival = (
            np.array([getattr(feature, name) for feature in columns], dtype=np.float64)
            for name in ("value", "conqueror", "rival")
        )
        step = self._unscale(near + [feature.scale for feature in columns])
        near = self._unscale(near)
        shown = (
            [feature.name for feature in columns],
            self._unscale(value) if sample is None else sample,
            near,
            None if explanation.rival is None else self._unscale(rival),
            np.abs(step - near),
        )
        return explanation._replace(features=in_units_of(explanation.features, *shown))

    def _unscale(self, row: np.ndarray) -> np.ndarray:
        """Undo what scalers did to a sample."""
        for pipeline in reversed(self.transformers):
            for _, step in reversed(pipeline.steps):
                if step not in (None, "passthrough"):
                    undo = getattr(step, "_unscale", None) or step.inverse_transform
                    row = np.asarray(undo(row[None]))[0]
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
        scikit-learn or a :class:`TablePreprocessor`, `features` has numbers as they were before they were
        scaled, else those that the classifier sees.

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
    steps = [step for pipeline in explainer.transformers for _, step in pipeline.steps]
    given = all(isinstance(step, SCALERS) for step in steps)  # then numbers can be shown as they are
    rows = np.asarray(X, dtype=np.float64) if steps and given else [None] * len(explanations)
    return Explanations(explainer.restore(one, row) for one, row in zip(explanations, rows, strict=True))


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
    """Say whether all steps of a pipeline change features one by one, in a way that can be undone."""
    return all(
        step in (None, "passthrough") or isinstance(step, SCALERS) or hasattr(step, "_unscale")
        for _, step in pipeline.steps
    )


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
