"""From a folder that `pathforest reproduce` wrote to what docs/using/reproducing.md shows of it.

`python -m benchmarks.studies.paper FOLDER` copies the tables to docs/results/paper.md, and saves the figures
of the report as the browser draws them to docs/images; it needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pandas as pd

from benchmarks.dark import dark_path
from benchmarks.tables import markdown
from pathforest.reproduction import published
from pathforest.reproduction.experiment import CLASSIFIERS

FIGURES = ("agreement", "gains", "ranks", "sensitivity", "landscapes")
WIDTH = 900  # pixels


def tables(text: str) -> str:
    """Lower the headings by one level, for the page has a title of its own; leave out the title of these."""
    _, _, rest = text.partition("\n")
    return rest.replace("\n## ", "\n### ").lstrip()


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


def save_figures(report: Path, folder: Path) -> None:
    """Save pictures of the figures of a report, light and dark."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Without the sandbox, because containers do not let it start; the page is our own.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 900}, device_scale_factor=2, color_scheme=scheme
            )
            page.goto(report.resolve().as_uri())
            for name in FIGURES:
                place = page.locator(f"#{name}-figure > div").first
                place.scroll_into_view_if_needed()
                page.wait_for_timeout(1000)  # figures are drawn when they come into view
                path = folder / f"paper_{name}.png"
                place.screenshot(path=dark_path(path) if scheme == "dark" else path)
        browser.close()


def main() -> None:
    """Copy tables and figures into the site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what `pathforest reproduce` wrote")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the site")
    args = parser.parse_args()
    results = args.docs / "results"
    results.mkdir(exist_ok=True)
    (results / "paper.md").write_text(tables((args.folder / "tables.md").read_text()))
    (results / "paper_accuracy.md").write_text(accuracies(pd.read_parquet(args.folder / "results.parquet")))
    save_figures(args.folder / "report.html", args.docs / "images")


if __name__ == "__main__":
    main()
