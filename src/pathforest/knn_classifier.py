"""The supervised Optimum-Path Forest classifier on a graph of nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from pathforest import _core
from pathforest._engines.build import build_engine
from pathforest._engines.metric import before_learning, complete_metric
from pathforest._models import parameters as rules
from pathforest._models.base import (
    FitData,
    KeptSamples,
    OPFEstimator,
    answering,
    check_queries,
    keep_samples,
    open_fit,
)
from pathforest._models.density import (
    DensityQuery,
    compete_within_classes,
    density_conquerors,
    density_query,
    largest_arc,
)
from pathforest._models.explanation import Explanation, Explanations, Rival, compare_samples
from pathforest._persistence.checks import FOREST, MODELS, density_rules, number, saved
from pathforest._utils.progress import SILENCE, fitting
from pathforest._utils.splits import Split, cross_validation_splits, validation_split
from pathforest.forest import path_to_root
from pathforest.graph import knn_graph
from pathforest.membership import density

VALIDATION_SHARE = 0.2  # of the samples, set aside for cv=None


@saved(MODELS)
class OPFKNNClassifier(ClassifierMixin, OPFEstimator):
    """Optimum-Path Forest classifier on a graph of nearest neighbours.

    Each maximum of the density conquers the samples around it that have its class; a new sample
    takes the class of the neighbour whose path reaches it at the highest density. :class:`OPFClassifier`
    guards the borders between classes, this one looks at their centres. The neighbourhood is chosen by
    accuracy. Scale the features first, as for nearest neighbours.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    k_max : int, default=20
        Largest neighbourhood tried for the density, capped at the number of other samples. Larger values
        allow smoother densities with fewer maxima; time and memory grow in proportion.
    n_neighbors : int, default=None
        Size of the neighbourhood, instead of a search: all parameters of the search are then ignored.
        Must be below the number of samples that a density is estimated from.
    cv : int, splitter or iterable, default=None
        How neighbourhoods are compared. None sets a fifth of the samples aside once, about the same share
        of each class; every class keeps a training sample. A number of stratified folds, a splitter of
        scikit-learn, or pairs of index arrays (train, evaluation) cross-validates, for the price of one
        search per fold.
    random_state : int, RandomState or None, default=0
        Chooses the samples set aside with ``cv=None``; nothing else is random.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    best_k_ : int
        Neighbourhood that was used.
    scores_ : ndarray of shape (n_tried,)
        Accuracy of each neighbourhood tried, from 1: the share of the evaluation samples, those of
        all folds together, that get their own class. Empty if `n_neighbors` was given.
    density_ : ndarray of shape (n_samples,)
        Density of each training sample, Eq. 3 of the fuzzy paper without its constant factor.
    prototypes_ : ndarray of shape (n_prototypes,)
        Indices of the prototypes, ascending: the maxima of the density that founded a tree. Every
        class has at least one.
    cost_, predecessor_, root_ : ndarray of shape (n_samples,)
        Value of the path that conquered each training sample, its lowest density on a scale from 1 to 1000;
        the previous sample on it, -1 at prototypes; and the prototype it starts from.
    label_ : ndarray of shape (n_samples,)
        Label each training sample got from its prototype; here always its own.
    n_features_in_, feature_names_in_, label_name_, categories_
        Number of features; names of features and labels, if X and y have them as text; and for a table with
        ``metric="gower"`` the texts of each column, False and True, or None for numbers.

    See Also
    --------
    OPFClassifier : Paths over all pairs of samples, worth their longest arc.
    OPFClustering : The same competition without classes.

    Notes
    -----
    Graph, density and its scale are those of :class:`OPFClustering`, all samples and arcs counted.
    A path is worth its lowest density, and nothing if it enters another class: arcs between classes
    take no part in the competition, so that training samples keep their labels. The highest value
    leaves the queue first, the lower index on ties; an offer must be strictly higher.

    Of the `best_k_` nearest training samples q of a new sample t, the one with the largest min(cost
    of q, density of t) decides; on ties the nearest, then the lower index. In sparse regions the
    density of t is the smaller one for all of them, and then its nearest neighbour decides.

    Of neighbourhoods with equal scores the smallest is taken. All of them share one pass over
    nearest neighbours per fold, for training and evaluation samples. The only sample of a class is never set
    aside. If no sample can be, or a single one is left for training, nothing can be compared: `scores_` is
    empty and the neighbourhood is 1.

    There is no `sample_weight`: repeat a sample to make its surroundings denser. A failed or interrupted
    `fit` leaves the estimator unfitted.

    References
    ----------
    J. P. Papa, A. X. Falcao, "A new variant of the optimum-path forest classifier", International
    Symposium on Visual Computing, 2008.

    J. P. Papa, S. E. N. Fernandes, A. X. Falcao, "Optimum-path forest based on k-connectivity:
    theory and applications", Pattern Recognition Letters, 2017.

    Examples
    --------
    >>> from pathforest import OPFKNNClassifier
    >>> X, y = [[0.0], [1.0], [1.5], [3.0], [3.5], [4.5]], ["a", "a", "a", "b", "b", "b"]
    >>> model = OPFKNNClassifier(n_neighbors=2).fit(X, y)
    >>> model.predict([[1.9], [2.6]]).tolist()
    ['a', 'b']
    >>> model.prototypes_.tolist()
    [1, 4]

    >>> from sklearn.datasets import load_iris
    >>> model = OPFKNNClassifier(k_max=4, cv=10).fit(*load_iris(return_X_y=True))
    >>> model.best_k_, model.scores_.round(3).tolist()
    (3, [0.96, 0.967, 0.973, 0.973])
    """

    _n_stages = 5
    _squares = True
    _saved = FOREST.extended(density_rules("scores_") | {"_fit_largest_arc": number()})
    _rules: ClassVar[rules.Rules] = {
        **rules.ESTIMATOR,
        **rules.NEIGHBORHOOD,
        "cv": rules.cv,
        "random_state": rules.random_state,
    }

    def __init__(
        self,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        k_max: int = 20,
        n_neighbors: int | None = None,
        cv: int | Any = None,
        random_state: Any = 0,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose the neighbourhood and grow the forest of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter in `cv` keeps together.

        Returns
        -------
        self : OPFKNNClassifier
            The fitted estimator.
        """
        return self._fit(open_fit(self, X, y, labelled=True), groups)

    def _fit(self, data: FitData, groups: Any = None) -> Self:
        self.classes_, codes = data.labels
        k = rules.largest_neighborhood(len(data.X), self.k_max, self.n_neighbors)
        self.best_k_, self.scores_ = k, np.empty(0)
        if self.n_neighbors is None:
            self.best_k_, self.scores_ = data.stage(self._search_k, data, codes, groups, k)
        graph = data.stage(knn_graph, data.engine, self.best_k_, data.n_threads)
        self.density_ = data.stage(density, graph, self.best_k_, data.metric.squared)
        scaled = _core.scale_density(self.density_)
        competed = data.stage(compete_within_classes, graph, self.best_k_, scaled, codes)
        self.cost_, self.predecessor_, self.root_ = competed
        self.prototypes_ = np.flatnonzero(self.predecessor_ < 0)
        self.label_ = self.classes_[codes[self.root_]]
        self._fit_codes = codes
        self._fit_largest_arc = largest_arc(graph, self.best_k_)
        keep_samples(self, data)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class of the training sample whose path reaches it at the highest density.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        Q = check_queries(self, X)
        with answering(self, Q) as bar:
            winners, _ = density_conquerors(self, Q, bar)
        return self.classes_[self._fit_codes[winners]]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class in the values of the best paths.

        The value of a class is that of the best path through those of the `best_k_` nearest training samples
        that have it: the lowest density along the path, that of the new sample included; 0 if none has it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1. The largest belongs to the class that `predict` returns, except on ties, which
            are frequent: in sparse regions all classes nearby are worth the density of the new sample. They
            are scores, not calibrated frequencies.
        """
        return self._labels_and_probabilities(X)[1]

    def _labels_and_probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        Q, query = check_queries(self, X), density_query(self)
        winners, shares = np.zeros(len(Q), dtype=np.intp), np.zeros((len(Q), len(self.classes_)))
        with answering(self, Q) as bar:
            for rows, distances, indices, values, _ in self._offers(Q, bar):
                if query.k:  # else there is one training sample, and no choice
                    winners[rows] = query.conquerors(distances, indices)[0]
                places = np.arange(len(values))[:, None], self._fit_codes[indices]
                # A new sample sparser than all others is below 1, and then all paths are worth its density.
                np.maximum.at(shares[rows], places, np.maximum(values, 1.0))
        return self.classes_[self._fit_codes[winners]], shares / shares.sum(axis=1, keepdims=True)

    def explain(self, X: Any) -> list[Explanation]:
        """Say for each sample which training sample conquered it, along which path, and who came second.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        explanations : list of Explanation
            As from :meth:`OPFClassifier.explain`, with values instead of costs: `cost` is that of the
            winning path, its lowest density from 1 to 1000, `costs` those along the path, and `density` that
            of the sample. `rival` is the best neighbour of another class, None if all have one class.

        Examples
        --------
        >>> from pathforest import OPFKNNClassifier
        >>> X, y = [[0.0], [1.0], [1.5], [3.0], [3.5], [4.5]], ["a", "a", "a", "b", "b", "b"]
        >>> print(OPFKNNClassifier(n_neighbors=2).fit(X, y).explain([[4]])[0])
        Predicted b, value 1000
        Conquered by training sample 4 at distance 0.5, whose path is worth 1000: 4
        Paths are worth their lowest density, from 1 to 1000; that of the sample is 1791
        feature  sample  conqueror 4 (b)  difference  share of distance
        x0            4              3.5         0.5               100%
        """
        Q, found = check_queries(self, X), Explanations()
        for rows, *lists in self._offers(Q):
            for query, distances, indices, values, dense in zip(Q[rows], *lists, strict=True):
                best = np.argsort(-values, kind="stable")
                columns = self.label_[indices], values, indices, distances
                offers = zip(*(column[best].tolist() for column in columns), strict=True)
                made = [Rival(label, value, [i], [value], distance) for label, value, i, distance in offers]
                rival = next((one for one in made if one.label != made[0].label), None)
                path = path_to_root(self.predecessor_, made[0].conquerors[0])
                features = compare_samples(self, query, made[0], rival)
                worth = self.cost_[path].tolist()
                found.append(Explanation(*made[0], path, worth, rival, features, density=dense.item()))
        return found

    def _offers(self, Q: np.ndarray, bar: Any = SILENCE) -> Iterator[tuple[Any, ...]]:
        """Yield blocks of queries with their nearest, what paths through these are worth, and densities."""
        query = density_query(self)
        for rows, distances, indices in self._samples.nearest(Q, max(query.k, 1), len(query.cost), bar):
            yield rows, distances, indices, *query.offers(distances, indices)

    def _search_k(self, data: FitData, codes: np.ndarray, groups: Any, k_max: int) -> tuple[int, np.ndarray]:
        """Return the smallest of the best neighbourhoods up to `k_max`, and the scores of all."""
        if self.cv is None:
            split = validation_split(codes, VALIDATION_SHARE, self.random_state)
            splits = [split] if len(split[1]) else []  # no sample can be spared
        else:
            splits = cross_validation_splits(self.cv, data.X, data.labels.all(), groups)
        k_max = min([k_max, *(len(train) - 1 for train, _ in splits)])
        if not splits or k_max < 1:
            return min(1, len(data.X) - 1), np.empty(0)
        hits = sum(self._count_hits(data, codes, split, k_max) for split in splits)
        # Counts over all folds, not means of their shares, because rounding would make equal means differ.
        scores = hits / sum(len(test) for _, test in splits)
        return int(np.argmax(scores)) + 1, scores

    def _count_hits(self, data: FitData, codes: np.ndarray, split: Split, k_max: int) -> np.ndarray:
        """Count for every neighbourhood up to `k_max` the evaluation samples that get their own class."""
        train, test = split
        metric = before_learning(data.metric, rules.checked_metric(self))
        if metric.kind == "precomputed":
            known, Q = data.X[np.ix_(train, train)], data.X[np.ix_(test, train)]
        else:
            known, Q = data.X[train], data.X[test]
        metric = complete_metric(metric, known)
        engine = build_engine(known, metric, self.algorithm, data.n_threads, device=self.device)
        kept = KeptSamples(known, metric, engine.name, data.n_threads, self.device, {})
        graph = knn_graph(engine, k_max, data.n_threads)
        blocks = list(kept.nearest(Q, k_max, len(known)))
        hits = np.zeros(k_max, dtype=int)
        for k in range(1, k_max + 1):
            rho = density(graph, k, metric.squared)
            cost, *_ = compete_within_classes(graph, k, _core.scale_density(rho), codes[train])
            extremes = float(rho.min()), float(rho.max())
            query = DensityQuery(k, cost, *extremes, largest_arc(graph, k), metric.squared)
            for rows, distances, indices in blocks:
                winners, _ = query.conquerors(distances, indices)
                hits[k - 1] += np.sum(codes[train[winners]] == codes[test[rows]])
        return hits
