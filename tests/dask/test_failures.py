"""Workers and schedulers may die, and users press Ctrl-C: a call ends well, or says what happened."""

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pathforest
from pathforest import OPFClassifier, OPFClustering
from pathforest._search.plan import make_plan

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask
import dask.array as da
import distributed
from checks import same
from dask_cases import draw, hostile, quiet, search, shown_on, wait_for_no_tasks
from machines import interrupted

from pathforest.dask import OnCluster
from pathforest.dask import engine as dask_engine
from pathforest.dask import futures as dask_futures
from pathforest.dask import issues as dask_issues
from pathforest.dask import prediction as dask_prediction
from pathforest.dask import search as dask_search
from pathforest.dask import tree as dask_tree

pytestmark = [*quiet, pytest.mark.ci]  # starting a process of a cluster takes seconds

PATIENCE = 240  # seconds that clients go on trying to reach a scheduler; a busy machine starts one slowly
plain, ours = OPFClassifier(), search()


def at_the_first(task=None, place=distributed.Client, name="submit"):
    """Return what arranges that something is done once, after a call: any, or that of `submit` for a task."""

    def arrange(monkeypatch, action):
        call, pending = getattr(place, name), [action]

        def observed(self, *args, **kwargs):
            result = call(self, *args, **kwargs)
            if pending and (task is None or args[0] is task):
                pending.pop()()
            return result

        monkeypatch.setattr(place, name, observed)

    return arrange


at_the_first_result = at_the_first(place=dask_futures.Results, name="__next__")
at_the_first_block = at_the_first(name="scatter")
reading, asking = at_the_first(dask_tree.read_lists), at_the_first(dask_tree.ask_block)
abroad, foreign = at_the_first(dask_engine.neighbours_abroad), at_the_first(dask_engine.foreign_neighbours)
near, scores = at_the_first(dask_search.find_near), at_the_first(dask_search.score)


def kill_one(client, victims):
    victims.append(next(iter(client.run(os.getpid).values())))
    os.kill(victims[0], signal.SIGKILL)


@pytest.mark.parametrize(
    ("call", "stage"),
    [
        *(("plain", stage) for stage in (abroad, asking, at_the_first_result, reading)),
        ("spilled", reading),
        ("clusters", abroad),
        ("issues", at_the_first(dask_issues.near_at_home)),
        ("issues", at_the_first(dask_issues.near_abroad)),
    ],
)
def test_a_killed_worker_takes_no_samples_along(mortal, many_blocks, monkeypatch, tmp_path, call, stage):
    (X, y), victims = draw("far apart", n=600), []
    lazy = da.from_array(X, chunks=(200, -1))
    stage(monkeypatch, lambda: kill_one(mortal, victims))
    if call == "issues":
        found = dask_issues.find_issues(lazy, y, client=mortal)
        same(found, pathforest.find_issues(X, y, method="fast"), left_out=("_X",))
    else:
        estimator = OPFClustering(n_neighbors=5) if call == "clusters" else plain
        y = None if call == "clusters" else y
        model = OnCluster(estimator, mortal, spill_folder=tmp_path if call == "spilled" else None).fit(
            lazy, y
        )
        same(model.to_local(), clone(estimator).fit(X, y))
        model._fit_model._fit_X.close()  # frames of errors that were logged meanwhile may keep the model
    assert victims


def die_once(block, flag=None):
    """Take the worker along that computes the first block."""
    if flag and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("estimator", [plain, OPFClustering(n_neighbors=5)], ids=["classes", "clusters"])
def test_predictions_survive_a_killed_worker_or_say_that_they_did_not(
    mortal, many_blocks, tmp_path, estimator
):
    X, y = draw("far apart", n=600)
    lazy, expected = da.from_array(X, chunks=(200, -1)), clone(estimator).fit(X, y).predict(X)
    model = OnCluster(estimator, mortal).fit(lazy, y if estimator is plain else None)
    queries = lazy.map_blocks(die_once, flag=tmp_path / "flag", dtype=X.dtype, meta=X[:0])
    try:
        answers = mortal.compute(model.predict(queries)).result(timeout=PATIENCE)
    except (CancelledError, distributed.KilledWorker):  # at once: what was sent with the model is gone
        answers = mortal.compute(model.predict(queries)).result(timeout=PATIENCE)
    np.testing.assert_array_equal(answers, expected)
    assert (tmp_path / "flag").exists()
    model._fit_model._fit_X.close()


