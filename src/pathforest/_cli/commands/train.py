"""`pathforest train`: a table with labels in, a model out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from pathforest._cli import models, options, tables
from pathforest._cli.options import option, refuse
from pathforest.learning import learn as learn_from
from pathforest.pruning import prune as prune_by


def train(
    data: options.Data,
    *,
    out: str = option("File for the model.", "--out", "-o", default=...),
    reading: options.Reading,
    treated: options.Treated,
    estimator: str = options.ESTIMATOR,
    settings: list[str] | None = options.SET,
    balance: bool = options.flag("--balance", "For fuzzy-cv: give rare classes more weight."),
    table: str | None = option("For fuzzy-cv: a file for the scores of all cells, the best first."),
    unlabeled: str | None = option("For semi: a file of further samples, whose labels are not used."),
    learn: str | None = option("For opf: a file of samples; misclassified ones join the training set."),
    prune: str | None = option("For opf: a file; training samples that its samples do not need are removed."),
    max_loss: float = option(
        "For --prune: accuracy that may be lost, such as 0.01.", default=0, min=0, max=1
    ),
    distances: str | None = options.DISTANCES,
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Fit a classifier to labelled samples and save it.

    By default this is the fuzzy classifier with its parameters chosen by cross-validation. If a table has
    text, truth values or empty cells, text is encoded, gaps are filled and numbers standardised, as part of
    the model, and what was done to each column is shown; a search learns that inside its folds. Numbers are
    standardised where their units count, but for a search, which tries that itself, and LibOPF's files. The
    model remembers the names of its columns and of its label. Rows whose label is an empty cell, and nothing
    else, are left out; 'semi' learns from them too, and 'outliers' needs no labels.

    Examples
    --------
      pathforest train iris.csv --label species --out iris.pf

      pathforest train iris.csv --label species --set sigmas=0.2,0.6,1 --table cells.csv --out iris.pf

      pathforest train training.dat --estimator opf --set metric=log_sqeuclidean --out model.pf

      pathforest train wine.csv --label 0 --ignore id --estimator opf --no-scale --out wine.pf

      pathforest train titanic.csv --label survived --columns pclass=category --out titanic.pf
    """
    further = {"--learn": (learn, "opf"), "--prune": (prune, "opf"), "--unlabeled": (unlabeled, "semi")}
    mistake = f"--estimator {estimator} is unknown; choose one of {options.LISTED}"
    refuse(estimator not in options.ESTIMATORS, mistake)
    for name, (file, wanted) in (further | {"--table": (table, "fuzzy-cv")}).items():
        refuse(file and estimator != wanted, f"{name} {file}: only --estimator {wanted} takes it")
        has_both = file and distances and name in further
        refuse(has_both, f"{name} {file}: not with --distances; give features")
    mistake = f"--balance: only --estimator fuzzy-cv takes it; leave out --estimator {estimator}"
    refuse(balance and estimator != "fuzzy-cv", mistake)
    name = options.ESTIMATORS[estimator]
    model = models.make_estimator(name, settings, scale=treated.scale, distances=distances)
    refuse(not getattr(model, "refit", True), "--set refit=false: the model could not predict; leave it out")
    if balance:
        refuse(model.class_weight is not None, "--balance: not with --set class_weight; choose one of them")
        model.set_params(class_weight="balanced")
    cells = None if table is None else tables.TableOutput(table)
    tables.check_outputs([out, table], [data, unlabeled, learn, prune, distances])
    labels, may_lack = "left out" if estimator == "outliers" else "needed", estimator == "semi"
    samples = tables.read_samples(
        data,
        reading,
        **treated.how(),
        labels=labels,
        empty_labels="masked" if may_lack else "left out",
        distances=distances,
    )
    kinds = models.kinds_of(samples)
    is_mixed, taken = learn and kinds and model.metric == models.MIXED, f"metric={models.MIXED} and a table"
    way_out = "leave out --set metric, and text is encoded"
    refuse(is_mixed, f"--learn {learn}: not with {taken} with text or gaps; {way_out}")
    # Further files are read as this one was.
    read = partial(
        tables.read_samples,
        reading=replace(reading, from_=None),
        features=samples.features,
        kinds=kinds,
        empty_labels="left out",
    )
    if unlabeled is not None:
        more = read(unlabeled, labels="left out")
        y = np.ma.concatenate([samples.y, np.ma.masked_all(len(more.rows.places), samples.y.dtype)])
        samples = samples._replace(X=_joined(samples.X, more.X), y=y)
    y, largest = samples.y, None
    if y is not None:
        largest = models.warn_of_classes(y, samples.label, None if may_lack else model)
    if may_lack:
        y = _marked(model, y)
    prepared = models.prepare(model, samples, scale=treated.scale, by_default=True)
    seconds = models.fit(model, prepared, y, jobs)
    n_samples, encoding = len(prepared.X if y is None else y), getattr(model, "table_", prepared.table)
    search, evaluation = models.search_facts(model), []
    if search:
        search["balanced_accuracy"] = models.balanced_accuracy(model, prepared, y, jobs)
    for is_learning, file in ((True, learn), (False, prune)):
        if file is None:
            continue
        given = read(file)
        X, labels = prepared.more(given.X, samples.features), given.y
        scores = {"file": file, "before": model.score(X, labels), "n_before": len(model.cost_)}
        if is_learning:
            learned = learn_from(model, prepared.X, y, X, labels)
            model = learned.model
            # Samples that were exchanged now train; those that took their place evaluate.
            X, labels = (np.concatenate(p)[learned.val_rows] for p in ((prepared.X, X), (y, labels)))
        else:
            model = prune_by(model, X, labels, max_loss=max_loss).model
        evaluation.append(scores | {"after": model.score(X, labels), "n_after": len(model.cost_)})
    known = {} if y is None else {"label": samples.label, "rows": models.rows_of(samples)}
    models.save(model, prepared, samples.features, out, **known)
    if cells is not None:
        _write_cells(cells, model.cv_results_)
    what = "features" if distances is None else "distances"
    text = f"{out}: {type(model).__name__}, {n_samples} samples, {len(samples.features)} {what}"
    if y is not None:
        text += f", {len(model.classes_)} class{'es' * (len(model.classes_) != 1)} (largest {largest:.1%})"
    text += f", {seconds:.1f} s"
    facts = {
        "model": out,
        "estimator": type(model).__name__,
        "n_samples": n_samples,
        "n_left_out": len(samples.whole.places) - len(samples.rows.places),
        "features": samples.features,
        "columns": models.rule_facts(encoding),
        "label": samples.label,
        "classes": None if y is None else model.classes_.tolist(),
        "largest_class": largest,
        "seconds": round(seconds, 3),
        **search,
    }
    if evaluation:
        facts |= {"n_kept": len(model.cost_), "evaluation": evaluation}
        text += f"; {len(model.cost_)} samples in the model"
    line = "{file}: accuracy {before:.4f} with {n_before} samples before, {after:.4f} with {n_after} after"
    lines = [text, *models.rule_lines(encoding), *(line.format(**scores) for scores in evaluation)]
    if search:
        balanced = f"balanced accuracy {search['balanced_accuracy']:.4f}"
        lines.append(f"{models.score_text(search)}, {balanced}, with {models.chosen_text(search)}")
    if table is not None:
        lines.append(f"{table}: {len(model.cv_results_['params'])} cells")
    tables.show_facts(facts, lines, as_json)


