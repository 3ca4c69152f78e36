"""Exact posteriors that are integrals over Beta variables."""

from functools import cached_property, partial

import numpy as np

from skuncertain._numerics.mode import at_ends, mode_on_line
from skuncertain._numerics.roots import invert_cdf
from skuncertain._numerics.shortest_interval import newton_step, shortest_of_quantiles
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior


class IntegralPosterior(Posterior):
    """Exact posterior of a metric that is an integral over Beta variables.

    Parameters
    ----------
    family : object or callable
        Answers ``cdf(t, rows)``, ``density(t, rows)``, ``guess(p, rows)``, ``moments()`` and
        ``sample(rng, size)``; or a function without arguments that makes it when it is needed.
    shape : tuple of int
        Shape of the stack.
    about : About, default=About()
        Metric name, prior, observed value and the like.
    """

    def __init__(self, family, shape, about=About()):
        super().__init__(shape, about)
        self._given = family

    @cached_property
    def _family(self):
        return self._given() if callable(self._given) else self._given

    @cached_property
    def _flat_moments(self):
        return self._family.moments()

    def _moments(self):
        return tuple(moment.reshape(self.shape) for moment in self._flat_moments)

    def _skewness(self):
        return self._family.skewness().reshape(self.shape)

    def _mode(self):
        link, size = self._family.link, self._family.size
        ends = self._quantile_of(np.repeat([1e-3, 1 - 1e-3], size), np.tile(np.arange(size), 2))
        low, high = link.to_line(link.clip(ends)).reshape(2, size)
        found = link.to_range(
            mode_on_line(lambda e, rows: self._log_density(link.to_range(e), rows), low, high)
        )
        value, pole = at_ends(self._log_density, link.low, link.high, size)
        height = self._log_density(found, np.arange(size))
        for side, end in enumerate((link.low, link.high)):
            higher = (value[side] > height) & (value[side] > value[1 - side])
            rises = np.where(pole.any(axis=0), pole[side] > pole[1 - side], higher)
            found = np.where(rises, end, found)
        return np.where((pole[0] > 0) & (pole[0] == pole[1]), np.nan, found).reshape(self.shape)

    def _fill(self, x, function, above):
        """``function(values, rows)`` inside the range, 0 below it and `above` beyond it."""
        x, rows = np.broadcast_arrays(x, np.arange(self._family.size).reshape(self.shape))
        flat, rows = x.ravel(), rows.ravel()
        value = np.where(flat >= self._family.link.high, above, 0.0)
        value[np.isnan(flat)] = np.nan
        pick = self._family.link.inside(flat)
        if pick.any():
            value[pick] = function(flat[pick], rows[pick])
        return value.reshape(x.shape)

    def _cdf(self, x):
        return self._fill(x, self._family.cdf, above=1.0)

    def _pdf(self, x):
        return self._fill(x, self._family.density, above=0.0)

    def _quantile_of(self, p, rows):
        link = self._family.link
        result = np.where(p <= 0, link.low, link.high) * np.ones(rows.shape)
        pick = np.flatnonzero((p > 0) & (p < 1))
        if pick.size:
            line = self._solve(p[pick], rows[pick])
            inner = link.to_range(line)
            # Where floats end the solution does not: the quantile is the end of the range.
            beyond = np.abs(line) >= (1 - 1e-12) * link.limit
            result[pick] = np.where(beyond, np.where(line > 0, link.high, link.low), inner)
        return result

    def _solve(self, p, rows):
        """Quantiles on the line of the link, for probabilities inside (0, 1)."""
        family, link = self._family, self._family.link

        def through(cdf, at=slice(None)):
            return lambda e, part=slice(None): cdf(link.clip(link.to_range(e)), rows[at][part])

        def same(low, high):
            """Whether the doubles of both are neighbours: there the cdf is a stair."""
            low, high = (link.clip(link.to_range(e)) for e in (low, high))
            step = np.spacing(np.minimum(np.abs(low), np.abs(high)))
            return high - low <= 2 * step  # to_range steps over every other one

        exact, start, scale = through(family.cdf), family.guess(p, rows), family.scale[rows]
        invert = partial(
            invert_cdf, limit=link.limit, finest=link.finest, same=same, tol=1e-11, measured=True
        )
        if not hasattr(family, "rough_cdf"):
            return invert(exact, p, start, scale)
        # The rough cdf is off by little, and by hardly more or less at a quantile nearby: solve it,
        # then correct the solution with exact values and the slope of the rough one.
        rough, step = through(family.rough_cdf), 1e-5 * scale
        e = invert(rough, p, start, scale)
        miss = p - exact(e)
        with np.errstate(divide="ignore", invalid="ignore"):  # flat far out: solved below
            move = miss * step / (rough(e + step) - rough(e))
        e = e + move
        little = np.minimum(1e-10, 0.01 * np.minimum(p, 1 - p))  # far out every bit counts
        left = np.flatnonzero(~((np.abs(miss) < little) & np.isfinite(e)))
        if left.size:
            again = p[left] - through(family.cdf, left)(e[left])
            with np.errstate(divide="ignore", invalid="ignore"):
                e[left] += move[left] * again / (miss[left] - again)
            small = np.abs(again) <= np.minimum(0.1 * np.abs(miss[left]), 1e4 * little[left])
            small &= np.abs(miss[left] * again) < 1e-12
            left = left[~(small & np.isfinite(e[left]))]
        if left.size:
            # Such a cdf is not nearly normal: an error counts only if it was seen.
            closer = partial(invert, tol=1e-10, measured=True)
            e[left] = closer(through(family.cdf, left), p[left], start[left], scale[left])
        return e

    def _quantile(self, q):
        rows = np.repeat(np.arange(self._family.size), q.size)
        p = np.tile(q.ravel(), self._family.size)
        return self._quantile_of(p, rows).reshape(self.shape + q.shape)

    def _quantile_each(self, p):
        rows = np.resize(np.arange(self._family.size), p.size)
        return self._quantile_of(p.ravel(), rows).reshape(p.shape)

    def _sample(self, size, rng):
        return self._family.sample(rng, size).T.reshape(*self.shape, size)

    def _log_density(self, x, rows):
        inside = self._family.link.inside(x)
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
        family, size, tail = self._family, self._family.size, (1 - level) / 2
        rows, to_range = np.arange(size), family.link.to_range
        ends = self._quantile_of(np.repeat([tail, 1 - tail], size), np.tile(rows, 2))
        low, high = ends[:size].copy(), ends[size:].copy()
        at = family.link.to_line(ends).reshape(2, size)
        one_peaked = getattr(family, "one_peaked", np.zeros(size, dtype=bool))
        # With several peaks the solution would be one of several.
        failed = ~(np.isfinite(at).all(axis=0) & one_peaked)
        active = rows[~failed]
        for _ in range(20):
            if active.size == 0:
                break
            index, step = np.tile(active, 2), 1e-4 * family.scale[active]
            here, near = at[:, active], at[:, active] + step
            x = to_range(here).ravel()
            below = family.cdf(family.link.clip(x), index).reshape(2, -1)
            log_here = self._log_density(x, index).reshape(2, -1)
            log_near = self._log_density(to_range(near).ravel(), index).reshape(2, -1)
            with np.errstate(all="ignore"):
                slope = (log_near - log_here) / step
                density = np.exp(log_here) * ((to_range(near) - to_range(here)) / step)
            move = newton_step(below[1] - below[0] - level, density, slope, log_here)
            good = np.isfinite(move).all(axis=0) & (slope[0] > 0) & (slope[1] < 0)
            failed[active[~good]] = True
            cap = family.scale[active]
            move = np.clip(np.where(good, move, 0.0), -cap, cap)
            at[:, active] += move
            low[active], high[active] = to_range(at[:, active])
            active = active[good & ~(np.abs(move).max(axis=0) < 1e-6 * cap)]
        failed[active] = True
        # Steps are small on the scale of the whole: a peak much narrower may be missed by them.
        clip, found = family.link.clip, rows[~failed]
        mass = family.cdf(clip(high[found]), found) - family.cdf(clip(low[found]), found)
        wider = high - low > (1 + 1e-9) * (ends[size:] - ends[:size])
        failed[found] = ~(np.abs(mass - level) <= 1e-8) | wider[found]
        return low, high, failed
