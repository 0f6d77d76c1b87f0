"""FuzzyOPFClassifierCV scores every cell as a naive search would, and answers with the best of them."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import accuracy_score, pairwise_distances
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, TrainingErrorWarning

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

GRID = {
    "k_max": [1, 6, 15],
    "sigma": [0.2, 1.0, 1.2],
    "competition": ["complete"],
    "n_conquerors": [1, 4],
}
OURS = {"sigma": "sigmas", "competition": "competitions"}  # where the name of the candidates is another


def make_search(grid, **params):
    named = {OURS.get(name, name): values for name, values in grid.items()}
    return FuzzyOPFClassifierCV(**named, **{"transforms": None, **params})


def scores_by_cell(results, n_splits):
    """Scores of every fold by the parameters, which do not say the order of rows."""
    columns = [results[f"split{fold}_test_score"] for fold in range(n_splits)]
    return {
        tuple(sorted(params.items())): [column[row] for column in columns]
        for row, params in enumerate(results["params"])
    }


def noisy_problem(n=150, d=3, seed=0, share=0.15):
    """Three overlapping classes with some wrong labels, on a grid so that distances tie."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = np.round(3 * (rng.normal(size=(3, d)) * 1.2)[codes] + rng.normal(0, 3, (n, d)))
    wrong = rng.random(n) < share
    return X, np.where(wrong, rng.integers(0, 3, n), codes)


@pytest.fixture(scope="module")
def problem():
    return noisy_problem()


@pytest.fixture(scope="module")
def fitted(problem):
    return FuzzyOPFClassifierCV(transforms=None, k_max=(3, 8), n_conquerors=(1, 3, 7)).fit(*problem)


# Equality with the naive search


@pytest.mark.parametrize(
    ("grid", "params"),
    [
        (GRID, {}),
        ({**GRID, "competition": ["tree", "complete"], "sigma": [0.2, 1.0]}, {}),
        (GRID, {"metric": "log_sqeuclidean", "algorithm": "brute"}),
        (GRID, {"metric": "seuclidean"}),
        ({"sigma": [0.2, 1.0]}, {"membership": lambda X, y: np.linspace(0, 1, len(X))}),
    ],
    ids=["complete", "both", "log", "matrix metric", "callable"],
)
def test_every_score_equals_that_of_a_naive_search(grid, params, problem):
    naive = GridSearchCV(FuzzyOPFClassifier(**params), grid, cv=3).fit(*problem)
    ours = {**dict.fromkeys(GRID), **grid}
    defaults = {"k_max": [20], "competition": ["complete"], "n_conquerors": [1]}
    ours = {name: values or defaults[name] for name, values in ours.items()}
    shared = make_search(ours, cv=3, refit=False, **params).fit(*problem)
    wanted = scores_by_cell(naive.cv_results_, 3)
    found = scores_by_cell(shared.cv_results_, 3)
    names = set(grid)
    found = {tuple(item for item in key if item[0] in names): value for key, value in found.items()}
    assert found == wanted


def test_neighbourhoods_beyond_the_lists_of_the_competition_score_as_in_a_naive_search():
    """The competition gets the first of longer lists; k_max and r may even exceed the samples."""
    X, y = noisy_problem(n=220, d=6)
    pair = [(np.arange(165), np.arange(165, 220))]
    grid = {
        "k_max": [1, 45, 100, 150, 300],
        "sigma": [0.2, 0.6],
        "competition": ["complete"],
        "n_conquerors": [1, 200],
    }
    naive = GridSearchCV(FuzzyOPFClassifier(), grid, cv=pair).fit(X, y)
    shared = make_search(grid, cv=pair, refit=False).fit(X, y)
    assert scores_by_cell(shared.cv_results_, 1) == scores_by_cell(naive.cv_results_, 1)


@pytest.mark.parametrize("k_max", [10**20, 2**63 - 1])
def test_a_limit_beyond_every_table_is_the_size_of_the_table(problem, k_max):
    grid = {"k_max": [3, k_max], "sigma": [0.4], "competition": ["complete"], "n_conquerors": [1]}
    naive = GridSearchCV(FuzzyOPFClassifier(), grid, cv=5).fit(*problem)
    shared = make_search(grid, cv=5).fit(*problem)
    assert scores_by_cell(shared.cv_results_, 5) == scores_by_cell(naive.cv_results_, 5)


def test_float32_samples_score_as_in_a_naive_search(problem):
    X, y = problem[0].astype(np.float32) / 3, problem[1]
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3).fit(X, y)
    shared = make_search(GRID, cv=3, refit=False).fit(X, y)
    assert scores_by_cell(shared.cv_results_, 3) == scores_by_cell(naive.cv_results_, 3)


