"""The search by GridSearchCV that every score and every answer of ours must equal."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from pathforest import FuzzyOPFClassifier, TablePreprocessor
from pathforest._search.representations import representations_of, resolve_transforms
from pathforest._search.transformers import JointFeatures


def tied(n=150, d=3, seed=0, share=0.15):
    """Three overlapping classes with some wrong labels, on a grid so that distances tie."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = np.round(3 * (rng.normal(size=(3, d)) * 1.2)[codes] + rng.normal(0, 3, (n, d)))
    return X, np.where(rng.random(n) < share, rng.integers(0, 3, n), codes)


def log_loss(model, X, y):
    """The mean log loss, with a probability of 0 for classes that the model does not know."""
    own = (model.predict_proba(X) * (np.asarray(y)[:, None] == model.classes_)).sum(axis=1)
    return -np.log(np.maximum(own, np.finfo(float).eps)).mean()


def width(search):
    """Return the number of features that representations are made of."""
    return len(search.table_.get_feature_names_out()) if hasattr(search, "table_") else search.n_features_in_


def encoded(search, step):
    """Put the preprocessor of tables before a representation; trees split codes."""
    if isinstance(step, Pipeline) and isinstance(step[-1], JointFeatures):
        return clone(step[-1]).set_params(kinds=tuple(search.table_.kinds_))
    return make_pipeline(TablePreprocessor(scale=search.transforms is None), step)


def models(search):
    """Return an unfitted model for each row of a search."""
    given = {name: getattr(search, name) for name in ("metric", "metric_params", "membership")}
    preset, found = search.transforms_["preset"], []
    transformers = resolve_transforms(search.transforms if preset == "sequence" else preset)
    if transformers is None:
        sizes = search.part_[-1] + 1, width(search), len(search.classes_)
        transformers, _ = representations_of(*sizes, search.random_state, None)
    if hasattr(search, "table_"):
        transformers = {name: encoded(search, step) for name, step in transformers.items()}
    for row, beta in zip(search.cv_results_["params"], search.cv_results_["beta"], strict=True):
        name, params = (
            row.get("transform", next(iter(transformers))),
            {key: row[key] for key in row if key != "transform"},
        )
        model = FuzzyOPFClassifier(**params, beta=beta, **given)
        if transformers[name] is not None:
            model = Pipeline([("transform", transformers[name]), ("classifier", model)])
        found.append(model)
    return found


def same_scores(search, X, y, groups=None):
    """Fit a search, which must score every fold as GridSearchCV does; return it."""
    results = search.fit(X, y, groups).cv_results_
    score = {"log_loss": log_loss, "score": search.scoring or "accuracy"}
    for row, model in enumerate(models(search)):
        naive = GridSearchCV(model, {}, cv=search.cv, scoring=score, refit=False).fit(X, y, groups=groups)
        assert naive.n_splits_ == search.n_splits_
        for fold in range(search.n_splits_):
            expected = naive.cv_results_[f"split{fold}_test_score"][0]
            assert results[f"split{fold}_test_score"][row] == expected, (model, fold)
        expected = naive.cv_results_["mean_test_log_loss"][0]
        np.testing.assert_allclose(results["mean_test_log_loss"][row], expected, rtol=1e-9)
    return search
