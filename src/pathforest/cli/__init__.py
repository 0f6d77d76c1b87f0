"""The command `pathforest`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; say what to install where it cannot."""
    try:
        from pathforest.cli.entrypoint import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"pathforest: the command needs {error.name}; run: pip install 'pathforest[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    app()
