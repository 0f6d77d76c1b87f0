"""`pathforest predict`: a model and new samples in, the samples with their predictions out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import options
from pathforest._cli.input import numbers_of, queries_for
from pathforest._cli.models import load_model, require, threads
from pathforest._cli.output import TableOutput, check_outputs, counted, show_facts
from pathforest._tables import ArrayColumn, LabelColumn, array_columns, open_stream
from pathforest._utils.text import show


def predict(
    model: options.Model,
    data: options.Data,
    out: options.Out = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probabilities per class.")] = False,
    only: Annotated[
        bool, typer.Option("--only", help="Write the new columns, without those of the input.")
    ] = False,
    column: Annotated[str, typer.Option(help="Name of the column of predictions.")] = "prediction",
    label: options.Label = None,
    distances: options.Distances = None,
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    to: options.To = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Predict with a saved model.

    Features are found by name; other columns, the label among them, are ignored by the model and written as
    they came. A text that the training table did not have counts as "other", and gaps are filled as in
    training; info says how. The prediction is the last column. Samples are read in batches, so files may be
    larger than the memory. --label matters only for models that know no names of features.

    Examples
    --------
      pathforest predict iris.pf new.csv --out predictions.csv

      pathforest predict iris.pf new.parquet --proba --only --to json

      zcat new.csv.gz | pathforest predict iris.pf - > predictions.csv
    """
    table = TableOutput(out, to, as_json=as_json)
    check_outputs([table.path], [model, data, distances])
    loaded = load_model(model, distances)
    require(loaded.model, "predict", model)
    if proba:
        require(loaded.model, "predict_proba", model)
    n_rows, how = 0, options.reading(from_, sep, decimal)
    with open_stream(data, n_features=loaded.n_features, **how) as stream:
        queries = queries_for(loaded, stream, label, distances)
        added = [*(_probability_names(loaded.model) if proba else ()), column]
        kept = [] if only else stream.names
        taken = next((name for name in added if [*kept, *added].count(name) > 1), None)
        if taken is not None:
            raise ValueError(
                f"{stream.name}: there is a column {show(taken)} already; pass --only, or another --column"
            )
        with table.open([*kept, *added], stream) as write, counted("predicted") as advance, threads(jobs):
            for batch in queries.batches:
                cells = queries.read(batch)
                numbers = {} if distances else numbers_of(cells, queries.features)
                given = [] if only else table.columns(stream, batch, numbers)
                write([*given, *_answers(loaded.model, queries.prepare(cells), proba)])
                n_rows += len(batch.places)
                advance(len(batch.places))
    if table.path is not None:
        show_facts({"predictions": out, "n_samples": n_rows}, [f"{out}: {n_rows} samples"], as_json)


def _probability_names(model: Any) -> list[str]:
    return [f"p({label})" for label in model.classes_.tolist()]


def _answers(model: Any, X: np.ndarray, proba: bool) -> Iterator[ArrayColumn]:
    """Yield the new columns, the prediction last."""
    if proba:
        labels, probabilities = model._labels_and_probabilities(X)
        yield from array_columns(probabilities)
    else:
        labels = model.predict(X)
    yield LabelColumn(labels.astype(str) if labels.dtype.kind == "O" else labels)
