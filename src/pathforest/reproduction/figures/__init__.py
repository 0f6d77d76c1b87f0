"""Figures of the report, one file for each kind; they need plotly."""
