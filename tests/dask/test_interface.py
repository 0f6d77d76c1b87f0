"""The classes of a cluster take the parameters of the local ones, a client, and part with it again."""

import asyncio
import os
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import pathforest
from pathforest import FuzzyOPFClassifier, OPFClassifier

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask.array as da
import distributed
from checks import same
from dask_cases import draw, every_pair, quiet

from pathforest.dask import DaskFuzzyOPFClassifier, DaskOPFClassifier

pytestmark = quiet


def test_without_a_client_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setattr(distributed.client, "_get_global_client", lambda: None)
    with pytest.raises(ValueError, match=r"no Dask client is active; make one with distributed\.Client"):
        DaskOPFClassifier().fit(*draw("random"))


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


def test_another_device_is_refused(client):
    with pytest.raises(ValueError, match=r"device='cuda' is not for clusters; use device='cpu'"):
        DaskOPFClassifier(client=client, device="cuda").fit(*draw("random"))


@pytest.mark.parametrize("on_cluster", [DaskOPFClassifier, DaskFuzzyOPFClassifier])
@pytest.mark.parametrize("change", ["partial_fit", "forget", "set_labels"])
def test_models_that_do_not_grow_say_so_when_asked(on_cluster, change):
    assert not hasattr(on_cluster(), change)
    with pytest.raises(AttributeError, match=r"does not grow; use pathforest\.\w*OPFClassifier"):
        getattr(on_cluster(), change)


@every_pair
def test_parameters_are_those_of_the_local_class_and_a_client(on_cluster, local, params):
    expected = {**local().get_params(), "client": None}
    assert on_cluster().get_params() == expected


def test_clones_keep_the_client(client):
    copied = clone(DaskOPFClassifier(beta=4.0, client=client))
    assert (copied.client, copied.beta) == (client, 4.0)


def test_pickles_do_not_keep_the_client(client):
    model = DaskOPFClassifier(client=client).fit(*draw("random"))
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
