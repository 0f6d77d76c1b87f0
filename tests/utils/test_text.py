"""Values in messages are short and cannot act on a terminal; names of files may be as long as they can be."""

import pytest

from pathforest._utils.text import show


class Broken:
    def __repr__(self):
        raise RuntimeError("no text for it")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("far", "'far'"),
        (["\x1b[31m"], r"['\x1b[31m']"),
        ("x" * 98, "'" + "x" * 98 + "'"),
        ("x" * 99, "'" + "x" * 96 + "..."),
        ("\n" * 10**6, "'" + r"\n" * 48 + "..."),
        pytest.param(10**5000, "<int>", id="many digits"),
        (Broken(), "<Broken>"),
    ],
)
def test_a_value_is_shown_on_one_short_line(value, shown):
    assert show(value) == shown
