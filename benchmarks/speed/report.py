"""From results to lines of the table."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.speed.measure import Result
from benchmarks.speed.rows import Bar, Limit, Row
from benchmarks.tables import markdown

COLUMNS = ("work", "size", "ours", "peer", "theirs", "ratio", "bar", "met")


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


def table(lines: Sequence[Sequence[str]]) -> str:
    """Lay the lines out."""
    return markdown(COLUMNS, lines)
