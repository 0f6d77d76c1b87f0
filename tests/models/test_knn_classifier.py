"""OPFKNNClassifier equals the reference model, and its search what fits of every k would say."""

import numpy as np
import reference
from checks import same_values
from hypothesis import given
from hypothesis import strategies as st
from reference.models import knn_model, predict_knn
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from strategies import measured_problems

from pathforest import OPFClustering, OPFKNNClassifier
from pathforest._utils.splits import validation_split


@given(measured_problems(smallest=2, largest=34))
def test_every_fitted_array_and_prediction_equal_the_reference(case):
    X, codes, Q, k, D, DQ, squared, params = case
    expected, _ = knn_model(D, codes, squared, k)
    model = OPFKNNClassifier(n_neighbors=k, **params).fit(X, codes)
    same_values(model, expected)
    np.testing.assert_array_equal(model.predict(Q), predict_knn(D, DQ, codes, squared, k))
    one_class = model.fit(X, np.zeros(len(X)))
    clusters = OPFClustering(selection="cut", n_neighbors=k, **params).fit(X)
    same_values(
        one_class,
        {name: getattr(clusters, f"{name}_") for name in ("density", "cost", "predecessor", "root")},
    )


@given(measured_problems(smallest=2, largest=25))
def test_probabilities_are_shares_of_the_best_paths_and_explanations_name_these(case):
    X, codes, Q, k, D, DQ, squared, params = case
    model = OPFKNNClassifier(n_neighbors=k, **params).fit(X, codes)
    _, (rho, _, _, width) = knn_model(D, codes, squared, k)
    distances, near = reference.nearest(DQ, k)
    dense = reference.scale_density(reference.density(distances, width, squared), rho.min(), rho.max())
    found, shares = model.explain(Q), model.predict_proba(Q)
    assert [one.label for one in found] == model.predict(Q).tolist()
    for one, share, path_ends, density in zip(found, shares, near, dense, strict=True):
        values = {code: [] for code in np.unique(codes).tolist()}
        for end in path_ends:
            values[codes[end]].append(float(min(model.cost_[end], density)))
        best = np.array([max([1.0, *found]) if found else 0.0 for found in values.values()])
        np.testing.assert_array_equal(share, best / best.sum())
        assert (share[model.classes_ == one.label], one.density) == (share.max(), density)
        others = [max(found) for code, found in values.items() if found and code != one.label]
        assert (one.cost, one.rival and one.rival.cost) == (max(values[one.label]), max(others, default=None))
        assert (one.path[-1], one.costs) == (model.root_[one.conqueror], model.cost_[one.path].tolist())
        assert one.costs == sorted(one.costs)
        for bidder in filter(None, (one, one.rival)):
            assert bidder.label == codes[bidder.conquerors[0]]


@given(measured_problems(smallest=6, largest=25), st.data())
def test_scores_are_the_accuracies_of_every_k_on_the_evaluation_samples(case, data):
    X, codes, Q, _, D, DQ, squared, params = case
    cut = data.draw(st.integers(2, len(D) - 1))
    splits = [(np.arange(cut), np.arange(cut, len(D))), (np.arange(1, len(D)), np.array([0]))]
    model = OPFKNNClassifier(k_max=6, cv=splits, **params).fit(X, codes)
    expected = []
    for k in range(1, min(6, cut - 1) + 1):
        hits = [
            predict_knn(D[np.ix_(t, t)], D[np.ix_(e, t)], codes[t], squared, k) == codes[e] for t, e in splits
        ]
        expected.append(np.concatenate(hits).mean())
    np.testing.assert_array_equal(model.scores_, expected)
    if not squared:  # a matrix does not say that its distances are squares
        matrix = OPFKNNClassifier(k_max=6, cv=splits, metric="precomputed").fit(D, codes)
        np.testing.assert_array_equal(matrix.scores_, model.scores_)
        np.testing.assert_array_equal(matrix.predict(DQ), model.predict(Q))


@given(measured_problems(largest=34))
def test_a_fifth_set_aside_scores_like_the_same_split_given_and_the_first_best_k_is_fitted(case):
    X, codes, Q, *_, params = case
    train, test = validation_split(codes, 0.2, 3)
    model, expected = OPFKNNClassifier(random_state=3, **params).fit(X, codes), []
    if len(test) and len(train) > 1:
        expected = OPFKNNClassifier(cv=[(train, test)], **params).fit(X, codes).scores_.tolist()
        assert model.best_k_ == expected.index(max(expected)) + 1
    assert model.scores_.tolist() == expected
    np.testing.assert_array_equal(model.label_, codes)
    np.testing.assert_array_equal(np.unique(codes[model.prototypes_]), np.unique(codes))
    if model.best_k_:
        fixed = OPFKNNClassifier(n_neighbors=model.best_k_, **params).fit(X, codes)
        np.testing.assert_array_equal(model.predict(Q), fixed.predict(Q))
        np.testing.assert_array_equal(model.cost_, fixed.cost_)


def test_scores_of_folds_are_pooled_and_groups_reach_the_splitter():
    X, y = load_iris(return_X_y=True)
    folds, groups = StratifiedKFold(4), np.arange(150) % 10
    predicted = cross_val_predict(OPFKNNClassifier(n_neighbors=3), X, y, cv=folds)
    for cv in (4, folds):
        assert OPFKNNClassifier(cv=cv).fit(X, y).scores_[2] == np.mean(predicted == y)
    by_groups = OPFKNNClassifier(cv=GroupKFold(5)).fit(X, y, groups=groups)
    splits = list(GroupKFold(5).split(X, y, groups))
    np.testing.assert_array_equal(by_groups.scores_, OPFKNNClassifier(cv=splits).fit(X, y).scores_)
