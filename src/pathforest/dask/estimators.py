"""The classifiers on a Dask cluster, thin classes over training and prediction functions."""

from __future__ import annotations

import copy
import inspect
import traceback
from typing import Any, ClassVar, NoReturn, Self

from dask import is_dask_collection
from distributed import Client, default_client
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pathforest._engines.metric import WITH_GAPS
from pathforest._engines.samples import SVD, is_sparse
from pathforest._models.base import open_fit
from pathforest._models.parameters import Rules, check_parameters, checked_where_used
from pathforest._search.plan import make_plan
from pathforest._utils.progress import fitting, is_fitted_name
from pathforest._utils.text import show
from pathforest.classifier import OPFClassifier
from pathforest.dask.data import gather_labels, gather_samples, gather_values
from pathforest.dask.engine import engines_on
from pathforest.dask.futures import naming_a_lost_scheduler, wait_for_workers
from pathforest.dask.prediction import predict_lazily
from pathforest.dask.search import search_on
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

# It is checked where it is used.
CLIENT: Rules = {"client": checked_where_used}


def _train(client: Client, model: Any, X: Any, y: Any, **fit_params: Any) -> Any:
    """Fit a local model with its large searches on the cluster."""
    check_parameters(model, ("n_jobs",))
    # Transformers that the user passes may take missing values; they are refused later if they do not.
    finite = isinstance(getattr(model, "transforms", None), str | None) and model.metric not in WITH_GAPS
    if model.device != "cpu":
        raise ValueError(
            f"device={show(model.device)} is not for clusters; use device='cpu', or the local class"
        )
    try:
        with naming_a_lost_scheduler(client), engines_on(client) as make_engine:
            wait_for_workers(client)
            X, y = gather_samples(client, X, finite), gather_labels(client, y)
            fit_params = {name: gather_values(client, value, name) for name, value in fit_params.items()}
            if isinstance(model, FuzzyOPFClassifierCV):
                plan = make_plan(model, X, y, **fit_params)
                return model._fit(plan, make_engine, search_on(client, model.get_params(deep=False)))
            data = open_fit(model, X, y, labelled=True)
            options = model.algorithm, data.n_threads, model.verbose
            data.engine = make_engine(data.X, data.metric, *options)
            return model._fit(data)
    except KeyboardInterrupt as error:
        # A notebook keeps the traceback, and its frames hold futures of whatever was on its way just then.
        traceback.clear_frames(error.__traceback__)
        raise


def _constructor_of(local: type) -> Any:
    """Make the constructor of a Dask class: the parameters of the local one, and `client`."""

    def __init__(self: Any, *, client: Client | None = None, **params: Any) -> None:
        local.__init__(self, **params)
        self.client = client

    signature = inspect.signature(local.__init__)
    extra = inspect.Parameter(
        "client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Client | None
    )
    __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), extra])
    return __init__


