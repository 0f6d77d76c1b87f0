"""`pathforest predict`: a model and new samples in, the samples with their predictions out, or explained."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pathforest._cli import models, options, tables
from pathforest._cli.options import flag, option, refuse
from pathforest._models.explanation import Opened
from pathforest._search.representations import take_rows
from pathforest._tables.read import open_stream
from pathforest._utils.progress import progress

RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def predict(
    model: options.Model,
    data: options.Data,
    *,
    out: str | None = options.OUT,
    to: str | None = options.TO,
    reading: options.Reading,
    proba: bool = flag("--proba", "Add a column of probabilities per class."),
    only: bool = flag("--only", "Write the new columns, without those of the input."),
    column: str = option("Name of the column of predictions.", default="prediction"),
    explain: str | None = option("Explain these samples instead, such as 0,7 or 0-9.", metavar="ROWS"),
    distances: str | None = options.DISTANCES,
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Predict with a saved model, or explain its predictions.

    Features are found by name; other columns, the label among them, are ignored by the model and written as
    they came. A text that the training table did not have counts as "other", and gaps are filled as in
    training; info says how. The prediction is the last column. Samples are read in batches, so files may be
    larger than the memory. --label matters only for models that know no names of features.

    --explain prints for each sample, named by its position from 0: the class and its cost, what the other
    classes cost, the path from the training sample that conquered it to a prototype, and its features beside
    those of its conqueror and of the best sample of the next class. Training samples are named by their
    position in the training data.

    Examples
    --------
      pathforest predict iris.pf new.csv --out predictions.csv

      pathforest predict iris.pf new.parquet --proba --only --to json

      pathforest predict iris.pf new.csv --explain 0,7

      zcat new.csv.gz | pathforest predict iris.pf - > predictions.csv
    """
    rows = None if explain is None else _positions(explain)
    for name, given in {"--out": out, "--to": to, "--proba": proba, "--only": only}.items():
        refuse(rows and given, f"--explain {explain}: not with {name}; it prints text, or JSON with --json")
    table = tables.TableOutput(out, to, as_json=as_json)
    tables.check_outputs([table.path], [model, data, distances])
    needs = "predict" if rows is None else "explain"
    loaded = models.load_model(model, distances, needs="predict_proba" if proba else needs)
    with open_stream(data, n_features=loaded.n_features, **reading.format) as stream:
        batches = models.new_samples(loaded, stream, reading.label, distances)
        if rows is not None:
            found, first = {}, 0
            for batch, _, X in batches:
                n = len(batch.places)
                for row in {*rows} & {*range(first, first + n)}:
                    found[row] = _explain(loaded, row, take_rows(X, np.array([row - first])))
                first += n
                if first > max(rows):
                    break
            missing = [row for row in rows if row not in found]
            if missing:
                raise ValueError(f"{stream.name}: there is no sample {missing[0]}; they count from 0")
            lines = [line for row in rows for line in found[row][1]]
            tables.show_facts([found[row][0] for row in rows], lines, as_json)
            return
        n_rows, kept, added = 0, [] if only else stream.names, [column]
        if proba:
            added = [*(f"p({label})" for label in loaded.model.classes_.tolist()), column]
        output = table.open([*kept, *added], stream, [column], "pass --only, or another --column")
        # How many samples there are is known at the end only.
        with output as write, progress(np.inf, "predicted", "samples") as bar, models.threads(jobs):
            for batch, features, X in batches:
                if proba:
                    labels, probabilities = loaded.model._labels_and_probabilities(X)
                else:
                    labels, probabilities = loaded.model.predict(X), np.empty((len(batch.places), 0))
                labels = labels.astype(str) if labels.dtype.kind == "O" else labels
                answers = dict(zip(added, [*np.ascontiguousarray(probabilities.T), labels], strict=True))
                write(({} if only else table.columns(batch, features)) | answers)
                n_rows += len(labels)
                bar.update(len(labels))
    if table.path is not None:
        tables.show_facts({"predictions": out, "n_samples": n_rows}, [f"{out}: {n_rows} samples"], as_json)


def _positions(text: str) -> list[int]:
    positions: list[int] = []
    for part in text.split(","):
        found = RANGE.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        refuse(first > last, f"--explain {text}: name samples by position from 0, such as 0,7 or 0-9")
        positions.extend(range(first, last + 1))
    return positions


def _explain(loaded: models.Loaded, row: int, x: Any) -> tuple[dict[str, Any], list[str]]:
    """Explain a prediction, for programs and for people."""
    model, before, names = loaded.model, loaded.before, loaded.names
    steps = [] if before is None else [*before]
    (found,) = Opened(model, steps).in_units_of(None, model.explain(x), names)
    is_search = hasattr(model, "estimators_")
    costs = {}
    if hasattr(model, "class_costs"):
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
    shown = ", ".join(f"{tables.visible(label)} {cost:.4g}" for label, cost in ranked)
    details = [f"class costs: {shown}"] * bool(costs) + details
    return facts, [f"sample {row}: {answer}", *(f"  {line}" for line in details)]
