"""The Fuzzy Optimum-Path Forest classifier that chooses its own parameters by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from threadpoolctl import threadpool_limits

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._models import parameters as rules
from pathforest._models.base import OPFEstimator, warn_of_units
from pathforest._models.explanation import Explanation
from pathforest._models.growing import unchanged_on_failure
from pathforest._models.labels import check_labels, read_labels
from pathforest._persistence.checks import MODELS, saved
from pathforest._search import ensemble
from pathforest._search.folds import estimate_noise, refit, search
from pathforest._search.plan import Plan, as_numbers, check_search, make_plan
from pathforest._search.scoring import Scorer, Scores, check_table, choose, resolve_scoring, table
from pathforest._utils.progress import fitting, stages_of
from pathforest._utils.text import show
from pathforest.fuzzy import FuzzyOPFClassifier


def _has_models(search: FuzzyOPFClassifierCV) -> bool:
    """Say that there are models to answer with, or what to fit instead."""
    if search.refit:
        return True
    transformed = "transform" in vars(search).get("best_params_", {})
    raise AttributeError(
        "refit=False keeps no model; set refit=True, or fit FuzzyOPFClassifier("
        f"**{'params' if transformed else 'best_params_'}, beta=best_beta_)"
        + " on samples transformed by best_params_['transform'], where params are best_params_ "
        "without 'transform'" * transformed
    )


def _derive(model: FuzzyOPFClassifierCV) -> None:
    model.scorer_ = resolve_scoring(model.scoring)
    if "estimators_" in vars(model):
        model._take_over_best()


@saved(MODELS)
class FuzzyOPFClassifierCV(ClassifierMixin, OPFEstimator):
    """Fuzzy Optimum-Path Forest classifier with cross-validated parameters.

    It tries every combination of the given parameters in several representations of the samples, does work
    that they share only once, and answers with the average of the best few. This is the call to start with:
    the defaults hold up when some training labels are wrong.

    Parameters
    ----------
    k_max : int or sequence of int, default=(10, 30)
        Largest neighbourhoods tried for the density. The largest of them decides time and memory.
    sigmas : float or sequence of float, default=(0.2, 0.6, 1.0)
        Memberships of the sparsest sample; 1 is plain OPF. With ``"tree"`` values above 1 are left out.
    competitions : str or sequence of {"complete", "tree"}, default=("tree",)
        Where paths run. ``"complete"`` is the paper's Algorithm 3; ``"tree"`` is faster and loses no training
        label.
    n_conquerors : int or sequence of int, default=(1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
        How many training samples decide for each class. Larger values outvote wrong labels; trying more
        of them costs next to nothing.
    betas : float or sequence of float, default=(0.5, 1, 2, 4, 8, 16, 32)
        Sharpness of the probabilities; each cell takes the value with the smallest log loss.
    transforms : "auto", None or sequence, default="auto"
        Candidate representations, fitted inside each fold. ``"auto"`` standardises the features and tries
        them as they are, after shrinkage LDA, after shrinkage LDA on features of RBF kernels of two widths,
        and next to the class shares of a random forest whose importances weigh them, with leaves of 1 and of
        20 samples; also the principal components of 20 features or more. `transforms_` says what was left
        out and why. Probabilities change a little with the order of features, because a random forest draws
        among them by position. None takes the samples as given, and so does ``"auto"`` for another metric
        than Euclidean, a `membership` of your own, and sparse matrices. A sequence contains scikit-learn
        transformers, None for the samples as given, or pairs (name, transformer). These get the samples
        untouched, so X may contain what they accept: missing values for an imputer, a DataFrame for a
        ColumnTransformer. None among them needs finite numbers.
    n_best : int, default=None
        How many different models are averaged at most; None sets no limit. The average is made of the best
        cells of the representations by their log loss (by `scoring` if that is given): twenty times the one
        is added that makes the log loss of the average on the evaluation samples smallest. 1 gives the best
        cell alone, an ordinary :class:`FuzzyOPFClassifier`; so does a single representation.
    cv : int, splitter or iterable, default=3
        Folds as in scikit-learn: a number of stratified folds, a splitter, or pairs of index arrays (train,
        evaluation); the paper uses one such pair. A number is at most that of the samples of the largest
        class; smaller classes are in some folds only. With a number the search looks at `part_` alone, with
        anything else at all samples; the models are fitted to all samples in either case.
    scoring : str or callable, default=None
        What to maximise, a name or scorer of scikit-learn; None is accuracy. Errors stop the search.
    refit : bool, default=True
        Whether to fit the best cells on all samples. False leaves the scores only.
    label_noise : "estimate" or float, default="estimate"
        Share of wrong labels in y, below (C - 1) / C for C classes. `predict_proba` is about the true
        classes: it takes ``label_noise / (C - 1)`` off every probability, leaves at least 0.003 (less where
        there is hardly any noise, and 0.01 / (C - 1) where classes are many), and scales the rest to a sum
        of 1. No label changes by that.
        ``"estimate"`` is that of ``find_issues(method="fast")`` on standardised samples, less one standard
        error; 0 gives the probabilities of the labels, wrong ones included.
    class_weight : "balanced", dict or None, default=None
        Factors of the classes, 1 for those not named: `predict` answers the class with the largest
        probability times factor. ``"balanced"`` has factors inversely proportional to the numbers of samples.
        Nothing else changes, probabilities included.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    membership : "density" or callable, default="density"
        A callable ``(X, y) -> values`` replaces the density: it gets the checked samples (read-only) and
        labels and returns one value in [0, 1] per sample, used instead of t^2 in Eq. 5. `density_`,
        `best_k_` and `cuts_` are then not set. A search calls it once per fold and representation.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many. Answers are the same.
    random_state : int, RandomState or None, default=0
        Draws the landmarks of kernels and grows the random forests of ``"auto"``; all else is fixed.
    n_jobs : int, default=None
        Threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    verbose : int, default=0
        1 prints the stages of `fit`, their times, the size of a full distance matrix and what
        ``transforms="auto"`` chose.

    Attributes
    ----------
    transforms_ : dict
        ``"preset"``, what `transforms` stands for; ``"reason"``, why, and what was left out; ``"names"``,
        those of the candidates; and ``"part"``, the number of samples that were searched on.
    part_ : ndarray of shape (n_part,)
        The samples that were searched on, ascending: about 4,500 of every class its share, where there are
        more and `cv` is a number. They are chosen by their values, so the order of rows does not matter.
    table_ : TablePreprocessor
        For a data frame with more than numbers: what was learned of its columns; see its ``describe()``.
    cv_results_ : dict of ndarray
        One row per cell, as in GridSearchCV and ready for a pandas DataFrame: ``param_*``, ``params``,
        ``split*_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` (no two are equal,
        see Notes); and ``mean_test_log_loss`` with its ``beta``. There are no times: cells share work.
    best_params_ : dict
        Parameters of the best cell, by the classifier's names; and ``transform``, the name of its
        representation, unless only the samples as given were tried.
        ``sklearn.base.clone(best_estimator_)`` has them all, the transformer and `best_beta_` as well.
    best_score_, best_index_, best_beta_ : float, int, float
        Its mean score, its row in `cv_results_` and its beta.
    best_estimator_ : FuzzyOPFClassifier or Pipeline
        The best cell fitted on all samples; a pipeline of transformer and classifier if it has a transformer.
    estimators_ : list
        The cells that are averaged, fitted on all samples, `best_estimator_` first.
    weights_ : ndarray of shape (n_estimators,)
        What each of them weighs in the average; they add up to 1. The first is 0 if the average does without
        the best cell.
    label_noise_ : float
        Share of wrong labels that the probabilities allow for.
    averaged_ : ndarray of shape (n_estimators,)
        Their rows in `cv_results_`.
    n_splits_ : int
        Number of folds.
    scorer_ : callable or None
        The scorer; None for accuracy.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_, feature_names_in_, label_name_, categories_
        Number of features; names of features and labels, if X and y have them as text; and for a table with
        ``metric="gower"`` the texts of each column, False and True, or None for numbers.
    prototypes_, cost_, predecessor_, root_, order_, label_, training_error_, membership_
        Those of the classifier in `best_estimator_`; also `density_`, `best_k_` and `cuts_` unless
        `membership` is a callable.

    See Also
    --------
    FuzzyOPFClassifier : One model, with parameters you choose.
    sklearn.model_selection.GridSearchCV : The same scores cell by cell, for the price of a fit each.

    Notes
    -----
    Samples as given need one pass over nearest neighbours for all folds, those of a transformer one per
    fold. In each fold, kernels of one space share their distances.
    Each fold and representation needs one spanning tree, one scan of k up to the largest `k_max`, and one
    search per class for the neighbours of evaluation samples, of which all small classes share one. A cell
    then costs its competition, but only if no other cell has the same forest: sigma = 1 is plain OPF whatever
    k_max is, and several k_max often choose the same k. Forests and class costs held at once take up to
    256 MiB.

    What is chosen on a part is fitted to all: forests, scalers, discriminants and principal components.
    Landmarks of kernels and what is learned on them come from the part, and random forests above 100,000
    samples, or a million samples times classes. The average follows R. Caruana et al., "Ensemble selection
    from libraries of models", ICML 2004.

    The linear algebra of transformers uses one thread in `fit`, whatever `n_jobs` is.

    Ties are common: often a third or more of the paper's grid share the best score. Among equal mean scores
    the smaller log loss decides, then the sigma nearest 1, the tree before the complete graph, fewer
    conquerors, the smaller k_max, the earlier transform.

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
    >>> model.transforms_["preset"]
    'auto'
    >>> len(model.cv_results_["params"])  # 2 k_max, 2 sigmas, 2 n_conquerors in 6 representations
    48
    >>> sorted(model.best_params_)
    ['competition', 'k_max', 'n_conquerors', 'sigma', 'transform']
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """

    _n_stages = 2
    _has_steps = True
    _saved = ensemble.SAVED.extended(
        {},
        None,
        lambda model, _: (check_search(model), check_table(model)),
        ensemble.check_members,
        derive=_derive,
    )
    _rules: ClassVar[rules.Rules] = {
        "k_max": rules.each("k_max", rules.k_max),
        "sigmas": rules.each("sigma", rules.sigma),
        "competitions": rules.each("competition", rules.competition),
        "n_conquerors": rules.each("n_conquerors", rules.n_conquerors),
        "betas": rules.each("beta", rules.beta),
        "transforms": rules.checked_where_used,
        "n_best": rules.optional(rules.integer(1, "1 keeps the best cell alone")),
        "cv": rules.cv,
        "scoring": rules.checked_where_used,
        "refit": rules.boolean,
        "label_noise": rules.label_noise,
        "class_weight": rules.class_weight,
        **rules.ESTIMATOR,
        "membership": rules.membership,
        "random_state": rules.random_state,
    }

    def __init__(
        self,
        *,
        k_max: int | Sequence[int] = (10, 30),
        sigmas: float | Sequence[float] = (0.2, 0.6, 1.0),
        competitions: str | Sequence[str] = ("tree",),
        n_conquerors: int | Sequence[int] = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89),
        betas: float | Sequence[float] = (0.5, 1, 2, 4, 8, 16, 32),
        transforms: str | Sequence[Any] | None = "auto",
        n_best: int | None = None,
        cv: int | Any = 3,
        scoring: str | Scorer | None = None,
        refit: bool = True,
        label_noise: str | float = "estimate",
        class_weight: str | Mapping[Any, float] | None = None,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        membership: str | Callable[[np.ndarray, np.ndarray], np.ndarray] = "density",
        algorithm: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(metric, metric_params, algorithm, n_jobs, device, verbose)
        self.k_max = k_max
        self.sigmas = sigmas
        self.competitions = competitions
        self.n_conquerors = n_conquerors
        self.betas = betas
        self.transforms = transforms
        self.n_best = n_best
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.label_noise = label_noise
        self.class_weight = class_weight
        self.membership = membership
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search, and fit the best cells on all samples.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``; with a sequence of
            `transforms` whatever those take. A data frame may have text, truth values, dates and gaps: each
            fold learns to encode them by a :class:`TablePreprocessor`, with ``scale=False`` unless features
            are taken as given; random forests get texts as codes. Sparse matrices are for
            ``metric="cosine"``, ``"euclidean"`` and ``"sqeuclidean"``, and are taken as given.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter in `cv` keeps together.

        Returns
        -------
        self : FuzzyOPFClassifierCV
            The fitted estimator.
        """
        return self._fit(make_plan(self, X, y, groups))

    @fitting
    def _fit_table(self, X: Any, y: Any, kinds: Mapping[str, str]) -> Self:
        """Fit to a table of which some columns are to be treated otherwise than their contents suggest."""
        return self._fit(make_plan(self, X, y, kinds=kinds))

    def _fit(
        self,
        plan: Plan,
        build: EngineFactory = build_engine,
        search: Callable[[Plan, EngineFactory], tuple[Plan, Scores]] = search,
    ) -> Self:
        """Score all cells, and fit the best ones; a cluster has a `search` of its own."""
        if plan.samples.checked is not None and not any(plan.representations.values()):
            warn_of_units(self, plan.samples.checked, plan.metric)
        stage = stages_of(self)
        # The matrices of transformers are small: more threads made their linear algebra slower, and changed
        # its last bits.
        with threadpool_limits(1, user_api="blas"):
            plan, scores = stage(search, plan, build)
            names, named = list(plan.representations), self.transforms_["preset"] is not None
            results = table(plan.cells, plan.betas, scores, names, named)
            best = int(np.argmin(results["rank_test_score"]))
            self.cv_results_, self.best_index_, self.best_params_ = results, best, results["params"][best]
            self.best_score_ = float(results["mean_test_score"][best])
            self.best_beta_ = float(results["beta"][best])
            if not self.refit:
                return self
            rows, self.weights_ = choose(scores, best, self.n_best)
            self.averaged_, betas = rows, results["beta"][rows].tolist()
            self.estimators_ = stage(refit, plan, rows.tolist(), betas, build)
            noise = self.label_noise
            self.label_noise_ = float(estimate_noise(plan, build) if noise == "estimate" else noise)
        is_given = any(isinstance(model, FuzzyOPFClassifier) for model in self.estimators_)
        if not is_given and (samples := as_numbers(self, plan.samples)) is not None:
            self._fit_samples = samples  # for explanations
        self._take_over_best()
        return self

    @available_if(_has_models)
    @unchanged_on_failure
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add samples to the models that the search has chosen; the first call of all is `fit`.

        Cells, weights, `label_noise_` and representations stay as they were fitted. The new samples are
        transformed, and every array of `estimators_` is then that of these models fitted to the transformed
        samples so far. If the data drift, run a new search.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,)
            Their labels. Classes that the search has not seen are refused.
        classes : array-like, default=None
            Classes that there may be, as scikit-learn passes them; none may be new either.

        Returns
        -------
        self : FuzzyOPFClassifierCV
            The estimator. If the call fails or is interrupted, it stays as it was.
        """
        if "estimators_" not in vars(self):
            return self.fit(X, y)
        asked, known = read_labels(self, y, reset=False).values.tolist(), set(self.classes_.tolist())
        asked += [] if classes is None else check_labels(classes).tolist()
        if new := [label for label in asked if label not in known]:
            raise ValueError(
                f"{show(new[0])} is none of the classes that the search has seen, and what it chose may not "
                "suit it; fit a new search to all samples"
            )
        with threadpool_limits(1, user_api="blas"):
            ensemble.grow(self, ensemble.check_samples(self, X), y)
        self._take_over_best()
        return self

    @available_if(_has_models)
    def predict(self, X: Any) -> np.ndarray:
        """Give each sample the class with the largest mean probability over the best cells.

        With ``n_best=1`` this is the prediction of `best_estimator_`; `class_weight` multiplies the
        probabilities before.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Class labels, in the type they were given in.
        """
        return ensemble.predict(self, ensemble.check_samples(self, X))

    @available_if(_has_models)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Average the probabilities of the best cells, each with its beta, and allow for `label_noise_`.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Rows add up to 1.
        """
        return ensemble.mean_probabilities(self, ensemble.check_samples(self, X))

    @available_if(_has_models)
    def class_costs(self, X: Any, cell: int = 0) -> np.ndarray:
        """Return what each class offers each sample in one cell; see FuzzyOPFClassifier.class_costs.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.
        cell : int, default=0
            Which of `estimators_`: 0 is the best, and `explain` names others.

        Returns
        -------
        costs : ndarray of shape (n_queries, n_classes)
            In units of the metric.
        """
        samples = ensemble.check_samples(self, X)
        return ensemble.costs_of(self, [self.estimators_[cell]], samples)[0]

    @available_if(_has_models)
    def explain(self, X: Any) -> list[Explanation]:
        """Report for each sample which training sample conquered it, and along which path.

        It explains the first of the averaged cells that answers as their average does; if none does, the one
        that gives that answer the largest probability. So the label is that of `predict`, unless all
        cells disagree with it or classes cost exactly the same.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_train)
            New samples, or their distances to the training samples for ``metric="precomputed"``.

        Returns
        -------
        explanations : list of Explanation
            As from :meth:`pathforest.FuzzyOPFClassifier.explain`; `transform` names the
            representation, and `cell` is the place among `estimators_`. Costs and distances are those of
            the representation; `features` shows the samples as they were given, texts and dates included,
            with shares of the distance if it was measured between them as given or scaled.
        """
        return ensemble.explain(self, X)

    def _labels_and_probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what `predict` and `predict_proba` do, for the price of one of them."""
        return ensemble.labels_and_probabilities(self, ensemble.check_samples(self, X))

    def _take_over_best(self) -> None:
        """Show what the best classifier has learned as the search's own."""
        self.best_estimator_ = best = self.estimators_[0]
        learned = vars(best[-1] if isinstance(best, Pipeline) else best).items()
        shown = {name: value for name, value in learned if name in ensemble.OF_BEST and name[0] != "_"}
        vars(self).update(shown)