def test_a_precomputed_matrix_scores_as_in_a_naive_search(problem):
    X, y = problem
    D = pairwise_distances(X, metric="chebyshev")
    naive = GridSearchCV(FuzzyOPFClassifier(metric="precomputed"), GRID, cv=3).fit(D, y)
    shared = make_search(GRID, cv=3, refit=False, metric="precomputed").fit(D, y)
    assert scores_by_cell(shared.cv_results_, 3) == scores_by_cell(naive.cv_results_, 3)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"])
def test_any_scorer_scores_as_in_a_naive_search(scoring, problem):
    grid = {"k_max": [5], "sigma": [0.4, 1.0], "competition": ["complete"], "n_conquerors": [1, 4]}
    naive = GridSearchCV(FuzzyOPFClassifier(beta=4.0), grid, cv=3, scoring=scoring).fit(*problem)
    shared = make_search(grid, cv=3, scoring=scoring, betas=4.0, refit=False).fit(*problem)
    assert scores_by_cell(shared.cv_results_, 3) == scores_by_cell(naive.cv_results_, 3)


def test_a_transformer_is_fitted_inside_each_fold(problem):
    X, y = problem[0] * [1, 10, 100], problem[1]
    pipeline = Pipeline([("scale", StandardScaler()), ("model", FuzzyOPFClassifier(k_max=5))])
    naive = GridSearchCV(pipeline, {"model__n_conquerors": [1, 3]}, cv=3).fit(X, y)
    grid = {"k_max": [5], "sigma": [0.8], "competition": ["complete"], "n_conquerors": [1, 3]}
    shared = make_search(grid, transforms=[StandardScaler()], cv=3).fit(X, y)
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(shared.cv_results_[key], naive.cv_results_[key])


@pytest.mark.parametrize(
    "cv",
    [
        3,
        StratifiedKFold(4, shuffle=True, random_state=1),
        ShuffleSplit(2, random_state=0),
        ShuffleSplit(4, random_state=0),
        [(np.arange(90), np.arange(90, 150))],
        [(np.r_[np.arange(150), np.arange(40)], np.arange(150))] * 4,
    ],
    ids=["number", "splitter", "shuffle", "shuffle often", "pair", "repeated samples"],
)
def test_folds_are_those_of_grid_search(cv, problem):
    grid = {"k_max": [5], "sigma": [0.4], "competition": ["complete"], "n_conquerors": [1]}
    naive = GridSearchCV(FuzzyOPFClassifier(), grid, cv=cv).fit(*problem)
    shared = make_search(grid, cv=cv, refit=False).fit(*problem)
    n = naive.n_splits_
    assert scores_by_cell(shared.cv_results_, n) == scores_by_cell(naive.cv_results_, n)


@pytest.mark.parametrize("competition", ["tree", "complete"])
def test_models_asked_together_answer_as_each_alone(competition, problem):
    grid = {"sigma": [0.2, 1.0, 0.6], "competition": [competition], "n_conquerors": (1, 9)}
    search, Q = make_search(grid, n_best=5).fit(*problem), problem[0] + 0.25
    mean = np.mean([model.predict_proba(Q) for model in search.estimators_], axis=0)
    np.testing.assert_array_equal(search.predict_proba(Q), mean)
    np.testing.assert_array_equal(search.predict(Q), search.classes_[mean.argmax(axis=1)])


def test_groups_reach_the_splitter(problem):
    groups = np.arange(150) // 30
    grid = {"k_max": [5], "sigma": [0.4], "competition": ["complete"], "n_conquerors": [1]}
    naive = GridSearchCV(FuzzyOPFClassifier(), grid, cv=GroupKFold(5)).fit(*problem, groups=groups)
    shared = make_search(grid, cv=GroupKFold(5), refit=False).fit(*problem, groups=groups)
    assert scores_by_cell(shared.cv_results_, 5) == scores_by_cell(naive.cv_results_, 5)


def test_a_class_missing_from_a_fold_scores_as_in_a_naive_search(problem):
    X, y = problem[0], problem[1].copy()
    y[:5] = 7  # all in the first evaluation part
    pairs = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=pairs).fit(X, y)
    shared = make_search(GRID, cv=pairs, refit=False).fit(X, y)
    assert scores_by_cell(shared.cv_results_, 2) == scores_by_cell(naive.cv_results_, 2)


# The table of results


