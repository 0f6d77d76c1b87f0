"""Every array of the fast method equals its definition, whatever computes the distances."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import issues as reference_issues
from sklearn.metrics import pairwise_distances
from strategies import BRUTE_METRICS, DTYPES, METRICS, NON_NEGATIVE, problems

import pathforest
from pathforest import OPFOutlierDetector
from pathforest._issues.issues import Issues
from pathforest._models import leave_one_out, offers
from pathforest._models.labels import Opinion, flag
from pathforest.noise import flip_labels

find_issues = partial(pathforest.find_issues, method="fast")
NAMES = ("class c", "class a", "class d", "class b")
WAYS = [
    *product(METRICS, ["kd_tree", "brute"]),
    *product(BRUTE_METRICS, ["brute"]),
    *product([("euclidean", 2.0), ("sqeuclidean", 2.0)], ["torch-cpu"]),
]


def labels_of(codes):
    """Labels whose order is not that of the codes' first samples, and their codes."""
    return np.unique([f"{NAMES[code % 4]}{code // 4}" for code in codes], return_inverse=True)


def expected(X, D, codes, r, squared):
    """Return what the object should hold, classes as codes."""
    found = reference_issues.fast(D, codes, r := min(r, len(D)))
    found["duplicate_group"] = reference_issues.duplicate_groups(X)
    nearest = found["nearest_distance"]
    apart = nearest[(nearest > 0) & np.isfinite(nearest)]
    found["is_near_duplicate"] = nearest <= (0.1 * np.median(apart) if apart.size else 0)
    return found | {"outlier_score": reference_issues.outlier_scores(D, r, squared)[0]}