@pytest.mark.parametrize(
    ("estimator", "block_rows", "stage"),
    [
        (plain, 250, at_the_first_result),
        (plain, 4000, foreign),
        (ours, 4000, near),
        (ours, 4000, scores),
        # The client builds a spanning tree of its own only in the refit: those of the folds grow on workers.
        (ours, 4000, foreign),
    ],
    ids=["distributed", "one block", "near", "scores", "refitted"],
)
def test_a_killed_worker_changes_nothing(mortal, monkeypatch, estimator, block_rows, stage):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", block_rows * 5 * 8)
    X, y = draw("far apart", n=2000 if estimator is plain else 600)
    victims = []
    stage(monkeypatch, lambda: kill_one(mortal, victims))
    model = OnCluster(estimator, mortal).fit(X, y)
    assert victims
    same(model.to_local(), clone(estimator).fit(X, y))


def deadly(values, place, nth):
    """Return an array; the process that reads it from a message for the n-th time dies of it."""

    class Deadly(np.ndarray):  # in a function, so that messages bring the code and nothing has to be imported
        def __reduce_ex__(self, protocol):
            return read, (np.asarray(self),)

    def read(values):
        count = 1
        while (place / str(count)).exists():
            count += 1
        (place / str(count)).touch(exist_ok=False)
        if count == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return values.view(Deadly)

    return values.view(Deadly)


@pytest.mark.parametrize(("n_parts", "nth"), [(1, 1), (1, 2), (2, 3)], ids=["sent", "copied", "parts"])
def test_a_worker_that_dies_of_the_model_does_not_stop_predictions(
    mortal, monkeypatch, tmp_path, n_parts, nth
):
    monkeypatch.setattr(dask_prediction, "count_parts", lambda client, model: n_parts)
    X, y = hostile("random")
    expected = OPFClassifier(n_conquerors=5).fit(X, y)
    answers, model = expected.predict(X), shown_on(mortal, expected)
    expected.classes_ = deadly(expected.classes_, tmp_path, nth)
    lazy = model.predict(da.from_array(X, chunks=50))
    assert (tmp_path / str(nth)).exists()
    np.testing.assert_array_equal(lazy.compute(), answers)


@pytest.mark.parametrize("is_once_too_often", [False, True])
def test_tasks_whose_data_are_lost_are_submitted_again_but_not_for_ever(client, is_once_too_often):
    results, attempts = {}, [0, 0]

    def submit(i):
        attempts[i] += 1
        future = client.submit(int, i, pure=False)
        if attempts[i] < dask_futures.MOST_ATTEMPTS + is_once_too_often:
            future.cancel()
        return future

    if is_once_too_often:
        with pytest.raises(RuntimeError, match="workers were lost 5 times with the data of one task"):
            dask_futures.run_tasks(client, 2, submit, results.__setitem__)
    else:
        dask_futures.run_tasks(client, 2, submit, results.__setitem__)
        assert results == {0: 0, 1: 1}


def fussy(model, X, y):
    raise ValueError(f"{len(X)} samples")


def burn(block, block_info=None):
    if block_info and block_info[0]["chunk-location"][0] == 0:
        raise RuntimeError("disk on fire")
    return block


def read_once(place):
    place.touch(exist_ok=False)
    return ReadOnce(place)


