"""How a study runs: every unit is measured once, and tables of all units are written to docs/results.

`units(repeats)` lists what can be measured on its own, as tuples of plain values that begin with the name of
a dataset; `measure(*unit)` returns rows; `report(table)` maps names of files to texts. What the same code and
versions have measured is kept in build/studies, so that a run resumes. One of a part only prints its tables.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.speed.machine import processor, today, versions
from benchmarks.tables import RESULTS, parser

LIBRARIES = ("numpy", "scipy", "scikit-learn")
FOLDER = Path("build/studies")
Unit = tuple[Any, ...]
Row = dict[str, Any]


def main(
    name: str,
    doc: str,
    units: Callable[[int], Iterable[Unit]],
    measure: Callable[..., list[Row]],
    report: Callable[[pd.DataFrame], dict[str, str]],
    repeats: int,
) -> None:
    """Run a study from its command line."""
    options = parser(f"benchmarks.studies.{name}", doc)
    options.add_argument("--repeats", type=int, default=repeats, help="splits or draws of each dataset")
    options.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    options.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    args = options.parse_args()
    every = list(units(args.repeats))
    wanted = [unit for unit in every if args.only in unit[0]]
    found = measured(FOLDER / f"{name}.jsonl", wanted, measure, args.jobs)
    if not found:
        sys.exit("no results yet")
    source = f"`python -m benchmarks.studies.{name}`, {processor()}, {today()}, " + ", ".join(
        f"{library} {version}" for library, version in about()["versions"].items()
    )
    table = pd.DataFrame([row for rows in found.values() for row in rows])
    is_whole = len(found) == len(every) and args.repeats == repeats
    for file, text in report(table).items():
        print(f"\n{file}\n\n{text}")
        if is_whole:
            (RESULTS / f"{file}.md").write_text(f"{source}.\n\n{text}\n", encoding="utf-8")


def measured(
    file: Path, units: list[Unit], measure: Callable[..., list[Row]], jobs: int
) -> dict[Unit, list[Row]]:
    """Return the rows of all units; those that this code and these versions have not measured are."""
    here = about()
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {tuple(kept["unit"]): kept["rows"] for kept in recorded(file) if kept["about"] == here}
    found = {unit: known[unit] for unit in units if unit in known}
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=prepare)
    with open(file, "a", encoding="utf-8") as out, pool:
        tasks = {pool.submit(measure, *unit): unit for unit in units if unit not in found}
        for task in as_completed(tasks):
            unit = tasks[task]
            if task.exception():  # one unit less, and the others go on
                print(f"{unit} failed: {task.exception()!r}", file=sys.stderr)
            else:
                found[unit] = task.result()
                out.write(json.dumps({"unit": unit, "about": here, "rows": found[unit]}) + "\n")
                out.flush()
                print(f"{len(found)} of {len(units)}: {unit}", file=sys.stderr, flush=True)
    return found


def recorded(file: Path) -> list[dict[str, Any]]:
    """Read what was measured before; a line that was not finished is left out."""
    kept = []
    for text in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        with suppress(ValueError):
            kept.append(json.loads(text))
    return kept


def about() -> dict[str, Any]:
    """Name what results depend on: the commit and the versions."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"code": commit, "versions": versions(LIBRARIES)}


def prepare() -> None:
    """Make a process use one thread, and silence warnings that are expected of small and odd samples."""
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)
    warnings.simplefilter("ignore")
