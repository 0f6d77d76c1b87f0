"""Dask collections of every kind are taken, and those that cannot be used are named before anything moves."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.impute import SimpleImputer

from pathforest import FuzzyOPFClassifierCV, OPFClassifier

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask
import dask.array as da
import dask.bag
import distributed
from checks import same
from dask_cases import SMALL_SEARCH, N, draw, quiet, wait_for_no_tasks

from pathforest.dask import DaskFuzzyOPFClassifierCV, DaskOPFClassifier

pytestmark = quiet


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


def test_missing_values_reach_transformers_that_take_them(client):
    X, y = draw("random")
    X[5, 2] = np.nan
    params = {**SMALL_SEARCH, "transforms": [SimpleImputer()]}
    model = DaskFuzzyOPFClassifierCV(**params, client=client).fit(da.from_array(X, chunks=60), y)
    same(model.to_local().cv_results_, FuzzyOPFClassifierCV(**params).fit(X, y).cv_results_)


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
    with pytest.raises(AttributeError, match=r"no attribute .predict"):
        model.predict(da.from_array(X, chunks=70))


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
    assert wait_for_no_tasks(client) == []


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


def test_a_partition_with_missing_values_is_named(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": pd.array([1, 2, 3, None], dtype="Int64"), "b": [1.0, 2.0, 3.0, 4.0]})
    parts = dd.from_pandas(frame, npartitions=2, sort=False)
    with pytest.raises(ValueError, match="block 1 of X contains nan in its row 1, column 'a'"):
        DaskOPFClassifier(client=client).fit(parts, [0, 0, 1, 1])


def test_a_partition_with_other_columns_is_named(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"b": [1.0, 2.0, 3.0, 4.0]})
    renamed = dd.from_map(lambda name: frame.rename(columns={"b": name}), ["b", "c"], meta=frame)
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
