"""What a Dask cluster gains and costs on this machine: python -m benchmarks.speed.dask.

Prints three tables. The first compares the neighbour pass, `fit` and a search with the same on one thread, in
wall-clock seconds and in seconds of CPU, because other programs may use the cores as well; rounds are
interleaved, and ratios are ratios of medians. ``python -m benchmarks.speed.dask search`` ends after the
search. The second has the rates of each stage. The third estimates
from these rates, by the formulae of `docs/using/dask.md`, the time for 10 million samples of 50 features on
50 workers of 8 threads.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from math import ceil
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import describe
from benchmarks.tables import head, line, markdown
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, _core
from pathforest._engines.build import build_engine
from pathforest.dask import DaskFuzzyOPFClassifierCV, DaskOPFClassifier
from pathforest.dask.engine import BLOCK_BYTES, DaskEngine, part_range
from pathforest.dask.tasks import merge
from pathforest.distances import resolve_metric
from pathforest.forest import boundary_prototypes, grow_forest_complete
from pathforest.graph import knn_graph, spanning_tree
from pathforest.membership import estimate_density, fuzzy_membership

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
    local: type, on_cluster: type, clients: dict[str, Client | None], X: Any, y: Any, **params: Any
) -> dict[str, tuple[Callable[[], Any], Client | None]]:
    """Prepare the same fit for every contender."""
    models = {
        name: local(**params) if c is None else on_cluster(**params, client=c) for name, c in clients.items()
    }
    return {name: (partial(model.fit, X, y), clients[name]) for name, model in models.items()}


class Rates(NamedTuple):
    """How much one thread, one worker or the client does in a second."""

    scan: float  # feature differences of the scan, per thread
    build: float  # feature values built into an engine, per thread
    merge: float  # list entries merged, per thread
    link: float  # bytes between client and worker, one way
    tasks: float  # empty tasks, submitted and gathered
    density: float  # samples times k_max, the search for k on the client
    tree: float  # samples, the spanning tree on the client
    complete: float  # samples, the competition over the complete graph on the client


def measure_rates(X: np.ndarray, y: np.ndarray, client: Client) -> Rates:
    """Measure each rate once after a warm-up, by CPU time if one thread does the work."""
    n, d = X.shape
    engine = build_engine(X, METRIC, "brute")
    build = timed(lambda: build_engine(X, METRIC, "brute")).cpu
    graph = knn_graph(engine, K)
    scan = timed(lambda: engine.knn(K)).cpu
    merging = timed(lambda: merge(*graph, *graph)).cpu
    tree = timed(lambda: spanning_tree(engine, graph)).cpu
    density = timed(lambda: estimate_density(graph, K, search=True)).cpu
    prototypes = boundary_prototypes(spanning_tree(engine, graph), y)
    membership = fuzzy_membership(estimate_density(graph, K, search=True).density, 0.8)
    competition = timed(lambda: grow_forest_complete(engine, graph, prototypes, membership)).cpu
    payload = np.ones(2**24)
    client.gather(client.scatter(payload, hash=False))
    sent = median(timed(lambda: client.gather(client.scatter(payload, hash=False))).wall for _ in range(5))
    tasks = timed(lambda: client.gather(client.map(int, range(1000), pure=False))).wall
    return Rates(
        n * n * d / scan,
        n * d / build,
        n * 2 * K / merging,
        2 * payload.nbytes / sent,
        1000 / tasks,
        n * K / density,
        n / tree,
        n / competition,
    )


def estimate(
    rates: Rates, n: int, d: int, k: int, workers: int, threads: int
) -> dict[str, tuple[str, float]]:
    """Amount and seconds of every stage of a fit, by the formulae of `docs/using/dask.md`."""
    cores = workers * threads
    n_blocks = ceil(4 * n * d / BLOCK_BYTES)
    n_blocks = workers * ceil(n_blocks / workers)
    _, parts = part_range(n_blocks, cores)
    n_tasks = parts * n_blocks
    travelling = n * (4 * d + 12 * k) * n_blocks * (1 - 1 / workers)
    return {
        "samples to the client, blocks to the workers": (f"{8 * n * d / 1e9:.1f} GB", 8 * n * d / rates.link),
        "engines": (f"{n_blocks} of {n // n_blocks:,} samples", n * d / rates.build / workers),
        "scan": (f"{n_tasks:,} tasks", n * n * d / rates.scan / cores),
        "merge": (f"{n_blocks - 1} times", n * 2 * k * (n_blocks - 1) / rates.merge / cores),
        "lists from block to block": (f"{travelling / 1e9:.0f} GB", travelling / workers / rates.link),
        "scheduler, at the same time": (f"{n_tasks:,} tasks", n_tasks / rates.tasks),
        "lists to the client": (f"{12 * n * k / 1e9:.1f} GB", 12 * n * k / rates.link),
        "spanning tree, on the client": ("1 thread", n / rates.tree),
        "search for k, on the client": ("1 thread", n * k / rates.density),
        "competition (complete), on the client": ("1 thread", n / rates.complete),
    }


def main() -> None:
    """Print the three tables."""
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
        as_given = {"transforms": None}
        searches = race(fits(FuzzyOPFClassifierCV, DaskFuzzyOPFClassifierCV, clients, X, y, **as_given))
        report(f"FuzzyOPFClassifierCV.fit, {size}", searches, base)
        if sys.argv[1:] == ["search"]:
            return
        X, y, size = draw(SIZE)
        race_of_passes = race({name: (neighbour_pass(X, c), c) for name, c in clients.items()})
        report(f"neighbour pass, k = {K}, {size}", race_of_passes, base)
        race_of_fits = race(fits(OPFClassifier, DaskOPFClassifier, clients, X, y))
        report(f"OPFClassifier.fit, {size}", race_of_fits, base)
        rates = measure_rates(X, y, single)
        shown = ([name, f"{value:.3g}"] for name, value in rates._asdict().items())
        print("", markdown(["rate", "per second"], shown), "", sep="\n")
        stages = estimate(rates, 10**7, 50, K, 50, 8).items()
        shown = ([name, amount, f"{seconds:.0f}"] for name, (amount, seconds) in stages)
        print(markdown(["stage, 10 million x 50 on 50 x 8", "amount", "seconds"], shown, n_words=2))
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; {_core.simd_level()}")


if __name__ == "__main__":
    main()
