"""How far the differences between many candidates are luck: means drawn towards each other.

Models of a leaderboard and candidates of a search have the same rule. If an F test cannot tell
their means from equal ones, they are equal. Otherwise their true values are a sample of a normal
population, cut off at the top or at the bottom, that has the spread and the skewness which the
means have beyond their noise: where many are nearly as good as the best, the top is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, log_ndtr

LEAST_GROUPS = 4  # fewer say nothing about their population
_LEVEL, _STRICTEST = 0.7, 20  # of the F test: 0.7 to the power m - 3, for so many m at most
_CROWD = 1.5  # what the square of the skewness counts
_MANY = 1e12  # degrees of freedom of noise that is known


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Posterior of many true values, given that they come from one population.

    Attributes
    ----------
    equal : bool
        Whether the means differ by no more than their noise explains.
    mean, variance : ndarray of shape (m,)
        Of every true value.
    weight : float
        Variance that is left relative to that of the noise, on average: 1 is no shrinkage.
    p_value : float
        How often equal means would differ as much.
    """

    equal: bool
    mean: np.ndarray
    variance: np.ndarray
    weight: float
    p_value: float = 0.0


def shrink_means(mean, noise, freedom=None, folds=_MANY):
    """Shrink `mean` of m candidates, more is better, whose errors have the variances `noise`.

    Errors that all candidates share do not matter; `noise` is what is left without them. It has
    `freedom` degrees of freedom (m - 1 if errors are independent), and was estimated from `folds`
    times as many.
    """
    noise, m = np.broadcast_to(noise, mean.shape), mean.size
    average = noise.mean()
    if m < LEAST_GROUPS or not average > 0:
        return Shrunk(False, mean, noise, 1.0)
    certain = np.maximum(noise, 1e-12 * average)  # no candidate is known without any error
    freedom = m - 1.0 if freedom is None else freedom
    ratio = _squares(mean, certain) / (m - 1)
    # Few are rarely all the same: the level is 0.7 for four, and 0.0023 for twenty and more.
    level = _LEVEL ** (min(m, _STRICTEST) - 3)
    expected = m - 3  # as James and Stein, for m - 1: else one shrinks too far
    p_value = float(fdtrc(freedom, freedom * folds, ratio))
    if ratio * (m - 1) <= expected or p_value > level:
        return Shrunk(True, np.full(m, mean.mean()), np.zeros(m), 0.0, p_value)
    between = _between(mean, certain, expected)
    shrunk, variance = _posterior(mean, certain, between)
    return Shrunk(False, shrunk, variance, float(variance.mean() / average), p_value)


def freedom_of(errors):
    """Degrees of freedom of the differences between m candidates, from n joint errors (m, n).

    It is Greenhouse and Geisser's estimate, without the part 1 / (n - 1) of its inverse that comes
    from n errors in place of all.
    """
    m, n = errors.shape
    contrasts = errors - errors.mean(axis=0)
    contrasts = contrasts - contrasts.mean(axis=1, keepdims=True)
    products = contrasts @ contrasts.T if m < n else contrasts.T @ contrasts
    inverse = np.square(products).sum() / np.trace(products) ** 2 - 1 / (n - 1)
    return 1 / np.clip(inverse, 1 / (m - 1), 1.0)


def _squares(mean, variance):
    """Sum of the squares of standardised deviations from the weighted mean."""
    return np.sum(np.square(mean - _centre(mean, variance)) / variance)


def _centre(mean, variance):
    return np.sum(mean / variance) / np.sum(1 / variance)


def _between(mean, noise, expected):
    """Variance of the population: with it, standardised squares have the sum that is expected."""
    low, high = 0.0, np.square(mean - mean.mean()).sum() / expected
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _squares(mean, noise + middle) > expected else (low, middle)
    return high


# --------------------------------------------------------------------------------------------------
# A normal population that is cut off


def _hazard(z):
    """Normal density over the probability above z."""
    return np.exp(-0.5 * z**2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)


def _left(z):
    """Variance of a standard normal variable above z."""
    return 1 - _hazard(z) * (_hazard(z) - z)


_CUTS = np.linspace(-6, 6, 481)
_SKEWNESS = _hazard(_CUTS) * ((_hazard(_CUTS) - _CUTS) * (2 * _hazard(_CUTS) - _CUTS) - 1)
_SKEWNESS /= _left(_CUTS) ** 1.5


def _posterior(mean, noise, between):
    """Means and variances of true values, from a population with the variance `between`."""
    centre, m = _centre(mean, noise + between), mean.size
    gap, weight = mean - centre, 1 / (noise + between)
    third = np.dot(weight, gap**3) / weight.sum() * m**2 / ((m - 1) * (m - 2))
    # Noise has no skewness. That of few means is random: its square counts little if it is small.
    skewness = min(_CROWD * (third / between**1.5) ** 2, _SKEWNESS[-1])
    sign = -1.0 if third < 0 else 1.0
    shrunk, variance = _cut_off(sign * mean, noise, sign * centre, between, skewness)
    return sign * shrunk, variance


def _cut_off(mean, noise, centre, between, skewness):
    """The same of a normal population that is cut off at the bottom, by its moments."""
    cut = np.interp(skewness, _SKEWNESS, _CUTS)
    scale = np.sqrt(between / _left(cut))
    middle = centre - scale * _hazard(cut)  # of the normal population before
    share = scale**2 / (scale**2 + noise)
    deviation = np.sqrt(share * noise)
    whole = middle + share * (mean - middle)
    z = (middle + cut * scale - whole) / deviation
    return whole + deviation * _hazard(z), deviation**2 * np.clip(_left(z), 1e-6, 1.0)
