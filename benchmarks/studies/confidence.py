"""Do confidence or calibration improve the probabilities of OPF: python -m benchmarks.studies.confidence.

Confidence, after Fernandes and Papa: a training sample is as reliable as the share of its conquests that are
right, when each of five folds is classified from the others; one that conquers none has confidence 1. Its
offers are divided by its confidence, so that unreliable samples offer more. Calibration: the class costs of
the same five folds give a beta, or the coefficients of a logistic regression on the logarithms of the costs;
beside them stand scikit-learn's own calibrators, and what the package has already: a beta and a number of
conquerors chosen by log loss. The datasets, splits and thinning are those of the accuracy
experiment, with clean labels. Everything is chosen inside the training part.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.studies.accuracy import log_loss
from benchmarks.studies.problems import LOCAL, Data, announce, problems, split
from benchmarks.tables import head, line, parser
from pathforest import OPFClassifier
from pathforest._models.offers import probabilities

FOLDS = 5
BETAS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
CONQUERORS = (1, 2, 3, 5, 8, 13, 21, 34)  # those of FuzzyOPFClassifierCV
LEAST_CONFIDENCE = 0.01  # an offer divided by 0 would be none
Costs = Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]  # (X, y, Q, seed) -> class costs of Q


def folds(y: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """List the folds; classes too small for them are spread as far as they go."""
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def mean_costs(r: int) -> Costs:
    """Return the class costs of plain OPF with `r` conquerors."""
    return lambda X, y, Q, seed: OPFClassifier(n_conquerors=r).fit(X, y).class_costs(Q)


plain_costs = mean_costs(1)


def several_conquerors(X: np.ndarray, y: np.ndarray, Q: np.ndarray, seed: int) -> np.ndarray:
    """Probabilities with the number of conquerors and the beta that have the smallest held-out log loss."""
    classes, best = np.unique(y), (np.inf, 1, 8.0)
    for r in CONQUERORS:
        held_out = held_out_costs(mean_costs(r), X, y, seed)
        for beta in BETAS:
            best = min(best, (log_loss(probabilities(held_out, beta), classes, y), r, beta))
    return probabilities(mean_costs(best[1])(X, y, Q, seed), best[2])


def confidence(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Share of the conquests of each sample that are right, 1 for those without any."""
    right, wrong = np.zeros(len(y)), np.zeros(len(y))
    for train, val in folds(y, seed):
        model = OPFClassifier().fit(X[train], y[train])
        conqueror = train[[explanation.conqueror for explanation in model.explain(X[val])]]
        np.add.at(right, conqueror[y[conqueror] == y[val]], 1)
        np.add.at(wrong, conqueror[y[conqueror] != y[val]], 1)
    total = right + wrong
    return np.divide(right, total, out=np.ones(len(y)), where=total > 0)


