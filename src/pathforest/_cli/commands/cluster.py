"""`pathforest cluster`: samples in, the same with their clusters out."""

from __future__ import annotations

import numpy as np

from pathforest._cli import models, options, tables
from pathforest._cli.options import option


def cluster(
    data: options.Data,
    *,
    out: str | None = options.OUT,
    to: str | None = options.TO,
    reading: options.Reading,
    treated: options.Treated,
    model: str | None = option("File for the model, to place new samples with predict."),
    settings: list[str] | None = options.SET,
    distances: str | None = options.DISTANCES,
    column: str = option("Name of the column of clusters.", default="cluster"),
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Find clusters; their number is found too.

    The cluster, counted from 0 and -1 for noise, is the last column. A column called 'label', or named by
    --label, is not a feature, and is written as it came.

    Examples
    --------
      pathforest cluster points.csv --out clusters.csv

      pathforest cluster points.csv --set n_clusters=4 --model clusters.pf --out clusters.csv
    """
    table = tables.TableOutput(out, to, as_json=as_json)
    tables.check_outputs([table.path, model], [data, distances])
    found = models.make_estimator("OPFClustering", settings, scale=treated.scale, distances=distances)
    samples = tables.read_samples(data, reading, **treated.how(), labels="left out", distances=distances)
    stream = samples.stream
    output = table.open([*stream.names, column], stream)
    prepared = models.prepare(found, samples, scale=treated.scale, by_default=True)
    seconds = models.fit(found, prepared, None, jobs)
    with output as write:
        features = {} if distances else tables.columns_of(samples.X, samples.features)
        write(table.columns(samples.rows, features) | {column: found.labels_})
    if model is not None:
        models.save(found, prepared, samples.features, model)
    sizes = np.bincount(found.labels_[found.labels_ >= 0]).tolist()
    n_noise = len(prepared.X) - sum(sizes)
    facts = {
        "clusters": table.path,
        "model": model,
        "n_samples": len(prepared.X),
        "columns": models.rule_facts(prepared.table),
        "sizes": sizes,
        "noise": n_noise,
        "best_k": int(found.best_k_),
        "seconds": round(seconds, 3),
    }
    text = (
        f"{len(sizes)} cluster{'s' if len(sizes) > 1 else ''} of {len(prepared.X)} samples, the largest of "
        f"{max(sizes)}{f', {n_noise} left out as noise' if n_noise else ''}; k = {found.best_k_}, "
        f"{seconds:.1f} s"
    )
    lines = [text, *models.rule_lines(prepared.table)]
    tables.show_facts(facts, lines, as_json and table.path is not None, on_error_stream=table.path is None)
