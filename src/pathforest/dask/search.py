"""The cells of a search, scored by the workers of a Dask cluster.

Every worker gets all samples, and the neighbour lists that the folds share. Cells of one representation on
one fold are a task. Blocks of the evaluation samples are tasks too, if they need no transformer: the search
for their neighbours takes longer than the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import ceil
from typing import Any

import cloudpickle
import numpy as np
from distributed import Client
from threadpoolctl import threadpool_limits

from pathforest._search.cells import Folds, Part, Runner, Scores, one_by_one
from pathforest._search.scoring import Judge
from pathforest._search.training import Near
from pathforest._utils.progress import Progress, Share, Silence
from pathforest._utils.text import show
from pathforest.dask import engine
from pathforest.dask.futures import Sent, run_tasks, thread_counts

# Roughly the time of one thread to train and score one sample of a fold; it decides where, not what.
SAMPLE_SECONDS = 1e-5

# Members of every class near a sample, in times of the 10 samples nearest to it: 8 on 40,000 x 20, 5 classes.
NEAR_FACTOR = 8

# Neighbours of the evaluation samples of a fold, at most: they come together where they are scored. If they
# would take more, that task searches them, some at a time.
NEAR_BYTES = 2**30

# Folds that a worker has prepared: tasks of one meet the last tasks of the one before.
KEPT_FOLDS = 2


class ClusterRunner:
    """Scores parts of folds as tasks on a cluster; `params` are those of the search."""

    def __init__(self, client: Client, params: dict[str, Any]) -> None:
        self._client, self._params = client, params
        self._sent: Sent | None = None

    def __call__(
        self, folds: Folds, parts: list[Part], judge: Judge, bar: Progress
    ) -> Iterator[tuple[Part, Scores]]:
        """Score the parts; small ones here, one after the other."""
        if len(parts) * folds.n_samples * SAMPLE_SECONDS < engine.LOCAL_SECONDS:
            yield from one_by_one(folds, parts, judge, bar)
            return
        if self._sent is None:
            _check_travellers(self._params)
            folds.find_lists()
            self._sent = Sent(self._client, [folds.local_copy(KEPT_FOLDS)])
        n_threads = sum(thread_counts(self._client).values())
        blocks = [_evaluation_blocks(folds, part, n_threads / len(parts)) for part in parts]
        found: dict[int, Scores] = {}

        def submit(i: int) -> Any:
            near = [self._submit(find_near, parts[i], rows) for rows in blocks[i]]
            return self._submit(score_part, parts[i], judge, near)

        def take(i: int, scores: Scores) -> None:
            found[i] = scores
            bar.update(len(parts[i].cells))

        run_tasks(self._client, len(parts), submit, take)
        for i, part in enumerate(parts):
            yield part, found[i]

    def forget(self) -> None:
        """Let the cluster drop the samples."""
        if self._sent is not None:
            self._sent.forget()

    def _submit(self, task: Any, *args: Any) -> Any:
        folds, workers = self._sent[0], self._sent.workers(0)
        # Only a wish, as workers may leave.
        return self._client.submit(task, folds, *args, pure=False, workers=workers, allow_other_workers=True)


def _check_travellers(params: dict[str, Any]) -> None:
    """Refuse what workers need and cannot be sent."""
    for name in ("metric", "metric_params", "membership", "transforms", "scoring"):
        try:
            cloudpickle.dumps(params[name])
        except Exception as error:
            raise TypeError(
                f"{name}={show(params[name])} cannot be sent to workers: {error}; pass something that can be "
                "pickled, without locks, connections or open files, or use the local class"
            ) from error


def _evaluation_blocks(folds: Folds, part: Part, threads_per_part: float) -> list[slice]:
    """Divide the evaluation samples of a part into blocks that are tasks of their own, or into none."""
    size = folds.search_size(part)
    if size is None or folds.near_bytes(part) > NEAR_BYTES:
        return []
    tasks = NEAR_FACTOR * engine.pass_seconds(*size, "kd_tree") / engine.TASK_SECONDS
    n_blocks = min(max(tasks, engine.TASKS_PER_THREAD * threads_per_part), 20 * tasks, size[0])
    bounds = np.linspace(0, size[0], ceil(n_blocks) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(bounds)] if n_blocks > 1 else []


_preparing = threading.Lock()


def find_near(folds: Folds, part: Part, rows: slice) -> Near:
    """Find, on a worker, the training samples near some evaluation samples."""
    with threadpool_limits(1, user_api="openmp"):
        with _preparing:  # one thread prepares the fold for all; without samples, nothing is searched
            folds.near(part, slice(0, 0))
        return folds.near(part, rows)


def score_part(folds: Folds, part: Part, judge: Judge, near: list[Near]) -> Scores:
    """Score a part on a worker."""
    with threadpool_limits(1, user_api="openmp"):
        return folds.score_part(part, judge, Share(Silence(), 0), near)


@contextmanager
def runner_on(client: Client, params: dict[str, Any]) -> Iterator[Runner]:
    """Yield what scores the parts of a search on a cluster, for the time of a fit."""
    runner = ClusterRunner(client, params)
    try:
        yield runner
    finally:
        runner.forget()
