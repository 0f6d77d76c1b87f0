"""Explanations: one notion of cost, features in their own units, tables for people."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from strategies import problems
from zoo import every, make

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, explain

X, y = load_wine(return_X_y=True)
NAMES = load_wine().feature_names
Q, X, y = X[::5], X[np.arange(178) % 5 > 0], y[np.arange(178) % 5 > 0]


def first(**params):
    """The explanation of the first query by a plain model."""
    return OPFClassifier(**params).fit(X, y).explain(Q[:1])[0]


@every("probabilities", "grows")
@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
@given(problem=problems())
def test_costs_are_class_costs_and_means_of_offers_and_paths_lead_to_prototypes(name, problem):
    model = make(name).fit(problem.X, problem.codes)
    costs, found = model.class_costs(problem.Q), model.explain(problem.Q)
    DQ, join = reference.distance_matrix(problem.Q, problem.X), np.add if name == "geodesic" else np.maximum
    assert [one.label for one in found] == model.predict(problem.Q).tolist()
    for one, row, distances in zip(found, costs, DQ, strict=True):
        assert one.cost == row[model.classes_ == one.label][0] == row.min()
        assert one.cost == pytest.approx(np.mean(one.offers))
        assert one.offers == sorted(one.offers)
        others = row[model.classes_ != one.label]
        assert (one.rival is None) == (not np.isfinite(others).any())
        if one.rival:
            assert one.rival.cost == others.min() == pytest.approx(np.mean(one.rival.offers))
        assert (one.path[0], one.path[-1]) == (one.conqueror, model.root_[one.conqueror])
        assert one.path[1:] == model.predecessor_[one.path[:-1]].tolist()
        assert one.costs == model.cost_[one.path].tolist()
        for bidder in filter(None, (one, one.rival)):
            assert (model.label_[bidder.conquerors] == bidder.label).all()
            if name != "balanced":  # which adds squares, times a factor
                expected = join(model.cost_[bidder.conquerors], distances[bidder.conquerors])
                np.testing.assert_array_equal(bidder.offers, expected)
                assert bidder.distance == distances[bidder.conquerors[0]]
    if name == "plain":
        conquerors = reference.conquer(DQ, model.cost_, model.order_)[1][:, 0]
        assert [one.conqueror for one in found] == conquerors.tolist()


TERMS = {
    **dict.fromkeys(["euclidean", "sqeuclidean", "log_sqeuclidean"], lambda a, b: (a - b) ** 2),
    **dict.fromkeys(["manhattan", "braycurtis"], lambda a, b: abs(a - b)),
    "canberra": lambda a, b: abs(a - b) / (a + b),
    "chi2": lambda a, b: (a - b) ** 2 / (a + b),
    "seuclidean": lambda a, b: (a - b) ** 2 / X.var(axis=0, ddof=1),
    "chebyshev": lambda a, b: abs(a - b) == abs(a - b).max(),  # one feature has all
}


@pytest.mark.parametrize("metric", TERMS)
def test_shares_are_the_terms_of_the_distance(metric):
    one = first(metric=metric)
    for other, name in ((one.conqueror, "share"), (one.rival.conquerors[0], "rival_share")):
        terms = TERMS[metric](Q[0], X[other])
        found = {feature.column: getattr(feature, name) for feature in one.features}
        np.testing.assert_allclose([found[j] for j in range(13)], terms / terms.sum())


@pytest.mark.parametrize("metric", ["cosine", "mahalanobis", lambda a, b: abs(a - b).sum()])
def test_metrics_that_are_no_sums_have_no_shares_and_rank_by_deviations(metric):
    one, scale = first(metric=metric), X.std(axis=0)
    deviations = [abs(feature.value - feature.rival) / scale[feature.column] for feature in one.features]
    assert deviations == sorted(deviations, reverse=True)
    assert {feature.share for feature in one.features} == {None}
    assert "share" not in str(one)


def test_features_are_those_of_sample_conqueror_and_rival():
    named = OPFClassifier().fit(pd.DataFrame(X, columns=NAMES), y).explain(pd.DataFrame(Q, columns=NAMES))
    for one, names in ((named[0], NAMES), (first(), [f"x{j}" for j in range(13)])):
        shares = [feature.rival_share for feature in one.features]
        assert shares == sorted(shares, reverse=True)
        assert all(feature.difference == feature.value - feature.rival for feature in one.features)
        for feature in one.features:
            j = names.index(feature.name)
            seen = feature.value, feature.conqueror, feature.rival
            assert seen == (Q[0, j], X[one.conqueror, j], X[one.rival.conquerors[0], j])


# Searches and pipelines


@pytest.mark.parametrize("transforms", [None, "auto", [StandardScaler()], [PCA(2)]], ids=str)
def test_a_search_shows_samples_as_they_were_given(transforms):
    search = FuzzyOPFClassifierCV(transforms=transforms, sigmas=1.0, cv=2).fit(X, y)
    for i, (one, query) in enumerate(zip(search.explain(Q), Q, strict=True)):
        by_column = {feature.column: feature for feature in one.features}
        np.testing.assert_array_equal([by_column[j].value for j in range(13)], query)
        np.testing.assert_array_equal([by_column[j].conqueror for j in range(13)], X[one.conqueror])
        has_shares = one.transform in ("as given", "standardised", "StandardScaler")
        assert (one.features[0].share is not None) == has_shares
        assert one.cost == search.class_costs(Q, one.cell)[i].min()


def test_a_search_over_text_and_a_matrix_are_explained_without_features():
    texts = [["red wine", "white wine"][i % 2] + f" {i}" for i in range(20)]
    encoder = make_pipeline(CountVectorizer(), FunctionTransformer(lambda counts: counts.toarray()))
    search = FuzzyOPFClassifierCV(transforms=[encoder], sigmas=1.0, k_max=3, cv=2)
    assert search.fit(texts, np.arange(20) % 2).explain(texts[:1])[0].features is None
    DQ = pairwise_distances(Q, X)
    one = OPFClassifier(metric="precomputed").fit(pairwise_distances(X), y).explain(DQ)[0]
    assert (one.distance, one.features) == (DQ[0, one.conqueror], None)
    assert "feature" not in str(one)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=str)
def test_a_pipeline_with_a_scaler_is_explained_in_the_units_of_the_samples(scaler):
    model = make_pipeline(scaler, OPFClassifier()).fit(X, y)
    inner = model[-1].explain(model[:-1].transform(Q))
    for one, scaled, query in zip(explain(model, Q), inner, Q, strict=True):
        assert one._replace(features=None) == scaled._replace(features=None)
        assert [feature.share for feature in one.features] == [feature.share for feature in scaled.features]
        for feature in one.features:
            assert feature.value == query[feature.column]
            assert feature.conqueror == pytest.approx(X[one.conqueror, feature.column])
            assert feature.rival == pytest.approx(X[one.rival.conquerors[0], feature.column])
            assert feature.scale == pytest.approx(X[:, feature.column].std())


def test_other_transformers_give_the_features_that_the_best_classifier_of_a_grid_search_sees():
    pipeline = make_pipeline(StandardScaler(), PCA(2), OPFClassifier())
    search = GridSearchCV(pipeline, {"opfclassifier__n_conquerors": [1, 3]}, cv=2).fit(X, y)
    (one,), seen = explain(search, Q[:1]), search.best_estimator_[:-1].transform(Q[:1])[0]
    assert {feature.name: feature.value for feature in one.features} == {"pca0": seen[0], "pca1": seen[1]}


# For people


def test_a_notebook_shows_a_table_of_escaped_texts():
    frame = pd.DataFrame({"<script>": [0.0, 1.0, 3.0, 4.0], "b": 0.0})
    found = OPFClassifier().fit(frame, ["<b>", "<b>", "c\x1b", "c\x1b"]).explain(frame[:1])
    page = found._repr_html_()
    assert page == found[0]._repr_html_()
    assert "<script" not in page
    assert page.count("<tr") == 3
    texts = [unescape(text) for text in re.findall(r">([^<]+)<", page)]
    assert r"Predicted <b>, cost 1 (next: c\x1b, 3)" in texts  # labels cannot act on a terminal
    assert texts[texts.index("<script>") :][:5] == ["<script>", "0", "1", "3", "-3"]


@pytest.mark.parametrize("sigma", [0.8, 1.2])
@pytest.mark.parametrize("side", ["target", "source"])
def test_memberships_say_what_multiplies_the_costs_of_a_path(side, sigma):
    model = FuzzyOPFClassifier(sigma=sigma, membership_side=side).fit(X, y)
    for one in model.explain(Q):
        steps = np.linalg.norm(X[one.path[:-1]] - X[one.path[1:]], axis=1)
        expected = np.maximum(steps, one.costs[1:]) * (one.memberships or [])
        np.testing.assert_allclose(one.costs[:-1], expected)
        said = [f"{one.costs[0]:.3g} (times {value:.3g})" for value in (one.memberships or [])[:1]]
        assert all(f"Memberships multiply the costs along the path: {text}" in str(one) for text in said)
    assert FuzzyOPFClassifier(sigma=1.0).fit(X, y).explain(Q[:1])[0].memberships is None
