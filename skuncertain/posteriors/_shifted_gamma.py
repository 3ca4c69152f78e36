"""A gamma that is moved, and mirrored if need be: three moments and nothing drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, ndtr, ndtri

from skuncertain._numerics.shortest_interval import shortest_of_quantiles
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior

_STRAIGHT = 1e-5  # a skewness below is that of the normal, to 1e-5 standard deviations


class ShiftedGammaPosterior(Posterior):
    """Posterior of a mean of losses: mean, variance and skewness of a Bayesian bootstrap.

    Parameters
    ----------
    mean, variance : float or ndarray
        First two moments. A variance of 0 is a point mass.
    third : float or ndarray
        Third central moment; a negative one mirrors the gamma.
    about : About, default=About()
        Metric name, range, observed value and the like. Intervals end with the range.
    """

    exact = False

    def __init__(self, mean, variance, third, *, about=About()):
        mean, variance, third = np.broadcast_arrays(
            *(np.asarray(part, dtype=float) for part in (mean, variance, third))
        )
        # The support is no range of the metric: intervals are never closed, only cut off.
        super().__init__(mean.shape, replace(about, closing=False))
        self.loc, self.scale = mean, np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.where(variance > 0, third / variance**1.5, 0.0)
        self._skew = np.where(np.abs(skewness) < _STRAIGHT, 0.0, skewness)

    def _describe(self):
        return [] if self.shape else [f"mean={self.loc:g}", f"std={self.scale:g}"]

    def _shape_of(self, skew):
        with np.errstate(divide="ignore"):
            return 4 / np.square(skew)

    def _mean(self):
        return self.loc

    def _std(self):
        return self.scale

    def _skewness(self):
        return np.where(self.scale > 0, self._skew, np.nan)

    def _mode(self):
        # The gamma with shape k has its mode k - 1, or 0 at the end of its support.
        k = self._shape_of(self._skew)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = (np.maximum(k - 1, 0.0) - k) / np.sqrt(k) * np.sign(self._skew)
        return np.clip(self.loc + self.scale * np.where(self._skew == 0, 0.0, z), *self.range)

    def _gamma(self, x):
        """Values of the gamma, shape and whether it is mirrored, at points of the metric."""
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (x - self.loc) / self.scale
        z = np.where(self.scale > 0, z, np.where(x >= self.loc, np.inf, -np.inf))
        side = np.where(self._skew < 0, -1.0, 1.0)
        k = self._shape_of(self._skew)
        with np.errstate(invalid="ignore"):
            return z, k, side, k + side * z * np.sqrt(k)

    def _cdf(self, x):
        z, k, side, value = self._gamma(x)
        inside = np.where(self._skew == 0, 1.0, np.maximum(value, 0.0))
        shape = np.where(self._skew == 0, 1.0, k)
        below = np.where(side > 0, gammainc(shape, inside), gammaincc(shape, inside))
        return np.where(self._skew == 0, ndtr(z), below)

    def _pdf(self, x):
        z, k, _, value = self._gamma(x)
        straight = np.exp(-0.5 * np.square(z)) / np.sqrt(2 * np.pi)
        shape = np.where(self._skew == 0, 1.0, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where((self._skew == 0) | (value <= 0), 1.0, value)
            log = (shape - 1) * np.log(inside) - inside - gammaln(shape) + 0.5 * np.log(shape)
            bent = np.where(value > 0, np.exp(log), 0.0)
            density = np.where(self._skew == 0, straight, bent) / self.scale
        return np.where(self.scale == 0, np.where(x == self.loc, np.inf, 0.0), density)

    def _standard(self, q, skew):
        """Quantiles of the variable with mean 0, variance 1 and that skewness."""
        shape = np.where(skew == 0, 1.0, self._shape_of(skew))
        value = np.where(skew < 0, gammainccinv(shape, q), gammaincinv(shape, q))
        bent = np.where(skew < 0, -1.0, 1.0) * (value - shape) / np.sqrt(shape)
        return np.where(skew == 0, ndtri(q), bent)

    def _quantile(self, q):
        loc, scale, skew = (
            part.reshape(self.shape + (1,) * q.ndim) for part in (self.loc, self.scale, self._skew)
        )
        with np.errstate(invalid="ignore"):
            return np.where(scale == 0, loc, loc + scale * self._standard(q, skew))

    def _sample(self, size, rng):
        skew, shape = self._skew[..., None], (*self.shape, size)
        k = np.where(skew == 0, 1.0, self._shape_of(skew))
        bent = np.where(skew < 0, -1.0, 1.0) * (rng.standard_gamma(k, shape) - k) / np.sqrt(k)
        z = np.where(skew == 0, rng.standard_normal(shape), bent)
        return self.loc[..., None] + self.scale[..., None] * z

    def _hdi(self, level):
        loc, scale, skew = (part.ravel() for part in (self.loc, self.scale, self._skew))

        def quantile(p, rows):
            return loc[rows] + scale[rows] * self._standard(p, skew[rows])

        def log_density(x, rows):
            one = ShiftedGammaPosterior(
                loc[rows], scale[rows] ** 2, skew[rows] * scale[rows] ** 3, about=self.about
            )
            with np.errstate(divide="ignore"):
                return np.log(one._pdf(x))

        ends = shortest_of_quantiles(quantile, log_density, level, loc.size)
        return tuple(end.reshape(self.shape) for end in ends)

    def _ends(self, level, kind):
        if np.any(self.scale == 0):
            warn_user(
                f"all rows have the same {self.metric or 'loss'}: the interval has no width, which "
                "says nothing about uncertainty.",
                DegenerateIntervalWarning,
            )
        if np.all(self.scale == 0):
            return self.loc, self.loc
        return tuple(np.clip(end, *self.range) for end in super()._ends(level, kind))


class NegatedPosterior(Posterior):
    """Posterior of minus a metric, as scikit-learn's ``neg_`` scores are.

    Parameters
    ----------
    inner : Posterior
        Posterior of the metric itself.
    about : About
        What is known about its negative.
    """

    def __init__(self, inner, about):
        super().__init__(inner.shape, about)
        self._inner, self.exact = inner, inner.exact
        self.seed, self.n_draws = inner.seed, inner.n_draws

    def _describe(self):
        drawn = [] if self.n_draws is None else [f"n_draws={self.n_draws}", f"seed={self.seed}"]
        return [f"exact={self.exact}", *drawn]

    def _mean(self):
        return -self._inner._mean()

    def _std(self):
        return self._inner._std()

    def _skewness(self):
        return -self._inner._skewness()

    def _mode(self):
        return -self._inner._mode()

    def _pdf(self, x):
        return self._inner._pdf(-x)

    def _cdf(self, x):
        return 1 - self._inner._cdf(-x)

    def _quantile(self, q):
        return -self._inner._quantile(1 - q)

    def _sample(self, size, rng):
        return -self._inner._sample(size, rng)

    def _ends(self, level, kind):
        low, high = self._inner._ends(level, kind)
        return -high, -low

    def _monte_carlo_error(self, q):
        return self._inner._monte_carlo_error(None if q is None else 1 - q)

    def _interval_error(self, level, kind):
        return self._inner._interval_error(level, kind)


def negated(inner, metric, origin=None):
    """Posterior of minus what `inner` is about, which is `metric`; `origin` as in `About`."""
    about = inner.about
    return NegatedPosterior(
        inner,
        replace(
            about,
            metric=metric.name,
            range=metric.range,
            observed=-np.asarray(about.observed) if np.ndim(about.observed) else -about.observed,
            greater_is_better=metric.greater_is_better,
            origin=origin,
        ),
    )
