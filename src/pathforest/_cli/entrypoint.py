"""The commands by name."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pathforest import __version__
from pathforest._cli.commands.audit import audit
from pathforest._cli.commands.cluster import cluster
from pathforest._cli.commands.convert import convert
from pathforest._cli.commands.evaluate import evaluate
from pathforest._cli.commands.explain import explain
from pathforest._cli.commands.info import info
from pathforest._cli.commands.predict import predict
from pathforest._cli.commands.reproduce import reproduce
from pathforest._cli.commands.split import split
from pathforest._cli.commands.train import train
from pathforest._cli.commands.tune import tune
from pathforest._cli.errors import one_line_errors
from pathforest._utils.text import escape

# In the order of `--help`: from data to models to answers.
COMMANDS = (info, audit, split, convert, train, tune, predict, evaluate, explain, cluster, reproduce)

USAGE_ERROR = typer.BadParameter.__bases__[0]  # click's, of which some versions of typer have a copy


class Flags:
    """Flags without a type in the help: they take no value."""

    def get_params(self, *args: Any) -> Any:
        """Return the options and arguments."""
        params = super().get_params(*args)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = " "
        return params


class Command(Flags, TyperCommand):
    """A command."""


class Group(Flags, TyperGroup):
    """The commands, with what click says of mistyped options made safe to print."""

    def parse_args(self, *args: Any) -> Any:
        """Read what comes before a command."""
        return _escaped(super().parse_args, *args)

    def invoke(self, *args: Any) -> Any:
        """Read a command's own options and run it."""
        return _escaped(super().invoke, *args)


def _escaped(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except USAGE_ERROR as error:
        error.message = escape(error.message)
        raise


app = typer.Typer(
    name="pathforest",
    cls=Group,
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


def _help(docstring: str) -> str:
    """Let paragraphs flow to the width of the terminal; examples keep their lines."""
    paragraphs = inspect.cleandoc(docstring).replace("Examples\n--------\n", "Examples:\n\n").split("\n\n")
    flowing = (text if text.startswith(" ") else " ".join(text.split()) for text in paragraphs)
    return "\n\n".join(flowing)


for command in COMMANDS:
    app.command(command.__name__, cls=Command, help=_help(command.__doc__))(one_line_errors(command))
