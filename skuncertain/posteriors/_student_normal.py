"""Student's t and the normal, both on the logit scale too, and a posterior with a moved range."""

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

    Intervals are cut off at the ends of the range of the metric, with a warning: beyond it there is
    nothing that the metric could be. Quantiles stay as they are. Subclasses have the
    ``_standard_*`` functions of that variable, and the texts of the warnings.
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
        return tuple(np.clip(end, *self.range) for end in (low, high))


class StudentPosterior(_LocationScale):
    """Student's t around a mean of fold values, with intervals inside the range of the metric.

    `interval` is cut off at the ends of the range, with a warning. That costs no coverage, because
    the metric cannot be beyond them. `quantile`, `cdf` and draws are those of the t.

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
        "the t interval of {name} leaves its range {range} and is cut off there: so close to an "
        "end, t is a rough approximation. method='pooled' is a better one for metrics of counts."
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


class _OfRows(_LocationScale):
    """Around an estimate from rows: a variance of 0 comes from ties, not from equal folds."""

    _certain = (
        "{name} has a variance of 0, as with scores that are all tied: the interval has no width, "
        "which says nothing about uncertainty."
    )

    def _degenerate(self):
        return (self.scale == 0) & (self.loc != 0)  # no difference at all is sure


class StudentDifferencePosterior(_OfRows, StudentPosterior):
    """Student's t around a difference of estimates, with intervals inside its range.

    Parameters
    ----------
    df : float or ndarray
        Degrees of freedom.
    loc, scale : float or ndarray
        Centre and scale. A scale of 0 is a point mass.
    about : About, default=About()
        Metric name, observed value and the like.
    """

    _outside = (
        "the t interval of {name} leaves its range {range} and is cut off there, so it looks more "
        "certain than the approximation is."
    )


class NormalPosterior(_OfRows):
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


class _Logit(_Transformed):
    """A value in (0, 1) whose logit has a location-scale posterior.

    Subclasses have the standard variable and the places where the mode is looked for.
    """

    def __init__(self, inner, about):
        super().__init__(inner, about)
        vars(self).update((name, vars(inner)[name]) for name in inner._parameters)

    def _describe(self):
        return self._inner._describe()

    _forward = staticmethod(expit)

    def _back(self, y):
        return logit(np.clip(y, 0.0, 1.0))

    def _slope(self, y):
        inside = (y > 0) & (y < 1)
        return np.where(inside, 1 / np.where(inside, y * (1 - y), 1.0), 0.0)

    def _moments(self):
        """Mean and variance by a rule for the standard variable."""
        x, weight = self._rule()
        mean = np.sum(x * weight, axis=-1)
        return mean, np.sum(np.square(x - mean[..., None]) * weight, axis=-1)

    def _rule(self):
        node, weight = self._nodes()
        return expit(self.loc[..., None] + self.scale[..., None] * node), weight

    def _skewness(self):
        x, weight = self._rule()
        away = x - np.sum(x * weight, axis=-1)[..., None]
        with np.errstate(invalid="ignore"):
            second, third = (np.sum(away**k * weight, axis=-1) for k in (2, 3))
            found = third / second**1.5
        return np.where(self.scale > 0, found, np.nan)

    def _flat(self):
        """Parameters of the stack in a row, scales of points being 1."""
        *shapes, loc, scale = (vars(self)[name].ravel() for name in self._inner._parameters)
        return [*shapes, loc, np.where(scale > 0, scale, 1.0)]

    def _mode(self):
        flat = self._flat()
        e = mode_on_line(
            lambda e, rows: self._log_density(e, *(part[rows] for part in flat)),
            *self._around_mode(*flat),
        )
        return np.where(self.scale > 0, expit(e.reshape(self.shape)), expit(self.loc))

    def _log_density(self, e, *parameters):
        """Log density at the value whose logit is `e`."""
        *shapes, loc, scale = parameters
        return (
            self._log_kernel((e - loc) / scale, *shapes) + np.logaddexp(0, -e) + np.logaddexp(0, e)
        )

    def _hdi(self, level):
        names = self._inner._parameters
        flat = [vars(self)[name].ravel() for name in names]

        def quantile(p, rows):
            *shapes, loc, scale = (part[rows] for part in flat)
            return expit(loc + scale * self._inner._standard_quantile(p, *shapes))

        def log_density(x, rows):
            with np.errstate(divide="ignore"):
                return self._log_density(logit(x), *(part[rows] for part in flat))

        ends = shortest_of_quantiles(quantile, log_density, level, self.loc.size)
        return tuple(end.reshape(self.shape) for end in ends)


class LogitNormalPosterior(_Logit):
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

    def _nodes(self):
        """The Gauss-Hermite rule."""
        node, weight = np.polynomial.hermite_e.hermegauss(80)
        return node, weight / weight.sum()

    @staticmethod
    def _log_kernel(z):
        return -0.5 * z * z

    @staticmethod
    def _around_mode(loc, scale):
        # The mode solves e = loc + scale**2 (2 x - 1).
        return loc - 3.5 * scale - scale**2, loc + 3.5 * scale + scale**2


class LogitStudentPosterior(_Logit):
    """A value in (0, 1) whose logit has Student's t around an estimate.

    The tails of t make poles of the density at 0 and 1 that hold next to nothing: the mode is the
    highest place between the quantiles .005 and .995.

    Parameters
    ----------
    df : float or ndarray
        Degrees of freedom.
    loc, scale : float or ndarray
        Centre and scale of the logit.
    about : About, default=About()
        Metric name, observed value and the like.
    """

    def __init__(self, df, loc, scale, about=About()):
        super().__init__(StudentPosterior(df, loc, scale), about)

    def _nodes(self):
        """The trapezoid rule in tau with z = sinh(tau), where tails fall exponentially."""
        tau = np.linspace(-40.0, 40.0, 4001)
        z, df = np.sinh(tau), self.df[..., None]
        weight = np.exp(self._log_kernel(z, df) + np.abs(tau) + np.log1p(np.exp(-2 * np.abs(tau))))
        return z, weight / weight.sum(axis=-1, keepdims=True)

    @staticmethod
    def _log_kernel(z, df):
        return -0.5 * (df + 1) * np.log1p(z * z / df)

    @staticmethod
    def _around_mode(df, loc, scale):
        reach = scale * stdtrit(df, 0.995)
        return loc - reach, loc + reach


class AffinePosterior(_Transformed):
    """A posterior on [0, 1] stretched to the range of the metric.

    Parameters
    ----------
    inner : Posterior
        Posterior of ``(metric - low) / (high - low)``.
    about : About, default=About()
        Metric name, range, observed value and the like.
    low : float, default=None
        Where the metric begins instead, if it cannot be anywhere in its range.
    """

    def __init__(self, inner, about=About(), low=None):
        super().__init__(inner, about)
        self._low = self.range[0] if low is None else low
        self._span = self.range[1] - self._low

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
