"""What `OnCluster` takes and refuses, and how it parts with its client."""

import asyncio
import os
import pickle
import threading
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.utils import get_tags

import pathforest
from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFOutlierDetector

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask
import dask.array as da
import dask.bag
import distributed
from checks import same
from dask_cases import N, draw, quiet, search, wait_for_no_tasks

from pathforest.dask import OnCluster, engine, find_issues, load, shards
from pathforest.dask.chunks import is_chunked

pytestmark = quiet


def locked(model, X, y, lock=threading.Lock()):  # noqa: B008
    """A scorer that cannot be pickled."""


locked.__module__ = "__main__"  # so that it would travel by value
plain, X0, y0 = OPFClassifier(), *draw("random")


def spoiled(how):
    """Samples in four chunks, the third changed by a function that Dask's bookkeeping knows nothing of."""

    def change(block, block_info=None):
        return how(block.copy()) if block_info and block_info[0]["chunk-location"][0] == 2 else block

    return da.from_array(X0, chunks=(60, -1)).map_blocks(change, dtype=X0.dtype, meta=X0[:0])


def put(value):
    def change(block):
        block[7, 3] = value
        return block

    return change


def halves(last):
    """Labels in two chunks, numbers and others."""
    first = da.from_array(y0[:120].astype(object), chunks=120)
    return da.concatenate([first, da.from_array(np.array(last * 60, dtype=object), chunks=120)])


def renamed():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"b": [1.0, 2.0, 3.0, 4.0]})
    return dd.from_map(lambda name: frame.rename(columns={"b": name}), ["b", "c"], meta=frame)


