"""`pathforest convert`: files into other formats, several into one, features normalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import options
from pathforest._cli.errors import say
from pathforest._cli.input import Samples, read_samples
from pathforest._cli.models import LIBOPF
from pathforest._cli.output import check_outputs, show_facts
from pathforest._tables import POSITION, default_names, format_of, listed
from pathforest._utils.text import show
from pathforest.datasets import write
from pathforest.distances import make_engine
from pathforest.graph import knn_graph
from pathforest.libopf import read_model, write_distances


def convert(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Files with the same columns, one below the other.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="File to write; its ending chooses the format.")],
    label: options.Label = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Give each feature mean 0 and standard deviation 1.")
    ] = False,
    distances: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="Write distances between the samples, as LibOPF does."),
    ] = None,
    metric: Annotated[str, typer.Option(help="For a LibOPF model: its distance.")] = "log_sqeuclidean",
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    as_json: options.Json = False,
) -> None:
    """Turn data files into another format, or a LibOPF model into one of ours.

    Several files become one. Labels stay if there are any. Text columns must be left out with --ignore.
    LibOPF's .dat holds float32, to which values are rounded.

    Examples
    --------
      pathforest convert iris.csv --label species --out iris.parquet

      pathforest convert classifier.opf --out model.pf

      pathforest convert training.dat evaluating.dat --out both.dat

      pathforest convert data.csv --normalize --out normalized.npz
    """
    from sklearn.preprocessing import StandardScaler

    check_outputs([out], data)
    if len(data) == 1 and data[0].endswith(LIBOPF):
        facts = _convert_model(data[0], metric, out)
        show_facts(facts, ["{out}: {estimator}, {n_samples} samples".format(**facts)], as_json)
        return
    if distances is None:
        format_of(out)
    choice = {"features": options.names(features), "ignore": options.names(ignore)}
    choice |= options.reading(from_, sep, decimal)
    parts = [read_samples(path, label=label, labels="kept", **choice) for path in data]
    X, y = _stack(parts)
    if normalize:
        X = StandardScaler().fit_transform(X)
    if distances is not None:
        _write_distances(out, X, distances, parts)
        show_facts({"out": out, "n_samples": len(X)}, [f"{out}: {len(X)} x {len(X)} distances"], as_json)
        return
    _write_table(out, X, y, parts)
    facts = {"out": out, "n_samples": len(X), "n_features": X.shape[1], "has_labels": y is not None}
    text = f"{out}: {len(X)} samples, {X.shape[1]} features, {'with' if y is not None else 'no'} labels"
    show_facts(facts, [text], as_json)


def _convert_model(path: str, metric: str, out: str) -> dict[str, Any]:
    model = read_model(path, metric=metric)
    model.save(out)
    return {"out": out, "estimator": type(model).__name__, "n_samples": len(model.cost_)}


def _write_table(out: str, X: np.ndarray, y: np.ndarray | None, parts: Sequence[Samples]) -> None:
    form, ending, _ = format_of(out)
    positions = _positions(parts) if form.keeps_positions else None
    X = _as_float32(X) if ending == ".dat" else X
    label, names = parts[0].label or "label", parts[0].features
    if not form.keeps_names:
        if y is not None and y.dtype.kind == "U":
            raise ValueError(
                f"{out}: the label {show(str(y[0]))} is text, and this format holds integers; write .csv, "
                ".npz or .parquet, or number the classes"
            )
        if names != default_names(len(names)):
            say(f"{out}: this format keeps no names of features")
        names = None
    write(out, X, y, feature_names=names, label=label, positions=positions)


def _write_distances(out: str, X: np.ndarray, metric: str, parts: Sequence[Samples]) -> None:
    positions = _positions(parts)
    if positions is None:
        positions = np.arange(len(X))
    if not np.array_equal(np.sort(positions), np.arange(len(X))):
        raise ValueError(
            f"{parts[0].stream.name}: the positions of its {len(X)} samples are not those from 0 to "
            f"{len(X) - 1}; distances are for a whole set, so give all its parts"
        )
    rows = np.argsort(positions)
    write_distances(out, _distances(X[rows], metric))


def _stack(parts: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray | None]:
    """Put tables with the same columns one below the other."""
    first = parts[0]
    for part in parts[1:]:
        if part.features != first.features:
            raise ValueError(
                f"{part.stream.name} has the features {listed(part.features)}, and {first.stream.name} "
                f"{listed(first.features)}; they must be the same, in the same order"
            )
        if (part.y is None) != (first.y is None):
            raise ValueError(
                f"of {first.stream.name} and {part.stream.name}, one has labels and one has none"
            )
    X = np.concatenate([part.X for part in parts])
    if first.y is None:
        return X, None
    labels = [part.y for part in parts]
    if len({part.dtype.kind for part in labels}) > 1:  # integers here, names there
        labels = [part.astype(str) for part in labels]
    return X, np.concatenate(labels)


def _as_float32(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32)
    if not np.isfinite(rounded).all():
        raise ValueError(f"{np.abs(X).max()} is beyond float32, which .dat files hold; write another format")
    return rounded


def _positions(parts: Sequence[Samples]) -> np.ndarray | None:
    """Return the positions of the samples in the set they were taken from, if all files have them."""
    if any(POSITION not in part.stream.beside for part in parts):
        return None
    return np.concatenate([part.stream.labels(part.rows, POSITION) for part in parts])


def _distances(X: np.ndarray, metric: str) -> np.ndarray:
    """Return the distances between all samples: the lists of all neighbours, put in order."""
    D = np.zeros((len(X), len(X)))
    if len(X) > 1:
        graph = knn_graph(make_engine(X, metric=metric), len(X) - 1)
        np.put_along_axis(D, graph.indices.astype(np.intp), graph.distances, axis=1)
    return D
