"""Training and prediction on a GPU, beside a plain blocked product: python -m benchmarks.speed.gpu.

Writes the table of docs/using/gpu.md; with `--device torch-cpu --scale 0.01` it can be tried anywhere, and
prints it. Contenders take turns; the first turn warms up. Answers are compared with those of the CPU
engines on the same data. Rows without a peer are measured once, after a warm-up on fewer samples.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.speed.data import N_CENTRES, N_CLASSES, SEED, Spec, load
from benchmarks.speed.machine import processor, today
from benchmarks.tables import RESULTS, markdown, parser
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, OPFClustering, find_issues

BLOCK = 2**33  # bytes of a block of products
PIECE = 2**20  # rows that are made at a time
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


def large(n: int, d: int, clustered: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Make samples and labels like those of :func:`load`, in pieces and without queries, or in clusters."""
    rng = np.random.default_rng(SEED)
    n_centres, spread = (6, 1 / 3) if clustered else (N_CENTRES, 2.15 * (d / 64) ** 0.35)
    centres = rng.normal(size=(n_centres, d)).astype(np.float32)
    X, component = np.empty((n, d), dtype=np.float32), rng.integers(0, n_centres, n)
    for first in range(0, n, PIECE):
        part = X[first : first + PIECE]
        rng.standard_normal(dtype=np.float32, out=part)
        part *= np.float32(spread)
        part += centres[component[first : first + PIECE]]
    return X, component % N_CLASSES


def without_kernels(work: Work) -> None:
    """Do a work as if Triton were missing."""
    with patch("pathforest._engines.torch.engine.can_use", lambda device: False):
        work()


def seconds_of(work: Work) -> float:
    """Time a work, until the GPU is done with it."""
    start = time.perf_counter()
    work()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - start


class Table:
    """The rows so far, and what was found about the answers."""

    def __init__(self, device: str, scale: float) -> None:
        self.device, self.scale = device, scale
        self.rows: list[list[str]] = []
        self.notes: list[str] = []

    def race(self, work: str, size: str, ours: Work, peer: str, theirs: Work, bar: str) -> None:
        """Add a row of two works that take turns, of which the first warms up."""
        for _ in range(2):
            mine, other = seconds_of(ours), seconds_of(theirs)
        self.add([work, size, f"{mine:.2f} s", peer, f"{other:.2f} s", f"{mine / other:.2f}", bar])

    def once(self, work: str, call: Callable[[Any, Any], Any], X: Any, y: Any, bar: str) -> None:
        """Add a row of a call that takes long, after one on a tenth of the samples."""
        call(X[: len(X) // 10], y[: len(X) // 10])
        seconds = seconds_of(partial(call, X, y))
        self.add([work, f"{len(X):,} x {X.shape[1]}", f"{seconds:.2f} s", "", "", "", bar])

    def first(self, n: int, d: int) -> None:
        """Add a row of the first fit of a new process that has no kernels yet, beside its second."""
        code = f"from benchmarks.speed.gpu import first_fits; first_fits({n}, {d}, {self.device!r})"
        with TemporaryDirectory() as folder:
            environment = {**os.environ, "TRITON_CACHE_DIR": folder}
            found = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, check=True
            )
        first, second = map(float, found.stdout.split())
        times = f"{first:.2f} s", "second fit", f"{second:.2f} s", "", "3 s more"
        self.add(["first fit of a process", f"{n:,} x {d}", *times])

    def add(self, row: list[str]) -> None:
        """Add a row, and show it."""
        self.rows.append(row)
        print(" | ".join(row), flush=True)


def first_fits(n: int, d: int, device: str) -> None:
    """Print the times of a first and a second fit."""
    X, y = large(n, d)
    torch.zeros(1, device="cpu" if device == "torch-cpu" else device)  # starts the GPU
    for _ in range(2):
        print(seconds_of(partial(OPFClassifier(device=device, n_jobs=-1).fit, X, y)))


def measure(table: Table) -> None:
    """Fill the table."""
    device, scale, d = table.device, table.scale, 64
    for width in (64, 384, 1536):
        table.first(round(100_000 * scale), width)
    problem = load(Spec("mixture", round(400_000 * scale), d))
    X, y, Q = problem.X, problem.y, problem.queries
    where = "cpu" if device == "torch-cpu" else device
    samples, queries = torch.as_tensor(X, device=where), torch.as_tensor(Q, device=where)
    size = f"{len(X):,} x {d}"
    common = {"device": device, "n_jobs": -1}
    plain = OPFClassifier(**common)
    peer = partial(product_and_topk, samples, 10)
    table.race("fit, plain", size, partial(plain.fit, X, y), "product + topk, k = 10", peer, "0.2")
    theirs = partial(product_and_minimum, queries, samples)
    work = f"{len(Q):,} for {size}"
    table.race("predict", work, partial(plain.predict, Q), "product + minimum", theirs, "0.6")
    for name in ("euclidean", "cosine"):
        for what, change in (("samples as given", np.asarray), ("with ties and copies", np.round)):
            rows = slice(round(50_000 * scale))
            given, asked = change(X[rows]), change(Q[rows])
            ours, known = (OPFClassifier(metric=name, n_jobs=-1, device=one) for one in (device, "cpu"))
            predicted = (model.fit(given, y[rows]).predict(asked) for model in (ours, known))
            same = np.array_equal(*predicted) and same_model(ours, known)
            table.notes.append(f"{name}, {what}: fit and predictions equal the CPU's: {same}")
    fit = partial(plain.fit, *(given := large(round(1_000_000 * scale), d)))
    size = f"{len(given[0]):,} x {d}"
    table.race("fit, plain", size, fit, "without Triton", partial(without_kernels, fit), "2 s")
    clusters = OPFClustering(**common)
    table.once("clustering, default", lambda X, y: clusters.fit(X), *given, "6 s")
    table.once("find_issues", partial(find_issues, **common), *given, "1.5 fits")
    search = FuzzyOPFClassifierCV(**common)
    given = tuple(array[: round(100_000 * scale)] for array in given)
    table.once("search, default", search.fit, *given, "4 s")
    given = large(round(1_000_000 * scale), 384)
    table.once("fit, plain", plain.fit, *given, "")
    table.once("find_issues", partial(find_issues, **common), *given, "8 s")
    table.once("fit, plain, cosine", OPFClassifier(metric="cosine", **common).fit, *given, "")
    given = large(round(1_000_000 * scale), 384, clustered=True)
    table.once("fit, plain, clusters", plain.fit, *given, "4 s")
    given = large(round(10_000_000 * scale), d, clustered=True)
    table.once("fit, plain, clusters", plain.fit, *given, "60 s")
    table.notes.append(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB of memory at most")


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
