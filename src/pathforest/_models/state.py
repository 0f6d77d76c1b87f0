"""Fitted state as a whole: dropped when a fit fails, pickled, saved to files."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from pathforest._models.documentation import DocumentedEstimator
from pathforest._models.fitting import ReportingEstimator, reported
from pathforest.persistence import save
from pathforest.persistence.allowed import is_fitted_name

# Raise when the meaning of a pickled attribute changes, and let __setstate__ read the older ones.
FORMAT_VERSION = 1

Fit = TypeVar("Fit", bound=Callable[..., Any])


def unfitted_on_failure(fit: Fit) -> Fit:
    """Make `fit` start from an unfitted estimator, leave one if it fails, and report on its stages."""
    reporting = reported(fit)

    @wraps(fit)
    def wrapper(self: SavableEstimator, *args: Any, **kwargs: Any) -> Any:
        self._forget()
        try:
            return reporting(self, *args, **kwargs)
        except BaseException:
            self._forget()
            raise

    return wrapper


class SavableEstimator(DocumentedEstimator, ReportingEstimator, BaseEstimator):
    """An estimator whose fitted state can be dropped, pickled and saved."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, to be read by :func:`pathforest.load`.

        The file contains parameters, fitted attributes and a checksum, but no code, so that a file from
        anyone is safe to open. Other machines and later versions of pathforest can read it. It is written
        beside `path` and moved there when complete, so a failure leaves an earlier file as it was.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        ValueError
            If the model contains something that cannot be stored that way: a metric, membership or scorer
            that is a function, a transformer of the user's own, an object in `cv` other than a plain k-fold
            splitter. Use joblib or skops for such models. Also if the estimator is not fitted
            (`NotFittedError`).
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> import pathforest
        >>> model = pathforest.OPFClustering(n_neighbors=2).fit([[0.0], [1.0], [1.5], [9.0], [9.5], [11.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "clusters.opf"))
        ...     loaded = pathforest.load(os.path.join(folder, "clusters.opf"))
        >>> loaded.predict([[3.0], [7.0]]).tolist()
        [0, 1]
        """
        save(self, path)

    def _state_to_save(self) -> dict[str, Any]:
        """Collect the contents of a file: the parameters, and the fitted attributes except derived ones."""
        state = self.get_params(deep=False)
        derived = self._derived_names()
        state |= {k: v for k, v in vars(self).items() if is_fitted_name(k) and k not in derived}
        return state

    def _derived_names(self) -> set[str]:
        """Names of the fitted attributes that :meth:`_derive_state` makes from the others."""
        return set()

    def _derive_state(self) -> None:
        """Make the attributes that a file leaves out, from those that have been checked."""

    def _check_fitted_state(self) -> int:
        """Raise ValueError unless parameters and fitted attributes fit together; return how many samples.

        Saving and loading both call it: a model must pass before it is saved, and the contents of a file
        before they are used. Subclasses check their own attributes as well.
        """
        raise NotImplementedError

    def _forget(self) -> None:
        """Drop all fitted state."""
        for name in list(vars(self)):
            if is_fitted_name(name):
                delattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_fit_cache" in state:
            state["_fit_cache"] = {}
        return {**state, "_format_version": FORMAT_VERSION}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_format_version", FORMAT_VERSION)
        if version > FORMAT_VERSION:
            raise ValueError(
                f"this {type(self).__name__} was saved in format {version}, and this pathforest reads up to "
                f"{FORMAT_VERSION}; upgrade pathforest to load it"
            )
        super().__setstate__(state)