def test_there_is_one_row_per_cell_of_the_product(problem):
    search = FuzzyOPFClassifierCV(
        transforms=None,
        k_max=(1, 2, 60, 90),
        sigmas=(0.2, 1.0),
        competitions=("tree", "complete"),
        n_conquerors=(1, 4),
        cv=2,
    ).fit(*problem)
    cells = [tuple(params.values()) for params in search.cv_results_["params"]]
    expected = [
        (k, s, c, r) for k in (1, 2, 60, 90) for s in (0.2, 1.0) for c in ("tree", "complete") for r in (1, 4)
    ]
    assert sorted(cells) == sorted(expected)


def test_columns_and_params_agree(fitted):
    results = fitted.cv_results_
    for name in ("k_max", "sigma", "competition", "n_conquerors"):
        assert [params[name] for params in results["params"]] == results[f"param_{name}"].tolist()


def test_every_column_has_one_entry_per_cell(fitted):
    assert {len(column) for column in fitted.cv_results_.values()} == {18}


def test_results_make_a_data_frame(fitted):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(fitted.cv_results_)
    assert frame.sort_values("rank_test_score").iloc[0]["params"] == fitted.best_params_


def test_means_and_deviations_are_those_of_the_folds(fitted):
    folds = np.array([fitted.cv_results_[f"split{i}_test_score"] for i in range(5)])
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"], folds.mean(axis=0))
    np.testing.assert_allclose(fitted.cv_results_["std_test_score"], folds.std(axis=0))


def test_beta_is_no_row_but_a_column(problem):
    search = FuzzyOPFClassifierCV(
        transforms=None, k_max=3, sigmas=0.5, n_conquerors=(1, 3), betas=(1, 7), cv=2
    ).fit(*problem)
    assert len(search.cv_results_["params"]) == 2
    assert set(search.cv_results_["beta"]) <= {1.0, 7.0}


def test_beta_is_the_one_with_the_smallest_mean_log_loss(problem):
    grid = {"k_max": [5], "sigma": [0.4], "competition": ["complete"], "n_conquerors": [5]}
    betas = np.array([1, 2, 3, 9])
    search = make_search(grid, betas=betas, cv=3).fit(*problem)
    naive = [
        GridSearchCV(FuzzyOPFClassifier(beta=beta), grid, cv=3, scoring="neg_log_loss").fit(*problem)
        for beta in betas
    ]
    losses = -np.array([scores_by_cell(one.cv_results_, 3).popitem()[1] for one in naive])
    worst, mean, best = losses.max(axis=1), losses.mean(axis=1), losses.min(axis=1)
    assert (betas[worst.argmin()], betas[best.argmin()]) == (1, 3)  # so that neither passes for the mean
    assert search.best_beta_ == betas[mean.argmin()] == 2
    assert search.cv_results_["mean_test_log_loss"][0] == pytest.approx(mean.min())


def test_tree_cells_with_sigma_above_1_are_left_out(problem):
    search = FuzzyOPFClassifierCV(
        transforms=None, k_max=3, sigmas=(0.8, 1.2), competitions=("tree", "complete"), n_conquerors=1, cv=2
    ).fit(*problem)
    cells = {(p["competition"], p["sigma"]) for p in search.cv_results_["params"]}
    assert cells == {("tree", 0.8), ("complete", 0.8), ("complete", 1.2)}


def test_a_search_without_any_cell_is_an_error(problem):
    with pytest.raises(ValueError, match="'complete'"):
        FuzzyOPFClassifierCV(transforms=None, sigmas=(1.2, 1.4)).fit(*problem)


# The model that answers


def refitted(search, row):
    """The classifier of one row, fitted without any sharing."""
    params = dict(search.cv_results_["params"][row])
    return FuzzyOPFClassifier(**params, beta=search.cv_results_["beta"][row])


@pytest.mark.parametrize("competition", ["tree", "complete"])
def test_the_best_estimator_equals_an_ordinary_fit(competition, problem):
    search = FuzzyOPFClassifierCV(
        transforms=None, k_max=(2, 9), sigmas=(0.3, 0.7), competitions=competition
    ).fit(*problem)
    alone = refitted(search, search.best_index_).fit(*problem)
    for name, value in vars(alone).items():
        if name.endswith("_") and not name.startswith("_"):
            np.testing.assert_array_equal(getattr(search.best_estimator_, name), value, err_msg=name)
            np.testing.assert_array_equal(getattr(search, name), value, err_msg=name)


def test_the_best_estimator_has_the_best_parameters(fitted):
    params = fitted.best_estimator_.get_params()
    assert {name: params[name] for name in fitted.best_params_} == fitted.best_params_
    assert params["beta"] == fitted.best_beta_


