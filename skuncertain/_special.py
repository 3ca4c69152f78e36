"""Beta cdf, quantiles and highest-density intervals that can be trusted, and a root finder.

``scipy.special.betaincinv`` is wrong when a shape is exactly 1000 (seen in scipy 1.17 and 1.18:
``betaincinv(1000, 9090, .975)`` is 0.2508, the truth 0.1050), so every quantile taken from it is
checked with ``betainc`` and repaired where it fails. When both shapes are large a Cornish-Fisher
expansion of logit X is faster than scipy and as exact as double precision allows.
"""

import numpy as np
from scipy.special import betainc, betaincinv, expit, gammaln, log1p, ndtr, ndtri, xlog1py, xlogy

CORNISH_FISHER_FROM = 1000.0
HUGE = 1e10  # from here on betainc loses digits: it is off by 1e-5 at 1e11, by 0.1 at 1e15


def beta_cdf(x, a, b, complement=None):
    """Cdf of Beta(a, b) at `x`; shapes of 0 are point masses, 0 and 0 is undefined.

    `complement` is 1 - x where the caller knows it better than subtraction does.
    """
    x = np.asarray(x)
    other = 1.0 - x if complement is None else complement
    upper = other < 0.5  # the smaller of the two has all its digits
    huge = np.minimum(a, b) >= HUGE
    with np.errstate(invalid="ignore"):
        near = np.minimum(np.maximum(np.where(upper, other, x), 0.0), 1.0)
        first, second = np.where(upper, b, a), np.where(upper, a, b)
        if np.any(huge):  # betainc is slow for them, too
            first, second = np.where(huge, 1.0, first), np.where(huge, 1.0, second)
        value = betainc(first, second, near)
    value = np.where(upper, 1.0 - value, value)
    if np.any(huge):
        value = np.where(huge, _cdf_of_huge_shapes(x, other, a, b), value)
    if np.any(np.minimum(a, b) <= 0):
        a, b = np.asarray(a), np.asarray(b)
        value = np.where((a == 0) & (b > 0), (x >= 0) * 1.0, value)
        value = np.where((b == 0) & (a > 0), (x >= 1) * 1.0, value)
        value = np.where((a == 0) & (b == 0), np.nan, value)
    return value


def _cdf_of_huge_shapes(x, other, a, b):
    """Edgeworth's expansion of logit X: the next term is below 1e-14 for shapes of 1e10."""
    a, b = np.maximum(a, HUGE), np.maximum(b, HUGE)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log((x / other) / (a / b)) by a difference of products: logs of both would cancel
        relative = (x * b - other * a) / (other * a)
        mean, sd, skew, *_ = _logit_cumulants(a, b)
        z = (np.log1p(relative) - (mean - np.log(a / b))) / sd
        density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        value = ndtr(z) - np.where(np.isfinite(z), density * skew * (z * z - 1) / 6, 0.0)
    return np.clip(np.where(other <= 0, 1.0, np.where(x <= 0, 0.0, value)), 0.0, 1.0)


def log_beta_density_at_mean(a, b):
    """Log density of logit X at its mode log(a/b), X ~ Beta(a, b), without cancellation."""
    remainder = stirling_remainder(a + b) - stirling_remainder(a) - stirling_remainder(b)
    return 0.5 * (np.log(a) + np.log(b) - np.log(2 * np.pi * (a + b))) + remainder


def stirling_remainder(z):
    """Return log Gamma(z) less Stirling's (z - 1/2) log z - z + log(2 pi) / 2."""
    z = np.asarray(z, dtype=float)
    i = 1.0 / np.maximum(z, 15.0)
    i2 = i * i
    series = i * (1 / 12 - i2 * (1 / 360 - i2 * (1 / 1260 - i2 * (1 / 1680 - i2 / 1188))))
    small = z < 15
    if not np.any(small):
        return series
    y = np.where(small, z, 1.0)
    direct = gammaln(y) - (y - 0.5) * np.log(y) + y - 0.5 * np.log(2 * np.pi)
    return np.where(small, direct, series)


