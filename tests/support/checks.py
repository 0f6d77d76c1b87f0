"""Deep comparisons of arrays, of models and of what models answer."""

from types import FunctionType

import numpy as np


def same_arrays(got, expected):
    """Equal shapes and values, bit for bit up to the sign of zero."""
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(e))
        assert np.shape(g) == np.shape(e)


# What decides how a model computes and what it keeps for that, never what it answers.
HOW = ("algorithm", "n_jobs", "device", "verbose", "_fit_algorithm", "_fit_cache", "_fit_grown")
ANSWERS = ("predict", "predict_proba", "class_costs", "score_samples")


def same(got, expected, where="it", left_out=("_fit_cache", "_fit_grown"), memory=False):
    """Equal bit for bit all the way down, but what is left out; with `memory` in layout and writability."""
    if got is expected:
        return
    assert type(got) is type(expected), where
    deeper = {"left_out": left_out, "memory": memory}
    if isinstance(expected, np.ndarray):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), where
        if memory:
            assert got.flags.writeable == expected.flags.writeable, where
            assert not expected.flags.forc or got.flags.c_contiguous == expected.flags.c_contiguous, where
        if isinstance(expected, np.ma.MaskedArray):
            np.testing.assert_array_equal(got.mask, expected.mask, err_msg=where)
            got, expected = got.data, expected.data
        if expected.dtype == object:
            same(got.tolist(), expected.tolist(), where, **deeper)
        np.testing.assert_array_equal(got, expected, err_msg=where)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys(), where
        for key in expected:
            same(got[key], expected[key], f"{where}[{key!r}]", **deeper)
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected), where
        for i, pair in enumerate(zip(got, expected, strict=True)):
            same(*pair, f"{where}[{i}]", **deeper)
    elif hasattr(expected, "__dict__") and not isinstance(expected, FunctionType | type):
        states = ({k: v for k, v in vars(one).items() if k not in left_out} for one in (got, expected))
        same(*states, f"{where}.", **deeper)
    else:
        assert got == expected or (got != got and expected != expected), where


def fitted_attributes(model):
    """All that `fit` has learned and shows."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and name[0] != "_"}


def same_values(model, expected):
    """Fitted attributes equal the values expected of them, by name without the underscore at its end."""
    for name, value in (expected if isinstance(expected, dict) else expected._asdict()).items():
        np.testing.assert_array_equal(getattr(model, f"{name}_"), value, err_msg=name)


def answers(model, Q, also=()):
    """All that a model says of queries."""
    return {name: getattr(model, name)(Q) for name in (*ANSWERS, *also) if hasattr(model, name)}


def same_model(got, expected, Q=None):
    """Equal fitted attributes and, for queries, equal answers, however they were computed."""
    same(fitted_attributes(got), fitted_attributes(expected), left_out=HOW)
    if Q is not None:
        same(answers(got, Q), answers(expected, Q))
