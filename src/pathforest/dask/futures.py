"""Tasks on a cluster whose workers may die, and whose user may press Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, Self

from distributed import Client, Future, as_completed

# Workers that die of the task itself would kill it for ever; Dask's own limit is 3 for each attempt.
MOST_ATTEMPTS = 5

# Until the scheduler notices that a worker is gone, it would send to that one again. Doubled each time.
SECONDS_TO_NOTICE = 0.2


class Sent:
    """Objects that the client has sent to the cluster, and sends again if a worker takes them along.

    Dask computes lost results again, but what was sent has nothing it could be computed from. A lone object
    serves all tasks and goes to every worker; several are distributed.
    """

    def __init__(self, client: Client, objects: Sequence[Any]) -> None:
        self._client, self._objects = client, objects
        self._sent: dict[int, tuple[Future, list[str]]] = {}

    def __getitem__(self, position: int) -> Future:
        return self._send(position)[0]

    def workers(self, position: int) -> list[str]:
        """Return the workers an object was sent to."""
        return self._send(position)[1]

    def forget(self) -> None:
        """Let the cluster drop them."""
        self._sent.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.forget()

    def _send(self, position: int) -> tuple[Future, list[str]]:
        attempt = 0
        while position not in self._sent or self._sent[position][0].status in ("lost", "cancelled"):
            try:
                self._sent[position] = self._scatter(position)
                self._spread(*self._sent[position])
            except (OSError, KeyError):  # no connection, or an unknown address: a worker died just now
                attempt += 1
                if attempt == MOST_ATTEMPTS:
                    raise
                time.sleep(SECONDS_TO_NOTICE * 2**attempt)
        return self._sent[position]

    def _scatter(self, position: int) -> tuple[Future, list[str]]:
        self._client.wait_for_workers(1)
        workers = sorted(self._client.nthreads())
        first = workers[position % len(workers)]
        # In a list, because Dask would send the fields of a named tuple one by one.
        (future,) = self._client.scatter([self._objects[position]], workers=[first], hash=False)
        return future, workers if len(self._objects) == 1 else [first]

    def _spread(self, future: Future, workers: list[str]) -> None:
        """Have each worker fetch a copy, from the growing number of those that have one.

        Dask's own broadcast never ends if one of the workers dies meanwhile.
        """
        n_copies = 1
        while n_copies < len(workers):
            wave = workers[n_copies : 3 * n_copies]  # each copy serves two
            fetched = [
                self._client.submit(id, future, workers=[worker], allow_other_workers=True, pure=False)
                for worker in wave
            ]
            for _ in as_completed(fetched, loop=self._client.loop):  # what is lost meanwhile is sent again
                pass
            n_copies *= 3


def run_tasks(
    client: Client, count: int, submit: Callable[[int], Future], take: Callable[[int, Any], None]
) -> None:
    """Submit tasks 0 to `count` - 1 and take their results, in whatever order they come.

    A task whose input went with a worker is submitted again. Whatever ends this early, an error or Ctrl-C,
    cancels the tasks that are left.
    """
    waiting: dict[Future, int] = {}
    attempts = [1] * count
    try:
        for i in range(count):
            waiting[submit(i)] = i
        results = as_completed(waiting, loop=client.loop)
        for future in results:
            i = waiting[future]
            try:
                result = future.result()
            except CancelledError as error:
                if attempts[i] == MOST_ATTEMPTS:
                    raise RuntimeError(
                        f"workers were lost {MOST_ATTEMPTS} times with the data of one task; look into their "
                        "logs, and give them more memory or fewer threads if they ran out of it"
                    ) from error
                attempts[i] += 1
                again = submit(i)
                waiting[again] = i
                results.add(again)
            else:
                take(i, result)
            del waiting[future]
            future.release()
    finally:
        client.cancel(list(waiting))
