"""Workers score the cells of a search as the local class does, whatever the data, scorers and workers."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV
from pathforest._search.plan import make_plan

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask
import distributed
from checks import same
from dask_cases import SMALL_SEARCH, N, draw, quiet, wait_for_no_tasks
from machines import interrupted

from pathforest.dask import DaskFuzzyOPFClassifierCV
from pathforest.dask import engine as dask_engine
from pathforest.dask import futures as dask_futures
from pathforest.dask import search as dask_search

pytestmark = [*quiet, pytest.mark.filterwarnings("ignore:The least populated class")]

QUICK = {**SMALL_SEARCH, "n_conquerors": (1, 4), "betas": (1, 8)}
WORDS = np.array(["ham", "eggs", "spam", "bacon"])


def hostile(kind, n=N):
    """Samples of a kind with words for labels, one of them rare enough to be missing in a training part."""
    X, y = draw(kind, n=n)
    y[:2] = 3
    return X, WORDS[y]


def equal_searches(client, X, y, **params):
    model = DaskFuzzyOPFClassifierCV(**{**QUICK, **params}, client=client).fit(X, y)
    same(model.to_local(), FuzzyOPFClassifierCV(**{**QUICK, **params}).fit(X, y))


def count_blocks(monkeypatch):
    """List how many blocks of evaluation samples the parts of searches have from now on."""
    found, divide = [], dask_search.evaluation_blocks

    def watch(*args):
        blocks = divide(*args)
        found.append(len(blocks))
        return blocks

    monkeypatch.setattr(dask_search, "evaluation_blocks", watch)
    return found


@pytest.mark.parametrize(
    ("kind", "scoring"),
    [("random", None), ("tied", None), ("tied", "neg_log_loss"), ("duplicated", "balanced_accuracy")],
)
def test_hostile_samples_get_the_local_scores(client, monkeypatch, kind, scoring):
    blocks = count_blocks(monkeypatch)
    equal_searches(client, *hostile(kind), scoring=scoring)
    assert min(blocks) > 1


def rising(X, y):
    return np.linspace(0, 1, len(X))


def manhattan(a, b):
    return np.abs(a - b).sum()


@pytest.mark.parametrize(
    "params",
    [
        {"transforms": [None, StandardScaler()]},
        {"transforms": "linear"},
        {"cv": 4},
        {"cv": ShuffleSplit(1, train_size=0.3, random_state=0)},
        {"membership": rising},
        {"metric": manhattan},
        {"n_best": 1},
    ],
    ids=["transformers", "preset", "four folds", "one small part", "membership", "matrix", "first"],
)
def test_every_kind_of_search_is_that_of_the_local_class(client, params):
    equal_searches(client, *hostile("tied"), **params)


def test_distances_are_taken_as_by_the_local_class(client):
    X, y = hostile("random")
    equal_searches(client, pairwise_distances(X), y, metric="precomputed")


def test_blocks_of_one_sample_change_nothing(client, monkeypatch):
    monkeypatch.setattr(dask_engine, "TASK_SECONDS", 1e-9)
    blocks, (X, y) = count_blocks(monkeypatch), hostile("tied", 24)
    equal_searches(client, X, y)
    assert blocks == [12, 12]


def test_neighbours_too_many_to_travel_are_found_where_they_are_used(client, monkeypatch):
    blocks, (X, y) = count_blocks(monkeypatch), hostile("tied")
    monkeypatch.setattr(dask_search, "NEAR_BYTES", 120 * 4 * (4 + 2) * 12 - 1)
    equal_searches(client, X, y)
    assert blocks == [0, 0]


@pytest.mark.parametrize(("n_workers", "n_threads"), [(1, 1), (3, 1), (2, 4)])
def test_the_number_of_workers_and_their_threads_changes_nothing(n_workers, n_threads):
    workers = {"n_workers": n_workers, "threads_per_worker": n_threads, "processes": False}
    with (
        distributed.LocalCluster(**workers, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        equal_searches(client, *hostile("duplicated"), cv=3, transforms=[None, StandardScaler()])


def process(model, X, y):
    return os.getpid()


def test_workers_call_the_scorer(client):
    model = DaskFuzzyOPFClassifierCV(**QUICK, scoring=process, client=client).fit(*hostile("random"))
    pids = {model.cv_results_[f"split{fold}_test_score"][0] for fold in range(2)}
    assert pids <= set(client.run(os.getpid).values())


def test_a_plan_with_folds_that_a_worker_has_prepared_can_go_to_another():
    """Dask copies it from worker to worker; if it cannot, it says nothing and waits for ever."""
    bench = dask_search.Bench(make_plan(FuzzyOPFClassifierCV(**QUICK), *hostile("tied")))
    for task in bench.plan.tasks():
        dask_search.find_near(bench, task, slice(0, 3))
    copy = pickle.loads(pickle.dumps(bench))
    assert len(bench._works) == dask_search.KEPT_FOLDS
    assert not copy._works
    task = copy.plan.tasks()[0]
    np.testing.assert_array_equal(dask_search.score(copy, task, []), dask_search.score(bench, task, []))


def test_small_searches_stay_at_the_client(client, monkeypatch):
    monkeypatch.setattr(dask_engine, "LOCAL_SECONDS", 0.25)
    model = DaskFuzzyOPFClassifierCV(**QUICK, scoring=process, client=client).fit(*hostile("random"))
    assert model.best_score_ == os.getpid()


def fussy(model, X, y):
    """Fail, and say how large the fold is."""
    raise ValueError(f"{len(X)} samples")


def test_an_error_that_shall_be_raised_ends_the_search_on_the_cluster(client):
    search = DaskFuzzyOPFClassifierCV(**QUICK, scoring=fussy, client=client)
    with pytest.raises(ValueError, match="120 samples") as raised:
        search.fit(*hostile("random"))
    assert wait_for_no_tasks(client) == []
    assert raised.tb is not None  # which keeps all frames of `fit` alive


class Locked:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, model, X, y):
        return 0.5


def test_a_scorer_that_cannot_travel_is_named(client):
    with pytest.raises(TypeError, match=r"scoring=.*Locked.* cannot be sent to workers: cannot pickle"):
        DaskFuzzyOPFClassifierCV(**QUICK, scoring=Locked(), client=client).fit(*hostile("random"))


def at_the_first(monkeypatch, task, action):
    """Do something once, as soon as the first task of a kind has been submitted."""
    submit, pending = dask_search.submit, [action]

    def interrupted(client, sent, function, *args):
        future = submit(client, sent, function, *args)
        if function is task and pending:
            pending.pop()()
        return future

    monkeypatch.setattr(dask_search, "submit", interrupted)


every_task = pytest.mark.parametrize("task", [dask_search.find_near, dask_search.score])


@every_task
def test_a_killed_worker_changes_no_score(client, monkeypatch, task):
    client.wait_for_workers(2)
    victims = []

    def kill():
        victims.append(next(iter(client.run(os.getpid).values())))
        os.kill(victims[0], signal.SIGKILL)

    at_the_first(monkeypatch, task, kill)
    equal_searches(client, *hostile("tied"))
    assert victims


@every_task
def test_ctrl_c_during_scoring_leaves_no_tasks(client, monkeypatch, task):
    at_the_first(monkeypatch, task, lambda: signal.raise_signal(signal.SIGINT))
    with interrupted() as raised:
        DaskFuzzyOPFClassifierCV(**QUICK, client=client).fit(*hostile("tied"))
    assert wait_for_no_tasks(client) == []
    assert raised.tb is not None  # which keeps all frames of `fit` alive, as a notebook does


def deadly(model, X, y):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore:the Dask cluster at .* has no workers")
def test_a_scorer_that_kills_workers_does_not_hang_the_search(monkeypatch):
    monkeypatch.setattr(dask_futures, "MOST_ATTEMPTS", 1)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # each costs the start of a worker
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,  # of its own: workers that die so often may not come back
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        with pytest.raises((distributed.KilledWorker, RuntimeError)):
            DaskFuzzyOPFClassifierCV(**QUICK, scoring=deadly, client=client).fit(*hostile("tied"))
        assert wait_for_no_tasks(client) == []
