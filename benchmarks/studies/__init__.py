"""Experiments on accuracy: one module each, with the table that a page of the documentation shows."""
