"""The commands by name."""

from __future__ import annotations

from typing import Annotated

import typer

from pathforest import __version__
from pathforest.cli import reproduce
from pathforest.cli.failures import one_line_errors

app = typer.Typer(
    name="pathforest",
    help="Optimum-Path Forest learning: supervised, fuzzy and unsupervised.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pathforest {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command("reproduce")(one_line_errors(reproduce.reproduce))
