"""On a cluster the estimators learn what the local ones learn, bit for bit, whatever chunks and blocks."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GroupKFold

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier
from pathforest._engines.build import build_engine
from pathforest._engines.engine import Engine
from pathforest.distances import resolve_metric

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask.array as da
from checks import same
from dask_cases import SMALL_SEARCH, N, draw, every_pair, quiet

from pathforest.dask import DaskFuzzyOPFClassifier, DaskFuzzyOPFClassifierCV, DaskOPFClassifier
from pathforest.dask import engine as dask_engine

pytestmark = quiet


CHUNKS = [((N,), (5,)), ((100, 140), (2, 3)), ((1, 7, 200, 32), (5,)), ((60,) * 4, (1, 4))]


@every_pair
@pytest.mark.parametrize(
    ("kind", "dtype", "chunks"),
    [
        ("random", np.float32, CHUNKS[0]),
        ("tied", np.float64, CHUNKS[1]),
        ("tied", np.float32, CHUNKS[2]),
        ("duplicated", np.float64, CHUNKS[3]),
    ],
    ids=["random", "tied64", "tied32", "duplicated"],
)
def test_fitted_arrays_are_those_of_the_local_class(
    client, many_blocks, on_cluster, local, params, kind, dtype, chunks
):
    X, y = draw(kind, dtype)
    labels = da.from_array(y, chunks=50)
    model = on_cluster(**params, client=client).fit(da.from_array(X, chunks=chunks), labels)
    same(model.to_local(), local(**params).fit(X, y))


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize(
    ("block_rows", "chunks"), [(30, CHUNKS[0]), (100, CHUNKS[1]), (N, CHUNKS[2]), (1, 5)]
)
def test_neither_chunks_nor_blocks_nor_engines_matter(client, monkeypatch, algorithm, block_rows, chunks):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", block_rows * 5 * 8)
    X, y = draw("tied", n=12 if block_rows == 1 else N)  # one row: a task for each pair of samples
    params = {"algorithm": algorithm, "k_max": 8}
    model = DaskFuzzyOPFClassifier(**params, client=client).fit(da.from_array(X, chunks=chunks), y)
    same(model.to_local(), FuzzyOPFClassifier(**params).fit(X, y))


def test_far_clusters_have_the_same_tree(client, many_blocks):
    X, y = draw("tied")
    X[:80] += 1000
    X[80:90] -= 500
    model = DaskOPFClassifier(client=client).fit(X, y)
    same(model.to_local(), OPFClassifier().fit(X, y))


def test_the_engine_fulfils_the_contract(client):
    assert isinstance(dask_engine.DaskEngine(np.eye(3), resolve_metric("euclidean"), "brute", client), Engine)


def test_the_competition_asks_about_the_same_distances(client):
    (X, _), metric = draw("random"), resolve_metric("minkowski", {"p": 3})
    engine = dask_engine.DaskEngine(X, metric, "brute", client)
    same(engine.distances(X[:9], 1), build_engine(X, metric, "brute").distances(X[:9], 1))


def test_the_tree_looks_as_far_as_it_has_to_and_no_farther(client, many_blocks):
    X, component = draw("tied")
    apart = pairwise_distances(X)
    apart[component[:, None] == component] = np.inf
    engine = dask_engine.DaskEngine(X, resolve_metric("euclidean"), "brute", client)
    near, component = apart.min(axis=1), component.astype(np.int32)
    found = engine.nearest_foreign(X, component, component, near)
    same(found, (near[:, None], apart.argmin(axis=1).astype(np.int32)[:, None]))
    shorter = np.nextafter(near, 0)  # 0 stays 0
    found = engine.nearest_foreign(X, component, component, shorter)
    assert (found[0] < np.inf).tolist() == (found[1] >= 0).tolist() == (near == 0)[:, None].tolist()


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "minkowski", "correlation", "precomputed"])
def test_every_kind_of_metric_gives_the_local_model(client, many_blocks, metric):
    X, y = draw("random")
    X = pairwise_distances(X) if metric == "precomputed" else X
    params = {"metric": metric, "metric_params": {"p": 3} if metric == "minkowski" else None}
    model = DaskOPFClassifier(**params, client=client).fit(da.from_array(X, chunks=(70, -1)), y)
    same(model.to_local(), OPFClassifier(**params).fit(X, y))
    new = da.from_array(X[:9], chunks=(4, 2))
    np.testing.assert_array_equal(model.predict(new).compute(), model.to_local().predict(X[:9]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_give_the_local_model(client, many_blocks, n):
    X, y = draw("tied", n=n)
    model = DaskFuzzyOPFClassifier(client=client).fit(da.from_array(X, chunks=1), da.from_array(y, chunks=2))
    same(model.to_local(), FuzzyOPFClassifier().fit(X, y))


def test_groups_reach_the_splitter(client):
    X, y = draw("random")
    groups = np.arange(N) % 4 + 0.5  # no labels of classes
    params = {**SMALL_SEARCH, "cv": GroupKFold(2)}
    model = DaskFuzzyOPFClassifierCV(**params, client=client)
    model.fit(X, y, groups=da.from_array(groups, chunks=100))
    same(model.to_local().cv_results_, FuzzyOPFClassifierCV(**params).fit(X, y, groups).cv_results_)


@every_pair
def test_predictions_of_arrays_are_lazy_and_right(client, on_cluster, local, params):
    X, y = draw("random")
    model = on_cluster(**params, client=client).fit(X, np.array(["ham", "eggs", "spam"])[y])

    def fail(block):
        raise RuntimeError("computed")

    chunked = da.from_array(X, chunks=(70, 2))
    for method in "predict", "predict_proba", "class_costs":
        getattr(model, method)(chunked.map_blocks(fail, dtype=X.dtype, meta=X[:0]))
        answers = getattr(model, method)(chunked)
        expected = getattr(model.to_local(), method)(X)
        assert (answers.shape, answers.dtype) == (expected.shape, expected.dtype)
        assert answers.chunks[0] == chunked.chunks[0]
        np.testing.assert_array_equal(answers.compute(), expected)


@pytest.fixture
def asked(monkeypatch):
    """How many tasks the engine has asked for, each time."""
    counts, run_tasks = [], dask_engine.run_tasks
    monkeypatch.setattr(dask_engine, "run_tasks", lambda *args: counts.append(args[1]) or run_tasks(*args))
    return counts


def test_the_cluster_does_the_work(client, asked):
    DaskOPFClassifier(client=client).fit(*draw("random"))
    assert max(asked) > 2


def test_work_that_is_not_worth_it_stays_at_the_client(client, asked, monkeypatch):
    monkeypatch.setattr(dask_engine, "LOCAL_SECONDS", 0.25)
    DaskOPFClassifier(client=client).fit(*draw("random"))
    assert not asked
