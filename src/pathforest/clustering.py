"""Unsupervised Optimum-Path Forest clustering: Algorithm 2 of the paper, and which of its domes count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pathforest import _core
from pathforest._models import parameters as rules
from pathforest._models.base import FitData, Settings, answering, check_queries, keep_samples, open_fit
from pathforest._models.density import (
    DOME_TREE,
    MEASURES,
    as_tree,
    density_conquerors,
    dome_tree,
    graph_and_density,
    largest_arc,
    merge_domes,
    noise_levels,
)
from pathforest._models.growing import Growing
from pathforest._persistence import checks as stored
from pathforest._utils.progress import fitting
from pathforest._utils.text import show
from pathforest.graph import KnnGraph
from pathforest.membership import DensityEstimate, density

# What files call the columns of the tree.
TREE_COLUMNS = tuple(f"_fit_tree_{name}" for name in DOME_TREE.names)


def _check_clusters(model: OPFClustering, sizes: dict[str, int]) -> None:
    rules.noise("noise", model.noise)
    labels, roots, root, starts = model.labels_, model.cluster_roots_, model.root_, stored.check_paths(model)
    maxima, kept = np.flatnonzero(model.predecessor_ < 0), labels >= 0
    stored.demand(labels.min() >= (-1 if model.noise else 0), "labels_ has noise, which was not asked for")
    is_same = np.array_equal(root, root[starts]) and np.array_equal(root[kept], roots[labels[kept]])
    stored.demand(is_same, "labels_, root_ and the paths describe different clusters")
    is_numbered = (labels[roots] == np.arange(len(roots))).all() and np.isin(roots, maxima).all()
    stored.demand(is_numbered, "labels_ does not number the clusters of cluster_roots_")
    stored.demand(np.isin(root, roots).all(), "root_ names a sample that is not in cluster_roots_")
    tree = {name: vars(model).get(f"_fit_tree_{name}") for name in DOME_TREE.names}
    if len(maxima) == len(roots) and all(column is None for column in tree.values()):
        return  # a model of LibOPF has no tree, and none of its clusters was absorbed
    for name, column in tree.items():
        is_column = type(column) is np.ndarray and column.dtype == DOME_TREE[name]
        stored.demand(is_column, f"the column {name} of cluster_tree_ is missing or of another type")
        is_whole = column.shape == (len(maxima) - 1,)
        stored.demand(is_whole, "cluster_tree_ does not have a row for every maximum but one")
    are_maxima = np.isin([tree["child"], tree["parent"]], maxima).all()
    stored.demand(are_maxima, "cluster_tree_ names a sample that is not a maximum")


def _tree_as_columns(model: OPFClustering, state: dict[str, Any]) -> dict[str, Any]:
    """Put the tree into a file column by column: a file has only arrays of one type."""
    tree = vars(model).get("cluster_tree_")
    names = () if tree is None else DOME_TREE.names
    return state | {f"_fit_tree_{name}": np.ascontiguousarray(tree[name]) for name in names}


def _tree_from_columns(model: OPFClustering) -> None:
    stored.SAMPLES.derive(model)
    if TREE_COLUMNS[0] in vars(model):
        model.cluster_tree_ = as_tree([vars(model).pop(key) for key in TREE_COLUMNS])


@stored.saved(stored.MODELS)
class OPFClustering(ClusterMixin, Growing):
    """Optimum-Path Forest clustering.

    Each maximum of the density founds a cluster and conquers the samples that are reached from it without a
    deep valley. Most maxima are chance: only domes that are clearly higher than chance makes them count, and
    the samples of the others go to a neighbour. The number of clusters need not be given.

    Parameters
    ----------
    n_clusters : int, default=None
        Absorbs domes, the smallest first, until this many clusters are left; decides instead of `selection`.
        Unless `n_neighbors` is given, the neighbourhood is the largest that has at least as many maxima, or
        for ``"cut"`` the one of these with the smallest cut.
    selection : {"clear", "cut"}, default="clear"
        Which maxima of the density are clusters. ``"clear"``: those whose dome is higher than chance makes
        one (see Notes). ``"cut"``: all of them, for the neighbourhood with the smallest normalised cut, as in
        the paper; usually far too many.
    measure : {"volume", "height", "area"}, default=None
        Size of a dome, by which `n_clusters` and `threshold` choose: the sum of its samples' densities above
        the saddle, the density of its maximum above the saddle (densities go from 1 to 1000), or the number
        of its samples. None means ``"height"``.
    threshold : float, default=None
        Absorbs domes smaller than this; decides instead of `selection`. Not together with `n_clusters`.
    k_max : int, default=20
        Largest neighbourhood tried by ``selection="cut"``. Larger values allow smoother densities with fewer
        maxima; time and memory grow in proportion. Capped at the number of samples less 1.
    n_neighbors : int, default=None
        Size of the neighbourhood of the density. Larger values give smoother densities and find what
        overlaps; smaller ones follow thin shapes. None means a search up to `k_max` for ``"cut"``. For
        ``"clear"`` it means half the square root of the number of samples, which is 15 for 1,000 of them, and
        from there on 10 more for each factor of ten; at least 5, at most a quarter of the samples.
    noise : float or "auto", default=0.0
        Share of each cluster, its samples of lowest density, that get the label -1. Samples of equal density
        stay or go together, so fewer may be left out. ``"auto"``: samples that lie more than three times as
        far below the median density of their cluster as the 95th percentile lies above it.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
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
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, numbered from 0 in the order in which they were founded; -1 is noise.
    cluster_roots_ : ndarray of shape (n_clusters,)
        Index of the sample that founded each cluster, a maximum of the density that was not absorbed.
    density_ : ndarray of shape (n_samples,)
        Density of each training sample, Eq. 3 without its constant factor.
    cost_, predecessor_, root_ : ndarray of shape (n_samples,)
        Value of the path that conquered each sample, its lowest density on a scale from 1 to 1000 (of
        logarithms, unless for the cut); the previous sample on it, -1 at cluster roots, absorbed ones too;
        and the root of its cluster, also of noise.
    cluster_tree_ : structured ndarray of shape (n_maxima - 1,)
        Which cluster absorbs which, in the order in which they merge, whether they did or not.
        Fields ``child`` and ``parent`` (the samples that founded them), ``level`` (density at which
        the child's dome meets a larger one), ``height``, ``area`` and ``volume`` (of its dome above
        that level). :func:`pathforest.plotting.plot_cluster_tree` draws it.
    best_k_ : int
        Neighbourhood that was used.
    cuts_ : ndarray of shape (n_tried,)
        Normalised cut of each neighbourhood tried, from 1; empty if none was searched.
    n_features_in_, feature_names_in_, categories_
        Number of features; their names, if X has them as text; and for a table with ``metric="gower"`` the
        texts of each column, False and True, or None for numbers.

    See Also
    --------
    FuzzyOPFClassifier : Classifier that weighs its paths by the same density.
    OPFOutlierDetector : Outliers by the same density.

    Notes
    -----
    Densities are scaled to [1, 1000], and a dome lower than 1 on that scale founds no cluster. A path is
    worth its lowest density; the highest value leaves the queue first, the lower index on ties. With
    ``selection="cut"`` the neighbourhood up to `k_max` with the smallest normalised cut is taken, and the
    search stops at the first cut of 0: clusters with no arc between them, or a single cluster. Memberships of
    the fuzzy classifiers always rest on that search.

    A dome is a connected component of the samples above some level of density, arcs of the graph taken in
    both directions. As the level falls, domes grow and meet at saddles. From there on only the largest one
    counts; on ties the one founded first. What the others measure there is their extinction value in
    mathematical morphology; LibOPF removes maxima by the same three measures.

    With ``selection="clear"``, logarithms of densities are scaled: -log(log(k / density)), which is -2 log(R)
    but for a constant, if the k nearest neighbours lie at root mean square distance R and the longest arc of
    the graph is long. A density of k neighbours is off by a factor of about 1 + 1 / sqrt(k), and among n
    samples chance has some n / k places to make a maximum. A dome counts if the logarithm of the density of
    its maximum is above that of its saddle by (1 + 2 / d) sqrt(log(n / k) / k) or more. d is the number of
    dimensions that the samples fill, from 1 to log2(n): the k nearest of a sample lie 2^(1 / d) times as far
    as half of them, in the mean of the logarithms. So 15 neighbours of 1,000 samples in two dimensions need
    1.06, a maximum 2.9 times as dense as its saddle; 35 of 100,000 need 0.95.

    A cluster whose dome is too small is absorbed whole by its neighbour across the highest arc, the one whose
    lower end is densest; of equally high arcs, across the shortest. Paths and their values stay as they are,
    and `predict` answers with the absorbing cluster. Domes that no arc joins meet at level 0: no threshold
    merges them, and `n_clusters` merges them last, into the largest.

    There is no `sample_weight`: repeat a sample to make its surroundings denser. A failed or interrupted
    `fit` leaves the estimator unfitted.

    References
    ----------
    L. M. Rocha, F. A. M. Cappabianco, A. X. Falcao, "Data clustering as an optimum-path forest problem with
    applications in image analysis", International Journal of Imaging Systems and Technology, 2009.

    C. Vachier, F. Meyer, "Extinction value: a new measurement of persistence", IEEE Workshop on Nonlinear
    Signal and Image Processing, 1995.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pathforest import OPFClustering
    >>> X, _ = make_moons(400, noise=0.08, random_state=0)
    >>> model = OPFClustering().fit(X)
    >>> len(model.cluster_roots_), len(OPFClustering(selection="cut").fit(X).cluster_roots_)
    (2, 14)
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]]).tolist()
    [1, 0]
    >>> OPFClustering(noise=0.05).fit_predict(X).tolist().count(-1)
    20

    >>> X = [[0.0], [0.3], [0.6], [1.0], [2.0], [2.2], [2.5], [5.0]]
    >>> model = OPFClustering(n_neighbors=3, n_clusters=2).fit(X)
    >>> model.labels_.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model.cluster_tree_[["child", "parent", "area"]].tolist()
    [(7, 4, 0), (4, 2, 2)]
    """

    _n_stages = 5
    _squares = True
    _saved = stored.SAMPLES.extended(
        {
            **stored.PATHS,
            **stored.density_rules(),
            "cluster_roots_": stored.indices("clusters", "samples"),
            "labels_": stored.indices("samples", "clusters", start=-1),
            "_fit_largest_arc": stored.number(),
        },
        stored.GROWTH | dict.fromkeys(TREE_COLUMNS),
        _check_clusters,
        derived=("_fit_cache", "cluster_tree_"),
        derive=_tree_from_columns,
        pack=_tree_as_columns,
    )
    _rules: ClassVar[rules.Rules] = {
        "n_clusters": rules.optional(rules.integer(1, "use None to let the density decide")),
        "selection": rules.choice("clear", "cut"),
        "measure": rules.optional(rules.choice(*MEASURES)),
        "threshold": rules.optional(rules.positive("densities go from 1 to 1000")),
        **rules.NEIGHBORHOOD,
        "noise": rules.noise,
        **rules.ESTIMATOR,
    }

    def __init__(
        self,
        *,
        n_clusters: int | None = None,
        selection: str = "clear",
        measure: str | None = None,
        threshold: float | None = None,
        k_max: int = 20,
        n_neighbors: int | None = None,
        noise: float | str = 0.0,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.n_clusters = n_clusters
        self.selection = selection
        self.measure = measure
        self.threshold = threshold
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.noise = noise

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : None
            Ignored; there so that pipelines can pass it.

        Returns
        -------
        self : OPFClustering
            The fitted estimator.
        """
        return self._fit(open_fit(self, X))

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.n_clusters is not None and self.threshold is not None:
            raise ValueError("only one of n_clusters and threshold may be given; leave one of them out")
        return settings

    def _fit(self, data: FitData) -> Self:
        n, k = len(data.X), None  # k_max and n_neighbors decide
        if self.selection == "clear" and self.n_neighbors is None:
            k = _core.clear_neighborhood(n)
        graph, estimate = graph_and_density(data, k, self.k_max, self.n_neighbors)
        if self.n_clusters is not None and self.n_neighbors is None:
            estimate = data.stage(self._find_enough_maxima, graph, estimate, data.metric.squared)
        self.density_, self.best_k_, self.cuts_ = estimate
        data.stage(self._cluster, graph, data.metric.squared)
        keep_samples(self, data)
        return self

    def _scaled(self, rho: np.ndarray, k: int) -> np.ndarray:
        """Put densities on the scale from 1 to 1000, their logarithms unless for the cut."""
        return _core.scale_density(rho, k=None if self.selection == "cut" else k)

    def _find_enough_maxima(
        self, graph: KnnGraph, estimate: DensityEstimate, squared: bool
    ) -> DensityEstimate:
        """Return densities of the best neighbourhood with `n_clusters` clusters or more, else the most."""
        by_cut = np.argsort(estimate.cuts, kind="stable") + 1
        most = 0
        for k in by_cut if self.selection == "cut" else range(estimate.best_k, 0, -1):
            rho = density(graph, int(k), squared)
            labels, *_ = _core.cluster(graph.distances, graph.indices, int(k), self._scaled(rho, int(k)))
            if (n_maxima := int(labels.max()) + 1) > most:
                most, estimate = n_maxima, DensityEstimate(rho, int(k), estimate.cuts)
            if most >= self.n_clusters:
                break
        return estimate

    def _cluster(self, graph: KnnGraph, squared: bool) -> None:
        """Let the maxima of the density compete for the samples, and choose which of them count."""
        k, scaled = self.best_k_, self._scaled(self.density_, self.best_k_)
        labels, predecessor, starts, self.cost_ = _core.cluster(graph.distances, graph.indices, k, scaled)
        self.predecessor_ = predecessor.astype(np.intp)
        self._fit_largest_arc = largest_arc(graph, k)
        measure = self.measure or "height"
        self.cluster_tree_ = tree = dome_tree(graph, k, scaled, labels, self._founders(), measure)
        sizes, least = tree[measure], self.threshold
        if least is None:
            low, high = float(self.density_.min()), float(self.density_.max())
            is_cut = self.selection == "cut"
            least = 0.0 if is_cut else _core.clear_height(graph.distances, k, squared, low, high)
            sizes = tree["height"]
        n_absorbed = int(np.sum((tree["level"] > 0) & (sizes < least)))
        n_clusters = 1 + len(tree) - n_absorbed if self.n_clusters is None else self.n_clusters
        labels, self.cluster_roots_ = self._merge(n_clusters, starts)
        self.root_ = self.cluster_roots_[labels]
        self.labels_ = self._leave_out_noise(labels, labels, self.cluster_roots_)

    def _founders(self) -> np.ndarray:
        """Return the maxima of the density in order of birth."""
        founders = np.flatnonzero(self.predecessor_ < 0)
        # They leave the queue by what they offer themselves, their density less 1, then by their index.
        return founders[np.lexsort([founders, -(self.cost_[founders] - 1)])]

    def _merge(self, n_clusters: int, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Merge clusters until `n_clusters` are left, given where the path to each sample starts."""
        founders = self._founders()
        if n_clusters > len(founders):
            way_out = "" if self.n_neighbors is None else ", or leave n_neighbors=None to search for more"
            raise ValueError(
                f"n_clusters={show(n_clusters)} cannot be reached: the density has {len(founders)} "
                f"maxima with {self.best_k_} neighbours; ask for at most {len(founders)}{way_out}"
            )
        return merge_domes(self.cluster_tree_[: len(founders) - int(n_clusters)], founders, starts)

    def _leave_out_noise(
        self, labels: np.ndarray, clusters: np.ndarray, roots: np.ndarray, scaled: np.ndarray | None = None
    ) -> np.ndarray:
        """Give -1 to samples less dense than what their cluster keeps; the training samples by default."""
        if self.noise == 0:
            return labels
        own = self._scaled(self.density_, self.best_k_)
        levels = noise_levels(own, clusters, roots, self.noise)
        return np.where((own if scaled is None else scaled) < levels[labels], -1, labels)

    def layer(self, n_clusters: int) -> np.ndarray:
        """Return the labels for another number of clusters, without fitting again.

        Parameters
        ----------
        n_clusters : int
            From 1, everything in one cluster, to the number of maxima of the density,
            ``len(cluster_tree_) + 1``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            What `labels_` would be with this `n_clusters` and the neighbourhood of the model. Every
            cluster of a layer is a union of clusters of any finer layer.

        Examples
        --------
        >>> from pathforest import OPFClustering
        >>> X = [[0.0], [0.3], [0.6], [1.0], [2.0], [2.2], [2.5], [5.0]]
        >>> model = OPFClustering(n_neighbors=3).fit(X)
        >>> [model.layer(n).tolist() for n in (2, 3)]
        [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 2]]
        """
        check_is_fitted(self)
        rules.integer(1, "everything in one cluster is the coarsest layer")("n_clusters", n_clusters)
        if "cluster_tree_" not in vars(self):
            raise ValueError("a layer needs cluster_tree_, which models of LibOPF lack; fit to the samples")
        labels, roots = self._merge(n_clusters, stored.check_paths(self))
        return self._leave_out_noise(labels, labels, roots)

    def predict(self, X: Any) -> np.ndarray:
        """Assign each sample to the cluster whose path reaches it at the highest density.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Cluster numbers. Of the `best_k_` nearest training samples q, the one with the largest
            min(cost of q, density of the sample) decides; on ties the nearest. -1 for samples that are
            less dense than every training sample of that cluster that is not noise.
        """
        Q = check_queries(self, X)
        with answering(self, Q) as bar:
            return self._labels_of(*density_conquerors(self, Q, bar, self.selection != "cut"))

    def _labels_of(self, winners: np.ndarray, scaled: np.ndarray) -> np.ndarray:
        """Return the labels of samples, given the training samples that win them, and their densities."""
        clusters = self.labels_[self.root_]  # roots are never noise
        return self._leave_out_noise(clusters[winners], clusters, self.cluster_roots_, scaled)
