"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

FORMATS = "CSV, TSV, Parquet, NPZ, LibOPF (.dat, .txt) or LIBSVM, also with .gz"

Data = Annotated[str, typer.Argument(metavar="DATA", help=f"A file: {FORMATS}; - for standard input.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that train wrote, or LibOPF's.")]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        help="Column of the labels: its name, or its position from 0 (-1: the last). 'label'.",
    ),
]
Features = Annotated[
    str | None, typer.Option(help="Columns to use, separated by commas; all others but the label.")
]
Ignore = Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")]
From = Annotated[
    str | None,
    typer.Option("--from", help="Format of DATA, such as csv or dat, where its name does not tell."),
]
To = Annotated[
    str | None,
    typer.Option("--to", help="Format of the output: csv, tsv, json, jsonl or parquet. The name's, or csv."),
]
Out = Annotated[str | None, typer.Option("--out", "-o", help="File to write; the standard output.")]
Distances = Annotated[
    str | None,
    typer.Option(help="LibOPF's file of distances, used instead of features; DATA holds positions in it."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter, such as k_max=30 or metric=manhattan. Repeatable."
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads; all cores. Changes time, never answers.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def names(text: str | None) -> list[str] | None:
    """Split a list of names; None is none given."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
