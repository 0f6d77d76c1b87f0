"""Training and prediction on a graphics card, beside a plain blocked product with PyTorch.

`python -m benchmarks.speed.gpu` on a machine with a card prints the table of docs/using/gpu.md; with
`--device torch-cpu --scale 0.01` the script can be tried anywhere. Contenders take turns; the first turn warms up.
Answers are compared with those of the CPU engines on the same data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.speed.data import Spec, load
from pathforest import FuzzyOPFClassifier, OPFClassifier
from pathforest._core import max_threads

BLOCK = 2**33  # bytes of a block of products, as ours


class Row(NamedTuple):
    """One line of the table."""

    work: str
    size: str
    ours: float
    peer: str
    theirs: float | None
    bar: str


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


def take_turns(works: dict[str, Callable[[], Any]], device: str, repeat: int) -> dict[str, float]:
    """Return the median time of each work."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeat + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if device.startswith("cuda"):
                torch.cuda.synchronize()
            times[name].append(time.perf_counter() - start)
    return {name: median(found[1:]) for name, found in times.items()}


def same_model(a: Any, b: Any) -> bool:
    """Compare every fitted array."""
    names = [name for name in vars(a) if name.endswith("_") and isinstance(getattr(a, name), np.ndarray)]
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def measure(device: str, scale: float, repeat: int, features: int) -> tuple[list[Row], list[str]]:
    """Return the rows of the table, and what was found about the answers."""
    n, large = round(400_000 * scale), round(1_000_000 * scale)
    problem = load(Spec("mixture", n, features))
    X, y, Q = problem.X, problem.y, problem.queries
    where = "cpu" if device == "torch-cpu" else device
    tensors = torch.as_tensor(X, device=where), torch.as_tensor(Q, device=where)
    size, k = f"{n:,} x {features}", min(100, n - 1)
    plain, fuzzy = (
        OPFClassifier(device=device, n_jobs=-1),
        FuzzyOPFClassifier(device=device, n_jobs=-1, n_neighbors=k),
    )
    rows, notes = [], []

    found = take_turns(
        {"ours": lambda: plain.fit(X, y), "peer": lambda: product_and_topk(tensors[0], 10)}, device, repeat
    )
    rows.append(Row("fit, plain", size, found["ours"], "product + topk, k = 10", found["peer"], "2"))
    for competition in ("tree", "complete"):
        fuzzy.set_params(competition=competition)
        found = take_turns(
            {"ours": lambda: fuzzy.fit(X, y), "peer": lambda: product_and_topk(tensors[0], k)}, device, repeat
        )
        work = f"fit, fuzzy, n_neighbors = {k}, {competition}"
        rows.append(Row(work, size, found["ours"], f"product + topk, k = {k}", found["peer"], "2"))
    found = take_turns(
        {"ours": lambda: plain.predict(Q), "peer": lambda: product_and_minimum(tensors[1], tensors[0])},
        device,
        repeat,
    )
    rows.append(
        Row("predict", f"{len(Q):,} for {size}", found["ours"], "product + minimum", found["peer"], "1.5")
    )

    start = time.perf_counter()
    on_cpu = OPFClassifier(n_jobs=-1).fit(X, y)
    seconds = time.perf_counter() - start
    rows.append(
        Row("fit, plain", size, rows[0].ours, f"device='cpu', {max_threads()} threads", seconds, "0.1")
    )
    notes.append(f"fit equals the CPU's in every array: {same_model(plain, on_cpu)}")
    few = Q[:20_000]
    notes.append(f"predictions equal: {np.array_equal(plain.predict(few), on_cpu.predict(few))}")

    problem = load(Spec("mixture", large, features))
    start = time.perf_counter()
    plain.fit(problem.X, problem.y)
    rows.append(Row("fit, plain", f"{large:,} x {features}", time.perf_counter() - start, "", None, "30 s"))
    return rows, notes


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| work | size | ours | peer | theirs | ratio | bar |", "|---|---|---:|---|---:|---:|---:|"]
    for row in rows:
        ratio = "" if row.theirs is None else f"{row.ours / row.theirs:.2f}"
        theirs = "" if row.theirs is None else f"{row.theirs:.2f} s"
        lines.append(
            f"| {row.work} | {row.size} | {row.ours:.2f} s | {row.peer} | {theirs} | {ratio} | {row.bar} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table and the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the samples")
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rows, notes = measure(options.device, options.scale, options.repeat, options.features)
    print(table(rows))
    card = torch.cuda.get_device_name() if options.device.startswith("cuda") else "no card"
    print(f"\n{card}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d')}")
    print("\n".join(notes))


if __name__ == "__main__":
    main()
