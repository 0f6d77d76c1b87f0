"""`pathforest predict`: a model and new samples in, the samples with their predictions out, or explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from pathforest._cli import options
from pathforest._cli.models import Loaded, Queries, load_model, queries_for, threads
from pathforest._cli.options import Option, UsageError
from pathforest._cli.tables import (
    TableOutput,
    check_outputs,
    check_unused,
    columns_of,
    counted,
    show_facts,
    visible,
)
from pathforest._models.explanation import in_units_of_table, with_names
from pathforest._tables.read import open_stream

RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def predict(
    model: options.Model,
    data: options.Data,
    reading: options.Reading,
    out: options.Out = None,
    to: options.To = None,
    proba: Annotated[bool, Option("--proba", help="Add a column of probabilities per class.")] = False,
    only: Annotated[bool, Option("--only", help="Write the new columns only.")] = False,
    column: Annotated[str, Option(help="Name of the column of predictions.")] = "prediction",
    explain: Annotated[
        str | None,
        Option(
            metavar="ROWS",
            help="Print why these samples get their class instead: positions from 0, such as 0,7 or 0-9.",
        ),
    ] = None,
    distances: options.Distances = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Predict with a saved model, or explain its predictions.

    Features are found by name; other columns, the label among them, are ignored by the model and written as
    they came. A text that the training table did not have counts as "other", and gaps are filled as in
    training; info says how. The prediction is the last column. Samples are read in batches, so files may be
    larger than the memory. --label matters only for models that know no names of features.

    --explain prints for each sample: the class and its cost, what the other classes cost, the path from the
    training sample that conquered it to a prototype, and its features beside those of its conqueror and of
    the best sample of the next class. Training samples are named by their position in the training data.

    Examples
    --------
      pathforest predict iris.pf new.csv --out predictions.csv

      pathforest predict iris.pf new.parquet --proba --only --to json

      pathforest predict iris.pf new.csv --explain 0,7

      zcat new.csv.gz | pathforest predict iris.pf - > predictions.csv
    """
    rows = None if explain is None else _positions(explain)
    for name, given in (("--out", out), ("--to", to), ("--proba", proba), ("--only", only)):
        if rows is not None and given:
            raise UsageError(
                f"--explain {explain}: not with {name}, because it prints text, or JSON with --json"
            )
    table = TableOutput(out, to, as_json=as_json)
    check_outputs([table.path], [model, data, distances])
    needs = "predict" if rows is None else "explain"
    loaded = load_model(model, distances, needs="predict_proba" if proba else needs)
    with open_stream(data, n_features=loaded.n_features, **reading.format) as stream:
        queries = queries_for(loaded, stream, reading.label, distances)
        if rows is not None:
            found = dict(_pick(queries, set(rows)))
            missing = [row for row in rows if row not in found]
            if missing:
                raise ValueError(f"{stream.name}: there is no sample {missing[0]}; they count from 0")
            explained = [_explained(loaded, row, found[row]) for row in rows]
            lines = [line for _, lines in explained for line in lines]
            show_facts([facts for facts, _ in explained], lines, as_json)
            return
        n_rows, kept, added = 0, [] if only else stream.names, [column]
        if proba:
            added = [*(f"p({label})" for label in loaded.model.classes_.tolist()), column]
        check_unused(stream, kept, added, "pass --only, or another --column")
        output = table.open([*kept, *added], stream, [column])
        with output as write, counted("predicted") as advance, threads(jobs):
            for batch in queries.batches:
                cells = queries.read(batch)
                features = {} if distances else columns_of(cells, queries.features)
                given = {} if only else table.columns(batch, features)
                answers = _answers(loaded.model, queries.prepare(cells), proba)
                write(given | dict(zip(added, answers, strict=True)))
                n_rows += len(batch.places)
                advance(len(batch.places))
    if table.path is not None:
        show_facts({"predictions": out, "n_samples": n_rows}, [f"{out}: {n_rows} samples"], as_json)


def _answers(model: Any, X: np.ndarray, proba: bool) -> Iterator[np.ndarray]:
    """Yield the new columns, the prediction last."""
    if proba:
        labels, probabilities = model._labels_and_probabilities(X)
        yield from np.ascontiguousarray(probabilities.T)
    else:
        labels = model.predict(X)
    yield labels.astype(str) if labels.dtype.kind == "O" else labels


def _positions(text: str) -> list[int]:
    positions: list[int] = []
    for part in text.split(","):
        found = RANGE.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            raise UsageError(f"--explain {text}: name samples by position from 0, such as 0,7 or 0-9")
        positions.extend(range(first, last + 1))
    return positions


def _pick(queries: Queries, wanted: set[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield samples by position, reading no further than the last."""
    first, last = 0, max(wanted)
    for batch in queries.batches:
        for row in range(len(batch.places)):
            if first + row in wanted:
                yield first + row, queries.samples(batch.take(np.array([row])))
        first += len(batch.places)
        if first > last:
            return


def _explained(loaded: Loaded, row: int, x: np.ndarray) -> tuple[dict[str, Any], list[str]]:
    """Explain a prediction, for programs and for people."""
    model, before = loaded.model, loaded.preprocessor
    names = loaded.names
    if before is not None:
        names = before.get_feature_names_out().tolist() if hasattr(before, "get_feature_names_out") else None
    found = with_names(model.explain(x)[0], names)
    if before is not None:
        found = in_units_of_table(found, before)
    is_search = hasattr(model, "estimators_")
    offered = model.class_costs(x, found.cell) if is_search else model.class_costs(x)
    costs = dict(zip(map(str, model.classes_.tolist()), offered[0].tolist(), strict=True))
    facts = {
        "sample": row,
        "prediction": found.label,
        **({"transform": found.transform} if is_search else {}),
        "cost": found.cost,
        "distance": found.distance,
        "conquerors": found.conquerors,
        "offers": found.offers,
        "path": found.path,
        "path_labels": model.label_[found.path].tolist(),
        "path_costs": found.costs,
        "class_costs": costs,
        "rival": found.rival and found.rival._asdict(),
        "features": found.features and [feature._asdict() for feature in found.features],
    }
    answer, *details = str(found).split("\n")
    ranked = sorted(costs.items(), key=lambda item: item[1])[:4]
    shown = ", ".join(f"{visible(label)} {cost:.4g}" for label, cost in ranked)
    return facts, [f"sample {row}: {answer}", f"  class costs: {shown}", *(f"  {line}" for line in details)]
