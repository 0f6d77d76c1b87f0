"""The page to give labels, with neighbour lists, a map and cells of the samples, and what its labels say."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from pathforest import _core
from pathforest._engines.engine import Engine
from pathforest._engines.samples import validated
from pathforest._pages.decisions import LABEL_COLUMNS
from pathforest._pages.images import Show
from pathforest._pages.map import COLOURS, bounds, plane
from pathforest._pages.page import number, render, visible
from pathforest._utils.files import replace_file
from pathforest._utils.text import escape
from pathforest.clustering import OPFClustering
from pathforest.distances import make_engine
from pathforest.forest import balancing_factors, grow_forest_geodesic
from pathforest.graph import KnnGraph, knn_graph
from pathforest.semi_supervised import OPFSemiSupervisedClassifier

HERE = Path(__file__).parent
MOST = 50_000  # samples of a page
NEIGHBORS = 10  # as OPFSemiSupervisedClassifier has by default
ELSEWHERE = 32  # nearest samples of other components that a page knows; of more components, also the features
SCOUTED = 64  # neighbours among which they are looked for then
FEATURES = 5_000_000  # at most so many values
TSNE = 2000  # samples that have a map by t-SNE
IMAGES = 40_000_000  # bytes of images
GIVEN, DECIDED, FLOWED, JOINED = "given", "decided", "flowed", "joined"  # how labels came


class Sheet(NamedTuple):
    """A table as the page shows it."""

    name: str  # of the file
    place: str  # what its places count: line or row
    places: Sequence[int]  # of the samples in the file
    columns: Mapping[str, Sequence[str]]  # cells, without those of the labels
    label: str  # the column of labels
    fingerprint: str


def label_page(
    X: Any,
    y: Any,
    path: str | PathLike[str],
    *,
    unlabeled: Any = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    coordinates: Any = None,
    n_jobs: int | None = None,
) -> None:
    """Write a page on which a person gives a few labels and watches them flow to all samples.

    The page is one HTML file that works in a browser, without a server or a network. It asks for the samples
    that would teach most, and shows the labels of :class:`OPFSemiSupervisedClassifier`, with its defaults,
    after each that is given.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        From 2 to 50,000 samples. Scale the features first; :class:`TablePreprocessor` makes numbers of a
        table with text and gaps.
    y : array-like of shape (n_samples,), or None
        Labels that are known, and `unlabeled` for samples without one. None if no label is known.
    path : path-like
        The HTML file.
    unlabeled : label, default=None
        The value in y that marks a sample without a label, of the same type as the labels. None means -1
        among numbers and ``""`` among texts.
    columns : mapping or DataFrame, default=None
        What the page shows of each sample, such as texts, by name; None means the features.
    coordinates : array-like of shape (n_samples, 2), default=None
        Places on the map. None means t-SNE for up to 2,000 samples, principal components for more.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.

    See Also
    --------
    OPFSemiSupervisedClassifier : What spreads the labels.
    find_issues : Labels that are probably wrong.

    Notes
    -----
    The page exports the given labels as a CSV file with the columns ``row`` (from 0), ``label`` and
    ``table``, and says with which lines they lead to all labels. They stay in the browser's storage too, for
    this X and y.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathforest import label_page
    >>> folder = tempfile.mkdtemp()
    >>> label_page([[0.0], [1.0], [5.0], [6.0]], ["a", "", "", ""], os.path.join(folder, "page.html"))
    >>> os.listdir(folder)
    ['page.html']
    """
    names = [str(name) for name in getattr(X, "columns", ())]
    X = validated(OPFSemiSupervisedClassifier(), X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    names = names or [f"x{j}" for j in range(X.shape[1])]
    y = np.full(len(X), "") if y is None else column_or_1d(y)
    check_consistent_length(X, y)
    mark = OPFSemiSupervisedClassifier(unlabeled=unlabeled)._mark(y)
    labels = [None if label == mark else str(label) for label in y.tolist()]
    shown, write = (zip(names, X.T, strict=True), number) if columns is None else (columns.items(), str)
    cells = {str(name): list(map(write, np.asarray(column).tolist())) for name, column in shown}
    if coordinates is not None:
        coordinates = check_array(coordinates, dtype=np.float64), ("given", "given")
    for values in (*cells.values(), *(coordinates or ())[:1]):
        check_consistent_length(X, values)
    table = hashlib.sha256(np.ascontiguousarray(X).tobytes() + json.dumps(labels).encode()).hexdigest()
    text = label_html(
        Sheet("samples", "sample", range(len(X)), cells, "y", f"sha256:{table[:16]}"),
        X,
        labels,
        of_integers=y.dtype.kind in "iu",
        commands=[
            'given = pandas.read_csv("decisions.csv")',
            'y[given["row"]] = given["label"]',
            "labels = OPFSemiSupervisedClassifier().fit(X, y).transduction_",
        ],
        drawn=coordinates or map_of(X, names),
        n_jobs=n_jobs,
    )
    replace_file(path, text.encode("utf-8", "backslashreplace"))


class Flow(NamedTuple):
    """What labels say of all samples."""

    codes: np.ndarray  # of the classes
    is_joined: np.ndarray  # whether a sample has its label without a path, from the nearest that has one
    confidence: np.ndarray


def flow(Z: np.ndarray, codes: np.ndarray, n_threads: int = 1) -> Flow:
    """Let labels flow as OPFSemiSupervisedClassifier does by default; `codes` are -1 without a label."""
    engine, graph = _graph(Z, n_threads)
    labelled = np.flatnonzero(codes >= 0)
    factors = balancing_factors(graph, labelled, codes[labelled])
    forest = grow_forest_geodesic(engine, graph, labelled, factors[codes], n_threads)
    costs = np.empty((len(factors), len(codes)))
    for code, factor in enumerate(factors.tolist()):
        seeds = np.flatnonzero(codes == code).astype(np.int32)
        costs[code] = factor * _core.geodesic_paths(*graph, seeds, np.ones(len(seeds)))[0]
    best, found = costs.min(axis=0), codes[forest.root]
    ratios = np.divide(best, costs, out=np.ones_like(costs), where=costs != best)
    weights = ratios**8  # as predict_proba has it by default
    confidence = weights[found, np.arange(len(codes))] / weights.sum(axis=0)
    is_joined = np.isinf(best)
    return Flow(found, is_joined, np.where(is_joined, 0.0, np.where(codes >= 0, 1.0, confidence)))


def _graph(Z: np.ndarray, n_threads: int) -> tuple[Engine, KnnGraph]:
    engine = make_engine(Z, "sqeuclidean")
    return engine, knn_graph(engine, min(NEIGHBORS, len(Z) - 1), n_threads)


def flow_arrays(Z: np.ndarray, n_threads: int = 1) -> dict[str, np.ndarray]:
    """Return all that labels need to flow over samples, as JavaScript takes it."""
    engine, graph = _graph(Z, n_threads)
    elsewhere, is_complete = _nearest_elsewhere(Z, engine, graph, n_threads)
    return {
        "distances": graph.distances.astype("<f8"),
        "indices": graph.indices.astype("<i4"),
        "elsewhere": elsewhere.astype("<i4"),
        "features": (Z[:0] if is_complete or Z.size > FEATURES else Z).astype("<f8"),
    }


def _nearest_elsewhere(
    Z: np.ndarray, engine: Engine, graph: KnnGraph, n_threads: int = 1
) -> tuple[np.ndarray, bool]:
    """Find for each sample the nearest of every other component of the graph: ascending, then -1.

    If there are many components, those that have no sample among the `SCOUTED` nearest are left out. Say
    whether none is.
    """
    n, k = graph.indices.shape
    arcs = csr_array(
        (np.ones(n * k, dtype=bool), (np.repeat(np.arange(n), k), graph.indices.ravel())), (n, n)
    )
    n_components, component = connected_components(arcs, directed=False)
    if n_components == 1:
        return np.empty((n, 0), dtype=np.int32), True
    if n_components <= ELSEWHERE + 1:
        distances, indices = (np.empty((n, n_components), dtype) for dtype in (np.float64, np.int32))
        for number in range(n_components):
            members = np.flatnonzero(component == number)
            found = make_engine(Z[members], "sqeuclidean").query(Z, 1, n_threads)
            distances[:, number], indices[:, number] = found[0][:, 0], members[found[1][:, 0]]
        distances[np.arange(n), component] = np.inf
        indices[np.arange(n), component] = -1
        order = np.lexsort([indices, distances])[:, :-1]
        return np.take_along_axis(indices, order, axis=1), True
    near = knn_graph(engine, min(SCOUTED, n - 1), n_threads).indices
    nearest = np.full((n, ELSEWHERE), -1, dtype=np.int32)
    for row, (own, of) in enumerate(zip(component.tolist(), component[near], strict=True)):
        firsts = np.sort(np.unique(of, return_index=True)[1])
        firsts = firsts[of[firsts] != own][:ELSEWHERE]
        nearest[row, : len(firsts)] = near[row, firsts]
    return nearest, False


def map_of(Z: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, str]]:
    """Put samples on a map, by t-SNE if they are few, and say what its axes are."""
    if not (NEIGHBORS < len(Z) <= TSNE and Z.shape[1] > 2):
        return plane(np.asarray(Z, dtype=np.float64), names)
    from sklearn.manifold import TSNE as Neighbours

    model = Neighbours(perplexity=min(30, len(Z) / 4), init="random", random_state=0)
    return model.fit_transform(Z).astype(np.float64), ("t-SNE 1", "t-SNE 2")


def label_html(
    sheet: Sheet,
    Z: np.ndarray,
    labels: Sequence[str | None],
    *,
    of_integers: bool,
    commands: Sequence[str],
    drawn: tuple[np.ndarray, tuple[str, str]],
    show: Show | None = None,
    n_jobs: int | None = None,
) -> str:
    """Return the text of the page, which asks for nothing from outside."""
    # Z are the samples as they are compared, `labels` those that are known, integers or not, `commands` lines
    # that apply the labels which the page exports, `drawn` coordinates on the map and names of its axes.
    n, n_threads = len(Z), effective_n_jobs(n_jobs)
    if not 2 <= n <= MOST:
        raise ValueError(f"{sheet.name}: a page takes from 2 to {MOST:,} samples, not {n:,}; label a part")
    clusters = OPFClustering(n_jobs=n_jobs).fit(Z)
    classes = sorted({label for label in labels if label is not None}, key=int if of_integers else str)
    codes = {label: code for code, label in enumerate(classes)} | {None: -1}
    xy, axes = drawn
    low, high = bounds(xy)
    images: list[str | None] = []
    room = IMAGES
    for row in range(n if show else 0):
        images.append(show(row) if room > 0 else None)
        room -= len(images[-1] or "")
    arrays = {
        **flow_arrays(Z, n_threads),
        "xy": ((xy - low) / np.where(high > low, high - low, 1)).astype("<f4"),
        "clusters": clusters.labels_.astype("<i4"),
        "given": np.array([codes[label] for label in labels], dtype="<i4"),
    }
    cells = {
        "columns": [visible(name) for name in sheet.columns],
        "cells": [list(map(visible, column)) for column in sheet.columns.values()],
        "places": [f"{sheet.place} {place}" for place in sheet.places],
        "images": images,
    }
    blobs = {name: array.tobytes() for name, array in arrays.items()}
    blobs |= {"cells": json.dumps(cells).encode(), "core": (HERE / "flow.wasm").read_bytes()}
    return render(
        HERE / "label.html",
        title=f"Labels for {visible(sheet.name)}",
        sections=[("give", "Give labels"), ("all", "All classes"), ("apply", "Apply the labels")],
        scripts=[(HERE / name).read_text(encoding="utf-8") for name in ("common.js", "flow.js", "label.js")],
        runs_core=True,
        sheet=sheet,
        n=n,
        n_features=Z.shape[1],
        n_given=int((arrays["given"] >= 0).sum()),
        axes=axes,
        blobs={k: base64.b64encode(gzip.compress(blob, 6, mtime=0)).decode() for k, blob in blobs.items()},
        data={
            "table": sheet.fingerprint,
            "label": sheet.label,
            "columns": LABEL_COLUMNS,
            "classes": classes,
            "ofIntegers": of_integers,
            "roots": clusters.cluster_roots_.tolist(),
            "colours": COLOURS,
        },
        command="\n".join(map(escape, commands)),
    )
