"""The supervised Optimum-Path Forest classifier (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from pathforest._models import parameters as rules
from pathforest._models.base import FitData, open_fit
from pathforest._models.classifier import ForestClassifier, keep_forest
from pathforest._persistence.checks import MODELS, PARTS, saved
from pathforest._utils.progress import fitting
from pathforest.forest import boundary_prototypes, grow_forest
from pathforest.graph import spanning_tree


@saved(MODELS, PARTS)
class OPFClassifier(ForestClassifier):
    """Optimum-Path Forest classifier.

    Samples of different classes that are neighbours in the minimum spanning tree become prototypes. They
    conquer the other training samples along paths whose cost is their longest arc, and new samples in the
    same way. There is nothing to tune but the metric; scale the features first, as for nearest neighbours.

    Parameters
    ----------
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_prototypes,)
        Indices of the prototypes, ascending.
    cost_, predecessor_, root_ : ndarray of shape (n_samples,)
        Cost of the path that conquered each training sample, 0 at prototypes; the previous sample on it, -1
        at prototypes; and the prototype it starts from.
    order_ : ndarray of shape (n_samples,)
        Samples sorted by (cost, arc that set it, index). Of equal offers, that of the first here wins.
    label_, training_error_ : ndarray of shape (n_samples,), float
        Label each training sample got from its prototype, here always its own; share of those that are not.
    n_features_in_, feature_names_in_, label_name_, categories_
        Number of features; names of features and labels, if X and y have them as text; and for a table with
        ``metric="gower"`` the texts of each column, False and True, or None for numbers.

    See Also
    --------
    FuzzyOPFClassifier : The same with the path costs weighted by density.
    OPFClustering : Clusters without labels.

    Notes
    -----
    The cost of a path is its longest arc; the optimum forest follows the minimum spanning tree, so
    training costs one pass over nearest neighbours and one spanning tree. Arcs of equal length are
    ordered by their ends, so the result is unique and does not depend on engine or threads.

    There is no `sample_weight`: a repeated sample changes no other sample's path, and with several conquerors
    it counts twice. A failed or interrupted `fit` leaves the estimator unfitted.

    References
    ----------
    J. P. Papa, A. X. Falcao, C. T. N. Suzuki, "Supervised pattern classification based on
    optimum-path forest", International Journal of Imaging Systems and Technology, 2009.

    Examples
    --------
    >>> from pathforest import OPFClassifier
    >>> model = OPFClassifier().fit([[0.0], [1.0], [3.0], [4.5]], ["a", "a", "b", "b"])
    >>> model.predict([[1.9], [2.1]]).tolist()
    ['a', 'b']
    >>> model.prototypes_.tolist()
    [1, 2]
    >>> model.predict_proba([[1.5]]).round(3).tolist()
    [[1.0, 0.0]]
    >>> model.explain([[6.0]])[0].path
    [3, 2]
    """

    _n_stages = 4
    _rules: ClassVar[rules.Rules] = {**rules.ESTIMATOR, **rules.PREDICTION}

    def __init__(
        self,
        *,
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
        self.n_conquerors = n_conquerors
        self.beta = beta

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Grow the forest of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept; other types
            become float64. Sparse matrices are for ``"cosine"``, ``"euclidean"`` and ``"sqeuclidean"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.

        Returns
        -------
        self : OPFClassifier
            The fitted estimator.
        """
        return self._fit(open_fit(self, X, y, labelled=True))

    def _fit(self, data: FitData) -> Self:
        self.classes_, codes = data.labels
        tree = data.stage(spanning_tree, data.engine, None, data.n_threads)
        prototypes = data.stage(boundary_prototypes, tree, codes)
        forest = data.stage(grow_forest, tree, prototypes)
        return keep_forest(self, data, prototypes, forest, codes)
