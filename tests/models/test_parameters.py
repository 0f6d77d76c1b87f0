"""Every estimator declares a rule for each parameter, and errors repeat values in short."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import pathforest
from pathforest._utils.threads import thread_count

pytest.importorskip("imblearn")
dask = pytest.importorskip("pathforest.dask", exc_type=ImportError)

PUBLIC = [getattr(module, name) for module in (pathforest, dask) for name in module.__all__]
ESTIMATORS = [kind for kind in PUBLIC if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
LOCAL = [kind for kind in ESTIMATORS if not kind.__name__.startswith("Dask")]
# Those that other packages check, with messages of their own.
THEIRS = {"sampling_strategy"}

X = np.random.default_rng(0).normal(size=(20, 3))
y = np.arange(20) % 4 // 3


class Hostile:
    def __repr__(self):
        return "\x1b[31m" + "x" * 10**6


LONG = ["x" * 10**6, "\x1b[2J", Hostile(), [Hostile()] * 2]
# Where integers have an upper limit; Python prints no more than 4300 digits.
LIMITED = ("n_neighbors", "n_clusters", "random_state", "contamination", "validation_fraction", "max_loss")


def fit(kind, **params):
    estimator = kind(**params)
    return estimator.fit_resample(X, y) if hasattr(estimator, "fit_resample") else estimator.fit(X, y)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_has_a_rule(kind):
    assert sorted(kind._rules) == sorted(kind().get_params(deep=False))


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in LOCAL for name in kind().get_params(deep=False) if name not in THEIRS],
)
def test_a_refused_value_is_shown_in_short_and_without_control_characters(kind, name):
    is_capped = (kind, name) == (pathforest.OPFSemiSupervisedClassifier, "n_neighbors")
    for value in [*LONG, 10**5000] if name in LIMITED and not is_capped else LONG:
        with pytest.raises((TypeError, ValueError), match=name.removesuffix("s")) as error:
            fit(kind, **{name: value})
        assert len(str(error.value)) < 500
        assert str(error.value).isprintable()


def test_a_candidate_that_can_be_read_only_once_is_refused():
    with pytest.raises(TypeError, match=r"sigmas=<generator.*only once; pass a list"):
        pathforest.FuzzyOPFClassifierCV(sigmas=(s / 10 for s in (2, 4))).fit(X, y)


def test_numpy_integers_set_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("pathforest._core.max_threads", lambda: 4)  # on one core n_jobs would not count
    assert type(thread_count(np.int64(2))) is int
    scores = [fit(pathforest.FuzzyOPFClassifierCV, cv=2, n_jobs=n).best_score_ for n in (2, np.int64(2))]
    assert scores[0] == scores[1]
