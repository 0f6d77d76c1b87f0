"""`pathforest train`: a table with labels in, a model out."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Annotated, Any

import numpy as np
import typer

from pathforest._cli import models, options
from pathforest._cli.advice import warn_one_class
from pathforest._cli.errors import UsageError
from pathforest._cli.input import Samples, join_features, kinds_of, read_samples
from pathforest._cli.output import check_outputs, show_facts
from pathforest.learning import learn as learn_from
from pathforest.pruning import prune as prune_by

LISTED = ", ".join(options.ESTIMATORS)


def train(
    data: options.Data,
    out: Annotated[str, typer.Option("--out", "-o", help="File for the model.")],
    label: options.Label = None,
    estimator: Annotated[
        str,
        typer.Option(
            "--estimator", "-e", help=f"One of {LISTED}.", autocompletion=lambda: list(options.ESTIMATORS)
        ),
    ] = "fuzzy-cv",
    settings: options.Set = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    unlabeled: Annotated[
        str | None, typer.Option(help="For semi: a file of further samples, whose labels are not used.")
    ] = None,
    learn: Annotated[
        str | None, typer.Option(help="For opf: a file of samples; misclassified ones join the training set.")
    ] = None,
    prune: Annotated[
        str | None,
        typer.Option(help="For opf: a file of samples; training samples that they do not need are removed."),
    ] = None,
    max_loss: Annotated[
        float, typer.Option(min=0, max=1, help="For --prune: accuracy that may be lost, such as 0.01.")
    ] = 0.0,
    scale: options.Scale = False,
    columns: options.Columns = None,
    no_encode: options.NoEncode = False,
    distances: options.Distances = None,
    from_: options.From = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Fit a classifier to labelled samples and save it.

    By default this is the fuzzy classifier with its parameters chosen by cross-validation. If a table has
    text, truth values or empty cells, text is encoded, gaps are filled and numbers standardised (unless the
    search tries that itself), as part of the model, and what was done to each column is shown; a search
    learns it inside its folds. A table of numbers is used as it is. The model remembers the names of its
    columns and of its label. For 'semi', an empty cell, and nothing else, is a sample without a label;
    'outliers' needs no labels.

    Examples
    --------
      pathforest train iris.csv --label species --out iris.pf

      pathforest train training.dat --estimator opf --set metric=log_sqeuclidean --out model.pf

      pathforest train wine.csv --label 0 --ignore id --scale --out wine.pf

      pathforest train titanic.csv --label survived --columns pclass=category --out titanic.pf
    """
    if estimator not in options.ESTIMATORS:
        raise UsageError(f"--estimator {estimator} is unknown; choose one of {LISTED}")
    files = (("--learn", learn, "opf"), ("--prune", prune, "opf"), ("--unlabeled", unlabeled, "semi"))
    for name, given, wanted in files:
        if given is not None and estimator != wanted:
            raise UsageError(f"{name} {given}: only --estimator {wanted} takes it")
        if given is not None and distances is not None:
            raise UsageError(f"{name} {given}: not with --distances; give features")
    model = models.make_estimator(options.ESTIMATORS[estimator], settings, distances)
    if not getattr(model, "refit", True):
        raise UsageError("--set refit=false: the model could not predict; use tune to see scores only")
    if scale:
        models.check_scale(model)
    check_outputs([out], [data, unlabeled, learn, prune, distances])
    how = options.reading(from_, sep, decimal)
    kinds = options.kinds(columns, encode=not no_encode)
    samples = read_samples(
        data,
        label=label,
        features=options.names(features),
        ignore=options.names(ignore),
        labels="left out" if estimator == "outliers" else "needed",
        empty_labels=estimator == "semi",
        distances=distances,
        encode=not no_encode,
        kinds=kinds,
        **how,
    )
    X, y = samples.X, samples.y
    kinds, how["ending"] = kinds_of(X), None  # the other files are read as this one was
    if unlabeled is not None:
        more = read_samples(unlabeled, features=samples.features, labels="left out", kinds=kinds, **how)
        X = join_features(X, more.X)
        y = np.ma.concatenate([y, np.ma.masked_all(len(more.rows.places), y.dtype)])
    if y is not None:
        warn_one_class(y, samples.label)
    if estimator == "semi":
        y = _marked(model, y)
    if learn is not None and isinstance(X, dict) and model.metric == models.MIXED:
        raise UsageError(
            f"--learn {learn}: not with metric={models.MIXED} and a table with text or gaps; leave out --set "
            "metric, and text is encoded"
        )
    prepared = models.prepare(model, X, samples.features, scale=scale, kinds=samples.kinds)
    X = prepared.X
    seconds = models.fit(model, prepared, y, jobs)
    evaluation = []
    training = samples._replace(X=X)
    for file, improve in ((learn, _learn), (prune, partial(_prune, max_loss=max_loss))):
        if file is not None:
            evaluated = read_samples(file, label=label, features=samples.features, kinds=kinds, **how)
            evaluated = evaluated._replace(X=prepared.more(evaluated.X, samples.features))
            improved, scores = improve(model, training, evaluated)
            sizes = {"n_before": len(model.cost_), "n_after": len(improved.cost_)}
            evaluation.append({"file": file, **scores, **sizes})
            model = improved
    models.save(
        model, samples.features, out, label=samples.label if y is not None else None, table=prepared.table
    )
    facts = {
        "model": out,
        "estimator": type(model).__name__,
        "n_samples": len(X),
        "features": samples.features,
        "columns": models.rule_facts(prepared.table),
        "label": samples.label,
        "classes": model.classes_.tolist() if y is not None else None,
        "seconds": round(seconds, 3),
        **search_facts(model),
    }
    what = "features" if distances is None else "distances"
    text = f"{out}: {facts['estimator']}, {len(X)} samples, {len(samples.features)} {what}"
    if y is not None:
        n_classes = len(model.classes_)
        text += f", {n_classes} class{'es' * (n_classes != 1)}"
    text += f", {seconds:.1f} s"
    if evaluation:
        facts |= {"n_kept": len(model.cost_), "evaluation": evaluation}
        text += f"; {len(model.cost_)} samples in the model"
    rules = models.rule_lines(prepared.table)
    show_facts(facts, [text, *rules, *map(_evaluated, evaluation), *search_lines(facts)], as_json)


