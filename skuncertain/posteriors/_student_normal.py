"""Student's t, the normal, the normal on the logit scale, and a posterior with a moved range."""

from dataclasses import replace

import numpy as np
from scipy.special import expit, gammaln, logit, ndtr, ndtri, stdtr, stdtrit

from skuncertain._numerics.mode import mode_on_line
from skuncertain._numerics.shortest_interval import shortest_of_quantiles
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior


class _LocationScale(Posterior):
    """A centre plus a scale times a symmetric standard variable; a scale of 0 is a point mass.

    Subclasses have the ``_standard_*`` functions of that variable, and the texts of the warnings.
    """

    loc: np.ndarray
    scale: np.ndarray
    _parameters: tuple[str, ...] = ("loc", "scale")

    def __init__(self, *parameters, about=About()):
        arrays = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in parameters))
        vars(self).update(zip(self._parameters, arrays, strict=True))
        # These distributions know nothing about the ends of a range: never closed there.
        super().__init__(self.loc.shape, replace(about, closing=False))

    def _describe(self):
        return [] if self.shape else [f"{name}={vars(self)[name]:g}" for name in self._parameters]

    def _with_axes(self, number):
        """Parameters with so many new axes at the end."""
        shape = self.shape + (1,) * number
        return tuple(vars(self)[name].reshape(shape) for name in self._parameters)

    def _mode(self):
        return self.loc

    def _standardised(self, x):
        point = self.scale == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (x - self.loc) / self.scale
        return np.where(point, np.where(x >= self.loc, np.inf, -np.inf), z) if point.any() else z

    def _pdf(self, x):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            value = self._standard_pdf(self._standardised(x)) / self.scale
        return np.where(self.scale == 0, np.where(x == self.loc, np.inf, 0.0), value)

    def _cdf(self, x):
        return self._standard_cdf(self._standardised(x))

    def _quantile(self, q):
        *shapes, loc, scale = self._with_axes(q.ndim)
        with np.errstate(invalid="ignore"):
            return np.where(scale == 0, loc, loc + scale * self._standard_quantile(q, *shapes))

    def _sample(self, size, rng):
        *shapes, loc, scale = self._with_axes(1)
        return loc + scale * self._standard_draws(rng, (*self.shape, size), *shapes)

    def _hdi(self, level):  # symmetric and one-peaked
        return np.moveaxis(self._quantile(np.array([1 - level, 1 + level]) / 2), -1, 0)

    def _ends(self, level, kind):
        low, high = super()._ends(level, kind)
        outside = np.any((low < self.range[0]) | (high > self.range[1]))
        for occurs, text in ((outside, self._outside), (np.any(self._degenerate()), self._certain)):
            if occurs:
                told = text.format(name=self.metric or "score", range=self.range)
                warn_user(told, DegenerateIntervalWarning)
        return low, high


class StudentPosterior(_LocationScale):
    """Student's t around a mean of fold values.

    Parameters
    ----------
    df : float or ndarray
        Degrees of freedom.
    loc, scale : float or ndarray
        Centre and scale. A scale of 0 is a point mass.
    about : About, default=About()
        Metric name, observed value and the like.
    """

    df: np.ndarray
    _parameters = ("df", "loc", "scale")
    _outside = (
        "the t interval of {name} leaves its range {range}: t intervals can extend beyond it. "
        "method='pooled' does not, where folds can be pooled."
    )
    _certain = (
        "all folds have the same {name}: the t interval has no width, which says nothing "
        "about uncertainty. method='pooled' has one, where folds can be pooled."
    )

    def _mean(self):
        return np.where((self.df > 1) | (self.scale == 0), self.loc, np.nan)

    def _std(self):
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(self.df / (self.df - 2))
            spread = np.where(self.df > 2, spread, np.where(self.df > 1, np.inf, np.nan))
            return np.where(self.scale == 0, 0.0, self.scale * spread)

    def _skewness(self):
        return np.where((self.df > 3) & (self.scale > 0), 0.0, np.nan)

    def _standard_pdf(self, z):
        df = self.df
        norm = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * df)
        return np.exp(norm - (df + 1) / 2 * np.log1p(z * z / df))

    def _standard_cdf(self, z):
        return stdtr(self.df, z)

    def _standard_quantile(self, q, df):
        inside = stdtrit(df, np.clip(q, 1e-300, 1))
        return np.where(q <= 0, -np.inf, np.where(q >= 1, np.inf, inside))

    def _standard_draws(self, rng, shape, df):
        return rng.standard_t(np.maximum(df, 1e-6), size=shape)

    def _degenerate(self):
        return self.scale == 0


