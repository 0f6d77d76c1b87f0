"""Pipelines in files: scikit-learn's transformers around our estimators, without pickle."""

import subprocess
import sys

import numpy as np
import pytest
from model_files import forge, take_apart
from pipelines import LABELS, NUMBERS, PIPELINES, TABLE
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PowerTransformer,
    StandardScaler,
)
from sklearn.svm import SVC

import pathforest
from pathforest import FuzzyOPFClassifierCV, OPFClassifier

every_pipeline = pytest.mark.parametrize("name", PIPELINES)
pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")


def stored(model, tmp_path):
    pathforest.save(model, tmp_path / "model.pf")
    return pathforest.load(tmp_path / "model.pf")


@every_pipeline
def test_a_loaded_pipeline_predicts_bit_for_bit_the_same(name, tmp_path):
    model, (X, y) = PIPELINES[name]
    model = clone(model).fit(X, y)
    found = stored(model, tmp_path)
    queries = X[1::2]
    np.testing.assert_array_equal(found.predict(queries), model.predict(queries))
    np.testing.assert_array_equal(
        np.asarray(found[:-1].transform(queries)), np.asarray(model[:-1].transform(queries))
    )
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(found.predict_proba(queries), model.predict_proba(queries))


@every_pipeline
def test_a_loaded_pipeline_can_be_fitted_again(name, tmp_path):
    model, (X, y) = PIPELINES[name]
    model = clone(model).fit(X, y)
    again = clone(stored(model, tmp_path)).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@every_pipeline
def test_saving_twice_gives_the_same_bytes(name, tmp_path):
    model, (X, y) = PIPELINES[name]
    model = clone(model).fit(X, y)
    loaded = stored(model, tmp_path)
    pathforest.save(loaded, tmp_path / "again.pf")
    assert (tmp_path / "again.pf").read_bytes() == (tmp_path / "model.pf").read_bytes()


def test_new_texts_and_gaps_are_treated_the_same_after_loading(tmp_path):
    new = TABLE[:6].copy()
    new.loc[0, "port"], new.loc[1, "age"], new.loc[2, "male"] = "X", np.nan, True
    for name in ("tables", "frames", "names"):
        model = clone(PIPELINES[name][0]).fit(TABLE, LABELS)
        np.testing.assert_array_equal(stored(model, tmp_path).predict(new), model.predict(new))


def test_names_of_features_come_back(tmp_path):
    model = clone(PIPELINES["tables"][0]).fit(TABLE, LABELS)
    found = stored(model, tmp_path)
    assert found[:-1].get_feature_names_out().tolist() == model[:-1].get_feature_names_out().tolist()
    assert found.feature_names_in_.tolist() == list(TABLE.columns)


def test_a_search_over_scikit_learn_s_scalers_can_be_saved(tmp_path):
    X, y = NUMBERS[0].to_numpy(), LABELS
    model = FuzzyOPFClassifierCV(cv=2, k_max=3, transforms=[MinMaxScaler()]).fit(X, y)
    np.testing.assert_array_equal(stored(model, tmp_path).predict(X), model.predict(X))


def test_a_pipeline_is_loaded_by_another_process(tmp_path):
    model = clone(PIPELINES["tables"][0]).fit(TABLE, LABELS)
    pathforest.save(model, tmp_path / "model.pf")
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    code = "import pathforest, pandas; m = pathforest.load('model.pf'); "
    code += "print(*m.predict(pandas.read_csv('table.csv')))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == model.predict(TABLE).tolist()


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (make_pipeline(PowerTransformer(), OPFClassifier()), "PowerTransformer()"),
        (make_pipeline(SimpleImputer(), OPFClassifier()), "SimpleImputer()"),
        (make_pipeline(StandardScaler(), SVC()), "SVC()"),
        (make_pipeline(StandardScaler(), OPFClassifier(), memory="cache"), "its memory"),
        (SVC(), "SVC()"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_anything_else_is_refused_with_a_way_out(model, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the cache
    X, y = NUMBERS
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"cannot be saved: .*skops\.io\.dump") as caught:
        pathforest.save(model, tmp_path / "model.pf")
    assert what in str(caught.value)
    assert not (tmp_path / "model.pf").exists()


# Forged files, beside the random ones of test_persistence_forged.py.


def state_of(head, kind):
    """The state of the last object of a class: a fitted one, after its template."""
    return [item["state"] for item in head["objects"] if item["class"] == kind][-1]


WRONG = [
    ("tables", "TablePreprocessor", "scale_", [0.0] * 4, "scale_"),
    ("tables", "TablePreprocessor", "kinds", [{"tuple": ["nothing", "drop"]}], "kinds"),
    ("tables", "TablePreprocessor", "max_categories", 0, "max_categories"),
    ("tables", "TablePreprocessor", "category_value_", 0.0, "category_value_"),
    ("tables", "TablePreprocessor", "scale", 2, "scale"),
    ("tables", "TablePreprocessor", "categories_", [[], [], [], []], "categories_"),
    ("tables", "TablePreprocessor", "n_features_in_", 3, "feature_names_in_"),
    ("frames", "StandardScaler", "_sklearn_output_config", {"dict": {"transform": "evil"}}, "output"),
    ("names", "TablePreprocessor", "n_features_in_", 2, "not in the table|feature_names_in_"),
    ("names", "MinMaxScaler", "scale_", 1.0, "scale_"),
    ("components", "PCA", "components_", {"array": 0}, "components_"),
    ("components", "PCA", "n_components_", 2, "components_"),
    ("components", "Pipeline", "memory", "folder", "memory"),
    ("components", "Pipeline", "steps", [], "no steps"),
]


@pytest.mark.parametrize(("name", "kind", "attribute", "value", "reason"), WRONG)
def test_forged_transformers_are_refused(name, kind, attribute, value, reason, tmp_path):
    model, (X, y) = PIPELINES[name]
    pathforest.save(clone(model).fit(X, y), tmp_path / "model.pf")
    head, arrays = take_apart((tmp_path / "model.pf").read_bytes())
    state_of(head, kind)[attribute] = value
    (tmp_path / "forged.pf").write_bytes(forge(head, arrays))
    with pytest.raises(ValueError, match=rf"(?s)forged\.pf cannot be loaded.*({reason})"):
        pathforest.load(tmp_path / "forged.pf")


def test_a_pipeline_must_end_with_a_model_that_takes_its_features(tmp_path):
    narrow = make_pipeline(StandardScaler(), OPFClassifier()).fit([[0.0], [1.0]], [0, 1])
    pathforest.save(narrow, tmp_path / "model.pf")
    head, arrays = take_apart((tmp_path / "model.pf").read_bytes())
    for objects, reason in (
        ([head["objects"][0], {"class": "Pipeline", "state": {"steps": []}}], "not a model"),
        ([{"class": "OPFClustering", "state": {}}, *head["objects"]], "part of a model"),
    ):
        (tmp_path / "forged.pf").write_bytes(forge(head | {"objects": objects}, arrays))
        with pytest.raises(ValueError, match=reason):
            pathforest.load(tmp_path / "forged.pf")
    scaler = state_of(head, "StandardScaler")
    scaler |= {"n_features_in_": 2, "with_mean": False, "with_std": False}
    (tmp_path / "forged.pf").write_bytes(forge(head, arrays))
    with pytest.raises(ValueError, match="2 features for a model of 1"):
        pathforest.load(tmp_path / "forged.pf")
