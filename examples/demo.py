"""What the library is for, measured in under a minute: python examples/demo.py [--out FOLDER].

`make demo` runs it. Wrong labels on three datasets of scikit-learn, one answer explained, and a small version
of the paper's Table I, as one page: report.html in the folder.
"""

from __future__ import annotations

import argparse
import base64
import warnings
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest._page.document import (
    Section,
    cards,
    commands,
    document,
    facts,
    findings,
    paragraph,
    scrolling_table,
)
from pathforest.noise import flip_labels
from pathforest.reproduction import provenance
from pathforest.reproduction.experiment import Experiment, Settings
from pathforest.reproduction.layout import html_table
from pathforest.reproduction.runner import reproduce
from pathforest.reproduction.tables import score_grids

OURS = "FuzzyOPFClassifierCV"
SHARES = (0.0, 0.2)  # of wrong training labels
DATA = {
    "breast cancer": (load_breast_cancer, 2),
    "wine": (load_wine, 2),
    "digits": (load_digits, 1),
}  # splits
MOST = 400  # training samples
PICTURES = Path(__file__).parents[1] / "docs" / "images"
STYLE = """
.chart { width: 100%; max-width: 46rem; height: auto; font-size: 16px; }
.chart text { fill: var(--ink); }
.chart .grid { stroke: var(--grid); }
.chart .loss { stroke: var(--muted); stroke-width: 3; }
.chart .clean { fill: var(--paper); stroke: var(--accent); stroke-width: 2; }
.chart .noisy { fill: var(--accent); }
.chart .ours { font-weight: 700; }
.story img { max-width: 100%; height: auto; border-radius: 0.6rem; }
.steps { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; padding: 0; list-style: none; }
.steps svg { display: block; width: 6rem; height: 6rem; background: var(--panel); fill: var(--ink); }
.steps li { width: 6rem; color: var(--muted); font-size: 0.85rem; line-height: 1.35; }
"""


class Answer(NamedTuple):
    """One prediction and the images along its path."""

    label: int
    offer: float
    rival: int  # the class with the next cheapest offer
    rival_offer: float
    images: list[np.ndarray]  # the new sample, then the path to the prototype
    costs: list[float]  # of the samples on the path


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


def explain_one() -> Answer:
    """Explain the digit, of those answered right, whose path has the most different costs and fits a page."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=MOST, stratify=y, random_state=0)
    model = OPFClassifier().fit(X_train, y_train)
    reasons = model.explain(X_test)
    right = [i for i, reason in enumerate(reasons) if reason.label == y_test[i] and len(reason.path) <= 7]
    i = max(right, key=lambda i: len(set(reasons[i].costs)))
    reason, offers = reasons[i], model.class_costs(X_test[i : i + 1])[0]
    rival = int(np.argsort(offers)[1])
    images = [X_test[i], *X_train[reason.path]]
    return Answer(
        int(reason.label), reason.offer, int(model.classes_[rival]), offers[rival], images, reason.costs
    )


def small_table(out: Path) -> Experiment:
    """Repeat the paper's experiment on three small sets that need no download."""
    return reproduce(Settings(datasets=("cone_torus_like", "iris", "wine"), runs=3), out)


# The page


def report(scores, answer: Answer, experiment: Experiment, seconds: float) -> str:
    """Return the text of the page."""
    means = {place: float(np.mean(list(values.values()))) for place, values in scores.items()}
    sections = [
        Section("labels", "Wrong labels", "\n".join(wrong_labels(scores, means))),
        Section("path", "Why this label?", "\n".join(explained(answer))),
        Section("table", "The paper's Table I, in small", "\n".join(table_one(experiment))),
        Section("next", "What next?", "\n".join(what_next(seconds))),
    ]
    style = (files("pathforest.reproduction") / "style.css").read_text(encoding="utf-8") + STYLE
    lead = f"pathforest in short: all but the first picture was measured just now, in {seconds:.0f} s."
    return document("Accurate with wrong labels", lead, sections, style=style)


def wrong_labels(scores, means) -> Iterable[str]:
    lost = {title: means[title, 0.0] - means[title, 0.2] for title, _ in means}
    yield cards(
        [
            (f"{means[OURS, 0.2]:.1f} %", f"{OURS}, a fifth of the training labels wrong"),
            (f"{means['plain OPF', 0.2]:.1f} %", "plain OPF, the same labels"),
            (f"{means['random forest', 0.2]:.1f} %", "random forest, the same labels"),
        ]
    )
    yield picture()
    best = max((title for title, _ in means), key=lambda title: means[title, 0.2])
    yield findings(
        [
            (
                "What do wrong labels do?",
                f"Plain OPF trusts every label and loses {lost['plain OPF']:.1f} points; {OURS} loses "
                f"{lost[OURS]:.1f}. It chooses by cross-validation how many paths vote.",
            ),
            ("Who is best here?", f"{best}, with {means[best, 0.2]:.1f} %."),
        ]
    )
    yield chart(means)
    names = list(next(iter(scores.values())))
    header = "".join(f'<th scope="col">{escape(text)}</th>' for text in ("", *names, "mean"))
    for share, title in zip(
        SHARES, ("all labels right", "a fifth of the training labels wrong"), strict=True
    ):
        rows = (
            f'<th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{value:.1f}</td>" for value in [*values.values(), means[name, part]])
            for (name, part), values in scores.items()
            if part == share
        )
        yield scrolling_table(f"Test accuracy in %, {title}", header, rows)
    yield paragraph(
        "Test labels are right. Features are standardised on the training part (at most "
        f"{MOST} samples); breast cancer and wine are means of two splits, digits is one. "
        "These few sets come with scikit-learn; 19 tables that nothing was chosen on are in "
        "docs/guide/fuzzy_cv.md."
    )


