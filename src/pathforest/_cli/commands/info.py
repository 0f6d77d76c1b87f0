"""`pathforest info`: what is in a file, a model or a table."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import models, options, tables
from pathforest._tables.columns import DATE, NOTHING, NUMBER, as_labels, is_gap, kind_of, numbers, objects
from pathforest._tables.read import open_stream
from pathforest._utils.text import listed, show

SHOWN = 20  # columns and classes listed in the terminal
COUNTED = [  # facts, their text, and attributes that are as long
    ("n_samples", "training samples", "cost_", "density_"),
    ("n_kept", "samples kept", "sample_indices_"),
    ("n_clusters", "clusters", "cluster_roots_"),
]


def info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A model or a data file.")],
    *,
    reading: options.Reading,
    as_json: bool = options.JSON,
) -> None:
    """Describe a model or a data file.

    Of a model: its class, what training has found, parameters, features and classes. Of a table, which is
    read in batches: samples, columns with their smallest and largest values and the cells that are missing,
    and how many samples each class has.

    Examples
    --------
      pathforest info iris.pf

      pathforest info data.dat --json
    """
    if file != "-" and models.is_model(file):
        _show_model(file, models.load_model(file), as_json)
    else:
        _show_table(file, reading, as_json)


def _show_model(path: str, loaded: Any, as_json: bool) -> None:
    model = loaded.model
    default = type(model)().get_params(deep=False)
    params = model.get_params(deep=False)  # those that are not the default, by repr: two NaN are the same
    params = {name: value for name, value in params.items() if repr(value) != repr(default[name])}
    facts = {
        "model": path,
        "estimator": type(model).__name__,
        "n_features": loaded.n_features,
        "features": loaded.names,
        "label": loaded.label,
        "columns": models.rule_facts(loaded.table),
        "params": params,
    }
    what = "distances" if params.get("metric") == "precomputed" else "features"
    lines = [f"{path}: {facts['estimator']}, {loaded.n_features} {what}"]
    for fact, text, *names in COUNTED:
        counted = next((getattr(model, name) for name in names if hasattr(model, name)), None)
        if counted is not None:
            facts[fact] = len(counted)
            lines[0] += f", {len(counted)} {text}"
    if hasattr(model, "best_k_"):
        facts["best_k"] = int(model.best_k_)
        lines[0] += f", k = {model.best_k_}"
    if loaded.before is not None and loaded.table is None:
        steps = ", ".join(type(step).__name__ for _, step in loaded.before.steps)
        lines.append(f"before the model: {steps}")
    if loaded.table is not None:
        lines += ["columns:", *models.rule_lines(loaded.table)]
    elif loaded.names and what == "features":
        lines.append(f"features: {listed(loaded.names, SHOWN, tables.visible)}")
    if loaded.label is not None:
        lines.append(f"label: {tables.visible(loaded.label)}")
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
        lines.append(f"classes: {listed(facts['classes'], SHOWN, tables.visible)}")
    facts |= models.search_facts(model)
    if "best_score" in facts:
        lines.append(f"chosen: {models.chosen_text(facts)}; {models.score_text(facts)}")
    given = ", ".join(f"{name}={value!r}" for name, value in params.items())
    lines.append(f"parameters: {given or 'the defaults'}")
    tables.show_facts(facts, lines, as_json)


def _show_table(path: str, reading: options.Reading, as_json: bool) -> None:
    with open_stream(path, **reading.format) as stream:
        column = tables.find_label(stream, reading.label, needed=False)
        n_samples, n_labels, classes = 0, 0, Counter()
        parts: dict[str, list[Any]] = {name: [] for name in stream.names if name != column}
        for batch in stream.batches:
            n_samples += len(batch.places)
            if column is not None:
                labels = tables.known_labels(batch, column)
                n_labels += len(labels)
                classes.update(labels.tolist())
            for name, found in parts.items():
                found.append(_look_at(batch.columns[name], stream.decimal))
    shown, ranges, missing = [], {}, {}
    for name, found in parts.items():
        kinds = {kind for kind, *_ in found} - {NOTHING}
        ends = [end for *_, ends in found for end in ends]
        ranges[name] = [min(ends), max(ends)] if kinds == {NUMBER} else None
        missing[name] = sum(n_missing for _, n_missing, _ in found)
        what = "text" if kinds - {DATE} else "dates" if kinds else ""
        cells = [f"{end:.6g}" for end in ranges[name] or ()] or [what, ""]
        shown.append([name, *cells, str(missing[name])])
    if classes and labels.dtype == object:
        texts, classes = classes, Counter()
        for name, n in zip(as_labels(objects(list(texts))).tolist(), texts.values(), strict=True):
            classes[name] += n
    missing = {name: n for name, n in missing.items() if n}
    n_unlabelled = 0 if column is None else n_samples - n_labels
    facts = {
        "data": path,
        "n_samples": n_samples,
        "columns": stream.names,
        "label": column,
        "classes": dict(sorted(classes.items())),
        "ranges": ranges,
        "missing": missing | ({column: n_unlabelled} if n_unlabelled else {}),
    }
    if not as_json:
        header, width = ["column", "smallest", "largest", "missing"], 4 if missing else 3
        tables.show_table(header[:width], [row[:width] for row in shown[:SHOWN]])
    lines = [f"{stream.name}: {n_samples} samples, {len(stream.names)} columns"]
    if len(shown) > SHOWN:
        lines[0] += f", the first {SHOWN} above"
    if classes:
        counted = (f"{tables.visible(name)} ({n})" for name, n in facts["classes"].items())
        lines.append(f"{len(classes)} classes in {show(column)}: {listed(counted, SHOWN, tables.visible)}")
    if n_unlabelled:
        lines.append(f"{n_unlabelled} samples without a label")
    tables.show_facts(facts, lines, as_json)


def _look_at(column: np.ndarray, decimal: str | None) -> tuple[str, int, list[float]]:
    """Return what is in a column, how many cells are missing, and of numbers the smallest and the largest."""
    kind = kind_of(column, decimal)
    if kind != NUMBER:
        return kind, sum(map(is_gap, column.tolist())), []
    values = numbers(column, decimal, gaps=True)
    known = values[~np.isnan(values)]
    return kind, len(values) - len(known), [float(known.min()), float(known.max())]
