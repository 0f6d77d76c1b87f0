"""Errors and warnings as lines that a user can act on."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import typer
from joblib.externals.loky.process_executor import TerminatedWorkerError

# What files and values can lead to; those given by --set can be of a wrong type, or nested too deeply.
EXPECTED = (
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    OSError,
    ImportError,
    MemoryError,
)
FAILED, MISTYPED, INTERRUPTED = 1, 2, 130  # exit codes; typer has 2 for options it does not know


class UsageError(ValueError):
    """A mistake on the command line, where no file need be looked at to see it."""


def did_you_mean(wanted: str, known: Iterable[str], show: Callable[[str], str] = repr) -> str:
    """Suggest the known name most like the one that is wanted, in brackets; nothing if none is like it."""
    close = get_close_matches(wanted, known, 1)
    return f" (did you mean {show(close[0])}?)" if close else ""


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what goes wrong in a command into a line on the error stream and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with one_line_warnings():
                command(*args, **kwargs)
        except BrokenPipeError:
            raise  # the reader, `head` for instance, has seen enough; typer ends quietly
        except TerminatedWorkerError as error:
            typer.echo(
                "pathforest: a process was killed, for want of memory perhaps; lower --jobs and give the "
                "same command again: it goes on where it was",
                err=True,
            )
            raise typer.Exit(FAILED) from error
        except UsageError as error:
            typer.echo(f"pathforest: {_text(error)}", err=True)
            raise typer.Exit(MISTYPED) from error
        except EXPECTED as error:
            typer.echo(f"pathforest: {_text(error)}", err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as error:
            typer.echo("pathforest: stopped", err=True)
            raise typer.Exit(INTERRUPTED) from error

    return run


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Show each warning once, as a line without the place in the code that it came from."""
    shown = set()

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown:
            shown.add(text)
            typer.echo(f"pathforest: warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