def picture() -> str:
    """Show the two moons of the README, in the scheme of the reader."""
    light, dark = (
        base64.b64encode((PICTURES / f"wrong_labels_{theme}.png").read_bytes()).decode()
        for theme in ("light", "dark")
    )
    return (
        '<figure class="story"><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,{dark}">'
        f'<img alt="Plain OPF has islands around wrong labels, {OURS} clean regions." '
        f'src="data:image/png;base64,{light}"></picture><figcaption>Two half-moons, a fifth of the labels '
        "wrong (ringed); the scores are those of right test labels. Drawn by docs/pictures.py."
        "</figcaption></figure>"
    )


def chart(means: dict[tuple[str, float], float]) -> str:
    """Draw what each classifier loses: from its mean with right labels to that with wrong ones."""
    low, width, left, step = 5 * (min(means.values()) // 5), 430, 220, 34
    names = [name for name, share in means if share == 0]

    def place(value: float) -> float:
        return round(left + (value - low) / (100 - low) * width, 1)

    height = step * len(names) + 50
    parts = []
    for tick in range(int(low), 101, 5):
        x = place(tick)
        parts.append(f'<path class="grid" d="M{x} 10V{height - 40}"/>')
        parts.append(f'<text x="{x}" y="{height - 22}" text-anchor="middle">{tick}</text>')
    for row, name in enumerate(names):
        y, clean, noisy = 26 + step * row, means[name, 0.0], means[name, 0.2]
        kind = ' class="ours"' if name == OURS else ""
        parts.append(f'<text{kind} x="{left - 14}" y="{y + 5}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<path class="loss" d="M{place(clean)} {y}H{place(noisy)}"/>')
        parts.append(f'<circle class="clean" cx="{place(clean)}" cy="{y}" r="6"/>')
        parts.append(f'<circle class="noisy" cx="{place(noisy)}" cy="{y}" r="6"/>')
    parts.append(f'<text x="{left}" y="{height - 4}">mean test accuracy, %</text>')
    label = "; ".join(f"{name} {means[name, 0.0]:.1f} and {means[name, 0.2]:.1f}" for name in names)
    return (
        f'<figure><svg class="chart" viewBox="0 0 680 {height}" role="img" '
        f'aria-label="Accuracy with right and wrong labels: {escape(label)}">{"".join(parts)}</svg>'
        "<figcaption>Open: all training labels right. Filled: a fifth of them wrong.</figcaption></figure>"
    )


def explained(answer: Answer) -> Iterable[str]:
    n = len(answer.costs)
    yield paragraph(
        f"A forest can say why. This digit is a {answer.label}, because the training sample next to it made "
        f"the cheapest offer, {answer.offer:.3g}; class {answer.rival} is next, {answer.rival_offer:.3g}. "
        f"From there {n} training samples lead to a prototype, a digit where classes meet. A path costs as "
        "much as its longest step."
    )
    titles = ["the new digit", *(f"cost {cost:.3g}" for cost in answer.costs[:-1]), "cost 0: the prototype"]
    items = "".join(
        f"<li>{digit_svg(image)}{escape(title)}</li>"
        for image, title in zip(answer.images, titles, strict=True)
    )
    yield f'<ol class="steps">{items}</ol>'


def digit_svg(image: np.ndarray) -> str:
    pixels = "".join(
        f'<path fill-opacity="{value / 16:.2f}" d="M{i % 8} {i // 8}h1v1h-1z"/>'
        for i, value in enumerate(image)
        if value
    )
    return f'<svg viewBox="0 0 8 8" aria-hidden="true">{pixels}</svg>'


def table_one(experiment: Experiment) -> Iterable[str]:
    yield paragraph(
        "The experiment of the Fuzzy OPF paper (de Souza et al., 2019) on three sets that need no download, "
        "three runs each, all labels right. The command pathforest reproduce repeats it on the paper's ten "
        "public sets, next to the published numbers; docs/using/reproducing.md has the results."
    )
    yield from map(html_table, score_grids(experiment))


def what_next(seconds: float) -> Iterable[str]:
    yield commands(
        "Six lines to start with",
        "from pathforest import FuzzyOPFClassifierCV, find_issues\n\n"
        "model = FuzzyOPFClassifierCV().fit(X_train, y_train)\n"
        "model.predict(X_test)\n"
        "model.explain(X_test)  # the path behind each answer\n"
        "find_issues(X_train, y_train).suspects  # labels that are probably wrong",
    )
    software = ", ".join(f"{name} {number}" for name, number in provenance.versions().items())
    yield facts(
        [("Time", f"{seconds:.0f} s"), ("Software", software), ("Machine", provenance.machine())],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder of the report")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with a fifth of wrong labels, models warn of what is shown here
        scores = measure()
        answer, experiment = explain_one(), small_table(out)
    path = out / "report.html"
    path.write_text(report(scores, answer, experiment, perf_counter() - start), encoding="utf-8")
    for title in dict(scores):
        mean = np.mean(list(scores[title].values()))
        print(f"{title[0]:21} {title[1]:4.0%} of the training labels wrong: {mean:5.1f} % right")
    print(f"report: {path}")


if __name__ == "__main__":
    main()
