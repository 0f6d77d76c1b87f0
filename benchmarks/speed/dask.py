"""What a Dask cluster gains and costs on this machine: python -m benchmarks.speed.dask.

Compares the neighbour pass, `fit` and a search with the same on one thread, in wall-clock seconds and in
seconds of CPU, because other programs may use the cores as well; rounds are interleaved, and ratios are
ratios of medians.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import describe
from benchmarks.tables import head, line
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, _core
from pathforest._engines.build import build_engine
from pathforest.dask import OnCluster
from pathforest.dask.engine import DaskEngine
from pathforest.distances import resolve_metric

SIZE = 100_000, 20
SEARCH_SIZE = 40_000, 20
K = 20
ROUNDS = 3
METRIC = resolve_metric("euclidean")
COLUMNS = ("wall, s", "CPU, s", "busiest, s", "efficiency, wall", "efficiency, CPU")
Call = Callable[[], Any]


def timed(call: Call, client: Client | None) -> tuple[float, float, float]:
    """Return wall-clock time, CPU time of all processes, and that of the busiest worker.

    The last is a lower bound of the time on dedicated cores.
    """

    def cpu() -> np.ndarray:
        workers = client.run(time.process_time) if client else {}
        return np.array([time.process_time(), *(workers[address] for address in sorted(workers))])

    before, start = cpu(), time.perf_counter()
    call()
    wall, used = time.perf_counter() - start, cpu() - before
    return wall, used.sum(), used[-1] if len(used) == 1 else used[1:].max()


def compare(work: str, calls: dict[str, Call], clients: dict[str, Client | None]) -> None:
    """Warm up, time all calls in every round, and print their rows.

    Efficiency is the time of the first call divided by this time, per worker.
    """
    for call in calls.values():
        call()
    rounds = [[timed(call, clients[name]) for name, call in calls.items()] for _ in range(ROUNDS)]
    medians = np.median(rounds, axis=0)
    for (name, client), row in zip(clients.items(), medians, strict=True):
        n_workers = len(client.ncores()) if client else 1
        efficiency = medians[0] / row / n_workers
        numbers = (*row, efficiency[0], efficiency[2])
        print(line([work, name, *(f"{number:.2f}" for number in numbers)]), flush=True)


def fits(model: Any, clients: dict[str, Client | None], size: tuple[int, int]) -> None:
    """Compare the same fit on one thread and on clusters."""
    problem = load(Spec("mixture", *size))
    models = {name: model if c is None else OnCluster(model, c) for name, c in clients.items()}
    calls = {name: partial(one.fit, problem.X, problem.y) for name, one in models.items()}
    compare(f"{type(model).__name__}.fit, {size[0]:,} x {size[1]}", calls, clients)


def neighbour_passes(clients: dict[str, Client | None]) -> None:
    """Compare building an engine and finding the neighbours."""
    X = load(Spec("mixture", *SIZE)).X

    def find(client: Client | None) -> None:
        engine = DaskEngine(X, METRIC, "brute", client) if client else build_engine(X, METRIC, "brute")
        engine.knn(K)

    calls = {name: partial(find, client) for name, client in clients.items()}
    compare(f"neighbour pass, k = {K}, {SIZE[0]:,} x {SIZE[1]}", calls, clients)


def main() -> None:
    """Print the table."""
    machine = describe()
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}, load {machine['load'][0]:.1f}\n")
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        Client(one, set_as_default=False) as single,
        Client(two, set_as_default=False) as double,
    ):
        clients = {"1 thread, no Dask": None, "1 worker": single, "2 workers": double}
        print(head(["work", "where", *COLUMNS], n_words=2))
        fits(FuzzyOPFClassifierCV(transforms=None), clients, SEARCH_SIZE)
        neighbour_passes(clients)
        fits(OPFClassifier(), clients, SIZE)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; {_core.simd_level()}")


if __name__ == "__main__":
    main()
