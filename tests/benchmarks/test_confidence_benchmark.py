"""The experiment on confidence: what it measures is what it says."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.studies import confidence as experiment
from pathforest import OPFClassifier


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 2)) + y[:, None], y, rng.normal(size=(40, 2))


def test_with_full_confidence_the_costs_are_the_plain_ones(clouds, monkeypatch):
    X, y, Q = clouds
    monkeypatch.setattr(experiment, "confidence", lambda X, y, seed: np.ones(len(y)))
    expected = OPFClassifier().fit(X, y).class_costs(Q)
    np.testing.assert_allclose(experiment.confident_costs(X, y, Q, 0), expected)


def test_confidence_is_lost_among_strangers_and_kept_in_solitude():
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(5, 6, 30), [0.5001, 100.0]])[:, None]
    y = np.repeat([0, 1, 1], [30, 30, 2])
    values = experiment.confidence(X, y, 0)
    assert values[60] == 0
    assert values[61] == 1  # conquers no sample
    assert np.median(values[:60]) == 1


def test_held_out_costs_come_from_models_that_did_not_see_the_sample(clouds):
    X, y, _ = clouds
    held_out = experiment.held_out_costs(experiment.plain_costs, X, y, 0)
    train, val = experiment.folds(y, 0)[2]
    np.testing.assert_array_equal(held_out[val], experiment.plain_costs(X[train], y[train], X[val], 0))


def test_the_beta_with_the_smallest_loss_is_taken():
    costs = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    assert experiment.best_beta(costs, np.array([0, 1, 0])) == max(experiment.BETAS)
    assert experiment.best_beta(costs, np.array([1, 0, 1])) == min(experiment.BETAS)
