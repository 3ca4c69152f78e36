"""The interval type."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """An interval, credible or confidence: two floats, or two arrays for stacked input.

    Parameters
    ----------
    low : float or ndarray
        Lower end.
    high : float or ndarray
        Upper end.

    See Also
    --------
    credible_interval : Interval of a metric from predictions.

    Examples
    --------
    >>> from skuncertain.posteriors import Interval
    >>> interval = Interval(0.71, 0.84)
    >>> low, high = interval
    >>> round(interval.width, 2)
    0.13
    >>> 0.8 in interval
    True
    """

    low: float | np.ndarray
    high: float | np.ndarray

    @property
    def width(self):
        """Upper end minus lower end."""
        return self.high - self.low

    def __contains__(self, value):
        return bool(np.all((self.low <= value) & (value <= self.high)))


def make_interval(low, high):
    """Interval of Python floats where both ends are scalar, of arrays otherwise."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if low.ndim == 0:
        return Interval(float(low), float(high))
    return Interval(low, high)
