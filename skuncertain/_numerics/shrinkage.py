"""How far the differences between many candidates are luck: means drawn towards each other.

The candidates' true values are taken as a sample of a population that the candidates themselves
describe.

Models of a leaderboard (`shrink_models`) differ each for itself: their values are normal, with the
spread that the means have beyond their noise, unless all models are the same.

Candidates of a search (`shrink_means`) are neighbours, many of which are about as good as the best.
Three things are unknown: whether the candidates differ at all; the centre and the spread of the
good ones, which are normal; and how many others are spread evenly below. Everything is averaged
over a grid of these, in proportion to the likelihood of the means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

LEAST_GROUPS = 4  # fewer say nothing about their population
_EQUAL = 1 / 3  # prior probability, of many candidates, that they do not differ
_SAME, _SEVERAL = 1 / 2, 8  # that of very many models; of so many or fewer it is 0
_WIDTHS = np.geomspace(0.25, 5.6, 10)  # spreads of models that do differ, in units of the noise
# Spreads of the good ones, in units of the noise, and shares of the others; with their priors.
_SPREADS = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
_P_SPREADS = np.sqrt(_SPREADS) / np.sqrt(_SPREADS).sum()
_BELOW, _P_BELOW = np.array([0.0, 0.5, 0.8]), np.array([0.6, 0.2, 0.2])
_FAR = 20.0  # beyond, a candidate is worse for sure
_ROWS = 500  # candidates that are looked at together
_ROOT = np.sqrt(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Posterior of many true values, given that they come from one population.

    Attributes
    ----------
    p_equal : float
        Probability that all of them are the same.
    mean, variance : ndarray of shape (m,)
        Of every true value if they are not.
    weight : float
        Variance that is left relative to that of the noise, on average: 1 is no shrinkage.
    """

    p_equal: float
    mean: np.ndarray
    variance: np.ndarray
    weight: float


def shrink_models(mean, noise):
    """Shrink `mean` of m models, more is better, whose errors have the variances `noise`.

    Errors that all models share do not matter; `noise` is what is left without them.
    """
    noise, m = np.broadcast_to(noise, mean.shape), mean.size
    average = noise.mean()
    if m < LEAST_GROUPS or not average > 0:
        return Shrunk(0.0, mean, noise, 1.0)
    between = mean.var(ddof=1) - average
    if between <= 0:
        return Shrunk(1.0, np.full(m, mean.mean()), np.zeros(m), 0.0)
    p_equal = _p_same(mean, noise, _SAME * max(0.0, 1 - _SEVERAL / m))
    certain = np.maximum(noise, 1e-12 * average)  # no model is known without any error
    share, weight = between / (between + certain), 1 / (between + certain)
    centre = np.dot(weight, mean) / weight.sum()
    variance = share * noise
    left = float((1 - p_equal) * variance.mean() / average)
    return Shrunk(p_equal, centre + share * (mean - centre), variance, left)


def _p_same(mean, noise, prior):
    """Probability that all models are the same, which has a prior one; their centre is unknown."""
    if prior == 0:
        return 0.0
    average = noise.mean()
    spread = np.r_[0.0, _WIDTHS] ** 2 * average
    variance = np.maximum(noise, 1e-12 * average) + spread[:, None]
    total = (1 / variance).sum(axis=1)
    centre = (mean / variance).sum(axis=1) / total
    squares = (np.square(mean - centre[:, None]) / variance).sum(axis=1)
    log = -0.5 * (np.log(variance).sum(axis=1) + np.log(total) + squares)
    before = np.r_[prior, np.full(_WIDTHS.size, (1 - prior) / _WIDTHS.size)]
    after = np.exp(log - log.max()) * before
    return float(after[0] / after.sum())


