"""The cells of a search, scored by the workers of a Dask cluster.

Every worker gets the plan, with all samples and the neighbour lists that the folds share. Cells of one
representation on one fold are a task. Blocks of the evaluation samples are tasks too, if they need no
transformer: the search for their neighbours takes longer than the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from math import ceil
from typing import Any

import cloudpickle
import numpy as np
from distributed import Client
from threadpoolctl import threadpool_limits

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._models.offers import EXTRA_MEMBERS
from pathforest._search import folds
from pathforest._search.folds import FoldWork, Near, Part
from pathforest._search.plan import Plan, Task
from pathforest._search.scoring import Scores
from pathforest._utils.progress import progress
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
LIST_BYTES = 12  # of a distance and an index

# Folds of which a worker keeps what it has prepared: tasks of one meet the last tasks of the one before.
KEPT_FOLDS = 2


def search(client: Client, params: dict[str, Any], plan: Plan, build: EngineFactory) -> tuple[Plan, Scores]:
    """Score every cell of a plan as tasks on a cluster; `params` are those of the search."""
    tasks = plan.tasks()
    if len(tasks) * len(plan.y) * SAMPLE_SECONDS < engine.LOCAL_SECONDS:
        return folds.search(plan, build)
    _check_travellers(params)
    plan = folds.share_lists(plan, build, always=True)
    n_threads = sum(thread_counts(client).values())
    collected = folds.Collected(plan)
    blocks = [evaluation_blocks(plan, task, n_threads / len(tasks)) for task in tasks]
    shown = progress(len(plan.cells) * len(plan.splits), "pathforest search")
    with closing(Sent(client, [Bench(plan)])) as sent, shown as bar:

        def send(i: int) -> Any:
            near = [sent.ask(0, find_near, tasks[i], rows) for rows in blocks[i]]
            return sent.ask(0, score, tasks[i], near)

        def take(i: int, found: Scores) -> None:
            collected.add(tasks[i], found)
            bar.update(len(tasks[i].rows))

        run_tasks(client, len(tasks), send, take)
    return plan, collected.scores()


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


def evaluation_blocks(plan: Plan, task: Task, threads_per_task: float) -> list[slice]:
    """Divide the evaluation samples of a task into blocks that are tasks of their own, or into none."""
    train, rows = plan.splits[task.fold]
    if not plan.takes_as_given(task.transform) or plan.metric.kind != "features":
        return []
    if len(rows) * len(np.unique(plan.y)) * (_most(plan, task) + EXTRA_MEMBERS) * LIST_BYTES > NEAR_BYTES:
        return []
    seconds = engine.pass_seconds(len(rows), len(train), plan.samples.checked.shape[1], "kd_tree")
    tasks = NEAR_FACTOR * seconds / engine.TASK_SECONDS
    n_blocks = min(max(tasks, engine.TASKS_PER_THREAD * threads_per_task), 20 * tasks, len(rows))
    bounds = np.linspace(0, len(rows), ceil(n_blocks) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(bounds)] if n_blocks > 1 else []


def _most(plan: Plan, task: Task) -> int:
    """Return the most conquerors that a cell has."""
    return max(plan.cells[row].n_conquerors for row in task.rows)


# What runs on the workers

_preparing = threading.Lock()


class Bench:
    """The plan on a worker, and what that has prepared for the folds it met last, which cannot travel."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self._works = plan, {}

    def work(self, fold: int) -> FoldWork:
        """Return what the tasks of a fold share."""
        work = self._works.setdefault(fold, FoldWork())
        for oldest in list(self._works)[:-KEPT_FOLDS]:
            self._works.pop(oldest, None)  # another thread may do the same
        return work

    def part(self, task: Task) -> Part:
        """Represent the samples of a task: one thread does it for all."""
        work = self.work(task.fold)
        with _preparing:
            return work.once(task.transform, lambda: folds.represent(self.plan, task, work, build_engine))

    def __reduce__(self) -> tuple[Any, ...]:
        return Bench, (self.plan,)


def find_near(bench: Bench, task: Task, rows: slice) -> Near:
    """Find the training samples near some evaluation samples."""
    with threadpool_limits(1, user_api="openmp"):
        return folds.find_near(bench.part(task), rows, _most(bench.plan, task))


def score(bench: Bench, task: Task, near: Sequence[Near]) -> Scores:
    """Score the cells of a task."""
    with threadpool_limits(1, user_api="openmp"):
        ready = folds.prepare(bench.plan, task, bench.work(task.fold), build_engine)
        return folds.score(bench.plan, task, ready, lambda part: None, near)
