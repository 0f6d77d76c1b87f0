"""The Optimum-Path Forest classifier that learns from unlabelled samples too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from pathforest._engines.build import build_engine
from pathforest._models import parameters as rules
from pathforest._models.base import FitData, Settings, open_fit
from pathforest._models.classifier import ForestClassifier, keep_forest
from pathforest._models.labels import Labels
from pathforest._persistence.checks import MODELS, array, demand, saved, whole
from pathforest._utils.progress import fitting
from pathforest._utils.text import show
from pathforest.forest import balancing_factors, boundary_prototypes, grow_forest, grow_forest_geodesic
from pathforest.graph import knn_graph, spanning_tree


def _check_own(model: OPFSemiSupervisedClassifier, sizes: dict[str, int]) -> None:
    label = array("samples", (model.classes_.dtype,))(model, "transduction_", sizes)
    demand(np.array_equal(label, model.label_), "transduction_ and label_ differ")
    if "_fit_n_neighbors" in vars(model):
        whole(1, sizes["samples"])(model, "_fit_n_neighbors", sizes)
        array("classes", nonnegative=True)(model, "class_factors_", sizes)


@saved(MODELS)
class OPFSemiSupervisedClassifier(ForestClassifier):
    """Optimum-Path Forest classifier for a few labelled and many unlabelled samples.

    Labels travel from labelled samples to their neighbours, through the unlabelled ones: each sample
    takes the label that reaches it along the shortest path. It helps if each class is a connected
    structure, however thin or curved; if classes overlap, one wrong step carries a label into the
    other class. Scale the features first, as for nearest neighbours.

    Parameters
    ----------
    unlabeled : label, default=None
        The value in y that marks a sample without a label, of the same type as the labels. None means -1
        among numbers and ``""`` among texts.
    method : {"balanced", "geodesic", "mst", "opfsemi"}, default="balanced"
        How labels spread. ``"geodesic"``: along neighbour lists, from every labelled sample; a path
        costs the sum of its arcs. ``"balanced"``: the same, but Euclidean distances are squared, and classes
        are held to their share of the labels: one that would win more of the unlabelled samples pays more
        for each step. ``"mst"``: along the spanning tree, and a path costs its longest arc. ``"opfsemi"``:
        that too, but only from labelled samples at the borders between classes, which is the older rule.
    n_neighbors : int, default=10
        Length of the neighbour lists; ``"mst"`` and ``"opfsemi"`` have none. Longer lists connect more, and
        may connect classes that lie side by side. Capped at the number of other samples.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    n_conquerors : int, default=1
        How many training samples decide for each class: its offer to a new sample is the mean cost of its
        `n_conquerors` cheapest paths. 1 is the paper's rule; raise it (3 to 30, by cross-validation) if
        training labels may be wrong. It acts in prediction only.
    beta : float, default=8.0
        Sharpness of `predict_proba`, which is proportional to (smallest cost / cost) ** beta. Larger
        values move probabilities towards 0 and 1; predictions do not change. It acts in prediction only.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    verbose : int, default=0
        1 prints the stages of `fit`, their times and the size of a full distance matrix.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        Label of every training sample: its own where it has one, else the one that reached it.
    classes_ : ndarray of shape (n_classes,)
        Class labels, without the mark of unlabelled samples.
    class_factors_ : ndarray of shape (n_classes,)
        What the steps of each class are multiplied by; 1 with ``"geodesic"``, absent with ``"mst"`` and
        ``"opfsemi"``.
    prototypes_ : ndarray of shape (n_prototypes,)
        Indices of the samples where the paths of the final forest start, ascending; along neighbour lists
        the labelled samples.
    cost_, predecessor_, root_ : ndarray of shape (n_samples,)
        Cost of the path that conquered each training sample, 0 at prototypes; the previous sample on it, -1
        at prototypes; and the prototype it starts from.
    order_ : ndarray of shape (n_samples,)
        Samples sorted by (cost, arc that set it, index), along neighbour lists by (cost, index). Of equal
        offers, that of the first here wins.
    label_ : ndarray of shape (n_samples,)
        Label each training sample got from its prototype; here always that of `transduction_`.
    training_error_ : float
        Share of training samples where `label_` and `transduction_` differ; here always 0.
    n_features_in_, feature_names_in_, label_name_, categories_
        Number of features; names of features and labels, if X and y have them as text; and for a table with
        ``metric="gower"`` the texts of each column, False and True, or None for numbers.

    See Also
    --------
    OPFClassifier : The same for labelled samples only.
    sklearn.semi_supervised.LabelSpreading : Labels that diffuse over a graph, instead of taking one path.

    Notes
    -----
    ``"balanced"`` and ``"geodesic"``:

    1. Two samples are joined if either is among the `n_neighbors` nearest of the other.
    2. Paths start at the labelled samples, at cost 0, and cost the sum of their arcs, added in float64 from
       the start on. ``"balanced"`` takes ``metric="sqeuclidean"`` for ``"euclidean"``: long arcs then cost
       more than detours of short ones, so that paths stay within dense regions. And it multiplies each arc
       by the factor of the path's class, from :func:`pathforest.forest.balancing_factors`. Of paths that
       cost the same, the one whose last arc comes first by (length, lower index, higher index) wins;
       samples leave the queue by (cost, index).
    3. Every sample takes the label at the start of its path. Samples that no path reaches are joined to the
       nearest sample that one reached.
    4. A new sample is joined to its `n_neighbors` nearest training samples, each of which offers its cost
       plus the distance times the factor of its class. A class without any of them costs infinity. (If all
       training samples made offers, the cheapest would always be that of the nearest labelled one, by the
       triangle inequality, as if labels had not spread.)

    ``"mst"`` and ``"opfsemi"``:

    1. Seeds are, for ``"mst"``, all labelled samples; for ``"opfsemi"``, the prototypes that
       :class:`OPFClassifier` finds in the labelled samples alone (the ends of arcs between classes
       in their own spanning tree; the first of them if they have one class).
    2. The seeds compete for all samples over the complete graph, where a path costs as much as its
       longest arc. The optimum paths run along the spanning tree of all samples, so no distance is
       needed beyond those of the tree. Arcs of equal length are ordered by their ends.
    3. An unlabelled sample takes the label of the seed that conquers it. Labelled samples keep
       theirs, even where, with ``"opfsemi"``, a path of another class runs through them.
    4. The labels of `transduction_` decide the prototypes in the same spanning tree, and from them
       grows the forest of :class:`OPFClassifier`: every fitted array is the one it would have. Without
       unlabelled samples it is :class:`OPFClassifier`.

    There is no `sample_weight`: paths have no use for it. A failed or interrupted `fit` leaves the estimator
    unfitted.

    References
    ----------
    W. P. Amorim, A. X. Falcao, M. H. de Carvalho, "Semi-supervised pattern classification using
    optimum-path forest", Conference on Graphics, Patterns and Images, 2014.

    W. P. Amorim, A. X. Falcao, J. P. Papa, M. H. Carvalho, "Improving semi-supervised learning
    through optimum connectivity", Pattern Recognition, 2016.

    Examples
    --------
    >>> from pathforest import OPFSemiSupervisedClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [5.0], [6.0]], ["a", "", "", "", "", "b"]
    >>> model = OPFSemiSupervisedClassifier().fit(X, y)
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'a', 'b', 'b']
    >>> model.predict([[2.5], [4.5]]).tolist()
    ['a', 'b']

    The conqueror of a new sample, and the path that its label took:

    >>> model.explain([[2.9]])[0].path
    [2, 1, 0]
    """

    _n_stages = 6
    _saved = ForestClassifier._saved.extended(
        {"transduction_": None}, {"_fit_n_neighbors": None, "class_factors_": None}, _check_own
    )
    _rules: ClassVar[rules.Rules] = {
        "unlabeled": rules.checked_where_used,
        "method": rules.choice("balanced", "geodesic", "mst", "opfsemi"),
        "n_neighbors": rules.integer(1, "10 is the default"),
        **rules.ESTIMATOR,
        **rules.PREDICTION,
    }

    def __init__(
        self,
        *,
        unlabeled: Any = None,
        method: str = "balanced",
        n_neighbors: int = 10,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_conquerors: int = 1,
        beta: float = 8.0,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.unlabeled = unlabeled
        self.method = method
        self.n_neighbors = n_neighbors
        self.n_conquerors = n_conquerors
        self.beta = beta

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Spread the labels over all samples and grow their forest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : array-like of shape (n_samples,)
            Class labels of any type, and `unlabeled` for samples without one; at least one has a label.

        Returns
        -------
        self : OPFSemiSupervisedClassifier
            The fitted estimator.
        """
        return self._fit(open_fit(self, X, y, labelled=True))

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.method == "balanced" and settings.metric.name == "euclidean":
            return settings._replace(metric=settings.metric._replace(name="sqeuclidean"))
        return settings

    def _fit(self, data: FitData) -> Self:
        n, n_threads = len(data.X), data.n_threads
        labelled, codes = self._encode(data.labels)
        if self.method in ("balanced", "geodesic"):
            graph = data.stage(knn_graph, data.engine, min(int(self.n_neighbors), n - 1), n_threads)
            self.class_factors_ = np.ones(len(self.classes_))
            if self.method == "balanced":
                factors = data.stage(balancing_factors, graph, labelled, codes[labelled])
                self.class_factors_[: len(factors)] = factors  # the last classes may have no samples
            factor = self.class_factors_[codes]  # of labelled samples; others do not use theirs
            forest = data.stage(grow_forest_geodesic, data.engine, graph, labelled, factor, n_threads)
            spread, prototypes = codes[forest.root], labelled
            self._fit_n_neighbors = min(int(self.n_neighbors), n)  # of new samples, which have n others
        else:
            tree = data.stage(spanning_tree, data.engine, None, n_threads)
            seeds = labelled
            if self.method == "opfsemi" and len(labelled) < n:
                seeds = data.stage(self._border, data, labelled, codes[labelled])
            spread = codes[data.stage(grow_forest, tree, seeds).root]
            spread[labelled] = codes[labelled]
            prototypes = data.stage(boundary_prototypes, tree, spread)
            forest = data.stage(grow_forest, tree, prototypes)
        keep_forest(self, data, prototypes, forest, spread)
        self.transduction_ = self.classes_[spread]
        return self

    def _encode(self, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Return the labelled samples and the codes of all labels, -1 for unlabelled samples."""
        is_class = np.atleast_1d(labels.values != self._mark(labels.values))
        codes = np.where(is_class, np.cumsum(is_class) - 1, -1)[labels.codes]
        labelled = np.flatnonzero(codes >= 0)
        if not len(labelled):
            raise ValueError(
                f"y marks all {len(codes)} samples as unlabelled (unlabeled={show(self.unlabeled)}); label "
                "at least one, or choose another mark with unlabeled=..."
            )
        self.classes_ = labels.values[is_class]
        return labelled, codes

    def _mark(self, labels: np.ndarray) -> Any:
        """Return the mark of unlabelled samples; one of another kind than the labels could match none."""
        kind = next((kinds for kinds in ("OU", "biuf", "mM") if labels.dtype.kind in kinds), None)
        if kind is None:
            raise TypeError(
                f"y has labels of type {labels.dtype}, among which no mark can be found; convert them to "
                "numbers or texts"
            )
        if self.unlabeled is None:
            return {"OU": "", "biuf": -1}.get(kind)
        mark = np.asarray(self.unlabeled)
        if mark.ndim or mark.dtype.kind not in kind.removeprefix("O"):
            raise TypeError(
                f"unlabeled={show(self.unlabeled)} cannot mark samples, because the labels are of type "
                f"{labels.dtype}; use a value of that type, or None for -1 among numbers and '' among texts"
            )
        return self.unlabeled

    def _border(self, data: FitData, labelled: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Find the labelled samples that :class:`OPFClassifier` would have as prototypes."""
        is_matrix = data.metric.kind == "precomputed"
        part = data.X[np.ix_(labelled, labelled)] if is_matrix else data.X[labelled]
        engine = build_engine(part, data.metric, self.algorithm, data.n_threads, device=self.device)
        tree = spanning_tree(engine, None, data.n_threads)
        return labelled[boundary_prototypes(tree, codes)]
