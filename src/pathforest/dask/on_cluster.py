"""A classifier on a Dask cluster: trained by its local class, with the large searches on the workers."""

from __future__ import annotations

import copy
import traceback
from functools import partial, update_wrapper
from typing import Any, Self

import dask.array as da
import numpy as np
from dask import is_dask_collection
from distributed import Client
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pathforest._engines.samples import SVD, is_sparse
from pathforest._models.base import FitData, open_fit
from pathforest._models.labels import read_labels
from pathforest._models.parameters import check_parameters
from pathforest._search.plan import make_plan
from pathforest._utils.progress import fitting, reset
from pathforest._utils.text import show
from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.dask.chunks import (
    ChunkedEngine,
    ChunkedSamples,
    check_limit,
    is_chunked,
    must_gather,
    open_samples,
)
from pathforest.dask.data import Summary, gather, inspect_labels
from pathforest.dask.engine import engines_on
from pathforest.dask.futures import checked_client, naming_a_lost_scheduler, wait_for_workers
from pathforest.dask.prediction import predict_lazily
from pathforest.dask.search import search
from pathforest.dask.shards import load_shards, save_shards
from pathforest.fuzzy import FuzzyOPFClassifier
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV


class OnCluster(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted, and answers, on a Dask cluster.

    The samples of a Dask collection stay on the workers, and so do their neighbour lists: the client has a
    few numbers per sample. That holds for `OPFClassifier`, for `FuzzyOPFClassifier` with
    ``competition="tree"`` and `n_neighbors`, and for `OPFClustering`, but its lists come to the client for
    the time of a fit; with metrics that have an engine, but ``"gower"`` and ``"nan_euclidean"``. For other
    fits the client gathers the samples, up to `gather_limit`; workers then find neighbours and
    score the candidates of a search. What is learned equals, bit for bit, what `estimator` learns here.
    For many fits to few samples use joblib's Dask backend with scikit-learn's GridSearchCV instead.

    Parameters
    ----------
    estimator : OPFClassifier, FuzzyOPFClassifier, FuzzyOPFClassifierCV or OPFClustering
        What to fit; a copy of it is fitted. Its `n_jobs` counts threads of the client; tasks on the cluster
        use one each, and the `device` is that of the workers. Metrics without an engine of their own,
        callables and ``"precomputed"`` are computed by the client alone, as locally. Scorers, transformers
        and callables of a search run on the workers and must be picklable.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time. Pickles do not keep it, and bring
        the samples along.
    gather_limit : float, default=2**32
        How many bytes of samples of a Dask collection the client may gather for a fit that needs them all at
        once; a fit that would need more is refused, and says what to use instead.
    spill_folder : path-like, default=None
        A folder on a disk that all machines share. Workers write the neighbour lists there, 12 bytes per
        sample and neighbour. The next fit to the same samples, in the same chunks, goes on from what is
        there; a folder with lists of other samples is refused. It is for fits whose samples stay on the
        workers, and can be deleted afterwards.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    classes_ : ndarray of shape (n_classes,)
        Class labels. All else that was learned is in ``to_local()``.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample, for a clustering.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names that are all strings.

    See Also
    --------
    pathforest.OPFClassifier : Plain Optimum-Path Forest.
    pathforest.FuzzyOPFClassifier : Fuzzy Optimum-Path Forest.
    pathforest.FuzzyOPFClassifierCV : The same with cross-validated parameters.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pathforest import OPFClassifier
    >>> from pathforest.dask import OnCluster
    >>> X = da.from_array([[0.0], [1.0], [3.0], [4.5]], chunks=(2, 1))
    >>> y = da.from_array(["a", "a", "b", "b"], chunks=3)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = OnCluster(OPFClassifier(), client).fit(X, y)
    ...     model.predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    >>> model.to_local()
    OPFClassifier()
    """

    def __init__(
        self,
        estimator: Any,
        client: Client | None = None,
        *,
        gather_limit: float = 2**32,
        spill_folder: Any = None,
    ) -> None:
        self.estimator = estimator
        self.client = client
        self.gather_limit = gather_limit
        self.spill_folder = spill_folder

    @property
    def client_(self) -> Client:
        """The client given, or the one that Dask would use."""
        return checked_client(self.client, type(self).__name__)

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit to Dask collections or local data.

        Parameters
        ----------
        X : dask array, dask data frame or array-like of shape (n_samples, n_features)
            Training samples, in chunks of any size, known or not.
        y : dask array, dask series or array-like of shape (n_samples,), default=None
            Class labels; not for a clustering. Their chunks need not be those of X.
        groups : dask array, dask series or array-like of shape (n_samples,), default=None
            Groups that a splitter in the `cv` of a search keeps together.

        Returns
        -------
        self : OnCluster
            The fitted estimator.
        """
        reset(self)
        model = _unfitted(self.estimator, X, groups)
        limits = self.gather_limit, self.spill_folder
        return self._show(_train(model, X, y, groups, self.client_, *limits))

    def _show(self, model: Any) -> Self:
        """Take a fitted model."""
        self._fit_model = model
        for name in ("classes_", "labels_", "n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def predict(self, X: Any) -> Any:
        """Give each sample its class, as the local class does.

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
        """Return the fitted estimator without Dask, which can explain, grow, be saved and be pickled.

        Samples that are on the workers are gathered, so the client that fitted them must be open.

        Returns
        -------
        model : OPFClassifier, FuzzyOPFClassifier, FuzzyOPFClassifierCV or OPFClustering
            It shares its arrays with this estimator.
        """
        check_is_fitted(self)
        model = copy.copy(self._fit_model)
        if is_chunked(model):
            model._fit_X, model._fit_cache = model._fit_X.gather(), {}
        return model

    def save(self, path: Any) -> None:
        """Write the model to a folder of shards, or to one file if its samples are at the client.

        Workers write the samples that they have, so the folder must be on a disk that all machines share. It
        appears when it is complete, and replaces an earlier one then. :func:`pathforest.dask.load` reads it
        on a cluster, :func:`pathforest.load` on one machine.

        Parameters
        ----------
        path : str or path-like
            The folder, or the file.
        """
        check_is_fitted(self)
        if is_chunked(self._fit_model):
            save_shards(self._fit_model, path)
        else:
            self.to_local().save(path)

    def _ask(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        answer = getattr(self._fit_model, method)  # there is none after a search with refit=False
        if is_dask_collection(X):
            return predict_lazily(self.client_, self._fit_model, X, method)
        if is_chunked(self._fit_model):
            validate_data(self._fit_model, X, reset=False, skip_check_array=True)
            lazy = da.from_array(np.asarray(X), chunks=-1)
            return self.client_.compute(predict_lazily(self.client_, self._fit_model, lazy, method)).result()
        return answer(X)

    def __sklearn_tags__(self):
        tags = get_tags(self.estimator)
        tags.input_tags.sparse = False
        return tags

    def __sklearn_clone__(self) -> Self:
        # A client cannot be copied; that of the copy is the same one.
        options = {"gather_limit": self.gather_limit, "spill_folder": self.spill_folder}
        return type(self)(clone(self.estimator), self.client, **options)

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__(), "client": None}
        return {**state, "_fit_model": self.to_local()} if is_chunked(vars(self).get("_fit_model")) else state


def load(path: Any, client: Client | None = None) -> OnCluster:
    """Read a model from a folder that :meth:`OnCluster.save` has written; its samples stay on the workers.

    Parameters
    ----------
    path : str or path-like
        The folder, on a disk that all machines share.
    client : distributed.Client, default=None
        The cluster to use; None is the client that is active at the time.

    Returns
    -------
    model : OnCluster
        The fitted estimator.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pathforest import OPFClassifier
    >>> from pathforest.dask import OnCluster, load
    >>> X = da.from_array([[0.0], [1.0], [3.0], [4.5]], chunks=(2, 1))
    >>> with TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0"):
    ...     OnCluster(OPFClassifier(), gather_limit=0).fit(X, ["a", "a", "b", "b"]).save(f"{folder}/model")
    ...     load(f"{folder}/model").predict([[0.2], [4.0]])
    array(['a', 'b'], dtype='<U1')
    """
    chosen = checked_client(client, "load")
    with naming_a_lost_scheduler(chosen):
        wait_for_workers(chosen)
        model = load_shards(chosen, path)
    return OnCluster(clone(model), client)._show(model)


def _unfitted(estimator: Any, X: Any, groups: Any) -> Any:
    """Return an unfitted copy of an estimator, once everything is checked that needs no cluster."""
    if not isinstance(estimator, OPFClassifier | FuzzyOPFClassifier | FuzzyOPFClassifierCV | OPFClustering):
        raise TypeError(
            f"estimator={show(estimator)} is not for clusters; pass an OPFClassifier, FuzzyOPFClassifier, "
            "FuzzyOPFClassifierCV or OPFClustering, or fit it here to X.compute()"
        )
    name = type(estimator).__name__
    if is_sparse(X):
        raise ValueError(f"a cluster takes no sparse matrix; fit {name} itself, or {SVD}")
    if groups is not None and not isinstance(estimator, FuzzyOPFClassifierCV):
        raise ValueError(f"groups are for the folds of a search, which {name} does not have; leave them out")
    check_parameters(estimator)
    return clone(estimator)


@fitting
def _train(model: Any, X: Any, y: Any, groups: Any, client: Client, limit: float, spill: Any) -> Any:
    """Fit a local model with its large searches on the cluster."""
    try:
        with naming_a_lost_scheduler(client), engines_on(client) as build:
            wait_for_workers(client)
            why = must_gather(model)
            if is_dask_collection(X):
                check_limit(model, X.nbytes if isinstance(X, da.Array) else np.nan, why, limit)
            y = gather(client, "y", y, inspect_labels)
            groups = gather(client, "groups", groups, lambda block: Summary(len(block)))
            X = open_samples(client, model, X, why, limit, spill)
            if isinstance(model, FuzzyOPFClassifierCV):
                own = update_wrapper(partial(search, client, model.get_params(deep=False)), search)
                return model._fit(make_plan(model, X, y, groups), build, own)
            if isinstance(X, ChunkedSamples):
                return _fit_in_chunks(model, X, y)
            data = open_fit(model, X, y, labelled=is_classifier(model))
            data.engine = build(data.X, data.metric, model.algorithm, data.n_threads, model.verbose)
            return model._fit(data)
    except KeyboardInterrupt as error:
        # A notebook keeps the traceback, and its frames hold futures of whatever was on its way just then.
        traceback.clear_frames(error.__traceback__)
        raise


def _fit_in_chunks(model: Any, X: ChunkedSamples, y: Any) -> Any:
    """Fit a model whose samples stay on the workers."""
    try:
        labels = read_labels(model, y) if is_classifier(model) else None
        if labels is not None:
            check_consistent_length(X, labels.codes)
        data = FitData(model, X, model._settings(), labels)
        data.engine = ChunkedEngine(X, lists_stay=is_classifier(model))
        return model._fit(data)
    except BaseException:
        X.close()
        raise
    finally:
        X.close_lists()
