"""Tables with text, truth values and gaps: TablePreprocessor encodes them, Gower's distance compares them."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import same
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from zoo import make, names

import pathforest
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, TablePreprocessor, explain, find_issues
from pathforest.learning import learn

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

PETS = pd.DataFrame(
    {
        "weight": [4.0, None, 30.0, 5.0, 28.0],
        "kind": ["cat", "cat", "dog", "cat", "dog"],
        "coat": ["short", None, "long", "short", "long"],
        "indoor": [True, True, False, True, False],
        "name": ["Tom", "Kit", "Rex", "Mia", "Ben"],
    }
)


@parametrize_with_checks([TablePreprocessor(), TablePreprocessor(scale=False)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_keeps_scikit_learn_s_contract(estimator, check):
    check(estimator)


def test_numbers_are_standardised_after_gaps_are_filled_with_the_median():
    found = TablePreprocessor().fit_transform(np.array([[1.0], [np.nan], [2.0], [30.0]]))
    same(found, StandardScaler().fit_transform([[1.0], [2.0], [2.0], [30.0]]))


COLORS = np.array([["a"], ["a"], ["b"], ["b"], ["c"]], dtype=object)
ENCODED = [  # training table, names of what it becomes, new table, rows of that
    (
        PETS[["kind", "indoor"]],
        ["kind=cat", "kind=dog", "indoor=False", "indoor=True"],
        PETS[["kind", "indoor"]][1:3],
        [[1, 0, 0, 1], [0, 1, 1, 0]],
    ),
    # 1 and 0 are truth values to a column of those, and only there.
    *(
        (PETS[["kind", "indoor"]], None, {"kind": ["cat", "1"], "indoor": new}, [[1, 0, 0, 1], [0, 0, 1, 0]])
        for new in ([1, 0], [1.0, 0.0], ["1", "0.0"], np.array([True, False]), ["true", "FALSE"])
    ),
    # A gap is a category if there were gaps in training, and else equally far from all, as a new text is.
    *(
        (PETS[["coat"]], ["coat=long", "coat=short", "coat (missing)"], {"coat": [gap]}, [[0, 0, 1]])
        for gap in (None, np.nan, "n/a", " ")
    ),
    (PETS[["kind"]], ["kind=cat", "kind=dog"], {"kind": ["cow", None]}, [[0, 0], [0, 0]]),
    # Rare and new texts are one category.
    (COLORS, ["x0=a", "x0=b", "x0 (other)"], [["c"], ["z"], ["a"]], [[0, 0, 1], [0, 0, 1], [1, 0, 0]]),
]


@pytest.mark.parametrize(("table", "columns", "new", "rows"), ENCODED)
def test_categories_are_columns_of_zeros_and_ones(table, columns, new, rows):
    fitted = TablePreprocessor().fit(table)
    assert columns is None or fitted.get_feature_names_out().tolist() == columns
    assert fitted.transform(pd.DataFrame(new) if isinstance(new, dict) else new).tolist() == rows


def test_kinds_overrule_what_a_column_contains():
    kinds = {"weight": "category", "kind": "drop", "name": "category"}
    table = TablePreprocessor(kinds).fit(PETS.assign(weight=[1, 1, 2, 2, 3]))
    assert table.categories_[0].tolist() == ["1", "2"]
    assert "kind=cat" not in table.get_feature_names_out()
    assert TablePreprocessor(max_categories=1).fit([[text] for text in "aabbb"]).categories_[0] == ["b"]
    assert "kind: left out, as asked" in table.describe()
    assert "name: left out, no text occurs twice" in table.describe()
    assert "nothing: left out, no values" in TablePreprocessor().fit(PETS.assign(nothing=None)).describe()
    # Whole numbers are the same category whether gaps have made floats of them or not.
    assert table.transform(PETS.assign(weight=1.0))[0, 0] == 1
    by_position = TablePreprocessor({0: "category"}).fit([[1], [1], [2], [2]])
    assert by_position.categories_[0].tolist() == ["1", "2"]


def days(*values):
    return pd.DataFrame({"day": list(values), "x": range(len(values))})


AGES = pd.DataFrame({"age": ["30", "31.5", 30.0, None, "unknown"]})
REFUSED = [  # parameters, table, what is wrong with it
    ({"kinds": {"wait": "drop"}}, PETS, "column 'wait', which is not one of 'weight', 'kind'"),
    (
        {"kinds": {"kind": "text"}},
        PETS,
        r"kinds\['kind'\]='text' should be one of number, category, date, drop",
    ),
    ({"kinds": {"age": "number"}}, AGES, "'age' is a column of numbers, and 'unknown' is not a number"),
    ({}, PETS[["name"]], "none of the 1 columns is left"),
    ({}, days("5/31/24", "6/1/24"), "'day' is a column of dates, and '5/31/24' can be read in more than one"),
    ({}, days("2024-05-31", "2024-06-31"), "'2024-06-31' is not a date: day is out of range"),
    ({"kinds": {"day": "date"}}, days("2024-05-31", "x"), "'x' is not a date; write dates as 2024-05-31"),
    ({"kinds": {"day": "number"}}, days(datetime.date(2024, 1, 5)), "is a column of numbers, and it holds"),
    ({}, {"x": [1, 2], "kind": ["a"]}, "not of the same length"),
    ({}, csr_array(np.eye(3)), r"sparse matrix.*toarray"),
]


@pytest.mark.parametrize(("params", "table", "message"), REFUSED)
def test_fit_names_the_column_that_is_wrong_and_the_way_out(params, table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TablePreprocessor(**params).fit(table)


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2024-01-05 00:00", "2024-02-01 12:00", None]),
        pd.to_datetime(["2024-01-05 09:00", "2024-02-01 21:00", None]).tz_localize("Asia/Tokyo"),
        [np.datetime64("2024-01-05"), np.datetime64("2024-02-01T12"), None],
        [datetime.date(2024, 1, 5), "2024-02-01 12:00", np.nan],
        ["2024-1-5", "2024-02-01T13:00+01:00", "NA"],
        ["5.1.2024", " 01.02.2024 12:00", ""],
    ],
)
def test_dates_are_days(column):
    table = TablePreprocessor(scale=False).fit(days(*column))
    wanted = [19727, 19754.5, 19740.75]
    assert table.transform(days(*column))[:, 0].tolist() == wanted
    assert table.describe().startswith("day: date, in days, 1 gap filled with 19740.75")
    explicit = TablePreprocessor({"day": "date"}, scale=False).fit(days(*column))
    assert explicit.transform(days(*column))[:, 0].tolist() == wanted
    durations = days(*(pd.to_timedelta(wanted[:2], unit="D")), None)
    assert table.transform(durations)[:, 0].tolist() == wanted


@pytest.mark.parametrize(("weight", "message"), [("heavy", "is a .*'heavy' is not"), (np.inf, "has infin")])
def test_transform_names_values_that_do_not_fit_their_column(weight, message):
    with pytest.raises(ValueError, match=f"column 'weight' {message}"):
        TablePreprocessor().fit(PETS).transform(PETS.assign(weight=weight))


def test_a_typo_in_a_column_of_numbers_is_reported():
    said = (
        "column 'age' is taken as a category: 3 of 4 values are numbers, 'unknown' is not; correct it, or "
        "pass kinds={'age': 'category'} (--columns age=category)"
    )
    with pytest.warns(UserWarning, match=re.escape(said)):
        TablePreprocessor().fit(AGES.replace("31.5", "31,5"))
    TablePreprocessor({"age": "category"}).fit(AGES)  # as asked, without a warning
    TablePreprocessor().fit(pd.DataFrame({"age": ["30", "old", "old", "30"]}))  # no more than half
    TablePreprocessor().fit(pd.DataFrame({"code": ["ABC123", "KLM 9", "ABC123", "KLM 9"]}))  # no amounts


@pytest.mark.parametrize("scale", [True, False])
def test_what_was_done_is_described(scale):
    weight = "mean 16.7, standard deviation 10.98" if scale else "in its own unit"
    assert TablePreprocessor(scale=scale).fit(PETS).describe().splitlines() == [
        f"weight: number, {weight}, 1 gap filled with 16.5",
        "kind: category, cat, dog",
        "coat: category, long, short, (missing)",
        "indoor: category, False, True",
        "name: left out, no text occurs twice",
    ]


def units(**columns):
    """Columns of numbers with standard deviations 2, 10 and 4, one of which has a gap, and text."""
    frame = pd.DataFrame({"a": [1.0, 5.0] * 4, "b": [10.0, 30.0] * 4, "c": [0.0, 8.0] * 4})
    frame.loc[8] = [3.0, 20.0, np.nan]  # the means of a and b, and c's median
    frame["kind"] = [*"ppqqppqq", "p"]
    return frame.assign(**columns)


def test_without_scaling_numbers_stay_and_categories_have_their_median_deviation():
    table = TablePreprocessor(scale=False).fit(units())
    expected = units()[["a", "b", "c"]].fillna(4.0)
    median = np.sqrt(np.var(expected["c"].to_numpy()))
    expected = expected.assign(p=median * (units()["kind"] == "p"), q=median * (units()["kind"] == "q"))
    np.testing.assert_array_equal(table.transform(units()), expected)
    constant = TablePreprocessor(scale=False).fit(units(d=1.0, e=0.0, f=1e9 / 3))  # these have no say
    assert table.category_value_ == constant.category_value_ == median


@pytest.mark.parametrize("scale", [True, False])
def test_categories_are_zero_and_one_where_no_number_says_otherwise(scale):
    for frame in (units()[["kind"]], units()[["kind"]].assign(same=7.0, nearly=0.1 + 0.2)):
        found = TablePreprocessor(scale=scale).fit_transform(frame)
        assert found[:, :2].tolist() == [[kind == "p", kind == "q"] for kind in frame["kind"]]
    assert TablePreprocessor(scale=True).fit(units()).category_value_ == 1


@pytest.mark.parametrize("scale", [True, False])
def test_explanations_are_in_units_of_the_table(scale):
    model = make_pipeline(TablePreprocessor(scale=scale), OPFClassifier()).fit(units(), [0, 1] * 4 + [0])
    (found,) = explain(model, units()[8:])
    shown = {feature.name: (feature.value, feature.conqueror) for feature in found.features}
    expected = {"a": (3, 3), "b": (20, 20), "c": (4, 4), "kind=p": (1, 1), "kind=q": (0, 0)}
    assert {name: pytest.approx(pair) for name, pair in expected.items()} == shown


def test_frames_dicts_and_arrays_give_the_same():
    expected = TablePreprocessor().fit_transform(PETS)
    plain = PETS.astype(object).where(PETS.notna(), None)
    for given_as in (
        pl.from_pandas(PETS),
        PETS.convert_dtypes(),
        PETS.astype({"kind": "category"}),
        {name: plain[name].to_numpy() for name in plain},
        plain.to_numpy(),
        plain.to_numpy().tolist(),
    ):
        np.testing.assert_array_equal(TablePreprocessor().fit_transform(given_as), expected)


def test_a_dict_is_read_by_name():
    table = TablePreprocessor().fit({"x": [1.0, 2.0], "kind": ["a", "a"]})
    assert table.transform({"more": [0], "kind": ["a"], "x": [1.5]}).tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="no column 'x'"):
        table.transform({"kind": ["a"]})


# A search takes tables as they are

QUICK = {"k_max": 3, "sigmas": 0.5, "n_conquerors": (1, 3), "cv": 2}


def sales(n=60):
    """A table of everything: numbers, dates, text, truth values, gaps in each, and a column without a use."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 30, n), unit="D")
    table = pd.DataFrame(
        {
            "price": rng.exponential(9, n).round(2),
            "bill": [f"no. {i}" for i in range(n)],
            "day": days.astype(object),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    y = np.where((table["city"] == "Oslo") ^ (table["price"] > 9), "back", "kept")
    table.loc[::9, "price"] = table.loc[::7, "city"] = table.loc[::8, "day"] = None
    table.loc[3, "city"] = "Bern"
    return table, y


@pytest.mark.parametrize("transforms", ["auto", None])
def test_a_search_answers_and_explains_in_words_of_the_table(transforms, tmp_path):
    table, y = sales()
    search = FuzzyOPFClassifierCV(**QUICK, transforms=transforms).fit(table, y)
    new = table.assign(city=table["city"].replace("Rome", "Paris"), bill=None)
    search.save(tmp_path / "model.pf")
    for other in (
        pathforest.load(tmp_path / "model.pf"),
        clone(search).fit(pl.from_pandas(table.astype({"day": "datetime64[us]"})), y),
        clone(search).fit({name: table[name].to_list() for name in table}, y),
    ):
        np.testing.assert_array_equal(other.predict_proba(new), search.predict_proba(new))
        assert str(other.explain(new[:9])) == str(search.explain(new[:9]))
    assert search.n_features_in_ == 5
    assert "bill: left out, no text occurs twice" in search.table_.describe()
    for row, one in enumerate(search.explain(new)):
        shown = {feature.name: feature.shown[:2] for feature in one.features}
        assert shown.keys() == {"price", "day", "city", "member"}
        for column, name in ((new, "city"), (new, "day")):
            value, near = column[name][row], table[name][one.conqueror]
            said = ["missing" if v is None or pd.isna(v) else str(v)[:10] for v in (value, near)]
            assert shown[name] == ("new" if said[0] == "Paris" else said[0], said[1])
    with pytest.raises(ValueError, match="feature names"):
        search.predict(table[["price", "day"]])


def test_a_part_of_a_table_is_read_as_the_whole():
    table, y = sales()
    table["day"] = [*table["day"][:-1].map(str), "unknown"]  # dates in the fold without the last row
    search = FuzzyOPFClassifierCV(**QUICK, transforms=None).fit(table, y)
    assert search.table_.kinds_.tolist() == ["number", "drop", "category", "category", "category"]
    few = FuzzyOPFClassifierCV(**QUICK).fit(pd.DataFrame({"code": [f"c{i // 2}" for i in range(60)]}), y)
    assert np.isfinite(few.predict_proba(pd.DataFrame({"code": ["c1", "z"]}))).all()


# Gower's distance

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


def codes_of(table):
    """A table as numbers."""
    town = [np.nan if pd.isna(t) else {"north": 0, "south": 1, "west": 2}.get(t, 9) for t in table["town"]]
    rest = [table[name].to_numpy(float, na_value=np.nan) for name in ("age", "member", "grade", "visits")]
    return np.column_stack([rest[0], town, *rest[1:]])


TABLE, LABELS = make_table()
QUERIES = make_table(1)[0]
QUERIES.loc[[3, 40], "town"] = "east"  # a town of its own, which is none of the known
CODES = codes_of(TABLE)
CATEGORICAL = {"categorical": np.array([False, True, True, True, False])}
every_estimator = pytest.mark.parametrize("name", [*names("metric", "one"), "fuzzy tree", "pruner"])


def by_metric(name, metric="gower", params=None, **others):
    """A configuration with some metric."""
    given = {"metric": metric, "metric_params": params}
    given = {"estimator": OPFClassifier(**given)} if name == "pruner" else given
    return make(name, **given, **others)


def fitted(name, X, *args, **params):
    return by_metric(name, *args, **params).fit(X, LABELS)


@every_estimator
def test_a_table_is_its_codes_and_so_is_its_file(name, tmp_path):
    model, codes = fitted(name, TABLE), fitted(name, CODES, params=CATEGORICAL)
    model.save(tmp_path / "model.pf")
    for one in (model, pathforest.load(tmp_path / "model.pf")):
        np.testing.assert_array_equal(one.predict(QUERIES), codes.predict(codes_of(QUERIES)))


FORMS = {
    "polars": lambda frame: pl.from_pandas(frame.assign(grade=frame["grade"].astype(str))),
    "objects": lambda frame: frame.astype({"grade": str}).to_numpy(),
    "lists": lambda frame: frame.astype({"grade": str}).to_numpy().tolist(),
    "text as category": lambda frame: frame.astype({"town": "category", "grade": str}),
    "pandas strings": lambda frame: frame.astype({"town": "string", "grade": str}),
    "gaps as in files": lambda frame: frame.assign(town=frame["town"].fillna("n/a")),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_every_form_of_a_table_gives_the_same_model(form):
    model, expected = fitted("plain", FORMS[form](TABLE)), fitted("plain", TABLE)
    np.testing.assert_array_equal(model.cost_, expected.cost_)
    np.testing.assert_array_equal(model.predict(FORMS[form](QUERIES)), expected.predict(QUERIES))


def test_categories_are_chosen_by_name_or_index():
    named, counted = (fitted("plain", TABLE, params={"categorical": c}) for c in (["age", "grade"], [0, 3]))
    np.testing.assert_array_equal(named.cost_, counted.cost_)
    assert (named.cost_ != fitted("plain", TABLE).cost_).any()


WRONG_COLUMNS = {
    r"'age' of X contains text \('old'\), but had numbers": {"age": "old"},
    "'member' of X contains text .* had True and False in fit": {"member": "yes"},
    "'town' of X contains numbers, but had text": {"town": 3.0},
    "'age' of X has dates, which are neither numbers nor text": {"age": pd.Timestamp("2026-01-01")},
    "'town' of X mixes float and str": {"town": ["a", 1.5] * (N // 2)},
}


@pytest.mark.parametrize("message", WRONG_COLUMNS)
def test_columns_that_do_not_fit_are_refused_by_name(message):
    with pytest.raises(TypeError, match=message):
        fitted("plain", TABLE).predict(TABLE.assign(**WRONG_COLUMNS[message]))


def test_tables_are_refused_where_they_cannot_be_compared():
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(TypeError, match="column 1 of X"):
        fitted("plain", TABLE).predict(CODES)
    with pytest.raises(TypeError, match="takes arrays of numbers"):
        learn(OPFClassifier(metric="gower"), TABLE[:60], LABELS[:60], TABLE[60:], LABELS[60:])
    with pytest.raises(ValueError, match="needs numbers without gaps"):
        find_issues(TABLE, LABELS, metric="gower", method="thorough")
    gap = pd.DataFrame({"size": [1.0] * N, "age": [np.nan, *range(1, N)]})
    said = r"^Input X contains NaN: column 'age' has 1 missing value\.(?!.*HistGrad)(.|\n)*metric='gower' and"
    for name in names("metric", "one", without=["searches"]):
        with pytest.raises(ValueError, match=said):
            fitted(name, gap, "euclidean")


def test_each_fold_learns_its_own_ranges_and_categories():
    one_cell = {"k_max": 5, "sigmas": 0.5, "competitions": "complete", "n_conquerors": 1, "cv": FOLDS}
    found = fitted("search as given", TABLE, **one_cell).cv_results_
    single = by_metric("fuzzy", k_max=5, sigma=0.5, competition="complete")
    expected = cross_val_score(single, TABLE, LABELS, cv=FOLDS)
    np.testing.assert_array_equal([found[f"split{i}_test_score"][0] for i in range(3)], expected)
    X = np.vstack([CODES, np.full((3, 5), 1e6)])  # one fold without these has other ranges
    y, own = np.append(LABELS, ["a", "b", "c"]), {"params": CATEGORICAL, "k_max": 4}
    for k, score in enumerate(by_metric("nearest", **own, cv=FOLDS).fit(X, y).scores_, 1):
        single = by_metric("nearest", **own, n_neighbors=k)
        assert score == np.mean(cross_val_predict(single, X, y, cv=FOLDS) == y)


@pytest.mark.parametrize("gap", [None, pd.NA, np.nan, "n/a"])
def test_explanations_show_booleans_as_true_and_false(gap, tmp_path):
    X = pd.DataFrame({"x": [0.0, 1, 8, 9], "alone": [True, False, gap, True]})
    OPFClassifier(metric="gower").fit(X, [0, 0, 1, 1]).save(tmp_path / "model.pf")
    for alone, last in (([True, False, gap], "missing"), ([1, 0, 7], "7")):
        found = pathforest.load(tmp_path / "model.pf").explain(X[:3].assign(alone=alone))
        shown = [next(f.texts[0] for f in one.features if f.name == "alone") for one in found]
        assert shown == ["True", "False", last]


@pytest.mark.parametrize("name", ["plain", "search as given"])
def test_explanations_show_texts_and_shares_of_the_distance(name):
    X = pd.DataFrame({"x": [0.0, 1.0, 8.0, 8.0], "c": ["a", "a", "b", None], "z": [1.0, 2.0, np.nan, 5.0]})
    model = by_metric(name).fit(X, [0, 0, 1, 1])
    (one,) = model.explain(pd.DataFrame({"x": [2.0], "c": ["new town"], "z": [np.nan]}))
    by_name = {feature.name: feature for feature in one.features}
    assert by_name["c"].shown == ("new", "a", "missing")
    assert by_name["z"].shown[0] == "missing"
    shares = [by_name[name].share for name in "xcz"]
    assert shares == pytest.approx([(1 / 8) / (1 + 1 / 8), 1 / (1 + 1 / 8), 0])
    assert "missing" in str(one)


TEXTS = np.array(["b", "a"], dtype=object)  # not in order


@pytest.mark.parametrize("forged", [[None] * 4, [TEXTS] * 5, [TEXTS == "b"] * 5, ["text"] * 5, "text"])
def test_forged_categories_are_refused(forged, tmp_path):
    model = fitted("plain", TABLE)
    model.categories_ = forged
    with pytest.raises(ValueError, match="categories_"):
        model.save(tmp_path / "model.pf")


@pytest.mark.parametrize("nothing", [[None] * N, np.full(N, np.nan)])
@pytest.mark.parametrize("values", [np.arange(N) - 5.0, ["text"] * N, [None] * N, np.arange(N) % 2 == 0])
@pytest.mark.parametrize("name", ["plain", "clusters"])
def test_a_column_without_values_in_fit_takes_any_in_predict(name, nothing, values, tmp_path):
    fitted(name, TABLE.assign(empty=nothing)).save(tmp_path / "model.pf")
    found = pathforest.load(tmp_path / "model.pf").predict(QUERIES.assign(empty=values))
    np.testing.assert_array_equal(found, fitted(name, TABLE).predict(QUERIES))
