"""The Fuzzy Optimum-Path Forest classifier (Algorithm 3 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from pathforest._engines.engine import TREE_NEIGHBORS, Engine
from pathforest._engines.samples import SparseSamples
from pathforest._models import parameters as rules
from pathforest._models.base import FitData, Settings, open_fit
from pathforest._models.classifier import ForestClassifier, keep_forest
from pathforest._persistence.checks import MODELS, PARTS, array, density_rules, saved
from pathforest._utils.progress import fitting
from pathforest._utils.text import show, warn
from pathforest.forest import Forest, boundary_prototypes, grow_forest, grow_forest_complete
from pathforest.graph import (
    COMPETITION_NEIGHBORS,
    KnnGraph,
    SpanningTree,
    knn_graph,
    shorter_lists,
    spanning_tree,
)
from pathforest.membership import estimate_density, fuzzy_membership, values_to_membership

# Plain OPF loses no training label; losing one in twenty means that a class has leaked into another.
TRAINING_ERROR_LIMIT = 0.05


class TrainingErrorWarning(UserWarning):
    """Issued when the competition gives many training samples another label than their own."""


@saved(MODELS, PARTS)
class FuzzyOPFClassifier(ForestClassifier):
    """Fuzzy Optimum-Path Forest classifier.

    An Optimum-Path Forest whose path costs are multiplied by a membership, learned from the density of the
    samples without their labels. Two parameters matter most: `sigma` sets how much the density counts, and
    `k_max` how large a neighbourhood may be. Scale the features first, as for nearest neighbours.

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
    sigma : float, default=0.8
        Membership of the sparsest sample, that of the densest being 1. 1 is plain OPF. Smaller values let
        density matter more; with ``competition="complete"`` small ones can lose training labels, and 0.8 is
        the safest short of 1. The paper searches 0.2 to 1.2; any value above 0 is legal.
    competition : {"complete", "tree"}, default="complete"
        Where paths run: over all pairs of samples, as Algorithm 3 has it, or along the spanning tree only.
        ``"tree"`` is faster, loses no training label and needs ``sigma <= 1``; prefer it for small `sigma`.
    membership : "density" or callable, default="density"
        A callable ``(X, y) -> values`` replaces the density: it gets the checked samples (read-only) and
        labels and returns one value in [0, 1] per sample, used instead of t^2 in Eq. 5. `density_`,
        `best_k_` and `cuts_` are then not set. A search calls it once per fold and representation.
    membership_side : {"target", "source"}, default="target"
        Whether an offer is multiplied by the membership of the sample that takes it (Eq. 6) or of the one
        that makes it, as the original C code did.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_prototypes,)
        Indices of the prototypes, ascending.
    cost_, predecessor_, root_ : ndarray of shape (n_samples,)
        Cost of the path that conquered each training sample, 0 at prototypes; the previous sample on it, -1
        at prototypes; and the prototype it starts from.
    order_ : ndarray of shape (n_samples,)
        Samples sorted by (cost, arc that set it, index). Of equal offers, that of the first here wins.
    label_ : ndarray of shape (n_samples,)
        Label each training sample got from its prototype.
    training_error_ : float
        Share of training samples whose `label_` is not their own. Above 0.05 `fit` issues a
        :class:`TrainingErrorWarning`.
    membership_ : ndarray of shape (n_samples,)
        Factor of each training sample in Eq. 6.
    density_ : ndarray of shape (n_samples,)
        Density of each training sample, Eq. 3 without its constant factor.
    best_k_ : int
        Neighbourhood the density was estimated from.
    cuts_ : ndarray of shape (n_tried,)
        Normalised cut of each neighbourhood tried, from 1; empty if `n_neighbors` was given.
    n_features_in_, feature_names_in_, label_name_, categories_
        Number of features; names of features and labels, if X and y have them as text; and for a table with
        ``metric="gower"`` the texts of each column, False and True, or None for numbers.

    See Also
    --------
    OPFClassifier : The same without membership.
    OPFClustering : The clustering behind the density.

    Notes
    -----
    If q offers a sample u the cost max(C(q), d(q, u)), u takes it multiplied by its membership F(u). A sample
    that has left the queue is never updated again, so for ``sigma < 1`` the competition is greedy by
    definition. The density comes from the neighbourhood up to `k_max` whose clustering has the smallest
    normalised cut. Memberships act on predictions only through the costs and labels of the training samples.
    If every membership is 1, the model is plain OPF in every fitted array.

    There is no `sample_weight`: repeat a sample to make its surroundings denser, and to count twice where
    several conquerors decide. A failed or interrupted `fit` leaves the estimator unfitted.

    References
    ----------
    R. W. R. de Souza et al., "A novel approach for optimum-path forest classification using fuzzy
    logic", IEEE Transactions on Fuzzy Systems, 2019.

    Examples
    --------
    >>> from pathforest import FuzzyOPFClassifier
    >>> X, y = [[0.0], [1.0], [1.5], [3.0], [3.5], [4.5]], ["a", "a", "a", "b", "b", "b"]
    >>> model = FuzzyOPFClassifier(sigma=0.8, n_neighbors=2).fit(X, y)
    >>> model.predict([[1.9], [2.6]]).tolist()
    ['a', 'b']
    >>> model.membership_.round(2).tolist()
    [0.8, 1.0, 0.93, 0.93, 1.0, 0.8]
    >>> model.training_error_
    0.0
    """

    _n_stages = 6
    _saved = ForestClassifier._saved.extended(
        {"membership_": array("samples")},
        density_rules(),  # not for memberships from a function
    )
    _rules: ClassVar[rules.Rules] = {
        **rules.ESTIMATOR,
        **rules.NEIGHBORHOOD,
        "sigma": rules.sigma,
        "competition": rules.competition,
        **rules.MEMBERSHIP,
        **rules.PREDICTION,
    }

    def __init__(
        self,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        k_max: int = 20,
        n_neighbors: int | None = None,
        sigma: float = 0.8,
        competition: str = "complete",
        membership: str | Callable[[np.ndarray, np.ndarray], np.ndarray] = "density",
        membership_side: str = "target",
        n_conquerors: int = 1,
        beta: float = 8.0,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.competition = competition
        self.membership = membership
        self.membership_side = membership_side
        self.n_conquerors = n_conquerors
        self.beta = beta

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the memberships and grow the forest of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.

        Returns
        -------
        self : FuzzyOPFClassifier
            The fitted estimator.
        """
        return self._fit(open_fit(self, X, y, labelled=True))

    def _fit(self, data: FitData) -> Self:
        self.classes_, codes = data.labels
        k, values = rules.largest_neighborhood(len(data.X), self.k_max, self.n_neighbors), None
        if callable(self.membership):
            values = data.stage(call_membership, self.membership, data.X, data.labels.all())
        length = max(k, min(TREE_NEIGHBORS, len(data.X) - 1))
        graph = data.stage(knn_graph, data.engine, length, data.n_threads)
        tree = data.stage(spanning_tree, data.engine, graph, data.n_threads)
        prototypes = data.stage(boundary_prototypes, tree, codes)
        if values is None:
            options = self.n_neighbors is None, data.metric.squared, data.n_threads
            self.density_, self.best_k_, self.cuts_ = data.stage(estimate_density, graph, k, *options)
            self.membership_ = fuzzy_membership(self.density_, self.sigma)
        else:
            self.membership_ = values_to_membership(values, self.sigma)
        options = self.competition, self.membership_side, self.sigma
        forest = data.stage(compete, data.engine, graph, tree, prototypes, self.membership_, *options)
        keep_forest(self, data, prototypes, forest, codes)
        warn_of_training_error(self)
        return self

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.competition == "tree" and self.sigma > 1:
            raise ValueError(
                f"competition='tree' needs sigma <= 1, got sigma={show(self.sigma)}: along the tree larger "
                "values only raise costs; lower sigma or use competition='complete'"
            )
        return settings._replace(squares=not callable(self.membership))


