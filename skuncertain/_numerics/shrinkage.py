"""How far the differences between many candidates are luck: means drawn towards each other.

The candidates' true values are taken as a sample of a population that the candidates themselves
describe. Of that population three things are unknown: whether the candidates differ at all; the
centre and the spread of the good ones, which are normal; and how many others are spread evenly
below. Everything is averaged over a grid of these, in proportion to the likelihood of the means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_GROUPS = 4  # fewer say nothing about their population
_EQUAL = 1 / 3  # prior probability, of many candidates, that they do not differ
_SPREADS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])  # of the good ones, in units of the noise
_BELOW = np.array([0.0, 0.5, 0.8])  # share of the others
_STEP = 0.25  # of true values; a quadrature of normal densities as wide as this is exact
_FAR = 20.0  # beyond, a candidate is worse for sure
_ROWS = 1000  # candidates that are looked at together


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
    scale = np.sqrt(np.maximum(noise / average, _STEP**2))
    value, centre, prior, log_prior = _populations(distance.min(), mean.size)
    p_equal, weight = _weights(distance, scale, centre, value, prior, log_prior)
    shown = weight > 1e-6 * weight.max()  # the others would cost time only
    prior, weight = prior[:, shown], weight[shown] / weight[shown].sum()
    moments = np.empty((2, mean.size))
    for rows in _chunks(mean.size):
        likelihood = _likelihood(distance[rows], scale[rows], value)
        posterior = likelihood * ((weight / (likelihood @ prior)) @ prior.T)
        posterior /= posterior.sum(axis=1, keepdims=True)
        first = posterior @ value
        moments[:, rows] = first, np.maximum(posterior @ value**2 - first**2, 0.0)
    shrunk = top + unit * moments[0]
    variance = np.minimum(average * moments[1], noise)
    far = distance <= -_FAR  # where they are does not matter
    shrunk, variance = np.where(far, mean, shrunk), np.where(far, noise, variance)
    return Shrunk(p_equal, shrunk, variance, float((1 - p_equal) * variance.mean() / average))


def _populations(lowest, m):
    """Grids of true values and centres, populations as columns, logarithms of their priors.

    Distances from the best mean, in units of the noise.
    """
    lowest = min(lowest, -1.0)
    value = np.arange(lowest - 2.0, 4.0 + _STEP / 2, _STEP)
    centre = np.arange(lowest, 1.0 + _STEP, 2 * _STEP)
    good = np.exp(-0.5 * ((value[:, None, None] - centre) / _SPREADS[:, None]) ** 2)
    good /= good.sum(axis=0)
    others = ((value[:, None] <= centre) & (value[:, None] >= lowest - 1.0)).astype(float)
    others /= others.sum(axis=0)
    prior = (1 - _BELOW[:, None, None]) * good[:, None] + _BELOW[:, None, None] * others[
        :, None, None
    ]
    prior = prior.reshape(value.size, -1)
    equal = _EQUAL * (1 - (LEAST_GROUPS - 1) / m)  # few candidates are rarely all the same
    return (
        value,
        centre,
        prior,
        (np.log(equal / centre.size), np.log1p(-equal) - np.log(prior.shape[1])),
    )


def _weights(distance, scale, centre, value, prior, log_prior):
    """Probability that all candidates are the same, and of every population if they are not."""
    same, differ = np.full(centre.size, log_prior[0]), np.full(prior.shape[1], log_prior[1])
    for rows in _chunks(distance.size):
        same += _log_density(distance[rows], scale[rows], centre).sum(axis=0)
        likelihood = _likelihood(distance[rows], scale[rows], value) @ prior
        with np.errstate(divide="ignore"):
            differ += np.log(likelihood).sum(axis=0)
    highest = max(same.max(), differ.max())
    same, differ = np.exp(same - highest).sum(), np.exp(differ - highest)
    return float(same / (same + differ.sum())), differ


def _log_density(distance, scale, value):
    return -0.5 * ((distance[:, None] - value) / scale[:, None]) ** 2 - np.log(scale)[:, None]


def _likelihood(distance, scale, value):
    return np.exp(_log_density(distance, scale, value))


def _chunks(m):
    return [slice(start, start + _ROWS) for start in range(0, m, _ROWS)]
