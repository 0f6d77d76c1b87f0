"""Errors and warnings as lines that a user can act on."""

from __future__ import annotations

import dis
import functools
import inspect
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, get_type_hints

import typer
from joblib.externals.loky.process_executor import TerminatedWorkerError

from pathforest import __version__
from pathforest._utils.text import escape, show

# What files and values can lead to, wherever it is raised.
MISTAKES = (ValueError, OSError, ImportError, MemoryError)
# What bugs lead to as well, so that it is a mistake only where we raise it.
RAISED = (TypeError, AttributeError, RuntimeError)
PACKAGE = Path(__file__).parents[1]
FAILED, MISTYPED, INTERRUPTED = 1, 2, 130  # exit codes; typer has 2 for options it does not know
LONGEST = 2000  # characters of a message
DEBUG = Annotated[bool, typer.Option("--debug", help="If the command fails, print the traceback too.")]


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
    """Turn what goes wrong in a command into a line on the error stream and an exit code, and add --debug."""

    @functools.wraps(command)
    def run(*args: Any, debug: bool, **kwargs: Any) -> None:
        try:
            with one_line_warnings():
                command(*args, **kwargs)
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

    hints = {**get_type_hints(command, include_extras=True), "debug": DEBUG}
    own = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters = (*inspect.signature(command).parameters.values(), own)
    run.__signature__ = inspect.Signature([one.replace(annotation=hints[one.name]) for one in parameters])
    run.__annotations__ = hints
    return run


def _explained(error: Exception) -> str:
    """Say what a user can do about an error: correct a mistake, or report a bug."""
    if isinstance(error, TerminatedWorkerError):
        return (
            "a process was killed, perhaps because memory ran out; lower --jobs and give the same command "
            "again: it continues where it stopped"
        )
    is_raised = isinstance(error, RAISED) and not isinstance(error, NotImplementedError)
    if isinstance(error, MISTAKES) or (is_raised and _is_raised_here(error.__traceback__)):
        return _text(error)
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
