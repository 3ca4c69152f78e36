"""Posteriors on another scale: Student's t, normal on the logit scale, and a moved range."""

import numpy as np
from scipy.special import expit, gammaln, logit, ndtr, ndtri, stdtr, stdtrit

from skuncertain._distributions import Posterior
from skuncertain._intervals import shortest_of_quantiles
from skuncertain._warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning


class StudentPosterior(Posterior):
    """Student's t around a mean of fold values.

    Parameters
    ----------
    df : float or ndarray
        Degrees of freedom.
    loc, scale : float or ndarray
        Centre and scale. A scale of 0 is a point mass.
    **info : dict
        Metric name, observed value and the like.
    """

    def __init__(self, df, loc, scale, **info):
        parts = (np.asarray(part, dtype=float) for part in (df, loc, scale))
        self.df, self.loc, self.scale = np.broadcast_arrays(*parts)
        # A t distribution knows nothing about the ends of a range: it is never closed there.
        super().__init__(self.loc.shape, closing=False, **info)

    def _describe(self):
        if self.shape:
            return []
        return [f"df={self.df:g}", f"loc={self.loc:g}", f"scale={self.scale:g}"]

    def _mean(self):
        return np.where((self.df > 1) | (self.scale == 0), self.loc, np.nan)

    def _std(self):
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(self.df / (self.df - 2))
            spread = np.where(self.df > 2, spread, np.where(self.df > 1, np.inf, np.nan))
            return np.where(self.scale == 0, 0.0, self.scale * spread)

    def _standardised(self, x):
        point = self.scale == 0
        if not point.any():
            return (x - self.loc) / self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (x - self.loc) / self.scale
        return np.where(point, np.where(x >= self.loc, np.inf, -np.inf), z)

    def _pdf(self, x):
        z, df = self._standardised(x), self.df
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            norm = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * df)
            value = np.exp(norm - (df + 1) / 2 * np.log1p(z * z / df)) / self.scale
        return np.where(self.scale == 0, np.where(x == self.loc, np.inf, 0.0), value)

    def _cdf(self, x):
        return stdtr(self.df, self._standardised(x))

    def _quantile(self, q):
        tail = (1,) * q.ndim
        df, loc, scale = (
            part.reshape(self.shape + tail) for part in (self.df, self.loc, self.scale)
        )
        z = np.where(q <= 0, -np.inf, np.where(q >= 1, np.inf, stdtrit(df, np.clip(q, 1e-300, 1))))
        with np.errstate(invalid="ignore"):
            return np.where(scale == 0, loc, loc + scale * z)

    def _sample(self, size, rng):
        z = rng.standard_t(np.maximum(self.df, 1e-6)[..., None], size=(*self.shape, size))
        return self.loc[..., None] + self.scale[..., None] * z

    def _hdi(self, level):  # symmetric and one-peaked
        return tuple(np.moveaxis(self._quantile(np.array([1 - level, 1 + level]) / 2), -1, 0))

    def interval(self, level=0.95, kind="eti"):
        """Interval, with a warning where it leaves the range of the metric or has no width."""
        low, high = ends = super().interval(level, kind)
        name = self.metric or "score"
        if np.any((np.asarray(low) < self.range[0]) | (np.asarray(high) > self.range[1])):
            warn_user(
                f"the t interval of {name} leaves its range {self.range}: t knows no limits. "
                "method='pooled' does, where folds can be pooled.",
                DegenerateIntervalWarning,
            )
        if np.any(self.scale == 0):
            warn_user(
                f"all folds have the same {name}: the t interval has no width, which says nothing "
                "about uncertainty. method='pooled' has one, where folds can be pooled.",
                DegenerateIntervalWarning,
            )
        return ends


