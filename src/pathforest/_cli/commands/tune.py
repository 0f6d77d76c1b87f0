"""`pathforest tune`: every cell of a search with its score."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import models, options
from pathforest._cli.advice import warn_one_class
from pathforest._cli.commands.train import search_facts, search_lines
from pathforest._cli.input import read_samples
from pathforest._cli.output import TableOutput, check_outputs, show_facts, show_table
from pathforest._tables import ArrayColumn

SHOWN = 10  # cells in the terminal
SHORT = {
    "rank_test_score": "rank",
    "mean_test_score": "score",
    "std_test_score": "std",
    "mean_test_log_loss": "log loss",
}


def tune(
    data: options.Data,
    label: options.Label = None,
    out: Annotated[str | None, typer.Option("--out", "-o", help="File for the table of all cells.")] = None,
    save: Annotated[str | None, typer.Option(help="File for the model of the best cells.")] = None,
    settings: options.Set = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    scale: options.Scale = False,
    columns: options.Columns = None,
    no_encode: options.NoEncode = False,
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    to: options.To = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Search the parameters of the fuzzy classifier by cross-validation and show their scores.

    Examples
    --------
      pathforest tune iris.csv --label species

      pathforest tune iris.csv --label species --set sigmas=[0.2,0.4,0.6,0.8,1.0] --set cv=10 --out cells.csv

      pathforest tune wine.csv --label 0 --set transforms=linear --save wine.pf
    """
    table = None if out is None else TableOutput(out, to)
    check_outputs([out, save], [data])
    model = models.make_estimator("FuzzyOPFClassifierCV", settings)
    if scale:
        models.check_scale(model)
    if save is None:
        model.set_params(refit=False)
    samples = read_samples(
        data,
        label=label,
        features=options.names(features),
        ignore=options.names(ignore),
        encode=not no_encode,
        kinds=options.kinds(columns, encode=not no_encode),
        **options.reading(from_, sep, decimal),
    )
    warn_one_class(samples.y, samples.label)
    prepared = models.prepare(model, samples.X, samples.features, scale=scale, kinds=samples.kinds)
    seconds = models.fit(model, prepared, samples.y, jobs)
    names, cells = _cells(model.cv_results_)
    if table is not None:
        with table.open(names) as write:
            write(cells)
    if save is not None:
        models.save(model, samples.features, save, label=samples.label, table=prepared.table)
    facts = {
        "n_samples": len(prepared.X),
        "columns": models.rule_facts(prepared.table),
        "n_cells": len(cells[0].values()),
        "seconds": round(seconds, 3),
        **search_facts(model),
        "cells": [
            dict(zip(names, row, strict=True)) for row in zip(*(cell.values() for cell in cells), strict=True)
        ],
    }
    if not as_json:
        shown = [_shown(name, cell.values()[:SHOWN]) for name, cell in zip(names, cells, strict=True)]
        header = [SHORT.get(name, name.removeprefix("param_")) for name in names]
        show_table(header, list(zip(*shown, strict=True)))
    text = f"{facts['n_cells']} cells in {seconds:.1f} s, the best {min(SHOWN, facts['n_cells'])} above"
    show_facts(facts, [text, *search_lines(facts), *models.rule_lines(prepared.table)], as_json)


def _cells(results: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return the columns worth a look, best cell first."""
    order = np.argsort(results["rank_test_score"])
    parameters = [name for name in results if name.startswith("param_")]
    names = [
        "rank_test_score",
        "mean_test_score",
        "std_test_score",
        *parameters,
        "mean_test_log_loss",
        "beta",
    ]
    columns = [np.asarray(results[name])[order] for name in names]
    columns = [np.array(column.tolist()) if column.dtype == object else column for column in columns]
    return names, [ArrayColumn(_rounded(column)) for column in columns]


def _shown(name: str, values: list[Any]) -> list[str]:
    """Write what was measured with four decimals, and parameters as they are."""
    if name.startswith("param_"):
        return list(map(str, values))
    return [f"{value:.4f}" if isinstance(value, float) else str(value) for value in values]


def _rounded(column: np.ndarray) -> np.ndarray:
    return column.round(6) if column.dtype.kind == "f" else column