def with_gap():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": pd.array([1, 2, 3, None] * 60, dtype="Int64"), "b": 1.0})
    return dd.from_pandas(frame, npartitions=60, sort=False)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "kind", "message"),
    [
        (OPFOutlierDetector(), X0, y0, TypeError, r"Detector\(\) is not for clusters; pass an OPFClassifier"),
        (OPFClassifier(beta=-1), X0, y0, ValueError, "beta=-1 must be"),
        (plain, scipy.sparse.eye(N, 5, format="csr"), y0, ValueError, "no sparse matrix; fit OPFClassifier"),
        (search(scoring=locked), X0, y0, TypeError, "scoring=.* cannot be sent to workers: cannot pickle"),
        (plain, spoiled(lambda block: block[:, :3]), y0, ValueError, "2 .* 3 columns and block 0 .* 5"),
        (plain, spoiled(put(np.nan)), y0, ValueError, "block 2 of X contains nan in its row 7, column 3"),
        (plain, spoiled(put(-np.inf)), y0, ValueError, "block 2 of X contains -inf in its row 7, column 3"),
        (plain, spoiled(lambda block: block[:, 0]), y0, ValueError, r"block 2 of X has 1 dimension\(s\)"),
        (plain, spoiled(lambda b: np.full(b.shape, "x")), y0, ValueError, "2 of X cannot be read as numbers"),
        (plain, spoiled(scipy.sparse.csr_matrix), y0, ValueError, r"a csr_matrix; convert .* toarray\(\)"),
        (plain, with_gap, y0, ValueError, "block 0 of X contains nan in its row 3, column 'a'"),
        (plain, renamed, y0, ValueError, r"has the columns \['c'\] and block 0 has \['b'\]"),
        (plain, da.from_array(X0[:0], chunks=5), y0[:0], ValueError, r"Found array with 0 sample\(s\)"),
        (plain, X0, halves(["a", "b"]), TypeError, "block 1 of y holds text and block 0 numbers"),
        (plain, X0, halves(["a", 1]), ValueError, "block 1 of y cannot be used: y mixes text"),
        (plain, X0, halves([0.0, np.nan]), ValueError, "block 1 of y cannot be used: y has 60 missing"),
        (plain, X0, da.ones((120, 2), chunks=(60, 1)), ValueError, "block 0 of y .* 1d array"),
        (plain, X0, da.ones(9).sum(), ValueError, "y is a single value"),
        (plain, X0, dask.delayed(y0), TypeError, "y is a Dask Delayed.*; pass a Dask array"),
        (plain, X0, dask.bag.from_sequence([1]), TypeError, "y is a Dask Bag; pass a Dask array"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_is_named(client, estimator, X, y, kind, message):
    with pytest.raises(kind, match=message):
        OnCluster(estimator, client).fit(X() if callable(X) else X, y)


@pytest.mark.parametrize(
    ("estimator", "X", "kind", "message"),
    [
        (plain, da.ones((10, 3), chunks=5), ValueError, "X has 3 features, but OPFClassifier is expecting 5"),
        (plain, da.ones(10, chunks=5), ValueError, r"X has 1 dimension\(s\) and must have 2"),
        (plain, dask.delayed(np.ones((10, 5))), TypeError, "X is a Dask Delayed.*; pass a Dask array"),
        (search(refit=False), da.ones((10, 5)), AttributeError, "no attribute .predict"),
    ],
    ids=["features", "dimensions", "collection", "no model"],
)
def test_bad_queries_are_refused_before_anything_is_computed(client, estimator, X, kind, message):
    model = OnCluster(estimator, client).fit(X0, y0)
    with pytest.raises(kind, match=message):
        model.predict(X)


@pytest.mark.parametrize(
    ("X", "params", "kind", "message"),
    [
        (X0, {}, TypeError, "X is a ndarray, not on a cluster; call pathforest.find_issues"),
        (da.ones((9, 2)), {"method": "learned"}, ValueError, "method='learned' needs models of all samples"),
        (da.ones((9, 2)), {"n_conquerors": 0}, ValueError, "n_conquerors=0 must be"),
        (da.ones((9, 2)), {"client": 7}, TypeError, r"client=7 must be a distributed\.Client or None"),
        (da.ones((9, 2)), {}, ValueError, "inconsistent numbers of samples"),
    ],
)
def test_issues_are_not_looked_for_in_what_cannot_be_used(client, X, params, kind, message):
    with pytest.raises(kind, match=message):
        find_issues(X, y0, **params)


def test_groups_are_for_searches():
    with pytest.raises(ValueError, match="groups are for the folds of a search, which OPFClassifier"):
        OnCluster(plain).fit(X0, y0, groups=y0)


def test_a_client_is_needed(monkeypatch):
    monkeypatch.setattr(distributed.client, "_get_global_client", lambda: None)
    with pytest.raises(ValueError, match=r"no Dask client is active; make one with distributed\.Client"):
        OnCluster(plain).fit(X0, y0)
    with pytest.raises(TypeError, match=r"client='tcp://here' must be a distributed\.Client or None"):
        OnCluster(plain, "tcp://here").fit(X0, y0)


@pytest.mark.parametrize("is_given", [True, False])
def test_an_asynchronous_client_is_refused(client, is_given):
    async def connect():
        for _ in range(9):  # distributed may find two messages where it expects one
            with suppress(AssertionError):
                return await distributed.Client(client.scheduler.address, asynchronous=True)

    async def fit():
        async with await connect() as other:
            OnCluster(plain, other if is_given else None).fit(X0, y0)

    with pytest.raises(ValueError, match="is asynchronous, and fit waits for its results"):
        asyncio.run(fit())


@pytest.mark.parametrize("block_rows", [60, N], ids=["many", "one"])
def test_a_client_that_is_not_the_active_one_is_used(client, block_rows, monkeypatch):
    monkeypatch.setattr("pathforest.dask.engine.BLOCK_BYTES", block_rows * 5 * 8)
    lazy = da.from_array(X0, chunks=100)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        monkeypatch.setattr(distributed.client, "_get_global_client", lambda: None)
        model = OnCluster(plain, other).fit(lazy, y0)
        answers, local = other.compute(model.predict(lazy)).result(), model.to_local()
    same(local, OPFClassifier().fit(X0, y0))
    np.testing.assert_array_equal(answers, local.predict(X0))


def test_it_shows_what_scikit_learn_asks_for(client):
    estimator = FuzzyOPFClassifier(metric="gower")
    model = OnCluster(estimator, client).set_params(estimator__beta=4.0)
    copied = clone(model)
    assert (copied.client, copied.estimator.beta) == (client, 4.0)
    assert copied.estimator is not estimator
    expected = get_tags(estimator)
    expected.input_tags.sparse = False
    assert get_tags(model) == expected
    local = model.fit(X0, y0).to_local()
    assert model.score(X0, y0) == local.score(X0, y0)
    assert (model.n_features_in_, model.classes_.tolist()) == (5, [0, 1, 2])


def test_pickles_and_files_do_not_keep_the_client(client, tmp_path):
    model = OnCluster(plain, client).fit(X0, y0)
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.client, model.client, loaded.client_) == (None, client, client)
    same(loaded.to_local(), model.to_local())
    model.save(tmp_path / "model.pf")
    same(pathforest.load(tmp_path / "model.pf"), model.to_local())


@pytest.mark.parametrize("estimator", [plain, OPFClustering(n_neighbors=5)], ids=["classes", "clusters"])
def test_a_folder_has_the_model_in_shards_that_workers_read(client, many_blocks, tmp_path, estimator):
    lazy, folder = da.from_array(X0, chunks=(50, -1)), tmp_path / "model"
    model = OnCluster(estimator, client).fit(lazy, None if estimator is not plain else y0)
    for _ in range(2):  # the second replaces the first
        model.save(folder)
    assert len(list(folder.iterdir())) == 1 + len(model._fit_model._fit_X.rows) > 2
    local, loaded = model.to_local(), load(folder, client)
    assert is_chunked(loaded._fit_model)
    for got in (pathforest.load(folder), loaded.to_local()):
        same(got, local)
    np.testing.assert_array_equal(loaded.predict(lazy).compute(), local.predict(X0))


def test_what_is_wrong_with_a_folder_is_said_and_leaves_the_one_before(
    client, many_blocks, tmp_path, monkeypatch
):
    model, folder = OnCluster(plain, client).fit(da.from_array(X0, chunks=(50, -1)), y0), tmp_path / "model"
    model.save(folder)
    rename = os.rename
    for module, name, broken in (
        (shards, "write", lambda *args, **kwargs: 1 / 0),
        (shards.os, "rename", lambda old, new: 1 / 0 if str(old).endswith(".tmp") else rename(old, new)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, broken)
            with pytest.raises(ZeroDivisionError):
                model.save(folder)
        assert os.listdir(tmp_path) == ["model"]
    same(pathforest.load(folder), model.to_local())
    (tmp_path / "mine").write_text("kept")
    for place in (tmp_path, tmp_path / "mine"):
        with pytest.raises(FileExistsError, match="neither a new folder nor one of a model"):
            model.save(place)
    shard = next(folder.glob("samples-*"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")
    for read in (pathforest.load, partial(load, client=client)):
        with pytest.raises(ValueError, match="damaged: its checksum does not match"):
            read(folder)


def test_a_fit_goes_on_from_lists_in_files_and_only_from_its_own(client, many_blocks, tmp_path, monkeypatch):
    lazy, cluster = da.from_array(X0, chunks=(50, -1)), partial(OnCluster, client=client)
    expected, places, begun = OPFClassifier().fit(X0, y0), {"spill_folder": tmp_path / "a"}, []
    same(cluster(plain, **places).fit(lazy, y0).to_local(), expected)
    files = sorted((tmp_path / "a").glob("lists-*"))
    files[1].unlink()
    go_round = engine.go_round
    monkeypatch.setattr(engine, "go_round", lambda *args: begun.append(args[2]) or go_round(*args))
    same(cluster(plain, **places).fit(lazy, y0).to_local(), expected)
    assert (len(begun), sorted((tmp_path / "a").glob("lists-*"))) == (1, files)
    longer = FuzzyOPFClassifier(competition="tree", n_neighbors=15)
    for other, estimator in ((lazy + 1, plain), (lazy, OPFClassifier(metric="manhattan")), (lazy, longer)):
        with pytest.raises(ValueError, match="has lists of other samples, another metric"):
            cluster(estimator, **places).fit(other, y0)
    clusters = OPFClustering(n_neighbors=5)
    same(cluster(clusters, spill_folder=tmp_path / "b").fit(lazy).to_local(), clone(clusters).fit(X0))


def test_a_fit_says_how_many_pairs_are_done_and_what_has_moved(client, many_blocks, monkeypatch):
    said = []
    monkeypatch.setattr("pathforest.dask.chunks.note", said.append)
    OnCluster(plain, client).fit(da.from_array(X0, chunks=(50, -1)), y0)
    assert said[-1] == "5.8e+04 of 5.8e+04 pairs, 0.0 GB moved, 0 s left"
    assert len(set(said)) > 2


def test_a_fit_leaves_nothing_on_the_cluster(mortal, many_blocks):
    model = OnCluster(search(), mortal).fit(da.from_array(X0, chunks=50), da.from_array(y0, chunks=60))
    assert wait_for_no_tasks(mortal) == []
    assert model.classes_.tolist() == [0, 1, 2]
