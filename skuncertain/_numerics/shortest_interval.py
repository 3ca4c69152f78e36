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


# Tail masses that are tried first, as shares of what lies outside the interval. With a pole or a
# narrow peak the shortest interval leaves hardly anything on one side: many are next to the ends,
# not nearer than this, because a cdf is exact to about 1e-12.
_NEAREST = 1e-9
_SHARES = np.array([0.0, _NEAREST, 1e-7, 1e-5, 1e-3, 0.01, 0.04, 0.1, 0.2, 0.3, 0.4])
_SHARES = np.concatenate([_SHARES, [0.5], 1.0 - _SHARES[::-1]])
_CLOSER = np.linspace(0.0, 1.0, 9)


def shortest_of_quantiles(quantile, log_density, level, size):
    """Shortest interval of `size` distributions given as functions.

    ``quantile(p, rows)`` and ``log_density(x, rows)`` are evaluated for the distributions `rows`.
    Nothing is asked of the density: it may have several peaks, and poles at its ends. The widths of
    some intervals, from one one-sided interval to the other, tell where the shortest one is. It has
    equal density at both ends, or is one-sided. Of equally short ones the lowest is taken.
    """
    rest, rows = 1.0 - level, np.arange(size)
    tails = np.tile(rest * _SHARES, (size, 1))
    nearest, farthest = tails[:1, 1], tails[:1, -2]
    low, high, best = _shortest_of_tails(quantile, tails, level, rows)
    inner = rows[(best > 0) & (best < _SHARES.size - 1)]
    if inner.size == 0:
        return low, high
    # Once more between the neighbours: a pole inside the range makes two minima close together.
    lo = np.maximum(tails[inner, best[inner] - 1], nearest)
    hi = np.minimum(tails[inner, best[inner] + 1], farthest)
    tails = lo[:, None] + (hi - lo)[:, None] * _CLOSER
    *ends, place = _shortest_of_tails(quantile, tails, level, inner)
    _take_shorter(low, high, inner, *ends)
    every = np.arange(inner.size)
    lo = tails[every, np.maximum(place - 1, 0)]
    hi = tails[every, np.minimum(place + 1, _CLOSER.size - 1)]

    def imbalance(p, rows):
        """Log density at the upper end less that at the lower one, and the ends; it falls in p."""
        low, high = quantile(p, rows), quantile(p + level, rows)
        with np.errstate(invalid="ignore"):
            value = log_density(high, rows) - log_density(low, rows)
        # Equal infinities (a density that is 0, or a pole, at both ends) give no direction.
        return np.where(np.isnan(value), 0.0, np.clip(value, -50.0, 50.0)), low, high

    _take_shorter(low, high, inner, *_balanced(imbalance, inner, lo, hi, rest))
    return low, high


def _shortest_of_tails(quantile, tails, level, rows):
    """Ends of the shortest of the intervals with these lower tail masses (rows, n), and which."""
    upper = np.minimum(tails + level, 1.0)
    upper[tails == 1.0 - level] = 1.0
    p = np.concatenate([tails, upper], axis=1)
    ends = quantile(p.ravel(), np.repeat(rows, p.shape[1])).reshape(rows.size, 2, -1)
    with np.errstate(invalid="ignore"):
        width = ends[:, 1] - ends[:, 0]
    # An interval without an end is taken only if there is no other. Rounding decides nothing, and
    # a one-sided interval is preferred to the one next to it.
    width = np.where(np.isnan(width), np.inf, width)
    width[:, 1:-1] *= 1 + 1e-9
    best = np.argmin(width, axis=1)
    return (*ends[np.arange(rows.size), :, best].T.copy(), best)


def _take_shorter(low, high, rows, new_low, new_high):
    """Replace intervals of `rows` by new ones where those are not longer."""
    with np.errstate(invalid="ignore"):
        shorter = new_high - new_low <= high[rows] - low[rows]
    low[rows[shorter]], high[rows[shorter]] = new_low[shorter], new_high[shorter]


def _balanced(imbalance, rows, lo, hi, rest, max_iter=60):
    """Ends with equal densities, by the Illinois false-position method on the lower tail mass.

    Somewhere between the tail masses `lo` and `hi` the width is least. Far from it there may be
    other peaks, so the imbalance at `lo` and `hi` is not asked; halvings come first.
    """
    low, high, previous = np.zeros((3, rows.size))
    at_lo, at_hi = np.full(rows.size, np.nan), np.full(rows.size, np.nan)
    active = np.arange(rows.size)
    for iteration in range(max_iter):
        if active.size == 0:
            break
        left, right, f_left, f_right = (part[active] for part in (lo, hi, at_lo, at_hi))
        with np.errstate(invalid="ignore", divide="ignore"):
            p = (left * f_right - right * f_left) / (f_right - f_left)
        halve = np.isnan(p) | (iteration % 6 == 5)  # also so that the bracket is sure to close
        p = np.where(halve, 0.5 * (left + right), p)
        value, low[active], high[active] = imbalance(p, rows[active])
        up = value > 0
        lo[active[up]], at_lo[active[up]] = p[up], value[up]
        hi[active[~up]], at_hi[active[~up]] = p[~up], value[~up]
        # An end that stays twice counts half, so that the bracket shrinks from both sides.
        same = np.sign(value) == previous[active]
        at_hi[active[up & same]] *= 0.5
        at_lo[active[~up & same]] *= 0.5
        previous[active] = np.sign(value)
        left, right = lo[active], hi[active]
        closed = right - left < 1e-7 * np.minimum(right, rest - left)
        active = active[~((np.abs(value) < 1e-8) | closed)]
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
