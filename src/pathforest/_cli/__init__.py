"""The command `pathforest`."""

from __future__ import annotations

import io
import sys

from pathforest import __version__


def main() -> None:
    """Run the command; say what to install where it cannot."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # None if it is closed
        # On Windows, files and pipes have an encoding that lacks most characters.
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.argv[1:] == ["--version"]:  # at once, without the imports that the commands need
        print(f"pathforest {__version__}")
        return
    try:
        from pathforest._cli.entrypoint import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"pathforest: the command needs {error.name}; run: pip install 'pathforest[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    app()
