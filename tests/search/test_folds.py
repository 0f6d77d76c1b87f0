"""What the models of a search share is computed once, and equals what each would compute alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import METRICS, problems

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, fuzzy
from pathforest._engines.build import build_engine
from pathforest._models.base import KeptSamples
from pathforest._models.offers import EXTRA_MEMBERS
from pathforest._search import folds
from pathforest._search.folds import FoldWork, configure, fitted, grow, prepare
from pathforest._search.plan import Task, make_plan
from pathforest._search.scoring import Cell
from pathforest.graph import COMPETITION_NEIGHBORS

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")


def ready_for(X, y, Q=None, **params):
    """What a search prepares for a fold that trains all of X and evaluates Q."""
    Q = X[:1] if Q is None else Q
    pair = np.arange(len(X)), np.arange(len(X), len(X) + len(Q))
    search = FuzzyOPFClassifierCV(transforms=None, cv=[pair], **params)
    plan = make_plan(search, np.concatenate([X, Q.astype(X.dtype)]), np.append(y, np.repeat(y[0], len(Q))))
    return prepare(plan, Task(0, "as given", []), FoldWork(), build_engine)


@given(data=st.data())
def test_every_classifier_equals_an_ordinary_fit(data):
    X, codes, Q, _ = data.draw(problems(largest=60))
    metric, p = data.draw(st.sampled_from(METRICS))
    common = {"metric": metric, "metric_params": {"p": p} if metric == "minkowski" else None}
    ready = ready_for(X, codes, k_max=12, **common)
    for _ in range(3):
        competition = data.draw(st.sampled_from(["complete", "tree"]))
        sigma = data.draw(st.sampled_from([0.2, 0.8, 1.0] + [1.2] * (competition == "complete")))
        cell = Cell("as given", data.draw(st.integers(1, 12)), sigma, competition, 2)
        model = fitted(ready, cell, 8.0, next(grow(ready, [configure(ready, cell)])))
        alone = FuzzyOPFClassifier(**dict(list(cell._asdict().items())[1:]), **common).fit(X, codes)
        for name, value in vars(alone).items():
            if name.endswith("_"):
                np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)
        np.testing.assert_array_equal(model.predict(Q), alone.predict(Q))


def line(n=120):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


GRID = {"k_max": (1, 5, 9), "sigmas": (0.4, 1.0), "competitions": ("complete", "tree")}


@pytest.fixture
def count(monkeypatch):
    """Counts calls of the stages, by name."""
    calls = {}

    def watch(name):
        stage = getattr(folds, name)

        def counted(*args, **kwargs):
            calls[name] = calls.get(name, 0) + 1
            return stage(*args, **kwargs)

        monkeypatch.setattr(folds, name, counted)

    for name in ("knn_graph", "spanning_tree", "search_k", "density", "compete"):
        watch(name)
    blocks = KeptSamples.blocks

    def counted(*args, **kwargs):
        calls["blocks"] = calls.get("blocks", 0) + 1
        return blocks(*args, **kwargs)

    monkeypatch.setattr(KeptSamples, "blocks", counted)
    return calls


def score_fold(**params):
    """Score the cells of a search on one fold; return its model and the parts of the work reported."""
    X, y = line()
    reported, pair = [], (np.arange(90), np.arange(90, 120))
    plan = make_plan(
        FuzzyOPFClassifierCV(**{**GRID, "n_conquerors": (1, 3), "transforms": None, "cv": [pair], **params}),
        X,
        y,
    )
    (task,) = plan.tasks()
    ready = prepare(plan, task, FoldWork(), build_engine)
    return folds.score(plan, task, ready, reported.append), reported


def test_a_fold_needs_one_pass_one_tree_and_one_scan(count):
    score_fold()
    once = ("knn_graph", "spanning_tree", "search_k", "blocks")
    assert [count[name] for name in once] == [1, 1, 1, 1]


def test_a_forest_grows_once_for_all_cells_that_share_it(count):
    score_fold()
    assert count["compete"] == 2 * count["density"] + 1  # both competitions of each k*, and plain OPF
    assert count["density"] <= 3


def test_sigma_1_is_one_forest_whatever_k_max_and_competition(count):
    score_fold(sigmas=1.0)
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


def test_groups_of_forests_bound_memory_and_change_nothing(count, monkeypatch):
    (whole, _), grown = score_fold(), count["compete"]
    monkeypatch.setattr(folds, "ANSWER_BYTES", 1)
    parts, _ = score_fold()
    np.testing.assert_array_equal(parts, whole)
    assert count["blocks"] == 1 + grown
    assert count["compete"] == 2 * grown


WIDTH = 2 * 2 * (3 + EXTRA_MEMBERS)  # of a query's lists in 2 classes


def test_every_forest_and_block_advances_the_progress_and_blocks_change_nothing(count, monkeypatch):
    (whole, _), grown = score_fold(), count["compete"]
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * WIDTH * 10)  # three blocks
    parts, reported = score_fold()
    np.testing.assert_array_equal(parts, whole)
    assert sum(reported) == pytest.approx(0.75)  # the rest is for what they share
    assert len(reported) == grown + 3 * grown + 2 * grown


def test_folds_of_the_samples_as_given_share_one_neighbour_pass(count):
    X, y = line(150)
    FuzzyOPFClassifierCV(transforms=None, n_conquerors=1).fit(X, y)
    assert count["knn_graph"] == 1
    FuzzyOPFClassifierCV(n_conquerors=1, transforms=[("same", "passthrough")]).fit(X, y)
    assert count["knn_graph"] == 2


@pytest.mark.parametrize(("n_parts", "shares"), [(1, False), (2, False), (4, True)])
def test_few_small_parts_share_no_pass(n_parts, shares):
    X, y = line(100)
    search = FuzzyOPFClassifierCV(
        transforms=None, refit=False, cv=[(np.arange(80), np.arange(80, 100))] * n_parts
    )
    plan = folds.share_lists(make_plan(search, X, y), build_engine)
    assert (plan.lists is not None) is shares
