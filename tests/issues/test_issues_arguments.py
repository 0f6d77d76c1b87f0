"""Arguments that find_issues cannot use are refused by name."""

import numpy as np
import pytest

from pathforest import find_issues

X, Y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "slow"}, ValueError, "method='slow' is unknown; use one of 'fast', 'thorough'"),
        ({"n_conquerors": 0}, ValueError, "n_conquerors=0 must be at least 1"),
        ({"n_conquerors": 2.5}, TypeError, "n_conquerors=2.5 must be an integer"),
        ({"metric": "nearness"}, ValueError, "metric='nearness' is unknown"),
        (
            {"metric": "cosine", "algorithm": "tree"},
            ValueError,
            "algorithm='tree' does not know metric='cosine'",
        ),
        ({"device": "tpu"}, ValueError, "device='tpu' is unknown"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 leaves no thread"),
        ({"random_state": "x"}, ValueError, "random_state='x' cannot seed"),
    ],
)
def test_parameters_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        find_issues(X, Y, **options)


def test_labels_must_be_there():
    with pytest.raises(ValueError, match="find_issues requires y to be passed"):
        find_issues(X, None)
    with pytest.raises(ValueError, match="missing"):
        find_issues(X, [0, 0, None, 1, 1, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        find_issues(X, Y[1:])


def test_collections_of_dask_are_refused():
    array = pytest.importorskip("dask.array", reason="needs Dask")
    with pytest.raises(TypeError, match=r"not a Dask Array; pass X.compute\(\)"):
        find_issues(array.from_array(X), Y)


def test_samples_and_labels_are_left_alone():
    samples, labels = X.copy(), np.array(Y)
    samples.flags.writeable = labels.flags.writeable = False
    find_issues(samples, labels)
