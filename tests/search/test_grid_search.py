"""A search scores every cell as GridSearchCV would, and answers as ordinary fits of the best cells do."""

import numpy as np
import pytest
from naive import models, same_scores, tied
from pipelines import passengers
from scipy.sparse import random as sparse_random
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, pairwise_distances
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from pathforest import FuzzyOPFClassifierCV
from pathforest._search import plan

pytestmark = [
    pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]

SMALL = {"k_max": (1, 6), "sigmas": (0.2, 1.0), "n_conquerors": (1, 4), "betas": (1, 4), "cv": 3}
ONE = {"k_max": 5, "sigmas": 0.4, "n_conquerors": 3}
X, Y = tied()
IRIS = load_iris(return_X_y=True)
WINE, KINDS = load_wine(return_X_y=True)
HOLES = np.where(np.random.default_rng(0).random(IRIS[0].shape) < 0.1, np.nan, IRIS[0])
FEW = np.array([[0.0, 1.0], [0.5, 1.5], [5.0, 4.0], [6.0, 5.0], [9.0, 0.0], [9.5, 1.0]])


def scaled():
    """Frames of numbers, made by a transformer."""
    return make_pipeline(StandardScaler(), FunctionTransformer()).set_output(transform="pandas")


def frame(library):
    module = pytest.importorskip(library)
    colour = np.array(["red", "green", "blue"])[(IRIS[1] + (np.arange(150) % 7 == 0)) % 3]
    return module.DataFrame({"width": IRIS[0][:, 0], "colour": colour, "height": IRIS[0][:, 1]}), IRIS[1]


def backwards(model, X, y):
    """A score that no search knows in advance: it asks the model itself, for other samples."""
    return accuracy_score(y, model.predict(X.iloc[::-1])[::-1])


