"""The models of the playground are those of Python, bit for bit; their conquest has the right order."""

import contextlib
import io
import warnings

import numpy as np
import pytest
from browsers import a_browser, a_page, playground
from reference import DELTA, cluster_arcs, distance_matrix, knn, scale_density, textbook_opf

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFSemiSupervisedClassifier
from pathforest.fuzzy import TrainingErrorWarning

KINDS = ("plain", "fuzzy", "tree", "clusters", "semi")
FOREST = ("prototypes", "cost", "predecessor", "root", "order", "label")
DENSITY = ("density", "best_k", "cuts")
NAMES = {
    "plain": FOREST,
    "fuzzy": (*FOREST, *DENSITY, "membership"),
    "tree": (*FOREST, *DENSITY, "membership"),
    "clusters": ("cost", "predecessor", "root", *DENSITY, "cluster_roots"),
    "semi": (*FOREST, "class_factors"),
}


def some_points(seed, n=70):
    """Places with integer coordinates, many of them at equal distances, some twice, in three classes."""
    rng = np.random.default_rng(seed)
    step = (1, 7, 90)[seed % 3]
    X = rng.integers(0, 1000 // step, (n, 2)) * step
    X[-5:] = X[:5]
    y = np.argmin(np.abs(X[:, None] - rng.integers(0, 1000, (3, 2))).sum(axis=2), axis=1)
    y[rng.integers(0, n, n // 10)] = 0
    y[:3] = 0, 1, 2
    return X, y


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = playground(tmp_path_factory.mktemp("playground"))
    with a_browser() as browser:
        page = a_page(browser, allowed=lambda url: url.startswith(("file:", "data:")))
        page.goto(path.as_uri())
        page.wait_for_selector("body.ready")
        yield page
        assert page.problems == []


def fitted(page, X, y, settings, Q):
    """The arrays of a model in the browser."""
    script = """([X, y, settings, Q]) => JSON.parse(JSON.stringify(playground.fit(X, y, settings, Q),
        (_, v) => ArrayBuffer.isView(v) ? Array.from(v) : v))"""
    return page.evaluate(script, [X.tolist(), y.tolist(), settings, Q.tolist()])


def in_python(X, y, settings):
    """The same model in Python."""
    kind, r = settings["model"], settings.get("n_conquerors", 1)
    density = {name: settings[name] for name in ("sigma", "k_max") if name in settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        if kind == "clusters":
            height = settings["threshold"] or None
            return OPFClustering(selection="cut", k_max=settings["k_max"], threshold=height).fit(X)
        if kind == "semi":
            return OPFSemiSupervisedClassifier(n_conquerors=r).fit(X, keep_few(y, settings["n_labels"]))
        if kind == "plain":
            return OPFClassifier(n_conquerors=r).fit(X, y)
        competition = "complete" if kind == "fuzzy" else "tree"
        return FuzzyOPFClassifier(competition=competition, n_conquerors=r, **density).fit(X, y)


def keep_few(y, n):
    """Keep the first labels of each class."""
    return np.array([c if np.sum(y[:i] == c) < n else -1 for i, c in enumerate(y)])


def some_settings(kind, seed):
    """Parameters that act on this kind of model."""
    rng = np.random.default_rng(seed)
    return {
        "model": kind,
        "sigma": (0.2, 0.55, 1.0, 0.8, 1.2)[seed % (4 if kind == "tree" else 5)],
        "k_max": int(rng.integers(1, 30)),
        "n_conquerors": (1, 2, 9)[seed % 3],
        "threshold": (0, 40, 250)[seed % 3],
        "n_labels": 1 + seed % 3,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_those_of_python(page, kind):
    Q = np.random.default_rng(0).integers(0, 1000, (60, 2))
    for seed in range(12):
        X, y = some_points(seed)
        settings = some_settings(kind, seed)
        got, model = fitted(page, X, y, settings, Q), in_python(X, y, settings)
        for name in NAMES[kind]:
            np.testing.assert_array_equal(got[name], np.atleast_1d(getattr(model, f"{name}_")), err_msg=name)
        answers = got["answers"]
        np.testing.assert_array_equal(answers["classes"], model.predict(Q))
        if kind == "clusters":
            np.testing.assert_array_equal(got["label"], model.labels_)
            continue
        costs = [np.inf if cost is None else cost for cost in answers["costs"]]
        np.testing.assert_array_equal(costs, model.class_costs(Q).ravel())
        conquerors = np.reshape(answers["conquerors"], (len(Q), -1))[np.arange(len(Q)), answers["classes"]]
        np.testing.assert_array_equal(conquerors, [e.conqueror for e in model.explain(Q)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("address", ["set=overlap&wrong=10", "set=grid", "set=rings&n=80&seed=5"])
def test_copied_lines_make_the_model_that_is_shown(page, kind, address):
    page.evaluate(f"location.hash = '{address}&model={kind}&n_conquerors=4&threshold=0&sigma=0.4&n_labels=5'")
    page.wait_for_function(
        """([kind, address]) => {
          const { set, model } = playground.state();
          return model === kind && address.split("&")[0] === `set=${set}`;
        }""",
        arg=[kind, address],
    )
    lines, shown = page.evaluate(
        """() => [playground.python(), Object.fromEntries(Object.entries(playground.models()[0].arrays)
            .map(([name, values]) => [name, Array.from(values)]))]"""
    )
    copied = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        exec(lines, copied)
    for name in NAMES[kind]:
        np.testing.assert_array_equal(shown[name], np.atleast_1d(getattr(copied["model"], f"{name}_")))
    assert max(len(line) for line in lines.splitlines()) <= 100


def queue_order(D, prototypes, membership):
    """Algorithm 3 over the complete graph; the samples as they leave the queue."""
    n, pair, order = len(D), [(np.inf, ())] * len(D), []
    for q in prototypes:
        pair[q] = (0.0, (-1.0, -1, -1))
    waiting = set(range(n))
    while waiting:
        q = min(waiting, key=lambda u: (pair[u], u))
        waiting.remove(q)
        order.append(q)
        for u in waiting:
            arc = (D[q, u], min(q, u), max(q, u))
            value, arc = max(pair[q], (D[q, u], arc))
            pair[u] = min(pair[u], (value * membership[u], arc))
    return order


def test_the_conquest_has_the_order_of_the_queue(page):
    differs = 0
    for seed in range(9):
        X, y = some_points(seed)
        settings = {"model": "fuzzy", "sigma": (0.2, 0.5, 1.2)[seed // 3], "k_max": 8}
        got, model = fitted(page, X, y, settings, X[:1]), in_python(X, y, settings)
        expected = queue_order(distance_matrix(X, X), model.prototypes_, model.membership_)
        assert got["conquest"] == expected
        differs += expected != model.order_.tolist()
    assert differs >= 4  # for small sigma the queue's cost does not only rise


def density_queue_order(X, model):
    """Algorithm 2; the samples as they leave the queue."""
    lists, rho = knn(distance_matrix(X, X), model.best_k_), scale_density(model.density_)
    arcs, value, order = cluster_arcs(*lists, rho.tolist()), rho - DELTA, []
    waiting, has_predecessor = set(range(len(X))), np.zeros(len(X), dtype=bool)
    while waiting:
        q = max(waiting, key=lambda u: (value[u], -u))
        waiting.remove(q)
        order.append(q)
        cost = value[q] if has_predecessor[q] else rho[q]
        for u, _ in arcs[q]:
            if u in waiting and min(cost, rho[u]) > value[u]:
                value[u], has_predecessor[u] = min(cost, rho[u]), True
    return order


def test_clusters_are_conquered_in_the_order_of_the_queue(page):
    for seed in range(6):
        X, y = some_points(seed)
        settings = {"model": "clusters", "k_max": 12, "threshold": (0, 200)[seed % 2]}
        got, model = fitted(page, X, y, settings, X[:1]), in_python(X, y, settings)
        assert got["conquest"] == density_queue_order(X, model)


def test_the_textbook_version_is_the_textbook(page):
    lost = 0
    for seed in range(8):
        X, y = some_points(3 * seed + 2)
        got = fitted(page, X, y, {"model": "plain", "textbook": True}, X)
        expected = textbook_opf(distance_matrix(X, X), y)
        np.testing.assert_array_equal(got["label"], expected)
        lost += np.sum(expected != y)
    assert lost > 0
