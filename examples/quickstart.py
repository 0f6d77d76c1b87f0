"""Plain and fuzzy Optimum-Path Forest next to 1-NN and an SVM: a table and a figure.

The data has three overlapping classes in the plane (a cone, half a ring, a Gaussian cloud), generated with a
fixed seed, so nothing is downloaded. Run with: python examples/quickstart.py [--out quickstart.png]
"""

import argparse
import sys
from time import perf_counter

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from pathforest import FuzzyOPFClassifier, OPFClassifier

try:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
except ImportError:
    print('The figure needs matplotlib: pip install "pathforest[plot]"', file=sys.stderr)
    sys.exit(2)

CLASSES = ["cone", "ring", "cloud"]
COLORS = ["#0072B2", "#E69F00", "#CC79A7"]  # Okabe and Ito's palette: safe for colour-blind readers
CHANGED = "#444444"
MARKERS = ["o", "s", "^"]


def make_data(n_per_class=300, seed=0):
    rng = np.random.default_rng(seed)

    def polar(radius, angle):
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    def turn():
        return rng.uniform(0, 2 * np.pi, n_per_class)

    cone = polar(1.6 * (1 - np.sqrt(rng.uniform(size=n_per_class))) ** 0.8, turn()) + [-1.0, -0.3]
    ring = polar(rng.normal(2.3, 0.25, n_per_class), rng.uniform(-0.15, np.pi, n_per_class)) + [-0.9, -0.4]
    cloud = rng.multivariate_normal([0.9, -0.4], [[0.45, -0.12], [-0.12, 0.30]], n_per_class)
    return np.vstack([cone, ring, cloud]), np.repeat(CLASSES, n_per_class)


def evaluate(model, X_train, X_test, y_train, y_test):
    start = perf_counter()
    model.fit(X_train, y_train)
    fitted = perf_counter()
    accuracy = np.mean(model.predict(X_test) == y_test)
    return accuracy, fitted - start, perf_counter() - fitted


def print_table(models, scores):
    width = max(map(len, models))
    print(f"{'':{width}}  accuracy   fit [s]  predict [s]  prototypes")
    for name, (accuracy, fit, predict) in scores.items():
        prototypes = len(models[name].prototypes_) if hasattr(models[name], "prototypes_") else "-"
        print(f"{name:{width}}  {accuracy:8.3f}  {fit:8.4f}  {predict:11.4f}  {prototypes:>10}")


def predict_grid(model, limits, size=400):
    x, y = (np.linspace(low, high, size) for low, high in limits)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    labels = model.predict(grid).reshape(size, size)
    return x, y, np.array([CLASSES.index(label) for label in labels.flat]).reshape(size, size)


def draw_regions(ax, regions, strength):
    tints = [strength * np.array(to_rgb(color)) + (1 - strength) for color in COLORS]
    ax.pcolormesh(
        *regions, cmap=ListedColormap(tints), vmin=-0.5, vmax=2.5, shading="nearest", rasterized=True
    )
    *axes, codes = regions
    for code in range(len(CLASSES)):
        ax.contour(*axes, codes == code, levels=[0.5], colors="white", linewidths=1.6)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


def draw_forest(ax, model, X, y):
    child = np.flatnonzero(model.predecessor_ >= 0)
    arcs = np.stack([X[child], X[model.predecessor_[child]]], axis=1)
    ax.add_collection(LineCollection(arcs, colors="#333333", linewidths=0.6, alpha=0.55, zorder=2))
    for name, color, marker in zip(CLASSES, COLORS, MARKERS, strict=True):
        points = X[y == name]
        ax.scatter(*points.T, s=17, c=color, marker=marker, edgecolors="white", linewidths=0.4, zorder=3)
    prototypes = X[model.prototypes_]
    ax.scatter(*prototypes.T, s=48, facecolors="none", edgecolors="black", linewidths=1.0, zorder=4)


def draw_membership(ax, model, X, y):
    low, high = model.membership_.min(), model.membership_.max()
    size = 10 + 80 * (model.membership_ - low) / (high - low)
    for name, marker in zip(CLASSES, MARKERS, strict=True):
        chosen = y == name
        points = ax.scatter(
            *X[chosen].T, s=size[chosen], c=model.membership_[chosen], marker=marker,
            cmap="cividis", vmin=low, vmax=high, edgecolors="white", linewidths=0.4, zorder=3,
        )  # fmt: skip
    return points


def draw_figure(models, scores, X, y, path):
    limits = [(low - 0.3, high + 0.3) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True)]
    forests = [name for name in models if "OPF" in name]
    regions = {name: predict_grid(models[name], limits) for name in forests}
    fig = Figure(figsize=(12, 9.8), layout="constrained")
    *panels, last = fig.subplots(2, 2).flat

    for ax, name in zip(panels, forests, strict=True):
        draw_regions(ax, regions[name], strength=0.32)
        if name != "OPF":
            *axes, codes = regions[name]
            ax.contourf(*axes, codes != regions["OPF"][-1], levels=[0.5, 1.5], colors=[CHANGED])
        draw_forest(ax, models[name], X, y)
        ax.set_title(f"{name}: test accuracy {scores[name][0]:.3f}", loc="left")

    name = forests[-1]
    draw_regions(last, regions[name], strength=0.16)
    points = draw_membership(last, models[name], X, y)
    last.set_title(
        f"Membership from density, {models[name].best_k_} neighbours chosen by the cut", loc="left"
    )
    bar = fig.colorbar(points, cax=last.inset_axes([0.63, 0.92, 0.33, 0.03]), orientation="horizontal")
    bar.set_label("membership F")
    bar.outline.set_visible(False)

    handles = [
        Line2D([], [], ls="", marker=marker, color=color, markeredgecolor="white", markersize=8, label=label)
        for label, color, marker in zip(CLASSES, COLORS, MARKERS, strict=True)
    ]
    ring = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": "black", "markersize": 8}
    handles.append(Line2D([], [], ls="", **ring, label="prototype"))
    handles.append(Line2D([], [], color="#333333", lw=0.9, label="forest arc"))
    handles.append(Patch(color=CHANGED, label="answer differs from plain OPF"))
    fig.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    fig.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description="Plain and fuzzy OPF next to 1-NN and an SVM.")
    parser.add_argument("--out", default="quickstart.png", help="path of the figure")
    path = parser.parse_args().out

    X, y = make_data()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    models = {
        "OPF": OPFClassifier(),
        "Fuzzy OPF, complete graph, sigma 0.8": FuzzyOPFClassifier(competition="complete", sigma=0.8),
        "Fuzzy OPF, spanning tree, sigma 0.2": FuzzyOPFClassifier(competition="tree", sigma=0.2),
        "1-NN": KNeighborsClassifier(n_neighbors=1),
        "SVM, RBF kernel": SVC(),
    }
    scores = {name: evaluate(model, X_train, X_test, y_train, y_test) for name, model in models.items()}
    print(f"{len(X_train)} training and {len(X_test)} test samples of {len(CLASSES)} classes in the plane\n")
    print_table(models, scores)
    draw_figure(models, scores, X_train, y_train, path)
    print(f"\nDecision regions, prototypes and membership: {path}")


if __name__ == "__main__":
    main()
