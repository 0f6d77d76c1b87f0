"""Time and memory by number of samples and features: the table and the curves of docs/using/scale.md.

`python -m benchmarks.speed.large_data` measures each size in a process of its own, with default parameters,
and writes docs/results/large_data.md and docs/images/large_data.png. A line ends where a measurement took
longer than LONGEST.
"""

import time
import warnings
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

import pathforest
from benchmarks.pictures import save
from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import apart, megabytes, processor, today
from benchmarks.tables import RESULTS, markdown, parser

LONGEST = 40.0  # seconds
REPEATS = 3
SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000)
FEATURES = (2, 20, 64)
WORK = ("OPFClassifier", "FuzzyOPFClassifier", "FuzzyOPFClassifierCV", "OPFClustering", "predict")
LEAST = {"seconds": 0.0, "megabytes": 1.0}  # drawn: the table has whole megabytes
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#808080")
PICTURE = RESULTS.parent / "images" / "large_data.png"


def measure(work: str, n_samples: int, n_features: int, threads: int) -> dict[str, float]:
    """Median seconds of one piece of work, and the memory it took beyond libraries and data."""
    warnings.simplefilter("ignore")
    problem = load(Spec("mixture", n_samples, n_features))
    model = getattr(pathforest, "OPFClassifier" if work == "predict" else work)(n_jobs=threads)
    if work == "predict":
        model.fit(problem.X, problem.y)
    before, seconds = megabytes("VmRSS"), []
    with threadpool_limits(threads):
        while len(seconds) < REPEATS and sum(seconds) < LONGEST:
            start = time.perf_counter()
            model.predict(problem.queries) if work == "predict" else model.fit(problem.X, problem.y)
            seconds.append(time.perf_counter() - start)
    return {"seconds": median(seconds), "megabytes": megabytes("VmHWM") - before}


def lines(threads: int, largest: int) -> list[dict[str, Any]]:
    """Measure every line, from the smallest size on, until it takes too long."""
    rows: list[dict[str, Any]] = []
    for work in WORK:
        for d in FEATURES:
            for n in (size for size in SIZES if size <= largest):
                rows.append({"work": work, "n": n, "d": d} | apart(measure, work, n, d, threads))
                print("{work:22}{n:>10,} x {d:<3}{seconds:9.3f} s {megabytes:8.0f} MB".format(**rows[-1]))
                if rows[-1]["seconds"] > LONGEST / 8:  # the next size is four times as large
                    break
    return rows


def table(rows: list[dict[str, Any]], threads: int) -> str:
    """Write the Markdown of the page: one line per work and number of features, one column per size."""
    cells = {
        (row["work"], row["d"], row["n"]): f"{row['seconds']:.3g} / {row['megabytes']:.0f}" for row in rows
    }
    lines = [[work, str(d), *(cells.get((work, d, n), "") for n in SIZES)] for work in WORK for d in FEATURES]
    text = [
        f"`python -m benchmarks.speed.large_data`, {threads} threads, {processor()}, {today()}.",
        "Overlapping Gaussian mixtures in five classes, float32, default parameters. Each cell has median",
        "seconds / peak megabytes beyond libraries and data; `predict` is that of",
        "`OPFClassifier`, for as many new samples as there are training samples.",
        "",
        markdown(["work", "features", *(f"{n:,}" for n in SIZES)], lines),
    ]
    return "\n".join(text) + "\n"


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Draw seconds and megabytes against samples, a row of panels per quantity and a column per width."""
    from matplotlib.ticker import EngFormatter

    panels = figure.subplots(2, len(FEATURES), sharex=True, sharey="row")
    for row, quantity in zip(panels, LEAST, strict=True):
        for ax, d in zip(row, FEATURES, strict=True):
            for work, color in zip(WORK, COLORS, strict=True):
                line = [r for r in rows if (r["work"], r["d"]) == (work, d)]
                values = [max(r[quantity], LEAST[quantity]) for r in line]
                ax.loglog([r["n"] for r in line], values, "o-", ms=4, c=color, label=work)
            ax.grid(which="major", alpha=0.3)
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        row[0].set_ylabel({"seconds": "time [s]", "megabytes": "memory [MB], at least 1"}[quantity])
    for above, below, d in zip(*panels, FEATURES, strict=True):
        above.set_title(f"{d} features")
        below.set_xlabel("samples")
    names = panels[0][0].get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=5, frameon=False)


def main() -> None:
    """Measure everything, then write the table and the curves; print the table of a part."""
    options = parser("benchmarks.speed.large_data", __doc__)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--largest", type=int, default=SIZES[-1], help="leave out sizes above this")
    args = options.parse_args()
    rows = lines(args.threads, args.largest)
    if args.largest < SIZES[-1]:
        return print(table(rows, args.threads))
    (RESULTS / "large_data.md").write_text(table(rows, args.threads), encoding="utf-8")
    save(lambda figure: draw(figure, rows), PICTURE, size=(10, 6.4))


if __name__ == "__main__":
    main()
