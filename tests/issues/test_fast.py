"""Every array of the fast method equals its definition, whatever computes the distances."""

import numpy as np
import pytest
import reference
import reference_issues
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from strategies import BRUTE_METRICS, DTYPES, METRICS, NON_NEGATIVE, problems

from pathforest import OPFOutlierDetector, find_issues
from pathforest._issues import offers
from pathforest._issues.find import Opinion, flag
from pathforest._issues.issues import Issues
from pathforest.noise import flip_labels

NAMES = ("class c", "class a", "class d", "class b")
DEVICE = "torch-cpu"


def labels_of(codes):
    """Labels whose order is not that of the codes' first samples, and their codes."""
    return np.unique([f"{NAMES[code % 4]}{code // 4}" for code in codes], return_inverse=True)


def expected(X, D, codes, r, squared):
    """Return what the object should hold, classes as codes."""
    r = min(r, len(D))
    found = reference_issues.fast(D, codes, r)
    found["duplicate_group"] = reference_issues.duplicate_groups(X)
    nearest = found["nearest_distance"]
    apart = nearest[(nearest > 0) & np.isfinite(nearest)]
    found["is_near_duplicate"] = nearest <= (0.1 * np.median(apart) if apart.size else 0)
    score, _ = reference_issues.outlier_scores(D, r, squared)
    return found | {"outlier_score": score}


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
    for i in range(len(codes)):
        copies = (group == group[i]) & (group[i] >= 0)
        assert issues.is_conflict[i] == (len(set(codes[copies])) > 1)
    expected_borders = (found["border_score"] >= 0.9) & ~found["is_label_issue"]
    np.testing.assert_array_equal(issues.is_border, expected_borders)


def draw_case(data, metric, p, dtypes=DTYPES, largest=24):
    problem = data.draw(problems(largest=largest, dtypes=dtypes, non_negative=metric in NON_NEGATIVE))
    classes, codes = labels_of(problem.codes)
    D = reference.distance_matrix(problem.X, problem.X, metric, p)
    return problem.X, D, classes, codes, data.draw(st.sampled_from([1, 2, 3, 13]))


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize(("metric", "p"), METRICS + BRUTE_METRICS)
@given(data=st.data())
def test_every_array_equals_its_definition(metric, p, algorithm, data):
    if algorithm == "kd_tree" and (metric, p) in BRUTE_METRICS:
        return
    X, D, classes, codes, r = draw_case(data, metric, p)
    params = {"minkowski": {"p": p}, "gower": {"ranges": np.ones(X.shape[1])}}.get(metric)
    issues = find_issues(
        X,
        classes[codes],
        n_conquerors=r,
        metric=metric,
        metric_params=params,
        algorithm=algorithm,
        n_jobs=data.draw(st.sampled_from([None, 3])),
    )
    check(issues, expected(X, D, codes, r, metric in reference.SQUARED), classes, codes)


@given(data=st.data())
def test_a_matrix_of_distances_gives_the_same(data):
    X, D, classes, codes, r = draw_case(data, "euclidean", 2.0)
    D = D.astype(data.draw(st.sampled_from(DTYPES)))
    noise = np.diag(np.arange(len(D)) % 3).astype(D.dtype)  # the diagonal means nothing
    issues = find_issues(D + noise, classes[codes], n_conquerors=r, metric="precomputed")
    found = expected(X, D, codes, r, False)
    zeros = reference_issues.joined(len(D), lambda i, j: i != j and D[i, j] == 0)
    found["duplicate_group"] = reference_issues.numbered(len(D), [group for group in zeros if len(group) > 1])
    check(issues, found, classes, codes)


@pytest.mark.parametrize("metric", ["jaccard", lambda a, b: float(np.abs(a - b).max())])
@given(data=st.data())
def test_metrics_without_an_engine_give_the_same_as_their_matrix(metric, data):
    X, _, classes, codes, r = draw_case(data, "euclidean", 2.0, largest=17)
    X = np.clip(np.nan_to_num(X), 0, 1).round()
    D = pairwise_distances(X.astype(bool) if metric == "jaccard" else X, metric=metric)
    one = find_issues(X, classes[codes], n_conquerors=r, metric=metric)
    other = find_issues(D, classes[codes], n_conquerors=r, metric="precomputed")
    for name in ("score", "suggested", "conquerors", "rival_conquerors", "island", "outlier_score"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.duplicate_group, reference_issues.duplicate_groups(X))