def beta_logpdf(x, a, b):
    """Log density of Beta(a, b); -inf outside [0, 1] and for point masses."""
    x, a, b = np.broadcast_arrays(np.asarray(x, dtype=float), a, b)
    inside = (x >= 0) & (x <= 1) & (a > 0) & (b > 0)
    safe = np.where(inside, x, 0.5)
    p, q = np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0)
    # The normaliser from Stirling remainders: gammaln(a + b) - ... loses digits at shapes of 1e9.
    mean = p / (p + q)
    log_norm = log_beta_density_at_mean(p, q) - xlogy(p, mean) - xlog1py(q, -mean)
    with np.errstate(divide="ignore"):
        value = log_norm + xlogy(p - 1, safe) + xlog1py(q - 1, -safe)
    value = np.where(inside, value, -np.inf)
    return np.where((a == 0) & (b == 0), np.nan, value)


def _logit_cumulants(a, b):
    """Mean, sd and standardised cumulants 3 to 6 of logit X, for shapes of about 30 and more."""
    i, j = 1.0 / a, 1.0 / b
    i2, j2 = i * i, j * j

    def mean_rest(i, i2):
        return i * (0.5 + i * (1 / 12 + i2 * (-1 / 120 + i2 * (1 / 252 - i2 / 240))))

    def second(i, i2):
        return i * (1 + i * (0.5 + i * (1 / 6 + i2 * (-1 / 30 + i2 * (1 / 42 - i2 / 30)))))

    def third(i, i2):
        return -i2 * (1 + i * (1 + i * (0.5 + i2 * (-1 / 6 + i2 * (1 / 6 - 0.3 * i2)))))

    def fourth(i, i2):
        return i * i2 * (2 + i * (3 + i * (2 + i2 * (-1 + i2 * (4 / 3 - 3 * i2)))))

    def fifth(i, i2):
        return -i2 * i2 * (6 + i * (12 + i * (10 + i2 * (-7 + i2 * (12 - 33 * i2)))))

    def sixth(i, i2):
        return i * i2 * i2 * (24 + i * (60 + i * (60 + i2 * (-56 + 120 * i2))))

    mean = np.log(a / b) - mean_rest(i, i2) + mean_rest(j, j2)
    variance = second(i, i2) + second(j, j2)
    sd = np.sqrt(variance)
    g1 = (third(i, i2) - third(j, j2)) / (variance * sd)
    g2 = (fourth(i, i2) + fourth(j, j2)) / (variance * variance)
    g3 = (fifth(i, i2) - fifth(j, j2)) / (variance * variance * sd)
    g4 = (sixth(i, i2) + sixth(j, j2)) / (variance * variance * variance)
    return mean, sd, g1, g2, g3, g4


def _cornish_fisher_logit(z, cumulants):
    """Quantile of logit X at the normal quantile `z` (Cornish and Fisher, six cumulants)."""
    mean, sd, g1, g2, g3, g4 = cumulants
    z2 = z * z
    z3, z4, z5 = z2 * z, z2 * z2, z2 * z2 * z
    s1 = g1 * g1
    w = z + g1 * (z2 - 1) / 6 + g2 * (z3 - 3 * z) / 24 - s1 * (2 * z3 - 5 * z) / 36
    w = w + g3 * (z4 - 6 * z2 + 3) / 120 - g1 * g2 * (z4 - 5 * z2 + 2) / 24
    w = w + s1 * g1 * (12 * z4 - 53 * z2 + 17) / 324
    w = w + g4 * (z5 - 10 * z3 + 15 * z) / 720 - g2 * g2 * (3 * z5 - 24 * z3 + 29 * z) / 384
    w = w - g1 * g3 * (2 * z5 - 17 * z3 + 21 * z) / 180
    w = w + s1 * g2 * (14 * z5 - 103 * z3 + 107 * z) / 288
    w = w - s1 * s1 * (252 * z5 - 1688 * z3 + 1511 * z) / 7776
    return mean + sd * w


