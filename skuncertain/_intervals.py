"""The interval type, and the shortest interval from draws or from a quantile function."""

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """An interval, credible or confidence: two floats, or two arrays for stacked input.

    Parameters
    ----------
    low : float or ndarray
        Lower end.
    high : float or ndarray
        Upper end.

    See Also
    --------
    credible_interval : Interval of a metric from predictions.

    Examples
    --------
    >>> from skuncertain import Interval
    >>> interval = Interval(0.71, 0.84)
    >>> low, high = interval
    >>> round(interval.length, 2)
    0.13
    >>> 0.8 in interval
    True
    """

    low: float | np.ndarray
    high: float | np.ndarray

    @property
    def length(self):
        """Upper end minus lower end."""
        return self.high - self.low

    def __contains__(self, value):
        return bool(np.all((self.low <= value) & (value <= self.high)))


def make_interval(low, high):
    """Interval of Python floats where both ends are scalar, of arrays otherwise."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if low.ndim == 0:
        return Interval(float(low), float(high))
    return Interval(low, high)


def shortest_of_sorted(draws, level):
    """Shortest interval holding a share `level` of sorted draws ``(..., n)``.

    Its ends converge only like n**(-1/3): prefer equal-tailed intervals for drawn posteriors.
    """
    n = draws.shape[-1]
    inside = min(int(np.ceil(level * n)), n - 1)
    with np.errstate(invalid="ignore"):  # if enough draws are infinite, NaN: argmin takes those
        width = draws[..., inside:] - draws[..., : n - inside]
    best = np.argmin(width, axis=-1)[..., None]
    low = np.take_along_axis(draws, best, axis=-1)[..., 0]
    high = np.take_along_axis(draws, best + inside, axis=-1)[..., 0]
    return low, high


def _take_shorter(best_low, best_high, rows, quantile, tail, level):
    """Replace intervals by those with this mass below them, where that is shorter."""
    if rows.size == 0:
        return
    low = quantile(np.full(rows.size, tail), rows)
    high = quantile(np.full(rows.size, min(tail + level, 1.0)), rows)
    with np.errstate(invalid="ignore"):
        now, before = high - low, best_high[rows] - best_low[rows]
    # An interval without an end is taken if there is none yet; rounding decides nothing.
    shorter = (now < (1 - 1e-9) * before) | (np.isinf(before) & (best_low[rows] == 0))
    best_low[rows[shorter]], best_high[rows[shorter]] = low[shorter], high[shorter]


def shortest_of_quantiles(quantile, log_density, level, size, max_iter=40):
    """Shortest interval of `size` one-peaked distributions given as functions.

    ``quantile(p, rows)`` and ``log_density(x, rows)`` are evaluated for the distributions `rows`.
    The shortest interval has equal density at both ends; the lower tail mass p that achieves it
    is found by the Illinois false-position method on log f(q(p + level)) - log f(q(p)), which
    falls in p. Where it has no zero the density is monotone and the interval one-sided.
    """
    rest = 1.0 - level

    def imbalance(p, rows):
        low, high = quantile(p, rows), quantile(p + level, rows)
        with np.errstate(invalid="ignore"):
            value = log_density(high, rows) - log_density(low, rows)
        # Equal infinities (a density that is 0, or a pole, at both ends) give no direction.
        return np.where(np.isnan(value), 0.0, np.clip(value, -50.0, 50.0)), low, high

    rows = np.arange(size)
    # Not at the very ends: next to a pole the quantiles there are rounded onto it.
    lo, hi = np.full(size, rest * 1e-4), np.full(size, rest * (1 - 1e-4))
    at_lo, *from_lo = imbalance(lo, rows)
    at_hi, *from_hi = imbalance(hi, rows)
    left, right = at_lo <= 0, at_hi >= 0
    best_low, best_high = np.zeros(size), np.full(size, np.inf)
    # Falling density: everything from the lower end up. Rising: everything down to the upper end.
    for chosen, end, inner, known in (
        (left, 0.0, 1e-12, from_lo),
        (right, rest, rest - 1e-12, from_hi),
    ):
        _take_shorter(best_low, best_high, rows[chosen], quantile, end, level)
        # A range may end far from where there is any mass: an interval next to its end is shorter.
        longer = best_high - best_low > (1 + 1e-9) * (known[1] - known[0])
        _take_shorter(best_low, best_high, rows[chosen & longer], quantile, inner, level)
    active = rows[~(left | right)]
    previous = np.zeros(size)
    for iteration in range(max_iter):
        if active.size == 0:
            break
        p = (lo[active] * at_hi[active] - hi[active] * at_lo[active]) / (
            at_hi[active] - at_lo[active]
        )
        if iteration < 2:  # the end values are clipped: two halvings give an honest bracket
            p = 0.5 * (lo[active] + hi[active])
        value, best_low[active], best_high[active] = imbalance(p, active)
        up = value > 0
        same = np.sign(value) == previous[active]
        lo[active[up]], at_lo[active[up]] = p[up], value[up]
        hi[active[~up]], at_hi[active[~up]] = p[~up], value[~up]
        at_hi[active[up & same]] *= 0.5
        at_lo[active[~up & same]] *= 0.5
        previous[active] = np.sign(value)
        done = (np.abs(value) < 1e-8) | (hi[active] - lo[active] < 1e-10)
        active = active[~done]
    return best_low, best_high
