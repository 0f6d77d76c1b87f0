"""`pathforest reproduce`: the paper's experiment, from datasets to a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from joblib import cpu_count
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pathforest._utils.progress import is_wanted
from pathforest.cli.errors import say
from pathforest.cli.output import show_facts

QUICK_RUNS, MOST_RUNS = 5, 10_000


def reproduce(
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sets that need no download, 5 runs: results in a minute.")
    ] = False,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="Datasets by name, separated by commas.", show_default="the paper's ten public ones"
        ),
    ] = None,
    classifiers: Annotated[
        str | None, typer.Option(help="Classifiers by name, separated by commas.", show_default="all seven")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_RUNS, help="Random splits of each dataset.", show_default="20, or 5 with --quick"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides the splits. Same seed, same numbers.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Processes. They change time, never numbers.", show_default="all cores"),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="'paper', or 'clean': scaling and search keep to the training part.")
    ] = "paper",
    out: Annotated[Path, typer.Option(help="Folder for results and report.")] = Path("reproduction"),
) -> None:
    """Repeat the experiment of the Fuzzy OPF paper and write a report.

    Writes results.parquet, landscapes.parquet, ties.parquet, tables.md and report.html. A run that was
    stopped continues when the same command is given again.

    Examples
    --------
      pathforest reproduce --quick

      pathforest reproduce --datasets boat,cone_torus --runs 20 --out boat

      PATHFOREST_DATA=~/opf-data pathforest reproduce --jobs 2
    """
    try:
        from pathforest._utils.files import replace_file
        from pathforest.reproduction import published, sources
        from pathforest.reproduction.experiment import CLASSIFIERS, Settings
        from pathforest.reproduction.page import write_report
        from pathforest.reproduction.runner import check_settings
        from pathforest.reproduction.runner import reproduce as run
        from pathforest.reproduction.summary import tables_markdown, terminal_table
    except ModuleNotFoundError as error:
        raise ImportError(
            f"reproduce needs {error.name}; run: pip install 'pathforest[reproduce]'"
        ) from error
    usual = sources.QUICK if quick else published.PUBLIC
    settings = check_settings(
        Settings(
            datasets=usual if datasets is None else _names(datasets),
            classifiers=tuple(CLASSIFIERS) if classifiers is None else _names(classifiers),
            runs=runs or (QUICK_RUNS if quick else published.RUNS),
            seed=seed,
            preset=preset,
        )
    )
    _check_folder(out)
    with _progress() as advance:
        experiment = run(settings, out, jobs=jobs or cpu_count(), advance=advance)
    for name, samples in experiment.samples.items():
        if not sources.is_published(name, samples):
            say(f"{name} is not the published set, so the paper's numbers do not apply")
    experiment.write(out)
    replace_file(out / "tables.md", tables_markdown(experiment).encode())
    report = out / "report.html"
    write_report(experiment, report)
    Console().print(terminal_table(experiment))
    show_facts(None, [f"report: {report}"], as_json=False)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _check_folder(out: Path) -> None:
    """Check, before any work, that a folder can be written, or made."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise OSError(f"--out {out}: {there} is not a folder that can be written; name another")


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show a bar with the time that remains, where progress bars are shown."""
    console, hidden = Console(stderr=True), not is_wanted(sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("reproducing", total=1.0)
        yield lambda share: bar.advance(task, share)
