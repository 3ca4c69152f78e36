"""The shortest interval from draws or from a quantile function."""

import numpy as np


def shortest_of_sorted(draws, level):
    """Shortest interval holding a share `level` of sorted draws ``(..., n)``.

    Its ends converge only like n**(-1/3): prefer equal-tailed intervals for drawn posteriors.
    """
    n = draws.shape[-1]
    inside = min(int(np.ceil(level * n)), n - 1)
    with np.errstate(invalid="ignore"):  # if enough draws are infinite, NaN: argmin takes those
        width = draws[..., inside:] - draws[..., : n - inside]
    best = np.argmin(width, axis=-1)[..., None]
    return tuple(np.take_along_axis(draws, k, axis=-1)[..., 0] for k in (best, best + inside))


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


def shortest_of_quantiles(quantile, log_density, level, size):
    """Shortest interval of `size` one-peaked distributions given as functions.

    ``quantile(p, rows)`` and ``log_density(x, rows)`` are evaluated for the distributions `rows`.
    The shortest interval has equal density at both ends. Where no interval has that, the density is
    monotone and the interval one-sided.
    """
    rest = 1.0 - level

    def imbalance(p, rows):
        """Log density at the upper end less that at the lower one, and the ends; it falls in p."""
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
    falling, rising = at_lo <= 0, at_hi >= 0
    low, high = np.zeros(size), np.full(size, np.inf)
    # Falling density: everything from the lower end up. Rising: everything down to the upper end.
    for chosen, end, inner, known in (
        (falling, 0.0, 1e-12, from_lo),
        (rising, rest, rest - 1e-12, from_hi),
    ):
        _take_shorter(low, high, rows[chosen], quantile, end, level)
        # A range may end far from where there is any mass: an interval next to its end is shorter.
        longer = high - low > (1 + 1e-9) * (known[1] - known[0])
        _take_shorter(low, high, rows[chosen & longer], quantile, inner, level)
    peaked = rows[~(falling | rising)]
    bracket = (part[peaked] for part in (lo, hi, at_lo, at_hi))
    low[peaked], high[peaked] = _balanced(imbalance, peaked, *bracket)
    return low, high


def _balanced(imbalance, rows, lo, hi, at_lo, at_hi, max_iter=40):
    """Ends with equal densities, by the Illinois false-position method on the lower tail mass.

    The imbalance is `at_lo` > 0 at the tail mass `lo` and `at_hi` < 0 at `hi`.
    """
    low, high, previous = np.zeros((3, rows.size))
    active = np.arange(rows.size)
    for iteration in range(max_iter):
        if active.size == 0:
            break
        left, right, f_left, f_right = (part[active] for part in (lo, hi, at_lo, at_hi))
        p = (left * f_right - right * f_left) / (f_right - f_left)
        if iteration < 2:  # the end values are clipped: two halvings give an honest bracket
            p = 0.5 * (left + right)
        value, low[active], high[active] = imbalance(p, rows[active])
        up = value > 0
        lo[active[up]], at_lo[active[up]] = p[up], value[up]
        hi[active[~up]], at_hi[active[~up]] = p[~up], value[~up]
        # An end that stays twice counts half, so that the bracket shrinks from both sides.
        same = np.sign(value) == previous[active]
        at_hi[active[up & same]] *= 0.5
        at_lo[active[~up & same]] *= 0.5
        previous[active] = np.sign(value)
        active = active[~((np.abs(value) < 1e-8) | (hi[active] - lo[active] < 1e-10))]
    return low, high


def newton_step(mass_error, density, slope, log_density):
    """Newton's step of both ends towards equal densities and the right mass between them.

    `density`, `slope` of the log density and `log_density` have shape (2, rows), lower end first;
    `mass_error` is what the mass between the ends has too much.
    """
    with np.errstate(all="ignore"):
        gap = log_density[1] - log_density[0]
        det = density[1] * slope[0] - density[0] * slope[1]
        return (density[::-1] * gap - slope[::-1] * mass_error) / det
