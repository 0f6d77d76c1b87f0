"""From results to the table, its lines as plain data, and the scaling plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.measure import Result
from benchmarks.speed.rows import Bar, Limit, Row

DENSE_FEATURES = 20  # from here on every method compares all pairs, 2 d operations each
COLUMNS = {
    "work": "work",
    "size": "size",
    "ours": "ours",
    "ours_score": "score",
    "peer": "peer",
    "theirs": "theirs",
    "theirs_score": "score",
    "ratio": "ratio",
    "bar": "bar",
    "met": "met",
    "ours_1": "ours, 1 thread",
    "theirs_1": "theirs, 1 thread",
    "ratio_1": "ratio, 1 thread",
    "share": "of peak FMA",
    "memory": "peak MB, ours / theirs",
}
SHORT = ("work", "size", "ours", "peer", "theirs", "ratio", "bar", "met")  # what a README has room for
Line = dict[str, Any]


def compare(row: Row, bar: Bar, results: dict[str, Result], threads: int) -> Line:
    """Make the line of one bar: our time over that of the fastest peer it names."""
    ours = results[row.work]
    ran = [peer for peer in bar.peers if results[peer].times]
    peer = min(ran, key=lambda name: results[name].median) if ran else bar.peers[0]
    theirs = results[peer]
    ratio = ours.median / theirs.median if ours.times and theirs.times else None
    return {
        "work": row.work,
        "size": str(row.data),
        "threads": threads,
        "ours": ours.median,
        "ours_score": ours.score,
        "ours_error": ours.error,
        "peer": peer,
        "theirs": theirs.median,
        "theirs_score": theirs.score,
        "theirs_error": theirs.error,
        "ratio": ratio,
        "bar": bar.limit,
        "stretch": bar.stretch,
        "met": None if ratio is None or bar.limit is None else ratio <= bar.limit,
    }


def share_of_peak(row: Row, seconds: float | None, gigaflops: float) -> float | None:
    """Give the rate of one comparison of all pairs as a share of the matrix product's; pruning can pass 1."""
    dense = row.data.kind == "mixture" and row.data.n_features >= DENSE_FEATURES  # as many queries as samples
    if (
        seconds is None
        or not dense
        or any(part in row.work for part in ("alone", "grid", "CV", "partial_fit", "forget"))
    ):
        return None
    return 2 * row.data.n_samples**2 * row.data.n_features / 1e9 / seconds / gigaflops


def against_limit(limit: Limit, work: str, value: float | None, unit: str) -> Line:
    """Make the line of a bar that is a number, not a comparison."""
    first, last = limit.data[0], limit.data[-1]
    size = str(last) if first == last else f"{first.n_samples:,} to {last}"
    met = None if value is None else value <= limit.limit
    return {"work": work, "size": size, "value": value, "unit": unit, "bar": limit.limit, "met": met}


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of time against size on logarithmic axes, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(lines: list[Line], columns: Sequence[str] = tuple(COLUMNS)) -> str:
    """Lay the lines out as a Markdown table, aligned for terminals; empty columns are left out."""
    cells = [{key: _cell(key, line) for key in columns} for line in lines]
    keys = [key for key in columns if any(row[key] for row in cells)]
    width = {key: max(len(COLUMNS[key]), *(len(row[key]) for row in cells)) for key in keys}

    def join(values: dict[str, str], fill: str = " ") -> str:
        return "|" + "|".join(f" {values[key]:{fill}<{width[key]}} " for key in keys) + "|"

    rule = "|" + "|".join("-" * (width[key] + 2) for key in keys) + "|"
    return "\n".join([join(COLUMNS), rule, *map(join, cells)])


def _cell(key: str, line: Line) -> str:
    value = line.get(key)
    if key == "ours" and "unit" in line:
        return "" if line["value"] is None else f"{line['value']:.4g} {line['unit']}"
    if key in ("ours", "theirs") and value is None:
        error = line.get(f"{key}_error") or ("" if "unit" in line else "not measured")
        return f"none ({error.splitlines()[0][:60]})" if error else ""
    if value is None:
        return ""
    if key == "bar":
        return f"{value:g} ({line['stretch']:g})" if line.get("stretch") else f"{value:g}"
    if key == "met":
        # A peer that its second thread slows down, as on a machine with other work, cannot judge a bar.
        doubt = "?" if value and line.get("theirs_1") and line["theirs_1"] < line["theirs"] else ""
        return ("yes" if value else "no") + doubt
    return FORMATS.get(key, str)(value)


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.3g} ms"


def _scores(value: dict[str, float]) -> str:
    return ", ".join(f"{name} {number:.6g}" for name, number in value.items())


FORMATS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("ours", "theirs", "ours_1", "theirs_1"), _seconds),
    **dict.fromkeys(("ours_score", "theirs_score"), _scores),
    **dict.fromkeys(("ratio", "ratio_1"), lambda ratio: f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"),
    "share": "{:.0%}".format,
    "memory": lambda value: " / ".join("-" if mb is None else f"{mb:.0f}" for mb in value),
}


def draw_scaling(path: Path, sizes: Sequence[int], times: dict[str, list[float]], title: str) -> None:
    """Draw time against the number of samples on logarithmic axes, with the slope of each line."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, NullFormatter

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for (name, seconds), marker in zip(times.items(), "osD^v", strict=False):
        axes.loglog(sizes, seconds, marker=marker, label=f"{name}: slope {exponent(sizes, seconds):.2f}")
    axes.set(xlabel="samples", ylabel="median time [s]", title=title)
    axes.set_xticks(sizes)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
