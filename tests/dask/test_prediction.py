"""A model divided among the workers answers as the whole one does."""

import os
import signal

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV, OPFClassifier

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask.array as da
import distributed
from dask_cases import PAIRS, SMALL_SEARCH, N, draw, quiet

from pathforest.dask import DaskFuzzyOPFClassifierCV, DaskOPFClassifier
from pathforest.dask import prediction as dask_prediction
from pathforest.dask.estimators import _take_state

pytestmark = [*quiet, pytest.mark.filterwarnings("ignore:The least populated class")]

METHODS = "predict", "predict_proba", "class_costs"
SEARCHES = [
    (DaskFuzzyOPFClassifierCV, FuzzyOPFClassifierCV, {**SMALL_SEARCH, "n_best": 1}),
    (
        DaskFuzzyOPFClassifierCV,
        FuzzyOPFClassifierCV,
        {**SMALL_SEARCH, "transforms": [None, StandardScaler()], "n_best": 12},
    ),
]
several = (DaskOPFClassifier, OPFClassifier, {"n_conquerors": 5})
every_model = pytest.mark.parametrize(
    ("on_cluster", "local", "params"),
    [*PAIRS, *SEARCHES, several],
    ids=["plain", "complete", "tree", "search", "best", "transforms", "conquerors"],
)


def divide_into(monkeypatch, n_parts):
    monkeypatch.setattr(dask_prediction, "count_parts", lambda client, model: n_parts)


def fitted(client, on_cluster, local, params, X, y):
    """Fit the local class and show it as one of the cluster, whose fits are equal."""
    model = local(**params).fit(X, y)
    return _take_state(on_cluster(**params, client=client), model), model