class NormalPosterior(StudentPosterior):
    """Normal around an estimate; a scale of 0 is a point mass.

    Parameters
    ----------
    loc, scale : float or ndarray
        Centre and scale.
    **info : dict
        Metric name, observed value and the like.
    """

    def __init__(self, loc, scale, **info):
        super().__init__(np.inf, loc, scale, **info)

    def _describe(self):
        return [] if self.shape else [f"loc={self.loc:g}", f"scale={self.scale:g}"]

    def _mean(self):
        return self.loc

    def _std(self):
        return self.scale

    def _pdf(self, x):
        z = self._standardised(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.exp(-0.5 * z * z) / (self.scale * np.sqrt(2 * np.pi))
        return np.where(self.scale == 0, np.where(x == self.loc, np.inf, 0.0), value)

    def _cdf(self, x):
        return ndtr(self._standardised(x))

    def _quantile(self, q):
        tail = (1,) * q.ndim
        loc, scale = (part.reshape(self.shape + tail) for part in (self.loc, self.scale))
        with np.errstate(invalid="ignore"):
            return np.where(scale == 0, loc, loc + scale * ndtri(q))

    def _sample(self, size, rng):
        z = rng.standard_normal((*self.shape, size))
        return self.loc[..., None] + self.scale[..., None] * z

    def interval(self, level=0.95, kind="eti"):
        """Interval, with a warning where it leaves the range of the metric."""
        low, high = ends = Posterior.interval(self, level, kind)
        if np.any((np.asarray(low) < self.range[0]) | (np.asarray(high) > self.range[1])):
            warn_user(
                f"the normal interval of {self.metric} leaves its range {self.range}: a normal "
                "distribution knows no limits.",
                DegenerateIntervalWarning,
            )
        if np.any((self.scale == 0) & (self.loc != 0)):  # no difference at all is sure
            warn_user(
                f"{self.metric} has a variance of 0, as with scores that are all tied: the "
                "interval has no width, which says nothing about uncertainty.",
                DegenerateIntervalWarning,
            )
        return ends


class LogitNormalPosterior(Posterior):
    """A value in (0, 1) whose logit is normal.

    Parameters
    ----------
    loc, scale : float or ndarray
        Mean and standard deviation of the logit.
    **info : dict
        Metric name, observed value and the like.
    """

    def __init__(self, loc, scale, **info):
        parts = (np.asarray(part, dtype=float) for part in (loc, scale))
        self.loc, self.scale = np.broadcast_arrays(*parts)
        super().__init__(self.loc.shape, closing=False, **info)

    def _describe(self):
        return [] if self.shape else [f"loc={self.loc:g}", f"scale={self.scale:g}"]

    def _moments(self):
        """Mean and variance by the Gauss-Hermite rule."""
        node, weight = np.polynomial.hermite_e.hermegauss(80)
        x = expit(self.loc[..., None] + self.scale[..., None] * node)
        weight = weight / weight.sum()
        mean = x @ weight
        return mean, np.square(x - mean[..., None]) @ weight

    def _mean(self):
        return self._moments()[0]

    def _std(self):
        return np.sqrt(self._moments()[1])

    def _pdf(self, x):
        inside = (x > 0) & (x < 1)
        safe = np.where(inside, x, 0.5)
        z = (logit(safe) - self.loc) / self.scale
        value = np.exp(-0.5 * z * z) / (self.scale * np.sqrt(2 * np.pi) * safe * (1 - safe))
        return np.where(inside, value, 0.0)

    def _cdf(self, x):
        with np.errstate(divide="ignore"):
            z = (logit(np.clip(x, 0.0, 1.0)) - self.loc) / self.scale
        return ndtr(z)

    def _quantile(self, q):
        tail = (1,) * q.ndim
        loc, scale = (part.reshape(self.shape + tail) for part in (self.loc, self.scale))
        return expit(loc + scale * ndtri(q))

    def _sample(self, size, rng):
        z = rng.standard_normal((*self.shape, size))
        return expit(self.loc[..., None] + self.scale[..., None] * z)

    def _hdi(self, level):
        loc, scale = self.loc.ravel(), self.scale.ravel()

        def quantile(p, rows):
            return expit(loc[rows] + scale[rows] * ndtri(p))

        def log_density(x, rows):
            with np.errstate(divide="ignore"):
                z = (logit(x) - loc[rows]) / scale[rows]
                return -0.5 * z * z - np.log(x) - np.log1p(-x)

        ends = shortest_of_quantiles(quantile, log_density, level, loc.size)
        return tuple(end.reshape(self.shape) for end in ends)


class AffinePosterior(Posterior):
    """A posterior on [0, 1] stretched to the range of the metric.

    Parameters
    ----------
    inner : Posterior
        Posterior of ``(metric - low) / (high - low)``.
    **info : dict
        Metric name, range, observed value and the like.
    """

    def __init__(self, inner, **info):
        super().__init__(inner.shape, closing=False, **info)
        self._inner = inner
        self._low, self._span = self.range[0], self.range[1] - self.range[0]
        self.exact = inner.exact

    def _out(self, x):
        return self._low + self._span * x

    def _in(self, x):
        return (x - self._low) / self._span

    def _mean(self):
        return self._out(self._inner._mean())

    def _std(self):
        return self._span * self._inner._std()

    def _pdf(self, x):
        return self._inner._pdf(self._in(x)) / self._span

    def _cdf(self, x):
        return self._inner._cdf(self._in(x))

    def _quantile(self, q):
        return self._out(self._inner._quantile(q))

    def _sample(self, size, rng):
        return self._out(self._inner._sample(size, rng))

    def _hdi(self, level):
        return tuple(self._out(end) for end in self._inner._hdi(level))
