"""`pathforest cluster`: samples in, the same with their clusters out."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from pathforest.cli import options


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
    distances: options.Distances = None,
    column: Annotated[str, typer.Option(help="Name of the column of clusters.")] = "cluster",
    from_: options.From = None,
    to: options.To = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Find clusters; their number is found too.

    The cluster, counted from 0, is the last column. A column called 'label', or named by --label, is no
    feature and written as it came.

    Examples
    --------
      pathforest cluster points.csv --out clusters.csv

      pathforest cluster points.csv --set k_max=50 --set n_clusters=4 --save clusters.pf --out clusters.csv
    """
    from pathforest._utils.files import check_writable
    from pathforest.cli.models import fit, make_estimator
    from pathforest.cli.models import save as save_model
    from pathforest.cli.output import show_facts
    from pathforest.cli.scales import warn_scales
    from pathforest.cli.tables import read_samples, shown_columns
    from pathforest.datasets.formats.sinks import check_sink, open_sink
    from pathforest.datasets.formats.stream import ArrayColumn

    out = None if out == "-" else out
    to = "json" if as_json and out is None and to is None else to
    check_sink(out, to)
    if save is not None:
        check_writable(save)
    model = make_estimator("OPFClustering", settings, distances)
    samples = read_samples(
        data,
        ending=from_,
        label=label,
        features=options.names(features),
        ignore=options.names(ignore),
        labels="left out",
        distances=distances,
    )
    if column in samples.stream.names:
        raise ValueError(f"{data}: there is a column {column!r} already; pass another --column")
    warn_scales(model, samples.X, samples.features)
    seconds = fit(model, samples.X, None, jobs)
    with open_sink(out, to, [*samples.stream.names, column]) as sink:
        given = shown_columns(
            samples.stream, samples.rows, [] if distances else samples.features, samples.X, out, to
        )
        sink.write([*given, ArrayColumn(model.labels_)])
    if save is not None:
        save_model(model, samples.features, save)
    sizes = np.bincount(model.labels_).tolist()
    facts = {
        "clusters": out,
        "model": save,
        "n_samples": len(samples.X),
        "sizes": sizes,
        "best_k": int(model.best_k_),
        "seconds": round(seconds, 3),
    }
    text = (
        f"{len(sizes)} cluster{'s' if len(sizes) > 1 else ''} of {len(samples.X)} samples, the largest of "
        f"{max(sizes)}; k = {model.best_k_}, {seconds:.1f} s"
    )
    show_facts(facts, text, as_json and out is not None, on_error_stream=out is None)
