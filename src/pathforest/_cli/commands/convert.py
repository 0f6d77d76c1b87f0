"""`pathforest convert`: files into other formats, several into one, one into parts, features normalised."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from pathforest._cli import options
from pathforest._cli.models import LIBOPF
from pathforest._cli.options import flag, option, refuse, say
from pathforest._cli.tables import (
    Samples,
    check_outputs,
    find_label,
    is_labelled,
    known_labels,
    read_samples,
    show_facts,
)
from pathforest._tables.columns import default_names
from pathforest._tables.libopf import POSITION
from pathforest._tables.read import format_of, open_stream
from pathforest._tables.write import open_sink
from pathforest._utils.checks import demand
from pathforest._utils.text import listed, show
from pathforest.datasets import write
from pathforest.distances import make_engine
from pathforest.libopf import read_model, write_distances


def convert(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Files with the same columns, one below the other.")
    ],
    *,
    out: str = option("File to write, in the format of its ending.", "--out", "-o", default=...),
    reading: options.Reading,
    chosen: options.Chosen,
    parts: str | None = option("Parts to cut the file into: train=75,test=25, or a number of equal folds."),
    seed: int = option("For --parts: decides which part a sample goes to.", default=0, min=0),
    normalize: bool = flag("--normalize", "Give each feature mean 0 and standard deviation 1."),
    metric: str | None = option("Write the distances between all samples; of a LibOPF model, its metric."),
    as_json: bool = options.JSON,
) -> None:
    """Turn data files into another format or into parts, or a LibOPF model into one of ours.

    Several files become one. Labels stay if there are any. Text columns must be left out with --ignore.
    LibOPF's .dat holds float32, to which values are rounded. The metric of a LibOPF model is log_sqeuclidean,
    unless --metric names another.

    With --parts, --out is a folder, and the classes have the same shares in each part; without labels, rows
    are drawn from the whole file. Parts have the format of the input and all its columns; rows keep their
    order. Existing files are replaced.

    Examples
    --------
      pathforest convert iris.csv --label species --out iris.parquet

      pathforest convert classifier.opf --out model.pf

      pathforest convert training.dat evaluating.dat --out both.dat

      pathforest convert data.dat --metric manhattan --out distances.dat

      pathforest convert iris.csv --label species --parts train=80,test=20 --out iris

      pathforest convert data.csv --parts 10 --seed 1 --out folds
    """
    from sklearn.preprocessing import StandardScaler

    if parts is not None:
        others = {"--normalize": normalize, "--metric": metric, "--features": chosen.features}
        for name, given in (others | {"--ignore": chosen.ignore, "a second file": data[1:]}).items():
            refuse(given, f"--parts {parts}: not with {name}; parts have all columns of one file")
        _write_parts(data[0], Path(out), parts, seed, reading, as_json)
        return
    check_outputs([out], data)
    if len(data) == 1 and data[0].endswith(LIBOPF):
        model = read_model(data[0], metric=metric or "log_sqeuclidean")
        model.save(out)
        facts = {"out": out, "estimator": type(model).__name__, "n_samples": len(model.cost_)}
        show_facts(facts, ["{out}: {estimator}, {n_samples} samples".format(**facts)], as_json)
        return
    if metric is None:
        format_of(out, use="write")
    tables = [read_samples(path, reading, **chosen.how(), labels="kept") for path in data]
    X, y = _stack(tables)
    if normalize:
        X = StandardScaler().fit_transform(X)
    if metric is not None:
        _write_distances(out, X, metric, tables)
        show_facts({"out": out, "n_samples": len(X)}, [f"{out}: {len(X)} x {len(X)} distances"], as_json)
        return
    _write_table(out, X, y, tables)
    facts = {"out": out, "n_samples": len(X), "n_features": X.shape[1], "has_labels": y is not None}
    text = f"{out}: {len(X)} samples, {X.shape[1]} features, {'no' if y is None else 'with'} labels"
    show_facts(facts, [text], as_json)


def _write_parts(
    data: str, out: Path, parts: str, seed: int, reading: options.Reading, as_json: bool
) -> None:
    shares = _shares(parts)
    _, suffix, is_packed = format_of(data, reading.from_, "write")
    paths = [str(out / f"{name}{suffix}{'.gz' * is_packed}") for name in shares]
    with open_stream(data, **reading.format) as stream:
        column = find_label(stream, reading.label, needed=False)
        rows = stream.gather()
    labels = np.zeros(len(rows.places), dtype=int)
    if column is not None:  # rows without a label are shared out as a class of their own
        _, codes = np.unique(known_labels(rows, column), return_inverse=True)
        labels[is_labelled(rows, column)] = codes + 1
    part_of = _draw(labels, list(shares.values()), np.random.default_rng(seed))
    empty = next((name for i, name in enumerate(shares) if i not in part_of), None)
    demand(
        empty is None, f"{data}: {len(part_of)} samples leave none for {show(empty)}; give it a larger share"
    )
    if column is None:
        say("not stratified: no labels; --label names their column")
    out.mkdir(parents=True, exist_ok=True)
    check_outputs(paths, [data])
    for i, path in enumerate(paths):
        with open_sink(path, None, stream) as write_columns:
            write_columns(rows.take(np.flatnonzero(part_of == i)).columns)
    facts = dict(zip(paths, np.bincount(part_of).tolist(), strict=True))
    lines = (f"{path}: {n} samples" for path, n in facts.items())
    show_facts({"parts": facts, "label": column}, lines, as_json)


def _shares(text: str) -> dict[str, Fraction]:
    """Read names and shares, which are of their sum, or a number of folds."""
    if text.isdecimal() and len(text) < 7 and int(text) > 1:
        return {f"fold{i}": Fraction(1, int(text)) for i in range(int(text))}
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        is_name, size = name and name not in shares and Path(name).name == name, Fraction(0)
        with suppress(ValueError, ZeroDivisionError):
            size = Fraction(share if "e" not in share.lower() else "")  # 1e999999 takes forever
        is_odd = not is_name or size <= 0
        refuse(is_odd, f"--parts {text}: {show(part)} is not a NAME=SHARE of its own, such as train=80")
        shares[name] = size
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def _draw(labels: np.ndarray, shares: list[Fraction], rng: np.random.Generator) -> np.ndarray:
    """Give each row a part: of n rows of a class, the first parts get n times their share, rounded down."""
    part_of = np.empty(len(labels), dtype=np.intp)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        cuts = [int(len(rows) * share) for share in accumulate(shares)]
        part_of[rng.permutation(rows)] = np.searchsorted(cuts, np.arange(len(rows)), side="right")
    return part_of


def _write_table(out: str, X: np.ndarray, y: np.ndarray | None, tables: Sequence[Samples]) -> None:
    form, ending, _ = format_of(out)
    positions = _positions(tables) if form.keeps_positions else None
    if ending == ".dat":
        demand(
            np.abs(X).max() <= np.finfo(np.float32).max,
            f"{np.abs(X).max()} is beyond float32, which .dat files hold; write another format",
        )
        X = X.astype(np.float32)
    label, names = tables[0].label or "label", tables[0].features
    named = names if form.keeps_names else None
    write(out, X, y, feature_names=named, label=label, positions=positions)
    if named is None and names != default_names(len(names)):
        say(f"{out}: this format keeps no names of features")


def _write_distances(out: str, X: np.ndarray, metric: str, tables: Sequence[Samples]) -> None:
    positions = _positions(tables)
    rows = np.arange(len(X)) if positions is None else np.argsort(positions)
    demand(
        positions is None or np.array_equal(positions[rows], np.arange(len(X))),
        f"{tables[0].stream.name}: the positions of its {len(X)} samples are not those from 0 to "
        f"{len(X) - 1}; distances are for a whole set, so give all its parts",
    )
    write_distances(out, make_engine(X[rows], metric=metric).distances(X[rows]))


def _stack(tables: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray | None]:
    """Put tables with the same columns one below the other."""
    first = tables[0]
    for table in tables[1:]:
        demand(
            table.features == first.features,
            f"{table.stream.name} has the features {listed(table.features)}, and {first.stream.name} "
            f"{listed(first.features)}; they must be the same, in the same order",
        )
        demand(
            (table.y is None) == (first.y is None),
            f"of {first.stream.name} and {table.stream.name}, only one has labels; give both or none",
        )
    y = None if first.y is None else np.concatenate([table.y for table in tables])
    return np.concatenate([table.X for table in tables]), y


def _positions(tables: Sequence[Samples]) -> np.ndarray | None:
    """Return the positions of the samples in the set they were taken from, if all files have them."""
    if any(POSITION not in table.stream.beside for table in tables):
        return None
    return np.concatenate([table.rows.labels(POSITION) for table in tables])
