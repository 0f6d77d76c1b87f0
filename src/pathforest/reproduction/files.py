"""The tables of an experiment as Parquet files, readable by pandas, polars, R and DuckDB."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from pathforest._utils.files import replace_file
from pathforest.reproduction.types import Experiment


def write_tables(experiment: Experiment, folder: Path) -> None:
    """Write results.parquet, landscapes.parquet and ties.parquet, each whole or not at all."""
    for name in ("results", "landscapes", "ties"):
        replace_file(folder / f"{name}.parquet", _parquet(getattr(experiment, name)))


def _parquet(table: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    return content.getvalue()
