"""A cluster of two workers, and limits so small that it is used."""

import pytest


@pytest.fixture(scope="session")
def client():
    import dask
    import distributed

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "120s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def everything_on_the_cluster(monkeypatch):
    """Samples this few would stay at the client."""
    monkeypatch.setattr("pathforest.dask.engine.LOCAL_SECONDS", 0)
    monkeypatch.setattr("pathforest.dask.engine.TASK_SECONDS", 1e-4)


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr("pathforest.dask.engine.BLOCK_BYTES", 60 * 5 * 4)
