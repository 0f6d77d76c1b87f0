"""Training and prediction on a GPU, beside a plain blocked product: python -m benchmarks.speed.gpu.

On a machine with a GPU it prints the table of docs/using/gpu.md; with `--device torch-cpu --scale 0.01` it
can be tried anywhere. Contenders take turns; the first turn warms up. Answers are compared with those of the
CPU engines on the same data. `--search` measures the search instead, and `--largest` 10,000,000 samples with
the memory that takes.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.speed.data import N_CENTRES, N_CLASSES, SEED, SPREAD, Spec, load
from benchmarks.tables import markdown, parser
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, OPFClustering
from pathforest._core import max_threads

BLOCK = 2**33  # bytes of a block of products
PIECE = 2**20  # rows that are made at a time


def product_and_topk(X: torch.Tensor, k: int) -> None:
    """Find about the k nearest of each row: what a user of PyTorch would write."""
    norms = X.square().sum(1)
    for rows in X.split(max(1, BLOCK // (4 * len(X)))):
        torch.addmm(norms, rows, X.T, alpha=-2).topk(k + 1, dim=1, largest=False)


def product_and_minimum(Q: torch.Tensor, X: torch.Tensor) -> None:
    """Find about the nearest of each query."""
    norms = X.square().sum(1)
    for rows in Q.split(max(1, BLOCK // (4 * len(X)))):
        torch.addmm(norms, rows, X.T, alpha=-2).min(dim=1)


def take_turns(works: Sequence[Callable[[], Any]], device: str, repeat: int) -> list[float]:
    """Return the median time of each work."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeat + 1):
        for work, found in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            if device.startswith("cuda"):
                torch.cuda.synchronize()
            found.append(time.perf_counter() - start)
    return [median(found[1:]) for found in times]


def same_model(a: Any, b: Any) -> bool:
    """Compare every fitted array."""
    names = [name for name in vars(a) if name.endswith("_") and isinstance(getattr(a, name), np.ndarray)]
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def row(work: str, size: str, ours: float, peer: str, theirs: float | None, bar: str) -> list[str]:
    """Write one line of the table."""
    compared = ["", ""] if theirs is None else [f"{theirs:.2f} s", f"{ours / theirs:.2f}"]
    return [work, size, f"{ours:.2f} s", peer, *compared, bar]