COLUMNS = ColumnTransformer(
    [("numbers", StandardScaler(), ["width", "height"]), ("text", OneHotEncoder(), ["colour"])],
    sparse_threshold=0,
)
SETTINGS = {  # samples, labels and perhaps groups, or a function that returns them; and parameters
    "complete": ((X, Y), {"k_max": (1, 6, 15), "sigmas": (0.2, 1.0, 1.2), "competitions": "complete"}),
    "threads": ((X, Y), {"competitions": ("tree", "complete"), "n_jobs": 2}),
    "kd_tree": ((X, Y), {"algorithm": "kd_tree"}),
    "matrix metric": ((X, Y), {"metric": "seuclidean"}),
    "distances": ((pairwise_distances(X, metric="chebyshev"), Y), {"metric": "precomputed"}),
    "membership": ((X, Y), {"membership": lambda X, y: np.linspace(0, 1, len(X))}),
    "float32": ((X.astype(np.float32) / 3, Y), {}),
    # The competition gets the first of longer lists; k_max and r may even exceed the samples.
    "long lists": (
        tied(220, 6),
        {
            "k_max": (1, 45, 100, 150, 300),
            "sigmas": (0.2, 0.6),
            "competitions": "complete",
            "n_conquerors": (1, 200),
            "cv": [(np.arange(165), np.arange(165, 220))],
        },
    ),
    "limit beyond every table": ((X, Y), {"k_max": (3, 10**20), "sigmas": 0.4, "cv": 5}),
    "missing class": (
        (X, np.where(np.arange(150) < 5, 7, Y)),
        {"cv": [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]},
    ),
    "one class": (
        (X[:10], np.arange(10) // 5),
        ONE
        | {"cv": [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))], "transforms": "auto"},
    ),
    **{name: ((X, Y), {"scoring": name}) for name in ("balanced_accuracy", "f1_macro", "roc_auc_ovr")},
    "neg_log_loss": ((X, Y), {"scoring": "neg_log_loss"}),
    "folds": ((X, Y), ONE | {"cv": StratifiedKFold(4, shuffle=True, random_state=1)}),
    "many draws": ((X, Y), ONE | {"cv": ShuffleSplit(4, random_state=0)}),
    "repeats": ((X, Y), ONE | {"cv": [(np.r_[np.arange(150), np.arange(40)], np.arange(150))] * 4}),
    "groups": ((X, Y, np.arange(150) // 30), ONE | {"cv": GroupKFold(5)}),
    "transformers": ((X * [1, 10, 100], Y), {"transforms": [None, StandardScaler()], "n_best": 2}),
    "all representations": (
        (WINE @ np.eye(13, 26) + np.sin(WINE @ np.ones((13, 26))), KINDS),  # principal components too
        {"k_max": 4, "sigmas": 1.0, "n_conquerors": 5, "betas": (2, 8), "cv": 2, "transforms": "auto"},
    ),
    "gaps": ((HOLES, IRIS[1]), {"transforms": [SimpleImputer()]}),
    "sparse": ((np.array([["a"], ["b"], ["c"]] * 50), Y), ONE | {"transforms": [OneHotEncoder()]}),
    "frames made": (IRIS, ONE | {"transforms": [scaled()]}),
    "pandas": (lambda: frame("pandas"), ONE | {"transforms": [COLUMNS]}),
    "polars": (lambda: frame("polars"), ONE | {"transforms": [COLUMNS]}),
    "table": (passengers(60), ONE | {"cv": 2, "transforms": "auto"}),
    "table as given": (passengers(60), ONE | {"cv": 2, "scoring": backwards}),
    "few of a class": ((FEW, list("aabbcc")), ONE | {"cv": 2, "transforms": "auto"}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_scores_are_those_of_grid_search_and_answers_those_of_the_best_models(name):
    samples, params = SETTINGS[name]
    samples = samples() if callable(samples) else samples
    search = same_scores(
        FuzzyOPFClassifierCV(**SMALL | {"transforms": None, "label_noise": 0} | params), *samples
    )
    alone = [models(search)[row].fit(*samples[:2]) for row in search.averaged_]
    given = [model.predict_proba(samples[0]) for model in alone]
    expected = np.average(given, axis=0, weights=search.weights_)
    rtol = 1e-6 if name == "all representations" else 1e-9
    np.testing.assert_allclose(search.predict_proba(samples[0]), expected, rtol=rtol)
    answer = search.classes_[expected.argmax(axis=1)] if len(alone) > 1 else alone[0].predict(samples[0])
    assert search.predict(samples[0]).tolist() == answer.tolist()
    best = alone[0] if isinstance(alone[0], Pipeline) else make_pipeline("passthrough", alone[0])
    seen = best[:-1].transform(samples[0])
    np.testing.assert_allclose(search.class_costs(samples[0]), best[-1].class_costs(seen), rtol=rtol)
    assert search.best_beta_ == best[-1].beta


def test_large_sets_are_searched_on_a_part_and_fitted_whole(monkeypatch):
    monkeypatch.setattr(plan, "PART", 90)
    X, y = tied(200, 4)
    y[y == 2] = np.where(np.arange(np.sum(y == 2)) < 4, 2, 0)  # a rare class is taken whole
    search = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, n_conquerors=(1, 3), cv=4).fit(X, y)
    part, order = search.part_, np.random.default_rng(0).permutation(200)
    assert (np.diff(part) > 0).all()
    assert len(part) == search.transforms_["part"] < 100
    assert np.sum(y[part] == 2) == np.sum(y == 2) == 4
    monkeypatch.setattr(plan, "PART", len(part))
    alone = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, n_conquerors=(1, 3), cv=4).fit(X[part], y[part])
    for name in ("mean_test_score", "mean_test_log_loss"):
        np.testing.assert_array_equal(search.cv_results_[name], alone.cv_results_[name])
    assert {len(model[-1].cost_) for model in search.estimators_} == {200}
    assert search.score(X, y) > 0.5
    distinct = np.column_stack([X, np.arange(200)])
    once = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, refit=False).fit(distinct, y).part_
    again = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, refit=False).fit(distinct[order], y[order]).part_
    assert sorted(order[again]) == once.tolist()  # chosen by values, not by places
    whole = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, cv=StratifiedKFold(2), refit=False).fit(X, y)
    assert len(whole.part_) == 200


@pytest.mark.parametrize(
    ("samples", "transforms"),
    [
        (np.arange(400)[:, None] // 40 * 1.0, "auto"),
        (sparse_random(400, 30, 0.3, "csr", random_state=0), [TruncatedSVD(2)]),
    ],
    ids=["few rows, often", "sparse"],
)
def test_a_part_is_like_the_whole_and_chosen_by_values(samples, transforms, monkeypatch):
    monkeypatch.setattr(plan, "PART", 100)
    y, order = np.arange(400) % 2, np.random.default_rng(0).permutation(400)
    search = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, transforms=transforms, refit=False)
    part = search.fit(samples, y).part_
    values = np.asarray(samples.sum(axis=1)).ravel()
    assert abs(values[part].mean() - values.mean()) < 0.3 * values.std()
    assert values[part].std() == pytest.approx(values.std(), rel=0.3)
    assert np.histogram(part, 4, (0, 400))[0].min() > 10
    again = order[search.fit(samples[order], y[order]).part_]
    np.testing.assert_allclose(np.sort(values[again]), np.sort(values[part]))


def test_small_parts_of_wide_samples_have_fewer_components():
    X, y = np.random.default_rng(0).normal(size=(40, 30)), np.arange(40) % 2
    search = FuzzyOPFClassifierCV(k_max=3, sigmas=1.0, cv=ShuffleSplit(2, train_size=8, random_state=0))
    assert "8 components" in search.fit(X, y).transforms_["names"]
    assert np.isfinite(search.fit(np.ones((40, 30)), y).predict_proba(X)).all()
