"""Models in files that are safe to open: `save` writes a fitted estimator, `load` reads it."""

from pathforest._persistence.file import load, save

__all__ = ["load", "save"]