def beta_quantile(p, a, b):
    """Quantile of Beta(a, b), elementwise. Shapes of 0 are point masses."""
    p, a, b = np.broadcast_arrays(
        np.asarray(p, dtype=float), np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    )
    out_shape = p.shape
    p, a, b = p.ravel(), a.ravel(), b.ravel()
    result = np.full(p.shape, np.nan)
    smaller, tail = np.minimum(a, b), np.minimum(p, 1 - p)
    # The expansion loses digits in the far tail: more counts are asked for there.
    large = (smaller >= CORNISH_FISHER_FROM) & ((tail > 1e-4) | (smaller >= 3e4)) & (tail > 1e-12)
    step = 8192  # the expansion is a long chain of array operations: keep them in cache
    where = np.flatnonzero(large)
    for start in range(0, where.size, step):
        rows = where[start : start + step]
        cumulants = _logit_cumulants(a[rows], b[rows])
        result[rows] = expit(_cornish_fisher_logit(ndtri(p[rows]), cumulants))
    proper = (a > 0) & (b > 0)
    rows = np.flatnonzero(~large & proper)
    if rows.size:
        result[rows] = _checked_betaincinv(p[rows], a[rows], b[rows])
    if not proper.all():
        result[(a == 0) & (b > 0)] = 0.0
        result[(b == 0) & (a > 0)] = 1.0
    return result.reshape(out_shape)


def _checked_betaincinv(p, a, b):
    with np.errstate(invalid="ignore"):
        q = betaincinv(a, b, p)
        error = np.abs(betainc(a, b, q) - p)
        bad = ~(error <= 1e-12 + 1e-10 * np.minimum(p, 1 - p)) & (p > 0) & (p < 1)
    if np.any(bad):
        q[bad] = _beta_quantile_by_bracketing(p[bad], a[bad], b[bad])
    # For zero scipy returns the smallest normal number, and the search stops at exp(-700).
    q[(p == 0) | (q < 1e-304)] = 0.0
    q[p == 1] = 1.0
    return q


def _beta_quantile_by_bracketing(p, a, b):
    """Solve for logit q, which also reaches quantiles down to 1e-304 and above 1 - 1e-16."""

    def cdf(e, rows):
        return beta_cdf(expit(e), a[rows], b[rows], complement=expit(-e))

    variance = 1 / np.maximum(a, 1e-300) + 1 / np.maximum(
        b, 1e-300
    )  # of logit X, up to a factor that a start does not need
    start = np.log(a) - np.log(b) + ndtri(p) * np.sqrt(variance)
    return expit(invert_cdf(cdf, p, start, np.sqrt(variance), measured=True))


def invert_cdf(cdf, p, start, scale, limit=700.0, tol=1e-12, max_iter=200, measured=False):
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
    tol : float
        Accepted error of the cdf.
    max_iter : int
        Limit of steps; a bracket of doubles is exhausted long before.
    measured : bool
        Whether the error must be seen. Otherwise the interpolation may tell it, which saves a step
        and is right where the cdf is nearly normal.

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
    rate, reach, points = scale, 4.0 * scale, []
    for iteration in range(max_iter):
        value = cdf(e, rows)
        low_side = value < p
        lo, hi = np.where(low_side, e, lo), np.where(low_side, hi, e)
        points = [(e, ndtri(value)), *points[:3]]
        new, error, rate = _inverse_interpolation(points, target, rate)
        # Where the cdf is flat at 0 or 1 there is no slope: stride towards the mass.
        lost = ~np.isfinite(new)
        if lost.any():
            new = np.where(lost, e + np.where(low_side, reach, -reach), new)
            reach = np.where(lost, 2 * reach, reach)
        inside = (new > lo) & (new < hi)
        here = np.abs(value - p) <= tol
        here |= (hi - lo <= 4e-16 * np.maximum(1.0, np.abs(e))) | np.isnan(value)
        done = here if measured else here | (inside & (error <= tol))
        if done.any():
            found = np.where(here, np.where(np.isnan(value), np.nan, e), new)
            result[rows[done]] = found[done]
            left = ~done
            if not left.any():
                return result
            points = [(x[left], z[left]) for x, z in points]
            rows, new, inside, lo, hi = (x[left] for x in (rows, new, inside, lo, hi))
            p, target, rate, reach = (x[left] for x in (p, target, rate, reach))
        # Every few steps halve anyway, so that the bracket is sure to close.
        e = np.where(inside & (iteration % 8 != 7), new, 0.5 * (lo + hi))
    result[rows] = e
    return result


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


