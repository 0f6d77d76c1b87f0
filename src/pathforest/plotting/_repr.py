"""How displays print: in a line, because a notebook shows that above the picture."""

from __future__ import annotations

from typing import Any


def short_repr(display: Any) -> str:
    """Return the kind of a display and the title of its picture."""
    title = display.ax_.get_title().replace("\n", ", ")
    return f"<{type(display).__name__}{title and ': '}{title}>"
