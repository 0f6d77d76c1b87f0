"""The engine on a device answers as the others do, bit for bit; here on torch's CPU device."""

from concurrent.futures import ThreadPoolExecutor

import checks
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import make_codes, make_samples, problems
from torch_device import DEVICE, torch

from pathforest import OPFClassifier, _core
from pathforest._engines.metric import DEVICE_METRICS as METRICS
from pathforest._engines.torch import candidates, devices, find_device
from pathforest._engines.torch import engine as gpu_engine
from pathforest._engines.torch.engine import TorchEngine
from pathforest.distances import resolve_metric

RECIPES = ["grid", "gaussian", "duplicates", "offset grid", "near ties", "mixed values", "far clusters"]


def engines(X, metric="euclidean"):
    """The engine on a device beside one that is known to be right."""
    return (
        TorchEngine(X, resolve_metric(metric), "brute", find_device(DEVICE)),
        _core.Engine.brute(X, metric, keep_order=True),
    )


def check(X, Q=None, metric="euclidean", k=4, cost=None, order=None, r=3):
    """Ask both about everything; costs are some of the distances, from low to high, if they are not given."""
    ours, known = engines(X, metric)
    Q = X[-20:].copy() if Q is None else Q  # the interpreter of kernels takes no views
    lists = known.knn(min(k, len(X) - 1))
    cost = np.sort(known.distances(X[:1])[0]) if cost is None else cost
    order = np.arange(len(X), dtype=np.int32) if order is None else order
    component = (np.arange(len(X)) % min(5, len(X))).astype(np.int32)

    def answers(engine):
        offers = engine.conquer(Q, cost, order, 1), engine.conquer(Q, cost, order, r)
        found = engine.knn(lists[0].shape[1]), engine.query(Q, k), engine.spanning_tree(lists), *offers
        found = *found, engine.joining_arcs(component)
        return [array for arrays in (*found, [engine.distances(Q)]) for array in arrays]

    before = [array.copy() for array in lists]
    checks.same_arrays(answers(ours), answers(known))
    checks.same_arrays(lists, before)


def forest_costs(X, codes, metric="euclidean"):
    """Costs of the samples in a forest, and the samples by them."""
    engine = _core.Engine.brute(X, metric)
    tree = engine.spanning_tree(engine.knn(min(5, len(X) - 1)))
    cost, _, _, order = _core.follow_tree(*tree, reference.prototypes(tree, codes))
    return {"cost": cost, "order": order}


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_answer_equals_the_other_engines(metric, data):
    X, codes, Q, k = data.draw(problems())
    r = data.draw(st.integers(1, len(X)))
    check(X, Q, metric, k, **forest_costs(X, codes, metric), r=r)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(("d", "dtype"), [(2, np.float64), (40, np.float32)])
def test_answers_are_equal_on_hundreds_of_samples(recipe, d, dtype):
    X, Q = make_samples(recipe, 1, 400, d, dtype)
    forest = forest_costs(X, make_codes("regions", 1, X))
    check(X, Q, k=10, **forest, r=7)
    by_cost = forest["order"]
    check(X[by_cost], Q, k=10, cost=forest["cost"][by_cost])


GAUSSIAN, QUERIES = make_samples("gaussian", 1, 203, 3)
HARD = {
    "constant and huge": (GAUSSIAN * [1, 0, 1] + [0, 1e308, 0], None),
    "constant and huge below 0": (GAUSSIAN * [1, 0, 1] - [0, 1.7e308, 0], None),
    "ties, more than a round looks at": (make_samples("grid", 5, 900, 2)[0], None),
    "equal": (np.zeros((100, 2)), None),
    "queries far beyond the samples": (GAUSSIAN, QUERIES * 1e30),  # the last group is not full
}


@pytest.mark.parametrize("case", HARD)
def test_samples_that_are_hard_to_tell_apart(case):
    check(*HARD[case], k=20)


