"""`pathforest explain`: which training sample conquered a sample, and along which path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from pathforest.cli import options
from pathforest.cli.errors import UsageError
from pathforest.cli.input import Queries, queries_for
from pathforest.cli.models import load_model, require
from pathforest.cli.output import show_facts, visible
from pathforest.datasets.formats import open_stream

RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
FIRST = 5  # samples explained by default
STEPS = 6  # of a path shown in a line


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

    For each: the class, what the classes cost, and the path from the training sample that conquered it to a
    prototype, each training sample by its position in the training data and its class.

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
    facts = [_facts(loaded.model, row, found[row]) for row in (wanted or found)]
    show_facts(facts, [line for sample in facts for line in _lines(sample)], as_json)


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


def _facts(model: Any, row: int, x: Any) -> dict[str, Any]:
    found = model.explain(x)[0]
    is_search = hasattr(model, "estimators_")
    offered = model.class_costs(x, found.cell) if is_search else model.class_costs(x)
    costs = dict(zip(map(str, model.classes_.tolist()), offered[0].tolist(), strict=True))
    return {
        "sample": row,
        "prediction": found.label,
        **({"transform": found.transform} if is_search else {}),
        "offer": found.offer,
        "conqueror": found.conqueror,
        "path": found.path,
        "path_labels": model.label_[found.path].tolist(),
        "path_costs": found.costs,
        "class_costs": costs,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    ranked = sorted(facts["class_costs"].items(), key=lambda item: item[1])
    costs = ", ".join(f"{visible(label)} {cost:.4g}" for label, cost in ranked[:4])
    steps = [f"{i} ({visible(label)})" for i, label in zip(facts["path"], facts["path_labels"], strict=True)]
    if len(steps) > STEPS:
        steps = [*steps[: STEPS - 2], f"... {len(steps) - STEPS + 1} more ...", steps[-1]]
    return [
        f"sample {facts['sample']}: {visible(facts['prediction'])}",
        *([f"  transform: {visible(facts['transform'])}"] if "transform" in facts else []),
        f"  class costs: {costs}",
        f"  path to a prototype: {' -> '.join(steps)}",
    ]