class _DaskClassifier:
    """What the three classes share. Their fitted attributes are those of the local class, at the client."""

    _local_class: type

    @property
    def client_(self) -> Client:
        """The client given, or the one that Dask would use."""
        client = self.client
        if client is None:
            try:
                client = default_client()
            except ValueError:
                raise ValueError(
                    f"{type(self).__name__} has client=None and no Dask client is active; make one with "
                    "distributed.Client(), or pass client="
                ) from None
        if not isinstance(client, Client):
            raise TypeError(f"client={show(client)} must be a distributed.Client or None")
        if client.asynchronous:
            raise ValueError(
                f"client={show(client)} is asynchronous, and fit waits for its results; make the client "
                "without asynchronous=True"
            )
        return client

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to Dask collections or local data.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_samples, n_features)
            Training samples, in chunks of any size, known or not.
        y : dask array, dask series or array-like of shape (n_samples,)
            Class labels. Their chunks need not be those of X.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit_on_cluster(X, y)

    def predict(self, X: Any) -> Any:
        """Give each sample the class whose offer is cheapest.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_queries, n_features)
            New samples. Local ones are answered here and at once.

        Returns
        -------
        y : dask array, dask series or ndarray of shape (n_queries,)
            Class labels; for a Dask collection lazy, in its chunks and with its index.
        """
        return self._ask("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Turn class costs into probabilities.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_queries, n_features)
            New samples. Local ones are answered here and at once.

        Returns
        -------
        probabilities : dask array, dask data frame or ndarray of shape (n_queries, n_classes)
            For a Dask collection lazy. The columns of a data frame are the classes.
        """
        return self._ask("predict_proba", X)

    def class_costs(self, X: Any) -> Any:
        """Return what each class offers each sample.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_queries, n_features)
            New samples. Local ones are answered here and at once.

        Returns
        -------
        costs : dask array, dask data frame or ndarray of shape (n_queries, n_classes)
            For a Dask collection lazy. The columns of a data frame are the classes.
        """
        return self._ask("class_costs", X)

    def to_local(self) -> Any:
        """Return the fitted estimator without Dask: the ordinary class, with the same arrays.

        Returns
        -------
        model : OPFClassifier, FuzzyOPFClassifier or FuzzyOPFClassifierCV
            It shares its arrays with this estimator, and can be saved and pickled.
        """
        check_is_fitted(self)
        return _take_state(self._make_local(), self)

    def save(self, path: Any) -> None:
        """Write the local model to one file, to be read by :func:`pathforest.load`.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        self.to_local().save(path)

    @property
    def partial_fit(self) -> NoReturn:
        """None: `hasattr` tells who asks that these classes do not grow."""
        raise AttributeError(
            f"{type(self).__name__} does not grow; use pathforest.{self._local_class.__name__}, whose "
            "partial_fit gives the same model, or fit again"
        )

    forget = set_labels = partial_fit

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _fit_on_cluster(self, X: Any, y: Any, **fit_params: Any) -> Self:
        if is_sparse(X):
            raise ValueError(
                f"{type(self).__name__} takes no sparse matrix; fit {self._local_class.__name__}, or {SVD}"
            )
        return _take_state(self, _train(self.client_, self._make_local(), X, y, **fit_params))

    def _ask(self, method: str, X: Any) -> Any:
        if not is_dask_collection(X):
            return getattr(super(), method)(X)
        model = self.to_local()
        getattr(model, method)  # there is none without a model, as after a search with refit=False
        return predict_lazily(self.client_, model, X, method)

    def _make_local(self) -> Any:
        """Make the unfitted local estimator with the same parameters."""
        params = self.get_params(deep=False)
        del params["client"]
        return self._local_class(**params)

    def __sklearn_clone__(self) -> Self:
        # A client cannot be copied; that of the copy is the same one.
        bare = copy.copy(self)
        bare.client = None
        clone = BaseEstimator.__sklearn_clone__(bare)
        clone.client = self.client
        return clone

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}


def _take_state(target: Any, source: Any) -> Any:
    """Give an estimator what another has learned."""
    for name, value in vars(source).items():
        if is_fitted_name(name):
            setattr(target, name, value)
    return target


class DaskOPFClassifier(_DaskClassifier, OPFClassifier):
    """Optimum-Path Forest classifier on a Dask cluster.

    Parameters
    ----------
    metric, metric_params, n_conquerors, beta, algorithm, n_jobs, verbose, device
        As for :class:`pathforest.OPFClassifier`. `n_jobs` counts threads of the client; tasks on the cluster
        use one each. Metrics without an engine of their own, callables and ``"precomputed"`` are computed by
        the client alone, as the local class does. `device` must be ``"cpu"``.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time. Pickles do not keep it.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    classes_, prototypes_, cost_, predecessor_, root_, order_, label_, training_error_
        As for :class:`pathforest.OPFClassifier`, bit for bit, as local arrays.
    n_features_in_, feature_names_in_
        As for :class:`pathforest.OPFClassifier`.

    See Also
    --------
    pathforest.OPFClassifier : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pathforest.dask import DaskOPFClassifier
    >>> X = da.from_array([[0.0], [1.0], [3.0], [4.5]], chunks=(2, 1))
    >>> y = da.from_array(["a", "a", "b", "b"], chunks=3)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskOPFClassifier(client=client).fit(X, y)
    ...     model.predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    >>> model.to_local()
    OPFClassifier()
    """

    _local_class = OPFClassifier
    _rules: ClassVar[Rules] = OPFClassifier._rules | CLIENT
    __init__ = _constructor_of(OPFClassifier)