def shrink_means(mean, noise):
    """Shrink `mean` of m candidates, more is better, whose errors have the variances `noise`.

    Errors that all candidates share do not matter; `noise` is what is left without them.
    """
    noise = np.broadcast_to(noise, mean.shape)
    average = noise.mean()
    if mean.size < LEAST_GROUPS or not average > 0:
        return Shrunk(0.0, mean, noise, 1.0)
    unit, top = np.sqrt(average), mean.max()
    distance = np.maximum((mean - top) / unit, -_FAR)
    scale = np.sqrt(np.maximum(noise / average, 1e-6))
    grid = _Populations.around(distance)
    p_equal, weight = grid.weights(distance, scale)
    likely = weight > 1e-6 * weight.max()  # the others would cost time only
    grid, weight = grid.only(likely), weight[likely] / weight[likely].sum()
    first, second = np.empty((2, mean.size))
    for rows in _chunks(mean.size):
        first[rows], second[rows] = grid.moments(distance[rows], scale[rows], weight)
    variance = np.minimum(average * np.maximum(second - first**2, 0.0), noise)
    far = distance <= -_FAR  # where they are does not matter
    shrunk, variance = np.where(far, mean, top + unit * first), np.where(far, noise, variance)
    return Shrunk(p_equal, shrunk, variance, float((1 - p_equal) * variance.mean() / average))


@dataclass(frozen=True, eq=False)
class _Populations:
    """Populations of true values, as distances from the best mean in units of the noise.

    A share ``1 - below`` is normal with `centre` and `spread`, the others are spread evenly between
    `bottom` and the centre.
    """

    centre: np.ndarray
    spread: np.ndarray
    below: np.ndarray
    bottom: float

    @classmethod
    def around(cls, distance):
        """All combinations that come into question, of shape (spreads, shares, centres)."""
        lowest = min(distance.min(), -1.0)
        centre = np.arange(lowest, 1.25, 0.5)
        return cls(centre, _SPREADS[:, None, None], _BELOW[:, None], lowest - 1.0)

    def only(self, which):
        """Some of the combinations, one after the other."""
        axes = np.broadcast_arrays(self.centre, self.spread, self.below)
        return _Populations(*(axis[which] for axis in axes), self.bottom)

    def weights(self, distance, scale):
        """Probability that all candidates are the same, and of every population if they are not."""
        equal = _EQUAL * (1 - (LEAST_GROUPS - 1) / distance.size)  # few are rarely all the same
        each = np.full(self.centre.size, 1 / self.centre.size)
        same = np.log(equal * each)
        differ = np.log((1 - equal) * _P_SPREADS[:, None, None] * _P_BELOW[:, None] * each)
        for rows in _chunks(distance.size):
            z, s = distance[rows, None], scale[rows, None]
            same -= (0.5 * ((z - self.centre) / s) ** 2 + np.log(_ROOT * s)).sum(axis=0)
            good, others = self._densities(z[..., None, None], s[..., None, None])
            with np.errstate(divide="ignore"):
                differ += np.log(good + others).sum(axis=0)
        highest = max(same.max(), differ.max())
        same, differ = np.exp(same - highest).sum(), np.exp(differ - highest)
        return float(same / (same + differ.sum())), differ

    def _densities(self, z, s):
        """Densities of observed distances, by the good candidates and by the others."""
        total = s**2 + self.spread**2
        good = np.exp(-0.5 * (z - self.centre) ** 2 / total) / (_ROOT * np.sqrt(total))
        width = self.centre - self.bottom
        others = (ndtr((self.centre - z) / s) - ndtr((self.bottom - z) / s)) / width
        return (1 - self.below) * good, self.below * others

    def moments(self, distance, scale, weight):
        """First and second moment of true values, averaged over the populations."""
        z, s = distance[:, None], scale[:, None]
        good, others = self._densities(z, s)
        share = self.spread**2 / (s**2 + self.spread**2)
        first = self.centre + share * (z - self.centre)
        second = first**2 + share * s**2
        # The others have a normal density that is cut off at both ends.
        high, low = (
            np.exp(-0.5 * ((end - z) / s) ** 2) * s / _ROOT * self.below
            for end in (self.centre, self.bottom)
        )
        width = self.centre - self.bottom
        sum_of_first = z * others + (low - high) / width
        sum_of_second = (z**2 + s**2) * others + (
            (z + self.bottom) * low - (z + self.centre) * high
        ) / width
        weight = weight / (good + others)
        return (
            (weight * (good * first + sum_of_first)).sum(axis=1),
            (weight * (good * second + sum_of_second)).sum(axis=1),
        )


def _chunks(m):
    return [slice(start, start + _ROWS) for start in range(0, m, _ROWS)]
