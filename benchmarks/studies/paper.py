"""From a folder that `pathforest reproduce` wrote to what docs/using/reproducing.md shows of it.

`python -m benchmarks.studies.paper FOLDER` writes the tables to docs/results and the figures to docs/images.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from benchmarks.tables import markdown
from pathforest._reproduction import published, tables
from pathforest._reproduction.experiment import CLASSIFIERS, Experiment, Settings, dataset_title
from pathforest._reproduction.figures import svg
from pathforest._reproduction.report import points
from pathforest._reproduction.statistics import Summary, summary

# One picture for light and dark pages.
GREYS = {"--ink": "#737b85", "--muted": "#737b85", "--grid": "#80808050", "--band": "#80808030"}
COLUMNS, PANEL, ROW = 3, 250, 235  # maps of the search in one picture


def read(folder: Path) -> Summary:
    """Summarise what was measured; the samples themselves are not needed."""
    measured = [pd.read_parquet(folder / f"{name}.parquet") for name in ("results", "landscapes")]
    results = measured[0]
    names = (tuple(results[column].unique()) for column in ("dataset", "classifier"))
    settings = Settings(*names, results["run"].nunique())
    return summary(Experiment(settings, *measured, samples={}, seconds=0))


def lines(table: tables.Table, *said: str) -> str:
    """Write a table of the report as Markdown, under its title and the sentences that sum it up."""
    cells = table.cells.map(lambda text: text.replace("\n", ", "))
    cells = cells.mask(table.bold, "**" + cells + "**")
    names = [""] * table.cells.index.nlevels
    rows = ([*(name if isinstance(name, tuple) else (name,)), *row] for name, row in cells.T.items())
    text = [" ".join(said).replace("|z|", "\\|z\\|")] if said else []
    return "\n\n".join([f"### {table.title}", *text, markdown([*names, *cells.columns], rows, len(names))])


def report(found: Summary) -> str:
    """Write the tables of the report."""
    said = points(found)
    *ratios, seconds = tables.time_tables(found)
    agreed = said["Does it reproduce?"], said["What does not?"]
    gained = said["Does Fuzzy OPF help?"], said["And along the tree?"]
    parts = [
        *map(lines, (*tables.score_tables(found), *ratios)),
        lines(seconds, said["How fast is training?"]),
        lines(tables.agreement_table(found), *agreed),
        lines(tables.gain_table(found), *gained),
    ]
    return "\n\n".join(parts) + "\n"


def accuracies(results: pd.DataFrame) -> str:
    """Write the mean accuracies of all classifiers in %, the published ones beside them."""
    ours = 100 * results.groupby(["dataset", "classifier"])["accuracy"].mean().unstack()
    paper = 100 * published.TABLE["mean"].unstack()
    columns = [(title, ours[name]) for name, title in CLASSIFIERS.items()]
    for name in reversed(published.CLASSIFIERS):
        columns.insert(list(CLASSIFIERS).index(name) + 1, ("paper", paper[name]))
    rows = [
        [published.TITLES[dataset], *(f"{values[dataset]:.2f}" for _, values in columns)]
        for dataset in published.PUBLIC
    ]
    return markdown(["Dataset", *(title for title, _ in columns)], rows) + "\n"


def maps(found: Summary) -> str:
    """Put the maps of all searches into one picture."""
    names = found.sensitivity["dataset"].unique()
    parts = []
    for place, name in enumerate(names):
        x, y = PANEL * (place % COLUMNS), ROW * (place // COLUMNS)
        parts.append(
            f'<text x="{x + 8}" y="{y + 14}" fill="var(--ink)" font-weight="bold">'
            f"{dataset_title(name)}</text>"
        )
        size = f'x="{x}" y="{y + 20}" width="{PANEL - 10}" height="{ROW - 30}"'
        parts.append(svg("landscape", found, name).replace("<svg", f"<svg {size}", 1))
    height = ROW * -(-len(names) // COLUMNS)
    look = 'font-family="sans-serif" font-size="13"'
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {space} viewBox="0 0 {PANEL * COLUMNS} {height}" {look}>{"".join(parts)}</svg>'


def main() -> None:
    """Write tables and figures into the site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what `pathforest reproduce` wrote")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the site")
    args = parser.parse_args()
    found = read(args.folder)
    (args.docs / "results" / "paper.md").write_text(report(found))
    (args.docs / "results" / "paper_accuracy.md").write_text(accuracies(found.experiment.results))
    drawn = {name: svg(name, found) for name in ("agreement", "gains")} | {"landscapes": maps(found)}
    for name, text in drawn.items():
        text = re.sub(r"var\((--\w+)\)", lambda match: GREYS[match[1]], text)
        (args.docs / "images" / f"paper_{name}.svg").write_text(text)


if __name__ == "__main__":
    main()
