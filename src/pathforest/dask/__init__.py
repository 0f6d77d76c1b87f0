"""Estimators and `find_issues` on a Dask cluster: the same answers, with the work shared by many machines.

Needs ``pip install pathforest[dask]``. :class:`OnCluster` wraps a local classifier; `fit` accepts Dask arrays
and data frames, whatever their chunks, or local data. What it learns is equal, array by array, to what the
classifier learns from the concatenated data, and `to_local` returns that classifier.

The samples of a Dask collection stay on the workers where the estimator allows it; the client has a few
numbers per sample. `docs/using/dask.md` says what runs where and how long it takes.
"""

from pathforest.dask.issues import find_issues
from pathforest.dask.on_cluster import OnCluster, load

__all__ = ["OnCluster", "find_issues", "load"]
