"""Posteriors that are known through their first three cumulants."""

import numpy as np

from skuncertain._numerics.averages import match_beta
from skuncertain._numerics.beta import beta_cdf, beta_hdi, beta_logpdf, beta_mode, beta_quantile
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, check_probability


class MatchedPosterior(Posterior):
    """Beta on a part of the metric's range with a given mean, variance and third cumulant.

    Parameters
    ----------
    cumulants : tuple of three float or ndarray
        Mean, variance and third cumulant.
    beta : tuple of four ndarrays, default=None
        What `match_beta` makes of them, if that is known.
    drawn : DrawsPosterior, default=None
        Members of the flattened stack that three cumulants do not describe.
    members : ndarray of int, default=None
        Which they are.
    about : About, default=About()
        Metric name, range, prior, observed value and the like.
    """

    exact = False

    def __init__(self, cumulants, *, beta=None, drawn=None, members=None, about=About()):
        mean, variance, third = (np.asarray(part, dtype=float) for part in cumulants)
        super().__init__(mean.shape, about)
        self._cumulants = mean, variance, third
        beta = match_beta(mean, variance, third, *self.range) if beta is None else beta
        self.low, self.high, self.a, self.b = beta
        self._drawn, self._members = drawn, members
        if drawn is not None:
            self.seed, self.n_draws = drawn.seed, drawn.n_draws

    def _describe(self):
        drawn = [] if self._drawn is None else [f"n_draws={self.n_draws}", f"seed={self.seed}"]
        return [f"exact={self.exact}", *drawn]

    def _mixed(self, value, of_drawn):
        """Answers of shape (..., *stack), with those of the drawn members in their places."""
        if self._drawn is None:
            return value
        value = np.array(value)
        flat = value.reshape(*value.shape[: value.ndim - len(self.shape)], -1)
        flat[..., self._members] = of_drawn
        return flat.reshape(value.shape)

    def _part(self, x):
        """Of points (..., *stack) those of the drawn members."""
        return x.reshape(*x.shape[: x.ndim - len(self.shape)], -1)[..., self._members]

    def _mean(self):
        return self._mixed(self._cumulants[0], self._drawn and self._drawn._mean())

    def _std(self):
        return self._mixed(np.sqrt(self._cumulants[1]), self._drawn and self._drawn._std())

    def _skewness(self):
        _, variance, third = self._cumulants
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(variance > 0, third / variance**1.5, np.nan)
        return self._mixed(value, self._drawn and self._drawn._skewness())

    def _mode(self):
        value = self.low + (self.high - self.low) * beta_mode(self.a, self.b)
        return self._mixed(value, self._drawn and self._drawn._mode())

    def _pdf(self, x):
        x = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), self.shape))
        span = self.high - self.low
        with np.errstate(over="ignore", divide="ignore"):
            value = np.exp(beta_logpdf((x - self.low) / span, self.a, self.b)) / span
        return self._mixed(value, self._drawn and self._drawn._pdf(self._part(x)))

    def _cdf(self, x):
        x = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), self.shape))
        span = self.high - self.low
        inside, other = (np.clip(part / span, 0.0, 1.0) for part in (x - self.low, self.high - x))
        value = beta_cdf(inside, self.a, self.b, complement=other)
        return self._mixed(value, self._drawn and self._drawn._cdf(self._part(x)))

    def quantile(self, q):
        """Quantile, with a warning where few draws lie beyond it; see `Posterior.quantile`."""
        if self._drawn is not None:
            self._drawn._warn_of_tail(check_probability(q))
        return super().quantile(q)

    def _ends(self, level, kind):
        if self._drawn is not None:
            self._drawn._warn_of_tail(np.array((1 - level) / 2))
        return super()._ends(level, kind)

    def _quantile(self, q):
        tail = (1,) * q.ndim
        low, span, a, b = (
            part.reshape(self.shape + tail)
            for part in (self.low, self.high - self.low, self.a, self.b)
        )
        value = low + span * beta_quantile(q, a, b)
        if self._drawn is not None:
            value.reshape(-1, *q.shape)[self._members] = self._drawn._quantile(q)
        return value

    def _quantile_each(self, p):
        value = self.low + (self.high - self.low) * beta_quantile(p, self.a, self.b)
        return self._mixed(value, self._drawn and self._drawn._quantile_each(self._part(p)))

    def _sample(self, size, rng):
        value = rng.beta(self.a[..., None], self.b[..., None], size=(*self.shape, size))
        value = self.low[..., None] + (self.high - self.low)[..., None] * value
        if self._drawn is not None:
            value.reshape(-1, size)[self._members] = self._drawn._sample(size, rng)
        return value

    def _hdi(self, level):
        ends = (self.low + (self.high - self.low) * end for end in beta_hdi(self.a, self.b, level))
        drawn = (None, None) if self._drawn is None else self._drawn._hdi(level)
        return tuple(self._mixed(end, part) for end, part in zip(ends, drawn, strict=True))

    def _monte_carlo_error(self, q):
        none = np.zeros(self.shape)
        return self._mixed(none, self._drawn and self._drawn._monte_carlo_error(q))

    def _interval_error(self, level, kind):
        none = np.zeros(self.shape)
        return self._mixed(none, self._drawn and self._drawn._interval_error(level, kind))
