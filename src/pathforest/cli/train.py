"""`pathforest train`: a table with labels in, a model out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pathforest.cli import options

LISTED = ", ".join(("fuzzy-cv", "opf", "fuzzy", "knn", "semi"))


def train(
    data: options.Data,
    out: Annotated[str, typer.Option("--out", "-o", help="File for the model.")],
    label: options.Label = None,
    estimator: Annotated[
        str,
        typer.Option(
            "--estimator", "-e", help=f"One of {LISTED}.", autocompletion=lambda: LISTED.split(", ")
        ),
    ] = "fuzzy-cv",
    settings: options.Set = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    from_: options.From = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Fit a classifier to labelled samples and save it.

    Unless told otherwise, this is the fuzzy classifier with its parameters chosen by cross-validation. The
    model remembers the names of its features. For 'semi', an empty cell is a sample without a label.

    Examples
    --------
      pathforest train iris.csv --label species --out iris.pf

      pathforest train training.dat --estimator opf --set metric=log_sqeuclidean --out model.pf

      pathforest train wine.csv --label 0 --ignore id --set transforms=linear --out wine.pf
    """
    from pathforest._files import check_writable
    from pathforest.cli.models import ESTIMATORS, fit, make_estimator
    from pathforest.cli.output import show_facts
    from pathforest.cli.tables import read_samples

    if estimator not in ESTIMATORS:
        raise ValueError(f"--estimator {estimator} is unknown; choose one of {LISTED}")
    model = make_estimator(ESTIMATORS[estimator], settings)
    check_writable(out)
    samples = read_samples(
        data,
        ending=from_,
        label=label,
        features=options.names(features),
        ignore=options.names(ignore),
        empty_labels=estimator == "semi",
    )
    if estimator == "semi" and "" in samples.y:
        model.set_params(unlabeled="")
    seconds = fit(model, samples.X, samples.y, samples.features, jobs)
    model.save(out)
    facts = {
        "model": out,
        "estimator": type(model).__name__,
        "n_samples": len(samples.X),
        "features": samples.features,
        "label": samples.label,
        "classes": model.classes_.tolist(),
        "seconds": round(seconds, 3),
        **search_facts(model),
    }
    text = (
        f"{out}: {facts['estimator']}, {len(samples.X)} samples, {len(samples.features)} features, "
        f"{len(model.classes_)} classes, {seconds:.1f} s"
    )
    show_facts(facts, text + search_text(facts), as_json)


def search_facts(model: Any) -> dict[str, Any]:
    """Return what a search has found, if there was one."""
    if not hasattr(model, "best_score_") or not hasattr(model, "best_params_"):
        return {}
    return {"best_score": model.best_score_, "best_params": model.best_params_}


def search_text(facts: dict[str, Any]) -> str:
    """Say what a search has found."""
    if "best_score" not in facts:
        return ""
    chosen = ", ".join(f"{name}={value}" for name, value in facts["best_params"].items())
    return f"\ncross-validated score {facts['best_score']:.4f} with {chosen}"
