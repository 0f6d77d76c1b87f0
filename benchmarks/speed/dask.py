"""What a Dask cluster gains and costs on this machine: python -m benchmarks.speed.dask.

With --model it counts the distances and bytes of fits, beside those of the model in docs/using/scale.md. Else
it compares the neighbour pass, `fit` and a search with the same on one thread, in wall-clock seconds and in
seconds of CPU, because other programs may use the cores as well; rounds are interleaved, and ratios are
ratios of medians.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.sizeof import sizeof
from distributed import Client, LocalCluster

from benchmarks.speed.data import Problem, Spec, load
from benchmarks.speed.machine import describe
from benchmarks.tables import head, line, parser
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, _core
from pathforest._engines.build import build_engine
from pathforest._engines.engine import TREE_NEIGHBORS
from pathforest.dask import OnCluster, engine
from pathforest.dask.engine import Block, DaskEngine
from pathforest.dask.tree import Rounds
from pathforest.distances import resolve_metric

SIZE = 100_000, 20
SEARCH_SIZE = 40_000, 20
K = 20
ROUNDS = 3
MODEL_SIZES = 10_000, 20_000, 40_000, 80_000
N_TASKS = 64  # of the neighbour pass: blocks are then far larger than what a task takes along
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


class Counted:
    """An engine that counts the pairs of samples that its answers are about."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def _count(self, name: str, n_queries: int, *args: Any) -> Any:
        Block.pairs += n_queries * self.n_samples  # of the worker: this class is another in each message
        return getattr(self._engine, name)(*args)

    def knn(self, k: int, n_threads: int, start: int, stop: int) -> Any:
        """Count, and find the neighbours."""
        return self._count("knn", stop - start, k, n_threads, start, stop)

    def query(self, queries: np.ndarray, *args: Any) -> Any:
        """Count, and find the neighbours."""
        return self._count("query", len(queries), queries, *args)

    def nearest_foreign(self, queries: np.ndarray, *args: Any) -> Any:
        """Count, and find the nearest of other components."""
        return self._count("nearest_foreign", len(queries), queries, *args)

    def joining_arcs(self, component: np.ndarray, *args: Any) -> Any:
        """Count all pairs, of which those within components are not looked at."""
        return self._count("joining_arcs", len(args[2]) if len(args) > 2 else 0, component, *args)


def count_pairs() -> None:
    """Have the engines of blocks on a worker count."""
    build, Block.pairs = Block._build, 0.0
    Block._build = lambda self, *how: Counted(build(self, *how))


def compare_with_model(n: int, d: int = 32, n_blocks: int = 4, n_workers: int = 2) -> str:
    """Fit in blocks; return a line of distances and bytes, counted and by the model, and their ratios."""
    problem, k = load(Spec("mixture", n, d)), TREE_NEIGHBORS
    engine.TASK_SECONDS = engine.pass_seconds(n, n // n_blocks, d, "brute") / N_TASKS
    engine.BLOCK_BYTES, engine.LOCAL_SECONDS = -(-problem.X.nbytes // n_blocks), 0
    scattered, rounds, scatter, read = [], [], Client.scatter, Rounds._round
    Client.scatter = lambda self, data, **how: scattered.append(sizeof(data)) or scatter(self, data, **how)
    Rounds._round = lambda self, n, sent: rounds.append(n) or read(self, n, sent)
    options = {"threads_per_worker": 1, "dashboard_address": None, "n_workers": n_workers}
    stays = dask.config.set({"distributed.scheduler.work-stealing": False})
    with stays, LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(count_pairs)
        workers = sorted(client.ncores())
        parts = [
            client.scatter(part, workers=[workers[i % n_workers]])
            for i, part in enumerate(np.array_split(problem.X, n_blocks))
        ]
        X = da.concatenate([da.from_delayed(one, (n // n_blocks, d), problem.X.dtype) for one in parts])
        scattered.clear()
        before = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
        OnCluster(OPFClassifier(), client).fit(X, problem.y)
        pairs = sum(client.run(lambda: Block.pairs).values())
        sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    Client.scatter, Rounds._round = scatter, read
    chunks = n * 4 * d * (1 - 1 / n_workers)
    lists = n * (4 * d + 12 * k + 1) * n_workers * (n_blocks - 1) / n_blocks
    arcs = 20 * sum(min(n, N_TASKS * n_components) for n_components in rounds)
    model = chunks + lists + 4 * n * len(rounds) * n_workers + arcs
    moved = sum(sent.values()) - sum(before.values()) + sum(scattered)
    numbers = (pairs, float(n) ** 2, pairs / n**2, moved, model, moved / model)
    return line([f"{n:,} x {d}", str(len(rounds)), *(f"{number:.3g}" for number in numbers)])


def main() -> None:
    """Print the table."""
    options = parser("benchmarks.speed.dask", __doc__)
    options.add_argument("--model", action="store_true", help="count distances and bytes")
    if options.parse_args().model:
        names = ["samples", "rounds", "distances", "model", "ratio", "bytes", "model", "ratio"]
        print(head(names))
        for n in MODEL_SIZES:
            print(compare_with_model(n), flush=True)
        return
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
