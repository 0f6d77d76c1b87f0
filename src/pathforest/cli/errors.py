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

from pathforest._utils.show import escape, show

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


def ignorable(error: Exception) -> str:
    """Return the text of an error about a column, with the option that leaves columns out."""
    text, way_out = str(error), "leave the column out"
    if way_out in text:
        return text.replace(way_out, f"{way_out} with --ignore")
    return f"{text} (--ignore leaves a column out)"


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
            say(
                "a process was killed, perhaps because memory ran out; lower --jobs and give the same "
                "command again: it continues where it stopped"
            )
            raise typer.Exit(FAILED) from error
        except EXPECTED as error:
            say(_text(error))
            raise typer.Exit(MISTYPED if isinstance(error, UsageError) else FAILED) from error
        except KeyboardInterrupt as error:
            say("stopped")
            raise typer.Exit(INTERRUPTED) from error

    return run


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return str(error) or type(error).__name__


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Show each warning once, as a line without the place in the code that it came from."""
    shown = set()

    def show_once(message: Warning | str, *place: Any, **more: Any) -> None:
        text = str(message)
        if text not in shown:
            shown.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show_once
        yield