def hostile(kind, n=N):
    X, y = draw(kind, n=n)
    y[0] = 3  # a class of one sample
    queries = np.concatenate([X[: n // 2], X[: n // 4] + 0.5])
    return X, np.array(["ham", "eggs", "spam", "bacon"])[y], queries


@every_model
@pytest.mark.parametrize("kind", ["tied", "duplicated"])
def test_parts_answer_as_the_whole_model(client, monkeypatch, on_cluster, local, params, kind):
    divide_into(monkeypatch, 3)
    X, y, queries = hostile(kind)
    model, expected = fitted(client, on_cluster, local, params, X, y)
    for method in METHODS:
        got = getattr(model, method)(da.from_array(queries, chunks=(70, 2)))
        values = getattr(expected, method)(queries)
        assert (got.shape, got.dtype) == (values.shape, values.dtype)
        np.testing.assert_array_equal(got.compute(), values)


def test_parts_of_one_sample_answer_as_the_whole_model(client, monkeypatch):
    X, y, queries = hostile("tied", 12)
    divide_into(monkeypatch, len(X))
    model, expected = fitted(client, *several, X, y)
    for method in METHODS:
        got = getattr(model, method)(da.from_array(queries, chunks=(1, -1))).compute()
        np.testing.assert_array_equal(got, getattr(expected, method)(queries))


def test_parts_take_queries_that_float32_would_round(client, monkeypatch):
    divide_into(monkeypatch, 3)
    X, y, queries = hostile("random")
    model, expected = fitted(client, *several, X.astype(np.float32), y)
    got = model.class_costs(da.from_array(queries, chunks=100)).compute()
    np.testing.assert_array_equal(got, expected.class_costs(queries))


@pytest.fixture
def own_client():
    """A cluster for frames, whose scheduler logs messages with the futures in them, which keeps these."""
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.mark.parametrize("method", METHODS)
def test_parts_keep_the_index_of_frames(own_client, monkeypatch, method):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y, _ = hostile("tied")
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(N)[::-1])
    model, expected = fitted(own_client, *several, frame, y)
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    whole = own_client.compute(getattr(model, method)(lazy)).result()
    divide_into(monkeypatch, 3)
    parts = own_client.compute(getattr(model, method)(lazy)).result()
    np.testing.assert_array_equal(parts, getattr(expected, method)(frame))
    compare = pd.testing.assert_series_equal if parts.ndim == 1 else pd.testing.assert_frame_equal
    compare(parts, whole)


@pytest.mark.parametrize("method", METHODS)
def test_parts_take_chunks_of_unknown_size_and_empty_ones(client, monkeypatch, method):
    divide_into(monkeypatch, 3)
    X, y, _ = hostile("random")
    model, expected = fitted(client, *several, X, y)
    kept = (X[:, 0] > 0) & (np.arange(N) >= 60)  # the first chunk is left empty
    lazy = da.from_array(X, chunks=(60, -1))[da.from_array(kept, chunks=60)]
    np.testing.assert_array_equal(getattr(model, method)(lazy).compute(), getattr(expected, method)(X[kept]))


def test_parts_refuse_samples_that_the_whole_model_refuses(client, monkeypatch):
    divide_into(monkeypatch, 3)
    X, y, queries = hostile("random")
    model, _ = fitted(client, *several, X, y)
    queries[5, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(da.from_array(queries, chunks=50)).compute()


def test_a_model_that_does_not_fit_is_sent_in_parts(client, monkeypatch):
    client.wait_for_workers(2)
    X, y, queries = hostile("random")
    model, _ = fitted(client, *several, X, y)
    sent, divide = [], dask_prediction.divide
    monkeypatch.setattr(dask_prediction, "worker_memory", lambda client: 8 * X.nbytes / 3)
    monkeypatch.setattr(dask_prediction, "divide", lambda *args: sent.extend(divide(*args)) or sent)
    model.predict(da.from_array(queries, chunks=50))
    assert [len(part.classifiers[0]._fit_X) for part in sent] == [N // 4] * 4


@pytest.mark.parametrize(("memory", "n_parts"), [(np.inf, 1), (8, 1), (7.9, 2), (2, 4), (1.9, 6), (1e-9, N)])
def test_a_model_is_divided_if_its_samples_need_an_eighth_of_the_memory(client, monkeypatch, memory, n_parts):
    client.wait_for_workers(2)
    X, y, _ = hostile("random")
    monkeypatch.setattr(dask_prediction, "worker_memory", lambda client: memory * X.nbytes)
    assert dask_prediction.count_parts(client, OPFClassifier().fit(X, y)) == n_parts


@pytest.mark.parametrize("metric", ["precomputed", "correlation"])
def test_models_that_need_all_distances_stay_whole(client, monkeypatch, metric):
    X, y, _ = hostile("random")
    X = pairwise_distances(X) if metric == "precomputed" else X
    monkeypatch.setattr(dask_prediction, "worker_memory", lambda client: 1)
    assert dask_prediction.count_parts(client, OPFClassifier(metric=metric).fit(X, y)) == 1


def test_memory_is_that_of_the_workers(client):
    limits = {worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()}
    assert dask_prediction.worker_memory(client) == min(limits) > 2**20


def test_samples_that_models_of_a_search_share_are_counted_and_sent_once(client):
    X, y, _ = hostile("random")
    model = FuzzyOPFClassifierCV(**SMALL_SEARCH).fit(X, y)
    part, *_ = dask_prediction.divide(model, 2)
    assert len({id(one._fit_X) for one in part.classifiers}) == 1
    assert part.__sizeof__() - object.__sizeof__(part) == X.nbytes


def deadly(values, place, nth):
    """Return an array; the process that reads it from a message for the n-th time dies of it."""

    class Deadly(np.ndarray):  # in a function, so that messages bring the code and nothing has to be imported
        def __reduce_ex__(self, protocol):
            return read, (np.asarray(self),)

    def read(values):
        count = 1
        while (place / str(count)).exists():
            count += 1
        (place / str(count)).touch(exist_ok=False)
        if count == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return values.view(Deadly)

    return values.view(Deadly)


@pytest.mark.parametrize(
    ("n_parts", "nth"),
    [(1, 1), (1, 2), (2, 4)],
    ids=["sent", "copied", "parts"],
)
def test_a_worker_that_dies_of_the_model_does_not_stop_predictions(
    client, monkeypatch, tmp_path, n_parts, nth
):
    client.wait_for_workers(2)
    divide_into(monkeypatch, n_parts)
    X, y, queries = hostile("random")
    model, expected = fitted(client, *several, X, y)
    model.classes_ = deadly(model.classes_, tmp_path, nth)
    answers = model.predict(da.from_array(queries, chunks=50))
    assert (tmp_path / str(nth)).exists()
    np.testing.assert_array_equal(answers.compute(), expected.predict(queries))
