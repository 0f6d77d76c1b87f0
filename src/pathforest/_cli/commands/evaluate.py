"""`pathforest evaluate`: a model against labelled samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathforest._cli import models, options, tables
from pathforest._cli.options import say
from pathforest._search.representations import take_rows
from pathforest._tables.batches import Batch
from pathforest._tables.columns import as_label
from pathforest._tables.read import open_stream
from pathforest._utils.checks import demand
from pathforest._utils.progress import progress
from pathforest._utils.splits import checksum
from pathforest._utils.text import counted, listed, show

WIDEST = 12  # classes that have their confusions beside their scores


def evaluate(
    model: options.Model,
    data: options.Data,
    *,
    reading: options.Reading,
    distances: str | None = options.DISTANCES,
    jobs: int | None = options.JOBS,
    as_json: bool = options.JSON,
) -> None:
    """Compare a model's predictions with the labels of a file.

    Labels are in the column that the model was trained with, unless --label names another; rows without one
    are left out, and a table that the model was trained with is named as such. Prints accuracy,
    balanced accuracy (the mean recall of the classes), OPF's accuracy, weighted F1, log loss if the model has
    probabilities, the share of the largest class, and per class the samples, the share found (recall) and
    the share of its predictions that are right (precision).

    Examples
    --------
      pathforest evaluate iris.pf test.csv

      pathforest evaluate model.pf testing.dat --json
    """
    loaded = models.load_model(model, distances)
    demand(
        hasattr(loaded.model, "classes_"),
        f"evaluate needs a classifier; {model} is an {type(loaded.model).__name__}",
    )
    classes = loaded.model.classes_
    has_proba = hasattr(loaded.model, "predict_proba")
    true, predicted, chances = [], [], []
    n_rows = rows = 0
    with open_stream(data, n_features=loaded.n_features, **reading.format) as stream:
        column = tables.find_label(stream, reading.label, known=loaded.label)
        batches = models.new_samples(loaded, stream, reading.label, distances)
        with progress(np.inf, "evaluated", "samples") as bar, models.threads(jobs):
            for batch, features, X in batches:
                n_rows += len(batch.places)
                known = np.flatnonzero(tables.is_labelled(batch, column))
                if len(known) < len(batch.places):
                    batch, features, X = batch.take(known), take_rows(features, known), take_rows(X, known)
                if not len(known):
                    continue
                codes = _codes(classes, batch, column)
                rows += checksum([*features.values(), classes[codes].astype(str)])
                true.append(codes)
                if has_proba:
                    labels, found = loaded.model._labels_and_probabilities(X)
                    chances.append(found[np.arange(len(codes)), codes])
                else:
                    labels = loaded.model.predict(X)
                predicted.append(np.searchsorted(classes, labels))
                bar.update(len(codes))
    demand(n_rows, f"{data}: there is no sample")
    demand(true, f"{data}: column {show(column)} is empty; name the column of labels with --label")
    facts = _facts(classes, np.concatenate(true), np.concatenate(predicted))
    facts["n_left_out"] = n_rows - facts["n_samples"]
    tables.say_left_out(facts["n_left_out"], n_rows, column)
    facts["is_training_table"] = getattr(loaded.model, "_fit_rows", None) == str(rows % 2**64)
    if facts["is_training_table"]:
        say(
            f"warning: {model} was trained with these rows, so the scores are not those of new samples; hold "
            "some out beforehand, as with convert --parts"
        )
    if has_proba:
        # As in scikit-learn's log_loss: a sample that was thought impossible does not cost infinity.
        chance = np.clip(np.concatenate(chances), np.finfo(float).eps, 1)
        facts["log_loss"] = float(np.log(1 / chance).mean())
    if not as_json:
        _show_classes(facts)
    names = ("accuracy", "balanced_accuracy", "opf_accuracy", "f1_weighted", "log_loss")
    text = ", ".join(f"{name} {facts[name]:.4f}" for name in names if name in facts)
    largest = f"largest class {facts['largest_class']:.1%}"
    tables.show_facts(facts, [f"{counted(facts['n_samples'], 'sample')} ({largest}): {text}"], as_json)


def _codes(classes: np.ndarray, batch: Batch, name: str) -> np.ndarray:
    """Return the positions of labels among a model's classes; an unknown label is an error."""
    codes = {str(label): code for code, label in enumerate(classes.tolist())}
    of_integers = classes.dtype.kind in "iu"
    texts = [as_label(str(label), of_integers=of_integers) for label in tables.known_labels(batch, name)]
    unknown = next((i for i, text in enumerate(texts) if text not in codes), None)
    if unknown is not None:
        raise ValueError(
            f"{batch.stream.name}: {batch.stream.place} {batch.places[unknown]}, column {show(name)}: "
            f"{show(texts[unknown])} is not a class of the model; it knows {listed(codes)}"
        )
    return np.array([codes[text] for text in texts], dtype=np.intp)


def _facts(classes: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

    from pathforest.metrics import opf_accuracy

    codes = np.arange(len(classes))
    scores = precision_recall_fscore_support(true, predicted, labels=codes, zero_division=np.nan)
    precision, recall, _, own = (score.tolist() for score in scores)
    f1 = f1_score(true, predicted, average="weighted", zero_division=0)  # of classes not in the file
    return {
        "n_samples": len(true),
        "accuracy": float((true == predicted).mean()),
        "balanced_accuracy": float(np.nanmean(recall)),
        "largest_class": max(own) / len(true),
        "opf_accuracy": opf_accuracy(true, predicted),
        "f1_weighted": float(f1),
        "classes": classes.tolist(),
        "samples": own,
        "recall": recall,  # NaN of nothing, as is precision
        "precision": precision,
        "confusion": confusion_matrix(true, predicted, labels=codes).tolist(),
    }


def _show_classes(facts: dict[str, Any]) -> None:
    names = [str(label) for label in facts["classes"]]
    shares = (facts["recall"], facts["precision"])
    shown = [["-" if np.isnan(share) else f"{share:.4f}" for share in found] for found in shares]
    columns = [names, list(map(str, facts["samples"])), *shown]
    header = ["class", "samples", "recall", "precision"]
    if len(names) <= WIDEST:
        header += [f"as {name}" for name in names]
        columns += [list(map(str, column)) for column in zip(*facts["confusion"], strict=True)]
    tables.show_table(header, list(zip(*columns, strict=True)))
