"""`pathforest convert`: files into other formats, several into one, features normalised."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from pathforest.cli import options
from pathforest.datasets._table import show

if TYPE_CHECKING:
    from pathforest.cli.tables import Samples


def convert(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Files with the same columns, one below the other.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="File to write; its ending tells the format.")],
    label: options.Label = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Give each feature mean 0 and standard deviation 1.")
    ] = False,
    from_: options.From = None,
    as_json: options.Json = False,
) -> None:
    """Turn data files into another format.

    Several files become one. Labels stay if there are any. Text columns must be left out with --ignore.

    Examples
    --------
      pathforest convert iris.csv --label species --out iris.parquet

      pathforest convert training.dat evaluating.dat --out both.dat

      pathforest convert data.csv --normalize --out normalized.npz
    """
    from sklearn.preprocessing import StandardScaler

    from pathforest._files import check_writable
    from pathforest.cli.output import show_facts
    from pathforest.cli.tables import read_samples
    from pathforest.datasets import write
    from pathforest.datasets._formats import format_of

    check_writable(out)
    format_of(Path(out))
    choice = {"features": options.names(features), "ignore": options.names(ignore)}
    parts = [read_samples(path, ending=from_, label=label, labels="kept", **choice) for path in data]
    X, y = _stack(parts)
    if normalize:
        X = StandardScaler().fit_transform(X)
    write(out, X, y, feature_names=parts[0].features, label=parts[0].label or "label")
    facts = {"out": out, "n_samples": len(X), "n_features": X.shape[1], "has_labels": y is not None}
    text = f"{out}: {len(X)} samples, {X.shape[1]} features, {'with' if y is not None else 'no'} labels"
    show_facts(facts, text, as_json)


def _stack(parts: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray | None]:
    """Put tables with the same columns one below the other."""
    first = parts[0]
    for part in parts[1:]:
        if part.features != first.features:
            raise ValueError(
                f"{part.stream.name} has the features {show(part.features)}, and {first.stream.name} "
                f"{show(first.features)}; they must be the same, in the same order"
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
