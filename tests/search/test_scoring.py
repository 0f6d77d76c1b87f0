"""A scorer that fails costs the search a score, not its results."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, make_scorer

from pathforest import FuzzyOPFClassifierCV

SMALL = {"k_max": (2, 6), "sigmas": (0.4, 1.0), "n_conquerors": (1, 3), "cv": 3, "refit": False}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 2)) + 1.5 * np.eye(3, 2)[y], y


def fails_once(first_row):
    """A scorer that fails on the fold with a certain sample."""

    def score(estimator, X, y):
        if (first_row == X).all(axis=1).any():
            raise ZeroDivisionError("no such luck")
        return accuracy_score(y, estimator.predict(X))

    return score


def test_a_score_that_fails_is_nan_and_warned_of_once(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]))
    with pytest.warns(UserWarning, match="ZeroDivisionError: no such luck") as caught:
        search.fit(*problem)
    assert len(caught) == 1
    failed = [np.isnan(search.cv_results_[f"split{fold}_test_score"]).all() for fold in range(3)]
    assert sum(failed) == 1


def test_the_other_scores_are_kept(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]), error_score=0.0)
    with pytest.warns(UserWarning, match="those scores are 0.0"):
        search.fit(*problem)
    plain = FuzzyOPFClassifierCV(**SMALL).fit(*problem)
    for fold in (1, 2):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(search.cv_results_[key], plain.cv_results_[key])
    assert np.isfinite(search.best_score_)


def test_error_score_raise_stops_the_search(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]), error_score="raise")
    with pytest.raises(ZeroDivisionError, match="no such luck"):
        search.fit(*problem)


def test_trials_with_scores_that_are_no_numbers_fail_alone(problem):
    pytest.importorskip("optuna")
    search = FuzzyOPFClassifierCV(**SMALL, search="optuna", n_trials=5, scoring=fails_once(problem[0][0]))
    with pytest.warns(UserWarning, match="scoring failed"):
        search.fit(*problem)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_a_scorer_that_works_warns_of_nothing(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FuzzyOPFClassifierCV(**SMALL, scoring=make_scorer(accuracy_score)).fit(*problem)
