"""Training and prediction on a GPU, beside a plain blocked product: python -m benchmarks.speed.gpu.

Writes the table of docs/using/gpu.md; with `--device torch-cpu --scale 0.01` it can be tried anywhere, and
prints it. Contenders take turns; the first turn warms up. Answers are compared with those of the CPU
engines on the same data. Rows without a peer are measured once, after a warm-up on fewer samples.
"""

import resource
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.speed.data import N_CENTRES, N_CLASSES, SEED, SPREAD, Spec, load
from benchmarks.speed.machine import processor, today
from benchmarks.tables import RESULTS, markdown, parser
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, OPFClustering
from pathforest._core import max_threads

BLOCK = 2**33  # bytes of a block of products
PIECE = 2**20  # rows that are made at a time
REPEATS = 3
Work = Callable[[], Any]


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


def same_model(a: Any, b: Any) -> bool:
    """Compare every fitted array."""
    names = [name for name in vars(a) if name.endswith("_") and isinstance(getattr(a, name), np.ndarray)]
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


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


def without_kernels(work: Work) -> None:
    """Do a work as if Triton were missing."""
    with patch("pathforest._engines.torch.engine.can_use", lambda device: False):
        work()


class Table:
    """The rows so far, and what was found about the answers."""

    def __init__(self, device: str, scale: float) -> None:
        self.device, self.scale = device, scale
        self.rows: list[list[str]] = []
        self.notes: list[str] = []

    def race(self, work: str, size: str, ours: Work, peer: str, theirs: Work, bar: str) -> None:
        """Add a row of two works that take turns."""
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(REPEATS + 1):
            for call, found in zip((ours, theirs), times, strict=True):
                start = time.perf_counter()
                call()
                if self.device.startswith("cuda"):
                    torch.cuda.synchronize()
                found.append(time.perf_counter() - start)
        mine, other = (median(found[1:]) for found in times)
        self.rows.append([work, size, f"{mine:.2f} s", peer, f"{other:.2f} s", f"{mine / other:.2f}", bar])

    def once(self, work: str, model: Any, full: int, d: int, share: float, bar: str) -> Any:
        """Add a row of a fit that takes long, after one on a share of the samples; return the samples."""
        X, y = large(round(full * self.scale), d)
        few = max(100, int(share * len(X)))
        model.fit(X[:few], y[:few])
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        self.rows.append([work, f"{len(X):,} x {d}", f"{seconds:.2f} s", "", "", "", bar])
        return X, y


def measure(table: Table) -> None:
    """Fill the table."""
    device, scale, d = table.device, table.scale, 64
    problem = load(Spec("mixture", round(400_000 * scale), d))
    X, y, Q = problem.X, problem.y, problem.queries
    where = "cpu" if device == "torch-cpu" else device
    samples, queries = torch.as_tensor(X, device=where), torch.as_tensor(Q, device=where)
    size, k = f"{len(X):,} x {d}", min(100, len(X) - 1)
    plain = OPFClassifier(device=device, n_jobs=-1)
    fit = partial(plain.fit, X, y)
    table.race(
        "fit, plain", size, fit, "product + topk, k = 10", lambda: product_and_topk(samples, 10), "0.2"
    )
    for competition in ("tree", "complete"):
        fuzzy = FuzzyOPFClassifier(device=device, n_jobs=-1, n_neighbors=k, competition=competition)
        work, peer = f"fit, fuzzy, n_neighbors = {k}, {competition}", f"product + topk, k = {k}"
        table.race(work, size, partial(fuzzy.fit, X, y), peer, lambda: product_and_topk(samples, k), "2")
    theirs = partial(product_and_minimum, queries, samples)
    work = f"{len(Q):,} for {size}"
    table.race("predict", work, partial(plain.predict, Q), "product + minimum", theirs, "0.6")
    on_cpu = OPFClassifier(n_jobs=-1)
    table.race(
        "fit, plain", size, fit, f"device='cpu', {max_threads()} threads", partial(on_cpu.fit, X, y), "0.1"
    )
    few = Q[:20_000]
    table.notes += [
        f"fit equals the CPU's in every array: {same_model(plain, on_cpu)}",
        f"predictions equal: {np.array_equal(plain.predict(few), on_cpu.predict(few))}",
    ]
    X, y = large(round(1_000_000 * scale), d)
    fit = partial(plain.fit, X, y)
    size = f"{len(X):,} x {d}"
    table.race("fit, plain", size, fit, "without Triton", partial(without_kernels, fit), "2 s")
    clusters = OPFClustering(k_max=30, device=device, n_jobs=-1)
    table.once("clustering, k_max = 30", clusters, 1_000_000, d, 0.1, "15 s")
    table.once("fit, plain", plain, 4_000_000, 32, 0.1, "20 s")
    search = FuzzyOPFClassifierCV(transforms=None, device=device, n_jobs=-1)
    table.once("search, default grid", search, 100_000, d, 0.5, "6 s")
    X, y = table.once("search, default grid", search, 400_000, d, 0.5, "60 s")
    few = max(100, len(X) // 20)
    on_cpu = FuzzyOPFClassifierCV(transforms=None, n_jobs=-1).fit(X[:few], y[:few])
    search.fit(X[:few], y[:few])
    scores = ("mean_test_score", "mean_test_log_loss")
    same = all(np.array_equal(search.cv_results_[name], on_cpu.cv_results_[name]) for name in scores)
    table.notes.append(
        f"scores of {few:,} equal the CPU's: {same}; so does the model: {same_model(search, on_cpu)}"
    )
    table.once("fit, plain", plain, 10_000_000, d, 0.01, "300 s")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    table.notes.append(f"{memory:.1f} GB of memory at most")


def main() -> None:
    """Print the table and the machine; keep them if it is the GPU's."""
    options = parser("benchmarks.speed.gpu", __doc__)
    options.add_argument("--device", default="cuda")
    options.add_argument("--scale", type=float, default=1.0, help="share of the samples")
    args = options.parse_args()
    table = Table(args.device, args.scale)
    measure(table)
    on_gpu = args.device.startswith("cuda")
    gpu = torch.cuda.get_device_name() if on_gpu else "no GPU"
    rows = markdown(["work", "size", "ours", "peer", "theirs", "ratio", "bar"], table.rows, n_words=2)
    about = f"{gpu}, {processor()}, PyTorch {torch.__version__}, {today()}"
    text = f"{rows}\n\n`python -m benchmarks.speed.gpu`, {about}; {'; '.join(table.notes)}.\n"
    print(text)
    if on_gpu and args.scale == 1:
        (RESULTS / "gpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
