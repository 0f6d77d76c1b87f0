"""Tasks on a cluster whose scheduler and workers may die, and whose user may press Ctrl-C."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from dask.sizeof import sizeof
from distributed import Client, Future, as_completed, default_client

from pathforest._utils.text import show, warn

# Workers that die of the task itself would kill it for ever; Dask's own limit is 3 for each attempt.
MOST_ATTEMPTS = 5

# Until the scheduler notices that a worker is gone, it would send to that one again. Doubled each time.
SECONDS_TO_NOTICE = 0.2

# States of a future whose object has gone with the workers that had it.
GONE = "lost", "cancelled"

# Without a worker before a warning says so; a nanny has started another one by then.
SECONDS_ALONE = 5.0

# And one more per megabyte: a copy that takes longer will never arrive. Dask keeps to itself that a worker
# cannot read what it has fetched, and has it wait for ever.
SECONDS_TO_COPY = 60.0


def _address(client: Client) -> str:
    return getattr(client.scheduler, "address", "an unknown address")


def checked_client(client: Any, name: str) -> Client:
    """Return the client given, or the one that Dask would use; `name` is what it is for."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                f"{name} has client=None and no Dask client is active; make one with "
                "distributed.Client(), or pass client="
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client={show(client)} must be a distributed.Client or None")
    if client.asynchronous:
        raise ValueError(
            f"client={show(client)} is asynchronous, and fit waits for its results; make the client "
            "without asynchronous=True"
        )
    return client


def check_connection(client: Client) -> None:
    """Raise ConnectionError if the scheduler is gone; a client would go on trying for half a minute."""
    if client.status != "running":
        raise ConnectionError(
            f"the Dask scheduler at {_address(client)} cannot be reached any more; start the "
            "cluster again and use a new Client, or use the local class"
        )


def thread_counts(client: Client) -> dict[str, int]:
    """Return the number of threads of each worker."""
    check_connection(client)
    return client.nthreads()


@contextmanager
def naming_a_lost_scheduler(client: Client) -> Iterator[None]:
    """Say that the scheduler is gone, whatever error has come of it."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception:
        check_connection(client)
        raise


class Watch:
    """Looks after the cluster while the client waits for it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._next_look = 0.0
        self._alone_since: float | None = None

    def has_workers(self) -> bool:
        """Look once a second at most; raise if the scheduler is gone, and warn if there have been no workers.

        Until the next look the answer is what was seen last.
        """
        check_connection(self._client)
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + 1
            alone = not thread_counts(self._client)
            self._alone_since = (self._alone_since or now) if alone else None
        if self._alone_since and now - self._alone_since >= SECONDS_ALONE:
            self._alone_since = math.inf  # once is enough
            warn(
                f"the Dask cluster at {_address(self._client)} has no workers, and the call waits for one; "
                "start workers, or stop the call with Ctrl-C"
            )
        return self._alone_since is None


def wait_for_workers(client: Client) -> list[str]:
    """Wait until the cluster has a worker; return the addresses of all."""
    watch = Watch(client)
    # The second look is for workers that have left since the first.
    while not (watch.has_workers() and (workers := sorted(thread_counts(client)))):
        time.sleep(0.1)
    return workers


class Results(as_completed):
    """Futures as they are done, with an eye on the cluster in the meantime.

    `patience` is how many seconds to wait for each while the cluster has workers.
    """

    def __init__(self, client: Client, futures: Sequence[Future], patience: float = math.inf) -> None:
        super().__init__(futures, loop=client.loop)
        self._client, self._watch, self._patience = client, Watch(client), patience

    def __next__(self) -> Future:
        start = time.monotonic()
        while not (self.has_ready() or self.is_empty()):
            if not self._watch.has_workers():
                start = time.monotonic()
            if time.monotonic() - start > self._patience:
                raise RuntimeError(
                    f"a worker of the Dask cluster at {_address(self._client)} has no copy of the data after "
                    f"{self._patience:.0f} seconds; its log says why, most often a module that it lacks or "
                    "has in another version: install the client's packages on all workers"
                )
            time.sleep(0.01)
        return super().__next__()


class Sent:
    """Objects that the client has sent to the cluster, and sends again if a worker takes them along.

    Dask computes lost results again, but what was sent has nothing it could be computed from. A lone object
    serves all tasks and goes to every worker; several are distributed. `n_bytes` is the size of a lone
    object, if it does not know that itself.
    """

    def __init__(self, client: Client, objects: Sequence[Any], n_bytes: int = 0) -> None:
        self._client, self._objects = client, objects
        self._patience = SECONDS_TO_COPY + max(n_bytes, sizeof(objects[0])) / 2**20
        self._sent: dict[int, tuple[Future, list[str]]] = {}

    def __getitem__(self, position: int) -> Future:
        return self.send(position)[0]

    def ask(self, position: int, function: Any, *args: Any) -> Future:
        """Submit a function of one of them, to be answered where that is."""
        # Only a wish: a worker that retires hands on what it has, and the task must follow.
        future, workers = self.send(position)
        where = {"workers": workers, "allow_other_workers": True}
        return self._client.submit(function, future, *args, pure=False, **where)

    def all(self) -> list[Future]:
        """Return all of them, once none has been lost while the others were sent."""
        while True:
            futures = [self[position] for position in range(len(self._objects))]
            if not any(future.status in GONE for future in futures):
                return futures

    def close(self) -> None:
        """Let the cluster drop them."""
        self._sent.clear()

    def send(self, position: int) -> tuple[Future, list[str]]:
        """Send an object if it is not on the cluster; return its future and the workers it was sent to."""
        attempt = 0
        while position not in self._sent or self._sent[position][0].status in GONE:
            try:
                workers = wait_for_workers(self._client)
                first = workers[position % len(workers)]
                # In a list, because Dask would send the fields of a named tuple one by one.
                (future,) = self._client.scatter([self._objects[position]], workers=[first], hash=False)
                self._sent[position] = future, workers if len(self._objects) == 1 else [first]
                self._spread(*self._sent[position])
            except (OSError, KeyError):  # no connection, or an unknown address: a worker died just now
                check_connection(self._client)
                attempt += 1
                if attempt == MOST_ATTEMPTS:
                    raise
                time.sleep(SECONDS_TO_NOTICE * 2**attempt)
        return self._sent[position]

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
            try:
                for _ in Results(self._client, fetched, self._patience):
                    pass  # what is lost meanwhile is sent again
            except RuntimeError:
                self._client.cancel([future, *fetched])
                raise
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
        results = Results(client, list(waiting))
        for future in results:
            i = waiting[future]
            check_connection(client)  # which results come by, and without which all are cancelled
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
        if client.status == "running":
            with suppress(OSError):  # the scheduler died just now; that must not hide why this has ended
                client.cancel(list(waiting))


def run_all(
    client: Client,
    count: int,
    submit: Callable[[int], Future],
    told: Callable[[int], None] = lambda i: None,
) -> list[Any]:
    """Submit tasks 0 to `count` - 1 and return their results in this order; `told` hears which is done."""
    found: dict[int, Any] = {}

    def take(i: int, result: Any) -> None:
        found[i] = result
        told(i)

    run_tasks(client, count, submit, take)
    return [found[i] for i in range(count)]