def beta_hdi(a, b, level, odds=1.0):
    """Highest-density interval of M, where odds(M) = `odds` * odds(X) and X ~ Beta(a, b).

    With ``odds=1`` M is X itself, with ``odds=2`` and X the Jaccard index M is F1. Returns the two
    ends in the coordinate of X. A density with a pole at one end gives the one-sided interval, a
    symmetric one with two poles (or none: the uniform) the equal-tailed interval by convention.
    """
    if odds < 1:  # seen from the other end the odds are multiplied by 1 / odds
        low, high = beta_hdi(b, a, level, 1 / odds)
        return 1 - high, 1 - low
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    shape = a.shape
    a, b = a.ravel(), b.ravel()
    low, high = np.full(a.shape, np.nan), np.full(a.shape, np.nan)
    proper = (a > 0) & (b > 0)
    point = ~proper & ((a > 0) | (b > 0))
    low[point] = high[point] = (b[point] == 0) * 1.0
    peaked = proper & (a > 1) & (b > 1)
    even = proper & ~peaked & (a == b) & (odds == 1)
    # log density of M has slope of the sign of (a-1)(1-x)(1+kx) - (b-1)x(1+kx) + 2kx(1-x), k >= 0
    k = odds - 1
    if odds == 1:
        falling, rising = proper & ~peaked & (a < b), proper & ~peaked & (a > b)
    else:
        falling = proper & ~peaked & (a <= 1) & (b > 1) & (k * (a + 1) <= a + b - 2)
        rising = proper & ~peaked & (a >= 1) & (b <= 1)
    for rows, p_low, p_high in (
        (even, (1 - level) / 2, (1 + level) / 2),
        (falling, 0.0, level),
        (rising, 1 - level, 1.0),
    ):
        if np.any(rows):
            low[rows] = beta_quantile(p_low, a[rows], b[rows])
            high[rows] = beta_quantile(p_high, a[rows], b[rows])
    edge = np.flatnonzero(proper & ~peaked & ~even & ~falling & ~rising)
    if edge.size:
        low[edge], high[edge] = _scan_hdi(a[edge], b[edge], level, odds)
    rows = np.flatnonzero(peaked)
    step = 8192
    for start in range(0, rows.size, step):
        part = rows[start : start + step]
        low[part], high[part] = _newton_hdi(a[part], b[part], level, odds)
    return low.reshape(shape), high.reshape(shape)


def _scan_hdi(a, b, level, odds):
    """Shortest interval in M by scanning the lower tail mass: for densities with a pole."""
    centre = np.full(a.shape, (1 - level) / 2)
    half = (1 - level) / 2
    for _ in range(8):
        p = np.clip(centre[:, None] + np.linspace(-half, half, 129), 0.0, 1 - level)
        x_low = beta_quantile(p, a[:, None], b[:, None])
        x_high = beta_quantile(p + level, a[:, None], b[:, None])
        width = scale_odds(x_high, odds) - scale_odds(x_low, odds)
        best = np.argmin(width, axis=1)[:, None]
        centre = np.take_along_axis(p, best, axis=1)[:, 0]
        half /= 32
    take = lambda x: np.take_along_axis(x, best, axis=1)[:, 0]  # noqa: E731
    return take(x_low), take(x_high)


def scale_odds(x, odds):
    """Return m with odds(m) = odds * odds(x)."""
    return odds * x / (1 + (odds - 1) * x)


