"""`pathforest split`: a table cut into parts or folds, class by class."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from pathforest._cli import options
from pathforest._cli.errors import UsageError, say
from pathforest._cli.input import find_label
from pathforest._cli.output import check_outputs, show_facts
from pathforest._tables import format_of, gather, open_sink, open_stream
from pathforest._utils.text import show


def split(
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the parts.")],
    parts: Annotated[
        str, typer.Option(help="Names and shares of the parts, separated by commas; shares are of their sum.")
    ] = "train=60,evaluation=20,test=20",
    folds: Annotated[int | None, typer.Option(min=2, help="Cut into so many equal folds instead.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Decides which part a sample goes to. Same seed, same parts.")
    ] = 0,
    label: options.Label = None,
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    as_json: options.Json = False,
) -> None:
    """Cut a file into parts at random, with the classes in the same shares.

    Parts have the format of the input and all its columns; rows keep their order. Without labels, rows are
    drawn from the whole file. Existing files are replaced.

    Examples
    --------
      pathforest split iris.csv --label species --parts train=80,test=20 --out iris

      pathforest split data.dat --out parts

      pathforest split data.csv --folds 10 --seed 1 --out folds
    """
    shares = _shares(parts) if folds is None else {f"fold{i}": Fraction(1, folds) for i in range(folds)}
    _, suffix, is_packed = format_of(data, from_)
    paths = {name: str(out / f"{name}{suffix}{'.gz' * is_packed}") for name in shares}
    with open_stream(data, **options.reading(from_, sep, decimal)) as stream:
        column = find_label(stream, label, needed=False)
        rows = gather(stream)
    labels = np.zeros(len(rows.places)) if column is None else stream.labels(rows, column)
    part_of = _draw(np.asarray(labels), list(shares.values()), np.random.default_rng(seed))
    empty = [name for i, name in enumerate(shares) if not (part_of == i).any()]
    if empty:
        raise ValueError(
            f"{data}: {len(part_of)} samples leave none for {show(empty[0])}; give it a larger share"
        )
    if column is None:
        say("not stratified: no labels; --label names their column")
    out.mkdir(parents=True, exist_ok=True)
    check_outputs([*paths.values()], [data])
    facts = {}
    for i, path in enumerate(paths.values()):
        chosen = np.flatnonzero(part_of == i)
        with open_sink(path, None, stream) as write:
            write(rows.take(chosen).columns)
        facts[path] = len(chosen)
    lines = [f"{path}: {n} samples" for path, n in facts.items()]
    show_facts({"parts": facts, "label": column}, lines, as_json)


def _shares(text: str) -> dict[str, Fraction]:
    """Read names and shares; the shares are of their sum."""
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        is_new = name not in shares
        try:
            shares[name] = Fraction(share if "e" not in share.lower() else "")  # 1e999999 takes forever
        except (ValueError, ZeroDivisionError):
            shares[name] = Fraction(0)
        if not name or shares[name] <= 0 or Path(name).name != name or not is_new:
            raise UsageError(f"--parts {text}: {show(part)} is not a NAME=SHARE of its own, such as train=80")
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
