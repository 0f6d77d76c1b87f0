"""The plan of a search: what it refuses, and that work which models share is done once."""

import numpy as np
import pytest
from naive import tied
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pathforest import FuzzyOPFClassifierCV, fuzzy
from pathforest._engines.build import build_engine
from pathforest._models.base import KeptSamples
from pathforest._models.offers import EXTRA_MEMBERS
from pathforest._search import folds
from pathforest._search.folds import FoldWork, prepare
from pathforest._search.plan import make_plan
from pathforest.graph import COMPETITION_NEIGHBORS

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

X, Y = tied(120, 2)
IRIS, CLASSES = load_iris(return_X_y=True)
HOLES = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.1, np.nan, IRIS)
FAR = np.where(np.arange(600).reshape(150, 4) == 1, 1e300, IRIS)
BELOW = np.where(np.arange(150)[:, None] == 149, -10, IRIS)  # the range that the first fold scales by
PAIR = np.arange(140), np.arange(140, 150)


# What is refused


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k_max": (0, 5)}, "k_max=0 must be at least 1"),
        ({"sigmas": (0.5, -1)}, "sigma=-1"),
        ({"sigmas": (1.2, 1.4)}, "leave no cell: .*'complete'"),
        ({"competitions": ("ring",)}, "competition='ring' is unknown"),
        ({"n_best": 0}, "n_best=0 must be at least 1"),
        ({"label_noise": 0.7}, r"label_noise=0.7 must be below 0.667 for 3 classes.*'estimate'"),
        ({"label_noise": -0.1}, "label_noise=-0.1 must be from 0 to below 1.*'estimate'"),
        ({"class_weight": "equal"}, "class_weight='equal' is unknown; use None, 'balanced' or a dict"),
        ({"class_weight": {1: 0}}, r"class_weight\[1\]=0 .*likelier"),
        ({"class_weight": {"ham": 2}}, "class_weight names 'ham', which is not among the classes"),
        ({"transforms": []}, "not a sequence of transformers"),
        ({"transforms": [3]}, "no fit and transform"),
        ({"scoring": accuracy_score}, "make_scorer"),
        ({"scoring": ["accuracy", "f1_macro"]}, "one must decide"),
        ({"cv": [(np.arange(5), np.empty(0, dtype=int))]}, "fold 0 .* needs"),
        ({"cv": StratifiedKFold(51)}, "has more folds than the .* samples, 50; pass"),
        ({"cv": KFold(151)}, "cv=KFold.* has more folds than the number of samples: n_samples=150; pass"),
        ({"y": np.arange(150)}, "cv=3: every class has one sample.*pass more.*another column"),
        ({"cv": iter(())}, "generator can be used only once"),
        (
            {"metric": "precomputed", "transforms": [StandardScaler()], "X": np.zeros((150, 150))},
            "metric='precomputed'",
        ),
        ({"X": IRIS[:1], "y": [0]}, "1 sample"),
        ({"y": CLASSES[:-1], "transforms": [StandardScaler()]}, "inconsistent numbers"),
        ({"X": FAR, "transforms": None}, "could overflow: feature 1"),
        *(({"X": HOLES, "transforms": t}, "NaN") for t in (None, "auto", [None, SimpleImputer()])),
        (
            {"metric": "chi2", "transforms": [StandardScaler()]},
            r"transform 'StandardScaler' .*chi2.*leave it out",
        ),
        (
            {"metric": "chi2", "X": BELOW, "cv": [PAIR], "transforms": [MinMaxScaler()]},
            "transform 'MinMaxScaler' ",
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,  # addresses differ between workers
)
def test_errors_name_the_value_and_the_way_out(params, message):
    samples = params.get("X", IRIS), params.get("y", CLASSES)
    params = {name: value for name, value in params.items() if name not in ("X", "y")}
    with pytest.raises((ValueError, TypeError), match=message):
        FuzzyOPFClassifierCV(**params).fit(*samples)


@pytest.mark.parametrize(("counts", "folds"), [((2, 2, 1), 2), ((4, 2, 1), 3)])
def test_classes_may_have_fewer_samples_than_there_are_folds(counts, folds):
    y = np.repeat(list("abc"), counts)
    search = FuzzyOPFClassifierCV(k_max=2, sigmas=1.0).fit(IRIS[:: len(IRIS) // len(y)][: len(y)], y)
    assert search.n_splits_ == folds
    assert search.classes_.tolist() == list("abc")


# What is shared


@pytest.fixture
def count(monkeypatch):
    """Counts calls of the stages, by name."""
    calls = {}

    def watch(place, name):
        stage = getattr(place, name)

        def counted(*args, **kwargs):
            calls[name] = calls.get(name, 0) + 1
            return stage(*args, **kwargs)

        monkeypatch.setattr(place, name, counted)

    for name in ("knn_graph", "spanning_tree", "search_k", "density", "compete"):
        watch(folds, name)
    watch(KeptSamples, "blocks")
    return calls


def score_fold(**params):
    """Score the cells of a search on one fold; return the scores and the parts of the work reported."""
    grid = {"k_max": (1, 5, 9), "sigmas": (0.4, 1.0), "competitions": ("complete", "tree")}
    pair, reported = (np.arange(90), np.arange(90, 120)), []
    search = FuzzyOPFClassifierCV(
        **{**grid, "n_conquerors": (1, 3), "transforms": None, "cv": [pair], **params}
    )
    plan = make_plan(search, X, Y)
    (task,) = plan.tasks()
    ready = prepare(plan, task, FoldWork(), build_engine)
    return folds.score(plan, task, ready, reported.append), reported


def test_a_fold_needs_one_pass_one_tree_and_one_scan_and_a_forest_grows_once(count):
    score_fold()
    assert [count[name] for name in ("knn_graph", "spanning_tree", "search_k", "blocks")] == [1, 1, 1, 1]
    assert count["compete"] == 2 * count["density"] + 1  # both competitions of each k*, and plain OPF
    assert count["density"] <= 3
    count.clear()
    score_fold(sigmas=1.0)  # one forest whatever k_max and competition
    assert count["compete"] == 1


def test_lists_are_shortened_once_for_all_forests(monkeypatch):
    found, lists = fuzzy.grow_forest_complete, []
    monkeypatch.setattr(
        fuzzy,
        "grow_forest_complete",
        lambda engine, graph, *args: lists.append(graph) or found(engine, graph, *args),
    )
    score_fold(k_max=60, sigmas=(0.3, 0.5, 0.7), competitions="complete")
    assert len(lists) == 3
    assert all(graph is lists[0] for graph in lists)
    assert lists[0].indices.shape == (90, COMPETITION_NEIGHBORS)


def test_every_forest_and_block_advances_the_progress_and_blocks_change_nothing(count, monkeypatch):
    (whole, _), grown = score_fold(), count["compete"]
    width = 2 * 3 * (3 + EXTRA_MEMBERS)  # of a query's lists in 3 classes
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * width * 10)  # three blocks
    parts, reported = score_fold()
    np.testing.assert_array_equal(parts[:2], whole[:2])
    assert sum(reported) == pytest.approx(0.75)  # the rest is for what they share
    assert len(reported) == grown + 3 * grown + 2 * grown


def test_folds_of_the_samples_as_given_share_one_neighbour_pass(count):
    for transforms in (None, [("same", "passthrough")]):
        FuzzyOPFClassifierCV(transforms=transforms, n_conquerors=1).fit(X, Y)
    assert count["knn_graph"] == 2
