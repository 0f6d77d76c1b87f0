"""Continuous search: trials stay within their ranges, share the work, and find what a grid finds."""

import logging
import sys

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV
from pathforest._search import training
from pathforest._search.cells import KEPT_BYTES, Folds
from pathforest._search.training import SharedTraining

optuna = pytest.importorskip("optuna")
samplers = pytest.mark.parametrize("sampler", ["tpe", "evolutionary"])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    y = np.arange(120) % 3
    return rng.normal(size=(120, 3)) + 1.6 * np.eye(3)[y], y


def search(problem, **params):
    settings = {"k_max": (1, 20), "sigmas": (0.2, 1.0), "n_conquerors": (1, 30), "n_trials": 20, "cv": 3}
    settings["transforms"] = None
    return FuzzyOPFClassifierCV(search="optuna", **{**settings, **params}).fit(*problem)


@samplers
def test_trials_stay_between_the_extremes(sampler, problem):
    results = search(problem, sampler=sampler).cv_results_
    assert 1 <= results["param_k_max"].min() <= results["param_k_max"].max() <= 20
    assert 0.2 <= results["param_sigma"].min() <= results["param_sigma"].max() <= 1.0
    assert 1 <= results["param_n_conquerors"].min() <= results["param_n_conquerors"].max() <= 30
    assert len(set(results["param_sigma"].tolist())) > 6


@samplers
def test_the_same_seed_tries_the_same_cells(sampler, problem):
    one, same, other = [search(problem, sampler=sampler, random_state=seed).cv_results_ for seed in (3, 3, 4)]
    assert one["params"] == same["params"] != other["params"]


def test_scores_are_those_of_the_cells(problem):
    found = search(problem, n_trials=5)
    for params, score in zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True):
        grid = {"k_max": params["k_max"], "sigmas": params["sigma"], "competitions": params["competition"]}
        one = FuzzyOPFClassifierCV(
            **grid, transforms=None, n_conquerors=params["n_conquerors"], cv=3, refit=False
        ).fit(*problem)
        assert one.best_score_ == score


def test_the_best_estimator_has_the_best_parameters(problem):
    found = search(problem)
    alone = FuzzyOPFClassifier(**found.best_params_).fit(*problem)
    np.testing.assert_array_equal(found.best_estimator_.cost_, alone.cost_)


def test_folds_are_prepared_once_for_all_trials(problem, monkeypatch):
    calls = []
    knn_graph = training.knn_graph
    monkeypatch.setattr(training, "knn_graph", lambda *args: calls.append(args) or knn_graph(*args))
    search(problem, refit=False)
    assert len(calls) == 3


def test_a_cell_drawn_twice_is_one_row_and_scored_once(problem, monkeypatch):
    scored = []
    score = Folds.score
    monkeypatch.setattr(
        Folds, "score", lambda self, cells, *args: scored.extend(cells) or score(self, cells, *args)
    )
    results = search(problem, k_max=(3, 4), sigmas=0.5, n_conquerors=(1, 2), n_trials=15).cv_results_
    assert len(results["params"]) <= 4
    assert len(scored) == len(set(scored)) == len(results["params"])


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_trials_are_told_the_score_that_the_results_show(scoring, problem, monkeypatch):
    told = {}
    tell = optuna.study.Study.tell

    def listen(study, trial, score):
        told[trial.params["k_max"], trial.params["sigma"], trial.params["n_conquerors"]] = score
        return tell(study, trial, score)

    monkeypatch.setattr(optuna.study.Study, "tell", listen)
    results = search(problem, scoring=scoring, n_trials=12).cv_results_
    shown = zip(results["params"], results["mean_test_score"], strict=True)
    assert told == {(p["k_max"], p["sigma"], p["n_conquerors"]): score for p, score in shown}


def test_equal_trials_are_settled_by_the_order_of_the_transforms(problem):
    """Three names for the same representation tie to the end; trials come upon them in any order."""
    same = [("c", StandardScaler()), ("a", StandardScaler()), ("b", StandardScaler())]
    for seed in range(3):
        found = search(
            problem, transforms=same, k_max=3, sigmas=0.5, n_conquerors=1, n_trials=15, random_state=seed
        )
        assert set(found.cv_results_["param_transform"]) == {"a", "b", "c"}
        assert found.best_params_["transform"] == "c"


def test_the_budget_of_kept_neighbours_is_one_for_all_folds_and_representations(problem, monkeypatch):
    kept = []
    init = SharedTraining.__init__

    def watch(self, template, X, y, keep_bytes, *rest):
        kept.append(keep_bytes)
        init(self, template, X, y, keep_bytes, *rest)

    monkeypatch.setattr(SharedTraining, "__init__", watch)
    search(problem, transforms="linear", refit=False)
    assert len(kept) == 9
    assert 0.9 * KEPT_BYTES < sum(kept) <= KEPT_BYTES


def test_along_the_tree_sigma_ends_at_1(problem):
    results = search(problem, sigmas=(0.5, 1.5), competitions=("tree", "complete"), n_trials=30).cv_results_
    cells = [(params["competition"], params["sigma"]) for params in results["params"]]
    assert max(sigma for competition, sigma in cells if competition == "tree") <= 1
    assert max(sigma for competition, sigma in cells if competition == "complete") > 1


def test_transforms_are_part_of_the_search(problem):
    results = search(problem, transforms="linear").cv_results_
    assert set(results["param_transform"]) == {"as given", "standardised", "LDA"}


def test_a_sampler_of_optuna_is_taken_as_it_is(problem):
    found = search(problem, sampler=optuna.samplers.RandomSampler(seed=0), n_trials=4)
    assert len(found.cv_results_["params"]) == 4


def test_an_unknown_sampler_is_refused(problem):
    with pytest.raises(ValueError, match="sampler='ant'"):
        search(problem, sampler="ant")


def test_optuna_says_nothing(problem, capfd):
    search(problem, n_trials=2)
    assert capfd.readouterr() == ("", "")


def test_the_level_of_optuna_s_logger_is_left_alone(problem):
    level = logging.getLogger("optuna").level
    search(problem, n_trials=2)
    assert logging.getLogger("optuna").level == level


def test_without_optuna_the_error_says_how_to_get_it(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pathforest\[optuna\]"):
        search(problem)
