"""Ranges of both rates of a curve at every threshold, which hold together or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from skuncertain._numerics.beta import beta_quantile

_SAMPLES = 4000  # of uniform order statistics, to find the local level
_MOST_PLACES = 200  # where they are looked at
_SEED = 20261116  # fixed: the local level depends on nothing but the number of rows


@lru_cache(maxsize=256)
def local_level(n, level):
    """Level of single order statistics such that all n hold together with probability `level`.

    The order statistics of n uniform numbers are Beta(i, n + 1 - i). The smallest of their
    two-sided tail probabilities falls below the local level with probability 1 - level; its
    distribution is simulated with a fixed seed.
    """
    places = np.arange(1, n + 1)
    if n > _MOST_PLACES:  # neighbours say the same: dense at the ends, sparse in the middle
        share = np.linspace(0, np.pi, _MOST_PLACES)
        places = np.unique(np.rint(1 + (n - 1) * (1 - np.cos(share)) / 2).astype(int))
    # Gamma steps from place to place: uniform order statistics without those in between.
    steps = np.diff(places, prepend=0, append=n + 1)
    total = np.cumsum(
        np.random.default_rng(_SEED).gamma(steps, size=(_SAMPLES, steps.size)), axis=1
    )
    uniform = total[:, :-1] / total[:, -1:]
    cdf = betainc(places.astype(float), n + 1.0 - places, uniform)
    return float(np.quantile(2 * np.minimum(cdf, 1 - cdf).min(axis=1), 1 - level))


def _rates(scores, thresholds, level, technique, omega):
    """Share of `scores` at or above every threshold: (lower ends, upper ends).

    Rows that count omega each are omega times as many rows, at the same places.
    """
    n = omega * len(scores)
    reached = n - omega * np.searchsorted(np.sort(scores), thresholds, side="left")
    if technique is not None:
        return technique.interval(reached, n, level)
    tail = local_level(max(round(n), 1), level) / 2
    # The share above a threshold lies between those of the order statistics on both sides of it.
    # With one row on a side the range reaches the end, as that of a single rate does.
    low, high = np.zeros(len(reached)), np.ones(len(reached))
    some, rest = reached > 1, reached < n - 1
    low[some] = beta_quantile(tail, reached[some], n + 1.0 - reached[some])
    high[rest] = beta_quantile(1 - tail, reached[rest] + 1.0, n - reached[rest])
    return low, high


@dataclass(frozen=True, eq=False)
class Boxes:
    """Ranges of both rates at every threshold, from the highest down.

    Rows with equal scores cannot be parted: between the boxes before and behind them the curve is
    a straight line. Elsewhere it may go anywhere from the one box to the next.

    Attributes
    ----------
    thresholds : ndarray of shape (k,)
        From infinity to minus infinity.
    tpr, fpr : tuple of two ndarray of shape (k,)
        Lower and upper ends.
    joined : ndarray of shape (k,)
        Whether several rows have that score.
    """

    thresholds: np.ndarray
    tpr: tuple
    fpr: tuple
    joined: np.ndarray

    @classmethod
    def of(cls, positive, score, level, technique, omega):
        """Boxes that hold together, or each on its own if there is a technique for that.

        `omega` is what a positive and a negative row count.
        """
        scores, number = np.unique(score, return_counts=True)
        thresholds = np.r_[np.inf, scores[::-1], -np.inf]
        own = np.sqrt(level)  # both rates must hold
        tpr = _rates(score[positive], thresholds, own, technique, omega[0])
        fpr = _rates(score[~positive], thresholds, own, technique, omega[1])
        return cls(thresholds, tpr, fpr, np.r_[False, number[::-1] > 1, False])

    def lowest_tpr(self, fpr):
        """Least true positive rate at a false positive rate."""
        p, _ = _neighbours(fpr, self.fpr[1], "right")
        return np.where(fpr >= self.fpr[1][0], self.tpr[0][p], 0.0)

    def highest_tpr(self, fpr):
        """Greatest true positive rate at a false positive rate."""
        p, q = _neighbours(fpr, self.fpr[0], "right")
        return _between(fpr, p, q, self.fpr[0], self.tpr[1], self.joined)

    def highest_fpr(self, tpr):
        """Greatest false positive rate at a true positive rate."""
        p, q = _neighbours(tpr, self.tpr[0], "right")
        return _between(tpr, p, q, self.tpr[0], self.fpr[1], self.joined)

    def lowest_fpr(self, tpr):
        """Least false positive rate at a true positive rate."""
        p, q = _neighbours(tpr, self.tpr[1], "left")
        line = _between(tpr, p, q, self.tpr[1], self.fpr[0], self.joined)
        found = np.where(self.joined[q], line, self.fpr[0][q])
        # Before the first row there is nothing that a curve must have passed.
        return np.where(tpr > self.tpr[1][0], found, 0.0)


def _between(x, p, q, x_corner, y_corner, joined):
    """Height at x, right of corner p: that of p or, where joined, on the line to corner q."""
    run = x_corner[q] - x_corner[p]
    share = np.where(run > 0, (x - x_corner[p]) / np.where(run > 0, run, 1.0), 0.0)
    rise = np.where(joined[q], np.clip(share, 0, 1) * (y_corner[q] - y_corner[p]), 0.0)
    return y_corner[p] + rise


def _neighbours(x, corner, side):
    """Last corner before x, and the next."""
    p = np.clip(np.searchsorted(corner, x, side=side) - 1, 0, len(corner) - 1)
    return p, np.minimum(p + 1, len(corner) - 1)
