"""On a cluster estimators learn and answer what they do here, bit for bit, whatever chunks and blocks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask.array as da
import distributed
from checks import same
from dask import is_dask_collection
from dask_cases import ESTIMATORS, N, draw, hostile, quiet, search, shown_on

from pathforest.dask import OnCluster, find_issues
from pathforest.dask import engine as dask_engine
from pathforest.dask import prediction as dask_prediction
from pathforest.dask import search as dask_search
from pathforest.dask.chunks import ChunkedSamples, is_chunked, must_gather

pytestmark = quiet

CHUNKS = [
    ((N,), (5,)),
    ((100, 140), (2, 3)),
    ((1, 7, 200, 32), (5,)),
    ((60,) * 4, (1, 4)),
    ((*range(1, 16), N - 120), (5,)),
]
METHODS = "predict", "predict_proba", "class_costs"


def equal_fits(client, estimator, X, y, *groups):
    expected = clone(estimator).fit(*(np.asarray(one) for one in (X, y, *groups)))
    model = OnCluster(estimator, client).fit(X, y, *groups)
    stays = is_dask_collection(X) and must_gather(estimator) is None and len(X) > 1
    assert is_chunked(model._fit_model) == stays
    same(model.to_local(), expected)
    return model, expected


# Fits


@pytest.mark.parametrize("name", ["plain", "complete", "fixed", "search"])
@pytest.mark.parametrize(
    ("kind", "dtype", "chunks"),
    [
        ("random", np.float32, CHUNKS[0]),
        ("tied", np.float64, CHUNKS[1]),
        ("tied", np.float32, CHUNKS[2]),
        ("duplicated", np.float64, CHUNKS[3]),
        ("far apart", np.float64, CHUNKS[0]),
        ("far apart", np.float64, CHUNKS[3]),
        ("tied", np.float64, CHUNKS[4]),
    ],
    ids=["random", "tied64", "tied32", "duplicated", "far apart", "far apart in chunks", "many"],
)
def test_fitted_arrays_are_those_of_the_local_class(client, many_blocks, name, kind, dtype, chunks):
    X, y = draw(kind, dtype)
    equal_fits(client, ESTIMATORS[name], da.from_array(X, chunks=chunks), da.from_array(y, chunks=50))


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize(
    ("n", "block_rows", "chunks"),
    # One row: a task for each pair of samples.
    [(N, 30, CHUNKS[0]), (N, 100, CHUNKS[1]), (N, N, CHUNKS[2]), (12, 1, 5), (1, 60, 1), (3, 60, 1)],
)
def test_neither_chunks_nor_blocks_nor_engines_matter(client, monkeypatch, algorithm, n, block_rows, chunks):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", block_rows * 5 * 8)
    X, y = draw("tied", n=n)
    equal_fits(client, FuzzyOPFClassifier(algorithm=algorithm, k_max=8), da.from_array(X, chunks=chunks), y)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "minkowski", "correlation", "precomputed"])
def test_every_kind_of_metric_gives_the_local_model(client, many_blocks, metric):
    X, y = draw("random")
    X = pairwise_distances(X) if metric == "precomputed" else X
    estimator = OPFClassifier(metric=metric, metric_params={"p": 3} if metric == "minkowski" else None)
    model, expected = equal_fits(client, estimator, da.from_array(X, chunks=(70, -1)), y)
    answers = model.predict(da.from_array(X[:9], chunks=(4, 2)))
    np.testing.assert_array_equal(answers.compute(), expected.predict(X[:9]))


def bytes_here(value):
    """The size of all arrays that an object holds at the client."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, ChunkedSamples):
        value = vars(value).values()
    elif not isinstance(value, list | tuple):
        return 0
    return sum(map(bytes_here, value))


@pytest.mark.parametrize("name", ["plain", "fixed"])
def test_a_client_keeps_at_most_100_bytes_for_each_sample_and_gathers_no_more(client, many_blocks, name):
    X, y = draw("tied")
    model = OnCluster(ESTIMATORS[name], client, gather_limit=0).fit(da.from_array(X, chunks=50), y)
    model.predict(da.from_array(X[:9], chunks=9)).compute()
    kept = {name: value for name, value in vars(model._fit_model).items() if name != "label_"}
    assert bytes_here(kept) <= 100 * N


