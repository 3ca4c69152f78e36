"""Exact posteriors that are integrals over Beta variables."""

from functools import cached_property

import numpy as np

from skuncertain._distributions import Posterior
from skuncertain._intervals import shortest_of_quantiles
from skuncertain._special import invert_cdf


class QuadraturePosterior(Posterior):
    """Exact posterior of a metric that is an integral over Beta variables.

    Parameters
    ----------
    family : object or callable
        Answers ``cdf(t, rows)``, ``density(t, rows)``, ``guess(p, rows)``, ``moments()`` and
        ``sample(rng, size)``; or a function without arguments that makes it when it is needed.
    shape : tuple of int
        Shape of the stack.
    **info : dict
        Metric name, prior, observed value and the like.
    """

    def __init__(self, family, shape, **info):
        super().__init__(shape, **info)
        self._given = family
        self._cache_moments = None

    @cached_property
    def _family(self):
        return self._given() if callable(self._given) else self._given

    def _rows(self):
        return np.arange(self._family.size)

    def _moments(self):
        if self._cache_moments is None:
            self._cache_moments = self._family.moments()
        return self._cache_moments

    def _mean(self):
        return self._moments()[0].reshape(self.shape)

    def _std(self):
        return np.sqrt(self._moments()[1]).reshape(self.shape)

    def _pairs(self, x):
        x = np.asarray(x, dtype=float)
        rows = self._rows().reshape(self.shape)
        x, rows = np.broadcast_arrays(x, rows)
        return x, rows.ravel()

    def _inside(self, x):
        low, high = self._family.link.low, self._family.link.high
        return (x > low) & (x < high)

    def _cdf(self, x):
        x, rows = self._pairs(x)
        flat = x.ravel()
        value = np.where(np.isnan(flat), np.nan, (flat >= self._family.link.high) * 1.0)
        pick = self._inside(flat)
        if pick.any():
            value[pick] = self._family.cdf(flat[pick], rows[pick])
        return value.reshape(x.shape)

    def _pdf(self, x):
        x, rows = self._pairs(x)
        flat = x.ravel()
        value = np.where(np.isnan(flat), np.nan, 0.0)
        pick = self._inside(flat)
        if pick.any():
            value[pick] = self._family.density(flat[pick], rows[pick])
        return value.reshape(x.shape)

    def _quantile_of(self, p, rows):
        link = self._family.link
        result = np.where(p <= 0, link.low, link.high) * np.ones(rows.shape)
        pick = np.flatnonzero((p > 0) & (p < 1))
        if pick.size:
            result[pick] = link.to_range(self._solve(p[pick], rows[pick]))
        return result

    def _solve(self, p, rows):
        """Quantiles on the line of the link, for probabilities inside (0, 1)."""
        family, link = self._family, self._family.link

        def through(cdf, at=slice(None)):
            return lambda e, part=slice(None): cdf(self._within(link.to_range(e)), rows[at][part])

        exact, start, scale = through(family.cdf), family.guess(p, rows), family.scale[rows]
        if not hasattr(family, "rough_cdf"):
            return invert_cdf(exact, p, start, scale)
        # The rough cdf is off by little, and by hardly more or less at a quantile nearby: solve it,
        # then correct the solution with exact values and the slope of the rough one.
        rough, step = through(family.rough_cdf), 1e-5 * scale
        e = invert_cdf(rough, p, start, scale)
        miss = p - exact(e)
        move = miss * step / (rough(e + step) - p)
        e = e + move
        left = np.flatnonzero(~(np.abs(miss) < 1e-8))
        if left.size:
            again = p[left] - through(family.cdf, left)(e[left])
            with np.errstate(divide="ignore", invalid="ignore"):
                e[left] += move[left] * again / (miss[left] - again)
            left = left[~((np.abs(miss[left] * again) < 1e-12) & np.isfinite(e[left]))]
        if left.size:
            e[left] = invert_cdf(through(family.cdf, left), p[left], start[left], scale[left])
        return e

    def _within(self, t):
        """Keep rounded values strictly inside the range, where the family is defined."""
        link = self._family.link
        return np.clip(t, np.nextafter(link.low, np.inf), np.nextafter(link.high, -np.inf))

    def _quantile(self, q):
        rows = np.repeat(self._rows(), q.size)
        p = np.tile(q.ravel(), self._family.size)
        return self._quantile_of(p, rows).reshape(self.shape + q.shape)

    def _sample(self, size, rng):
        return self._family.sample(rng, size).T.reshape(*self.shape, size)

    def _log_density(self, x, rows):
        inside = self._inside(x)
        value = np.full(x.shape, -np.inf)
        if inside.any():
            with np.errstate(divide="ignore"):
                value[inside] = np.log(self._family.density(x[inside], rows[inside]))
        return value

    def _hdi(self, level):
        low, high, failed = self._hdi_by_newton(level)
        rows = np.flatnonzero(failed)
        if rows.size:  # one-sided, or not one-peaked
            low[rows], high[rows] = shortest_of_quantiles(
                lambda p, part: self._quantile_of(p, rows[part]),
                lambda x, part: self._log_density(x, rows[part]),
                level,
                rows.size,
            )
        return low.reshape(self.shape), high.reshape(self.shape)

    def _hdi_by_newton(self, level):
        """Two-dimensional Newton iteration on the line of the link, from the equal-tailed ends."""
        family, rows, tail = self._family, self._rows(), (1 - level) / 2
        to_range, size = family.link.to_range, self._family.size
        ends = self._quantile_of(np.repeat([tail, 1 - tail], size), np.tile(rows, 2))
        low, high = ends[:size].copy(), ends[size:].copy()
        at = family.link.to_line(ends).reshape(2, size)
        failed, active = ~np.isfinite(at).all(axis=0), rows[np.isfinite(at).all(axis=0)]
        for _ in range(20):
            if active.size == 0:
                return low, high, failed
            index, step = np.tile(active, 2), 1e-4 * family.scale[active]
            here, near = at[:, active], at[:, active] + step
            x = to_range(here).ravel()
            below = family.cdf(self._within(x), index).reshape(2, -1)
            log_here = self._log_density(x, index).reshape(2, -1)
            log_near = self._log_density(to_range(near).ravel(), index).reshape(2, -1)
            with np.errstate(all="ignore"):
                slope = (log_near - log_here) / step
                jacobian = (to_range(near) - to_range(here)) / step
                density = np.exp(log_here) * jacobian
                mass, level_gap = below[1] - below[0] - level, log_here[1] - log_here[0]
                det = density[1] * slope[0] - density[0] * slope[1]
                move = np.stack(
                    [
                        density[1] * level_gap - slope[1] * mass,
                        density[0] * level_gap - slope[0] * mass,
                    ]
                )
                move = move / det
            good = np.isfinite(move).all(axis=0) & (slope[0] > 0) & (slope[1] < 0)
            failed[active[~good]] = True
            cap = family.scale[active]
            move = np.clip(np.where(good, move, 0.0), -cap, cap)
            at[:, active] += move
            low[active], high[active] = to_range(at[:, active])
            done = np.abs(move).max(axis=0) < 1e-6 * cap
            active = active[good & ~done]
        failed[active] = True
        return low, high, failed
