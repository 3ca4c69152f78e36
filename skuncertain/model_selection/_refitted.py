"""Predictions of an estimator that was cross-validated and then fitted on all rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _delegates(name):
    """Whether the refitted, or else the given, estimator has a method."""

    def check(self):
        if not self.refit:
            raise AttributeError(f"{name} needs the estimator fitted on all rows: set refit=True.")
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    return check


class RefittedPredictions:
    """Methods of ``estimator_``, for those who have one; not constructed by users."""

    estimator: Any
    estimator_: Any
    refit: bool

    def _fitted(self, name="estimator_"):
        """What `fit` has made."""
        check_is_fitted(self)
        return getattr(self, name)

    @available_if(_delegates("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predicted labels of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The labels.
        """
        return self._fitted().predict(X)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The probabilities.
        """
        return self._fitted().predict_proba(X)

    @available_if(_delegates("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The logarithms.
        """
        return self._fitted().predict_log_proba(X)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The values.
        """
        return self._fitted().decision_function(X)

    @available_if(_delegates("score"))
    def score(self, X: Any, y: ArrayLike) -> float:
        """Score of the estimator fitted on all rows, as that estimator defines it.

        Parameters
        ----------
        X : array-like
            Rows.
        y : array-like
            True labels.

        Returns
        -------
        float
            The score.
        """
        return self._fitted().score(X, y)
