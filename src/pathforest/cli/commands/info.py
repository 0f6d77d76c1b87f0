"""`pathforest info`: what is in a file, a model or a table."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from pathforest.cli import options
from pathforest.cli.commands.train import chosen_text, search_facts
from pathforest.cli.spans import Span

SHOWN = 20  # columns and classes listed in the terminal


def info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A model or a data file.")],
    label: options.Label = None,
    from_: options.From = None,
    as_json: options.Json = False,
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
    from pathforest.cli.models import is_model, load_model

    if file != "-" and is_model(file):
        _show_model(file, load_model(file), as_json)
    else:
        _show_table(file, label, from_, as_json)


def _show_model(path: str, loaded: Any, as_json: bool) -> None:
    from pathforest.cli.output import show_facts

    model = loaded.model
    default = type(model)().get_params(deep=False)
    # By repr, for which two NaN are the same.
    params = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if repr(value) != repr(default[name])
    }
    facts = {
        "model": path,
        "estimator": type(model).__name__,
        "n_features": model.n_features_in_,
        "features": loaded.names,
        "params": params,
    }
    is_precomputed = params.get("metric") == "precomputed"
    what = "distances" if is_precomputed else "features"
    lines = [f"{path}: {facts['estimator']}, {model.n_features_in_} {what}"]
    learned = next((getattr(model, name) for name in ("cost_", "density_") if hasattr(model, name)), None)
    if learned is not None:
        facts["n_samples"] = len(learned)
        lines[0] += f", {len(learned)} training samples"
    if hasattr(model, "sample_indices_"):
        facts["n_kept"] = len(model.sample_indices_)
        lines[0] += f", {facts['n_kept']} samples kept"
    if hasattr(model, "best_k_"):
        facts["best_k"] = int(model.best_k_)
        lines[0] += f", k = {model.best_k_}"
    if loaded.names and not is_precomputed:
        lines.append(f"features: {_listed(loaded.names)}")
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
        lines.append(f"classes: {_listed(facts['classes'])}")
    if hasattr(model, "cluster_roots_"):
        facts["n_clusters"] = len(model.cluster_roots_)
        lines.append(f"clusters: {facts['n_clusters']}")
    facts |= search_facts(model)
    if "best_score" in facts:
        lines.append(f"chosen: {chosen_text(facts)}; cross-validated score {facts['best_score']:.4f}")
    given = ", ".join(f"{name}={value!r}" for name, value in params.items())
    lines.append(f"parameters: {given or 'the defaults'}")
    show_facts(facts, "\n".join(lines), as_json)


def _show_table(path: str, label: str | None, ending: str | None, as_json: bool) -> None:
    from pathforest.cli.columns import find_label, known_label
    from pathforest.cli.output import show_facts, show_table
    from pathforest.datasets.formats.batched import open_stream

    with open_stream(path, ending=ending) as stream:
        column = known_label(stream) if label is None else find_label(stream, label)
        n_samples, classes = 0, Counter()
        spans = {name: Span() for name in stream.names if name != column}
        for batch in stream.batches:
            n_samples += len(batch.places)
            for name, cells in zip(stream.names, batch.columns, strict=True):
                if name == column:
                    classes.update(cells.text())
                else:
                    spans[name].add(cells)
    missing = {name: span.n_missing for name, span in spans.items() if span.n_missing}
    facts = {
        "data": path,
        "n_samples": n_samples,
        "columns": stream.names,
        "label": column,
        "classes": dict(sorted(classes.items())),
        "ranges": {name: span.limits for name, span in spans.items()},
        "missing": missing,
    }
    if not as_json:
        header, width = ["column", "smallest", "largest", "missing"], 4 if missing else 3
        rows = [[name, *span.cells()][:width] for name, span in list(spans.items())[:SHOWN]]
        show_table(header[:width], rows)
    text = f"{stream.name}: {n_samples} samples, {len(stream.names)} columns"
    if len(spans) > SHOWN:
        text += f", the first {SHOWN} above"
    if classes:
        counted = _listed(f"{name} ({n})" for name, n in facts["classes"].items())
        text += f"\n{len(classes)} classes in {column!r}: {counted}"
    show_facts(facts, text, as_json)


def _listed(values: Any) -> str:
    values = list(map(str, values))
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(values[:SHOWN]) + more