class NormalPosterior(_LocationScale):
    """Normal around an estimate; a scale of 0 is a point mass.

    Intervals are cut off at the ends of the range of the metric, with a warning. Quantiles are
    those of the normal.

    Parameters
    ----------
    loc, scale : float or ndarray
        Centre and scale.
    about : About, default=About()
        Metric name, observed value and the like.
    """

    _outside = (
        "the normal interval of {name} leaves its range {range} and is cut off there, so it looks "
        "more certain than the approximation is."
    )
    _certain = (
        "{name} has a variance of 0, as with scores that are all tied: the interval has no width, "
        "which says nothing about uncertainty."
    )

    def _mean(self):
        return self.loc

    def _std(self):
        return self.scale

    def _skewness(self):
        return np.where(self.scale > 0, 0.0, np.nan)

    def _standard_pdf(self, z):
        return np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)

    _standard_cdf = staticmethod(ndtr)
    _standard_quantile = staticmethod(ndtri)

    def _standard_draws(self, rng, shape):
        return rng.standard_normal(shape)

    def _degenerate(self):
        return (self.scale == 0) & (self.loc != 0)  # no difference at all is sure

    def _ends(self, level, kind):
        """Ends cut off at the range: beyond it there is nothing that the metric could be."""
        return tuple(np.clip(end, *self.range) for end in super()._ends(level, kind))


class _Transformed(Posterior):
    """A rising function of a variable with a posterior of its own.

    Subclasses have ``_forward(x)``, ``_back(y)`` and ``_slope(y)``, that of `_back`.
    """

    def __init__(self, inner, about):
        super().__init__(inner.shape, replace(about, closing=False))
        self._inner, self.exact = inner, inner.exact

    def _pdf(self, x):
        return self._inner._pdf(self._back(x)) * self._slope(x)

    def _cdf(self, x):
        return self._inner._cdf(self._back(x))

    def _quantile(self, q):
        return self._forward(self._inner._quantile(q))

    def _sample(self, size, rng):
        return self._forward(self._inner._sample(size, rng))


class LogitNormalPosterior(_Transformed):
    """A value in (0, 1) whose logit is normal.

    Parameters
    ----------
    loc, scale : float or ndarray
        Mean and standard deviation of the logit.
    about : About, default=About()
        Metric name, observed value and the like.
    """

    def __init__(self, loc, scale, about=About()):
        super().__init__(NormalPosterior(loc, scale), about)
        self.loc, self.scale = self._inner.loc, self._inner.scale

    def _describe(self):
        return self._inner._describe()

    _forward = staticmethod(expit)

    def _back(self, y):
        return logit(np.clip(y, 0.0, 1.0))

    def _slope(self, y):
        inside = (y > 0) & (y < 1)
        return np.where(inside, 1 / np.where(inside, y * (1 - y), 1.0), 0.0)

    def _moments(self):
        """Mean and variance by the Gauss-Hermite rule."""
        x, weight = self._rule()
        mean = x @ weight
        return mean, np.square(x - mean[..., None]) @ weight

    def _rule(self):
        node, weight = np.polynomial.hermite_e.hermegauss(80)
        return expit(self.loc[..., None] + self.scale[..., None] * node), weight / weight.sum()

    def _skewness(self):
        x, weight = self._rule()
        away = x - (x @ weight)[..., None]
        with np.errstate(invalid="ignore"):
            found = (away**3 @ weight) / (away**2 @ weight) ** 1.5
        return np.where(self.scale > 0, found, np.nan)

    def _mode(self):
        loc, scale = self.loc.ravel(), np.where(self.scale > 0, self.scale, 1.0).ravel()
        e = mode_on_line(
            lambda e, rows: self._log_density(e, loc[rows], scale[rows]),
            loc - 3.5 * scale - scale**2,  # the mode solves e = loc + scale**2 (2 x - 1)
            loc + 3.5 * scale + scale**2,
        )
        return np.where(self.scale > 0, expit(e.reshape(self.shape)), expit(self.loc))

    @staticmethod
    def _log_density(e, loc, scale):
        """Log density at the value whose logit is `e`."""
        z = (e - loc) / scale
        return -0.5 * z * z + np.logaddexp(0, -e) + np.logaddexp(0, e)

    def _hdi(self, level):
        loc, scale = self.loc.ravel(), self.scale.ravel()

        def quantile(p, rows):
            return expit(loc[rows] + scale[rows] * ndtri(p))

        def log_density(x, rows):
            with np.errstate(divide="ignore"):
                return self._log_density(logit(x), loc[rows], scale[rows])

        ends = shortest_of_quantiles(quantile, log_density, level, loc.size)
        return tuple(end.reshape(self.shape) for end in ends)


class AffinePosterior(_Transformed):
    """A posterior on [0, 1] stretched to the range of the metric.

    Parameters
    ----------
    inner : Posterior
        Posterior of ``(metric - low) / (high - low)``.
    about : About, default=About()
        Metric name, range, observed value and the like.
    """

    def __init__(self, inner, about=About()):
        super().__init__(inner, about)
        self._low, self._span = self.range[0], self.range[1] - self.range[0]

    def _forward(self, x):
        return self._low + self._span * x

    def _back(self, y):
        return (y - self._low) / self._span

    def _slope(self, y):
        return 1 / self._span

    def _mean(self):
        return self._forward(self._inner._mean())

    def _std(self):
        return self._span * self._inner._std()

    def _skewness(self):
        return self._inner._skewness()

    def _mode(self):
        return self._forward(self._inner._mode())

    def _hdi(self, level):
        return tuple(self._forward(end) for end in self._inner._hdi(level))
