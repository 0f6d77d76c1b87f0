"""What the models of a search share is computed once, and equals what each would compute alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import METRICS, problems

from pathforest import FuzzyOPFClassifier, fuzzy
from pathforest._models.offers import EXTRA_MEMBERS
from pathforest._search import training
from pathforest._search.training import Settings, SharedTraining
from pathforest.graph import COMPETITION_NEIGHBORS

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")


@given(data=st.data())
def test_every_classifier_equals_an_ordinary_fit(data):
    X, codes, Q, _ = data.draw(problems(largest=60))
    metric, p = data.draw(st.sampled_from(METRICS))
    common = {"metric": metric, "metric_params": {"p": p} if metric == "minkowski" else None}
    shared = SharedTraining(FuzzyOPFClassifier(k_max=12, **common), X, codes)
    for _ in range(3):
        competition = data.draw(st.sampled_from(["complete", "tree"]))
        sigma = data.draw(st.sampled_from([0.2, 0.8, 1.0] + [1.2] * (competition == "complete")))
        settings = Settings(data.draw(st.integers(1, 12)), sigma, competition)
        model = shared.classifier(settings, n_conquerors=2)
        alone = FuzzyOPFClassifier(**settings._asdict(), **common, n_conquerors=2).fit(X, codes)
        for name, value in vars(alone).items():
            if name.endswith("_"):
                np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)
        np.testing.assert_array_equal(model.predict(Q), alone.predict(Q))


def line(n=120):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture
def count(monkeypatch):
    """Counts calls of the stages, by name."""
    calls = {}

    def watch(owner, name):
        stage = getattr(owner, name)

        def counted(*args, **kwargs):
            calls[name] = calls.get(name, 0) + 1
            return stage(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    for name in ("knn_graph", "spanning_tree", "search_k", "density"):
        watch(training, name)
    watch(training, "compete")
    watch(SharedTraining, "_find_near")
    return calls


GRID = [Settings(k, s, c) for k in (1, 5, 5, 9) for s in (0.4, 1.0) for c in ("complete", "tree")]


def test_a_grid_needs_one_pass_one_tree_and_one_scan(count):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    list(shared.class_costs(X[:30] + 0.1, GRID, (1, 3)))
    once = ("knn_graph", "spanning_tree", "search_k", "_find_near")
    assert [count[name] for name in once] == [1, 1, 1, 1]


def test_a_forest_grows_once_for_all_cells_that_share_it(count):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    list(shared.class_costs(X[:30], GRID, (1,)))
    sizes = {shared.classifier(Settings(k, 0.4, "tree")).best_k_ for k in (1, 5, 9)}
    assert count["compete"] == 2 * len(sizes) + 1  # both competitions, and plain OPF
    assert count["density"] == len(sizes)


def test_sigma_1_is_one_forest_whatever_k_max_and_competition(count):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    settings = [Settings(k, 1.0, c) for k in (1, 9) for c in ("tree", "complete")]
    served = [positions for positions, _ in shared.class_costs(X[:5], settings, (1,))]
    assert (served, count["compete"]) == ([[0, 1, 2, 3]], 1)


def test_lists_are_shortened_once_for_all_forests(monkeypatch):
    X, y = line()
    grow, lists = fuzzy.grow_forest_complete, []
    monkeypatch.setattr(
        fuzzy,
        "grow_forest_complete",
        lambda engine, graph, *args: lists.append(graph) or grow(engine, graph, *args),
    )
    shared = SharedTraining(FuzzyOPFClassifier(k_max=60), X, y)
    list(shared.class_costs(X[:5], [Settings(60, sigma, "complete") for sigma in (0.3, 0.5, 0.7)], (1,)))
    assert len(lists) == 3
    assert all(graph is lists[0] for graph in lists)
    assert lists[0].indices.shape == (120, COMPETITION_NEIGHBORS)


def test_only_the_last_forests_are_kept(count):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    for sigma in np.linspace(0.1, 0.9, 40):
        list(shared.class_costs(X[:5], [Settings(5, sigma, "tree")], (1,)))
    assert len(shared._forests) == training.KEPT_FORESTS
    list(shared.class_costs(X[:5], [Settings(5, 0.9, "tree")], (1,)))
    assert count["compete"] == 40


def test_groups_of_forests_bound_memory_and_change_nothing(count, monkeypatch):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    whole = list(shared.class_costs(X + 0.1, GRID, (1, 3)))
    grown = count["compete"]
    monkeypatch.setattr(training, "ANSWER_BYTES", 1)
    monkeypatch.setattr(training, "KEPT_FORESTS", 1)
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    parts = list(shared.class_costs(X + 0.1, GRID, (1, 3)))
    assert [served for served, _ in parts] == [served for served, _ in whole]
    for (_, one), (_, other) in zip(parts, whole, strict=True):
        np.testing.assert_array_equal(one.cost, other.cost)
    assert count["_find_near"] == 1 + len(whole)
    assert count["compete"] == 2 * grown


WIDTH = 2 * 2 * (3 + EXTRA_MEMBERS)  # of a query's lists in 2 classes


def test_every_forest_and_block_advances_the_progress(monkeypatch):
    X, y = line()
    shared, parts = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y), []
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * WIDTH * 40)  # three blocks
    n_forests = len(list(shared.class_costs(X + 0.1, GRID, (1, 3), parts.append)))
    assert len(parts) == n_forests + 3 * n_forests
    assert sum(parts) == pytest.approx(1)


def test_blocks_of_queries_change_nothing(monkeypatch):
    X, y = line()
    shared = SharedTraining(FuzzyOPFClassifier(k_max=9), X, y)
    whole = next(shared.class_costs(X + 0.1, GRID[:1], (1, 3)))[1]
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * WIDTH * 7)
    parts = next(shared.class_costs(X + 0.1, GRID[:1], (1, 3)))[1]
    np.testing.assert_array_equal(whole.cost, parts.cost)
    np.testing.assert_array_equal(whole.first, parts.first)