def large(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Make samples and labels like those of :func:`load`, in pieces and without queries."""
    rng = np.random.default_rng(SEED)
    centres = rng.normal(size=(N_CENTRES, d)).astype(np.float32)
    X, component = np.empty((n, d), dtype=np.float32), rng.integers(0, N_CENTRES, n)
    for first in range(0, n, PIECE):
        part = X[first : first + PIECE]
        rng.standard_normal(dtype=np.float32, out=part)
        part *= np.float32(SPREAD[d])
        part += centres[component[first : first + PIECE]]
    return X, component % N_CLASSES


def timed_once(model: Any, X: np.ndarray, y: np.ndarray, share: float) -> float:
    """Return the time of a fit that takes long enough, after one on a share of the samples."""
    few = max(100, int(share * len(X)))
    model.fit(X[:few], y[:few])
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def without_kernels(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return a work that is done as if Triton were missing."""

    def function() -> Any:
        with patch("pathforest._engines.torch.engine.can_use", lambda device: False):
            return work()

    return function


def measure(device: str, scale: float, repeat: int) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table, and what was found about the answers."""
    n, features = round(400_000 * scale), 64
    problem = load(Spec("mixture", n, features))
    X, y, Q = problem.X, problem.y, problem.queries
    where = "cpu" if device == "torch-cpu" else device
    samples, queries = torch.as_tensor(X, device=where), torch.as_tensor(Q, device=where)
    size, k = f"{n:,} x {features}", min(100, n - 1)
    plain = OPFClassifier(device=device, n_jobs=-1)
    fuzzy = FuzzyOPFClassifier(device=device, n_jobs=-1, n_neighbors=k)

    ours, theirs = take_turns(
        [lambda: plain.fit(X, y), lambda: product_and_topk(samples, 10)], device, repeat
    )
    plain_seconds = ours
    rows = [row("fit, plain", size, ours, "product + topk, k = 10", theirs, "0.2")]
    for competition in ("tree", "complete"):
        fuzzy.set_params(competition=competition)
        ours, theirs = take_turns(
            [lambda: fuzzy.fit(X, y), lambda: product_and_topk(samples, k)], device, repeat
        )
        work = f"fit, fuzzy, n_neighbors = {k}, {competition}"
        rows.append(row(work, size, ours, f"product + topk, k = {k}", theirs, "2"))
    ours, theirs = take_turns(
        [lambda: plain.predict(Q), lambda: product_and_minimum(queries, samples)], device, repeat
    )
    rows.append(row("predict", f"{len(Q):,} for {size}", ours, "product + minimum", theirs, "0.6"))

    start = time.perf_counter()
    on_cpu = OPFClassifier(n_jobs=-1).fit(X, y)
    seconds = time.perf_counter() - start
    rows.append(
        row("fit, plain", size, plain_seconds, f"device='cpu', {max_threads()} threads", seconds, "0.1")
    )
    few = Q[:20_000]
    notes = [
        f"fit equals the CPU's in every array: {same_model(plain, on_cpu)}",
        f"predictions equal: {np.array_equal(plain.predict(few), on_cpu.predict(few))}",
    ]
    return [*rows, *measure_large(device, scale, repeat)], notes


def measure_large(device: str, scale: float, repeat: int) -> list[list[str]]:
    """Return the rows of larger sets."""
    plain = OPFClassifier(device=device, n_jobs=-1)
    clusters = OPFClustering(k_max=30, device=device, n_jobs=-1)
    n = round(1_000_000 * scale)
    X, y = large(n, 64)
    size = f"{n:,} x 64"
    fit = partial(plain.fit, X, y)
    ours, theirs = take_turns([fit, without_kernels(fit)], device, repeat)
    rows = [row("fit, plain", size, ours, "without Triton", theirs, "2 s")]
    rows.append(row("clustering, k_max = 30", size, timed_once(clusters, X, y, 0.1), "", None, "15 s"))
    n = round(4_000_000 * scale)
    X, y = large(n, 32)
    return [*rows, row("fit, plain", f"{n:,} x 32", timed_once(plain, X, y, 0.1), "", None, "20 s")]


def measure_largest(device: str, scale: float) -> tuple[list[list[str]], list[str]]:
    """Return the row of ten million samples, and the most memory that the process has had."""
    n = round(10_000_000 * scale)
    X, y = large(n, 64)
    seconds = timed_once(OPFClassifier(device=device, n_jobs=-1), X, y, 0.01)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return [row("fit, plain", f"{n:,} x 64", seconds, "", None, "300 s")], [f"{memory:.1f} GB of memory"]


def measure_search(device: str, scale: float) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the search, and whether a smaller one has the scores that the CPU's has."""
    model = FuzzyOPFClassifierCV(transforms=None, device=device, n_jobs=-1)
    rows = []
    for full, bar in ((100_000, "6 s"), (400_000, "60 s")):
        n = round(full * scale)
        X, y = large(n, 64)
        seconds = timed_once(model, X, y, 0.5)
        rows.append(row("search, default grid", f"{n:,} x 64", seconds, "", None, bar))
    few = max(100, n // 20)
    on_cpu = FuzzyOPFClassifierCV(transforms=None, n_jobs=-1).fit(X[:few], y[:few])
    model.fit(X[:few], y[:few])
    scores = ("mean_test_score", "mean_test_log_loss")
    same = all(np.array_equal(model.cv_results_[name], on_cpu.cv_results_[name]) for name in scores)
    return rows, [
        f"scores of {few:,} equal the CPU's: {same}",
        f"so does the model: {same_model(model, on_cpu)}",
    ]


def main() -> None:
    """Print the table and the machine."""
    options = parser("benchmarks.speed.gpu", __doc__)
    options.add_argument("--device", default="cuda")
    options.add_argument("--scale", type=float, default=1.0, help="share of the samples")
    options.add_argument("--search", action="store_true", help="measure the search")
    options.add_argument("--largest", action="store_true", help="measure ten million samples")
    options.add_argument("--repeat", type=int, default=3)
    args = options.parse_args()
    if args.largest:
        rows, notes = measure_largest(args.device, args.scale)
    elif args.search:
        rows, notes = measure_search(args.device, args.scale)
    else:
        rows, notes = measure(args.device, args.scale, args.repeat)
    print(markdown(["work", "size", "ours", "peer", "theirs", "ratio", "bar"], rows, n_words=2))
    gpu = torch.cuda.get_device_name() if args.device.startswith("cuda") else "no GPU"
    print(f"\n{gpu}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d')}", *notes, sep="\n")


if __name__ == "__main__":
    main()