def _joined(X: tables.Cells, more: tables.Cells) -> tables.Cells:
    """Put two tables that were read the same way one below the other."""
    if isinstance(X, np.ndarray):
        return np.concatenate([X, more])
    return {name: np.concatenate([X[name], more[name]]) for name in X}


def _marked(model: Any, y: np.ma.MaskedArray) -> np.ndarray:
    """Mark the samples without labels by what is not a label of others, unless --set names a mark."""
    if model.unlabeled is None:
        labels = set(y.compressed().tolist())
        free = (mark for mark in count(-1, -1) if mark not in labels)
        model.set_params(unlabeled="" if y.dtype.kind == "U" else next(free))
    return np.where(np.ma.getmaskarray(y), model.unlabeled, y.data)


def _write_cells(out: tables.TableOutput, results: dict[str, Any]) -> None:
    """Write the columns of a search that are worth a look, the best cell first."""
    order = np.argsort(results["rank_test_score"])
    scores = ["rank_test_score", "mean_test_score", "std_test_score"]
    names = [*scores, *(name for name in results if name.startswith("param_")), "mean_test_log_loss", "beta"]
    columns = {name: np.array(np.asarray(results[name])[order].tolist()) for name in names}
    with out.open(names) as write:
        write({name: cells.round(6) if cells.dtype.kind == "f" else cells for name, cells in columns.items()})
