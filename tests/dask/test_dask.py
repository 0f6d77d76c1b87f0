"""On a cluster the estimators learn what the local ones learn, bit for bit, whatever chunks and faults."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, GroupKFold

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask
import dask.array as da
import dask.bag
import distributed

from pathforest._engines.build import build_engine
from pathforest._engines.protocol import Engine
from pathforest.dask import DaskFuzzyOPFClassifier, DaskFuzzyOPFClassifierCV, DaskOPFClassifier
from pathforest.dask import engine as dask_engine
from pathforest.dask import futures as dask_futures
from pathforest.dask import tasks as dask_tasks
from pathforest.distances import resolve_metric

pytestmark = [
    pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of workers that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = 240
SMALL_SEARCH = {"k_max": (3, 8), "sigmas": (0.5, 1.0), "competitions": ("tree", "complete"), "cv": 2}
PAIRS = [
    (DaskOPFClassifier, OPFClassifier, {}),
    (DaskFuzzyOPFClassifier, FuzzyOPFClassifier, {"sigma": 0.6}),
    (DaskFuzzyOPFClassifier, FuzzyOPFClassifier, {"competition": "tree", "sigma": 0.3, "k_max": 12}),
    (DaskFuzzyOPFClassifierCV, FuzzyOPFClassifierCV, SMALL_SEARCH),
]
CHUNKS = [((N,), (5,)), ((100, 140), (2, 3)), ((1, 7, 200, 32), (5,)), ((24,) * 10, (1, 4))]
every_pair = pytest.mark.parametrize(
    ("on_cluster", "local", "params"), PAIRS, ids=["plain", "complete", "tree", "search"]
)


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "120s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def everything_on_the_cluster(monkeypatch):
    """Samples this few would stay at the client."""
    monkeypatch.setattr(dask_engine, "LOCAL_SECONDS", 0)
    monkeypatch.setattr(dask_engine, "TASK_SECONDS", 1e-4)


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", 60 * 5 * 4)


def draw(kind, dtype=np.float64, n=N):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    if kind == "tied":
        X = rng.integers(0, 3, size=(n, 5))
    elif kind == "duplicated":
        X = X[rng.integers(0, 12, size=n)]
    return X.astype(dtype), rng.integers(0, 3, size=n)


def same(got, expected):
    """Equal types and values all the way down; models have the same fitted attributes."""
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        if expected.dtype == object:
            same(got.tolist(), expected.tolist())
        else:
            np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            same(got[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for pair in zip(got, expected, strict=True):
            same(*pair)
    elif isinstance(expected, OPFClassifier | FuzzyOPFClassifier | FuzzyOPFClassifierCV):
        assert type(got) is type(expected)
        same(vars(got), vars(expected))
    else:
        assert got == expected or (got != got and expected != expected)


def tasks_on(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def wait_for_no_tasks(client):
    deadline = time.monotonic() + 10
    while tasks_on(client) and time.monotonic() < deadline:
        time.sleep(0.05)
    return tasks_on(client)


# First, while no client is active.
def test_without_a_client_the_error_says_what_to_do():
    with pytest.raises(ValueError, match=r"no Dask client is active; make one with distributed\.Client"):
        DaskOPFClassifier().fit(*draw("random"))


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


@pytest.mark.parametrize("algorithm", ["tree", "brute"])
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


def test_the_competition_asks_about_the_same_distances(client):
    (X, _), metric = draw("random"), resolve_metric("minkowski", {"p": 3})
    engine = dask_engine.DaskEngine(X, metric, "brute", client)
    same(engine.distances(X[:9], 1), build_engine(X, metric, "brute").distances(X[:9], 1))


def test_the_tree_looks_as_far_as_it_has_to_and_no_farther(client, many_blocks):
    X, component = draw("tied")
    apart = pairwise_distances(X)
    apart[component[:, None] == component] = np.inf
    engine = dask_engine.DaskEngine(X, resolve_metric("euclidean"), "brute", client)
    samples, near = np.arange(N, dtype=np.int32), apart.min(axis=1)
    found = engine._nearest_foreign(samples, component.astype(np.int32), near)
    same(found, (near, apart.argmin(axis=1).astype(np.int32)))
    shorter = np.nextafter(near, 0)  # 0 stays 0
    found = engine._nearest_foreign(samples, component.astype(np.int32), shorter)
    assert (found[0] < np.inf).tolist() == (found[1] >= 0).tolist() == (near == 0).tolist()


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


def test_chunks_of_unknown_size_give_the_local_model(client, many_blocks):
    X, y = draw("tied")
    lazy_X, lazy_y = da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=40)
    kept = (X[:, 0] > 0) & (np.arange(N) >= 50)  # the first chunk is left empty
    lazy_kept = da.from_array(kept, chunks=50)
    model = DaskOPFClassifier(client=client).fit(lazy_X[lazy_kept], lazy_y[lazy_kept.rechunk(40)])
    same(model.to_local(), OPFClassifier().fit(X[kept], y[kept]))
    answers = model.predict(lazy_X[lazy_kept])
    np.testing.assert_array_equal(answers.compute(), model.to_local().predict(X[kept]))


def test_persisted_data_stay_on_the_cluster(client, many_blocks):
    X, y = draw("tied")
    persisted = da.from_array(X, chunks=(50, -1)).persist()
    model = DaskOPFClassifier(client=client).fit(persisted, y)
    same(model.to_local(), OPFClassifier().fit(X, y))
    assert {future.status for future in distributed.futures_of(persisted)} == {"finished"}
    np.testing.assert_array_equal(persisted.compute(), X)


def test_local_data_are_taken_as_well(client, many_blocks):
    X, y = draw("random")
    labels = [str(label) for label in y]
    model = DaskOPFClassifier(client=client).fit(X.tolist(), labels)
    expected = OPFClassifier().fit(X, labels)
    same(model.to_local(), expected)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert [e.path for e in model.explain(X[:3])] == [e.path for e in expected.explain(X[:3])]


@pytest.mark.parametrize("blocks", ["many", "one"])
def test_a_client_that_is_not_the_active_one_is_used(blocks, client, request, monkeypatch):
    if blocks == "many":
        request.getfixturevalue("many_blocks")
    X, y = draw("random")
    lazy = da.from_array(X, chunks=100)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        monkeypatch.setattr(distributed.client, "_get_global_client", lambda: None)
        model = DaskOPFClassifier(client=other).fit(lazy, y)
        answers = other.compute(model.predict(lazy)).result()
    same(model.to_local(), OPFClassifier().fit(X, y))
    np.testing.assert_array_equal(answers, model.to_local().predict(X))


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


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (da.ones((10, 3), chunks=5), ValueError, "X has 3 features, but OPFClassifier is expecting 5"),
        (da.ones(10, chunks=5), ValueError, r"X has 1 dimension\(s\) and must have 2"),
        (dask.delayed(np.ones((10, 5))), TypeError, "X is a Dask Delayed.*; pass a Dask array"),
    ],
    ids=["features", "dimensions", "collection"],
)
def test_bad_queries_are_refused_before_anything_is_computed(client, X, kind, message):
    model = DaskOPFClassifier(client=client).fit(*draw("random"))
    with pytest.raises(kind, match=message):
        model.predict(X)


def test_a_search_without_a_model_refuses_lazy_queries_at_once(client):
    X, y = draw("random")
    model = DaskFuzzyOPFClassifierCV(**SMALL_SEARCH, refit=False, client=client).fit(X, y)
    with pytest.raises(AttributeError, match="refit=False keeps no model, so there is no predict"):
        model.predict(da.from_array(X, chunks=70))


def test_frames_keep_names_and_index(client, many_blocks):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = draw("tied")
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(N)[::-1])
    labels = pd.Series(np.array(["ham", "eggs", "spam"])[y])
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    model = DaskOPFClassifier(client=client).fit(lazy, dd.from_pandas(labels, npartitions=2))
    expected = OPFClassifier().fit(frame, labels)
    same(model.to_local(), expected)
    for answers, values in [
        (model.predict(lazy), pd.Series(expected.predict(frame), index=frame.index, name="predict")),
        (
            model.predict_proba(lazy),
            pd.DataFrame(expected.predict_proba(frame), frame.index, columns=expected.classes_),
        ),
    ]:
        computed = answers.compute()
        if values.ndim == 1:
            pd.testing.assert_series_equal(computed, values, check_dtype=False)
            assert answers.dtype == computed.dtype
        else:
            pd.testing.assert_frame_equal(computed, values)
            assert answers.dtypes.tolist() == computed.dtypes.tolist()
    empty = model.predict(lazy[lazy["a"] > 100])
    assert len(empty.compute()) == 0


def test_the_work_is_done_by_the_cluster_only_where_it_is_worth_it(client, monkeypatch):
    X, y = draw("random")
    asked = []
    run_tasks = dask_engine.run_tasks
    monkeypatch.setattr(dask_engine, "run_tasks", lambda *args: asked.append(args[1]) or run_tasks(*args))
    DaskOPFClassifier(client=client).fit(X, y)
    assert max(asked) > 2
    asked.clear()
    monkeypatch.setattr(dask_engine, "LOCAL_SECONDS", 0.25)
    DaskOPFClassifier(client=client).fit(X, y)
    assert not asked


def test_the_engine_fulfils_the_contract(client):
    assert isinstance(dask_engine.DaskEngine(np.eye(3), resolve_metric("euclidean"), "brute", client), Engine)


def test_another_device_is_refused(client):
    with pytest.raises(ValueError, match=r"device='cuda' is not for clusters; use device='cpu'"):
        DaskOPFClassifier(client=client, device="cuda").fit(*draw("random"))


def test_a_fit_leaves_nothing_on_the_cluster(client, many_blocks):
    X, y = draw("tied")
    model = DaskFuzzyOPFClassifierCV(**SMALL_SEARCH, client=client)
    model.fit(da.from_array(X, chunks=50), da.from_array(y, chunks=60))
    assert wait_for_no_tasks(client) == 0


def test_blocks_are_dealt_out_evenly_and_a_lone_one_goes_to_all(client):
    client.wait_for_workers(2)
    workers = sorted(client.nthreads())
    several, lone = (dask_futures.Sent(client, list(range(count))) for count in (6, 1))
    assert [several.workers(i) for i in range(6)] == [[workers[0]], [workers[1]]] * 3
    assert lone.workers(0) == workers
    assert sorted(client.who_has([lone[0]])[lone[0].key]) == workers


def once(action):
    pending = [action]
    return lambda: pending.pop()() if pending else None


def at_the_first_result(monkeypatch, action):
    """Do something once, as soon as the first result has come."""
    act = once(action)

    class Interrupted(dask_futures.as_completed):
        def __next__(self):
            future = super().__next__()
            act()
            return future

    monkeypatch.setattr(dask_futures, "as_completed", Interrupted)


def at_the_first(task):
    """Do something once, as soon as the first task of a kind has been submitted."""

    def arrange(monkeypatch, action):
        submit, act = dask_engine.DaskEngine._submit, once(action)

        def interrupted(self, block, function, *args):
            future = submit(self, block, function, *args)
            if function is task:
                act()
            return future

        monkeypatch.setattr(dask_engine.DaskEngine, "_submit", interrupted)

    return arrange


def at_the_first_block(monkeypatch, action):
    """Do something once, as soon as the first block is on the cluster."""
    scatter, act = distributed.Client.scatter, once(action)

    def interrupted(*args, **kwargs):
        futures = scatter(*args, **kwargs)
        act()
        return futures

    monkeypatch.setattr(distributed.Client, "scatter", interrupted)


def draw_far_apart(n):
    """Samples whose neighbour lists leave questions to the spanning tree."""
    X, y = draw("random", n=n)
    X[: n // 3] += 1000
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block_rows", "stage"),
    [(250, at_the_first_result), (4000, at_the_first(dask_tasks.foreign_neighbours))],
    ids=["distributed", "one block"],
)
def test_a_killed_worker_changes_nothing(client, monkeypatch, block_rows, stage):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", block_rows * 5 * 8)
    client.wait_for_workers(2)
    X, y = draw_far_apart(2000)
    victims = []

    def kill():
        victims.append(next(iter(client.run(os.getpid).values())))
        os.kill(victims[0], signal.SIGKILL)

    stage(monkeypatch, kill)
    model = DaskOPFClassifier(client=client).fit(X, y)
    assert victims
    same(model.to_local(), OPFClassifier().fit(X, y))
    client.wait_for_workers(1)


@pytest.mark.parametrize("error", [OSError, KeyError])
def test_what_could_not_be_sent_is_sent_again_but_not_for_ever(client, monkeypatch, error):
    """Dask raises the one or the other, depending on when the worker has died."""
    monkeypatch.setattr(dask_futures, "SECONDS_TO_NOTICE", 0)
    scatter, failures = distributed.Client.scatter, [error] * (dask_futures.MOST_ATTEMPTS - 1)

    def failing(*args, **kwargs):
        if failures:
            raise failures.pop()("tcp://gone")
        return scatter(*args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", failing)
    assert dask_futures.Sent(client, ["ham"])[0].result() == "ham"
    failures.extend([error] * dask_futures.MOST_ATTEMPTS)
    with pytest.raises(error):
        dask_futures.Sent(client, ["ham"])[0]


def test_tasks_whose_data_are_lost_are_submitted_again_but_not_for_ever(client):
    def submit(i):
        attempts[i] += 1
        future = client.submit(int, i, pure=False)
        if attempts[i] <= losses:
            future.cancel()
        return future

    results, attempts, losses = {}, [0, 0], dask_futures.MOST_ATTEMPTS - 1
    dask_futures.run_tasks(client, 2, submit, results.__setitem__)
    assert results == {0: 0, 1: 1}
    attempts, losses = [0, 0], dask_futures.MOST_ATTEMPTS
    with pytest.raises(RuntimeError, match="workers were lost 5 times with the data of one task"):
        dask_futures.run_tasks(client, 2, submit, results.__setitem__)


@pytest.mark.parametrize(
    "stage",
    [
        at_the_first_result,
        at_the_first_block,
        at_the_first(dask_tasks.neighbours_abroad),
        at_the_first(dask_tasks.foreign_neighbours),
    ],
    ids=["checks", "blocks", "neighbours", "spanning tree"],
)
def test_ctrl_c_leaves_no_tasks_and_no_model(client, many_blocks, monkeypatch, stage):
    X, y = draw_far_apart(600)
    stage(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    model = DaskOPFClassifier(client=client)
    # A process started from a shell's background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            model.fit(da.from_array(X, chunks=(200, -1)), y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert wait_for_no_tasks(client) == 0
    assert raised.tb is not None  # which keeps all frames of `fit` alive, as a notebook does
    with pytest.raises(NotFittedError):
        model.to_local()


def spoiled(chunk, how):
    """Four chunks of 60 rows, one of them changed by a function that Dask's bookkeeping knows nothing of."""
    X, _ = draw("random")

    def change(block, block_info=None):
        return how(block.copy()) if block_info and block_info[0]["chunk-location"][0] == chunk else block

    return da.from_array(X, chunks=(60, -1)).map_blocks(change, dtype=X.dtype, meta=X[:0])