def test_the_answer_averages_the_best_cells(problem):
    search = FuzzyOPFClassifierCV(transforms=None, k_max=(3, 8), n_best=4, cv=3).fit(*problem)
    rows = np.argsort(search.cv_results_["rank_test_score"])[:4]
    Q = problem[0] + 0.4
    expected = np.mean([refitted(search, row).fit(*problem).predict_proba(Q) for row in rows], axis=0)
    np.testing.assert_allclose(search.predict_proba(Q), expected, rtol=1e-13)
    np.testing.assert_array_equal(search.predict(Q), search.classes_[expected.argmax(axis=1)])


def test_n_best_1_is_one_ordinary_classifier(problem):
    search = FuzzyOPFClassifierCV(transforms=None, k_max=(3, 8), n_best=1, cv=3).fit(*problem)
    alone = refitted(search, search.best_index_).fit(*problem)
    Q = problem[0] + 0.5
    np.testing.assert_array_equal(search.predict(Q), alone.predict(Q))
    np.testing.assert_array_equal(search.predict_proba(Q), alone.predict_proba(Q))


def test_more_n_best_than_cells_takes_all(problem):
    search = FuzzyOPFClassifierCV(
        transforms=None, k_max=3, sigmas=0.5, n_conquerors=(1, 3), n_best=9, cv=2
    ).fit(*problem)
    assert len(search.estimators_) == 2


def test_costs_and_explanations_are_those_of_the_best_estimator(fitted, problem):
    Q = problem[0][:5] + 0.3
    np.testing.assert_array_equal(fitted.class_costs(Q), fitted.best_estimator_.class_costs(Q))
    assert fitted.explain(Q) == fitted.best_estimator_.explain(Q)


def test_without_refit_there_is_nothing_to_predict_with(problem):
    search = FuzzyOPFClassifierCV(transforms=None, k_max=3, n_conquerors=1, cv=2, refit=False).fit(*problem)
    assert not hasattr(search, "predict")
    assert not hasattr(search, "best_estimator_")
    assert search.best_params_["k_max"] == 3


@pytest.mark.parametrize("method", ["predict", "predict_proba", "class_costs", "explain"])
def test_without_refit_the_error_says_what_to_fit(method, problem):
    search = FuzzyOPFClassifierCV(transforms=None, k_max=3, n_conquerors=1, cv=2, refit=False).fit(*problem)
    with pytest.raises(AttributeError, match=method) as raised:
        getattr(search, method)
    advice = "refit=True, or fit FuzzyOPFClassifier(**best_params_, beta=best_beta_)"
    assert advice in str(raised.value.__cause__)
    FuzzyOPFClassifier(**search.best_params_, beta=search.best_beta_).fit(*problem)


def test_without_refit_the_error_names_the_transform(problem):
    search = FuzzyOPFClassifierCV(k_max=3, n_conquerors=1, cv=2, refit=False, transforms="linear")
    with pytest.raises(AttributeError) as raised:
        search.fit(*problem).predict(problem[0])
    assert "best_params_['transform']" in str(raised.value.__cause__)


def test_a_clone_of_the_best_estimator_can_be_fitted_on_more_samples(problem):
    X, y = problem
    search = FuzzyOPFClassifierCV(k_max=3, n_conquerors=(1, 3), cv=2, transforms="linear").fit(X[:90], y[:90])
    whole = clone(search.best_estimator_).fit(X, y)
    last = whole[-1] if isinstance(whole, Pipeline) else whole
    assert (len(last.cost_), last.beta) == (150, search.best_beta_)


@pytest.mark.parametrize("params", [{}, {"algorithm": "brute"}, {"competitions": ("complete", "tree")}])
def test_threads_change_nothing(params, problem):
    one, two = [
        FuzzyOPFClassifierCV(k_max=(3, 8), cv=2, n_jobs=n_jobs, n_conquerors=(1, 4), **params).fit(*problem)
        for n_jobs in (1, 2)
    ]
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])
    np.testing.assert_array_equal(one.predict(problem[0]), two.predict(problem[0]))


def test_engines_change_nothing(problem):
    tree, brute = [
        FuzzyOPFClassifierCV(transforms=None, k_max=(3, 8), cv=3, algorithm=name).fit(*problem)
        for name in ("kd_tree", "brute")
    ]
    for name in ("mean_test_score", "rank_test_score", "mean_test_log_loss"):
        np.testing.assert_array_equal(tree.cv_results_[name], brute.cv_results_[name])


