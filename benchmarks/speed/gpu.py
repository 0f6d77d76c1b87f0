"""Training and prediction on a GPU, beside a plain blocked product: python -m benchmarks.speed.gpu.

On a machine with a GPU it prints the table of docs/using/gpu.md; with `--device torch-cpu --scale 0.01` it
can be tried anywhere. Contenders take turns; the first turn warms up. Answers are compared with those of the
CPU engines on the same data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.speed.data import Spec, load
from benchmarks.tables import markdown, parser
from pathforest import FuzzyOPFClassifier, OPFClassifier
from pathforest._core import max_threads

BLOCK = 2**33  # bytes of a block of products, as ours


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


def measure(device: str, scale: float, repeat: int, features: int) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table, and what was found about the answers."""
    n, large = round(400_000 * scale), round(1_000_000 * scale)
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
    rows = [row("fit, plain", size, ours, "product + topk, k = 10", theirs, "2")]
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
    rows.append(row("predict", f"{len(Q):,} for {size}", ours, "product + minimum", theirs, "1.5"))

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
    problem = load(Spec("mixture", large, features))
    start = time.perf_counter()
    plain.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    return [*rows, row("fit, plain", f"{large:,} x {features}", seconds, "", None, "30 s")], notes


def main() -> None:
    """Print the table and the machine."""
    options = parser("benchmarks.speed.gpu", __doc__)
    options.add_argument("--device", default="cuda")
    options.add_argument("--scale", type=float, default=1.0, help="share of the samples")
    options.add_argument("--features", type=int, default=64)
    options.add_argument("--repeat", type=int, default=3)
    args = options.parse_args()
    rows, notes = measure(args.device, args.scale, args.repeat, args.features)
    print(markdown(["work", "size", "ours", "peer", "theirs", "ratio", "bar"], rows, n_words=2))
    gpu = torch.cuda.get_device_name() if args.device.startswith("cuda") else "no GPU"
    print(f"\n{gpu}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d')}", *notes, sep="\n")


if __name__ == "__main__":
    main()