def put(value):
    def change(block):
        block[7, 3] = value
        return block

    return change


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda block: block[:, :3], "block 2 of X has 3 columns and block 0 has 5"),
        (put(np.nan), "block 2 of X contains nan in its row 7, column 3"),
        (put(-np.inf), "block 2 of X contains -inf in its row 7, column 3"),
        (lambda block: block[:, 0], r"block 2 of X has 1 dimension\(s\)"),
        (lambda block: np.full(block.shape, "x"), "block 2 of X cannot be read as numbers"),
        (scipy.sparse.csr_matrix, r"block 2 of X is a csr_matrix; convert .* with toarray\(\)"),
    ],
    ids=["columns", "nan", "infinity", "dimensions", "text", "sparse"],
)
def test_a_bad_chunk_of_samples_is_named(client, how, message):
    with pytest.raises(ValueError, match=message):
        DaskOPFClassifier(client=client).fit(spoiled(2, how), draw("random")[1])
    assert wait_for_no_tasks(client) == 0


def test_a_chunk_that_cannot_be_computed_ends_the_others(client):
    def compute(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 0:
            raise RuntimeError("disk on fire")
        time.sleep(0.2)
        return block

    X, y = draw("random")
    lazy = da.from_array(X, chunks=(20, -1)).map_blocks(compute, dtype=X.dtype, meta=X[:0])
    with pytest.raises(RuntimeError, match="disk on fire") as raised:
        DaskOPFClassifier(client=client).fit(lazy, y)
    assert wait_for_no_tasks(client) == 0
    assert raised.tb is not None  # which keeps all frames of `fit` alive


@pytest.mark.parametrize(
    ("last", "kind", "message"),
    [
        (np.array(["a", "b"] * 60), TypeError, "block 1 of y holds text and block 0 numbers"),
        (np.array(["a", 1] * 60, dtype=object), ValueError, "block 1 of y cannot be used: y mixes text"),
        (np.array([0.0, np.nan] * 60), ValueError, "block 1 of y cannot be used: y has 60 missing"),
    ],
    ids=["other type", "mixed", "missing"],
)
def test_a_bad_chunk_of_labels_is_named(client, last, kind, message):
    X, y = draw("random")
    first = da.from_array(y[:120].astype(object), chunks=120)
    labels = da.concatenate([first, da.from_array(last.astype(object), chunks=120)])
    with pytest.raises(kind, match=message):
        DaskOPFClassifier(client=client).fit(X, labels)


def test_a_bad_partition_is_named(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": pd.array([1, 2, 3, None], dtype="Int64"), "b": [1.0, 2.0, 3.0, 4.0]})
    parts = dd.from_pandas(frame, npartitions=2, sort=False)
    with pytest.raises(ValueError, match="block 1 of X contains nan in its row 1, column 'a'"):
        DaskOPFClassifier(client=client).fit(parts, [0, 0, 1, 1])
    renamed = dd.from_map(
        lambda name: frame[["b"]].rename(columns={"b": name}), ["b", "c"], meta=frame[["b"]]
    )
    with pytest.raises(ValueError, match=r"block 1 of X has the columns \['c'\] and block 0 has \['b'\]"):
        DaskOPFClassifier(client=client).fit(renamed, [0, 0, 1, 1] * 2)


@pytest.mark.parametrize(
    ("labels", "kind", "message"),
    [
        (lambda y: da.from_array(y.reshape(-1, 2), chunks=(60, 1)), ValueError, "block 0 of y .* 1d array"),
        (lambda y: da.from_array(y, chunks=60).sum(), ValueError, "y is a single value"),
        (lambda y: dask.delayed(y), TypeError, "y is a Dask Delayed.*; pass a Dask array"),
        (lambda y: dask.bag.from_sequence(y.tolist()), TypeError, "y is a Dask Bag; pass a Dask array"),
    ],
    ids=["columns", "one", "delayed", "bag"],
)
def test_labels_that_are_no_column_are_refused(client, labels, kind, message):
    X, y = draw("random")
    with pytest.raises(kind, match=message):
        DaskOPFClassifier(client=client).fit(X, labels(y))


def test_chunks_without_samples_are_refused_as_locally(client):
    X, y = da.from_array(np.empty((0, 5)), chunks=5), da.from_array(np.empty(0, dtype=int), chunks=5)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        DaskOPFClassifier(client=client).fit(X, y)


def test_missing_values_reach_transformers_that_take_them(client):
    X, y = draw("random")
    X[5, 2] = np.nan
    params = {**SMALL_SEARCH, "transforms": [SimpleImputer()]}
    model = DaskFuzzyOPFClassifierCV(**params, client=client).fit(da.from_array(X, chunks=60), y)
    same(model.to_local().cv_results_, FuzzyOPFClassifierCV(**params).fit(X, y).cv_results_)


def test_something_else_than_a_client_is_refused():
    with pytest.raises(TypeError, match=r"client='tcp://here' must be a distributed\.Client or None"):
        DaskOPFClassifier(client="tcp://here").fit(*draw("random"))


@pytest.mark.parametrize("is_given", [True, False])
def test_an_asynchronous_client_is_refused(client, is_given):
    async def fit():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as other:
            DaskOPFClassifier(client=other if is_given else None).fit(*draw("random"))

    with pytest.raises(ValueError, match="is asynchronous, and fit waits for its results"):
        asyncio.run(fit())


@every_pair
def test_parameters_are_those_of_the_local_class_and_a_client(on_cluster, local, params):
    expected = {**local().get_params(), "client": None}
    assert on_cluster().get_params() == expected


def test_clones_keep_the_client_and_pickles_do_not(client):
    model = DaskOPFClassifier(beta=4.0, client=client).fit(*draw("random"))
    copied = clone(model)
    assert (copied.client, copied.beta) == (client, 4.0)
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.client, model.client) == (None, client)
    same(loaded.to_local(), model.to_local())
    assert loaded.client_ is client  # the active one


def test_saved_models_are_local(client, tmp_path):
    model = DaskOPFClassifier(client=client).fit(*draw("random"))
    model.save(tmp_path / "model.pf")
    same(pathforest.load(tmp_path / "model.pf"), model.to_local())


def test_grid_search_runs_on_joblibs_dask_backend(client):
    client.wait_for_workers(2)  # with a single one joblib would not bother
    X, y = draw("random")
    search = GridSearchCV(FuzzyOPFClassifier(k_max=5), {"sigma": [0.4, 1.0], "n_conquerors": [1, 5]}, cv=3)
    expected = clone(search).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        search.fit(X, y)
        where = clone(search).set_params(scoring=lambda *_: os.getpid(), refit=False).fit(X, y)
    assert where.cv_results_["split0_test_score"][0] in client.run(os.getpid).values()
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    same(search.best_estimator_, expected.best_estimator_)


@pytest.mark.slow
def test_importing_pathforest_does_not_import_dask():
    code = "import sys, pathforest; pathforest.FuzzyOPFClassifierCV; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"dask", "distributed", "pathforest.dask"} & set(done.stdout.split())
