"""Posterior of a number whose log density is known as polynomials on panels."""

import itertools

import numpy as np

from skuncertain._numerics.shortest_interval import shortest_of_quantiles
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior

_CUTS = 40  # pieces of a panel
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class _Identity:
    """The line itself."""

    @staticmethod
    def to_range(e):
        return e

    @staticmethod
    def to_line(x):
        return x

    @staticmethod
    def slope(e):
        return np.ones_like(e)


class DensityPosterior(Posterior):
    """Exact posterior of one number, from its log density on a line.

    Parameters
    ----------
    breaks : ndarray of shape (panels + 1,)
        Ends of the panels; nothing that counts lies beyond the first and the last.
    series : ndarray of shape (panels, degree + 1)
        Chebyshev series of the log density on every panel, up to a constant.
    about : About, default=About()
        Metric name, prior, observed value and the like.
    link : object, default=None
        ``to_range``, ``to_line`` and ``slope`` of a rising function of the place on the line, if
        the number is such a function.
    """

    def __init__(self, breaks, series, about=About(), link=None):
        super().__init__((), about)
        self._breaks, self._series = breaks, series
        self._link = _Identity() if link is None else link
        pieces = [np.linspace(*ends, _CUTS + 1) for ends in itertools.pairwise(breaks)]
        self._mesh = np.unique(np.concatenate(pieces))
        mass = self._mass(self._mesh[:-1], self._mesh[1:])
        self._total = mass.sum()
        self._below = np.concatenate([[0.0], np.cumsum(mass) / self._total])
        self._below[-1] = 1.0

    def _log_on_line(self, e):
        """Log density on the line, up to a constant."""
        panel = np.clip(
            np.searchsorted(self._breaks, e, side="right") - 1, 0, len(self._series) - 1
        )
        start, end = self._breaks[panel], self._breaks[panel + 1]
        place = np.clip(((e - start) - (end - e)) / (end - start), -1.0, 1.0)
        terms = np.polynomial.chebyshev.chebvander(place, self._series.shape[1] - 1)
        value = (terms * self._series[panel]).sum(axis=-1).reshape(np.shape(e))
        return np.where((e < self._breaks[0]) | (e > self._breaks[-1]), -np.inf, value)

    def _mass(self, low, high):
        """Integrals of the density, up to a factor, over short pieces."""
        half = 0.5 * (high - low)
        e = 0.5 * (high + low)[..., None] + half[..., None] * _NODES
        return np.exp(self._log_on_line(e)) @ _WEIGHTS * half

    def _cdf_on_line(self, e):
        e = np.clip(e, self._mesh[0], self._mesh[-1])
        piece = np.clip(np.searchsorted(self._mesh, e, side="right") - 1, 0, self._mesh.size - 2)
        value = self._below[piece] + self._mass(self._mesh[piece], e) / self._total
        return np.where(e >= self._mesh[-1], 1.0, np.minimum(value, 1.0))

    def _cdf(self, x):
        return np.where(np.isnan(x), np.nan, self._cdf_on_line(self._link.to_line(x)))

    def _pdf(self, x):
        e = self._link.to_line(x)
        inside = (e >= self._mesh[0]) & (e <= self._mesh[-1])
        e = np.where(inside, e, self._mesh[0])
        value = np.exp(self._log_on_line(e)) / self._total / self._link.slope(e)
        return np.where(np.isnan(x), np.nan, np.where(inside, value, 0.0))

    def _quantile(self, q):
        shape, q = q.shape, q.ravel()
        piece = np.clip(np.searchsorted(self._below, q, side="right") - 1, 0, self._mesh.size - 2)
        start, end = self._mesh[piece], self._mesh[piece + 1]
        low, high, e = start, end, 0.5 * (start + end)
        for _ in range(60):  # Newton's method within a bracket that shrinks
            miss = self._below[piece] + self._mass(start, e) / self._total - q
            low, high = np.where(miss < 0, e, low), np.where(miss < 0, high, e)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                new = e - miss * self._total / np.exp(self._log_on_line(e))
            done = (np.abs(new - e) <= 1e-13 * (end - start)) | (np.abs(miss) < 1e-15)
            new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
            e = np.where(done, e, new)  # what is found stays
            if done.all():
                break
        found = self._link.to_range(e)
        found = np.where(q <= 0, self.range[0], np.where(q >= 1, self.range[1], found))
        return found.reshape(shape)

    def _powers(self, centre):
        """Moments of order 1, 2 and 3 around a centre."""
        half = 0.5 * np.diff(self._mesh)
        e = 0.5 * (self._mesh[1:] + self._mesh[:-1])[:, None] + half[:, None] * _NODES
        mass = np.exp(self._log_on_line(e)) * _WEIGHTS * half[:, None] / self._total
        away = self._link.to_range(e) - centre
        return tuple((mass * away**k).sum() for k in (1, 2, 3))

    def _moments(self):
        mean = self._powers(0.0)[0]
        return np.asarray(mean), np.asarray(self._powers(mean)[1])

    def _skewness(self):
        mean = self._powers(0.0)[0]
        _, variance, third = self._powers(mean)
        return np.asarray(third / variance**1.5)

    def _log_density(self, e):
        return self._log_on_line(e) - np.log(self._link.slope(e))

    def _mode(self):
        low, high = self._mesh[0], self._mesh[-1]
        for _ in range(12):
            e = np.linspace(low, high, 65)
            best = int(np.clip(np.argmax(self._log_density(e)), 1, 63))
            low, high = e[best - 1], e[best + 1]
        return np.asarray(self._link.to_range(np.asarray(0.5 * (low + high))))

    def _sample(self, size, rng):
        return self._quantile(rng.uniform(size=size))

    def _hdi(self, level):
        low, high = shortest_of_quantiles(
            lambda p, _: self._quantile(p),
            lambda x, _: self._log_density(np.asarray(self._link.to_line(x))),
            level,
            1,
        )
        return low[0], high[0]
