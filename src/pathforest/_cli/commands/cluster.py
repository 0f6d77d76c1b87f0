"""`pathforest cluster`: samples in, the same with their clusters out."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from pathforest._cli import models, options
from pathforest._cli.input import numbers_of, read_samples
from pathforest._cli.output import TableOutput, check_outputs, show_facts
from pathforest._tables import ArrayColumn
from pathforest._utils.text import show


def cluster(
    data: options.Data,
    out: options.Out = None,
    save: Annotated[
        str | None, typer.Option(help="File for the model, to place new samples with predict.")
    ] = None,
    settings: options.Set = None,
    label: options.Label = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    scale: options.Scale = False,
    columns: options.Columns = None,
    no_encode: options.NoEncode = False,
    distances: options.Distances = None,
    column: Annotated[str, typer.Option(help="Name of the column of clusters.")] = "cluster",
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    to: options.To = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Find clusters; their number is found too.

    The cluster, counted from 0 and -1 for noise, is the last column. A column called 'label', or named by
    --label, is not a feature, and is written as it came.

    Examples
    --------
      pathforest cluster points.csv --out clusters.csv

      pathforest cluster points.csv --set n_clusters=4 --save clusters.pf --out clusters.csv
    """
    table = TableOutput(out, to, as_json=as_json)
    check_outputs([table.path, save], [data, distances])
    model = models.make_estimator("OPFClustering", settings, distances)
    if scale:
        models.check_scale(model)
    samples = read_samples(
        data,
        label=label,
        features=options.names(features),
        ignore=options.names(ignore),
        labels="left out",
        distances=distances,
        encode=not no_encode,
        kinds=options.kinds(columns, encode=not no_encode),
        **options.reading(from_, sep, decimal),
    )
    if column in samples.stream.names:
        raise ValueError(f"{data}: there is a column {show(column)} already; pass another --column")
    prepared = models.prepare(model, samples.X, samples.features, scale=scale, kinds=samples.kinds)
    seconds = models.fit(model, prepared, None, jobs)
    with table.open([*samples.stream.names, column], samples.stream) as write:
        numbers = {} if distances else numbers_of(samples.X, samples.features)
        given = table.columns(samples.stream, samples.rows, numbers)
        write([*given, ArrayColumn(model.labels_)])
    if save is not None:
        models.save(model, samples.features, save, label=None, table=prepared.table)
    sizes = np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    n_noise = len(prepared.X) - sum(sizes)
    facts = {
        "clusters": table.path,
        "model": save,
        "n_samples": len(prepared.X),
        "columns": models.rule_facts(prepared.table),
        "sizes": sizes,
        "noise": n_noise,
        "best_k": int(model.best_k_),
        "seconds": round(seconds, 3),
    }
    text = (
        f"{len(sizes)} cluster{'s' if len(sizes) > 1 else ''} of {len(prepared.X)} samples, the largest of "
        f"{max(sizes)}{f', {n_noise} left out as noise' if n_noise else ''}; k = {model.best_k_}, "
        f"{seconds:.1f} s"
    )
    lines = [text, *models.rule_lines(prepared.table)]
    show_facts(facts, lines, as_json and table.path is not None, on_error_stream=table.path is None)