@given(data=st.data())
def test_a_device_gives_the_same(data):
    pytest.importorskip("torch", reason="needs PyTorch")
    metric, p = data.draw(st.sampled_from([("euclidean", 2.0), ("sqeuclidean", 2.0)]))
    X, D, classes, codes, r = draw_case(data, metric, p)
    issues = find_issues(X, classes[codes], n_conquerors=r, metric=metric, device=DEVICE)
    check(issues, expected(X, D, codes, r, metric in reference.SQUARED), classes, codes)


@given(data=st.data())
def test_blocks_of_rows_change_nothing(data):
    X, D, classes, codes, r = draw_case(data, "euclidean", 2.0)
    size = data.draw(st.integers(1, len(X)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offers, "blocks", lambda n, *_: (slice(i, min(i + size, n)) for i in range(0, n, size)))
        issues = find_issues(X, classes[codes], n_conquerors=r)
    check(issues, expected(X, D, codes, r, False), classes, codes)


@given(data=st.data())
def test_outliers_are_those_of_the_detector(data):
    X, _, classes, codes, r = draw_case(data, "euclidean", 2.0)
    issues = find_issues(X, classes[codes], n_conquerors=r)
    if len(X) == 1:
        assert not issues.is_outlier.any()
        return
    detector = OPFOutlierDetector(n_neighbors=min(r, len(X) - 1))
    np.testing.assert_array_equal(issues.is_outlier, detector.fit_predict(X) == -1)


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
        (
            [0, 1, 3, 4],
            [0, 0, 1, 1],
            {"score": [3.5 / 4.5, 2.5 / 3.5, 2.5 / 3.5, 3.5 / 4.5], "n_conquerors": 4},
        ),
        (
            [0, 1, 2, 4],
            [0, 0, 0, 1],
            {"suggested": [0] * 4, "score": [4 / 5.5, 0.75, 2 / 3.5, 0]},
        ),
    ],
)
def test_few_samples_or_classes(X, y, expected):
    issues = find_issues(np.array(X, dtype=float)[:, None], y, n_conquerors=10**12)
    for name, values in expected.items():
        np.testing.assert_array_equal(getattr(issues, name), values, err_msg=name)
    assert not issues.is_label_issue.any()
    assert issues.noise_share == 0


PER_SAMPLE = [name for name, kind in Issues.__annotations__.items() if kind == "np.ndarray"]
PER_SAMPLE = sorted({*PER_SAMPLE} - {"classes", "confusion"})
INDICES = {"conquerors", "rival_conquerors", "nearest"}
NUMBERS = {"duplicate_group", "island"}


def groups(number):
    """Members of numbered groups, whatever their numbers."""
    return {frozenset(np.flatnonzero(number == i).tolist()) for i in set(number[number >= 0].tolist())}


def same(issues, others, rows, name_of):
    """Compare issues with those of samples in another order, sample i of the others being `rows[i]`."""
    moved = np.append(rows, -1)
    for name in PER_SAMPLE:
        one, other = getattr(issues, name), getattr(others, name)
        if name in ("given", "suggested", "rival"):
            one = np.array([name_of[label] for label in one])
        if name in INDICES:
            other = moved[other]
        if name in NUMBERS:
            assert groups(one) == {frozenset(rows[list(group)].tolist()) for group in groups(other)}, name
        else:
            np.testing.assert_array_equal(one[rows], other, err_msg=name)
    assert issues.noise_share == others.noise_share


@given(data=st.data())
def test_names_of_classes_decide_nothing(data):
    X, _, classes, codes, r = draw_case(data, "euclidean", 2.0)
    names = np.array(data.draw(st.permutations(classes.tolist())))
    issues, others = (find_issues(X, labels[codes], n_conquerors=r) for labels in (classes, names))
    same(issues, others, np.arange(len(X)), dict(zip(classes, names, strict=True)))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), r=st.sampled_from([1, 2, 3, 13]))
def test_the_order_of_samples_decides_nothing_if_no_distances_tie(seed, n, r):
    rng = np.random.default_rng(seed)
    X, y, rows = rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.permutation(n)
    issues, others = (find_issues(X[i], y[i], n_conquerors=r) for i in (np.arange(n), rows))
    same(issues, others, rows, {label: label for label in y})
