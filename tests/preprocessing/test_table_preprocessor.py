"""TablePreprocessor: what becomes of numbers, text, truth values, gaps and dates."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipelines import LABELS, TABLE
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pathforest import OPFClassifier, TablePreprocessor, explain

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


# Columns


def test_numbers_are_standardised_after_gaps_are_filled_with_the_median():
    column = np.array([1.0, np.nan, 2.0, 30.0])
    found = TablePreprocessor().fit_transform(column[:, None])
    filled = np.array([[1.0], [2.0], [2.0], [30.0]])
    np.testing.assert_array_equal(found, StandardScaler().fit_transform(filled))


def test_categories_are_columns_of_zeros_and_ones():
    table = TablePreprocessor().fit(PETS[["kind", "indoor"]])
    assert table.get_feature_names_out().tolist() == ["kind=cat", "kind=dog", "indoor=False", "indoor=True"]
    assert table.transform(PETS[["kind", "indoor"]][:3]).tolist() == [
        [1, 0, 0, 1],
        [1, 0, 0, 1],
        [0, 1, 1, 0],
    ]


def test_one_and_zero_are_truth_values_to_a_column_of_those():
    table = TablePreprocessor().fit(PETS[["kind", "indoor"]])
    for new in ([1, 0], [1.0, 0.0], ["1", "0.0"], np.array([True, False])):
        found = table.transform({"kind": ["cat", "1"], "indoor": new})
        assert found.tolist() == [[1, 0, 0, 1], [0, 0, 1, 0]]


def test_a_gap_in_text_is_a_category_if_there_were_gaps_in_training():
    table = TablePreprocessor().fit(PETS[["coat"]])
    assert table.get_feature_names_out().tolist() == ["coat=long", "coat=short", "coat (missing)"]
    for gap in (None, np.nan, "n/a", " "):  # as in files
        assert table.transform(pd.DataFrame({"coat": [gap, "long"]})).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_new_texts_and_new_gaps_are_equally_far_from_all_categories():
    table = TablePreprocessor().fit(PETS[["kind"]])
    assert table.transform(pd.DataFrame({"kind": ["cow", None]})).tolist() == [[0, 0], [0, 0]]


def test_rare_and_new_texts_are_one_category():
    table = TablePreprocessor().fit(np.array([["a"], ["a"], ["b"], ["b"], ["c"]], dtype=object))
    assert table.get_feature_names_out().tolist() == ["x0=a", "x0=b", "x0 (other)"]
    assert table.transform([["c"], ["z"], ["a"]]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]


def test_the_most_frequent_categories_are_kept():
    texts = ["a"] * 2 + ["b"] * 4 + ["c"] * 3
    table = TablePreprocessor(max_categories=2).fit([[text] for text in texts])
    assert table.categories_[0].tolist() == ["b", "c"]
    assert table.has_other_.tolist() == [True]


def test_text_that_never_repeats_and_empty_columns_are_left_out():
    table = TablePreprocessor().fit(PETS.assign(nothing=None))
    assert table.kinds_.tolist() == ["number", "category", "category", "category", "drop", "drop"]
    assert [rule.treatment for rule in table.column_rules()[-2:]] == ["no text occurs twice", "no values"]
    with pytest.raises(ValueError, match="none of the 1 columns is left"):
        TablePreprocessor().fit(PETS[["name"]])


def test_kinds_overrule_what_a_column_holds():
    kinds = {"weight": "category", "kind": "drop"}
    table = TablePreprocessor(kinds).fit(PETS.assign(weight=[1, 1, 2, 2, 3]))
    assert table.categories_[0].tolist() == ["1", "2"]
    assert "kind=cat" not in table.get_feature_names_out()
    assert "kind: left out, as asked" in table.describe()
    assert (
        "name: left out, no text occurs twice" in TablePreprocessor({"name": "category"}).fit(PETS).describe()
    )
    # Whole numbers are the same category whether gaps have made floats of them or not.
    assert table.transform(PETS.assign(weight=1.0))[0, 0] == 1
    by_position = TablePreprocessor({0: "category"}).fit([[1], [1], [2], [2]])
    assert by_position.categories_[0].tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"wait": "drop"}, "column 'wait', which is not one of 'weight', 'kind'"),
        ({"kind": "text"}, r"kinds\['kind'\]='text' should be one of number, category, drop"),
        ("drop", "kinds='drop' must be None or a dict"),
    ],
)
def test_wrong_kinds_are_refused(kinds, message):
    with pytest.raises(ValueError if isinstance(kinds, dict) else TypeError, match=message):
        TablePreprocessor(kinds).fit(PETS)


@pytest.mark.parametrize(
    "dates",
    [
        pd.to_datetime(["2024-01-05", "2024-02-01"]),
        [datetime.date(2024, 1, 5), None],
        [None, "2024-01-05 12:30"],
        ["31.5.2024", "1.6.2024"],
        ["5/31/24", "6/1/24"],
    ],
)
def test_dates_are_refused_with_a_remedy(dates):
    with pytest.raises(ValueError, match=r"column 'day' holds dates, such as .*days since the first"):
        TablePreprocessor().fit(pd.DataFrame({"day": dates, "x": [1, 2]}))


def test_values_that_do_not_fit_their_column_are_named():
    table = TablePreprocessor().fit(PETS)
    with pytest.raises(
        ValueError, match="column 'weight' is a column of numbers, and 'heavy' is not a number"
    ):
        table.transform(PETS.assign(weight="heavy"))
    with pytest.raises(ValueError, match="column 'weight' has infinite values"):
        table.transform(PETS.assign(weight=np.inf))


def test_what_was_done_is_described():
    assert TablePreprocessor().fit(PETS).describe().splitlines() == [
        "weight: number, mean 16.7, standard deviation 10.98, 1 gap filled with 16.5",
        "kind: category, cat, dog",
        "coat: category, long, short, (missing)",
        "indoor: category, False, True",
        "name: left out, no text occurs twice",
    ]


# In units of the table


def units(**columns):
    """Columns of numbers with standard deviations 2, 10 and 4, one of which has a gap, and text."""
    frame = pd.DataFrame({"a": [1.0, 5.0] * 4, "b": [10.0, 30.0] * 4, "c": [0.0, 8.0] * 4})
    frame.loc[8] = [3.0, 20.0, np.nan]  # the means of a and b, and c's median
    frame["kind"] = [*"ppqqppqq", "p"]
    return frame.assign(**columns)


def test_numbers_stay_and_categories_have_their_median_deviation():
    table = TablePreprocessor(scale=False).fit(units())
    expected = units()[["a", "b", "c"]].fillna(4.0)
    median = np.sqrt(np.var(expected["c"].to_numpy()))
    expected = expected.assign(p=median * (units()["kind"] == "p"), q=median * (units()["kind"] == "q"))
    np.testing.assert_array_equal(table.transform(units()), expected)
    assert table.category_value_ == median


@pytest.mark.parametrize("scale", [True, False])
def test_categories_are_zero_and_one_where_no_number_says_otherwise(scale):
    for frame in (units()[["kind"]], units()[["kind"]].assign(same=7.0, nearly=0.1 + 0.2)):
        found = TablePreprocessor(scale=scale).fit_transform(frame)
        assert found[:, :2].tolist() == [[kind == "p", kind == "q"] for kind in frame["kind"]]
    assert TablePreprocessor(scale=True).fit(units()).category_value_ == 1


def test_columns_that_do_not_vary_have_no_say_in_what_a_category_weighs():
    expected = TablePreprocessor(scale=False).fit(units()).category_value_
    assert TablePreprocessor(scale=False).fit(units(d=1.0, e=0.0, f=1e9 / 3)).category_value_ == expected


def test_explanations_are_in_units_of_the_table():
    shown = []
    for scale in (True, False):
        model = make_pipeline(TablePreprocessor(scale=scale), OPFClassifier()).fit(units(), [0, 1] * 4 + [0])
        (found,) = explain(model, units()[8:])
        shown.append({feature.name: (feature.value, feature.conqueror) for feature in found.features})
    expected = {"a": (3, 3), "b": (20, 20), "c": (4, 4), "kind=p": (1, 1), "kind=q": (0, 0)}
    for values in shown:
        assert {name: pytest.approx(pair) for name, pair in expected.items()} == values


def test_numbers_that_are_not_scaled_are_described():
    assert TablePreprocessor(scale=False).fit(PETS[["weight", "kind"]]).describe().splitlines() == [
        "weight: number, in its own unit, 1 gap filled with 16.5",
        "kind: category, cat, dog",
    ]


# Containers


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
    with pytest.raises(ValueError, match="not of the same length"):
        table.transform({"x": [1, 2], "kind": ["a"]})


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_output_is_a_frame_if_asked_for(container):
    table = TablePreprocessor().set_output(transform=container).fit(PETS)
    assert list(table.transform(PETS).columns) == table.get_feature_names_out().tolist()


def test_a_sparse_matrix_is_refused():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"sparse matrix.*toarray"):
        TablePreprocessor().fit(csr_array(np.eye(3)))


# In models


def test_nothing_is_learned_from_new_samples():
    table = TablePreprocessor().fit(TABLE[:20])
    rows = table.transform(TABLE[20:])
    np.testing.assert_array_equal(np.vstack([table.transform(TABLE[i : i + 1]) for i in range(20, 40)]), rows)


def test_a_pipeline_is_cross_validated():
    model = make_pipeline(TablePreprocessor(), OPFClassifier())
    assert cross_val_score(clone(model), TABLE, LABELS, cv=2).mean() > 0.5


@given(st.lists(st.lists(st.sampled_from(["a", "b", None]), min_size=2, max_size=2), min_size=2, max_size=12))
def test_two_different_categories_are_always_as_far_apart(rows):
    rows = [*rows, ["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]]
    Z = TablePreprocessor().fit_transform(np.array(rows, dtype=object))
    for i, row in enumerate(rows):
        n_different = sum(a != b for a, b in zip(row, rows[0], strict=True))
        assert ((Z[i] - Z[0]) ** 2).sum() in (2 * n_different, *([1.0, 3.0] if None in row + rows[0] else []))


def test_a_typo_in_a_column_of_numbers_is_reported():
    ages = pd.DataFrame({"age": ["30", "31,5", 30.0, None, "unknown"]})
    said = (
        "column 'age' is taken as a category: 3 of 4 values are numbers, 'unknown' is not; correct it, or "
        "pass kinds={'age': 'category'} (--columns age=category)"
    )
    with pytest.warns(UserWarning, match=re.escape(said)):
        TablePreprocessor().fit(ages)
    TablePreprocessor({"age": "category"}).fit(ages)  # as asked, without a warning
    TablePreprocessor().fit(pd.DataFrame({"age": ["30", "old", "old", "30"]}))  # no more than half
    with pytest.raises(ValueError, match="'unknown' is not a number"):
        TablePreprocessor({"age": "number"}).fit(ages.replace("31,5", "31.5"))
