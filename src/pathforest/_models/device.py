"""The `device` of estimators that consist of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator


class DeviceOfParts(BaseEstimator):
    """Base of those that answer by fitted classifiers: a new `device` is theirs as well."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a fitted estimator computes on a new `device` from the next prediction on.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : object
            The estimator.
        """
        super().set_params(**params)
        if "device" in params:
            for classifier in self._fitted_parts():
                classifier.set_params(device=self.device)
        return self

    def _fitted_parts(self) -> Iterable[Any]:
        """Return the classifiers that predictions come from; none before `fit`."""
        raise NotImplementedError