def test_what_needs_all_samples_is_refused_above_a_limit(client, monkeypatch):
    X, y = draw("random")
    lazy = da.from_array(X, chunks=(60, -1))
    unknown = lazy[lazy[:, 0] > -99].map_blocks(np.asarray, dtype=X.dtype, meta=X[:0])
    limited = OnCluster(FuzzyOPFClassifier(), client, gather_limit=X.nbytes - 1)
    for collection in (unknown, lazy):
        with pytest.raises(ValueError, match=r"gather 9\.6e\+03 bytes .* use competition='tree' and n_n"):
            limited.fit(collection, y)
    limited.set_params(gather_limit=X.nbytes).fit(lazy, y)
    monkeypatch.setattr(distributed.Client, "compute", None)  # nothing is computed before
    with pytest.raises(ValueError, match="raise gather_limit"):
        limited.set_params(gather_limit=0).fit(lazy, y)


@pytest.mark.parametrize("kind", ["random", "tied", "duplicated"])
@pytest.mark.parametrize(
    ("chunks", "params"), [(N, {"n_neighbors": 7, "noise": 0.1}), (CHUNKS[4][0], {"noise": "auto"})]
)
def test_clusters_are_those_of_the_local_class(client, many_blocks, kind, chunks, params):
    (X, _), estimator = draw(kind), OPFClustering(**params)
    lazy, expected = da.from_array(X, chunks=(chunks, -1)), clone(estimator).fit(X)
    model = OnCluster(estimator, client, gather_limit=0).fit(lazy)
    assert is_chunked(model._fit_model)
    same((model.to_local(), model.labels_), (expected, expected.labels_))
    queries = np.concatenate([X, X + 0.5])
    answers = model.predict(da.from_array(queries, chunks=100))
    np.testing.assert_array_equal(answers.compute(), expected.predict(queries))
    np.testing.assert_array_equal(model.predict(queries), expected.predict(queries))


def test_workers_compute_on_a_device(client, many_blocks, monkeypatch):
    from torch_device import DEVICE

    monkeypatch.setattr(dask_engine, "DEVICE_BLOCK_BYTES", 60 * 5 * 4)
    for kind, name in [("far apart", "plain"), ("tied", "fixed")]:
        X, y = draw(kind, np.float32)
        lazy, estimator = (
            da.from_array(X, chunks=(100, -1)),
            clone(ESTIMATORS[name]).set_params(device=DEVICE),
        )
        model, expected = equal_fits(client, estimator, lazy, y)
        np.testing.assert_array_equal(model.predict(lazy).compute(), expected.predict(X))
        found = find_issues(lazy, y, device=DEVICE)
        same(found, pathforest.find_issues(X, y, method="fast"), left_out=("_X",))
    clusters = OPFClustering(n_neighbors=7, device=DEVICE)
    same(OnCluster(clusters, client).fit(lazy).to_local(), clone(clusters).fit(X))


# Issues


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["random", "tied", "duplicated"])
@pytest.mark.parametrize(
    ("chunks", "large", "n_conquerors"),
    [(N, 200, 13), ((1, 7, 200, 32), 10, 1), pytest.param(CHUNKS[4][0], 10, N, marks=pytest.mark.ci)],
)
def test_issues_are_found_as_here(client, many_blocks, monkeypatch, kind, dtype, chunks, large, n_conquerors):
    for module in ("offers", "leave_one_out"):
        monkeypatch.setattr(f"pathforest._models.{module}.LARGE", large)
    monkeypatch.setattr("pathforest.dask.issues.TASK_BYTES", 2**15)
    X, y = hostile(kind)
    X = X.astype(dtype)
    lazy = da.from_array(X, chunks=(chunks, -1))
    unknown = lazy[lazy[:, 0] > -99].map_blocks(np.asarray, dtype=dtype, meta=X[:0])
    found = find_issues(unknown, da.from_array(y, chunks=50), n_conquerors=n_conquerors, gather_limit=0)
    expected = pathforest.find_issues(X, y, method="fast", n_conquerors=n_conquerors)
    same(found, expected, left_out=("_X",))  # which stay on the cluster


