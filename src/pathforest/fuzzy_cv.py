"""The Fuzzy Optimum-Path Forest classifier that chooses its own parameters by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples, check_consistent_length
from threadpoolctl import threadpool_limits

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.metric import Metric
from pathforest._engines.samples import SVD, SparseSamples, check_training_values
from pathforest._models import parameters as rules
from pathforest._models.labels import check_labels, remember_label
from pathforest._models.parameters import as_list, check_parameters, checked_metric
from pathforest._search.cells import (
    Cell,
    First,
    Folds,
    Runner,
    Samples,
    Scores,
    Space,
    make_space,
    one_by_one,
)
from pathforest._search.ensemble import AverageOfBest
from pathforest._search.presets import choose_preset
from pathforest._search.ranking import check_table, choose_cells, table
from pathforest._search.representations import Representation, resolve_transforms
from pathforest._search.scoring import Judge, Scorer, resolve_scoring, shown_to_scorers
from pathforest._search.splits import cross_validation_splits
from pathforest._utils.progress import fitting, logger, stages_of, steps
from pathforest._utils.text import show
from pathforest.fuzzy import FuzzyOPFClassifier

if TYPE_CHECKING:
    from pathforest.plotting import Display

# The parameters handed on to every classifier as they are.
COMMON = (
    *("metric", "metric_params", "membership"),
    *("algorithm", "n_jobs", "device", "verbose"),
)


class FuzzyOPFClassifierCV(AverageOfBest):
    """Fuzzy Optimum-Path Forest classifier with cross-validated parameters.

    It tries every combination of the parameters given in several representations of the samples, shares among
    them all work that does not differ, and answers with the average of the best few. This is the call to
    start with: the defaults hold up when some training labels are wrong.

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
        How many training samples decide for each class. Larger values outvote wrong labels; trying more
        of them costs next to nothing.
    transforms : "auto", None, "linear", "kernel", "full" or sequence, default="auto"
        Candidate representations, fitted inside each fold; each costs another search. None takes the samples
        as given. ``"linear"`` tries them as given, standardised, and after shrinkage LDA. ``"kernel"`` adds
        shrinkage LDA on features of RBF kernels of four widths. ``"full"`` adds two of these on features
        weighted by their importance in a random forest, one with a quadratic kernel, and the class
        probabilities of that forest; its probabilities change with the order of features, by up to 0.2 for
        single samples, because a random forest draws among them by position. ``"auto"`` is the best of None,
        ``"linear"`` and ``"kernel"`` that the numbers of samples and features allow for their cost; see
        `transforms_`. A sequence contains
        scikit-learn transformers, None for the samples as given, or pairs (name, transformer). These get the
        samples untouched, so X may contain what they accept: missing values for an imputer, a DataFrame for a
        ColumnTransformer. None among them needs finite numbers.
    n_best : int, default=3
        How many cells are averaged: the best one, then the representations by their smallest log loss (by
        `scoring` if that is given), one cell each until all had a turn. 1 gives one ordinary
        :class:`FuzzyOPFClassifier`.
    cv : int, splitter or iterable, default=5
        Folds as for :class:`sklearn.model_selection.GridSearchCV`: a number of stratified folds, a splitter,
        or pairs of index arrays (train, evaluation); the paper uses one such pair.
    scoring : str or callable, default=None
        What to maximise; None is accuracy. A name or scorer of scikit-learn. A scorer that raises an error
        stops the search.
    refit : bool, default=True
        Whether to fit the best cells on all samples. False leaves the scores only.
    betas : float or sequence of float, default=(0.5, 1, 2, 4, 8, 16, 32)
        Sharpness of the probabilities; each cell takes the one with the smallest log loss.
    metric : str or callable, default="euclidean"
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a
        matrix of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2
        bytes of memory. Use ``"log_sqeuclidean"`` to compare with LibOPF and the paper, and ``"gower"`` for
        tables with text or missing values.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    membership : "density" or callable, default="density"
        A callable ``(X, y) -> values`` replaces the density: it gets the checked samples (read-only) and
        labels and returns one value in [0, 1] per sample, used in place of t^2 in Eq. 5. `density_`,
        `best_k_` and `cuts_` are then not set. A search calls it once per fold and representation.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How distances are searched: ``"kd_tree"`` suits few features, ``"brute"`` many, and ``"auto"``
        chooses. Answers are the same.
    random_state : int, RandomState or None, default=0
        Chooses the landmarks of kernels and grows the random forest of ``transforms="full"``; nothing else is
        random.
    n_jobs : int, default=None
        Number of threads; None means 1 (or what a joblib context says), -1 all cores. Answers are the
        same.
    device : str, default="cpu"
        Where distances are computed: ``"cpu"``, or ``"cuda"`` (``"cuda:1"`` and so on) for a GPU with
        PyTorch, ``pip install pathforest[gpu]``. Answers are the same.
    verbose : int, default=0
        1 reports the stages of `fit`, their times, the size of a full distance matrix and what
        ``transforms="auto"`` chose to the logger ``"pathforest"`` at level INFO; show it with
        ``logging.basicConfig(level=logging.INFO)``.

    Attributes
    ----------
    transforms_ : dict
        ``"preset"``, what `transforms` stands for; ``"reason"``, why ``"auto"`` chose it; and ``"names"``,
        those of the candidates.
    cv_results_ : dict of ndarray
        One row per cell, as in GridSearchCV and ready for a pandas DataFrame: ``param_*``, ``params``,
        ``split*_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` (no two
        are equal, see Notes); and ``mean_test_log_loss`` with the ``beta`` that gave it. There are no
        columns of times: cells share their work.
    best_params_ : dict
        Parameters of the best cell, by the classifier's names; and ``transform``, the name of its
        representation, unless only the samples as given were tried.
        ``sklearn.base.clone(best_estimator_)`` has them all, the transformer and `best_beta_` as well.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its row in `cv_results_`.
    best_beta_ : float
        Its beta.
    best_estimator_ : FuzzyOPFClassifier or Pipeline
        The best cell fitted on all samples; a pipeline of transformer and classifier if it has a transformer.
    estimators_ : list
        The `n_best` cells that are averaged, fitted on all samples, `best_estimator_` first.
    averaged_ : ndarray of shape (n_best,)
        Their rows in `cv_results_`.
    n_splits_ : int
        Number of folds.
    scorer_ : callable or None
        The scorer; None for accuracy.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has names that are all strings.
    label_name_ : str
        Name of the labels, where y is a pandas or polars Series with a name.
    categories_ : list of length n_features
        Texts of each column, False and True of one with booleans, None for numbers, where X is a table and
        ``metric="gower"``.
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
    fold. Kernels of one space share their distances, and all that needs a random forest shares one per
    fold. Each fold and representation needs one spanning tree, one scan of
    k up to the largest `k_max`, and one search per class for the neighbours of evaluation samples. A cell
    then costs its competition, and that only if no other cell has the same forest: sigma = 1 is plain OPF
    whatever k_max is, and several k_max often choose the same k. Forests and class costs held at once take
    up to 256 MiB.

    The linear algebra of transformers uses one thread in `fit`, whatever `n_jobs` is.

    Ties are common: a third or more of the paper's grid often share the best score. Of equal mean scores the
    smaller log loss decides, then sigma nearest 1, the tree before the complete graph, fewer conquerors,
    smaller k_max, the earlier transform.

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
    'kernel'
    >>> len(model.cv_results_["params"])  # 2 k_max, 2 sigmas, 2 n_conquerors in 7 representations
    56
    >>> sorted(model.best_params_)
    ['competition', 'k_max', 'n_conquerors', 'sigma', 'transform']
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """

    _n_stages = 2
    _has_steps = True
    _rules: ClassVar[rules.Rules] = {
        "k_max": rules.each("k_max", rules.k_max),
        "sigmas": rules.each("sigma", rules.sigma),
        "competitions": rules.each("competition", rules.competition),
        "n_conquerors": rules.each("n_conquerors", rules.n_conquerors),
        "transforms": rules.checked_where_used,
        "n_best": rules.integer(1, "1 keeps the best cell alone"),
        "cv": rules.cv,
        "scoring": rules.checked_where_used,
        "refit": rules.boolean,
        "betas": rules.each("beta", rules.beta),
        **rules.DISTANCES,
        "membership": rules.membership,
        "random_state": rules.random_state,
        "device": rules.device,
        "verbose": rules.verbose,
    }

    def __init__(
        self,
        *,
        k_max: int | Sequence[int] = (10, 30),
        sigmas: float | Sequence[float] = (0.2, 0.6, 1.0),
        competitions: str | Sequence[str] = ("tree",),
        n_conquerors: int | Sequence[int] = (1, 2, 3, 5, 8, 13, 21, 34),
        transforms: str | Sequence[Any] | None = "auto",
        n_best: int = 3,
        cv: int | Any = 5,
        scoring: str | Scorer | None = None,
        refit: bool = True,
        betas: float | Sequence[float] = (0.5, 1, 2, 4, 8, 16, 32),
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        membership: str | Callable[[np.ndarray, np.ndarray], np.ndarray] = "density",
        algorithm: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
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
        self.refit = refit
        self.betas = betas
        self.metric = metric
        self.metric_params = metric_params
        self.membership = membership
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= not isinstance(self.transforms, str) or self.transforms == "auto"
        return tags

    @fitting
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search, and fit the best cells on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their distances for ``metric="precomputed"``; with a sequence of
            `transforms` whatever those take. Sparse matrices are for ``metric="cosine"``, ``"euclidean"`` and
            ``"sqeuclidean"``, and are taken as given.
        y : array-like of shape (n_samples,)
            Class labels of any type; none may be missing.
        groups : array-like of shape (n_samples,), default=None
            Groups that a splitter in `cv` keeps together.

        Returns
        -------
        self : FuzzyOPFClassifierCV
            The fitted estimator.
        """
        return self._fit_with(build_engine, X, y, groups)

    @fitting
    def _fit_behind(self, X: Any, y: Any, first: Any) -> Self:
        """Fit to what `first` makes of X; in the search it is fitted to the training part of each fold."""
        return self._fit_with(build_engine, first.fit_transform(X, y), y, first=First(clone(first), X))

    def _fit_with(
        self,
        make_engine: EngineFactory,
        X: Any,
        y: Any,
        groups: Any = None,
        run: Runner = one_by_one,
        first: First | None = None,
    ) -> Self:
        metric, space, judge = self._check_search()
        self.scorer_ = judge.scorer
        given, y = (X, y), self._check_labels(y)
        self._check_transforms(metric)
        samples = self._check_training(X, y, metric)
        representations = self._choose_representations(samples, metric)
        space = space._replace(transforms=[name for name, _ in representations])
        template = FuzzyOPFClassifier(
            k_max=max(space.k_max), **{name: getattr(self, name) for name in COMMON}
        )
        splits = self._split(samples.given, y, groups)
        shown = shown_to_scorers(*given, samples, y)
        if first is not None:
            shown = first.X, shown[1]
        make_engine = partial(make_engine, device=self.device)
        place = make_engine, self.refit, run, first
        folds = Folds(template, samples, y, shown, splits, representations, *place)
        timed = stages_of(self)
        # The matrices of transformers are small: more threads made their linear algebra slower, and changed
        # its last bits.
        with threadpool_limits(1, user_api="blas"):
            cells, scores = timed(self._search, folds, space, judge)
            self._summarise(cells, scores, judge.betas, space.transforms)
            if self.refit:
                timed(self._refit, folds, cells)
        self._fit_metric = tuple(metric)
        return self

    def plot_landscape(self) -> Display:
        """Draw the mean scores over the two parameters that matter most, and what each parameter is worth.

        Needs ``pip install pathforest[plot]``; :func:`pathforest.plotting.plot_landscape` has options.

        Returns
        -------
        display : pathforest.plotting.Display
            Save its picture with ``display.figure_.savefig("landscape.png")``.
        """
        from pathforest.plotting import plot_landscape

        return plot_landscape(self)

    def _check_search(self) -> tuple[Metric, Space, Judge]:
        """Check every parameter before any work; return the metric, the candidates and what scores them."""
        check_parameters(self)
        metric = checked_metric(self)
        space = make_space(self.k_max, self.sigmas, self.competitions, self.n_conquerors)
        return metric, space, Judge(resolve_scoring(self.scoring), as_list(self.betas))

    def _check_fitted_state(self) -> int:
        self._check_search()
        resolve_transforms(self.transforms, random_state=self.random_state)
        check_table(self)
        self._check_chosen()
        return super()._check_fitted_state()

    def _check_chosen(self) -> None:
        """Check what `transforms` has come to; files before there was "auto" do not say."""
        if "transforms_" not in vars(self):
            names = [params.get("transform", "as given") for params in self.cv_results_["params"]]
            self.transforms_ = _chosen(self.transforms, "as asked for", dict.fromkeys(names))
        if type(self.transforms_) is not dict or self.transforms_.keys() != {"preset", "reason", "names"}:
            raise ValueError("transforms_ does not have preset, reason and names")

    def _check_labels(self, y: Any) -> np.ndarray:
        if y is None:
            raise ValueError("FuzzyOPFClassifierCV requires y to be passed, but the target y is None")
        labels = check_labels(y)
        remember_label(self, y)
        self.classes_ = np.unique(labels)
        return labels

    def _check_transforms(self, metric: Metric) -> None:
        resolve_transforms(self.transforms)
        if metric.kind == "precomputed" and self.transforms not in (None, "auto"):
            raise ValueError(
                f"transforms={show(self.transforms)} cannot be applied to metric='precomputed', where X "
                "has no features; use transforms=None, or pass features"
            )

    def _choose_representations(self, samples: Samples, metric: Metric) -> list[Representation]:
        """List the candidates, and record what "auto" has chosen and why."""
        chosen, reason = self.transforms, "as asked for"
        if isinstance(samples.checked, SparseSamples) and isinstance(chosen, str):
            if chosen != "auto":
                raise ValueError(
                    f"transforms={show(chosen)} takes no sparse matrix; use transforms=None or 'auto', or "
                    f"{SVD}"
                )
            chosen, reason = None, "a sparse matrix is for the features as given"
        if chosen == "auto":
            chosen, reason = choose_preset(*samples.checked.shape, metric.name, callable(self.membership))
        candidates = resolve_transforms(chosen, len(self.classes_), self.random_state)
        self.transforms_ = _chosen(chosen, reason, (name for name, _ in candidates))
        if self.verbose:
            logger.info("%s: transforms=%r (%s)", type(self).__name__, self.transforms_["preset"], reason)
        return candidates

    def _check_training(self, X: Any, y: np.ndarray, metric: Metric) -> Samples:
        self._fit_untouched = not (self.transforms is None or isinstance(self.transforms, str))
        as_given = any(transformer is None for _, transformer in resolve_transforms(self.transforms))
        samples = self._take_samples(X, metric, self._fit_untouched, as_given, reset=True)
        # Here, because folds would name other rows than the user's.
        if metric.kind == "precomputed" or (metric.name == "nan_euclidean" and as_given):
            check_training_values(samples.checked, metric, squares=not callable(self.membership))
        check_consistent_length(samples.given, y)
        return samples

    def _split(self, X: Any, y: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """List the folds, as index arrays."""
        if _num_samples(X) == 1:
            raise ValueError(
                "FuzzyOPFClassifierCV cannot cross-validate 1 sample; pass more, or use FuzzyOPFClassifier"
            )
        splits = cross_validation_splits(self.cv, X, y, groups)
        self.n_splits_ = len(splits)
        return splits

    def _search(self, folds: Folds, space: Space, judge: Judge) -> tuple[list[Cell], Scores]:
        """Score every cell."""
        cells = space.cells
        with steps(len(cells) * self.n_splits_, "search") as bar:
            return cells, folds.score(cells, judge, bar)

    def _summarise(
        self, cells: list[Cell], scores: Scores, betas: Sequence[float], transforms: Sequence[str]
    ) -> None:
        with_transform = self.transforms_["preset"] is not None
        self.cv_results_ = table(cells, scores, betas, transforms, with_transform)
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_beta_ = float(self.cv_results_["beta"][self.best_index_])

    def _refit(self, folds: Folds, cells: list[Cell]) -> None:
        """Fit the best cells on all samples, and take over what the best classifier has learned."""
        self.averaged_ = chosen = choose_cells(self.cv_results_, self.n_best, self.scoring is not None)
        betas = self.cv_results_["beta"][chosen].tolist()
        with steps(len(chosen), "refit") as bar:
            self.estimators_ = folds.refit([cells[i] for i in chosen], betas, bar)
        keeps_samples = any(isinstance(model, FuzzyOPFClassifier) for model in self.estimators_)
        if not keeps_samples and (samples := folds.numbers()) is not None:
            self._fit_samples = samples  # for explanations
        self._take_over_best()


def _chosen(transforms: Any, reason: str, names: Iterable[str]) -> dict[str, Any]:
    """Describe what a search chooses from, for `transforms_`."""
    preset = transforms if transforms is None or isinstance(transforms, str) else "sequence"
    return {"preset": preset, "reason": reason, "names": list(names)}
