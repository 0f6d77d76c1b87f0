"""The classifiers on a Dask cluster: the same models, with the neighbour pass shared by many machines.

Needs ``pip install pathforest[dask]``. :class:`OnCluster` wraps a local classifier; `fit` accepts Dask arrays
and data frames, whatever their chunks, or local data. What it learns is equal, array by array, to what the
classifier learns from the concatenated data, and `to_local` returns that classifier.

The samples come together at the client, because a model is made of them; the search for nearest neighbours
and the scores of a search, nearly all of the work, go to the workers. `docs/using/dask.md` says what runs
where and how long it takes.
"""

from pathforest.dask.on_cluster import OnCluster

__all__ = ["OnCluster"]
