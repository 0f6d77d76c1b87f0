"""The Fuzzy Optimum-Path Forest classifier that chooses its own parameters by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pathforest._base import Explanation
from pathforest._estimator import OPFEstimator, unfitted_on_failure
from pathforest._progress import progress
from pathforest._ranking import TIE_BREAKS, table
from pathforest._search import Cell, Folds, Scorer, Scores
from pathforest._stages import StageTimer
from pathforest._transforms import Representation, resolve_transforms
from pathforest._trials import Space, make_sampler, search_by_trials
from pathforest._validation import (
    check_choice,
    check_integer,
    check_labels,
    check_parameter,
    check_parameters,
    thread_count,
)
from pathforest.distances import Metric, array_options, check_algorithm, check_training_values, resolve_metric
from pathforest.fuzzy import FuzzyOPFClassifier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The parameters handed on to every classifier as they are.
COMMON = ("metric", "metric_params", "membership", "membership_side", "algorithm", "n_jobs", "verbose")


def _is_refitted(model: FuzzyOPFClassifierCV) -> bool:
    """Tell whether there is a model to predict with; before `fit` the answer is left to `check_is_fitted`."""
    if not model.refit:
        raise AttributeError(
            "refit=False keeps no model; set refit=True, or fit FuzzyOPFClassifier(**best_params_) yourself"
        )
    return True


class FuzzyOPFClassifierCV(ClassifierMixin, OPFEstimator):
    """Fuzzy Optimum-Path Forest classifier with cross-validated parameters.

    It tries every combination of the parameters given, shares among them all work that does not differ, and
    answers with the average of the best few. This is the call to start with: the defaults hold up when some
    training labels are wrong. Scale the features first, or let `transforms` try it.

    Parameters
    ----------
    k_max : int or sequence of int, default=(10, 30)
        Largest neighbourhoods tried for the density. The largest of them decides time and memory.
    sigmas : float or sequence of float, default=(0.2, 0.6, 1.0)
        Memberships of the sparsest sample; 1 is plain OPF. With ``"tree"`` values above 1 are left out.
    competitions : str or sequence of {"complete", "tree"}, default=("tree",)
        Where paths run. ``"complete"`` is the paper's Algorithm 3; ``"tree"`` is faster and loses no training
        label.
    n_conquerors : int or sequence of int, default=(1, 2, 3, 5, 8, 13, 21, 34)
        How many training samples speak for a class. Larger values outvote wrong labels; trying more of them
        costs next to nothing.
    transforms : None, "linear", "kernel" or sequence, default=None
        Candidate representations, fitted inside each fold. None takes the samples as given. ``"linear"``
        tries them as given, standardised, and after shrinkage LDA; ``"kernel"`` also after shrinkage LDA on
        features of an RBF kernel, for classes that surround one another. A sequence holds scikit-learn
        transformers, None for the samples as given, or pairs (name, transformer). Each costs another search.
    n_best : int, default=3
        How many of the best cells are averaged. 1 gives one ordinary :class:`FuzzyOPFClassifier`.
    cv : int, splitter or iterable, default=5
        Folds as for :class:`sklearn.model_selection.GridSearchCV`: a number of stratified folds, a splitter,
        or pairs of index arrays (train, evaluation); the paper uses one such pair.
    scoring : str or callable, default=None
        What to maximise; None is accuracy. A name or scorer of scikit-learn.
    tie_break : {"simplest", "first"}, default="simplest"
        Between equal mean scores, ``"simplest"`` takes the smaller log loss, then sigma nearest 1, the tree
        before the complete graph, fewer conquerors, smaller k_max, the earlier transform. ``"first"`` is the
        paper's rule: the smaller k_max, then the smaller sigma.
    refit : bool, default=True
        Whether to fit the best cells on all samples. False leaves the scores only.
    betas : float or sequence of float, default=(1, 2, 4, 8, 16, 32)
        Sharpness of the probabilities; each cell takes the one with the smallest log loss.
    search : {"grid", "optuna"}, default="grid"
        ``"optuna"`` draws `n_trials` cells from between the smallest and the largest of the values given, and
        needs ``pip install pathforest[optuna]``.
    n_trials : int, default=50
        Trials of ``search="optuna"``.
    sampler : {"tpe", "evolutionary"} or optuna sampler, default="tpe"
        How ``search="optuna"`` chooses the next trial.
    metric : str or callable, default="euclidean"
        Distance between samples, as for :class:`FuzzyOPFClassifier`; ``"precomputed"`` if X is a matrix.
    metric_params : dict, default=None
        Parameters of the metric.
    membership : "density" or callable, default="density"
        As for :class:`FuzzyOPFClassifier`; a callable is called once per fold and representation.
    membership_side : {"target", "source"}, default="target"
        Whose membership multiplies an offer.
    algorithm : {"auto", "tree", "brute"}, default="auto"
        How distances are searched. Answers are the same.
    random_state : int, RandomState or None, default=0
        Chooses the landmarks of ``transforms="kernel"`` and seeds the sampler; nothing else is random.
    n_jobs : int, default=None
        Number of threads, of transformers too; None means 1 (or what a joblib context says), -1 all cores.
        Answers are the same.
    verbose : int, default=0
        1 reports search and refit with their times to the logger ``"pathforest"`` at level INFO.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        One row per cell, as in GridSearchCV and ready for a pandas DataFrame: ``param_*``, ``params``,
        ``split*_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` (by the tie
        rule, so no two are equal); and ``mean_test_log_loss`` with the ``beta`` that gave it.
    best_params_ : dict
        Parameters of the best cell, by the classifier's names; with `transforms` also ``transform``, a name.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its row in `cv_results_`.
    best_beta_ : float
        Its beta.
    best_estimator_ : FuzzyOPFClassifier or Pipeline
        The best cell fitted on all samples; a pipeline of transformer and classifier where there is one.
    estimators_ : list
        The `n_best` best cells fitted on all samples, `best_estimator_` first.
    n_splits_ : int
        Number of folds.
    scorer_ : callable or None
        The scorer; None for accuracy.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are all strings.
    prototypes_, cost_, predecessor_, root_, order_, label_, training_error_, membership_
        Those of the classifier in `best_estimator_`; also `density_`, `best_k_` and `cuts_` unless
        `membership` is a callable.

    See Also
    --------
    FuzzyOPFClassifier : One model, with parameters you choose.
    sklearn.model_selection.GridSearchCV : The same scores cell by cell, for the price of a fit each.

    Notes
    -----
    Each fold and representation needs one pass over nearest neighbours, one spanning tree, one scan of k up
    to the largest `k_max`, and one pass from evaluation to training samples. A cell then costs its
    competition, and that only if no other cell has the same forest: sigma = 1 is plain OPF whatever k_max is,
    and several k_max often choose the same k. The evaluation compares all evaluation with all training
    samples of a fold, in blocks: its time grows with the square of the number of samples, its memory does
    not.

    Ties are common: a third or more of the paper's grid often share the best score.

    References
    ----------
    R. W. R. de Souza et al., "A novel approach for optimum-path forest classification using fuzzy
    logic", IEEE Transactions on Fuzzy Systems, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest import FuzzyOPFClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FuzzyOPFClassifierCV(sigmas=(0.2, 1.0), n_conquerors=(1, 5)).fit(X, y)
    >>> len(model.cv_results_["params"])  # 2 k_max, 2 sigmas, 2 n_conquerors
    8
    >>> sorted(model.best_params_)
    ['competition', 'k_max', 'n_conquerors', 'sigma']
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """

    def __init__(
        self,
        *,
        k_max: int | Sequence[int] = (10, 30),
        sigmas: float | Sequence[float] = (0.2, 0.6, 1.0),
        competitions: str | Sequence[str] = ("tree",),
        n_conquerors: int | Sequence[int] = (1, 2, 3, 5, 8, 13, 21, 34),
        transforms: str | Sequence[Any] | None = None,
        n_best: int = 3,
        cv: int | Any = 5,
        scoring: str | Scorer | None = None,
        tie_break: str = "simplest",
        refit: bool = True,
        betas: float | Sequence[float] = (1, 2, 4, 8, 16, 32),
        search: str = "grid",
        n_trials: int = 50,
        sampler: str | Any = "tpe",
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        membership: str | Callable[[np.ndarray, np.ndarray], np.ndarray] = "density",
        membership_side: str = "target",
        algorithm: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k_max = k_max
        self.sigmas = sigmas
        self.competitions = competitions
        self.n_conquerors = n_conquerors
        self.transforms = transforms
        self.n_best = n_best
        self.cv = cv
        self.scoring = scoring
        self.tie_break = tie_break
        self.refit = refit
        self.betas = betas
        self.search = search
        self.n_trials = n_trials
        self.sampler = sampler
        self.metric = metric
        self.metric_params = metric_params
        self.membership = membership
        self.membership_side = membership_side
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @unfitted_on_failure
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search, and fit the best cells on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter in `cv` keeps together.

        Returns
        -------
        self : FuzzyOPFClassifierCV
            The fitted estimator.
        """
        metric, space, betas = self._check_grid()
        X, y = self._check_training(X, y, metric)
        representations = self._check_transforms(metric)
        space = space._replace(transforms=[name for name, _ in representations])
        template = FuzzyOPFClassifier(
            k_max=max(space.k_max), **{name: getattr(self, name) for name in COMMON}
        )
        splits = self._split(X, y, groups)
        self.scorer_ = None if self.scoring is None else get_scorer(self.scoring)
        folds = Folds(template, X, y, splits, representations, keep=self.search == "optuna")
        timed = StageTimer(self)
        # The linear algebra of transformers keeps to n_jobs as well: left alone it takes every core, which
        # made fits of these small matrices twenty times slower on a machine with other work.
        with threadpool_limits(thread_count(self.n_jobs), user_api="blas"):
            cells, scores = timed(self._search, folds, space, betas)
            self._summarise(cells, scores, betas)
            if self.refit:
                timed(self._refit, folds, cells)
        self._fit_metric = tuple(metric)
        return self

    @available_if(_is_refitted)
    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class with the largest mean probability over the best cells.

        With ``n_best=1`` this is the prediction of `best_estimator_`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        Q = self._check_prediction(X)
        if len(self.estimators_) == 1:
            return self.best_estimator_.predict(Q)
        return self.classes_[self._mean_probabilities(Q).argmax(axis=1)]

    @available_if(_is_refitted)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Average the probabilities of the best cells, each with the beta chosen for it.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1.
        """
        return self._mean_probabilities(self._check_prediction(X))

    @available_if(_is_refitted)
    def class_costs(self, X: Any) -> np.ndarray:
        """Return what each class offers each sample in the best cell; see FuzzyOPFClassifier.class_costs.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        costs : ndarray of shape (n_queries, n_classes)
            In units of the metric.
        """
        return self._best_classifier().class_costs(self._represent(self._check_prediction(X)))

    @available_if(_is_refitted)
    def explain(self, X: Any) -> list[Explanation]:
        """Tell for each sample who conquered it in the best cell, and along which path.

        With `n_best` above 1 the average may have another label than the best cell alone.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        explanations : list of Explanation
            As from :meth:`FuzzyOPFClassifier.explain`.
        """
        return self._best_classifier().explain(self._represent(self._check_prediction(X)))

    def plot_landscape(self) -> Figure:
        """Draw the mean score over (k_max, sigma), one panel per competition.

        Of the other parameters the best value counts. Needs ``pip install pathforest[plot]``.

        Returns
        -------
        figure : matplotlib.figure.Figure
            Save it with ``figure.savefig("landscape.png")``.
        """
        from pathforest.plotting import plot_landscape

        check_is_fitted(self)
        return plot_landscape(self.cv_results_, self.best_params_)

    def _check_grid(self) -> tuple[Metric, Space, list[float]]:
        """Check every parameter before any work; return the metric, the candidates and the betas."""
        check_parameters(self, ("membership", "membership_side", "algorithm", "n_jobs", "verbose"))
        metric = resolve_metric(self.metric, self.metric_params)
        check_algorithm(metric, self.algorithm)
        check_integer("n_best", self.n_best, 1, "1 keeps the best cell alone")
        check_integer("n_trials", self.n_trials, 1, "50 is the default")
        check_choice("tie_break", self.tie_break, TIE_BREAKS)
        check_choice("search", self.search, ("grid", "optuna"))
        space = Space(
            (),
            _values("k_max", self.k_max, "k_max"),
            _values("sigmas", self.sigmas, "sigma"),
            _values("competitions", self.competitions, "competition"),
            _values("n_conquerors", self.n_conquerors, "n_conquerors"),
        )
        if min(space.sigmas) > 1:
            space = space._replace(competitions=[c for c in space.competitions if c != "tree"])
        if not space.competitions:
            raise ValueError(
                f"competitions={self.competitions!r} with sigmas={self.sigmas!r} leave no cell: along the "
                "tree sigma must be <= 1; add a smaller sigma, or 'complete' to competitions"
            )
        return metric, space, _values("betas", self.betas, "beta")

    def _check_training(self, X: Any, y: Any, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError("FuzzyOPFClassifierCV requires y to be passed, but the target y is None")
        X = validate_data(self, X, **array_options(metric))
        if metric.kind == "precomputed":  # here, because folds would name other rows than the user's
            check_training_values(X, metric, squares=not callable(self.membership))
        labels = check_labels(y)
        check_consistent_length(X, labels)
        self.classes_ = np.unique(labels)
        return X, labels

    def _check_transforms(self, metric: Metric) -> list[Representation]:
        if metric.kind == "precomputed" and self.transforms is not None:
            raise ValueError(
                f"transforms={self.transforms!r} cannot be applied to metric='precomputed', where X holds no "
                "features; use transforms=None, or pass features"
            )
        return resolve_transforms(self.transforms, len(self.classes_), self.random_state)

    def _split(self, X: np.ndarray, y: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """List the folds, as index arrays."""
        if len(X) == 1:
            raise ValueError(
                "FuzzyOPFClassifierCV cannot cross-validate 1 sample; pass more, or use FuzzyOPFClassifier"
            )
        splitter = check_cv(self.cv, y, classifier=True)
        splits = [
            (np.arange(len(X))[train], np.arange(len(X))[rows])
            for train, rows in splitter.split(X, y, groups)
        ]
        for fold, (train, rows) in enumerate(splits):
            if not (len(train) and len(rows)):
                raise ValueError(
                    f"fold {fold} of cv has {len(train)} training and {len(rows)} evaluation samples; each "
                    "needs at least one"
                )
        self.n_splits_ = len(splits)
        return splits

    def _search(self, folds: Folds, space: Space, betas: list[float]) -> tuple[list[Cell], Scores]:
        """Score every cell of the grid, or the trials."""
        if self.search == "optuna":
            sampler = make_sampler(self.sampler, self.random_state)
            with progress(self.n_trials * self.n_splits_, "pathforest trials") as bar:
                return search_by_trials(folds, space, self.n_trials, sampler, betas, self.scorer_, bar)
        cells = [Cell(*values) for values in product(*space) if not (values[3] == "tree" and values[2] > 1)]
        with progress(len(cells) * self.n_splits_, "pathforest search") as bar:
            return cells, folds.score(cells, betas, self.scorer_, bar)

    def _summarise(self, cells: list[Cell], scores: Scores, betas: list[float]) -> None:
        with_transform = self.transforms is not None
        self.cv_results_ = table(cells, scores, betas, self.tie_break, with_transform)
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_beta_ = float(self.cv_results_["beta"][self.best_index_])

    def _refit(self, folds: Folds, cells: list[Cell]) -> None:
        """Fit the best cells on all samples, and take over what the best classifier has learned."""
        best = np.argsort(self.cv_results_["rank_test_score"])[: self.n_best]
        self.estimators_ = folds.refit([cells[i] for i in best], self.cv_results_["beta"][best].tolist())
        self.best_estimator_ = self.estimators_[0]
        own = {"classes_", "n_features_in_", "feature_names_in_"}
        for name, value in vars(self._best_classifier()).items():
            if name.endswith("_") and not name.startswith("_") and name not in own:
                setattr(self, name, value)

    def _best_classifier(self) -> FuzzyOPFClassifier:
        best = self.best_estimator_
        return best if isinstance(best, FuzzyOPFClassifier) else best[-1]

    def _represent(self, Q: np.ndarray) -> Any:
        best = self.best_estimator_
        return Q if isinstance(best, FuzzyOPFClassifier) else best[:-1].transform(Q)

    def _check_prediction(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **array_options(Metric(*self._fit_metric)))

    def _mean_probabilities(self, Q: np.ndarray) -> np.ndarray:
        return np.mean([model.predict_proba(Q) for model in self.estimators_], axis=0)


def _values(name: str, given: Any, rule: str) -> list[Any]:
    """List the candidates for one parameter, each checked by the rule of the classifier's own."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not values:
        raise ValueError(f"{name}={given!r} holds no value; give at least one")
    for value in values:
        check_parameter(rule, value)
    return values
