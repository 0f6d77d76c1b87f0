"""One run of the benchmark: python -m benchmarks.speed [--quick] [--busy] [--only TEXT] [--out FOLDER]."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.speed import report
from benchmarks.speed.data import Spec
from benchmarks.speed.machine import busy_core, describe, limits
from benchmarks.speed.measure import LONG, Result, race
from benchmarks.speed.memory import peak_memory
from benchmarks.speed.ours import OURS
from benchmarks.speed.rows import GROWTH, GROWTH_PEERS, GROWTH_QUICK, GROWTH_SEARCH, MEMORY, ROWS, Limit, Row
from benchmarks.tables import parser

JUDGED = 2  # the number of threads the bars are set for


def main() -> None:
    """Measure, print the table, write the results."""
    options = parser("benchmarks.speed", __doc__)
    options.add_argument("--quick", action="store_true", help="the core rows, 2 threads, median of 3")
    options.add_argument("--busy", action="store_true", help="let a second process load one core meanwhile")
    options.add_argument("--only", metavar="TEXT", default="", help="rows whose work or size contains this")
    options.add_argument("--out", type=Path, default=Path("build/bench"), help="folder for the results")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    repeats = 3 if args.quick else 5
    counts = (JUDGED,) if args.quick else (JUDGED, 1)
    started = time.perf_counter()
    with busy_core(args.busy):
        peaks = {threads: limits(threads, repeats) for threads in counts}
        # A quick run leaves out the bars whose peers are too slow for it.
        rows = [
            row._replace(bars=tuple(bar for bar in row.bars if bar.quick or not args.quick))
            for row in select(ROWS, args)
        ]
        races = run_races(rows, counts, repeats, args.out / "races.json")
        memory = {} if args.quick else measure_memory(races)
        lines = compare_all(rows, races, memory, peaks)
        lines += memory_lines(args)
        growth = {}
        curves = [(GROWTH_QUICK, ())] if args.quick else [(GROWTH, GROWTH_PEERS), (GROWTH_SEARCH, ())]
        for limit, peers in curves:
            more, growth[limit.work] = run_growth(limit, peers, args, repeats)
            lines += more
    found = {
        "machine": describe(),
        "settings": {"quick": args.quick, "busy": args.busy, "only": args.only, "repeats": repeats},
        "minutes": (time.perf_counter() - started) / 60,
        "limits": peaks,
        "lines": lines,
        "races": as_plain(races),
        "growth": growth,
    }
    path = args.out / "results.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    (args.out / "table.md").write_text(report.table(lines, report.SHORT) + "\n")
    print(heading(found), "", report.table(lines), "", f"written: {path}", sep="\n")


def select(rows: list[Any], args: argparse.Namespace) -> list[Any]:
    """Keep the rows the command line asks for."""
    return [
        row
        for row in rows
        if (row.quick or not args.quick)
        and (args.only in row.work or args.only in str(row.data if isinstance(row, Row) else row.data[0]))
    ]


Races = dict[tuple[Spec, int], dict[str, Result]]


def as_plain(races: Races) -> list[dict[str, Any]]:
    """Turn races into what JSON can hold."""
    return [
        {"data": spec, "threads": threads, "results": {name: asdict(r) for name, r in results.items()}}
        for (spec, threads), results in races.items()
    ]


def run_races(rows: list[Row], counts: tuple[int, ...], repeats: int, log: Path) -> Races:
    """Race together, for each number of threads, all contenders that any row names for the same data.

    The log has the races so far, so that a run that is stopped leaves something.
    """
    names: dict[Spec, list[str]] = {}
    for row in rows:
        names.setdefault(row.data, []).extend([row.work, *(peer for bar in row.bars for peer in bar.peers)])
    races = {}
    for spec, wanted in names.items():
        for threads in counts:
            unique = list(dict.fromkeys(wanted))
            progress(f"{spec}, {threads} thread(s): {'; '.join(unique)}")
            races[spec, threads] = race(spec, unique, threads, repeats, patient=threads == JUDGED)
            log.write_text(json.dumps(as_plain(races)))
    return races


def measure_memory(races: Races) -> dict[tuple[Spec, str], float | None]:
    """Peak memory of every contender that ran; of peers only where that takes no long call."""
    peaks = {}
    for (spec, threads), results in races.items():
        for name, result in results.items():
            wanted = name in OURS or (result.first < LONG and not name.startswith("import"))
            if threads == JUDGED and result.times and wanted:
                progress(f"memory, {spec}: {name}")
                peaks[spec, name] = peak_memory(name, spec, threads)
    return peaks


def compare_all(
    rows: list[Row], races: Races, memory: dict, peaks: dict[int, dict[str, float]]
) -> list[report.Line]:
    """Make a line for every bar, judged at 2 threads, with the ratio at 1 beside it."""
    lines = []
    for row in rows:
        for bar in row.bars:
            line = report.compare(row, bar, races[row.data, JUDGED], JUDGED)
            if (row.data, 1) in races:
                single = report.compare(row, bar, races[row.data, 1], 1)
                line |= {f"{key}_1": single[key] for key in ("ours", "theirs", "ratio")}
            line["share"] = report.share_of_peak(row, line["ours"], peaks[JUDGED]["sgemm"])
            if (row.data, row.work) in memory:
                line["memory"] = [memory[row.data, row.work], memory.get((row.data, line["peer"]))]
            lines.append(line)
    return lines


def memory_lines(args: argparse.Namespace) -> list[report.Line]:
    """Peak memory on the large sets."""
    lines = []
    for limit in select(MEMORY, args):
        progress(f"memory, {limit.data[0]}: {limit.work}")
        peak = peak_memory(limit.work, limit.data[0], JUDGED)
        lines.append(report.against_limit(limit, f"peak memory of {limit.work}", peak, "MB"))
    return lines


def run_growth(
    limit: Limit, peers: tuple[str, ...], args: argparse.Namespace, repeats: int
) -> tuple[list[report.Line], dict[str, list[float]]]:
    """Time our training for growing sizes, peers beside it; draw it."""
    work = f"growth of {limit.work}"
    if args.only not in work:
        return [], {}
    names = [limit.work, *peers]
    results = []
    for spec in limit.data:
        progress(f"growth, {spec}: {'; '.join(names)}")
        results.append(race(spec, names, JUDGED, repeats))
    times = {name: [r[name].median for r in results] for name in names if all(r[name].times for r in results)}
    sizes = [spec.n_samples for spec in limit.data]
    if times:
        name = f"scaling_{limit.work.removesuffix('.fit')}.png"
        report.draw_scaling(args.out / name, sizes, times, f"Growth on {JUDGED} threads, 2 features")
    slope = report.exponent(sizes, times[limit.work]) if limit.work in times else None
    return [report.against_limit(limit, work, slope, "exponent")], {"samples": sizes, **times}


def progress(text: str) -> None:
    """Tell on the error stream what is being measured."""
    print(text, file=sys.stderr, flush=True)


def heading(found: dict[str, Any]) -> str:
    """Describe machine, versions and limits in a few lines above the table."""
    machine, settings = found["machine"], found["settings"]
    versions = ", ".join(f"{name} {number or 'missing'}" for name, number in machine["versions"].items())
    rates = "; ".join(
        f"{threads} thread(s) {rate['sgemm']:.0f} GFLOP/s, {rate['copy']:.1f} GB/s"
        for threads, rate in found["limits"].items()
    )
    return "\n".join(
        [
            f"{machine['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['simd']}, "
            f"load {machine['load'] and machine['load'][0]:.1f}"
            + (", one core kept busy" * settings["busy"]),
            versions,
            f"machine limits (float32 matrix product; copy, read and written): {rates}",
            f"{JUDGED} threads unless said, float32, median of {settings['repeats']}, "
            f"interleaved (on 1 thread calls over {LONG:.0f} s once); ratio = ours / theirs; "
            f"in brackets the stretch; yes? = theirs is faster on 1 thread; {found['minutes']:.1f} min",
        ]
    )


if __name__ == "__main__":
    main()
