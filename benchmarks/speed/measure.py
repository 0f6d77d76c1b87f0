"""Time contenders side by side: prepare them, warm up, then let them take turns."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.speed.contender import Contender, Timed
from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import megabytes
from benchmarks.speed.peers import why_missing

PAUSE = 0.02  # OpenMP threads spin for a moment after a loop, and would take a core from the next contender
SHORTEST = 0.05  # calls shorter than this are timed many at a time
LONG = 5.0  # seconds; longer calls are repeated, but not timed many at a time


@dataclass
class Result:
    """The times of one contender, with the score of its result; or the reason why there are none."""

    times: list[float] = field(default_factory=list)  # seconds per call
    score: dict[str, float] = field(default_factory=dict)
    error: str | None = None

    @property
    def median(self) -> float | None:
        """Median time, or None if there are no times."""
        return median(self.times) if self.times else None


def race(spec: Spec, contenders: dict[str, Contender], threads: int, repeats: int) -> dict[str, Result]:
    """Time the contenders on the same data, `repeats` times each, one after the other in every round."""
    results = {name: Result(error=why_missing(contender)) for name, contender in contenders.items()}
    runners = {}
    with threadpool_limits(threads):
        for name, contender in contenders.items():
            if results[name].error is None:
                runners[name] = _guarded(results[name], _warm_up, contender, spec, threads, results[name])
        for _ in range(repeats):
            for name, runner in runners.items():
                if results[name].error is None:
                    seconds = _guarded(results[name], _time, *runner)
                    results[name].times += [] if seconds is None else [seconds]
    return results


def _guarded(result: Result, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; a failure becomes part of the result, because one contender must not stop the run."""
    try:
        return function(*args)
    except Exception as error:
        result.error, result.times = f"{type(error).__name__}: {error}", []
        return None


def _warm_up(contender: Contender, spec: Spec, threads: int, result: Result) -> tuple[Callable[[], Any], int]:
    """Prepare a contender, call it, score the result; find how many calls to time together."""
    problem = load(spec)
    call = contender.prepare(problem, threads)
    start = time.perf_counter()
    answer = call()  # compiles, allocates, fills caches
    first = time.perf_counter() - start
    result.score = contender.score(problem, answer)
    if isinstance(answer, Timed) or first > LONG:
        return call, 1
    del answer
    number = 1
    while number < 1000 and (seconds := number * _time(call, number)) < SHORTEST:
        number = min(1000, max(2 * number, int(number * SHORTEST / seconds)))
    return call, number


def _time(call: Callable[[], Any], number: int) -> float:
    """Seconds per call, without the garbage collector."""
    time.sleep(PAUSE)
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(number):
            answer = call()
        seconds = (time.perf_counter() - start) / number
    finally:
        gc.enable()
    return answer.seconds if isinstance(answer, Timed) else seconds


def peak_memory(name: str, spec: Spec, threads: int) -> float:
    """Measure MB at the peak of one call of a contender, libraries and data included, in a fresh process."""
    from benchmarks.speed.rows import CONTENDERS

    with threadpool_limits(threads):
        CONTENDERS[name].prepare(load(spec), threads)()
    return megabytes("VmHWM")
