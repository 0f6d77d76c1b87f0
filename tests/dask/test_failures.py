"""Workers and schedulers may die, and users press Ctrl-C: a fit ends well, or says what happened."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from sklearn.exceptions import NotFittedError

from pathforest import FuzzyOPFClassifierCV, OPFClassifier

pytest.importorskip("distributed", reason="needs pathforest[dask]")

import dask.array as da
import distributed
from checks import same
from dask_cases import SMALL_SEARCH, draw, quiet, wait_for_no_tasks
from machines import interrupted

from pathforest.dask import DaskFuzzyOPFClassifierCV, DaskOPFClassifier
from pathforest.dask import engine as dask_engine
from pathforest.dask import futures as dask_futures
from pathforest.dask import tasks as dask_tasks

pytestmark = quiet

PATIENCE = 240  # seconds that clients go on trying to reach a scheduler; a busy machine starts one slowly


def once(action):
    pending = [action]
    return lambda: pending.pop()() if pending else None


def at_the_first_result(monkeypatch, action):
    """Do something once, as soon as the first result has come."""
    get, act = dask_futures.Results.__next__, once(action)

    def interrupted(self):
        future = get(self)
        act()
        return future

    monkeypatch.setattr(dask_futures.Results, "__next__", interrupted)


def at_the_first(task):
    """Do something once, as soon as the first task of a kind has been submitted."""

    def arrange(monkeypatch, action):
        submit, act = dask_engine.DaskEngine._submit, once(action)

        def interrupted(self, block, function, *args):
            future = submit(self, block, function, *args)
            if function is task:
                act()
            return future

        monkeypatch.setattr(dask_engine.DaskEngine, "_submit", interrupted)

    return arrange


def at_the_first_block(monkeypatch, action):
    """Do something once, as soon as the first block is on the cluster."""
    scatter, act = distributed.Client.scatter, once(action)

    def interrupted(*args, **kwargs):
        futures = scatter(*args, **kwargs)
        act()
        return futures

    monkeypatch.setattr(distributed.Client, "scatter", interrupted)


def draw_far_apart(n):
    """Samples whose neighbour lists leave questions to the spanning tree."""
    X, y = draw("random", n=n)
    X[: n // 3] += 1000
    return X, y


@pytest.mark.parametrize(
    ("block_rows", "stage"),
    [(250, at_the_first_result), (4000, at_the_first(dask_tasks.foreign_neighbours))],
    ids=["distributed", "one block"],
)
def test_a_killed_worker_changes_nothing(client, monkeypatch, block_rows, stage):
    monkeypatch.setattr(dask_engine, "BLOCK_BYTES", block_rows * 5 * 8)
    client.wait_for_workers(2)
    X, y = draw_far_apart(2000)
    victims = []

    def kill():
        victims.append(next(iter(client.run(os.getpid).values())))
        os.kill(victims[0], signal.SIGKILL)

    stage(monkeypatch, kill)
    model = DaskOPFClassifier(client=client).fit(X, y)
    assert victims
    same(model.to_local(), OPFClassifier().fit(X, y))
    client.wait_for_workers(1)


def test_a_worker_killed_while_a_search_is_refitted_changes_nothing(client, monkeypatch):
    client.wait_for_workers(2)
    X, y = draw_far_apart(600)
    victims = []

    def kill():
        victims.append(next(iter(client.run(os.getpid).values())))
        os.kill(victims[0], signal.SIGKILL)

    # The client builds a spanning tree of its own only in the refit: those of the folds grow on workers.
    at_the_first(dask_tasks.foreign_neighbours)(monkeypatch, kill)
    model = DaskFuzzyOPFClassifierCV(**SMALL_SEARCH, client=client).fit(X, y)
    assert victims
    same(model.to_local(), FuzzyOPFClassifierCV(**SMALL_SEARCH).fit(X, y))
    client.wait_for_workers(1)


def fail_to_send(monkeypatch, error, times):
    monkeypatch.setattr(dask_futures, "SECONDS_TO_NOTICE", 0)
    scatter, failures = distributed.Client.scatter, [error] * times

    def failing(*args, **kwargs):
        if failures:
            raise failures.pop()("tcp://gone")
        return scatter(*args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", failing)


# Dask raises the one or the other, depending on when the worker has died.
either_error = pytest.mark.parametrize("error", [OSError, KeyError])


@either_error
def test_what_could_not_be_sent_is_sent_again(client, monkeypatch, error):
    fail_to_send(monkeypatch, error, dask_futures.MOST_ATTEMPTS - 1)
    assert dask_futures.Sent(client, ["ham"])[0].result() == "ham"


@either_error
def test_what_can_never_be_sent_is_not_tried_for_ever(client, monkeypatch, error):
    fail_to_send(monkeypatch, error, dask_futures.MOST_ATTEMPTS)
    with pytest.raises(error):
        dask_futures.Sent(client, ["ham"])[0]


def run_and_lose(client, losses):
    """Run two tasks whose data are lost so often; return their results."""
    results, attempts = {}, [0, 0]

    def submit(i):
        attempts[i] += 1
        future = client.submit(int, i, pure=False)
        if attempts[i] <= losses:
            future.cancel()
        return future

    dask_futures.run_tasks(client, 2, submit, results.__setitem__)
    return results


def test_tasks_whose_data_are_lost_are_submitted_again(client):
    assert run_and_lose(client, dask_futures.MOST_ATTEMPTS - 1) == {0: 0, 1: 1}


def test_tasks_whose_data_are_always_lost_end_with_an_error(client):
    with pytest.raises(RuntimeError, match="workers were lost 5 times with the data of one task"):
        run_and_lose(client, dask_futures.MOST_ATTEMPTS)


@pytest.mark.parametrize(
    "stage",
    [
        at_the_first_result,
        at_the_first_block,
        at_the_first(dask_tasks.neighbours_abroad),
        at_the_first(dask_tasks.foreign_neighbours),
    ],
    ids=["checks", "blocks", "neighbours", "spanning tree"],
)
def test_ctrl_c_leaves_no_tasks_and_no_model(client, many_blocks, monkeypatch, stage):
    X, y = draw_far_apart(600)
    stage(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    model = DaskOPFClassifier(client=client)
    with interrupted() as raised:
        model.fit(da.from_array(X, chunks=(200, -1)), y)
    assert wait_for_no_tasks(client) == []
    assert raised.tb is not None  # which keeps all frames of `fit` alive, as a notebook does
    with pytest.raises(NotFittedError):
        model.to_local()


def test_a_chunk_that_cannot_be_computed_ends_the_others(client):
    def compute(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 0:
            raise RuntimeError("disk on fire")
        time.sleep(0.2)
        return block

    X, y = draw("random")
    lazy = da.from_array(X, chunks=(20, -1)).map_blocks(compute, dtype=X.dtype, meta=X[:0])
    with pytest.raises(RuntimeError, match="disk on fire") as raised:
        DaskOPFClassifier(client=client).fit(lazy, y)
    assert wait_for_no_tasks(client) == []
    assert raised.tb is not None  # which keeps all frames of `fit` alive


def test_a_fit_leaves_nothing_on_the_cluster(client, many_blocks):
    X, y = draw("tied")
    model = DaskFuzzyOPFClassifierCV(**SMALL_SEARCH, client=client)
    model.fit(da.from_array(X, chunks=50), da.from_array(y, chunks=60))
    assert wait_for_no_tasks(client) == []


def test_blocks_are_distributed_evenly(client):
    client.wait_for_workers(2)
    workers, sent = sorted(client.nthreads()), dask_futures.Sent(client, list(range(6)))
    assert [sent.workers(i) for i in range(6)] == [[workers[0]], [workers[1]]] * 3


def test_a_lone_block_goes_to_every_worker(client):
    client.wait_for_workers(2)
    workers, lone = sorted(client.nthreads()), dask_futures.Sent(client, [0])
    assert lone.workers(0) == workers
    assert sorted(client.who_has([lone[0]])[lone[0].key]) == workers


class ReadOnce:
    """Can be read by the first worker that tries, and by no other."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return read_once, (self.place,)