ZEROS = GAUSSIAN * (np.arange(len(GAUSSIAN)) % 3 > 0)[:, None]
HARD_DIRECTIONS = {
    "zeros among samples and queries": (ZEROS, ZEROS[-9:].copy()),
    "zeros among queries": (GAUSSIAN, ZEROS[-9:].copy()),
    "parallel and opposite": (GAUSSIAN[:1] * np.arange(-30, 30)[:, None], None),
    "a narrow cone": (GAUSSIAN * 1e-7 + 1, None),
    "narrower than float64 tells": (GAUSSIAN * 1e-15 + 1, None),
    "squares that have lost digits": (GAUSSIAN * 10.0 ** -(np.arange(len(GAUSSIAN)) % 7 * 27)[:, None], None),
    "ties": (make_samples("grid", 5, 300, 2)[0], None),
}


@pytest.mark.parametrize("case", HARD_DIRECTIONS)
def test_directions_that_are_hard_to_tell_apart(case):
    check(*HARD_DIRECTIONS[case], metric="cosine", k=20)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-320, 1e-162, 1e-160, 1e-155, 1e152])
def test_squares_may_lose_their_digits_to_underflow(size, metric):
    check(GAUSSIAN[:80] * size, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("factor", [0.0, 1e-40, 1.0, 1e40, 1e150])
def test_costs_may_dwarf_distances_or_be_dwarfed(factor, metric):
    scale = 1e-160 if metric == "log_sqeuclidean" else 1
    cost = np.sort(np.random.default_rng(1).random(len(GAUSSIAN))) * factor
    check(GAUSSIAN * scale, QUERIES * scale, metric, cost=cost, r=5)


@pytest.mark.parametrize("block_bytes", [2**16, 2**20])
def test_answers_do_not_depend_on_the_size_of_blocks(monkeypatch, block_bytes):
    monkeypatch.setattr(devices, "free_bytes", lambda device: block_bytes)
    check(*make_samples("gaussian", 3, 500, 5, np.float32), k=7)


def out_of_memory(original, is_too_much):
    """A function that finds no memory for what is too much."""

    def function(*args, **kwargs):
        if is_too_much(*args):
            raise torch.OutOfMemoryError("no room")
        return original(*args, **kwargs)

    return function


# Where memory is taken for a block of queries, and the arguments that say for how many.
STAGES = {
    "estimates": (candidates.Estimator, "estimate", lambda self, Q, shortened: len(Q)),
    "candidates": (gpu_engine, "find_candidates", lambda estimates, *_: len(estimates.norms)),
    "settling": (gpu_engine._Search, "_settle", lambda self, queries, *_: len(queries)),
}


@pytest.mark.parametrize("stage", STAGES)
def test_blocks_shrink_until_they_fit(monkeypatch, stage):
    owner, name, size = STAGES[stage]
    monkeypatch.setattr(owner, name, out_of_memory(getattr(owner, name), lambda *a: size(*a) > 7))
    check(*make_samples("grid", 3, 120, 3))


NO_ROOM = [(owner, name, r"one row of [\d,]+ bytes") for owner, name, _ in STAGES.values()]
NO_ROOM += [(torch, "as_tensor", "an array of 480 bytes"), (gpu_engine, "Estimator", "a copy .* 240 bytes")]


@pytest.mark.parametrize(("owner", "name", "what"), NO_ROOM)
def test_no_room_is_an_error_and_leaves_no_model(monkeypatch, owner, name, what):
    X, y = make_samples("grid", 3, 20, 3)[0], np.arange(20) % 3
    model = OPFClassifier(device=DEVICE).fit(X, y)
    monkeypatch.setattr(owner, name, out_of_memory(getattr(owner, name), lambda *a: True))
    with pytest.raises(MemoryError, match=f"the device has no room for {what}.*device='cpu'"):
        model.fit(X, y)
    assert not hasattr(model, "cost_")


@pytest.mark.parametrize("shortened", [True, False])
@pytest.mark.parametrize("recipe", RECIPES)
def test_estimates_are_no_farther_off_than_they_say(recipe, shortened):
    X, Q = make_samples(recipe, 5, 300, 30, np.float64)
    samples, queries = torch.as_tensor(X), torch.as_tensor(Q)
    estimator = candidates.Estimator(samples, candidates.Scaling(samples), 16)
    brackets, norms, error = estimator.estimate(queries, shortened)
    found = (brackets.double() + norms[:, None])[:, : len(X)].numpy()
    exact = ((Q[:, None, :] - X) ** 2).sum(2) * estimator.scale**2
    assert (np.abs(found - exact) <= error.numpy()[:, None]).all()


def test_shortened_values_are_as_far_off_as_the_bound_allows_and_no_farther():
    """Every digit that tensor cores cut off counts, and counts in the same direction."""
    value = np.float32(0.125 * (1 + 2.0**-10)) - np.float32(2.0**-26)  # loses nearly 2^-10 of itself
    X = torch.full((2, 61), float(value))
    X[1] *= -1
    estimator = candidates.Estimator(X, candidates.Scaling(X), 8)
    brackets, norms, error = estimator.estimate(X, True)
    off = (brackets[:, :2] + norms[:, None]).double() - torch.cdist(X.double(), X.double()) ** 2
    assert estimator.scale == 1
    assert 0.9 * error.min() < off.abs().max() < error.min()


PRECISION = "fp32_precision" if hasattr(torch.backends.cuda.matmul, "fp32_precision") else "allow_tf32"


@pytest.mark.parametrize("shortened", [True, False])
def test_precision_users_have_chosen_is_theirs_again(shortened):
    matmul = torch.backends.cuda.matmul
    before = getattr(matmul, PRECISION)
    values = ("ieee", "tf32") if PRECISION == "fp32_precision" else (False, True)
    try:
        for value in values:
            setattr(matmul, PRECISION, value)
            with candidates._products(torch.device("cpu"), shortened):
                assert getattr(matmul, PRECISION) == values[shortened]
            assert getattr(matmul, PRECISION) == value
    finally:
        setattr(matmul, PRECISION, before)


def test_threads_wait_for_one_anothers_precision():
    with candidates._products(torch.device("cpu"), True), ThreadPoolExecutor(1) as other:
        assert not other.submit(candidates._precision.acquire, blocking=False).result()


@pytest.mark.parametrize("shortened", [True, False])
def test_estimates_do_not_follow_autocast_to_lower_precision(shortened):
    X = torch.as_tensor(make_samples("gaussian", 2, 100, 5, np.float32)[0])
    estimator = candidates.Estimator(X, candidates.Scaling(X), 8)
    expected = estimator.estimate(X, shortened).brackets
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(estimator.estimate(X, shortened).brackets, expected)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_no_candidate_is_missed_however_estimates_err(seed, with_costs, is_limited):
    """Small integers, so that bounds are met exactly; the best look worst, and others best."""
    rng = np.random.default_rng(seed)
    m, n_groups, group, k = 20, rng.integers(1, 12), rng.choice([1, 2, 8]), int(rng.choice([1, 2, 7]))
    n = n_groups * group
    squares = rng.integers(0, rng.choice([2, 20, 100]), (m, n)).astype(float)
    cost = np.sort(rng.integers(0, 30, n)).astype(float) if with_costs else np.zeros(n)
    if rng.random() < 0.5:  # neither surely nearer than they cost nor surely farther
        squares = np.maximum(0, cost + rng.integers(-4, 8, (m, n)))
    squares[rng.random((m, n)) < 0.1] = np.inf  # not to be found
    limit = rng.integers(0, 30, m).astype(float) if is_limited and not with_costs else np.full(m, np.inf)
    offers = np.maximum(squares, cost)
    best = np.argsort(offers, axis=1, kind="stable")[:, :k]
    sign = rng.choice([-1, 1], (m, n)) if seed % 2 else np.full((m, n), -1)
    np.put_along_axis(sign, best, 1, axis=1)
    error, norms = rng.integers(0, 6, (2, m)).astype(float)
    columns = [squares + sign * error[:, None] - norms[:, None], norms, error]
    estimated = candidates.Estimates(*(torch.as_tensor(array).float() for array in columns))
    costs = candidates.make_costs(torch.as_tensor(cost), int(group), int(n)) if with_costs else None
    limits = torch.as_tensor(limit).float() if is_limited else None
    n_chosen, most = int(rng.integers(1, n_groups + 1)), None if seed % 3 else 2 * k
    pairs, again = candidates.find_candidates(estimated, k, n_chosen, int(group), costs, limits, most)
    found = list(zip(pairs.query.tolist(), pairs.sample.tolist(), strict=True))
    assert found == sorted(set(found))
    if most is None and n_chosen == n_groups:
        assert not again.any()
    for i in range(m):
        expected = {
            (i, j) for j in best[i].tolist() if squares[i, j] <= limit[i] and np.isfinite(squares[i, j])
        }
        of_query = {pair for pair in found if pair[0] == i}
        assert not of_query if again[i] else expected <= of_query
        assert all(not squares[pair] > limit[i] + 3 * error[i] for pair in of_query)


def test_candidates_of_a_group_are_few(monkeypatch):
    """Few pairs are settled exactly: the estimates discard nearly all."""
    X, _ = make_samples("gaussian", 7, 2000, 20, np.float32)
    settled = []
    original = gpu_engine._sums
    monkeypatch.setattr(gpu_engine, "_sums", lambda a, *rest: settled.append(len(a)) or original(a, *rest))
    engines(X)[0].knn(10)
    assert 10 * len(X) <= sum(settled) < 40 * len(X)


# The kernels: on a GPU, or on the CPU by Triton's interpreter.


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles so small that few samples make many, and a list of what was left open."""
    # Interpreters before 3.9 do not know that NumPy turns no array of one value into a number any more.
    pytest.importorskip("triton", minversion=None if DEVICE == "cuda" else "3.9")
    from pathforest._engines.torch import kernels, tiles

    shape = (64, 64, 8, 8, 4) if DEVICE == "cuda" else (32, 32, 16, 2, 512)
    for name, value in zip(("ROWS", "COLUMNS", "CELLS", "GROUP", "ITEMS"), shape, strict=True):
        monkeypatch.setattr(kernels, name, value)
    monkeypatch.setattr(tiles, "FIRST", 64)
    monkeypatch.setattr(gpu_engine, "FEW", 0)
    monkeypatch.setattr(tiles, "PROGRAMS", 4)
    found, original = [], tiles.Tiles.find

    def find(self, Q, *options):
        pairs, is_open = original(self, Q, *options)
        found.append((len(pairs.query) / len(Q), float(is_open.float().mean())))
        return pairs, is_open

    monkeypatch.setattr(tiles.Tiles, "find", find)
    return found


def many(recipe, d, dtype=np.float32):
    """Enough samples for tiles that are small."""
    return make_samples(recipe, 1, 1100 if DEVICE == "cuda" else 260, d, dtype)


KERNEL_CASES = [("grid", 5), ("duplicates", 5), ("near ties", 5), ("far clusters", 5), ("gaussian", 70)]


@pytest.mark.parametrize(("recipe", "d"), KERNEL_CASES)
def test_kernels_answer_as_the_other_engines_do(small_tiles, recipe, d):
    X, Q = many(recipe, d)
    forest = forest_costs(X, make_codes("regions", 1, X))
    by_cost = forest["order"]
    check(X[by_cost], Q, k=1, cost=forest["cost"][by_cost])
    assert small_tiles


@pytest.mark.parametrize("size", [1e-320, 1e-162, 1e-40, 1e152])
@pytest.mark.parametrize("metric", METRICS)
def test_kernels_answer_for_values_of_any_size(small_tiles, size, metric):
    X, _ = many("gaussian", 3, np.float64)
    X[:, 1] = 1e9
    size = min(size, 1e140) if metric == "cosine" else size  # so that squares are finite
    check(X * size, metric=metric, k=2)
    assert small_tiles


def test_lists_that_overflow_leave_queries_to_the_other_ways(small_tiles):
    """Of few distinct rows nearly all are equally near, and no list is long enough."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1100 if DEVICE == "cuda" else 300, 2)).astype(np.float32)
    ours, known = engines(X)
    checks.same_arrays(ours.knn(1), known.knn(1))
    assert [is_open for _, is_open in small_tiles[:2]] == [1.0, 1.0]  # of whole and of split values


def test_samples_of_clusters_far_apart_are_told_apart_from_the_centres_of_these(small_tiles):
    X, _ = many("gaussian", 5)
    X[:, 0] += 1e4 * (np.arange(len(X)) % 3)
    ours, known = engines(X)
    checks.same_arrays(ours.knn(1), known.knn(1))
    assert [is_open > 0.1 for _, is_open in small_tiles] == [True, False, False, False]


def test_samples_of_another_cluster_are_found_where_they_may_be_nearer(small_tiles, monkeypatch):
    """Two samples between the clusters are nearest to each other; all other answers lie in one cluster."""
    from pathforest._engines.torch import tiles

    monkeypatch.setattr(tiles, "is_worth_it", lambda n, d, k: n >= 80)
    X, _ = many("gaussian", 3)
    X[:, 0] += np.array([0, 60, 100])[np.arange(len(X)) % 3]
    X[3:8:4, 0] = 29, 31
    ours, known = engines(X)
    checks.same_arrays(ours.knn(1), known.knn(1))
    assert [is_open for _, is_open in small_tiles] == [0.0] * 4  # clusters, and those two among all


def test_groups_that_no_longer_fit_a_list_are_noticed(small_tiles):
    """The second look finds more groups than there is room for; the nearest sample is in the last of them."""
    n, first, where = (1100, 256, "cuda") if DEVICE == "cuda" else (300, 64, "cpu")
    order = torch.randperm(n, generator=torch.Generator(where).manual_seed(0), device=where).cpu().numpy()
    distances = np.concatenate([np.linspace(200, 100, first), np.linspace(50, 10, n - first)])
    distances[4 * first - 1] = 5
    X = np.zeros((n, 2))
    X[order, 0] = distances
    ours, known = engines(X)
    Q = np.zeros((1, 2))
    checks.same_arrays(ours.query(Q, 1), known.query(Q, 1))
    assert small_tiles[0][1] == 1


def test_queries_too_far_for_half_precision_are_left_to_the_other_ways(small_tiles):
    X, Q = many("gaussian", 3, np.float64)
    ours, known = engines(X)
    far = Q[:6] * np.array([[1.0], [1e3], [1e5], [1e30], [1e150], [1.0]])
    checks.same_arrays(ours.query(far, 2), known.query(far, 2))
    assert 0 < small_tiles[0][1] < 1


def test_kernels_leave_few_pairs(small_tiles):
    X, Q = many("gaussian", 20)
    engines(X)[0].query(Q[:64], 2)
    ((n_pairs, share_open),) = small_tiles
    assert 2 <= n_pairs < 6
    assert share_open == 0


def test_without_triton_or_with_an_older_one_there_are_no_kernels(monkeypatch):
    triton, device = pytest.importorskip("triton"), torch.device(DEVICE.removeprefix("torch-"))
    assert devices.can_use(device)
    monkeypatch.setattr(triton, "__version__", "3.5.1")
    assert not devices.can_use(device)
    monkeypatch.undo()
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    assert not devices.can_use(device)


def halves(X, split):
    """Samples as tiles hold them, and the bounds that tiles give for products of such."""
    from pathforest._engines.torch import tiles

    samples = torch.as_tensor(X)
    made = tiles.Tiles(samples, candidates.Scaling(samples), split)
    order = made._order[: len(X)].long()
    exact = made._centred(samples[order])
    queries = torch.zeros((len(X), made._depth), dtype=torch.half)
    made._fill(queries, exact, is_query=True)
    products = queries.double() @ made._values[: len(X)].double().T
    norms = exact.square().sum(1)
    off = (products - exact @ exact.T).abs() * 2
    return off, made._rate * (norms[:, None] + norms) + made._absolute


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_products_of_halves_are_no_farther_off_than_tiles_say(recipe, split):
    pytest.importorskip("triton")
    off, bound = halves(make_samples(recipe, 5, 200, 30, np.float64)[0], split)
    assert (off <= bound).all()


def test_halves_are_as_far_off_as_the_bound_allows_and_no_farther():
    """Every digit that is rounded away counts, and counts in the same direction."""
    pytest.importorskip("triton")
    value = 0.125 * (1 + 2.0**-11 - 2.0**-20)  # just below the middle of two halves
    off, bound = halves(np.stack([np.full(61, value), np.full(61, -value)]), False)
    assert 0.8 < (off / bound).max() <= 1
