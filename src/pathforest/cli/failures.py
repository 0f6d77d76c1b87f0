"""Errors as one line a user can act on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer
from joblib.externals.loky.process_executor import TerminatedWorkerError

FAILED, INTERRUPTED = 1, 130  # exit codes; 2 is a mistake on the command line


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what goes wrong in a command into a line on the error stream and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except TerminatedWorkerError as error:
            typer.echo(
                "pathforest: a process was killed, for want of memory perhaps; lower --jobs and give the "
                "same command again: it goes on where it was",
                err=True,
            )
            raise typer.Exit(FAILED) from error
        except (ValueError, OSError, ImportError, MemoryError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            typer.echo(f"pathforest: {text}", err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as error:
            typer.echo("pathforest: stopped", err=True)
            raise typer.Exit(INTERRUPTED) from error

    return run
