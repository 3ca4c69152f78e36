"""Quantiles as roots of a distribution function."""

import numpy as np
from scipy.special import ndtri


def invert_cdf(
    cdf,
    p,
    start,
    scale,
    limit=700.0,
    finest=1.0,
    tol=1e-12,
    max_iter=200,
    measured=False,
    same=None,
):
    """Solve ``cdf(e, rows) = p`` for many rows at once.

    On the normal-quantile scale a cdf is nearly straight: the next point comes from inverse
    interpolation of the last four there, inside a bracket that only shrinks; halving wherever a
    step leaves it.

    Parameters
    ----------
    cdf : callable
        ``cdf(e, rows)``: non-decreasing in `e` for each row; `rows` are indices of `p`.
    p : ndarray of shape (n,)
        Probabilities in (0, 1).
    start, scale : ndarray of shape (n,)
        First guess, and a rough standard deviation in `e`.
    limit : float
        `e` is searched in [-limit, limit]; beyond, the nearer end is returned.
    finest : float
        `e` is resolved to 16 digits of itself, or of this number if that is more.
    tol : float
        Accepted error of the cdf.
    max_iter : int
        Limit of steps; a bracket of doubles is exhausted long before.
    measured : bool
        Whether the error must be seen. Otherwise the interpolation may tell it, which saves a step
        and is right where the cdf is nearly normal.
    same : callable, default=None
        ``same(low, high)``: whether it makes no difference where between two points the solution
        is, so that the search may end.

    Returns
    -------
    ndarray of shape (n,)
        The solutions.
    """
    result = np.clip(start, -limit, limit)
    scale = np.maximum(scale, 1e-300)
    target = ndtri(p)
    rows, e = np.arange(result.size), result.copy()
    lo, hi = np.full(e.shape, -limit), np.full(e.shape, limit)
    below, above = np.zeros(e.shape), np.ones(e.shape)  # cdf at both ends of the bracket
    rate, reach, points = scale, 4.0 * scale, []
    for iteration in range(max_iter):
        value = cdf(e, rows)
        low_side = value < p
        lo, hi = np.where(low_side, e, lo), np.where(low_side, hi, e)
        below, above = np.where(low_side, value, below), np.where(low_side, above, value)
        points = [(e, ndtri(value)), *points[:3]]
        new, error, rate = _inverse_interpolation(points, target, rate)
        # Where the cdf is flat, at 0, at 1 or on a stair, there is no slope: stride to the mass.
        lost = ~np.isfinite(new)
        if iteration:
            lost |= points[0][1] == points[1][1]
        if lost.any():
            new = np.where(lost, e + np.where(low_side, reach, -reach), new)
            reach = np.where(lost, 2 * reach, reach)
        inside = (new > lo) & (new < hi)
        here = np.abs(value - p) <= tol
        here |= (hi - lo <= 4e-16 * np.maximum(finest, np.abs(e))) | np.isnan(value)
        best = e
        if same is not None:
            stair = same(lo, hi)
            here |= stair
            best = np.where(stair, np.where(p - below < above - p, lo, hi), e)
        done = here if measured else here | (inside & (error <= tol))
        if done.any():
            found = np.where(here, np.where(np.isnan(value), np.nan, best), new)
            result[rows[done]] = found[done]
            left = ~done
            if not left.any():
                return result
            points = [(x[left], z[left]) for x, z in points]
            rows, new, inside, lo, hi = (x[left] for x in (rows, new, inside, lo, hi))
            p, target, rate, reach = (x[left] for x in (p, target, rate, reach))
            below, above = below[left], above[left]
        # Every few steps halve anyway, so that the bracket is sure to close.
        middle = 0.5 * (lo + hi) if finest == 1 else _middle(lo, hi)
        e = np.where(inside & (iteration % 8 != 7), new, middle)
    result[rows] = e
    return result


def _middle(lo, hi):
    """Middle of a bracket; next to 0 that of the logarithms, so that tiny roots are found soon."""
    near, far = np.sort(np.abs([lo, hi]), axis=0)
    inner = np.where(near > 0, np.sqrt(near) * np.sqrt(far), 1e-8 * far)
    inner = np.where((lo < 0) & (hi > 0), 0.0, np.where(hi > 0, inner, -inner))
    return np.where(far < 1e-3, inner, 0.5 * (lo + hi))


def _inverse_interpolation(points, target, rate):
    """Where the curve through `points` (e, z) reaches z = target.

    Newton's divided differences of e as a function of z, newest point first. Terms that do not
    shrink are left out. Returns the place, the error of the cdf there that the first term left out
    would make good, and the slope de/dz; `rate` is the slope where the points have none.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        z = [z for _, z in points]
        level, terms, product = [e for e, _ in points], [], 1.0
        for k in range(1, len(points)):
            level = [(level[i] - level[i + 1]) / (z[i] - z[i + k]) for i in range(len(level) - 1)]
            product = product * (target - z[k - 1])
            terms.append(level[0] * product)
            if k == 1:
                rate = np.where((level[0] > 0) & (level[0] < np.inf), level[0], rate)
        last = rate * (target - z[0])
        new = points[0][0] + last
        if not terms:
            return new, np.full(new.shape, np.inf), rate
        near, gap = np.abs(target - z[0]), np.abs(target - z[1])
        # Only near the solution, and when the last step was a good one, is the error known.
        known = (near < 0.01) & (near < 0.1 * gap)
        good = terms[0] == last
        for k, term in enumerate(terms[1:], start=2):
            good = good & (np.abs(term) <= 0.5 * np.abs(last))
            new = new + np.where(good, term, 0.0)
            last, gap = np.where(good, term, last), np.where(good, np.abs(target - z[k]), gap)
        density = np.exp(-0.5 * target * target) / np.sqrt(2 * np.pi)
        error = np.abs(last / rate) * np.minimum(10 * gap, 1.0) * density
        return new, np.where(good & known, error, np.inf), rate
