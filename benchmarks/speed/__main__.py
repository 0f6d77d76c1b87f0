"""One run of the benchmark: python -m benchmarks.speed [--quick] [--only TEXT] [--out FOLDER]."""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.data import Spec
from benchmarks.speed.machine import apart, describe
from benchmarks.speed.measure import Result, peak_memory, race
from benchmarks.speed.rows import (
    CONTENDERS,
    GROWTH,
    GROWTH_QUICK,
    GROWTH_SEARCH,
    MEMORY,
    ROWS,
    Bar,
    Limit,
    Row,
)
from benchmarks.tables import RESULTS, markdown, parser

THREADS = 2  # the number that the bars are set for
COLUMNS = ("work", "size", "ours", "peer", "theirs", "ratio", "bar", "met")


def main() -> None:
    """Measure, print the table, write the results."""
    options = parser("benchmarks.speed", __doc__)
    options.add_argument("--quick", action="store_true", help="the core rows, median of 3")
    options.add_argument("--only", metavar="TEXT", default="", help="rows whose work or size contains this")
    options.add_argument("--out", type=Path, default=Path("build/bench"), help="folder for the results")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    repeats, started = 3 if args.quick else 5, time.perf_counter()
    rows = [
        # A quick run leaves out the bars whose peers are too slow for it.
        row._replace(bars=tuple(bar for bar in row.bars if bar.quick or not args.quick))
        for row in select(ROWS, args)
    ]
    races = run_races(rows, repeats)
    lines = [compare(row, bar, races[row.data]) for row in rows for bar in row.bars]
    for limit in select(MEMORY, args):
        progress(f"memory, {limit.data[0]}: {limit.work}")
        peak = apart(peak_memory, limit.work, limit.data[0], THREADS)
        lines.append(against_limit(limit, f"peak memory of {limit.work}", peak, "MB"))
    for limit in (GROWTH_QUICK,) if args.quick else (GROWTH, GROWTH_SEARCH):
        if args.only in (work := f"growth of {limit.work}"):
            lines.append(against_limit(limit, work, exponent(limit, repeats), "exponent"))
    machine = describe()
    found = {
        "machine": machine,
        "settings": {"quick": args.quick, "only": args.only, "repeats": repeats},
        "minutes": (time.perf_counter() - started) / 60,
        "races": [
            {"data": spec, "results": {name: asdict(one) for name, one in results.items()}}
            for spec, results in races.items()
        ],
    }
    (args.out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    text = (
        f"`make bench`, {THREADS} threads, median of {repeats}, {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['simd']}, {machine['date']}, {versions}.\n\n{markdown(COLUMNS, lines)}\n"
    )
    print(f"{text}\n{found['minutes']:.0f} minutes; written: {args.out / 'results.json'}")
    if not args.quick and not args.only:
        (RESULTS / "speed.md").write_text(text, encoding="utf-8")


def select(rows: list[Any], args: argparse.Namespace) -> list[Any]:
    """Keep the rows the command line asks for."""
    return [
        row
        for row in rows
        if (row.quick or not args.quick)
        and (args.only in row.work or args.only in str(row.data if isinstance(row, Row) else row.data[0]))
    ]


def run_races(rows: list[Row], repeats: int) -> dict[Spec, dict[str, Result]]:
    """Race together all contenders that any row names for the same data."""
    names: dict[Spec, list[str]] = {}
    for row in rows:
        names.setdefault(row.data, []).extend([row.work, *(peer for bar in row.bars for peer in bar.peers)])
    races = {}
    for spec, wanted in names.items():
        contenders = {name: CONTENDERS[name] for name in wanted}
        progress(f"{spec}: {'; '.join(contenders)}")
        races[spec] = race(spec, contenders, THREADS, repeats)
    return races


def exponent(limit: Limit, repeats: int) -> float | None:
    """Time our training for growing sizes; return the slope of time against size on logarithmic axes."""
    rows = [Row(limit.work, spec, ()) for spec in limit.data]
    times = [one[limit.work].median for one in run_races(rows, repeats).values()]
    if None in times:
        return None
    return float(np.polyfit(np.log([spec.n_samples for spec in limit.data]), np.log(times), 1)[0])


# Lines of the table


def compare(row: Row, bar: Bar, results: dict[str, Result]) -> list[str]:
    """Make the line of one bar: our time over that of the fastest peer it names."""
    ran = [peer for peer in bar.peers if results[peer].times]
    peer = min(ran, key=lambda name: results[name].median) if ran else bar.peers[0]
    ours, theirs = results[row.work], results[peer]
    ratio = ours.median / theirs.median if ours.times and theirs.times else None
    return [row.work, str(row.data), _cell(ours), peer, _cell(theirs), *_judged(ratio, bar.limit, "#.2g")]


def against_limit(limit: Limit, work: str, value: float | None, unit: str) -> list[str]:
    """Make the line of a bar that is a number, not a comparison."""
    first, last = limit.data[0], limit.data[-1]
    size = str(last) if first == last else f"{first.n_samples:,} to {last}"
    _, bar, met = _judged(value, limit.limit, "")
    return [work, size, "not measured" if value is None else f"{value:.4g} {unit}", "", "", "", bar, met]


def _judged(value: float | None, limit: float | None, form: str) -> list[str]:
    met = "" if value is None or limit is None else "yes" if value <= limit else "no"
    return ["" if value is None else format(value, form), "" if limit is None else f"{limit:g}", met]


def _cell(result: Result) -> str:
    """Write a time, with the score of the answer in brackets; or why there is none."""
    if result.median is None:
        return f"none ({(result.error or 'not measured').splitlines()[0][:60]})"
    seconds = f"{result.median:.3f} s" if result.median >= 0.1 else f"{result.median * 1e3:.3g} ms"
    scores = ", ".join(f"{name} {number:.4g}" for name, number in result.score.items())
    return f"{seconds} ({scores})" if scores else seconds


def progress(text: str) -> None:
    """Say on the error stream what is being measured."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
