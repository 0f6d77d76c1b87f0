"""Markdown tables and command lines, the same in every script."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parents[1] / "docs" / "results"  # what pages include


def line(cells: Iterable[str]) -> str:
    """Lay out a line of a table."""
    return f"| {' | '.join(cells)} |"


def head(names: Sequence[str], n_words: int = 1) -> str:
    """Lay out the first two lines of a table; columns after the first `n_words` are of numbers."""
    return f"{line(names)}\n|{'---|' * n_words}{'---:|' * (len(names) - n_words)}"


def markdown(names: Sequence[str], rows: Iterable[Iterable[str]], n_words: int = 1) -> str:
    """Lay out a whole table."""
    return "\n".join([head(names, n_words), *map(line, rows)])


def parser(module: str, doc: str) -> argparse.ArgumentParser:
    """Start the command line of a script, described by the first words of its docstring."""
    return argparse.ArgumentParser(prog=f"python -m {module}", description=doc.partition(":")[0])


def gain(differences: np.ndarray, digits: int = 2) -> str:
    """Write the mean of paired differences, with its standard error."""
    n = len(differences)
    error = differences.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return f"{differences.mean():+.{digits}f} ± {error:.{digits}f}"


def bold_best(values: Sequence[float], form: str, largest: bool = True) -> list[str]:
    """Write numbers, the best of them in bold."""
    texts = [format(value, form) for value in values]
    best = texts[int(np.nanargmax(values) if largest else np.nanargmin(values))]
    return [f"**{text}**" if text == best else text for text in texts]
