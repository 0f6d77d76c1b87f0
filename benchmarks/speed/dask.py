"""What a Dask cluster gains and costs on this machine: python -m benchmarks.speed.dask.

Compares the neighbour pass, `fit` and a search with the same on one thread, in wall-clock seconds and in
seconds of CPU, because other programs may use the cores as well; rounds are interleaved, and ratios are
ratios of medians.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.speed.data import Problem, Spec, load
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
Call = Callable[[Client | None], Any]


def timed(call: Callable[[], Any], client: Client | None) -> tuple[float, float, float]:
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


def compare(work: str, call: Call, clients: dict[str, Client | None]) -> None:
    """Warm up, time the work of all clients in every round, and print their rows.

    Efficiency is the time of the first divided by this time, per worker.
    """
    for client in clients.values():
        call(client)
    rounds = [[timed(partial(call, one), one) for one in clients.values()] for _ in range(ROUNDS)]
    medians = np.median(rounds, axis=0)
    for (name, client), row in zip(clients.items(), medians, strict=True):
        n_workers = len(client.ncores()) if client else 1
        efficiency = medians[0] / row / n_workers
        numbers = (*row, efficiency[0], efficiency[2])
        print(line([work, name, *(f"{number:.2f}" for number in numbers)]), flush=True)


def fit(model: Any, problem: Problem, client: Client | None) -> Any:
    """Fit here, or on a cluster."""
    return (OnCluster(model, client) if client else model).fit(problem.X, problem.y)


def find(problem: Problem, client: Client | None) -> Any:
    """Build an engine and find the neighbours."""
    X = problem.X
    return (DaskEngine(X, METRIC, "brute", client) if client else build_engine(X, METRIC, "brute")).knn(K)


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
        for name, work, size in (
            ("FuzzyOPFClassifierCV.fit", partial(fit, FuzzyOPFClassifierCV(transforms=None)), SEARCH_SIZE),
            (f"neighbour pass, k = {K}", find, SIZE),
            ("OPFClassifier.fit", partial(fit, OPFClassifier()), SIZE),
        ):
            compare(f"{name}, {size[0]:,} x {size[1]}", partial(work, load(Spec("mixture", *size))), clients)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; {_core.simd_level()}")


if __name__ == "__main__":
    main()
