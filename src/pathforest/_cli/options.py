"""Options that several commands have."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Annotated

import typer

from pathforest._cli.errors import UsageError

# Short names of the estimators that train knows; here, because they are listed before anything is imported.
ESTIMATORS = {
    "fuzzy-cv": "FuzzyOPFClassifierCV",
    "opf": "OPFClassifier",
    "fuzzy": "FuzzyOPFClassifier",
    "knn": "OPFKNNClassifier",
    "semi": "OPFSemiSupervisedClassifier",
    "pruner": "OPFPruner",
    "outliers": "OPFOutlierDetector",
}
KINDS = ("number", "category", "drop")  # what a column can be treated as
FORMATS = "CSV, TSV, Parquet, NPZ, LibOPF (.dat, .txt) or LIBSVM, also with .gz"

Data = Annotated[str, typer.Argument(metavar="DATA", help=f"A file: {FORMATS}; - for standard input.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that train wrote, or LibOPF's.")]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        help="Column of the labels: its name, or its position from 0 (-1: the last).",
        show_default="label",
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns to use, by name or position, separated by commas. Repeatable.",
        show_default="all but the label",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns to leave out, as for --features; a name with commas in double quotes: 'a,\"b, c\"'.",
        show_default="none",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", help="Format of DATA, such as csv or dat, if its name does not say it."),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="Format of the output: csv, tsv, json, jsonl or parquet.",
        show_default="by the name of the output, or csv",
    ),
]
Out = Annotated[
    str | None, typer.Option("--out", "-o", help="File to write.", show_default="the standard output")
]
Distances = Annotated[
    str | None,
    typer.Option(help="LibOPF's file of distances, used instead of features; DATA holds positions in it."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter, such as k_max=30, sigmas=0.2,1 or metric=l1. Repeatable.",
    ),
]
Scale = Annotated[bool, typer.Option("--scale", help="Standardise the features, as part of the model.")]
Sep = Annotated[
    str | None,
    typer.Option("--sep", help="Separator of a CSV file, such as ';' or tab.", show_default="found"),
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="Decimal mark of a CSV file: . or ,", show_default="found")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAME=KIND",
        help="Treat a column as number, category or drop. Repeatable.",
        show_default="by what they hold",
    ),
]
NoEncode = Annotated[
    bool, typer.Option("--no-encode", help="Refuse text and empty cells; use the numbers as they are.")
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Threads. They change time, never answers.", show_default="all cores"),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def reading(from_: str | None, sep: str | None, decimal: str | None) -> dict[str, str | None]:
    """Return how a file is to be read."""
    sep = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(sep, sep)
    if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
        raise UsageError(f"--sep {sep}: give one character, such as ';', or tab")
    if decimal not in (None, ".", ","):
        raise UsageError(f"--decimal {decimal}: give . or ,")
    if decimal == "," == sep:
        raise UsageError("--sep and --decimal are both a comma; they have to differ")
    return {"ending": from_, "sep": sep, "decimal": decimal}


def kinds(texts: Sequence[str] | None, *, encode: bool) -> dict[str, str]:
    """Read what columns are to be treated as, which they are only if the table may be encoded."""
    if texts and not encode:
        raise UsageError(f"--no-encode: not with --columns {texts[0]}; choose one of them")
    found = {}
    for text in texts or ():
        for pair in _split(text):
            name, _, kind = pair.rpartition("=")
            if kind not in KINDS or not name:
                raise UsageError(f"--columns {text}: write NAME=KIND with one of {', '.join(KINDS)}")
            found[name.strip()] = kind
    return found


def names(texts: Sequence[str] | None) -> list[str] | None:
    """Split lists of names, quoted as in CSV; None if no list is given."""
    if not texts:
        return None
    return [name.strip() for text in texts for name in _split(text) or [""]]


def _split(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise UsageError(f"{text}: {error}; write names such as 'a,\"b, c\"'") from None
