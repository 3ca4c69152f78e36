"""Many models that were cross-validated on the same splits, for a leaderboard.

Rows get random weights, the same for all models, as on one test set. In folds they count less: as
much as for the pair of models that needs the least variance. What a pair needs beyond that is added
as normal noise, whose covariance gives every pair its own variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain.comparison._fold_difference import difference_variance
from skuncertain.comparison._fold_rows import FoldRows
from skuncertain.model_selection._fold_methods import FoldOptions, make_fold_posterior
from skuncertain.model_selection._folds import Folds
from skuncertain.posteriors._about import folds_of


@dataclass(frozen=True, eq=False)
class FoldBoard:
    """Variances that the differences of m models need.

    Attributes
    ----------
    rows : FoldRows
        Rows, folds and predictions.
    metric, positive, estimand : object
        What is asked.
    weight : float
        What a row counts in the draws.
    omega : ndarray of shape (m, m)
        What it counts for every pair, as in `compare_paired`.
    beyond : ndarray of shape (m, m)
        Variance that a pair needs beyond that of weighted rows.
    """

    rows: FoldRows
    metric: Any
    positive: Any
    estimand: str
    weight: float
    omega: np.ndarray
    beyond: np.ndarray

    @classmethod
    def of(cls, rows, metric, positive, estimand):
        """Look at all pairs."""
        variance = difference_variance(rows, metric, positive)
        omega = variance.omega(estimand)
        np.fill_diagonal(omega, 1.0)
        weight = float(_pairs(omega).max(initial=0.0)) or 1.0  # one group has no pairs
        beyond = np.maximum(variance.needed(estimand) - variance.binomial / weight, 0.0)
        np.fill_diagonal(beyond, 0.0)
        return cls(rows, metric, positive, estimand, weight, omega, beyond)

    def widen(self, draws, seed):
        """Draws ``(m, size)`` with the noise that pairs need beyond weighted rows."""
        if not self.beyond.any():
            return draws
        m = len(draws)
        centring = np.eye(m) - 1 / m
        # Squared distances between points that are the noise of the models
        values, vectors = np.linalg.eigh(-0.5 * centring @ self.beyond @ centring)
        axes = vectors * np.sqrt(np.maximum(values, 0.0))  # none of them may be shorter than 0
        rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        return draws + axes @ rng.standard_normal((m, draws.shape[1]))

    def posteriors(self, random_state):
        """Posterior of every model, as of its cross-validation."""
        models = self.rows.models or [None] * len(self.rows.codes)
        return [
            make_fold_posterior(
                Folds(
                    self.rows.matrices(k),
                    self.metric,
                    self.positive,
                    self.rows.n_repeats,
                    random_state=random_state,
                    models=known,
                ),
                FoldOptions(estimand=self.estimand),
            )
            for k, known in enumerate(models)
        ]

    def about(self):
        """Folds and estimand, as fields of `About`."""
        return {
            "method": "paired",
            "n_folds": self.rows.n_folds,
            "n_repeats": self.rows.n_repeats,
            "estimand": self.estimand,
        }

    def method(self, about):
        """How it was made, in words."""
        others = _pairs(self.omega)
        if not others.size:
            return f"{self.rows.n} shared rows, {folds_of(about)}, estimand {self.estimand}"
        low, high = f"{others.min():.2f}", f"{others.max():.2f}"
        weights = low if low == high else f"{low} to {high}"
        return (
            f"{self.rows.n} shared rows, {folds_of(about)}, omega {weights}, estimand "
            f"{self.estimand}"
        )


def _pairs(table):
    """Entries of all pairs of different models."""
    return table[~np.eye(len(table), dtype=bool)]
