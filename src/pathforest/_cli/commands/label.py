"""`pathforest label`: a page to give a few labels that flow to all samples, and the table with all labels."""

from __future__ import annotations

import shlex

import numpy as np
from joblib import effective_n_jobs

from pathforest._cli import models, options, tables
from pathforest._cli.options import option, refuse
from pathforest._cli.tables import Samples, TableOutput, check_outputs, show_facts
from pathforest._pages import decisions
from pathforest._pages.label import DECIDED, FLOWED, GIVEN, JOINED, Sheet, flow, label_html, map_of
from pathforest._tables.columns import as_labels, objects
from pathforest._tables.read import FORMATS, format_of, split_ending
from pathforest._utils.files import replace_file
from pathforest._utils.text import counted
from pathforest.semi_supervised import OPFSemiSupervisedClassifier

HOW, CONFIDENCE = ADDED = ("how", "confidence")
DIGITS = 6  # of a confidence in a file


def label(
    data: options.Data,
    *,
    out: str = option(
        "HTML page to give labels on; with --apply, the labelled table.", "--out", "-o", default=...
    ),
    reading: options.Reading,
    encoded: options.Encoded,
    apply: str | None = option("Apply the labels that the page exported.", metavar="DECISIONS"),
    map: str | None = option(
        "Two columns to draw samples by, such as x,y.", metavar="X,Y", shown="t-SNE or principal components"
    ),
    pictures: options.Pictures,
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Label a table by a few samples, on a page that shows how their labels flow to all others.

    Rows without a label are the ones to label. The page is one HTML file that works without a network. It
    asks for the samples that would teach most; labels flow as with OPFSemiSupervisedClassifier, on
    standardised features. Export the labels that you gave, and --apply writes the table with all labels, how
    each came (given, decided, flowed or joined, without a path) and its confidence.

    Examples
    --------
      pathforest label data.csv --label kind --out page.html

      pathforest label data.csv --label kind --apply decisions.csv --out labelled.csv
    """
    is_table, folder = split_ending(out)[0] in FORMATS, pictures.folder(data)
    wanted = "without --apply it is an HTML page; end its name with .html"
    if apply is not None:
        wanted = "with --apply it is a table; end its name with .csv"
    refuse((apply is None) == is_table, f"--out {out}: {wanted}")
    check_outputs([out], [data, apply])
    how = pictures.left_out(encoded.how())
    axes = None if map is None else options.names(map)
    refuse(axes and len(axes) != 2, f"--map {map}: name two columns of numbers, such as x,y")
    samples = tables.read_samples(data, reading, **how, empty_labels="masked")
    known = [None if label is None else str(label) for label in samples.y.tolist()]
    table = decisions.fingerprint(samples.rows, samples.features)
    prepared = models.prepare(OPFSemiSupervisedClassifier(), samples, scale=True)
    if apply is not None:
        with models.threads(jobs):
            _apply(apply, TableOutput(out), samples, prepared.X, known, table, as_json)
        return
    show_of = tables.images_of(pictures, samples, folder)
    show = show_of(prepared.X if isinstance(samples.X, dict) else samples.X)
    if axes is None:
        drawn = map_of(prepared.X, prepared.table.get_feature_names_out().tolist())
    else:
        axes = tuple(tables.find_column(samples.stream, name) for name in axes)
        drawn = (samples.rows.samples(axes).astype(np.float64), axes)
    rows, stream = samples.rows, samples.stream
    cells = {name: rows.texts(name) for name in stream.names if name != samples.label}
    with models.threads(jobs):
        page = label_html(
            Sheet(stream.name, stream.place, rows.places, cells, samples.label, table),
            prepared.X,
            known,
            of_integers=samples.y.dtype.kind == "i",
            commands=[_command(data, samples.label, reading, encoded, pictures)],
            drawn=drawn,
            show=show,
            n_jobs=-1 if jobs is None else jobs,
        )
    replace_file(out, page.encode("utf-8", "backslashreplace"))
    n_given = len(known) - known.count(None)
    facts = {"page": out, "table": table, "n_samples": len(known), "n_given": n_given}
    text = f"{out}: {counted(len(known), 'sample')}, {n_given} with a label{tables.said_of_images(show)}"
    show_facts(facts, [text], as_json)


def _command(
    data: str, label: str, reading: options.Reading, encoded: options.Encoded, pictures: options.Pictures
) -> str:
    """Return the command that applies the labels."""
    _, suffix, is_packed = format_of(data, reading.from_)
    words = ["pathforest", "label", data, "--label", label, *reading.words, *encoded.words]
    words += [] if pictures.image_column is None else ["--image-column", pictures.image_column]
    words += ["--apply", "decisions.csv", "--out", f"labelled{suffix}{'.gz' * is_packed}"]
    return shlex.join(words)


def _apply(
    path: str,
    output: TableOutput,
    samples: Samples,
    Z: np.ndarray,
    known: list[str | None],
    table: str,
    as_json: bool,
) -> None:
    rows, column = samples.rows, samples.label
    of_integers = samples.y.dtype.kind == "i"
    decided = decisions.read_labels(path, known, table, of_integers=of_integers)
    texts = [decided.get(row, label) for row, label in enumerate(known)]
    labelled = np.array([row for row, label in enumerate(texts) if label is not None])
    if not len(labelled):
        raise ValueError(f"{path}: no sample has a label yet; give at least one on the page")
    y = as_labels(objects([texts[row] for row in labelled]))
    classes, found = np.unique(y, return_inverse=True)
    codes = np.full(len(texts), -1)
    codes[labelled] = found
    flowed = flow(Z, codes, effective_n_jobs())
    how = np.where(flowed.is_joined, JOINED, np.where(codes < 0, FLOWED, DECIDED))
    how[[row for row, label in enumerate(known) if label is not None]] = GIVEN
    # Given labels stay as they are written, and the first of a class says how the class is.
    written = dict(zip(reversed(known), reversed(rows.texts(column)), strict=True))
    labels = classes[flowed.codes]
    if not (output.has_types and labels.dtype.kind == "i"):
        cells = [written.get(label, label) for label in map(str, labels.tolist())]
        given = zip(known, rows.texts(column), cells, strict=True)
        labels = objects([new if label is None else cell for label, cell, new in given])
    with output.open([*samples.stream.names, *ADDED], samples.stream, [HOW], "rename it") as write:
        features = tables.columns_of(samples.X, samples.features)
        answers = {column: labels, HOW: how, CONFIDENCE: flowed.confidence.round(DIGITS)}
        write(output.columns(rows, features) | answers)
    counts = {f"n_{name}": int((how == name).sum()) for name in (GIVEN, DECIDED, FLOWED, JOINED)}
    sizes = dict(zip(map(str, classes.tolist()), np.bincount(flowed.codes).tolist(), strict=True))
    numbers = ", ".join(f"{count} {name.removeprefix('n_')}" for name, count in counts.items())
    sizes_text = f"{counted(len(texts), 'sample')} of {counted(len(classes), 'class', 'classes')}"
    facts = {"out": output.path, "n_samples": len(texts), **counts, "classes": sizes}
    show_facts(facts, [f"{output.path}: {sizes_text}; {numbers}"], as_json)
