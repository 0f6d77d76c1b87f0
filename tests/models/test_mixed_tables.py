"""Tables with categories and gaps go to every estimator as they are, by metric="gower"."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from sklearn.base import clone, is_classifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import get_tags

import pathforest
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
    find_issues,
)
from pathforest.learning import learn
from pathforest.pruning import prune

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

N = 90
FOLDS = StratifiedKFold(3)


def make_table(seed=0):
    """Numbers, text, booleans and numbered categories, with gaps in each, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["north", "south", "west"], N)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.2, np.nan, rng.integers(18, 80, N)),
            "town": np.where(rng.random(N) < 0.2, None, town),
            "member": rng.random(N) < 0.5,
            "grade": pd.Categorical(rng.choice([1, 2, 3], N)),
            "visits": pd.array(rng.integers(0, 9, N), dtype="Int64"),
        }
    )
    frame.loc[::11, "visits"] = pd.NA
    frame.loc[7, ["age", "town", "visits"]] = None
    return frame, np.where(town == "south", "a", np.where(frame["member"], "b", "c"))


TABLE, LABELS = make_table()
QUERIES = make_table(1)[0]
CODES = np.column_stack(
    [
        TABLE["age"],
        TABLE["town"].map({"north": 0, "south": 1, "west": 2}),
        TABLE["member"],
        TABLE["grade"].astype(float),
        TABLE["visits"].to_numpy(float, na_value=np.nan),
    ]
).astype(float)
CATEGORICAL = np.array([False, True, True, True, False])

