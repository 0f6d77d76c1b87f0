"""What the library is for, measured in under a minute: python examples/demo.py [--out FOLDER].

`make demo` runs it. Wrong labels on three datasets of scikit-learn, one answer explained, and a small version
of the paper's Table I, as one page: report.html in the folder.
"""

from __future__ import annotations

import argparse
import base64
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pathforest
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest._models.explanation import Explanation
from pathforest._pages.page import render
from pathforest._reproduction import statistics
from pathforest._reproduction.experiment import Experiment, Settings
from pathforest._reproduction.run import machine, reproduce, versions
from pathforest._reproduction.tables import score_tables
from pathforest.noise import flip_labels

OURS = "FuzzyOPFClassifierCV"
SHARES = (0.0, 0.2)  # of wrong training labels
DATA = {
    "breast cancer": (load_breast_cancer, 1),
    "wine": (load_wine, 1),
    "digits": (load_digits, 1),
}  # splits
MOST = 400  # training samples
STYLE = Path(pathforest.__file__).parent / "_reproduction" / "report.css"
PACKAGES = ("pathforest", "numpy", "scipy", "scikit-learn", "pandas")
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "wrong_labels.png"


def contestants(n_features: int) -> dict[str, object]:
    """Return what is compared: each tunes itself on the training labels it gets, the wrong ones too."""
    sizes = {"n_neighbors": [1, 3, 5, 9, 15, 25], "weights": ["uniform", "distance"]}
    kernels = {"C": [0.1, 1, 10, 100], "gamma": np.array([1 / 16, 1 / 4, 1, 4]) / n_features}
    return {
        "plain OPF": OPFClassifier(),
        "kNN, tuned": GridSearchCV(KNeighborsClassifier(), sizes),
        "SVM-RBF, tuned": GridSearchCV(SVC(), kernels),
        "random forest": RandomForestClassifier(200, random_state=0, n_jobs=-1),
        OURS: FuzzyOPFClassifierCV(n_jobs=-1),
    }


def measure(data=DATA, most=MOST, contestants=contestants) -> dict[tuple[str, float], dict[str, float]]:
    """Return test accuracy in %, by classifier, share of wrong labels and dataset."""
    scores: dict[tuple[str, float], dict[str, float]] = {}
    for name, (load, n_splits) in data.items():
        X, y = load(return_X_y=True)
        for share in SHARES:
            parts = [split(X, y, share, most, seed) for seed in range(n_splits)]
            for title, model in contestants(X.shape[1]).items():
                right = [
                    model.fit(X_train, noisy).score(X_test, y_test)
                    for X_train, noisy, X_test, y_test in parts
                ]
                scores.setdefault((title, share), {})[name] = 100 * float(np.mean(right))
    return scores


def split(X, y, share, most, seed):
    """Standardise on the training part, and make a share of its labels wrong; test labels stay right."""
    size = min(most, int(0.7 * len(X)))
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    noisy = flip_labels(y_train, share, random_state=seed)
    return scaler.transform(X_train), noisy, scaler.transform(X_test), y_test


def explain_one() -> tuple[Explanation, list[np.ndarray]]:
    """Explain the digit, of those answered right, whose path has the most different costs and fits a page.

    The images are those of the new sample, then of the path to the prototype.
    """
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=MOST, stratify=y, random_state=0)
    reasons = OPFClassifier().fit(X_train, y_train).explain(X_test)
    right = [i for i, reason in enumerate(reasons) if reason.label == y_test[i] and len(reason.path) <= 7]
    i = max(right, key=lambda i: len(set(reasons[i].costs)))
    return reasons[i], [X_test[i], *X_train[reasons[i].path]]


# The page


def report(scores, answer: Explanation, images: list, experiment: Experiment, seconds: float) -> str:
    """Return the text of the page."""
    means = {place: float(np.mean(list(values.values()))) for place, values in scores.items()}
    titles = {0.0: "all labels right", 0.2: "a fifth of the training labels wrong"}
    return render(
        Path(__file__).with_suffix(".html"),
        title="Accurate with wrong labels",
        sections=[
            ("labels", "Wrong labels"),
            ("path", "Why this label?"),
            ("table", "The paper's Table I, in small"),
            ("next", "What next?"),
        ],
        table_style=STYLE.read_text(encoding="utf-8"),
        seconds=seconds,
        ours=OURS,
        means=means,
        best=max((title for title, _ in means), key=lambda title: means[title, 0.2]),
        lost={title: means[title, 0.0] - means[title, 0.2] for title, _ in means},
        percent="{:.1f} %".format,
        picture=base64.b64encode(PICTURE.read_bytes()).decode(),
        chart=chart(means),
        header=["", *next(iter(scores.values())), "mean"],
        accuracies={
            title: [
                [name, *(f"{value:.1f}" for value in (*values.values(), means[name, part]))]
                for (name, part), values in scores.items()
                if part == share
            ]
            for share, title in titles.items()
        },
        most=MOST,
        answer=answer,
        images=images,
        tables=score_tables(statistics.summary(experiment)),
        facts={
            "Time": f"{seconds:.0f} s",
            "Software": ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items()),
            "Machine": machine(),
        },
    )


def chart(means: dict[tuple[str, float], float]) -> dict[str, object]:
    """Place what each classifier loses: from its mean with right labels to that with wrong ones."""
    low, names = int(5 * (min(means.values()) // 5)), [name for name, share in means if share == 0]

    def place(value: float) -> float:
        return round(220 + (value - low) / (100 - low) * 430, 1)

    rows = [
        (name, 26 + 34 * row, place(means[name, 0.0]), place(means[name, 0.2]))
        for row, name in enumerate(names)
    ]
    label = "; ".join(f"{name} {means[name, 0.0]:.1f} and {means[name, 0.2]:.1f}" for name in names)
    ticks = [(tick, place(tick)) for tick in range(low, 101, 5)]
    return {"height": 34 * len(names) + 50, "ticks": ticks, "rows": rows, "label": label}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder of the report")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with a fifth of wrong labels, models warn of what is shown here
        scores = measure()
        answer, images = explain_one()
        # The paper's experiment, on three small sets that need no download.
        experiment = reproduce(Settings(datasets=("cone_torus_like", "iris", "wine"), runs=3), out)
    path = out / "report.html"
    page = report(scores, answer, images, experiment, perf_counter() - start)
    path.write_text(page, encoding="utf-8")
    for title in dict(scores):
        mean = np.mean(list(scores[title].values()))
        print(f"{title[0]:21} {title[1]:4.0%} of the training labels wrong: {mean:5.1f} % right")
    print(f"report: {path}")


if __name__ == "__main__":
    main()
