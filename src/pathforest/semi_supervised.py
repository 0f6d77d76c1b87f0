"""The Optimum-Path Forest classifier that learns from unlabelled samples too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from pathforest._engines.build import build_engine
from pathforest._engines.metric import Metric
from pathforest._models import parameters as rules
from pathforest._models.prediction import BaseOPFClassifier
from pathforest._models.state import unfitted_on_failure
from pathforest._utils.show import show
from pathforest._utils.timers import StageTimer
from pathforest.forest import boundary_prototypes, grow_forest
from pathforest.graph import spanning_tree
from pathforest.persistence.checks import check_array


class OPFSemiSupervisedClassifier(BaseOPFClassifier):
    """Optimum-Path Forest classifier for a few labelled and many unlabelled samples.

    Labels travel from labelled samples along the spanning tree of all samples, through the
    unlabelled ones, and then train an ordinary :class:`OPFClassifier`. It helps if each class is
    a connected structure, however thin or curved; if classes overlap, one wrong step carries a
    label into the other class. Scale the features first, as for nearest neighbours.

    Parameters
    ----------
    unlabeled : label, default=None
        The value in y that marks a sample without a label, of the same type as the labels. None is -1
        among numbers and ``""`` among texts.
    method : {"mst", "opfsemi"}, default="mst"
        Where labels start: from every labelled sample, or from those at the borders between classes
        only, in the spanning tree of the labelled samples. ``"opfsemi"`` is the older rule, and
        takes a second, smaller spanning tree.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a
        matrix of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2
        bytes of memory. Use ``"log_sqeuclidean"`` to compare with LibOPF and the paper.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    n_conquerors : int, default=1
        How many training samples decide for each class: the offer of a class to a new sample is the mean
        cost of its `n_conquerors` cheapest paths. 1 is the paper's rule. Raise it (3 to 30, by
        cross-validation) if training labels may be wrong: a mislabelled sample then no longer decides
        alone. It acts in prediction only.
    beta : float, default=8.0
        Sharpness of `predict_proba`, which is proportional to (smallest cost / cost) ** beta. Larger
        values move probabilities towards 0 and 1; predictions do not change. It acts in prediction only.
    algorithm : {"auto", "tree", "brute"}, default="auto"
        How distances are searched: ``"tree"`` suits few features, ``"brute"`` many, and ``"auto"``
        chooses. Answers are the same.
    n_jobs : int, default=None
        Number of threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the
        same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    verbose : int, default=0
        1 reports the stages of `fit`, their times and the size of a full distance matrix to the logger
        ``"pathforest"`` at level INFO; show it with ``logging.basicConfig(level=logging.INFO)``.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        Label of every training sample: its own where it has one, else the one that reached it.
    classes_ : ndarray of shape (n_classes,)
        Class labels, without the mark of unlabelled samples.
    prototypes_ : ndarray of shape (n_prototypes,)
        Indices of the prototypes of the final forest, ascending.
    cost_ : ndarray of shape (n_samples,)
        Cost of the path that conquered each training sample, 0 at prototypes.
    predecessor_ : ndarray of shape (n_samples,)
        Previous sample on that path, -1 at prototypes.
    root_ : ndarray of shape (n_samples,)
        Prototype the path starts from.
    order_ : ndarray of shape (n_samples,)
        Samples sorted by (cost, arc that set it, index). Of equal offers, that of the first here wins.
    label_ : ndarray of shape (n_samples,)
        Label each training sample got from its prototype; here always that of `transduction_`.
    training_error_ : float
        Share of training samples where these two differ; here always 0.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has names that are all strings.

    See Also
    --------
    OPFClassifier : The same for labelled samples only.
    sklearn.semi_supervised.LabelSpreading : Labels that diffuse over a graph, instead of taking one path.

    Notes
    -----
    1. Seeds are, for ``"mst"``, all labelled samples; for ``"opfsemi"``, the prototypes that
       :class:`OPFClassifier` finds in the labelled samples alone (the ends of arcs between classes
       in their own spanning tree; the first of them if they have one class).
    2. The seeds compete for all samples over the complete graph, where a path costs as much as its
       longest arc. The optimum paths run along the spanning tree of all samples, so no distance is
       needed beyond those of the tree. Arcs of equal length are ordered by their ends.
    3. An unlabelled sample takes the label of the seed that conquers it. Labelled samples keep
       theirs, even where, with ``"opfsemi"``, a path of another class runs through them.
    4. The labels of `transduction_` decide the prototypes in the same spanning tree, and from them
       grows the forest of :class:`OPFClassifier`: every fitted array is the one it would have.

    Without unlabelled samples it is :class:`OPFClassifier`.

    There is no `sample_weight`: a repeated sample sits at distance 0 from itself and changes no
    forest, so weights have no natural meaning here.

    A failed or interrupted `fit` leaves the estimator unfitted.

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
    >>> model.predict([[3.5], [4.5]]).tolist()
    ['a', 'b']
    >>> model.prototypes_.tolist()
    [3, 4]
    """

    _parameter_rules: ClassVar[rules.Rules] = {
        "unlabeled": rules.checked_where_used,
        "method": rules.choice("mst", "opfsemi"),
        **rules.DISTANCES,
        **rules.PREDICTION,
        "device": rules.device,
        "verbose": rules.verbose,
    }

    def __init__(
        self,
        *,
        unlabeled: Any = None,
        method: str = "mst",
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_conquerors: int = 1,
        beta: float = 8.0,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.unlabeled = unlabeled
        self.method = method
        self.metric = metric
        self.metric_params = metric_params
        self.n_conquerors = n_conquerors
        self.beta = beta
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @unfitted_on_failure
    def fit(self, X: Any, y: Any) -> Self:
        """Spread the labels over all samples and grow their forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``. float32 is kept;
            other types become float64.
        y : array-like of shape (n_samples,)
            Class labels of any type, and `unlabeled` for samples without one; at least one has a label.

        Returns
        -------
        self : OPFSemiSupervisedClassifier
            The fitted estimator.
        """
        metric, n_threads = self._check_settings()
        X, labels, _, metric = self._check_training(X, y, metric)
        labelled, codes = self._encode(labels)
        timed = StageTimer(self)
        engine = self._make_engine(timed, X, metric, n_threads)
        tree = timed(spanning_tree, engine, None, n_threads)
        seeds = labelled
        if self.method == "opfsemi" and len(labelled) < len(X):
            seeds = timed(self._border, X, metric, labelled, codes[labelled], n_threads)
        spread = codes[timed(grow_forest, tree, seeds).root]
        spread[labelled] = codes[labelled]
        prototypes = timed(boundary_prototypes, tree, spread)
        forest = timed(grow_forest, tree, prototypes)
        self._remember(X, spread, metric, engine, prototypes, forest)
        self.transduction_ = self.classes_[spread]
        return self

    def _check_fitted_state(self) -> int:
        n = super()._check_fitted_state()
        if not np.array_equal(check_array(self, "transduction_", (n,), (self.classes_.dtype,)), self.label_):
            raise ValueError("transduction_ and label_ differ")
        return n

    def _encode(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the labelled samples and the codes of all labels, -1 for unlabelled samples."""
        labelled = np.flatnonzero(labels != self._mark(labels))
        if not len(labelled):
            raise ValueError(
                f"y marks all {len(labels)} samples as unlabelled (unlabeled={show(self.unlabeled)}); label "
                "at least one, or choose another mark with unlabeled=..."
            )
        codes = np.full(len(labels), -1)
        self.classes_, codes[labelled] = np.unique(labels[labelled], return_inverse=True)
        return labelled, codes

    def _mark(self, labels: np.ndarray) -> Any:
        """Return the mark of unlabelled samples; one of another kind than the labels could match none."""
        kind = next(kinds for kinds in ("OU", "biuf", "mM") if labels.dtype.kind in kinds)
        if self.unlabeled is None:
            return {"OU": "", "biuf": -1}.get(kind)
        mark = np.asarray(self.unlabeled)
        if mark.ndim or mark.dtype.kind not in kind.removeprefix("O"):
            raise TypeError(
                f"unlabeled={show(self.unlabeled)} cannot mark samples, because the labels are of type "
                f"{labels.dtype}; use a value of that type, or None for -1 among numbers and '' among texts"
            )
        return self.unlabeled

    def _border(
        self, X: np.ndarray, metric: Metric, labelled: np.ndarray, codes: np.ndarray, n_threads: int
    ) -> np.ndarray:
        """Find the labelled samples that :class:`OPFClassifier` would have as prototypes."""
        part = X[np.ix_(labelled, labelled)] if metric.kind == "precomputed" else X[labelled]
        engine = build_engine(part, metric, self.algorithm, n_threads, device=self.device)
        tree = spanning_tree(engine, None, n_threads)
        return labelled[boundary_prototypes(tree, codes)]
