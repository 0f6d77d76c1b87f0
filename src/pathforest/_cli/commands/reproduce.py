"""`pathforest reproduce`: the paper's experiment, from datasets to a report."""

from __future__ import annotations

import os
from pathlib import Path

from joblib import cpu_count

from pathforest._cli.options import flag, option, say
from pathforest._cli.tables import show_facts, show_table

QUICK_RUNS, MOST_RUNS = 5, 10_000


def reproduce(
    *,
    quick: bool = flag("--quick", "Small sets, no download, 5 runs: results in a minute."),
    datasets: str | None = option("Datasets by name, with commas.", shown="the paper's ten public ones"),
    classifiers: str | None = option("Classifiers by name, separated by commas.", shown="all seven"),
    runs: int | None = option("Random splits of a set.", min=1, max=MOST_RUNS, shown="20; --quick: 5"),
    seed: int = option("Decides the splits. Same seed, same numbers.", default=0, min=0),
    jobs: int | None = option("Processes. They change time, never numbers.", min=1, shown="all cores"),
    preset: str = option("'paper', or 'clean': only training samples are learned from.", default="paper"),
    out: Path = option("Folder for results and report.", default=Path("reproduction")),
) -> None:
    """Repeat the experiment of the Fuzzy OPF paper and write a report.

    Writes results.parquet, landscapes.parquet and report.html. A run that was stopped continues when the same
    command is given again.

    Examples
    --------
      pathforest reproduce --quick

      pathforest reproduce --datasets boat,cone_torus --runs 20 --out boat

      PATHFOREST_DATA=~/opf-data pathforest reproduce --jobs 2
    """
    try:
        from pathforest._reproduction import data, published, statistics, tables
        from pathforest._reproduction.experiment import CLASSIFIERS, Settings
        from pathforest._reproduction.report import report_html
        from pathforest._reproduction.run import reproduce as run
        from pathforest._utils.files import replace_file
    except ModuleNotFoundError as error:
        raise ImportError(
            f"reproduce needs {error.name}; run: pip install 'pathforest[reproduce]'"
        ) from error
    usual = data.QUICK if quick else published.PUBLIC
    settings = Settings(
        datasets=usual if datasets is None else _names(datasets),
        classifiers=tuple(CLASSIFIERS) if classifiers is None else _names(classifiers),
        runs=runs or (QUICK_RUNS if quick else published.RUNS),
        seed=seed,
        preset=preset,
    )
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise OSError(f"--out {out}: {there} is not a folder that can be written; name another")
    experiment = run(settings, out, jobs=jobs or cpu_count())
    for name, samples in experiment.samples.items():
        if not data.is_published(name, samples):
            say(f"{name} is not the published set, so the paper's numbers do not apply")
    experiment.write(out)
    summary = statistics.summary(experiment)
    report = out / "report.html"
    replace_file(report, report_html(summary).encode())
    scores = tables.score_tables(summary)[0].cells
    if scores.index.nlevels > 1:
        scores = scores.xs("ours", level=1)
    rows = [[name, *(text.partition("\n")[0] for text in row)] for name, row in scores.T.items()]
    show_table(["dataset", *scores.columns], rows)
    show_facts(None, [f"report: {report}"])


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