def _newton_hdi(a, b, level, odds):
    """Two-dimensional Newton iteration in (logit low, logit high) for one-peaked densities."""
    alpha = 1.0 - level
    k = odds - 1.0
    mode = _logit_mode(a, b, k)
    cumulants = _logit_cumulants(np.maximum(a, 1.0), np.maximum(b, 1.0))
    mean, sd, g1 = cumulants[0], cumulants[1], cumulants[2]
    # First-order split of the tail mass between the two sides of a skewed density.
    z_half = ndtri(1 - alpha / 2)
    skew = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
    density = np.exp(-0.5 * z_half**2) / np.sqrt(2 * np.pi)
    mass = np.clip(alpha / 2 - skew * density / 3, 0.02 * alpha, 0.98 * alpha)
    smooth = np.minimum(a, b) >= 8
    with np.errstate(over="ignore", invalid="ignore"):
        lam = _cornish_fisher_logit(ndtri(mass), cumulants)
        mu = _cornish_fisher_logit(ndtri(mass + level), cumulants)
    bend = np.clip(g1, -2, 2) * (z_half**2 - 1) / 6
    lam = np.where(smooth, lam, mean + sd * (-z_half + bend))
    mu = np.where(smooth, mu, mean + sd * (z_half + bend))
    lam, mu = np.minimum(lam, mode - sd / 2), np.maximum(mu, mode + sd / 2)
    log_norm = log_beta_density_at_mean(a, b)
    centre = np.log(a / b)
    result_low, result_high = lam.copy(), mu.copy()
    active = np.arange(a.size)
    for _ in range(60):
        p, q, m = a[active], b[active], mode[active]
        lo, hi = lam[active], mu[active]
        w_low, g_low, h_low = _hdi_terms(lo, p, q, k, centre[active], log_norm[active])
        w_high, g_high, h_high = _hdi_terms(hi, p, q, k, centre[active], log_norm[active])
        below = beta_cdf(expit(lo), p, q, complement=expit(-lo))
        above = beta_cdf(expit(-hi), q, p, complement=expit(hi))
        mass_error = alpha - below - above
        det = w_high * g_low - w_low * g_high
        with np.errstate(invalid="ignore", divide="ignore"):
            d_low = (-g_high * mass_error + w_high * (h_high - h_low)) / det
            d_high = (-g_low * mass_error + w_low * (h_high - h_low)) / det
        bad = ~(np.isfinite(d_low) & np.isfinite(d_high))
        d_low, d_high = np.where(bad, 0.0, d_low), np.where(bad, 0.0, d_high)
        # A step across the mode would change branch: go half way instead.
        new_low = np.where(lo + d_low < m, lo + d_low, 0.5 * (lo + m))
        new_high = np.where(hi + d_high > m, hi + d_high, 0.5 * (hi + m))
        lam[active], mu[active] = new_low, new_high
        tolerance = 1e-6 * sd[active]
        # After a step below 1e-6 sd the quadratic rest is of the order of rounding.
        done = (np.abs(new_low - lo) < tolerance) & (np.abs(new_high - hi) < tolerance) & ~bad
        finished = active[done]
        result_low[finished], result_high[finished] = lam[finished], mu[finished]
        active = active[~done]
        if active.size == 0:
            break
    low, high = expit(result_low), expit(result_high)
    if active.size:  # a density so flat near one end that Newton stalls: scan
        low[active], high[active] = _scan_hdi(a[active], b[active], level, odds)
    return low, high


def _logit_mode(a, b, k):
    """Logit of the mode of M in the coordinate of X (a quadratic equation; k = odds - 1)."""
    if k == 0:
        return np.log((a - 1) / (b - 1))
    # k (a + b) x**2 - [k (a + 1) - (a + b - 2)] x - (a - 1) = 0, the root in (0, 1)
    quadratic, linear, constant = k * (a + b), k * (a + 1) - (a + b - 2), a - 1
    root = np.sqrt(linear**2 + 4 * quadratic * constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(linear > 0, (linear + root) / (2 * quadratic), 2 * constant / (root - linear))
    x = np.clip(x, 1e-300, 1 - 1e-16)
    return np.log(x) - log1p(-x)


def _hdi_terms(e, a, b, k, centre, log_norm):
    """Density in the logit, slope and value of the log density of M at x = expit(e)."""
    x, other = expit(e), expit(-e)
    d = e - centre
    mean, rest = a / (a + b), b / (a + b)
    clipped = np.clip(d, -300, 300)  # beyond, log1p(expm1) is linear: add the rest
    left = log1p(rest * np.expm1(-clipped)) + np.maximum(-d - 300, 0)
    right = log1p(mean * np.expm1(clipped)) + np.maximum(d - 300, 0)
    relative = -a * left - b * right
    slope = (a - 1) * other - (b - 1) * x + 2 * k * x * other / (1 + k * x)
    # log f(x) = log density in the logit - log x(1-x); both logs from the logit itself
    log_x, log_other = -np.logaddexp(0, -e), -np.logaddexp(0, e)
    value = relative - log_x - log_other + 2 * log1p(k * x)
    return np.exp(log_norm + relative), slope, value
