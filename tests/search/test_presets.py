"""Presets of the search: what "auto" chooses, which cells are averaged, and data that are hard for them."""

import logging

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV
from pathforest._search import representations as presets
from pathforest._search import transformers as discriminants
from pathforest._search.representations import choose_preset, resolve_transforms
from pathforest._search.scoring import choose_cells
from pathforest._search.transformers import ImportanceScaler, TreeShares
from pathforest.noise import flip_labels

SMALL = {"k_max": 4, "sigmas": (0.5, 1.0), "n_conquerors": (1, 5), "cv": 3}


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    """Tests of the search need no good forest."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (TreeShares, ImportanceScaler):
            patch.setattr(kind.__init__, "__defaults__", (10, 0))
        yield


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["red", "white", "rose"], dtype=object)[flip_labels(y, 0.1, 0)]


@pytest.fixture(scope="module")
def full(wine):
    return FuzzyOPFClassifierCV(**SMALL, transforms="full").fit(*wine)


# What "auto" chooses


@pytest.mark.parametrize(
    ("n_samples", "n_features", "expected"),
    [
        *((*limits, name) for name, limits in presets.LIMITS.items()),
        (presets.LIMITS["kernel"][0] + 1, 2, "linear"),
        (presets.LIMITS["linear"][0] + 1, 2, None),
        (100, presets.LIMITS["linear"][1] + 1, None),
    ],
)
def test_auto_takes_cheaper_presets_as_data_grow(n_samples, n_features, expected):
    chosen, reason = choose_preset(n_samples, n_features, "euclidean", False)
    assert chosen == expected
    assert f"{n_samples} samples x {n_features} features" in reason


def test_auto_leaves_features_alone_where_the_metric_or_the_membership_is_made_for_them():
    assert choose_preset(100, 2, "chi2", False) == (None, "metric='chi2' is for the features as given")
    assert choose_preset(100, 2, "euclidean", True)[0] is None


def test_the_choice_is_recorded_and_reported(wine, caplog):
    with caplog.at_level(logging.INFO, logger="pathforest"):
        search = FuzzyOPFClassifierCV(**SMALL, verbose=1).fit(*wine)
    expected = choose_preset(178, 13, "euclidean", False)
    assert (search.transforms_["preset"], search.transforms_["reason"]) == expected
    assert search.transforms_["names"] == [name for name, _ in resolve_transforms(expected[0]).items()]
    assert any(expected[1] in record.message for record in caplog.records)


def test_auto_is_the_preset_it_names(wine):
    auto = FuzzyOPFClassifierCV(**SMALL).fit(*wine)
    named = FuzzyOPFClassifierCV(**SMALL, transforms=auto.transforms_["preset"]).fit(*wine)
    np.testing.assert_array_equal(auto.predict_proba(wine[0]), named.predict_proba(wine[0]))


def test_auto_takes_distances_as_they_are():
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    search = FuzzyOPFClassifierCV(k_max=3, n_conquerors=1, cv=2, metric="precomputed").fit(
        D, np.arange(12) // 6
    )
    assert search.transforms_["preset"] is None
    assert "transform" not in search.best_params_


def test_answers_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X, y = (
        rng.normal(size=(400, 30)),
        rng.integers(0, 3, 400),
    )  # matrices so large that BLAS would divide them
    one, several = (FuzzyOPFClassifierCV(**SMALL, transforms="kernel", n_jobs=n).fit(X, y) for n in (1, 3))
    for name in ("mean_test_score", "mean_test_log_loss"):
        np.testing.assert_array_equal(one.cv_results_[name], several.cv_results_[name])


# Which cells are averaged


def table(losses, transforms, ranks=None):
    return {
        "params": [{"transform": name} for name in transforms],
        "mean_test_log_loss": np.array(losses),
        "rank_test_score": np.array(ranks or np.arange(1, 1 + len(losses))),
    }


def test_representations_take_turns_by_the_log_loss_of_their_best_cells():
    results = table([0.9, 0.2, 0.1, 0.3, 0.5], ["a", "b", "b", "c", "a"])
    assert choose_cells(results, 4, by_score=False).tolist() == [0, 2, 3, 4]  # the best score, then b, c, a
    assert choose_cells(results, 9, by_score=False).tolist() == [0, 2, 3, 4, 1]


def test_the_representation_of_the_best_score_has_had_its_turn():
    results = table([0.1, 0.2, 0.15], ["a", "a", "b"], ranks=[2, 1, 3])
    assert choose_cells(results, 3, by_score=False).tolist() == [1, 2, 0]


def test_a_scorer_of_the_user_decides_instead_of_log_loss():
    results = table([0.1, 0.2, 0.3, 0.4], ["a", "a", "b", "c"], ranks=[4, 3, 2, 1])
    assert choose_cells(results, 3, by_score=True).tolist() == [3, 2, 1]
    assert choose_cells(results, 3, by_score=False).tolist() == [3, 0, 2]


def test_one_representation_gives_all_cells():
    assert choose_cells(table([0.3, 0.1, 0.2], "aaa"), 3, by_score=False).tolist() == [0, 1, 2]


def test_the_answer_averages_different_representations(full, wine):
    rows = [full.cv_results_["params"][row] for row in full.averaged_]
    assert len({row["transform"] for row in rows}) == len(rows) == full.n_best
    mean = np.mean([model.predict_proba(wine[0]) for model in full.estimators_], axis=0)
    np.testing.assert_allclose(full.predict_proba(wine[0]), mean, rtol=1e-12)
    assert full.averaged_[0] == full.best_index_


# Equality, determinism, files, explanations


def test_every_score_of_the_full_preset_equals_that_of_grid_search(full, wine, tmp_path):
    grid = {"classifier__k_max": [4], "classifier__sigma": [0.5, 1.0], "classifier__competition": ["tree"]}
    grid["classifier__n_conquerors"] = [1, 5]
    for name, transformer in resolve_transforms("full").items():
        steps = [("transform", transformer or "passthrough"), ("classifier", FuzzyOPFClassifier())]
        pipeline = Pipeline(steps, memory=str(tmp_path))  # transforms each fold once, not for every cell
        naive = GridSearchCV(pipeline, grid, cv=3, refit=False).fit(*wine)
        ours = {
            (row["sigma"], row["n_conquerors"]): full.cv_results_["mean_test_score"][i]
            for i, row in enumerate(full.cv_results_["params"])
            if row["transform"] == name
        }
        for row, score in zip(naive.cv_results_["params"], naive.cv_results_["mean_test_score"], strict=True):
            key = row["classifier__sigma"], row["classifier__n_conquerors"]
            assert ours[key] == pytest.approx(score, abs=1e-12), name


def test_the_same_random_state_gives_the_same_bits(full, wine):
    again = FuzzyOPFClassifierCV(**SMALL, transforms="full").fit(*wine)
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_log_loss"], full.cv_results_["mean_test_log_loss"]
    )
    np.testing.assert_array_equal(again.predict_proba(wine[0]), full.predict_proba(wine[0]))
    other = FuzzyOPFClassifierCV(**SMALL, transforms="full", random_state=1).fit(*wine)
    assert (other.cv_results_["mean_test_log_loss"] != full.cv_results_["mean_test_log_loss"]).any()


@pytest.mark.parametrize("n_jobs", [2])
def test_threads_change_nothing(n_jobs, full, wine):
    threads = FuzzyOPFClassifierCV(**SMALL, transforms="full", n_jobs=n_jobs).fit(*wine)
    np.testing.assert_allclose(threads.predict_proba(wine[0]), full.predict_proba(wine[0]), atol=1e-6)


def test_every_representation_survives_a_file(wine, tmp_path):
    one = {"k_max": 4, "sigmas": 1.0, "n_conquerors": 5, "cv": 3, "n_best": 11}
    search = FuzzyOPFClassifierCV(**one, transforms="full").fit(*wine)
    assert len(search.estimators_) == 11
    search.save(tmp_path / "full.pf")
    loaded = pathforest.load(tmp_path / "full.pf")
    np.testing.assert_array_equal(loaded.predict_proba(wine[0]), search.predict_proba(wine[0]))
    assert loaded.explain(wine[0][:9]) == search.explain(wine[0][:9])
    assert loaded.transforms_ == search.transforms_
    np.testing.assert_array_equal(loaded.averaged_, search.averaged_)


def test_explanations_have_the_label_of_the_answer_and_name_their_representation(full, wine):
    X = wine[0]
    explained = full.explain(X)
    assert [one.label for one in explained] == full.predict(X).tolist()
    assert {one.cell for one in explained} > {0}  # some were not predicted so by the best cell
    for one in explained:
        assert one.transform == full.cv_results_["params"][full.averaged_[one.cell]]["transform"]
        assert one.path[0] == one.conqueror


def test_explained_costs_are_those_of_the_explained_cell(full, wine):
    X = wine[0]
    row, one = next((i, e) for i, e in enumerate(full.explain(X)) if e.cell)
    costs = full.class_costs(X[row : row + 1], one.cell)[0]
    assert full.classes_[costs.argmin()] == one.label


def test_kernels_of_one_space_share_their_distances(wine, monkeypatch):
    calls = []
    measure = discriminants.euclidean_distances
    monkeypatch.setattr(
        discriminants, "euclidean_distances", lambda *args, **kw: calls.append(1) or measure(*args, **kw)
    )
    FuzzyOPFClassifierCV(**SMALL, transforms="kernel", refit=False).fit(*wine)
    assert len(calls) == 3 * (1 + 1 + 4)  # for each fold: landmarks and training samples once, queries


# Hostile data


HOSTILE = {
    "one feature": np.arange(24.0)[:, None],
    "constant features": np.ones((24, 3)),
    "a constant beside one that is not": np.column_stack([np.arange(24.0), np.ones(24)]),
    "huge and tiny": np.column_stack([np.arange(24.0) * 1e12, np.arange(24.0)[::-1] * 1e-12]),
    "copies": np.repeat(np.eye(3), 8, axis=0),
    "wide": np.random.default_rng(0).normal(size=(24, 60)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("transforms", ["auto", "full"])
def test_hard_data_are_answered(name, transforms):
    X, y = HOSTILE[name], np.array(["no", "yes"], dtype=object)[np.arange(24) // 4 % 2]
    search = FuzzyOPFClassifierCV(**SMALL, transforms=transforms).fit(X, y)
    given = search.predict_proba(X)
    assert np.isfinite(given).all()
    np.testing.assert_allclose(given.sum(axis=1), 1)
    assert set(search.predict(X)) <= {"no", "yes"}
    assert len(search.explain(X[:3])) == 3


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("transforms", ["auto", "full"])
def test_two_samples_per_class_are_enough(transforms):
    X, y = np.array([[0.0, 1.0], [0.5, 1.5], [5.0, 4.0], [6.0, 5.0], [9.0, 0.0], [9.5, 1.0]]), list("aabbcc")
    search = FuzzyOPFClassifierCV(k_max=2, n_conquerors=1, cv=2, transforms=transforms).fit(X, y)
    assert np.isfinite(search.predict_proba(X)).all()


@pytest.mark.parametrize("transforms", ["auto", "full"])
def test_a_fold_may_train_a_single_class(transforms):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) // 5
    pairs = [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))]
    search = FuzzyOPFClassifierCV(k_max=2, n_conquerors=1, cv=pairs, transforms=transforms).fit(X, y)
    assert search.best_score_ == 0
