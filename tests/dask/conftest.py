"""Clusters of two workers, and limits so small that they are used."""

from contextlib import contextmanager

import pytest


@contextmanager
def two_workers(**options):
    import dask
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", **options}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "120s"}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        yield client


@pytest.fixture(scope="session")
def threads():
    with two_workers(processes=False) as client:
        yield client


@pytest.fixture(scope="session")
def processes():
    with two_workers(processes=True, silence_logs=50) as client:
        yield client


@pytest.fixture
def client(threads):
    """Workers in this process, where what needs no death of one is tested."""
    with threads.as_current():
        yield threads


@pytest.fixture
def mortal(processes):
    """Workers that are processes, and can be killed."""
    processes.wait_for_workers(2)
    with processes.as_current():
        yield processes
        processes.wait_for_workers(1)


@pytest.fixture(autouse=True)
def everything_on_the_cluster(monkeypatch):
    """Samples this few would stay at the client; and a busy machine copies slowly."""
    monkeypatch.setattr("pathforest.dask.engine.LOCAL_SECONDS", 0)
    monkeypatch.setattr("pathforest.dask.engine.TASK_SECONDS", 1e-4)
    monkeypatch.setattr("pathforest.dask.futures.SECONDS_TO_COPY", 600)


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr("pathforest.dask.engine.BLOCK_BYTES", 60 * 5 * 4)