class DaskFuzzyOPFClassifier(_DaskClassifier, FuzzyOPFClassifier):
    """Fuzzy Optimum-Path Forest classifier on a Dask cluster.

    Parameters
    ----------
    metric, metric_params, k_max, n_neighbors, sigma, competition, membership, membership_side
        As for :class:`pathforest.FuzzyOPFClassifier`.
    n_conquerors, beta, algorithm, n_jobs, verbose, device
        As for :class:`pathforest.FuzzyOPFClassifier`. `n_jobs` counts threads of the client; tasks on the
        cluster use one each. Metrics without an engine of their own, callables and ``"precomputed"`` are
        computed by the client alone, as the local class does. `device` must be ``"cpu"``.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time. Pickles do not keep it.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    classes_, prototypes_, cost_, predecessor_, root_, order_, label_, training_error_
        As for :class:`pathforest.FuzzyOPFClassifier`, bit for bit, as local arrays.
    membership_, density_, best_k_, cuts_
        As for :class:`pathforest.FuzzyOPFClassifier`, bit for bit, as local arrays.
    n_features_in_, feature_names_in_
        As for :class:`pathforest.FuzzyOPFClassifier`.

    See Also
    --------
    pathforest.FuzzyOPFClassifier : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pathforest.dask import DaskFuzzyOPFClassifier
    >>> X = da.from_array([[0.0], [1.0], [1.5], [3.0], [3.5], [4.5]], chunks=(4, 1))
    >>> y = da.from_array([0, 0, 0, 1, 1, 1], chunks=4)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskFuzzyOPFClassifier(n_neighbors=2, client=client).fit(X, y)
    >>> model.membership_.round(2).tolist()
    [0.8, 1.0, 0.93, 0.93, 1.0, 0.8]
    """

    _local_class = FuzzyOPFClassifier
    _rules: ClassVar[Rules] = FuzzyOPFClassifier._rules | CLIENT
    __init__ = _constructor_of(FuzzyOPFClassifier)


class DaskFuzzyOPFClassifierCV(_DaskClassifier, FuzzyOPFClassifierCV):
    """Fuzzy Optimum-Path Forest classifier with cross-validated parameters, on a Dask cluster.

    Workers find the neighbours of all samples and score the candidates, folds side by side; the client fits
    the best ones on all samples. Scorers, transformers and a callable `membership` or `metric` run on the
    workers and must be picklable. For many searches over few samples use joblib's Dask backend with
    scikit-learn's GridSearchCV instead.

    Parameters
    ----------
    k_max, sigmas, competitions, n_conquerors, transforms, n_best, cv, scoring
        As for :class:`pathforest.FuzzyOPFClassifierCV`.
    refit, betas, metric, metric_params, membership
        As for :class:`pathforest.FuzzyOPFClassifierCV`.
    algorithm, random_state, n_jobs, verbose, device
        As for :class:`pathforest.FuzzyOPFClassifierCV`. `n_jobs` counts threads of the client; tasks on the
        cluster use one each. `device` must be ``"cpu"``.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time. Pickles do not keep it.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    cv_results_, best_params_, best_score_, best_index_, best_beta_, best_estimator_, estimators_
        As for :class:`pathforest.FuzzyOPFClassifierCV`, bit for bit, as are its other attributes.

    See Also
    --------
    pathforest.FuzzyOPFClassifierCV : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from pathforest.dask import DaskFuzzyOPFClassifierCV
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskFuzzyOPFClassifierCV(sigmas=0.6, n_conquerors=(1, 5), client=client).fit(X, y)
    ...     model.predict(X[:2]).compute().tolist()
    [0, 0]
    """

    _local_class = FuzzyOPFClassifierCV
    _rules: ClassVar[Rules] = FuzzyOPFClassifierCV._rules | CLIENT
    __init__ = _constructor_of(FuzzyOPFClassifierCV)

    @fitting
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search, and fit the best cells on all samples.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_samples, n_features)
            Training samples, in chunks of any size, known or not.
        y : dask array, dask series or array-like of shape (n_samples,)
            Class labels. Their chunks need not be those of X.
        groups : dask array, dask series or array-like of shape (n_samples,), default=None
            Groups that a splitter in `cv` keeps together.

        Returns
        -------
        self : DaskFuzzyOPFClassifierCV
            The fitted estimator.
        """
        return self._fit_on_cluster(X, y, groups=groups)
