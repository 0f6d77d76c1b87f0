"""Options of the commands, as dataclasses where several commands share them, and messages."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

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
KINDS = ("number", "category", "date", "drop")  # what a column can be treated as
FORMATS = "CSV, TSV, Excel, Parquet, NPZ, LibOPF (.dat, .txt) or LIBSVM, also with .gz"
LONGEST = 2000  # characters of a message


class UsageError(ValueError):
    """A mistake on the command line that shows without a look at any file."""


def refuse(is_mistake: Any, message: str) -> None:
    """Stop at a mistake on the command line."""
    if is_mistake:
        raise UsageError(message)


def say(text: str) -> None:
    """Print a message on the error stream: one line, not too long, without control characters."""
    text = escape(" ".join(text.split()))
    typer.echo(f"pathforest: {text[:LONGEST]}{'...' if len(text) > LONGEST else ''}", err=True)


def did_you_mean(wanted: str, known: Iterable[str], show: Callable[[str], str] = show) -> str:
    """Suggest the known name closest to the one that is wanted, in brackets; nothing if none is close."""
    close = get_close_matches(wanted, known, 1)
    return f" (did you mean {show(close[0])}?)" if close else ""


def option(help: str, *names: str, default: Any = None, shown: str | None = None, **more: Any) -> Any:
    """Return an option for typer; `shown` is its default in words."""
    return typer.Option(default, *names, help=help, show_default=shown or True, **more)


def flag(name: str, help: str, **more: Any) -> Any:
    """Return an option for typer that takes no value."""
    return typer.Option(False, name, help=help, metavar=" ", **more)


Data = Annotated[str, typer.Argument(metavar="DATA", help=f"A file: {FORMATS}; - for standard input.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that train wrote, or LibOPF's.")]

OUT = option("File to write.", "--out", "-o", shown="the standard output")
TO = option("Format: csv, tsv, json, jsonl or parquet.", shown="by the name of the output, or csv")
SET = option("A parameter, such as k_max=30 or sigmas=0.2,1. Repeatable.", "--set", metavar="NAME=VALUE")
LISTED = ", ".join(ESTIMATORS)
ESTIMATOR = option(
    f"One of {LISTED}.", "--estimator", "-e", default="fuzzy-cv", autocompletion=lambda: [*ESTIMATORS]
)
DISTANCES = option("LibOPF's file of distances to use instead of features; DATA holds positions in it.")
JOBS = option("Threads. They change time, never answers.", min=1, shown="all cores")
JSON = flag("--json", "Print the result as JSON.")


@dataclass(frozen=True)
class Reading:
    """How a table is read, and which column has the labels."""

    label: str | None = option(
        "Column of the labels: name, or position from 0.", "--label", "-l", shown="label"
    )
    from_: str | None = option("Format of DATA, such as csv or dat, if its name does not say it.", "--from")
    sep: str | None = option("Separator of a CSV file, such as ';' or tab.", shown="found")
    decimal: str | None = option("Decimal mark of a CSV file: . or ,", shown="found")
    encoding: str | None = option("Encoding of a CSV file, such as latin-1.", shown="utf-8")

    @property
    def format(self) -> dict[str, str | None]:
        """Return how a file is to be opened."""
        sep = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(self.sep, self.sep)
        is_odd = sep is not None and (len(sep) != 1 or sep in '"\r\n')
        refuse(is_odd, f"--sep {sep}: give one character, such as ';', or tab")
        refuse(self.decimal not in (None, ".", ","), f"--decimal {self.decimal}: give . or ,")
        refuse(self.decimal == "," == sep, "--sep and --decimal are both a comma; they have to differ")
        return {"ending": self.from_, "sep": sep, "decimal": self.decimal, "encoding": self.encoding}

    @property
    def words(self) -> list[str]:
        """Return the options that say so again."""
        values = {name.rstrip("_"): getattr(self, name) for name in ("from_", "sep", "decimal", "encoding")}
        return [word for name, value in values.items() if value for word in (f"--{name}", value)]


@dataclass(frozen=True)
class Chosen:
    """Which columns are features."""

    features: list[str] | None = option(
        "Columns to use, by name or position, such as 0,age or 'a,\"b, c\"'. Repeatable.",
        metavar="COLUMNS",
        shown="all but the label",
    )
    ignore: list[str] | None = option("Columns to leave out, as --features.", metavar="COLUMNS", shown="none")

    def how(self) -> dict[str, Any]:
        """Return how samples are read: which columns, None for all, and which not."""
        wanted = names(*self.features) if self.features else None
        return {"features": wanted, "ignore": names(*(self.ignore or ()))}


@dataclass(frozen=True)
class Encoded(Chosen):
    """Which columns are features, and what they are taken as."""

    columns: list[str] | None = option(
        "Take a column as number, category, date or drop.", metavar="NAME=KIND"
    )
    no_encode: bool = flag("--no-encode", "Refuse text and empty cells; use the numbers as they are.")

    def how(self) -> dict[str, Any]:
        """Return how samples are read; what columns are treated as counts only if they may be encoded."""
        if self.columns and self.no_encode:
            raise UsageError(f"--no-encode: not with --columns {self.columns[0]}; choose one of them")
        kinds = {}
        for text in self.columns or ():
            for pair in _split(text):
                name, _, kind = pair.rpartition("=")
                is_odd = kind not in KINDS or not name
                refuse(is_odd, f"--columns {text}: write NAME=KIND with one of {', '.join(KINDS)}")
                kinds[name.strip()] = kind
        return super().how() | {"encode": not self.no_encode, "kinds": kinds}

    @property
    def words(self) -> list[str]:
        """Return the options that say so again."""
        values = {"--features": self.features, "--ignore": self.ignore, "--columns": self.columns}
        words = [word for name, texts in values.items() for text in texts or () for word in (name, text)]
        return [*words, *["--no-encode"] * self.no_encode]


@dataclass(frozen=True)
class Treated(Encoded):
    """The same, and whether they are standardised."""

    scale: bool | None = option(
        "Standardise features, as part of the model.",
        "--scale/--no-scale",
        shown="where units count",
        metavar=" ",
    )


@dataclass(frozen=True)
class Pictures:
    """How samples are shown as images."""

    image_shape: str | None = option("Show samples as images: 8x8, or 32x32x3 for colours.", metavar="HxW")
    image_column: str | None = option("Column of image files to show; not a feature.", metavar="COLUMN")
    images: str | None = option("Only show files below this folder.", metavar="FOLDER", shown="DATA's own")

    def left_out(self, how: dict[str, Any]) -> dict[str, Any]:
        """Return how samples are read, without the column of image files."""
        return how if self.image_column is None else how | {"ignore": [*how["ignore"], self.image_column]}

    def folder(self, data: str) -> Path:
        """Return the folder of image files, if there are any."""
        folder, has_files = Path(self.images or Path(data).parent), self.image_column is not None
        refuse(self.images and not has_files, "--images: name the column of the files with --image-column")
        refuse(
            self.image_shape and has_files, "--image-shape: not with --image-column; leave one of them out"
        )
        mistake = "--image-column: a pipe has no folder; name that of the files with --images"
        refuse(has_files and data == "-" and not self.images, mistake)
        refuse(self.images and not folder.is_dir(), f"--images {self.images}: there is no such folder")
        return folder


def names(*texts: str) -> list[str]:
    """Split lists of names, quoted as in CSV."""
    return [name.strip() for text in texts for name in _split(text) or [""]]


def _split(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise UsageError(f"{text}: {error}; write names such as 'a,\"b, c\"'") from None
