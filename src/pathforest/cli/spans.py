"""What a column spans: its smallest and largest number, and the cells that are missing."""

from __future__ import annotations

import numpy as np

from pathforest.datasets.formats.stream import BadCell, Column


class Span:
    """Grows batch by batch."""

    def __init__(self) -> None:
        self.limits: list[float] | None = None  # None for text, and where there is no number
        self.n_missing = 0
        self._is_text = False

    def add(self, cells: Column) -> None:
        """Take in the cells of a batch."""
        try:
            numbers = cells.numbers()
        except BadCell:  # an empty cell, or text
            texts = cells.text()
            present = np.array([row for row, text in enumerate(texts) if text.strip()], dtype=np.intp)
            self.n_missing += len(texts) - len(present)
            numbers = self._numbers(cells.take(present)) if len(present) else np.empty(0)
        known = numbers[~np.isnan(numbers)]
        self.n_missing += len(numbers) - len(known)
        if len(known) and not self._is_text:
            limits = [*(self.limits or ()), float(known.min()), float(known.max())]
            self.limits = [min(limits), max(limits)]

    def _numbers(self, cells: Column) -> np.ndarray:
        try:
            return cells.numbers()
        except BadCell:
            self.limits, self._is_text = None, True
            return np.empty(0)

    def cells(self) -> list[str]:
        """Return smallest, largest and missing for a table."""
        if self.limits is None:
            return ["text" if self._is_text else "", "", str(self.n_missing)]
        return [*(f"{limit:.6g}" for limit in self.limits), str(self.n_missing)]
