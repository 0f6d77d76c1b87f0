"""`pathforest split`: a table cut into parts or folds, class by class."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from pathforest.cli import options
from pathforest.cli.errors import UsageError


def split(
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the parts.")],
    parts: Annotated[
        str,
        typer.Option(help="Names and shares of the parts, separated by commas; shares are of their sum."),
    ] = "train=60,evaluation=20,test=20",
    folds: Annotated[int | None, typer.Option(min=2, help="Cut into so many equal folds instead.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides who goes where. Same seed, same parts.")] = 0,
    label: options.Label = None,
    from_: options.From = None,
    as_json: options.Json = False,
) -> None:
    """Cut a file into parts at random, with the classes in the same shares.

    Parts have the format of the input and all its columns; rows keep their order. Without labels, rows are
    drawn from all alike. Files that are there already are replaced.

    Examples
    --------
      pathforest split iris.csv --label species --parts train=80,test=20 --out iris

      pathforest split data.dat --out parts

      pathforest split data.csv --folds 10 --seed 1 --out folds
    """
    from pathforest.cli.columns import find_label, known_label
    from pathforest.cli.output import show_facts
    from pathforest.datasets.formats.batched import open_stream
    from pathforest.datasets.formats.stream import Batch, gather, labels_of

    shares = _shares(parts) if folds is None else {f"fold{i}": Fraction(1, folds) for i in range(folds)}
    ending = _ending(data, from_)
    with open_stream(data, ending=from_) as stream:
        column = known_label(stream) if label is None else find_label(stream, label)
        rows = gather(stream)
    labels = np.zeros(len(rows.places)) if column is None else labels_of(stream, rows, column)
    part_of = _draw(np.asarray(labels), list(shares.values()), np.random.default_rng(seed))
    empty = [name for i, name in enumerate(shares) if not (part_of == i).any()]
    if empty:
        raise ValueError(
            f"{data}: {len(part_of)} samples leave none for {empty[0]!r}; give it a larger share"
        )
    if column is None:
        typer.echo("pathforest: not stratified: no labels; --label names their column", err=True)
    taken = [name for name in shares if (out / f"{name}{ending}").resolve() == Path(data).resolve()]
    if taken:
        raise ValueError(f"{data}: the part {taken[0]!r} would replace it; name another --out or part")
    out.mkdir(parents=True, exist_ok=True)
    facts = {}
    for i, name in enumerate(shares):
        chosen = np.flatnonzero(part_of == i)
        path = out / f"{name}{ending}"
        _write(path, stream, Batch(chosen, [cells.take(chosen) for cells in rows.columns]))
        facts[str(path)] = len(chosen)
    text = "\n".join(f"{path}: {n} samples" for path, n in facts.items())
    show_facts({"parts": facts, "label": column}, text, as_json)


def _shares(text: str) -> dict[str, Fraction]:
    """Read names and shares; the shares are of their sum."""
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        is_new = name not in shares
        try:
            shares[name] = Fraction(share if "e" not in share.lower() else "")  # 1e999999 takes for ever
        except (ValueError, ZeroDivisionError):
            shares[name] = Fraction(0)
        if not name or shares[name] <= 0 or Path(name).name != name or not is_new:
            raise UsageError(f"--parts {text}: {part!r} is no NAME=SHARE of its own, such as train=80")
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def _draw(labels: np.ndarray, shares: list[Fraction], rng: np.random.Generator) -> np.ndarray:
    """Give each row a part: of n rows of a class, the first parts get n times their share, rounded down."""
    part_of = np.empty(len(labels), dtype=np.intp)
    for rows in _classes(labels):
        cuts = [int(len(rows) * sum(shares[: i + 1])) for i in range(len(shares))]
        part_of[rng.permutation(rows)] = np.searchsorted(cuts, np.arange(len(rows)), side="right")
    return part_of


def _classes(labels: np.ndarray) -> Iterator[np.ndarray]:
    for label in np.unique(labels):
        yield np.flatnonzero(labels == label)


def _ending(data: str, ending: str | None) -> str:
    """Return the ending that the parts get, `.csv.gz` for instance."""
    from pathforest.datasets.formats.endings import telling_name
    from pathforest.datasets.formats.files import format_of

    name = Path(telling_name(data, ending)).name
    format_of(Path(name))
    packing = Path(name).suffix if name.lower().endswith(".gz") else ""
    return Path(name.removesuffix(packing)).suffix + packing


def _write(path: Path, stream: Any, rows: Any) -> None:
    """Write rows with all their columns, as the format has them."""
    from pathforest.cli.columns import choose_features
    from pathforest.cli.distances import POSITION
    from pathforest.datasets import write
    from pathforest.datasets.formats.sinks import can_sink, open_sink
    from pathforest.datasets.formats.stream import labels_of, samples_of

    if can_sink(path):
        with open_sink(str(path), None, stream.names) as sink:
            sink.write(rows.columns)
        return
    features = choose_features(stream, stream.label, None, None)
    X = samples_of(stream, rows, features, finite=False)
    y = None if stream.label is None else labels_of(stream, rows, stream.label)
    positions = labels_of(stream, rows, POSITION) if POSITION in stream.beside else None
    write(path, X, y, feature_names=features, positions=positions)
