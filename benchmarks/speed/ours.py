"""Our side of the benchmark: each piece of work the bars are set for."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.speed.contender import Contender, accuracy, cluster_agreement
from benchmarks.speed.data import Problem
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFSemiSupervisedClassifier,
    find_issues,
)
from pathforest.distances import make_engine
from pathforest.fuzzy import TrainingErrorWarning
from pathforest.graph import knn_graph
from pathforest.membership import search_k

K_MAX = 100
SHARE_OF_LABELS = 0.05
SCORED_QUERIES = 2000  # enough to detect a wrong model; the prediction rows score all queries
# The paper's grid, its largest neighbourhood, and its proportion of evaluation to training samples.
PAPER_GRID = {
    "k_max": (1, *range(10, 151, 10)),
    "sigmas": (0.2, 0.4, 0.6, 0.8, 1.0, 1.2),
    "competitions": "complete",
    "n_conquerors": 1,
    "transforms": None,
    "n_best": 1,
}
PAPER_EVALUATION = 3  # training samples per evaluation sample

# Expected on overlapping classes; the training error is part of the score.
warnings.simplefilter("ignore", TrainingErrorWarning)

ours = partial(Contender, "pathforest")


def _score_model(problem: Problem, model: Any) -> dict[str, float]:
    right = model.predict(problem.queries[:SCORED_QUERIES]) == problem.answers[:SCORED_QUERIES]
    return {"accuracy": float(right.mean()), "training_error": float(model.training_error_)}


def fit(estimator: type, **params: Any) -> Contender:
    """Training of an estimator."""
    return ours(lambda p, threads: partial(estimator(n_jobs=threads, **params).fit, p.X, p.y), _score_model)


def _prepare_few_labels(problem: Problem, threads: int) -> Callable[[], Any]:
    is_labelled = np.random.default_rng(0).random(len(problem.y)) < SHARE_OF_LABELS
    known = np.where(is_labelled, problem.y, -1)
    return partial(OPFSemiSupervisedClassifier(n_jobs=threads).fit, problem.X, known)


def predict(method: str, make: Callable[[Problem, int], Any]) -> Contender:
    """Answers of a fitted model."""

    def score(problem: Problem, answer: np.ndarray) -> dict[str, float]:
        return accuracy(problem, answer if answer.ndim == 1 else np.unique(problem.y)[answer.argmax(axis=1)])

    return ours(lambda p, threads: partial(getattr(make(p, threads), method), p.queries), score)


def _fitted(problem: Problem, threads: int) -> OPFClassifier:
    return OPFClassifier(n_jobs=threads).fit(problem.X, problem.y)


def _nearest_of_first(n_classes: int, problem: Problem) -> np.ndarray:
    return make_engine(problem.X[:n_classes]).query(problem.X, 1)[1][:, 0]


def _predict_classes(n_classes: int, problem: Problem, threads: int) -> Callable[[], Any]:
    model = OPFClassifier(n_conquerors=5, n_jobs=threads)
    return partial(model.fit(problem.X, _nearest_of_first(n_classes, problem)).predict, problem.queries)


def _find_in_classes(n_classes: int, problem: Problem, threads: int) -> Callable[[], Any]:
    labels = _nearest_of_first(n_classes, problem)
    return partial(find_issues, problem.X, labels, method="fast", n_jobs=threads)


def _searched(problem: Problem, threads: int) -> FuzzyOPFClassifierCV:
    return FuzzyOPFClassifierCV(transforms=None, n_jobs=threads).fit(problem.X, problem.y)


def _prepare_k_search(problem: Problem, threads: int) -> Callable[[], Any]:
    graph = knn_graph(make_engine(problem.X), K_MAX, threads)
    return partial(search_k, graph, K_MAX, n_threads=threads)


def _prepare_grid(problem: Problem, threads: int) -> Callable[[], Any]:
    n, m = len(problem.X), len(problem.X) // PAPER_EVALUATION
    X = np.concatenate([problem.X, problem.queries[:m]])
    y = np.concatenate([problem.y, problem.answers[:m]])
    pair = np.arange(n), np.arange(n, n + m)
    return partial(FuzzyOPFClassifierCV(**PAPER_GRID, cv=[pair], refit=False, n_jobs=threads).fit, X, y)


def _prepare_single(problem: Problem, threads: int) -> Callable[[], Any]:
    Q = problem.queries[: len(problem.X) // PAPER_EVALUATION]
    model = FuzzyOPFClassifier(k_max=max(PAPER_GRID["k_max"]), n_jobs=threads)
    return lambda: model.fit(problem.X, problem.y).predict(Q)


def _from_the_same(model: OPFClassifier, method: str, *args: Any) -> Callable[[], Any]:
    """Let each call start from the same model."""
    before = dict(vars(model))

    def call() -> Any:
        vars(model).update(before)
        return getattr(model, method)(*args)

    return call


def grow(n_new: int) -> Contender:
    """Add samples to a model of all."""

    def prepare(problem: Problem, threads: int) -> Callable[[], Any]:
        model = OPFClassifier(n_jobs=threads).partial_fit(problem.X[:-1], problem.y[:-1])
        model.partial_fit(problem.X[-1:], problem.y[-1:])  # from here on there is room for more
        return _from_the_same(model, "partial_fit", problem.queries[-n_new:], problem.answers[-n_new:])

    return ours(prepare, _score_model)


def _prepare_forgetting(problem: Problem, threads: int) -> Callable[[], Any]:
    leaving = np.random.default_rng(0).choice(len(problem.X), 1000, replace=False)
    model = OPFClassifier(n_jobs=threads).partial_fit(problem.X, problem.y)
    return _from_the_same(model, "forget", leaving)


def _prepare_batches(problem: Problem, threads: int) -> Callable[[], Any]:
    def call() -> Any:
        model = OPFClassifier(n_jobs=threads)
        for start in range(0, len(problem.X), 100):
            model.partial_fit(problem.X[start : start + 100], problem.y[start : start + 100])
        return model

    return call


def both(**params: Any) -> Contender:
    """Training and prediction."""
    return ours(lambda p, threads: lambda: OPFClassifier(**params).fit(p.X, p.y).predict(p.queries), accuracy)


OURS = {
    "OPFClassifier.fit": fit(OPFClassifier),
    "OPFClassifier.fit, cosine": fit(OPFClassifier, metric="cosine"),
    "OPFClustering.fit": ours(
        lambda p, threads: partial(OPFClustering(n_jobs=threads).fit_predict, p.X), cluster_agreement
    ),
    "FuzzyOPFClassifier.fit, complete": fit(FuzzyOPFClassifier, n_neighbors=K_MAX, competition="complete"),
    "FuzzyOPFClassifier.fit, tree": fit(FuzzyOPFClassifier, n_neighbors=K_MAX, competition="tree"),
    "FuzzyOPFClassifier.fit, k* search": fit(FuzzyOPFClassifier, k_max=K_MAX),
    "FuzzyOPFClassifier.fit, tree, k_max=30": fit(FuzzyOPFClassifier, k_max=30, competition="tree"),
    "FuzzyOPFClassifierCV.fit": fit(FuzzyOPFClassifierCV),
    "FuzzyOPFClassifierCV.predict": predict("predict", _searched),
    "its best model's predict": predict("predict", lambda p, threads: _searched(p, threads).best_estimator_),
    "OPFSemiSupervisedClassifier.fit": ours(_prepare_few_labels, _score_model),
    "k* search alone": ours(
        _prepare_k_search, lambda problem, found: {"best_k": found[0], "tried": len(found[1])}
    ),
    "predict": predict("predict", _fitted),
    **{
        f"{work}, {n:,} classes": ours(partial(prepare, n), lambda p, answer: {})
        for work, prepare in (("predict", _predict_classes), ("find_issues", _find_in_classes))
        for n in (10, 3000)
    },
    "predict_proba": predict("predict_proba", _fitted),
    "search of the paper's grid": ours(
        _prepare_grid,
        lambda problem, model: {
            "best accuracy": model.best_score_,
            "cells": len(model.cv_results_["params"]),
        },
    ),
    "one model with k_max=150, fit + predict": ours(
        _prepare_single, lambda p, labels: {"accuracy": float(np.mean(labels == p.answers[: len(labels)]))}
    ),
    "partial_fit, 1 sample": grow(1),
    "partial_fit, 1,000 samples": grow(1000),
    "partial_fit, batches of 100": ours(_prepare_batches, _score_model),
    "forget, 1,000 samples": ours(_prepare_forgetting, _score_model),
    "fit + predict": both(metric="log_sqeuclidean", n_jobs=1),  # OPFython's way
    "fit + predict, defaults": both(),
}