ESTIMATORS = {
    "plain": OPFClassifier(),
    "several conquerors": OPFClassifier(n_conquerors=3, n_jobs=2),
    "fuzzy": FuzzyOPFClassifier(k_max=8),
    "along the tree": FuzzyOPFClassifier(k_max=8, competition="tree", sigma=0.3),
    "search": FuzzyOPFClassifierCV(k_max=5, sigmas=(0.5, 1.0), n_conquerors=(1, 3), cv=FOLDS),
    "k nearest": OPFKNNClassifier(k_max=8),
    "semi-supervised": OPFSemiSupervisedClassifier(),
    "clustering": OPFClustering(),
    "outliers": OPFOutlierDetector(),
    "pruner": OPFPruner(),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def by_metric(name, metric, params=None):
    """An estimator with some metric."""
    model = clone(ESTIMATORS[name])
    if name == "pruner":
        return model.set_params(estimator=OPFClassifier(metric=metric, metric_params=params))
    return model.set_params(metric=metric, metric_params=params)


def fitted(name, X, metric="gower", params=None):
    return by_metric(name, metric, params).fit(X, LABELS)


def codes_of(table):
    """The queries as numbers; a town of its own is none of the known."""
    codes = {"north": 0, "south": 1, "west": 2}
    town = [np.nan if pd.isna(town) else codes.get(town, 9) for town in table["town"]]
    rest = [table[name].to_numpy(float, na_value=np.nan) for name in ("age", "member", "grade", "visits")]
    return np.column_stack([rest[0], town, *rest[1:]])


@every_estimator
def test_a_table_is_its_codes(name):
    params = {"categorical": CATEGORICAL}
    table, codes = fitted(name, TABLE), fitted(name, CODES, params=params)
    np.testing.assert_array_equal(table.predict(QUERIES), codes.predict(codes_of(QUERIES)))


@pytest.mark.parametrize("metric", ["gower", "nan_euclidean"])
@every_estimator
def test_gaps_give_the_model_of_the_distances_between_samples(name, metric):
    X, Q = CODES[:, [0, 2, 3, 4]], codes_of(QUERIES)[:, [0, 2, 3, 4]]  # something is in common to all
    params = {"ranges": np.fmax.reduce(X) - np.fmin.reduce(X)} if metric == "gower" else {}
    measure = reference.gower_matrix if metric == "gower" else reference.distance_matrix
    args = params if metric == "gower" else {"metric": metric}
    got = fitted(name, X, metric, params)
    expected = fitted(name, measure(X, X, **args), "precomputed")
    np.testing.assert_array_equal(got.predict(Q), expected.predict(measure(Q, X, **args)))
    for attribute in ("cost_", "predecessor_", "membership_", "density_", "labels_", "scores_"):
        if hasattr(expected, attribute):
            np.testing.assert_array_equal(getattr(got, attribute), getattr(expected, attribute))


@every_estimator
def test_files_contain_categories_and_ranges(name, tmp_path):
    model = fitted(name, TABLE)
    model.save(tmp_path / "model.opf")
    loaded = pathforest.load(tmp_path / "model.opf")
    np.testing.assert_array_equal(loaded.predict(QUERIES), model.predict(QUERIES))
    if name != "pruner":
        assert [None if c is None else c.tolist() for c in loaded.categories_] == [
            None if c is None else c.tolist() for c in model.categories_
        ]


FORMS = {
    "polars": lambda frame: pl.from_pandas(frame.assign(grade=frame["grade"].astype(str))),
    "objects": lambda frame: frame.astype({"grade": str}).to_numpy(),
    "lists": lambda frame: frame.astype({"grade": str}).to_numpy().tolist(),
    "text as category": lambda frame: frame.astype({"town": "category", "grade": str}),
    "pandas strings": lambda frame: frame.astype({"town": "string", "grade": str}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_every_form_of_a_table_gives_the_same_model(form):
    model, expected = fitted("plain", FORMS[form](TABLE)), fitted("plain", TABLE)
    np.testing.assert_array_equal(model.cost_, expected.cost_)
    np.testing.assert_array_equal(model.predict(FORMS[form](QUERIES)), expected.predict(QUERIES))


def test_a_new_category_matches_none():
    X = pd.DataFrame({"x": [0.0, 0.0, 1.0], "c": ["a", "b", None]})
    model = OPFClassifier(metric="gower").fit(X, [0, 1, 1])
    unseen = pd.DataFrame({"x": [0.0], "c": ["z"]})
    np.testing.assert_array_equal(model.class_costs(unseen), [[0.5, 0.5]])


def test_categories_are_chosen_by_name_index_or_mask():
    expected = fitted("plain", TABLE, params={"categorical": ["age", "grade"]})
    np.testing.assert_array_equal(expected._fit_metric[3]["categorical"], [True, True, False, True, False])
    for same in ([0, 3], np.array([True, False, False, True, False])):
        model = fitted("plain", TABLE, params={"categorical": same})
        np.testing.assert_array_equal(model.cost_, expected.cost_)


BAD_TABLES = {
    "text where numbers were": ({"age": "old"}, "'age' of X contains text \\('old'\\), but had numbers"),
    "text where booleans were": (
        {"member": "yes"},
        "'member' of X contains text .* had True and False in fit",
    ),
    "numbers where text was": ({"town": 3.0}, "'town' of X contains numbers, but had text"),
    "dates": ({"age": pd.Timestamp("2026-01-01")}, "'age' of X has dates, which are neither"),
    "several types": ({"town": ["a", 1.5] * (N // 2)}, "'town' of X mixes float and str"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_tables_that_do_not_fit_are_refused_by_column(case):
    columns, message = BAD_TABLES[case]
    with pytest.raises(TypeError, match=message):
        fitted("plain", TABLE).predict(TABLE.assign(**columns))


def test_numbers_are_refused_by_a_model_of_text():
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(TypeError, match="column 1 of X"):
        fitted("plain", TABLE).predict(CODES)


def test_each_fold_of_a_search_learns_its_own_ranges_and_categories():
    search = FuzzyOPFClassifierCV(
        k_max=5, sigmas=0.5, competitions="complete", n_conquerors=1, cv=FOLDS, metric="gower"
    ).fit(TABLE, LABELS)
    single = FuzzyOPFClassifier(metric="gower", k_max=5, sigma=0.5, competition="complete")
    expected = cross_val_score(single, TABLE, LABELS, cv=FOLDS)
    found = [search.cv_results_[f"split{i}_test_score"][0] for i in range(3)]
    np.testing.assert_array_equal(found, expected)


def test_each_fold_of_k_nearest_learns_its_own_ranges():
    X = np.vstack([CODES, np.full((3, 5), 1e6)])  # one fold without these has other ranges
    y, params = np.append(LABELS, ["a", "b", "c"]), {"categorical": CATEGORICAL}
    model = OPFKNNClassifier(k_max=4, cv=FOLDS, metric="gower", metric_params=params).fit(X, y)
    for k, score in enumerate(model.scores_, start=1):
        single = OPFKNNClassifier(n_neighbors=k, metric="gower", metric_params=params)
        hits = sum(
            (single.fit(X[train], y[train]).predict(X[test]) == y[test]).sum()
            for train, test in FOLDS.split(X, y)
        )
        assert score == hits / len(X)


@pytest.mark.parametrize("gap", [None, pd.NA, np.nan, "n/a"])
def test_explanations_show_booleans_as_true_and_false(gap, tmp_path):
    X = pd.DataFrame({"x": [0.0, 1, 8, 9], "alone": [True, False, gap, True]})
    OPFClassifier(metric="gower").fit(X, [0, 0, 1, 1]).save(tmp_path / "model.opf")
    model = pathforest.load(tmp_path / "model.opf")
    new = pd.DataFrame({"x": [0.0, 1.0, 8.0], "alone": [True, False, gap]})

    def shown(X):
        return [next(f.texts[0] for f in one.features if f.name == "alone") for one in model.explain(X)]

    assert shown(new) == ["True", "False", "missing"]
    assert shown(new.assign(alone=[1, 0, 7])) == ["True", "False", "7"]


@pytest.mark.parametrize("name", ["plain", "search"])
def test_explanations_show_texts_and_shares_of_the_distance(name):
    X = pd.DataFrame({"x": [0.0, 1.0, 8.0, 8.0], "c": ["a", "a", "b", None], "z": [1.0, 2.0, np.nan, 5.0]})
    model = by_metric(name, "gower").set_params(**{"cv": 2, "transforms": None} if name == "search" else {})
    model.fit(X, [0, 0, 1, 1])
    (one,) = model.explain(pd.DataFrame({"x": [2.0], "c": ["new town"], "z": [np.nan]}))
    by_name = {feature.name: feature for feature in one.features}
    assert by_name["c"].shown == ("new", "a", "missing")
    assert by_name["z"].shown[0] == "missing"
    assert by_name["x"].share == pytest.approx((1 / 8) / (1 + 1 / 8))
    assert [by_name[c].share for c in "cz"] == pytest.approx([1 / (1 + 1 / 8), 0])
    assert "missing" in str(one)


def test_gaps_may_come_with_any_call_of_partial_fit():
    grown = OPFClassifier(metric="nan_euclidean")
    X = CODES[:, [0, 2, 3]]  # something is in common to all
    for rows in np.array_split(np.arange(N), 4):
        grown.partial_fit(X[rows], LABELS[rows])
    expected = fitted("plain", X, "nan_euclidean")
    np.testing.assert_array_equal(grown.cost_, expected.cost_)
    np.testing.assert_array_equal(grown.order_, expected.order_)
    with pytest.raises(ValueError, match="cannot grow: it learns from all samples"):
        OPFClassifier(metric="gower").partial_fit(TABLE, LABELS)


def test_prune_keeps_categories_and_ranges():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 5.0, 6.0, 99.0], "c": ["a", "a", "b", "b", "b", "c"]})
    model = OPFClassifier(metric="gower").fit(X, [0, 0, 0, 1, 1, 1])
    queries = pd.DataFrame({"x": [1.8, 5.3], "c": ["b", "b"]})
    pruned = prune(model, queries, [0, 1])
    assert pruned.kept.tolist() == [2, 3]
    np.testing.assert_array_equal(pruned.model._fit_metric[3]["ranges"], [99, 2])
    np.testing.assert_array_equal(pruned.model.predict(queries), [0, 1])


def test_issues_are_found_in_tables():
    fast = find_issues(TABLE, LABELS, metric="gower")
    codes = find_issues(CODES, LABELS, metric="gower", metric_params={"categorical": CATEGORICAL})
    np.testing.assert_array_equal(fast.score, codes.score)
    with pytest.raises(ValueError, match="needs numbers without gaps"):
        find_issues(TABLE, LABELS, metric="gower", method="thorough")


def test_learn_takes_gaps_but_no_tables():
    model = OPFClassifier(metric="gower", metric_params={"categorical": CATEGORICAL})
    learned = learn(model, CODES[:60], LABELS[:60], CODES[60:], LABELS[60:])
    assert len(learned.train_rows) == 60
    with pytest.raises(TypeError, match="takes arrays of numbers"):
        learn(model, TABLE[:60], LABELS[:60], TABLE[60:], LABELS[60:])


@pytest.mark.parametrize("form", [TABLE, CODES])
def test_a_device_refuses_gower(form):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="metric='gower' is not available with device"):
        OPFClassifier(metric="gower", device="torch-cpu").fit(form, LABELS)


@every_estimator
def test_tags_say_which_metrics_take_gaps(name):
    for metric, gaps in (("gower", True), ("nan_euclidean", True), ("euclidean", False)):
        tags = get_tags(by_metric(name, metric)).input_tags
        assert (tags.allow_nan, tags.string) == (gaps, metric == "gower")


@every_estimator
def test_other_metrics_name_the_ways_out(name):
    with pytest.raises(ValueError, match=r"Input X contains NaN(.|\n)*metric='gower' and"):
        fitted(name, CODES, "euclidean")
    gap = pd.DataFrame({"size": [1.0] * N, "age": [np.nan, *range(1, N)]})
    with pytest.raises(ValueError, match="Input X contains NaN: column 'age' has 1 missing value") as caught:
        fitted(name, gap, "euclidean")
    assert "HistGradientBoosting" not in str(caught.value)


def test_forged_categories_are_refused(tmp_path):
    booleans = np.array([True, False])
    for forged in (
        [None] * 4,
        [np.array(["b", "a"], dtype=object)] * 5,
        [booleans] * 5,
        ["text"] * 5,
        "text",
    ):
        model = fitted("plain", TABLE)
        model.categories_ = forged
        with pytest.raises(ValueError, match="categories_"):
            model.save(tmp_path / "model.opf")


def test_classifiers_are_among_the_estimators():
    assert sum(map(is_classifier, ESTIMATORS.values())) == 8


@pytest.mark.parametrize("nothing", [[None] * N, np.full(N, np.nan)])
@pytest.mark.parametrize("values", [np.arange(N) - 5.0, ["text"] * N, [None] * N, np.arange(N) % 2 == 0])
@pytest.mark.parametrize("name", ["plain", "clustering"])
def test_a_column_without_values_in_fit_takes_any_in_predict(name, nothing, values, tmp_path):
    fitted(name, TABLE.assign(empty=nothing)).save(tmp_path / "model.pf")
    found = pathforest.load(tmp_path / "model.pf").predict(QUERIES.assign(empty=values))
    np.testing.assert_array_equal(found, fitted(name, TABLE).predict(QUERIES))


@pytest.mark.parametrize("value", [5.0, "text", True])
def test_a_column_whose_only_value_is_in_one_fold_can_be_searched(value):
    rare = np.array([*[None] * (N - 1), value], dtype=object)
    found = fitted("search", TABLE.assign(rare=rare)).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, fitted("search", TABLE).cv_results_["mean_test_score"])
