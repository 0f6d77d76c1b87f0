"""Options of the commands, how typer gets them, and what goes wrong in them as a line a user can act on."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from typing import Annotated, Any, get_type_hints

import typer

from pathforest._utils.text import escape, show

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
LONGEST = 2000  # characters of a message


class UsageError(ValueError):
    """A mistake on the command line that shows without a look at any file."""


def say(text: str) -> None:
    """Print a message on the error stream: one line, not too long, without control characters."""
    text = escape(" ".join(text.split()))
    typer.echo(f"pathforest: {text[:LONGEST]}{'...' if len(text) > LONGEST else ''}", err=True)


def did_you_mean(wanted: str, known: Iterable[str], show: Callable[[str], str] = show) -> str:
    """Suggest the known name closest to the one that is wanted, in brackets; nothing if none is close."""
    close = get_close_matches(wanted, known, 1)
    return f" (did you mean {show(close[0])}?)" if close else ""


Option = typer.Option
Data = Annotated[str, typer.Argument(metavar="DATA", help=f"A file: {FORMATS}; - for standard input.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that train wrote, or LibOPF's.")]
To = Annotated[
    str | None,
    Option(
        help="Format of the output: csv, tsv, json, jsonl or parquet.",
        show_default="by the name of the output, or csv",
    ),
]
Out = Annotated[str | None, Option("--out", "-o", help="File to write.", show_default="the standard output")]
Distances = Annotated[
    str | None,
    Option(help="LibOPF's file of distances, used instead of features; DATA holds positions in it."),
]
Set = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter, such as k_max=30, sigmas=0.2,1 or metric=l1. Repeatable.",
    ),
]
Jobs = Annotated[
    int | None, Option(min=1, help="Threads. They change time, never answers.", show_default="all cores")
]
Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True)
class Reading:
    """How a table is read, and which column has the labels."""

    label: Annotated[
        str | None,
        Option(
            "--label",
            "-l",
            help="Column of the labels: its name, or its position from 0 (-1: the last).",
            show_default="label",
        ),
    ] = None
    from_: Annotated[
        str | None, Option("--from", help="Format of DATA, such as csv or dat, if its name does not say it.")
    ] = None
    sep: Annotated[
        str | None, Option(help="Separator of a CSV file, such as ';' or tab.", show_default="found")
    ] = None
    decimal: Annotated[
        str | None, Option(help="Decimal mark of a CSV file: . or ,", show_default="found")
    ] = None

    encoding: Annotated[
        str | None, Option(help="Encoding of a CSV file, such as latin-1.", show_default="utf-8")
    ] = None

    @property
    def format(self) -> dict[str, str | None]:
        """Return how a file is to be opened."""
        sep = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(self.sep, self.sep)
        if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
            raise UsageError(f"--sep {sep}: give one character, such as ';', or tab")
        if self.decimal not in (None, ".", ","):
            raise UsageError(f"--decimal {self.decimal}: give . or ,")
        if self.decimal == "," == sep:
            raise UsageError("--sep and --decimal are both a comma; they have to differ")
        return {"ending": self.from_, "sep": sep, "decimal": self.decimal, "encoding": self.encoding}


@dataclass(frozen=True)
class Chosen:
    """Which columns are features."""

    features: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMNS",
            help="Columns to use, by name or position, separated by commas. Repeatable.",
            show_default="all but the label",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMNS",
            help="Columns to leave out, as --features; names with commas in double quotes: 'a,\"b, c\"'.",
            show_default="none",
        ),
    ] = None

    def how(self) -> dict[str, Any]:
        """Return how samples are read: which columns, None for all, and which not."""
        return {
            "features": _names(self.features) if self.features else None,
            "ignore": _names(self.ignore or ()),
        }


@dataclass(frozen=True)
class Treated(Chosen):
    """Which columns are features, and what is done to them."""

    scale: Annotated[bool, Option("--scale", help="Standardise the features, as part of the model.")] = False
    columns: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=KIND",
            help="Treat a column as number, category or drop. Repeatable.",
            show_default="by what they hold",
        ),
    ] = None
    no_encode: Annotated[
        bool, Option("--no-encode", help="Refuse text and empty cells; use the numbers as they are.")
    ] = False

    def how(self) -> dict[str, Any]:
        """Return how samples are read; what columns are treated as counts only if they may be encoded."""
        if self.columns and self.no_encode:
            raise UsageError(f"--no-encode: not with --columns {self.columns[0]}; choose one of them")
        kinds = {}
        for text in self.columns or ():
            for pair in _split(text):
                name, _, kind = pair.rpartition("=")
                if kind not in KINDS or not name:
                    raise UsageError(f"--columns {text}: write NAME=KIND with one of {', '.join(KINDS)}")
                kinds[name.strip()] = kind
        return super().how() | {"encode": not self.no_encode, "kinds": kinds}


def _names(texts: Sequence[str]) -> list[str]:
    """Split lists of names, quoted as in CSV."""
    return [name.strip() for text in texts for name in _split(text) or [""]]


def _split(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise UsageError(f"{text}: {error}; write names such as 'a,\"b, c\"'") from None


def spread(command: Callable[..., Any]) -> tuple[list[inspect.Parameter], Callable[..., Any]]:
    """Return a command's parameters as typer takes them, and the command called with their values.

    Parameters that are dataclasses become their fields.
    """
    hints, parameters, groups = get_type_hints(command, include_extras=True), [], {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        own = get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {parameter.name: kind}
        defaults = {parameter.name: parameter.default}
        if is_dataclass(kind):
            groups[parameter.name] = kind
            defaults = {field.name: field.default for field in fields(kind)}
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=own[name])
            for name, default in defaults.items()
        ]

    def call(**values: Any) -> None:
        made = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**made, **values)

    return parameters, call
