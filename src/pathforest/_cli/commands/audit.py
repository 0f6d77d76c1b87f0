"""`pathforest audit`: labels that are probably wrong, a page to review them, and the decisions applied."""

from __future__ import annotations

import shlex
from functools import partial

import numpy as np

from pathforest._cli import models, options, tables
from pathforest._cli.options import option, refuse
from pathforest._cli.tables import Samples, TableOutput, check_outputs, show_facts, show_table
from pathforest._pages import decisions
from pathforest._pages.decisions import CELLS, CHANGE_TO, DECISION, GIVEN, ROW, TABLE
from pathforest._pages.images import FileImages, Show
from pathforest._pages.review import MOST, Features, Review, Table, make_review, review_html
from pathforest._tables.columns import as_labels, objects
from pathforest._tables.read import FORMATS, format_of, open_stream, split_ending
from pathforest._tables.write import open_sink
from pathforest._utils.files import replace_file
from pathforest._utils.text import counted
from pathforest.classifier import OPFClassifier
from pathforest.preprocessing import TablePreprocessor

FIRST = 10  # suspects on the terminal
SCORE_DIGITS = 6  # of a score in a file


def audit(
    data: options.Data,
    *,
    out: str | None = option("HTML page for the review; with --apply, the cleaned table.", "--out", "-o"),
    reading: options.Reading,
    treated: options.Treated,
    suspects: str | None = option("File for the suspects: .csv, .tsv, .json, .jsonl or .parquet."),
    apply: str | None = option("Apply the decisions that the page exported.", metavar="DECISIONS"),
    kept: str | None = option("Leave out what an earlier review has kept.", metavar="DECISIONS"),
    settings: list[str] | None = options.SET,
    pictures: options.Pictures,
    most: int | None = option("Suspects to show in full.", min=1, shown=f"{MOST}, if they fit 4 MB"),
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Find labels that are probably wrong, and review them on a page.

    Prints a summary: wrong labels, classes that mix, outliers, duplicates and islands. With --out it writes
    one HTML file that shows each suspect beside the samples that speak for and against its label. Decide
    there what to keep, change or drop, export the decisions, and apply them to the table with --apply. The
    next audit leaves out, with --kept, the rows that were to be kept and have not changed since. Rows without
    a label are left out, and stay in the table.
    Features are standardised, and small tables judged by models that have not seen a label; others by fewer
    of these. --set takes the parameters of find_issues: method=fast (distances alone, of features as given
    unless --scale is there), learned or thorough, n_conquerors=7 or metric=manhattan.

    Examples
    --------
      pathforest audit data.csv --label kind --out review.html

      pathforest audit data.csv --label kind --apply decisions.csv --out cleaned.csv

      pathforest audit digits.csv --image-shape 8x8 --suspects suspects.csv --out review.html
    """
    if apply is not None:
        refuse(kept is not None, "--kept: not with --apply, which looks for no suspects")
        _apply(data, apply, out, suspects, reading, as_json)
        return
    from pathforest._issues.find import find_issues

    known = dict(find_issues.__kwdefaults__)
    chosen = known | models.parse_settings(settings, known, "find_issues", scale=treated.scale)
    metric, method = chosen["metric"], chosen["method"]
    is_table, is_mixed = out is not None and split_ending(out)[0] in FORMATS, metric == models.MIXED
    # These look at standardised features, so the page does too.
    scale = method == "learned" or (method == "auto" and metric == "euclidean") or treated.scale
    mistake = f"--set method={method}: it needs numbers; leave out metric={metric}, or use 'fast'"
    refuse(is_mixed and method in {"learned", "thorough"}, mistake)
    refuse(is_table, f"--out {out}: without --apply it is an HTML page; end its name with .html")
    folder = pictures.folder(data)
    listing = None if suspects is None else TableOutput(suspects)
    check_outputs([out, suspects], [data, kept])
    known_good = frozenset() if kept is None else decisions.read_kept(kept)
    how = pictures.left_out(treated.how())
    samples = tables.read_samples(data, reading, **how, empty_labels="left out")
    models.warn_of_classes(samples.y, samples.label)
    stream, rows = samples.stream, samples.rows
    show_of = tables.images_of(pictures, samples, folder)
    model = OPFClassifier(metric=metric)
    prepared = models.prepare(model, samples, scale=scale, warns=method != "thorough")
    with models.threads(jobs):
        issues = find_issues(prepared.X, samples.y, **chosen)
    features, fitted = tables.columns_of(samples.X, samples.features), prepared.table
    if fitted is None and isinstance(samples.X, dict):  # Gower's distance took the table as it is
        fitted = TablePreprocessor(samples.kinds or None).fit(features)
    features = Features.of(features, fitted)
    shown = {samples.label, *features.columns}
    table = Table(
        name=stream.name,
        place=stream.place,
        places=rows.places,
        features=features,
        label=samples.label,
        others={name: rows.texts(name) for name in stream.names if name not in shown},
        fingerprint=decisions.fingerprint(samples.whole),
        rows=samples.positions.tolist(),
        checksum=partial(decisions.checksum, rows),
    )
    review = make_review(table, issues, known_good)
    if listing is not None:
        columns = _suspect_columns(review, samples)
        with listing.open(list(columns), labels=(GIVEN, CHANGE_TO)) as write:
            write(columns)
    show = show_of(features.Z if isinstance(samples.X, dict) else samples.X)
    if out is not None:
        scaled = "features standardised" if prepared.table is not None else "features as they are"
        if isinstance(samples.X, dict):
            scaled = "columns as they are" if prepared.table is None else f"text encoded, {scaled}"
        page = review_html(
            review,
            command=_command(data, samples.label, reading),
            settings=f"{metric} distance, {scaled}",
            show=show,
            most=most,
        )
        replace_file(out, page.encode("utf-8", "backslashreplace"))
    _show(review, out, suspects, show, as_json)


def _command(data: str, label: str, reading: options.Reading) -> str:
    """Return the command that applies decisions to the table."""
    _, suffix, is_packed = format_of(data, reading.from_)
    words = ["pathforest", "audit", data, "--label", label, *reading.words]
    words += ["--apply", "decisions.csv", "--out", f"cleaned{suffix}{'.gz' * is_packed}"]
    return shlex.join(words)


def _suspect_columns(review: Review, samples: Samples) -> dict[str, np.ndarray]:
    """Return the suspects as columns, which are decisions once the column of that name is filled in."""
    rows = [suspect.row for suspect in review.suspects]
    table, labels = review.table, map(str, samples.y[::-1].tolist())
    # Each label as the input has it where it comes first.
    written = dict(zip(labels, samples.rows.texts(samples.label)[::-1], strict=True))
    classes = objects([written[label] for label in review.classes])
    places = {} if table.place == ROW else {table.place: np.array([table.places[row] for row in rows])}
    return {
        ROW: np.array([table.rows[row] for row in rows], dtype=int),
        **places,
        GIVEN: classes[[suspect.given for suspect in review.suspects]],
        "score": np.array([round(suspect.score, SCORE_DIGITS) for suspect in review.suspects]),
        DECISION: np.full(len(rows), "", dtype="U1"),
        CHANGE_TO: classes[[suspect.rival for suspect in review.suspects]],
        TABLE: np.full(len(rows), table.fingerprint),
        CELLS: np.array([table.checksum(row) for row in rows], dtype=str),
    }


def _show(review: Review, out: str | None, suspects: str | None, images: Show | None, as_json: bool) -> None:
    issues, table = review.issues, review.table
    header = [table.place, GIVEN, "suggested", "score"]
    found = [
        {
            ROW: table.rows[suspect.row],
            table.place: table.places[suspect.row],
            GIVEN: issues.given[suspect.row],
            "suggested": issues.suggested[suspect.row],
            "score": suspect.score,
        }
        for suspect in review.suspects
    ]
    if as_json:
        facts = {
            "data": table.name,
            "page": out,
            "images": images.counts if isinstance(images, FileImages) else None,
            "suspects_file": suspects,
            "table": table.fingerprint,
            "method": issues.method,
            "n_samples": len(review.codes),
            "classes": issues.classes,
            "n_label_issues": issues.is_label_issue.sum(),
            "noise_share": issues.noise_share,
            "mixed_classes": issues.mixed_classes,
            "n_outliers": issues.is_outlier.sum(),
            "n_duplicate_groups": len(review.duplicates),
            "n_conflict_groups": len(review.conflicts),
            "n_near_duplicates": issues.is_near_duplicate.sum(),
            "n_border": issues.is_border.sum(),
            "n_islands": len(review.islands),
            "n_kept": review.n_kept,
            "suspects": found,
        }
        show_facts(facts, [], as_json=True)
        return
    show_facts(None, str(issues).splitlines())
    lines = [f"{path}: {counted(len(found), 'suspect')}" for path in (out, suspects) if path]
    if review.n_kept:
        show_facts(None, [f"{counted(review.n_kept, 'suspect')} left out, kept in an earlier review"])
    if out is not None:
        lines[0] += tables.said_of_images(images)
    if found:
        show_facts(None, [""])
        shown = [suspect | {"score": f"{suspect['score']:.3f}"} for suspect in found[:FIRST]]
        show_table(header, [[str(suspect[name]) for name in header] for suspect in shown])
    if len(found) > FIRST:
        lines.insert(0, f"and {len(found) - FIRST} more")
    if lines:
        show_facts(None, lines)


def _apply(
    data: str, path: str, out: str | None, suspects: str | None, reading: options.Reading, as_json: bool
) -> None:
    refuse(out is None, "--apply: name the cleaned table with --out")
    refuse(suspects is not None, "--suspects: not with --apply, which looks for no suspects")
    (_, wanted, _), (_, given, _) = format_of(data, reading.from_), format_of(out)
    mistake = f"--out {out}: the cleaned table has the format of DATA, {wanted}; convert changes formats"
    refuse(wanted != given, mistake)
    check_outputs([out], [data, path])
    with open_stream(data, **reading.format) as stream:
        column = tables.find_label(stream, reading.label)
        rows = stream.gather()
    is_known, y = tables.is_labelled(rows, column), as_labels(tables.known_labels(rows, column))
    labels = iter(map(str, y.tolist()))
    known = [next(labels) if one else None for one in is_known.tolist()]
    table = decisions.fingerprint(rows)
    found = decisions.read_decisions(path, known, table, of_integers=y.dtype.kind == "i")
    cleaned = decisions.apply_decisions(rows, column, found)
    with open_sink(out, None, stream) as write:
        write(cleaned.columns)
    facts = {
        "out": out,
        "n_samples": len(cleaned.places),
        "n_kept": len(found.kept),
        "n_changed": len(found.changed),
        "n_dropped": len(found.dropped),
    }
    text = (
        f"{out}: {counted(facts['n_samples'], 'sample')}; {counted(facts['n_changed'], 'label')} changed, "
        f"{counted(facts['n_dropped'], 'sample')} dropped, {facts['n_kept']} kept"
    )
    show_facts(facts, [text], as_json)
