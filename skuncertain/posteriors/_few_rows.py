"""Intervals of averages over classes that have few rows each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

_FADES, ENOUGH = 50.0, 100.0  # rows per class between which the correction goes
_FAR = 8.0  # standard deviations


@dataclass(frozen=True, eq=False)
class FewRows:
    """What widens an equal-tailed interval of an average over classes with few rows.

    An average of curved scores is biased in few rows, its posterior has that bias once more, and
    the prior pulls every class the same way. So the interval is the hull of three: the posterior's,
    one moved by twice the bias that the posterior shows, and one without the pull of the prior.

    Parameters
    ----------
    smoothed : ndarray
        Value of the metric at the counts with the prior.
    raw : ndarray
        Value at the counts alone.
    rows : ndarray
        Rows per class, a harmonic mean.
    """

    smoothed: np.ndarray
    raw: np.ndarray
    rows: np.ndarray

    def tails(self, cdf, level):
        """Probabilities of the posterior at the ends of the interval.

        Parameters
        ----------
        cdf : callable
            Cdf of the posterior.
        level : float
            Nominal coverage.

        Returns
        -------
        tuple of two ndarrays
            Below the lower and below the upper end.
        """
        part = np.clip((ENOUGH - self.rows) / (ENOUGH - _FADES), 0.0, 1.0)
        scores = np.clip(ndtri(cdf(np.stack([self.smoothed, self.raw]))), -_FAR, _FAR)
        bias, pull = part * np.nan_to_num(scores)
        moves = np.stack([0 * bias, 2 * bias, bias + pull])
        reach = ndtri((1 + level) / 2) * np.sqrt(1 + part / np.maximum(self.rows, 0.5))
        return ndtr(moves.min(axis=0) - reach), ndtr(moves.max(axis=0) + reach)
