"""The commands by name, and what goes wrong in them as a line and an exit code."""

from __future__ import annotations

import dis
import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import typer
from joblib.externals.loky.process_executor import TerminatedWorkerError
from typer.core import TyperGroup

from pathforest import __version__
from pathforest._cli.commands.audit import audit
from pathforest._cli.commands.cluster import cluster
from pathforest._cli.commands.convert import convert
from pathforest._cli.commands.evaluate import evaluate
from pathforest._cli.commands.info import info
from pathforest._cli.commands.label import label
from pathforest._cli.commands.predict import predict
from pathforest._cli.commands.reproduce import reproduce
from pathforest._cli.commands.train import train
from pathforest._cli.options import UsageError, flag, say
from pathforest._utils.text import escape

# In the order of `--help`: from data to models to answers.
COMMANDS = (info, label, audit, convert, train, predict, evaluate, cluster, reproduce)

# What files and values can lead to, wherever it is raised.
MISTAKES = (ValueError, OSError, ImportError, MemoryError)
# What bugs lead to as well, so that it is a mistake only where we raise it.
RAISED = (TypeError, AttributeError, RuntimeError)
PACKAGE = Path(__file__).parents[1]
FAILED, MISTYPED, INTERRUPTED = 1, 2, 130  # exit codes; typer has 2 for options it does not know
DEBUG = flag("--debug", "If the command fails, print the traceback too.")
MISTYPED_ERROR = typer.BadParameter.__bases__[0]  # click's, of which some versions of typer have a copy


class Group(TyperGroup):
    """The commands."""

    def invoke(self, context: Any) -> Any:
        """Run a command, and make what click says of its mistyped options safe to print."""
        return _escaped(super().invoke, context)

    def parse_args(self, context: Any, args: list[str]) -> Any:
        """Do the same for what comes before a command."""
        return _escaped(super().parse_args, context, args)


def _escaped(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except MISTYPED_ERROR as error:
        error.message = escape(error.message)
        raise


def as_typer_takes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for typer: dataclasses as their fields, --debug, and what goes wrong as a line."""
    groups, parameters = {}, {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        parameters[name] = parameter
        if is_dataclass(parameter.annotation):
            groups[name] = inspect.signature(parameter.annotation, eval_str=True).parameters
            parameters |= groups[name]

    def run(*, debug: bool, **values: Any) -> None:
        try:
            for name, fields in groups.items():
                values[name] = parameters[name].annotation(**{field: values.pop(field) for field in fields})
            with warnings.catch_warnings():
                say_once = cache(say)
                warnings.showwarning = lambda message, *place, **more: say_once(f"warning: {message}")
                command(**values)
        except BrokenPipeError:
            raise  # the reader, `head` for instance, has seen enough; typer ends quietly
        except Exception as error:
            if debug:
                lines = "".join(traceback.format_exception(error)).splitlines()
                typer.echo("\n".join(map(escape, lines)), err=True)
            say(_explained(error))
            raise typer.Exit(MISTYPED if isinstance(error, UsageError) else FAILED) from error
        except KeyboardInterrupt as error:
            say("stopped")
            raise typer.Exit(INTERRUPTED) from error

    shown = [parameter for name, parameter in parameters.items() if name not in groups]
    shown.append(inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=DEBUG, annotation=bool))
    run.__signature__ = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in shown])
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _explained(error: Exception) -> str:
    """Say what a user can do about an error: correct a mistake, or report a bug."""
    if isinstance(error, TerminatedWorkerError):
        return (
            "a process was killed, perhaps because memory ran out; lower --jobs and give the same command "
            "again: it continues where it stopped"
        )
    is_raised = isinstance(error, RAISED) and not isinstance(error, NotImplementedError)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    if isinstance(error, MISTAKES) or (is_raised and _is_raised_here(error.__traceback__)):
        return str(error) or type(error).__name__
    return (
        f"this is a bug in pathforest {__version__}, not your mistake: {type(error).__name__}: {error}; "
        "please report it to the developers, with the command and what it prints with --debug added"
    )


def _is_raised_here(found: TracebackType) -> bool:
    """Say whether an error comes from a `raise` of this package, not from what a statement or library did."""
    while found.tb_next is not None:
        found = found.tb_next
    code = found.tb_frame.f_code
    is_raise = dis.opname[code.co_code[found.tb_lasti]] == "RAISE_VARARGS"
    return is_raise and PACKAGE in Path(code.co_filename).parents


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
    version: bool = flag("--version", "Print the version.", callback=_show_version, is_eager=True),
) -> None:
    pass


def _help(docstring: str) -> str:
    """Let paragraphs flow to the width of the terminal; examples keep their lines."""
    paragraphs = inspect.cleandoc(docstring).replace("Examples\n--------\n", "Examples:\n\n").split("\n\n")
    flowing = (text if text.startswith(" ") else " ".join(text.split()) for text in paragraphs)
    return "\n\n".join(flowing)


for command in COMMANDS:
    app.command(command.__name__, help=_help(command.__doc__))(as_typer_takes(command))