def _marked(model: Any, y: np.ma.MaskedArray) -> np.ndarray:
    """Mark the samples without labels by what is not a label of others, unless --set names a mark."""
    if model.unlabeled is None:
        labels = set(y.compressed().tolist())
        free = (mark for mark in count(-1, -1) if mark not in labels)
        model.set_params(unlabeled="" if y.dtype.kind == "U" else next(free))
    return np.where(np.ma.getmaskarray(y), model.unlabeled, y.data)


Improved = tuple[Any, dict[str, float]]  # a model, and the accuracy before and after


def _learn(model: Any, samples: Samples, evaluation: Samples) -> Improved:
    before = model.score(evaluation.X, evaluation.y)
    learned = learn_from(model, samples.X, samples.y, evaluation.X, evaluation.y)
    # Samples that were exchanged now train; those that took their place evaluate.
    X = np.concatenate([samples.X, evaluation.X])[learned.val_rows]
    y = np.concatenate([samples.y, evaluation.y])[learned.val_rows]
    return learned.model, {"before": before, "after": learned.model.score(X, y)}


def _prune(model: Any, samples: Samples, evaluation: Samples, *, max_loss: float) -> Improved:
    before = model.score(evaluation.X, evaluation.y)
    pruned = prune_by(model, evaluation.X, evaluation.y, max_loss=max_loss).model
    return pruned, {"before": before, "after": pruned.score(evaluation.X, evaluation.y)}


def _evaluated(facts: dict[str, Any]) -> str:
    return (
        "{file}: accuracy {before:.4f} with {n_before} samples before, {after:.4f} with {n_after} after"
    ).format(**facts)


def search_facts(model: Any) -> dict[str, Any]:
    """Return what a search has found, if there was one."""
    if not hasattr(model, "best_score_") or not hasattr(model, "best_params_"):
        return {}
    return {"best_score": model.best_score_, "best_params": model.best_params_}


def search_lines(facts: dict[str, Any]) -> list[str]:
    """Say what a search has found, if there was one."""
    if "best_score" not in facts:
        return []
    return [f"cross-validated score {facts['best_score']:.4f} with {chosen_text(facts)}"]


def chosen_text(facts: dict[str, Any]) -> str:
    """List the parameters that a search has chosen."""
    return ", ".join(f"{name}={value}" for name, value in facts["best_params"].items())
