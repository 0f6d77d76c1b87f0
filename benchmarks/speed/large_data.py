"""Time and memory by number of samples and features: the table and the curves of docs/using/large_data.md.

`python -m benchmarks.speed.large_data` measures each size in a process of its own, largest neighbourhoods and
competitions as they come by default, and writes docs/results/large_data.md and docs/images/large_data.png.
A line ends where a measurement took longer than LONGEST.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import describe, limited_threads
from benchmarks.speed.memory import megabytes

LONGEST = 40.0  # seconds
REPEATS = 3
SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000)
FEATURES = (2, 20, 64)
WORK = ("OPFClassifier", "FuzzyOPFClassifier", "FuzzyOPFClassifierCV", "OPFClustering", "predict")
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000")


def measure(work: str, n_samples: int, n_features: int, threads: int) -> dict[str, float]:
    """Median seconds of one piece of work, and the memory it took beyond libraries and data."""
    import pathforest

    problem = load(Spec("mixture", n_samples, n_features))
    model = getattr(pathforest, "OPFClassifier" if work == "predict" else work)(n_jobs=threads)
    if work == "predict":
        model.fit(problem.X, problem.y)
    before, seconds = megabytes("VmRSS"), []
    with limited_threads(threads):
        while len(seconds) < REPEATS and sum(seconds) < LONGEST:
            start = time.perf_counter()
            model.predict(problem.queries) if work == "predict" else model.fit(problem.X, problem.y)
            seconds.append(time.perf_counter() - start)
    return {"seconds": median(seconds), "megabytes": megabytes("VmHWM") - before}


def measure_apart(work: str, n_samples: int, n_features: int, threads: int) -> dict[str, Any]:
    """Measure in a process of its own, so that peaks of memory do not mix."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.speed.large_data", "--one"]
    place = [work, str(n_samples), str(n_features), str(threads)]
    done = subprocess.run([*command, *place], capture_output=True, text=True, check=True)
    return {"work": work, "n": n_samples, "d": n_features, **json.loads(done.stdout)}


def lines(threads: int, largest: int) -> list[dict[str, Any]]:
    """Measure every line, from the smallest size on, until it takes too long."""
    rows = []
    for work in WORK:
        for d in FEATURES:
            for n in (size for size in SIZES if size <= largest):
                rows.append(measure_apart(work, n, d, threads))
                print("{work:22}{n:>10,} x {d:<3}{seconds:9.3f} s {megabytes:8.0f} MB".format(**rows[-1]))
                if rows[-1]["seconds"] > LONGEST / 8:  # the next size is four times as large
                    break
    return rows


def table(rows: list[dict[str, Any]], about: dict[str, Any], threads: int) -> str:
    """Write the Markdown of the page: one line per work and number of features, one column per size."""
    head = [f"{n:,}" for n in SIZES]
    text = [
        f"`python -m benchmarks.speed.large_data`, {threads} threads, {about['cpu']}, {about['date'][:10]}.",
        "Overlapping Gaussian mixtures in five classes, float32, default parameters. Seconds (median), and",
        "behind the stroke megabytes at the peak beyond libraries and data; `predict` is that of",
        "`OPFClassifier`, for as many new samples as there are training samples.",
        "",
        "| work | features | " + " | ".join(head) + " |",
        "|---|---:|" + "---:|" * len(head),
    ]
    cells = {(row["work"], row["d"], row["n"]): row for row in rows}
    for work in WORK:
        for d in FEATURES:
            found = [cells.get((work, d, n)) for n in SIZES]
            shown = ["" if row is None else f"{row['seconds']:.3g} / {row['megabytes']:.0f}" for row in found]
            text.append(f"| {work} | {d} | " + " | ".join(shown) + " |")
    return "\n".join(text) + "\n"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds and megabytes against samples, a row of panels per quantity and a column per width."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    panels = figure.subplots(2, len(FEATURES), sharex=True, sharey="row")
    for row, quantity in zip(panels, ("seconds", "megabytes"), strict=True):
        for ax, d in zip(row, FEATURES, strict=True):
            for work, color in zip(WORK, COLORS, strict=True):
                line = [r for r in rows if (r["work"], r["d"]) == (work, d)]
                ax.loglog(
                    [r["n"] for r in line], [r[quantity] for r in line], "o-", ms=4, c=color, label=work
                )
            ax.grid(which="major", alpha=0.3)
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        row[0].set_ylabel({"seconds": "time [s]", "megabytes": "memory [MB]"}[quantity])
    for ax, d in zip(panels[0], FEATURES, strict=True):
        ax.set_title(f"{d} features")
    for ax in panels[1]:
        ax.set_xlabel("samples")
    figure.legend(
        *panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False
    )
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure everything, then write the table and the curves."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--one", nargs=4, metavar=("WORK", "N", "D", "THREADS"), help="one measurement")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out sizes above this")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the site")
    args = parser.parse_args()
    if args.one:
        work, *sizes = args.one
        print(json.dumps(measure(work, *map(int, sizes))))
        return
    rows = lines(args.threads, args.largest)
    for folder in ("results", "images"):
        (args.docs / folder).mkdir(parents=True, exist_ok=True)
    (args.docs / "results" / "large_data.md").write_text(table(rows, describe(), args.threads))
    draw(rows, args.docs / "images" / "large_data.png")


if __name__ == "__main__":
    main()