def check(issues, found, classes, codes):
    """Compare every array with the one expected."""
    for name, values in found.items():
        got = getattr(issues, name)
        if name in ("suggested", "rival"):
            np.testing.assert_array_equal(got, classes[values], err_msg=name)
        elif name == "noise_share":
            assert got == pytest.approx(values, rel=1e-12)
        elif name == "outlier_score":
            if np.ptp(values) > 0 and np.unique(values.round(9)).size > 1:
                np.testing.assert_allclose(got, values, rtol=0, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(got, values, err_msg=name)
    np.testing.assert_array_equal(issues.given, classes[codes])
    group = found["duplicate_group"]
    for copies in ((group == number) & (number >= 0) for number in np.unique(group)):
        assert (issues.is_conflict[copies] == (len(set(codes[copies])) > 1)).all()
    assert not issues.is_conflict[group < 0].any()
    borders = (found["border_score"] >= 0.9) & ~found["is_label_issue"]
    np.testing.assert_array_equal(issues.is_border, borders)


def draw_case(data, metric="euclidean", p=2.0, largest=24):
    problem = data.draw(problems(largest=largest, dtypes=DTYPES, non_negative=metric in NON_NEGATIVE))
    classes, codes = labels_of(problem.codes)
    D = reference.distance_matrix(problem.X, problem.X, metric, p)
    return problem.X, D, classes, codes, data.draw(st.sampled_from([1, 2, 3, 13]))


@pytest.mark.parametrize(("metric", "where"), WAYS)
@settings(max_examples=settings().max_examples // 2)  # ways share most of their code
@given(data=st.data())
def test_every_array_equals_its_definition_whatever_engine_threads_and_blocks(metric, where, data):
    (metric, p), how = metric, {"algorithm": where}
    if where == "torch-cpu":
        pytest.importorskip("torch", reason="needs PyTorch")
        how = {"device": where}
    X, D, classes, codes, r = draw_case(data, metric, p)
    params = {"minkowski": {"p": p}, "gower": {"ranges": np.ones(X.shape[1])}}.get(metric)
    n_jobs, size = data.draw(st.sampled_from([None, 3])), data.draw(st.integers(1, len(X)))
    with pytest.MonkeyPatch.context() as patch:
        large = data.draw(st.sampled_from([0, 3, offers.LARGE]))
        for module in (offers, leave_one_out):
            patch.setattr(module, "LARGE", large)
        patch.setattr(
            leave_one_out, "blocks", lambda n, *_: (slice(i, min(i + size, n)) for i in range(0, n, size))
        )
        issues = find_issues(
            X, classes[codes], n_conquerors=r, metric=metric, metric_params=params, n_jobs=n_jobs, **how
        )
    check(issues, expected(X, D, codes, r, metric in reference.SQUARED), classes, codes)


@pytest.mark.parametrize("metric", ["precomputed", "jaccard", lambda a, b: float(np.abs(a - b).max())])
@given(data=st.data())
def test_a_matrix_of_distances_and_metrics_without_an_engine_give_the_same(metric, data):
    X, D, classes, codes, r = draw_case(data, largest=17)
    if metric == "precomputed":
        D = D.astype(data.draw(st.sampled_from(DTYPES)))
        samples = D + np.diag(np.arange(len(D)) % 3).astype(D.dtype)  # the diagonal means nothing
        found = expected(X, D, codes, r, False)
        zeros = reference_issues.joined(len(D), lambda i, j: i != j and D[i, j] == 0)
        zeros = [group for group in zeros if len(group) > 1]
        found["duplicate_group"] = reference_issues.numbered(len(D), zeros)
    else:
        samples = np.clip(np.nan_to_num(X), 0, 1).round()
        D = pairwise_distances(samples.astype(bool) if metric == "jaccard" else samples, metric=metric)
        found = expected(samples, D, codes, r, False)
    check(find_issues(samples, classes[codes], n_conquerors=r, metric=metric), found, classes, codes)


@given(data=st.data())
def test_outliers_are_those_of_the_detector(data):
    X, _, classes, codes, r = draw_case(data)
    issues = find_issues(X, classes[codes], n_conquerors=r)
    detector = OPFOutlierDetector(n_neighbors=min(r, len(X) - 1)) if len(X) > 1 else None
    expected = detector.fit_predict(X) == -1 if detector else [False]
    np.testing.assert_array_equal(issues.is_outlier, expected)


@given(data=st.data())
def test_flags_equal_their_definition(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, n_classes = data.draw(st.integers(2, 120)), data.draw(st.integers(2, 5))
    codes = np.unique(rng.integers(0, n_classes, n), return_inverse=True)[1]
    wrong = rng.random(n) < data.draw(st.sampled_from([0.0, 0.1, 0.4]))
    steps = data.draw(st.sampled_from([7, 1000]))  # few values make levels that tie
    share = np.where(wrong, rng.integers(0, steps, n), rng.integers(steps // 2, 2 * steps, n)) / (2 * steps)
    rival = (codes + rng.integers(1, n_classes, n)) % n_classes if codes.max() + 1 == n_classes else 1 - codes
    rival = np.clip(rival, 0, codes.max())
    opinion = Opinion(share, rival, share < 0.5, share)
    found, noise_share = flag(opinion, codes)
    flags, estimate = reference_issues.flags(share, share < 0.5, rival, codes)
    np.testing.assert_array_equal(found, flags)
    assert noise_share == pytest.approx(estimate, rel=1e-12)


def test_wrong_labels_are_flagged_and_overlap_is_not():
    rng = np.random.default_rng(0)
    right = np.arange(600) % 2
    for distance, share, least, most in ((4, 0.1, 50, 70), (1, 0.0, 0, 12)):
        noisy = flip_labels(right, share, random_state=0)
        samples = rng.normal(size=(600, 2)) + distance * right[:, None]
        issues = find_issues(samples, noisy)
        assert (issues.suggested != noisy).sum() > most / 2
        assert least <= issues.is_label_issue.sum() <= most
        assert (noisy != right)[issues.is_label_issue].sum() >= least
        assert issues.noise_share == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        ([0, 1, 3], ["x"] * 3, {"score": [1, 1, 1], "rival": ["x"] * 3, "rival_cost": [np.inf] * 3}),
        ([0], ["x"], {"score": [0], "nearest": [-1], "is_outlier": [False], "is_near_duplicate": [False]}),
        ([0, 1, 3, 4], [0, 0, 1, 1], {"score": [7 / 9, 5 / 7, 5 / 7, 7 / 9], "n_conquerors": 4}),
        ([0, 1, 2, 4], [0, 0, 0, 1], {"suggested": [0] * 4, "score": [4 / 5.5, 0.75, 2 / 3.5, 0]}),
    ],
)
def test_few_samples_or_classes(X, y, expected):
    issues = find_issues(np.array(X, dtype=float)[:, None], y, n_conquerors=10**12)
    for name, values in expected.items():
        np.testing.assert_array_equal(getattr(issues, name), values, err_msg=name)
    assert not issues.is_label_issue.any()
    assert issues.noise_share == 0


ARRAYS = {name for name, kind in Issues.__annotations__.items() if kind == "np.ndarray"}
PER_SAMPLE = sorted(ARRAYS - {"classes", "confusion"})
INDICES = {"conquerors", "rival_conquerors", "nearest"}
NUMBERS = {"duplicate_group", "island"}


def groups(number):
    """Members of numbered groups, whatever their numbers."""
    return {frozenset(np.flatnonzero(number == i).tolist()) for i in set(number[number >= 0].tolist())}


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), r=st.sampled_from([1, 2, 3, 13]))
def test_the_order_of_samples_decides_nothing_if_no_distances_tie(seed, n, r):
    rng = np.random.default_rng(seed)
    X, y, rows = rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.permutation(n)
    issues, others = (find_issues(X[i], y[i], n_conquerors=r) for i in (np.arange(n), rows))
    moved = np.append(rows, -1)  # sample i of the others is rows[i]
    for name in PER_SAMPLE:
        one, other = getattr(issues, name), getattr(others, name)
        if name in NUMBERS:
            assert groups(one) == {frozenset(rows[list(group)].tolist()) for group in groups(other)}, name
        else:
            other = moved[other] if name in INDICES else other
            np.testing.assert_array_equal(one[rows], other, err_msg=name)
    assert issues.noise_share == others.noise_share