def test_labels_of_any_type_come_back(problem):
    names = np.array(["ham", "eggs", "spam"])
    search = FuzzyOPFClassifierCV(transforms=None, k_max=3, cv=2).fit(problem[0], names[problem[1]])
    assert set(search.predict(problem[0])) <= set(names)
    assert search.label_.dtype == names.dtype


def test_a_pickled_search_predicts_the_same(problem):
    search = FuzzyOPFClassifierCV(k_max=3, cv=2, transforms="linear").fit(*problem)
    copy = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(copy.predict_proba(problem[0]), search.predict_proba(problem[0]))


def test_wrong_labels_do_less_harm_than_to_one_neighbour():
    """What the defaults are for: a fifth of the labels is wrong, and most of the clean score survives."""
    rng = np.random.default_rng(0)
    codes = np.arange(600) % 3
    X = rng.normal(size=(600, 4)) + 2.2 * np.eye(4)[codes]
    y = codes.copy()
    wrong = rng.permutation(300)[:60]
    y[wrong] = (y[wrong] + rng.integers(1, 3, 60)) % 3
    search = FuzzyOPFClassifierCV(transforms=None).fit(X[:300], y[:300])
    plain = FuzzyOPFClassifier(sigma=1.0).fit(X[:300], y[:300])
    assert search.score(X[300:], codes[300:]) > plain.score(X[300:], codes[300:]) + 0.08


def test_warnings_of_cells_that_lose_are_not_shown():
    """Cells that lose training labels are part of a search; only the model that answers warns."""
    X, y = noisy_problem(n=200, d=2, seed=2, share=0)
    pair = np.arange(0, 200, 2), np.arange(1, 200, 2)
    with pytest.warns(TrainingErrorWarning):
        FuzzyOPFClassifier(k_max=10, sigma=0.2).fit(X[pair[0]], y[pair[0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingErrorWarning)
        FuzzyOPFClassifierCV(
            transforms=None, sigmas=(0.2, 1.2), competitions="complete", refit=False, cv=[pair]
        ).fit(X, y)


def test_one_sample_cannot_be_split():
    with pytest.raises(ValueError, match="1 sample"):
        FuzzyOPFClassifierCV(transforms=None).fit([[1.0, 2.0]], [0])


# Errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k_max": ()}, "k_max=.*at least one"),
        ({"k_max": (0, 5)}, "k_max=0 must be at least 1"),
        ({"sigmas": (0.5, -1)}, "sigma=-1"),
        ({"competitions": ("ring",)}, "competition='ring' is unknown"),
        ({"n_conquerors": (1, 0)}, "n_conquerors=0"),
        ({"betas": 0}, "beta=0"),
        ({"n_best": 0}, "n_best=0 must be at least 1"),
        ({"transforms": "cubic"}, "transforms='cubic' is unknown"),
        ({"transforms": []}, "not a sequence of transformers"),
        ({"scoring": "beauty"}, "beauty"),
        ({"scoring": accuracy_score}, "make_scorer"),
        ({"scoring": ["accuracy", "f1_macro"]}, "one must decide"),
        ({"cv": [(np.arange(5), np.empty(0, dtype=int))]}, "fold 0 .* needs"),
        ({"cv": []}, "gives no fold"),
        ({"cv": iter(())}, "generator can be used only once"),
        ({"metric": "precomputed", "transforms": "linear"}, "metric='precomputed'"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,  # addresses differ between workers
)
def test_errors_name_the_value_and_the_way_out(params, message, problem):
    X, y = problem
    if params.get("metric") == "precomputed":
        X = pairwise_distances(X)
    with pytest.raises(ValueError, match=message):
        FuzzyOPFClassifierCV(**params).fit(X, y)


def test_a_transform_that_is_no_transformer_is_refused(problem):
    with pytest.raises(TypeError, match="no fit and transform"):
        FuzzyOPFClassifierCV(transforms=[3]).fit(*problem)


def test_a_failed_search_leaves_the_estimator_unfitted(problem):
    search = FuzzyOPFClassifierCV(transforms=None, k_max=3, cv=2).fit(*problem)
    with pytest.raises(ValueError, match="k_max"):
        search.set_params(k_max=0).fit(*problem)
    assert not [name for name in vars(search) if name.endswith("_") and not name.startswith("__")]


def test_iris_and_wine_are_learned():
    for X, y in (load_iris(return_X_y=True), load_wine(return_X_y=True)):
        assert clone(FuzzyOPFClassifierCV(transforms="linear")).fit(X, y).best_score_ > 0.95