def test_issues_of_one_class_and_of_what_must_be_gathered(client, many_blocks):
    X, _ = draw("tied")
    lazy, y = da.from_array(X, chunks=(60, -1)), np.ones(N)
    same(find_issues(lazy, y), pathforest.find_issues(X, y, method="fast"), left_out=("_X",))
    same(find_issues(lazy, y, metric="gower"), pathforest.find_issues(X, y, method="fast", metric="gower"))
    with pytest.raises(ValueError, match=r"find_issues would gather 9\.6e\+03 bytes .* metric='gower' needs"):
        find_issues(lazy, y, metric="gower", gather_limit=0)


# Searches


def rising(X, y):
    return np.linspace(0, 1, len(X))


def manhattan(a, b):
    return np.abs(a - b).sum()


@pytest.fixture
def blocks(monkeypatch):
    """How many blocks of evaluation samples the tasks of searches have."""
    found, divide = [], dask_search.evaluation_blocks
    monkeypatch.setattr(
        dask_search, "evaluation_blocks", lambda *args: found.append(len(it := divide(*args))) or it
    )
    return found


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("random", {}),
        ("duplicated", {"scoring": "balanced_accuracy"}),
        ("tied", {"scoring": "neg_log_loss"}),
        ("tied", {"transforms": [None, StandardScaler()]}),
        ("tied", {"transforms": "auto"}),
        ("tied", {"cv": 4}),
        ("tied", {"cv": ShuffleSplit(1, train_size=0.3, random_state=0)}),
        ("tied", {"membership": rising}),
        ("tied", {"metric": manhattan}),
        ("tied", {"n_best": 1}),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value),
)
def test_every_kind_of_search_is_that_of_the_local_class(client, blocks, kind, params):
    equal_fits(client, search(n_conquerors=(1, 4), betas=(1, 8), **params), *hostile(kind))
    assert min(blocks) > 1 or {"transforms", "metric"} & params.keys()


def test_distances_missing_values_and_groups_reach_what_takes_them(client):
    X, y = hostile("random")
    equal_fits(client, search(metric="precomputed"), pairwise_distances(X), y)
    X[5, 2] = np.nan
    groups = da.from_array(np.arange(N) % 4 + 0.5, chunks=100)
    expected = search(transforms=[SimpleImputer()], cv=GroupKFold(2))
    equal_fits(client, expected, da.from_array(X, chunks=60), y, groups)


@pytest.mark.parametrize(
    ("name", "value", "n", "found"),
    [
        ("engine.TASK_SECONDS", 1e-9, 24, [12, 12]),
        ("search.NEAR_BYTES", 120 * 4 * (4 + 2) * 12 - 1, N, [0, 0]),
    ],
    ids=["blocks of one sample", "neighbours too many to travel"],
)
def test_blocks_of_evaluation_samples_change_nothing(client, blocks, monkeypatch, name, value, n, found):
    monkeypatch.setattr(f"pathforest.dask.{name}", value)
    equal_fits(client, search(n_conquerors=(1, 4)), *hostile("tied", n))
    assert blocks == found


# Answers


@pytest.fixture(params=[1, 3], ids=["whole", "parts"])
def n_parts(request, monkeypatch):
    """Into how many parts a model is divided."""
    monkeypatch.setattr(dask_prediction, "count_parts", lambda client, model: request.param)


