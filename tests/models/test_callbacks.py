"""scikit-learn's callbacks, where they exist, hear of every fit: alone, in pipelines and in searches."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    TablePreprocessor,
)

callback = pytest.importorskip("sklearn.callback")
X, y = load_iris(return_X_y=True)
SMALL = {"k_max": 5, "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "cv": 2, "transforms": None}
every_estimator = pytest.mark.parametrize(
    "estimator",
    [
        FuzzyOPFClassifier(competition="tree"),
        FuzzyOPFClassifierCV(**SMALL),
        OPFClassifier(),
        OPFClustering(),
        OPFKNNClassifier(),
        OPFOutlierDetector(),
        OPFPruner(),
        OPFSemiSupervisedClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)


class Recorder:
    """A callback that keeps what it hears, and goes on to estimators inside."""

    max_propagation_depth = None

    def __init__(self):
        self.heard, self.samples = [], []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.heard.append(f"begin {context.estimator_name} {context.task_name}")
        self.samples.append(X)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.heard.append(f"end {context.estimator_name} {context.task_name}")
        if fitted_estimator is not None:
            self.heard.append(f"fitted {hasattr(fitted_estimator, 'n_features_in_')}")


def record(estimator):
    recorder = Recorder()
    clone(estimator).set_callbacks(recorder).fit(X, y)
    return recorder


@every_estimator
def test_every_fit_begins_and_ends_once(estimator):
    recorder, name = record(estimator), type(estimator).__name__
    assert recorder.heard[:2] == ["setup", f"begin {name} fit"]
    assert recorder.heard[-3:] == [f"end {name} fit", "fitted True", "teardown"]
    assert recorder.heard.count("setup") == recorder.heard.count(f"end {name} fit") == 1
    assert recorder.samples[0] is X


def test_stages_are_tasks():
    found = [text for text in record(OPFClassifier()).heard if "OPFClassifier" in text]
    stages = ["build engine", "spanning tree", "boundary prototypes", "grow forest"]
    inside = [f"{event} OPFClassifier {stage}" for stage in stages for event in ("begin", "end")]
    assert found == ["begin OPFClassifier fit", *inside, "end OPFClassifier fit"]


def test_the_stages_of_a_search_are_tasks():
    found = [text for text in record(FuzzyOPFClassifierCV(**SMALL)).heard if "FuzzyOPFClassifierCV" in text]
    inside = [
        f"{event} FuzzyOPFClassifierCV {stage}" for stage in ("search", "refit") for event in ("begin", "end")
    ]
    assert found == ["begin FuzzyOPFClassifierCV fit", *inside, "end FuzzyOPFClassifierCV fit"]


@every_estimator
def test_callbacks_change_no_answer(estimator):
    plain, heard = clone(estimator).fit(X, y), clone(estimator).set_callbacks(Recorder()).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), heard.predict(X))


def test_scores_of_a_fit_are_monitored():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = OPFClassifier().set_callbacks(monitor).fit(X, y)
    assert [row["accuracy"] for row in monitor.get_logs().data] == [model.score(X, y)]


def test_scores_are_monitored_inside_a_grid_search_of_pipelines():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    inside = make_pipeline(StandardScaler(), OPFClassifier().set_callbacks(monitor))
    GridSearchCV(inside, {"opfclassifier__n_conquerors": [1, 3]}, cv=2).fit(X, y)
    assert len(monitor.get_logs().data) == 5


def test_a_callback_of_a_search_reaches_estimators_inside():
    recorder = Recorder()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OPFPruner()), {"opfpruner__max_loss": [0, 0.1]}, cv=2
    )
    search.set_callbacks(recorder).fit(X, y)
    assert recorder.heard.count("setup") == 1
    assert recorder.heard.count("end OPFPruner fit") == 5


@pytest.mark.filterwarnings("error")
def test_a_preprocessor_of_tables_hears_of_its_fit_in_a_pipeline():
    heard = record(make_pipeline(TablePreprocessor(), OPFClassifier())).heard
    assert heard.count("begin TablePreprocessor fit") == heard.count("end TablePreprocessor fit") == 1


def test_scikit_learn_s_bar_takes_the_place_of_ours(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr("pathforest._utils.progress.DELAY", 0.0)
    monkeypatch.setenv("PATHFOREST_PROGRESS", "1")
    for depth, wrap in ((1, lambda model: model), (0, make_pipeline)):
        for model in (OPFClassifier(), FuzzyOPFClassifierCV(**SMALL)):
            wrap(model).set_callbacks(callback.ProgressBar(max_propagation_depth=depth)).fit(X, y)
            said = capsys.readouterr()
            assert " - fit" in said.out
            assert said.err == ""


def test_without_callbacks_our_bar_is_shown(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    monkeypatch.setattr("pathforest._utils.progress.DELAY", 0.0)
    monkeypatch.setenv("PATHFOREST_PROGRESS", "1")
    OPFClassifier().set_callbacks(Recorder()).fit(X, y)
    assert "OPFClassifier: " in capsys.readouterr().err


def test_a_failed_fit_is_torn_down_and_leaves_an_unfitted_estimator():
    recorder = Recorder()
    model = OPFClassifier().set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((3, 1), np.nan), [0, 1, 0])
    assert recorder.heard[-1] == "teardown"
    assert not hasattr(model, "classes_")


def test_models_with_callbacks_are_pickled_and_saved(tmp_path):
    model = OPFClassifier().set_callbacks(Recorder()).fit(X, y)
    model.save(tmp_path / "model.opf")
    for again in (pickle.loads(pickle.dumps(model)), pathforest.load(tmp_path / "model.opf")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