def call_membership(membership: Callable[..., Any], X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Ask the user's function for its values and check them."""
    if isinstance(X, SparseSamples):
        samples = X.tocsr()
    else:
        samples = X.view()
        samples.flags.writeable = False
    values = np.asarray(membership(samples, labels.copy()))
    if values.shape != (len(X),):
        raise ValueError(
            f"membership returned shape {values.shape} for {len(X)} samples; it must return ({len(X)},), "
            "one value per sample"
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"membership returned values of type {values.dtype}; it must return numbers in [0, 1]"
        )
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(
            f"membership returned {values[first]} for sample {first}; values must lie in [0, 1] and none "
            "may be NaN; rescale them, for example (v - v.min()) / (v.max() - v.min())"
        )
    return values.astype(np.float64)


def compete(
    engine: Engine,
    graph: KnnGraph,
    tree: SpanningTree,
    prototypes: np.ndarray,
    membership: np.ndarray,
    competition: str,
    membership_side: str,
    sigma: float,
) -> Forest:
    """Run the competition that is asked for; memberships of 1 are plain OPF, along the tree."""
    if (membership == 1).all():
        return grow_forest(tree, prototypes)
    if competition == "tree":
        return grow_forest(tree, prototypes, membership, membership_side)
    lists = shorter_lists(graph, COMPETITION_NEIGHBORS)
    forest = grow_forest_complete(engine, lists, prototypes, membership, membership_side)
    if not np.isfinite(forest.cost).all():
        raise ValueError(f"sigma={show(sigma)} makes path costs overflow; use a sigma nearer 1, or rescale X")
    return forest


def warn_of_training_error(model: FuzzyOPFClassifier) -> None:
    """Warn if many training samples lost their label."""
    if model.training_error_ > TRAINING_ERROR_LIMIT:
        warn(
            f"{model.training_error_:.1%} of the training samples lost their label in the competition "
            f"with sigma={show(model.sigma)}: one class leaks into another. Use competition='tree', which "
            "loses none, or a sigma nearer 1 (0.8 is the safest short of 1).",
            TrainingErrorWarning,
        )