def with_queries(kind, n=N):
    X, y = hostile(kind, n)
    return X, y, np.concatenate([X[: n // 2], X[: n // 4] + 0.5])


def fail(block):
    raise RuntimeError("computed")


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", ["tied", "duplicated"])
def test_answers_are_lazy_and_right(client, n_parts, name, kind):
    X, y, queries = with_queries(kind)
    expected = clone(ESTIMATORS[name]).fit(X, y)
    model, chunked = shown_on(client, expected), da.from_array(queries, chunks=(70, 2))
    for method in METHODS:
        ask, values = getattr(model, method), getattr(expected, method)(queries)
        ask(chunked.map_blocks(fail, dtype=X.dtype, meta=X[:0]))
        got = ask(chunked)
        assert (got.shape, got.dtype, got.chunks[0]) == (values.shape, values.dtype, chunked.chunks[0])
        np.testing.assert_array_equal(got.compute(), values)
        np.testing.assert_array_equal(ask(queries), values)


@pytest.mark.parametrize("method", METHODS)
def test_answers_for_frames_have_their_index(client, n_parts, method):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y, _ = with_queries("tied")
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(N)[::-1])
    labels = pd.Series(y, name="breakfast")
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    model = OnCluster(OPFClassifier(), client).fit(lazy, dd.from_pandas(labels, npartitions=2))
    expected = OPFClassifier().fit(frame, labels)
    same(model.to_local(), expected)
    values, answers = getattr(expected, method)(frame), getattr(model, method)(lazy)
    got = answers.compute()
    if method == "predict":
        pd.testing.assert_series_equal(got, pd.Series(values, frame.index, got.dtype, method))
        assert answers.dtype == got.dtype
    else:
        pd.testing.assert_frame_equal(got, pd.DataFrame(values, frame.index, expected.classes_))
        assert answers.dtypes.tolist() == got.dtypes.tolist()
    assert len(getattr(model, method)(lazy[lazy["a"] > 100]).compute()) == 0


@pytest.mark.parametrize("method", METHODS)
def test_chunks_may_have_unknown_sizes_or_be_empty(client, many_blocks, n_parts, method):
    X, y = draw("tied")
    kept = (X[:, 0] > 0) & (np.arange(N) >= 60)  # the first chunk is left empty
    lazy_X, lazy_kept = da.from_array(X, chunks=(60, 2)), da.from_array(kept, chunks=60)
    lazy_y = da.from_array(y, chunks=40)[lazy_kept.rechunk(40)]
    model = OnCluster(OPFClassifier(), client).fit(lazy_X[lazy_kept], lazy_y)
    expected = OPFClassifier().fit(X[kept], y[kept])
    same(model.to_local(), expected)
    answers = getattr(model, method)(lazy_X[lazy_kept]).compute()
    np.testing.assert_array_equal(answers, getattr(expected, method)(X[kept]))


def test_parts_check_queries_as_the_whole_model_does(client, n_parts):
    X, y, queries = with_queries("random")
    expected = OPFClassifier().fit(X.astype(np.float32), y)  # which would round the queries
    model = shown_on(client, expected)
    got = model.class_costs(da.from_array(queries, chunks=100)).compute()
    np.testing.assert_array_equal(got, expected.class_costs(queries))
    queries[5, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(da.from_array(queries, chunks=50)).compute()


@pytest.mark.parametrize(("memory", "n_parts"), [(np.inf, 1), (8, 1), (7.9, 2), (2, 4), (1.9, 6), (1e-9, N)])
def test_a_model_is_divided_if_its_samples_need_an_eighth_of_the_memory(client, monkeypatch, memory, n_parts):
    X, y, queries = with_queries("random")
    model, sent, divide = OPFClassifier().fit(X, y), [], dask_prediction.divide
    monkeypatch.setattr(dask_prediction, "worker_memory", lambda client: memory * X.nbytes)
    monkeypatch.setattr(dask_prediction, "divide", lambda *args: sent.extend(divide(*args)) or sent)
    shown_on(client, model).predict(da.from_array(queries, chunks=50))
    assert len(sent) == (n_parts if n_parts > 1 else 0)
    assert {len(part.shards[0].forest.samples.X) for part in sent} <= {N // n_parts}


@pytest.mark.parametrize("metric", ["precomputed", "correlation"])
def test_models_that_need_all_distances_stay_whole(client, monkeypatch, metric):
    X, y, _ = with_queries("random")
    X = pairwise_distances(X) if metric == "precomputed" else X
    monkeypatch.setattr(dask_prediction, "worker_memory", lambda client: 1)
    assert dask_prediction.count_parts(client, OPFClassifier(metric=metric).fit(X, y)) == 1