def confident_costs(X: np.ndarray, y: np.ndarray, Q: np.ndarray, seed: int) -> np.ndarray:
    """Smallest offer of each class, divided by the confidence of who makes it."""
    model = OPFClassifier().fit(X, y)
    factor = np.maximum(confidence(X, y, seed), LEAST_CONFIDENCE)
    distances = np.sqrt(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    offers = np.maximum(model.cost_, distances) / factor
    return np.column_stack([offers[:, y == c].min(axis=1) for c in model.classes_])


def held_out_costs(costs: Costs, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Class costs of every training sample, from a model that did not see it."""
    classes = np.unique(y)
    held_out = np.full((len(y), len(classes)), np.inf)
    for train, val in folds(y, seed):
        known = np.searchsorted(classes, np.unique(y[train]))
        held_out[np.ix_(val, known)] = costs(X[train], y[train], X[val], seed)
    return held_out


def best_beta(costs: np.ndarray, y: np.ndarray) -> float:
    """Beta with the smallest log loss."""
    return min(BETAS, key=lambda beta: log_loss(probabilities(costs, beta), np.unique(y), y))


def logarithms(costs: np.ndarray, floor: float, ceiling: float) -> np.ndarray:
    """Logarithms of the costs less their mean: like the probabilities, they ignore the unit of distance."""
    values = np.log(np.clip(costs, floor, ceiling))
    return values - values.mean(axis=1, keepdims=True)


def logistic(held_out: np.ndarray, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Probabilities by logistic regression on the logarithms of the costs."""
    usable = held_out[np.isfinite(held_out) & (held_out > 0)]
    ends = 1e-3 * np.median(usable), usable.max()
    model = LogisticRegression(max_iter=1000).fit(logarithms(held_out, *ends), y)
    return model.predict_proba(logarithms(costs, *ends))


def sklearn_calibrated(method: str, X: np.ndarray, y: np.ndarray, Q: np.ndarray, seed: int) -> np.ndarray:
    """Probabilities of scikit-learn's calibration on the same folds."""
    model = CalibratedClassifierCV(OPFClassifier(), method=method, cv=folds(y, seed), ensemble=False)
    return model.fit(X, y).predict_proba(Q)


def losses(data: Data, name: str, repeat: int) -> dict[str, tuple[float, float]]:
    """Log loss and accuracy of every variant on one split."""
    X, y, Q, answers, seed = split(data, name, repeat)
    plain, confident = plain_costs(X, y, Q, seed), confident_costs(X, y, Q, seed)
    held_out, confident_out = (held_out_costs(f, X, y, seed) for f in (plain_costs, confident_costs))
    given = {
        "plain": probabilities(plain, 8.0),
        "beta": probabilities(plain, best_beta(held_out, y)),
        "n_conquerors, beta": several_conquerors(X, y, Q, seed),
        "confidence": probabilities(confident, 8.0),
        "confidence, beta": probabilities(confident, best_beta(confident_out, y)),
        "logistic": logistic(held_out, y, plain),
        "sigmoid": sklearn_calibrated("sigmoid", X, y, Q, seed),
        "isotonic": sklearn_calibrated("isotonic", X, y, Q, seed),
    }
    classes = np.unique(y)
    return {
        variant: (log_loss(p, classes, answers), float(np.mean(classes[p.argmax(axis=1)] == answers)))
        for variant, p in given.items()
    }


def main() -> None:
    """Print the log losses of every dataset, then how often each variant is better than the plain one."""
    options = parser("benchmarks.studies.confidence", __doc__)
    options.add_argument("--repeats", type=int, default=10, help="splits of each dataset")
    options.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    args = options.parse_args()
    print(announce(args.only), file=sys.stderr)
    warnings.filterwarnings("ignore", message="The least populated class")
    loss, right = {}, {}
    for name, load in problems().items():
        if args.only in name:
            runs = [losses(load(), name, repeat) for repeat in range(args.repeats)]
            if not loss:
                print(head(["set", *runs[0]]))
            loss[name], right[name] = (
                {v: np.mean([run[v][i] for run in runs]) for v in runs[0]} for i in (0, 1)
            )
            print(line([name, *(f"{mean:.3f}" for mean in loss[name].values())]), flush=True)
    summarise(pd.DataFrame(loss).T, pd.DataFrame(right).T)


def summarise(loss: pd.DataFrame, right: pd.DataFrame) -> None:
    """Count the datasets on which each variant is better, and test the differences over datasets."""
    public = [name for name in loss.index if name not in LOCAL]
    for rival in ("plain", "beta", "n_conquerors, beta"):
        for names, where in ((public, "generated and scikit-learn's"), (list(loss.index), "all")):
            here = loss.loc[names]
            own = here[rival]
            won = [f"{(here[variant] < own).sum()}" for variant in here]
            print(line([f"better than {rival}, of {len(names)} ({where})", *won]))
            p = [f"{wilcoxon(here[v], own).pvalue:.3f}" if v != rival else "" for v in here]
            print(line(["Wilcoxon p of that", *p]))
    for title, values in (("mean log loss", loss), ("mean accuracy", right)):
        print(line([title, *(f"{mean:.3f}" for mean in values.mean())]))


if __name__ == "__main__":
    main()