def read_once(place):
    place.touch(exist_ok=False)
    return ReadOnce(place)


def test_data_that_a_worker_cannot_read_end_the_fit(client, monkeypatch, tmp_path):
    monkeypatch.setattr(dask_futures, "SECONDS_TO_COPY", 1)
    client.wait_for_workers(2)
    with (
        pytest.raises(RuntimeError, match=r"a worker .* has no copy of the data .*install") as raised,
        dask_futures.Sent(client, [ReadOnce(tmp_path / "read")]) as sent,
    ):
        sent[0]
    assert raised.tb is not None  # which keeps all frames alive
    assert wait_for_no_tasks(client) == []


@pytest.fixture
def doomed(tmp_path):
    """A scheduler in a process of its own, with one worker, and a client of both."""
    file = str(tmp_path / "scheduler.json")
    command = [sys.executable, "-m", "distributed.cli.dask_"]
    commands = [
        ["scheduler", "--scheduler-file", file, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        [
            "worker",
            "--scheduler-file",
            file,
            "--host",
            "127.0.0.1",
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ],
    ]
    processes = [
        subprocess.Popen([*command[:2], command[2] + name, *options], stderr=subprocess.DEVNULL)
        for name, *options in commands
    ]
    try:
        with distributed.Client(scheduler_file=file, set_as_default=False, timeout=PATIENCE) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            yield processes[0], client
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Stop:
    """Stops a scheduler, and waits until its client knows."""

    def __init__(self, scheduler, client, how=signal.SIGKILL):
        self.scheduler, self.client, self.how = scheduler, client, how

    def __call__(self):
        self.scheduler.send_signal(self.how)
        while self.client.status == "running":
            time.sleep(0.01)
        self.moment = time.monotonic()

    def seconds(self):
        """How long ago that was."""
        return time.monotonic() - self.moment


@pytest.mark.parametrize(
    ("how", "stage"),
    [
        (signal.SIGTERM, at_the_first_result),
        (signal.SIGKILL, at_the_first(dask_tasks.neighbours_abroad)),
    ],
    ids=["checks", "neighbours"],
)
def test_a_scheduler_that_is_gone_ends_the_fit_within_seconds(doomed, many_blocks, monkeypatch, how, stage):
    stop, (X, y) = Stop(*doomed, how), draw_far_apart(600)
    stage(monkeypatch, stop)
    with pytest.raises(ConnectionError, match=r"scheduler at tcp://.* use a new Client"):
        DaskOPFClassifier(client=stop.client).fit(da.from_array(X, chunks=(200, -1)), y)
    assert stop.seconds() < PATIENCE / 4


def test_ctrl_c_is_not_hidden_by_a_scheduler_that_is_gone(doomed, many_blocks, monkeypatch):
    stop, (X, y) = Stop(*doomed), draw_far_apart(600)

    def interrupt():
        stop.client._timeout = 0.5  # the client then gives up, and refuses to cancel tasks
        stop()
        while stop.client.status != "closed":
            time.sleep(0.01)
        raise KeyboardInterrupt

    at_the_first(dask_tasks.neighbours_at_home)(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        DaskOPFClassifier(client=stop.client).fit(X, y)
    assert stop.seconds() < PATIENCE / 4


@contextmanager
def workers_that_come_late(monkeypatch, n_workers):
    """A cluster that gets a worker once the fit has said that it has none, and its client."""
    monkeypatch.setattr(dask_futures, "SECONDS_ALONE", 0.5)
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        warn = dask_futures.warn
        monkeypatch.setattr(dask_futures, "warn", lambda text: (warn(text), cluster.scale(1)))
        yield cluster, client


def test_a_fit_says_that_it_waits_for_workers(monkeypatch):
    X, y = draw("random")
    with (
        workers_that_come_late(monkeypatch, 0) as (_, client),
        pytest.warns(UserWarning, match="has no workers, and the call waits for one") as caught,
    ):
        model = DaskOPFClassifier(client=client).fit(X, y)
    assert len([warning for warning in caught if "no workers" in str(warning.message)]) == 1
    same(model.to_local(), OPFClassifier().fit(X, y))


def test_a_fit_whose_workers_leave_says_that_it_waits(many_blocks, monkeypatch):
    X, y = draw_far_apart(600)
    with workers_that_come_late(monkeypatch, 1) as (cluster, client):
        at_the_first(dask_tasks.neighbours_abroad)(monkeypatch, lambda: cluster.scale(0))
        with pytest.warns(UserWarning, match="has no workers, and the call waits for one"):
            model = DaskOPFClassifier(client=client).fit(X, y)
    same(model.to_local(), OPFClassifier().fit(X, y))
