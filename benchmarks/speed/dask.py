"""The distances and bytes of fits on a Dask cluster, counted: python -m benchmarks.speed.dask.

Beside them are those of the model in docs/using/scale.md. With --time it compares seconds of CPU, of client
and workers together, with those of one process: other programs may use the cores as well.
"""

import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.sizeof import sizeof
from distributed import Client, LocalCluster

from benchmarks.speed.data import Spec, load
from benchmarks.tables import head, line, parser
from pathforest import OPFClassifier
from pathforest._engines.engine import TREE_NEIGHBORS
from pathforest.dask import OnCluster, engine
from pathforest.dask.engine import Block
from pathforest.dask.tree import Rounds

SIZES = 10_000, 20_000, 40_000, 80_000
TIMED_SIZES, ROUNDS = (30_000, 60_000), 3
N_TASKS = 64  # of the neighbour pass: blocks are then far larger than what a task takes along
COLUMNS = ("samples", "rounds", "distances", "model", "ratio", "bytes", "model", "ratio")


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


def used(client: Client) -> float:
    """Return the seconds of CPU that this process and all workers have used."""
    return time.process_time() + sum(client.run(time.process_time).values())


def compare_with_one_process(n: int, client: Client, d: int = 32) -> str:
    """Fit on one process with two threads and on the cluster, in turns; return a line of medians."""
    problem, seconds = load(Spec("mixture", n, d)), []
    X = da.from_array(problem.X, chunks=(-(-n // 4), -1)).persist()
    for _ in range(ROUNDS):
        start = used(client)
        OPFClassifier(n_jobs=2).fit(problem.X, problem.y)
        between = used(client)
        OnCluster(OPFClassifier(), client).fit(X, problem.y)
        seconds.append([between - start, used(client) - between])
    here, there = np.median(seconds, axis=0)
    return line([f"{n:,} x {d}", f"{here:.2f}", f"{there:.2f}", f"{there / here:.2f}"])


def main() -> None:
    """Print one of the tables."""
    options = parser("benchmarks.speed.dask", __doc__)
    options.add_argument("--time", action="store_true", help="compare processor time with one process")
    if options.parse_args().time:
        how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**how) as cluster, Client(cluster, set_as_default=False) as client:
            print(head(["samples", "2 threads here, s of CPU", "2 workers, s of CPU", "ratio"]))
            for n in TIMED_SIZES:
                print(compare_with_one_process(n, client), flush=True)
        return
    print(head(COLUMNS))
    for n in SIZES:
        print(compare_with_model(n), flush=True)


if __name__ == "__main__":
    main()