class ReadOnce:
    """Can be read by the first worker that tries, and by no other."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return read_once, (self.place,)


def send_what_cannot_be_read(client, monkeypatch, folder):
    monkeypatch.setattr(dask_futures, "SECONDS_TO_COPY", 1)
    with closing(dask_futures.Sent(client, [ReadOnce(folder / "read")])) as sent:
        sent[0]


X0, y0 = draw("random")
burning = da.from_array(X0, chunks=(20, -1)).map_blocks(burn, dtype=X0.dtype, meta=X0[:0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda client, *_: OnCluster(search(scoring=fussy), client).fit(X0, y0), "120 samples"),
        (lambda client, *_: OnCluster(plain, client).fit(burning, y0), "disk on fire"),
        (send_what_cannot_be_read, "a worker .* has no copy of the data .*install"),
    ],
    ids=["scorer", "chunk", "data"],
)
def test_an_error_of_a_worker_ends_all_tasks(mortal, monkeypatch, tmp_path, call, message):
    with pytest.raises((ValueError, RuntimeError), match=message) as raised:
        call(mortal, monkeypatch, tmp_path)
    assert wait_for_no_tasks(mortal) == []
    assert raised.tb is not None  # which keeps all frames alive, as a notebook does


@pytest.mark.parametrize(
    ("estimator", "stage"),
    [
        (plain, at_the_first_result),
        (plain, at_the_first_block),
        (plain, abroad),
        (plain, reading),
        (plain, asking),
        (ours, near),
        (ours, scores),
    ],
    ids=["checks", "blocks", "neighbours", "lists", "spanning tree", "near", "scores"],
)
def test_ctrl_c_leaves_no_tasks_and_no_model(mortal, many_blocks, monkeypatch, estimator, stage):
    X, y = draw("far apart", n=600)
    stage(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    model = OnCluster(estimator, mortal)
    with interrupted() as raised:
        model.fit(da.from_array(X, chunks=(200, -1)), y)
    assert wait_for_no_tasks(mortal) == []
    assert raised.tb is not None  # which keeps all frames of `fit` alive
    with pytest.raises(NotFittedError):
        model.to_local()


def deadly_scorer(model, X, y):
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
            OnCluster(search(scoring=deadly_scorer), client).fit(*hostile("tied"))
        assert wait_for_no_tasks(client) == []


@pytest.fixture
def doomed(tmp_path):
    """Stops a scheduler in a process of its own, and waits until its client knows; it has one worker."""
    file = str(tmp_path / "scheduler.json")
    common = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]
    processes = [
        subprocess.Popen([sys.executable, "-m", *words, *common], stderr=subprocess.DEVNULL)
        for words in (
            ["distributed.cli.dask_scheduler", "--port", "0"],
            ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"],
        )
    ]
    try:
        with distributed.Client(scheduler_file=file, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            yield Stop(processes[0], client)
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Stop:
    def __init__(self, scheduler, client):
        self.scheduler, self.client, self.how = scheduler, client, signal.SIGKILL

    def __call__(self):
        self.scheduler.send_signal(self.how)
        while self.client.status == "running":
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("how", "stage"),
    [(signal.SIGTERM, at_the_first_result), (signal.SIGKILL, abroad)],
    ids=["checks", "neighbours"],
)
def test_a_fit_gives_up_a_scheduler_that_is_gone_before_its_client_does(
    doomed, many_blocks, monkeypatch, how, stage
):
    (X, y), doomed.how = draw("far apart", n=600), how
    stage(monkeypatch, doomed)
    with pytest.raises(ConnectionError, match=r"scheduler at tcp://.* use a new Client"):
        OnCluster(plain, doomed.client).fit(da.from_array(X, chunks=(200, -1)), y)
    assert doomed.client.status == "connecting"  # it still tries to reach the scheduler


def test_ctrl_c_is_not_hidden_by_a_scheduler_that_is_gone(doomed, many_blocks, monkeypatch):
    def interrupt():
        doomed.client._timeout = 0.5  # the client then gives up, and refuses to cancel tasks
        doomed()
        while doomed.client.status != "closed":
            time.sleep(0.01)
        raise KeyboardInterrupt

    at_the_first(dask_engine.neighbours_at_home)(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        OnCluster(plain, doomed.client).fit(*draw("far apart", n=600))


@contextmanager
def workers_that_come_late(monkeypatch, n_workers):
    """A cluster that gets a worker once the fit has said that it has none, and its client."""
    monkeypatch.setattr(dask_futures, "SECONDS_ALONE", 0.5)
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=n_workers, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        warn = dask_futures.warn
        monkeypatch.setattr(dask_futures, "warn", lambda text: (warn(text), cluster.scale(1)))
        yield cluster, client


@pytest.mark.parametrize("n_workers", [0, 1], ids=["none yet", "all leave"])
def test_a_fit_says_once_that_it_waits_for_workers(many_blocks, monkeypatch, n_workers):
    X, y = draw("far apart", n=600)
    with workers_that_come_late(monkeypatch, n_workers) as (cluster, client):
        if n_workers:
            abroad(monkeypatch, lambda: cluster.scale(0))
        with pytest.warns(UserWarning, match="has no workers, and the call waits for one") as caught:
            model = OnCluster(plain, client).fit(X, y)
    assert len([warning for warning in caught if "no workers" in str(warning.message)]) == 1
    same(model.to_local(), OPFClassifier().fit(X, y))


def test_a_plan_with_folds_that_a_worker_has_prepared_can_go_to_another():
    """Dask copies it from worker to worker; if it cannot, it says nothing and waits for ever."""
    bench = dask_search.Bench(make_plan(search(), *hostile("tied")))
    for task in bench.plan.tasks():
        dask_search.find_near(bench, task, slice(0, 3))
    copy = pickle.loads(pickle.dumps(bench))
    assert len(bench._works) == dask_search.KEPT_FOLDS
    assert not copy._works
    task = copy.plan.tasks()[0]
    np.testing.assert_array_equal(
        dask_search.score(copy, task, [])[:2], dask_search.score(bench, task, [])[:2]
    )
