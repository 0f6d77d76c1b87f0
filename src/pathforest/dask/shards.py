"""Fitted models in a folder that all machines share: workers write and read the samples, in shards."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from typing import Any

import numpy as np
from distributed import Client

from pathforest._engines.metric import Metric
from pathforest._persistence.file import MODEL, read_model, read_shard, shard_path, write
from pathforest._utils.checks import demand
from pathforest._utils.files import naming, replacing
from pathforest.dask.chunks import ChunkedSamples, check_values
from pathforest.dask.data import inspect_samples
from pathforest.dask.engine import Block
from pathforest.dask.futures import run_all
from pathforest.dask.spill import check_shared


def save_shards(model: Any, path: Any) -> None:
    """Write a model whose samples are on the workers to a folder, which is moved into place when complete."""
    target, samples = os.path.realpath(path), model._fit_X
    names = os.listdir(target) if os.path.isdir(target) else []
    if os.path.isfile(target) or (names and MODEL not in names):
        raise FileExistsError(f"{path} is neither a new folder nor one of a model; choose another")
    temporary, old = (f"{target}.{secrets.token_hex(8)}.{end}" for end in ("tmp", "old"))
    with naming(path, temporary):
        os.mkdir(temporary)
    try:
        paths = [shard_path(temporary, i) for i in range(len(samples.rows))]
        digests = run_all(samples.client, len(paths), lambda i: samples.ask(i, write_shard, paths[i]))
        check_shared(paths)
        shards = [[rows.stop - rows.start, one] for rows, one in zip(samples.rows, digests, strict=True)]
        write(model, os.path.join(temporary, MODEL), shards=shards)
        if os.path.exists(target):
            os.rename(target, old)
        os.rename(temporary, target)
    finally:
        if os.path.exists(old) and not os.path.exists(target):  # the new one did not take its place
            os.rename(old, target)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def load_shards(client: Client, path: Any) -> Any:
    """Read a model from a folder; its samples are read by the workers."""

    def samples(folder: str, shards: list[Any], model: Any) -> ChunkedSamples:
        digests = [digest for _, digest in shards]
        chunks = [client.submit(read_shard, folder, i, one, pure=False) for i, one in enumerate(digests)]
        found = run_all(client, len(chunks), lambda i: client.submit(inspect_samples, chunks[i], True))
        for one, (n_rows, _) in zip(found, shards, strict=True):
            demand(one.problem is None and one.n_rows == n_rows, f"a shard {one.problem or 'is too short'}")
        metric, dtype = Metric(*model._fit_metric), found[0].dtype
        check_values([one.extremes for one in found], dtype, metric, model._squares)
        shape, how = (len(found[0].columns), dtype), (metric, model._fit_algorithm, model.device)
        return ChunkedSamples(client, chunks, [one.n_rows for one in found], shape, how)

    return read_model(path, samples)


# What runs on the workers


def write_shard(block: Block, path: str) -> str:
    """Write the samples of a block; return the checksum of the file."""
    with replacing(path) as file:
        np.save(file, block.X, allow_pickle=False)
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()
