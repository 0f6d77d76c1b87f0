"""`pathforest explain`: which training sample conquered a sample, and along which path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import options
from pathforest._cli.errors import UsageError
from pathforest._cli.input import Queries, queries_for
from pathforest._cli.models import Loaded, load_model, require
from pathforest._cli.output import show_facts, visible
from pathforest._models.explanation import Explanation, in_units_of_table, with_names
from pathforest._tables import open_stream

RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
FIRST = 5  # samples explained by default


def explain(
    model: options.Model,
    data: options.Data,
    rows: Annotated[
        str | None,
        typer.Option(
            help="Samples by position from 0, such as 0,7 or 0-9.", show_default=f"the first {FIRST}"
        ),
    ] = None,
    label: options.Label = None,
    distances: options.Distances = None,
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    as_json: options.Json = False,
) -> None:
    """Explain why samples got their class.

    For each: the class and its cost, what the other classes cost, the path from the training sample that
    conquered it to a prototype, and the features of the sample beside those of its conqueror and of the best
    bidder of the next class. Training samples are named by their position in the training data.

    Examples
    --------
      pathforest explain iris.pf new.csv --rows 0,7

      pathforest explain iris.pf new.csv --json
    """
    wanted = _positions(rows)
    loaded = load_model(model, distances)
    require(loaded.model, "explain", model)
    how = options.reading(from_, sep, decimal)
    with open_stream(data, n_features=loaded.n_features, **how) as stream:
        queries = queries_for(loaded, stream, label, distances)
        found = dict(_pick(queries, wanted))
    missing = [row for row in wanted or () if row not in found]
    if missing:
        raise ValueError(f"{stream.name}: there is no sample {missing[0]}; they count from 0")
    explained = [_facts(loaded, row, found[row]) for row in (wanted or found)]
    lines = [line for facts, reason in explained for line in _lines(facts, reason)]
    show_facts([facts for facts, _ in explained], lines, as_json)


def _positions(text: str | None) -> list[int] | None:
    if text is None:
        return None
    positions: list[int] = []
    for part in text.split(","):
        found = RANGE.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            raise UsageError(f"--rows {text}: name samples by position from 0, such as 0,7 or 0-9")
        positions.extend(range(first, last + 1))
    return positions


def _pick(queries: Queries, wanted: list[int] | None) -> Iterator[tuple[int, np.ndarray]]:
    """Yield samples by position, reading no further than the last."""
    first, last = 0, FIRST - 1 if wanted is None else max(wanted)
    for batch in queries.batches:
        for row in range(len(batch.places)):
            if first + row <= last and (wanted is None or first + row in wanted):
                yield first + row, queries.samples(batch.take(np.array([row])))
        first += len(batch.places)
        if first > last:
            return


def _facts(loaded: Loaded, row: int, x: Any) -> tuple[dict[str, Any], Explanation]:
    model = loaded.model
    found = with_names(model.explain(x)[0], loaded.sample_names)
    if loaded.preprocessor is not None:
        found = in_units_of_table(found, loaded.preprocessor)
    is_search = hasattr(model, "estimators_")
    offered = model.class_costs(x, found.cell) if is_search else model.class_costs(x)
    costs = dict(zip(map(str, model.classes_.tolist()), offered[0].tolist(), strict=True))
    return {
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
    }, found


def _lines(facts: dict[str, Any], found: Explanation) -> list[str]:
    ranked = sorted(facts["class_costs"].items(), key=lambda item: item[1])
    costs = ", ".join(f"{visible(label)} {cost:.4g}" for label, cost in ranked[:4])
    answer, *details = str(found).split("\n")
    return [
        f"sample {facts['sample']}: {answer}",
        f"  class costs: {costs}",
        *(f"  {line}" for line in details),
    ]
