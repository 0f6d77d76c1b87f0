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
from statistics import median
from typing import Any, NamedTuple

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


class Times(NamedTuple):
    """One call: wall-clock time, CPU of this process, CPU of each worker."""

    wall: float
    here: float
    workers: list[float]

    @property
    def cpu(self) -> float:
        """CPU of all processes together."""
        return self.here + sum(self.workers)


def timed(call: Callable[[], Any], client: Client | None = None) -> Times:
    """Time a call, and the processes behind it."""
    before = _worker_seconds(client)
    wall, here = time.perf_counter(), time.process_time()
    call()
    wall, here = time.perf_counter() - wall, time.process_time() - here
    after = _worker_seconds(client)
    return Times(wall, here, [after[address] - before[address] for address in after])


def _worker_seconds(client: Client | None) -> dict[str, float]:
    return client.run(time.process_time) if client else {}


def neighbour_pass(X: np.ndarray, client: Client | None) -> Callable[[], Any]:
    """Build an engine and find the neighbours, on one local thread or on a cluster."""
    if client is None:
        return lambda: build_engine(X, METRIC, "brute").knn(K)
    return lambda: DaskEngine(X, METRIC, "brute", client).knn(K)


def race(contenders: dict[str, tuple[Callable[[], Any], Client | None]]) -> dict[str, list[Times]]:
    """Warm up, then time all contenders in every round."""
    times: dict[str, list[Times]] = {name: [] for name in contenders}
    for call, _ in contenders.values():
        call()
    for _ in range(ROUNDS):
        for name, (call, client) in contenders.items():
            times[name].append(timed(call, client))
    return times


def report(work: str, times: dict[str, list[Times]], base: str) -> None:
    """Print the rows of one race; efficiency is the time of the base divided by this time, per worker."""

    def middle(name: str, value: Callable[[Times], float]) -> float:
        return median(value(t) for t in times[name])

    for name, rounds in times.items():
        wall, cpu = middle(name, lambda t: t.wall), middle(name, lambda t: t.cpu)
        n_workers = max(1, len(rounds[0].workers))
        # CPU time of the busiest worker: a lower bound of the time on dedicated cores.
        busiest = middle(name, lambda t: max(t.workers, default=t.here))
        by_wall = middle(base, lambda t: t.wall) / wall / n_workers
        by_cpu = middle(base, lambda t: t.cpu) / busiest / n_workers
        numbers = (wall, cpu, busiest, by_wall, by_cpu)
        print(line([work, name, *(f"{number:.2f}" for number in numbers)]), flush=True)


def draw(size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, str]:
    """Return samples, labels, and the size in words."""
    problem = load(Spec("mixture", *size))
    return problem.X, problem.y, f"{size[0]:,} x {size[1]}"


def fits(
    local: Any, clients: dict[str, Client | None], X: Any, y: Any
) -> dict[str, tuple[Callable[[], Any], Client | None]]:
    """Prepare the same fit for every contender."""
    models = {name: local if c is None else OnCluster(local, c) for name, c in clients.items()}
    return {name: (partial(model.fit, X, y), clients[name]) for name, model in models.items()}


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
        columns = ["wall, s", "CPU, s", "busiest, s", "efficiency, wall", "efficiency, CPU"]
        print(head(["work", "where", *columns], n_words=2))
        clients = {"1 thread, no Dask": None, "1 worker": single, "2 workers": double}
        base = "1 thread, no Dask"
        X, y, size = draw(SEARCH_SIZE)
        searches = race(fits(FuzzyOPFClassifierCV(transforms=None), clients, X, y))
        report(f"FuzzyOPFClassifierCV.fit, {size}", searches, base)
        X, y, size = draw(SIZE)
        race_of_passes = race({name: (neighbour_pass(X, c), c) for name, c in clients.items()})
        report(f"neighbour pass, k = {K}, {size}", race_of_passes, base)
        race_of_fits = race(fits(OPFClassifier(), clients, X, y))
        report(f"OPFClassifier.fit, {size}", race_of_fits, base)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; {_core.simd_level()}")


if __name__ == "__main__":
    main()
