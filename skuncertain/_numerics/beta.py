"""Beta cdf, quantiles and highest-density intervals that can be trusted.

``scipy.special.betaincinv`` is wrong when a shape is exactly 1000 (seen in scipy 1.17 and 1.18:
``betaincinv(1000, 9090, .975)`` is 0.2508, the truth 0.1050), so every quantile taken from it is
checked with ``betainc`` and repaired where it fails. When both shapes are large a Cornish-Fisher
expansion of logit X is faster than scipy and as exact as double precision allows.
"""

import numpy as np
from scipy.special import betainc, betaincinv, expit, gammaln, log1p, ndtr, ndtri, xlog1py, xlogy

from skuncertain._numerics.roots import invert_cdf
from skuncertain._numerics.shortest_interval import newton_step

CORNISH_FISHER_FROM = 1000.0
HUGE = 1e10  # from here on betainc loses digits: it is off by 1e-5 at 1e11, by 0.1 at 1e15

_AT_ONCE = 8192  # expansions are long chains of array operations: keep them in cache


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


def logit_density_drop(d, a, b):
    """Log density of logit X at distance `d` from its mode log(a/b), less its maximum."""
    clipped = np.clip(d, -300.0, 300.0)  # beyond, both logs are linear
    left = log1p(b / (a + b) * np.expm1(-clipped)) + np.maximum(-d - 300.0, 0.0)
    right = log1p(a / (a + b) * np.expm1(clipped)) + np.maximum(d - 300.0, 0.0)
    return -a * left - b * right


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


def beta_logpdf(x, a, b, complement=None):
    """Log density of Beta(a, b); -inf outside [0, 1] and for point masses.

    `complement` is 1 - x where the caller knows it better than subtraction does.
    """
    x, a, b = np.broadcast_arrays(np.asarray(x, dtype=float), a, b)
    inside = (x >= 0) & (x <= 1) & (a > 0) & (b > 0)
    safe = np.where(inside, x, 0.5)
    p, q = np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0)
    # The normaliser from Stirling remainders: gammaln(a + b) - ... loses digits at shapes of 1e9.
    mean = p / (p + q)
    log_norm = log_beta_density_at_mean(p, q) - xlogy(p, mean) - xlog1py(q, -mean)
    with np.errstate(divide="ignore"):
        if complement is None:
            other = xlog1py(q - 1, -safe)
        else:
            other = xlogy(q - 1, np.where(inside, complement, 0.5))
        value = log_norm + xlogy(p - 1, safe) + other
    value = np.where(inside, value, -np.inf)
    return np.where((a == 0) & (b == 0), np.nan, value)


# Asymptotic series of log z - digamma(z) and of the derivatives of digamma, which are the
# cumulants of the log of a gamma variable, in i = 1 / z. Row k is divided by i**k; the
# coefficients are those of 1, i, i**2, i**4, i**6 and i**8.
_POLYGAMMA = (
    (0, 1 / 2, 1 / 12, -1 / 120, 1 / 252, -1 / 240),
    (1, 1 / 2, 1 / 6, -1 / 30, 1 / 42, -1 / 30),
    (-1, -1, -1 / 2, 1 / 6, -1 / 6, 3 / 10),
    (2, 3, 2, -1, 4 / 3, -3),
    (-6, -12, -10, 7, -12, 33),
    (24, 60, 60, -56, 120, 0),
)


def _polygamma(z):
    """The series of `_POLYGAMMA` at z, for z of about 30 and more."""
    i = 1.0 / z
    i2, power, found = i * i, 1.0, []
    for c0, c1, c2, c4, c6, c8 in _POLYGAMMA:
        found.append(power * (c0 + i * (c1 + i * (c2 + i2 * (c4 + i2 * (c6 + i2 * c8))))))
        power = power * i
    return found


def _logit_cumulants(a, b):
    """Mean, sd and standardised cumulants 3 to 6 of logit X, for shapes of about 30 and more."""
    of_a, of_b = _polygamma(a), _polygamma(b)
    mean = np.log(a / b) - of_a[0] + of_b[0]
    variance = of_a[1] + of_b[1]
    sd = np.sqrt(variance)
    # log of the odds = difference of two logs: odd cumulants are subtracted, even ones added
    third, fifth = of_a[2] - of_b[2], of_a[4] - of_b[4]
    fourth, sixth = of_a[3] + of_b[3], of_a[5] + of_b[5]
    square = variance * variance
    return (
        mean,
        sd,
        third / (variance * sd),
        fourth / square,
        fifth / (square * sd),
        sixth / (square * variance),
    )


def _cornish_fisher_logit(z, cumulants):
    """Quantile of logit X at the normal quantile `z` (Cornish and Fisher, six cumulants)."""
    mean, sd, g1, g2, g3, g4 = cumulants
    z2 = z * z
    z3, z4, z5 = z2 * z, z2 * z2, z2 * z2 * z
    s1 = g1 * g1
    w = (
        z
        + g1 * (z2 - 1) / 6
        + g2 * (z3 - 3 * z) / 24
        - s1 * (2 * z3 - 5 * z) / 36
        + g3 * (z4 - 6 * z2 + 3) / 120
        - g1 * g2 * (z4 - 5 * z2 + 2) / 24
        + s1 * g1 * (12 * z4 - 53 * z2 + 17) / 324
        + g4 * (z5 - 10 * z3 + 15 * z) / 720
        - g2 * g2 * (3 * z5 - 24 * z3 + 29 * z) / 384
        - g1 * g3 * (2 * z5 - 17 * z3 + 21 * z) / 180
        + s1 * g2 * (14 * z5 - 103 * z3 + 107 * z) / 288
        - s1 * s1 * (252 * z5 - 1688 * z3 + 1511 * z) / 7776
    )
    return mean + sd * w


def beta_quantile(p, a, b):
    """Quantile of Beta(a, b), elementwise. Shapes of 0 are point masses."""
    given = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in (p, a, b)))
    p, a, b = (part.ravel() for part in given)
    result = np.full(p.shape, np.nan)
    smaller, tail = np.minimum(a, b), np.minimum(p, 1 - p)
    # The expansion loses digits in the far tail: more counts are asked for there.
    large = (smaller >= CORNISH_FISHER_FROM) & ((tail > 1e-4) | (smaller >= 3e4)) & (tail > 1e-12)
    where = np.flatnonzero(large)
    for start in range(0, where.size, _AT_ONCE):
        rows = where[start : start + _AT_ONCE]
        cumulants = _logit_cumulants(a[rows], b[rows])
        result[rows] = expit(_cornish_fisher_logit(ndtri(p[rows]), cumulants))
    proper = (a > 0) & (b > 0)
    rows = np.flatnonzero(~large & proper)
    if rows.size:
        result[rows] = _checked_betaincinv(p[rows], a[rows], b[rows])
    if not proper.all():
        result[(a == 0) & (b > 0)] = 0.0
        result[(b == 0) & (a > 0)] = 1.0
    return result.reshape(given[0].shape)


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

    # Of logit X, up to a factor that a start does not need
    scale = np.sqrt(1 / np.maximum(a, 1e-300) + 1 / np.maximum(b, 1e-300))
    start = np.log(a) - np.log(b) + ndtri(p) * scale
    return expit(invert_cdf(cdf, p, start, scale, measured=True))


def beta_hdi(a, b, level, odds=1.0):
    """Highest-density interval of M, where odds(M) = `odds` * odds(X) and X ~ Beta(a, b).

    With ``odds=1`` M is X itself, with ``odds=2`` and X the Jaccard index M is F1. Returns the two
    ends in the coordinate of X.

    A falling or rising density gives the one-sided interval. So does one with two poles: the
    shorter of the two one-sided intervals, and the lower one if they are equally short, unless only
    the upper one can hold the level (next to 1 floats are 1e-16 apart, next to 0 they are not). All
    intervals of the uniform are equally short: the equal-tailed one is taken.
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    shape = a.shape
    a, b = a.ravel(), b.ravel()
    even = (a == 1) & (b == 1) & (odds == 1)
    two_poles = (a > 0) & (a <= 1) & (b > 0) & (b <= 1) & ~even
    if odds < 1:  # seen from the other end the odds are multiplied by 1 / odds
        high, low = (1 - end for end in _hdi_without_two_poles(b, a, level, 1 / odds))
    else:
        low, high = _hdi_without_two_poles(a, b, level, odds)
    if np.any(even):
        low[even], high[even] = (1 - level) / 2, (1 + level) / 2
    if np.any(two_poles):
        low[two_poles], high[two_poles] = _one_sided(a[two_poles], b[two_poles], level, odds)
    return low.reshape(shape), high.reshape(shape)


def _hdi_without_two_poles(a, b, level, odds):
    """Ends for flat arrays of shapes and odds >= 1; NaN where both shapes are at most 1."""
    low, high = np.full(a.shape, np.nan), np.full(a.shape, np.nan)
    point = ((a == 0) | (b == 0)) & ((a > 0) | (b > 0))
    low[point] = high[point] = (b[point] == 0) * 1.0
    peaked = (a > 1) & (b > 1)
    # With k = odds - 1 >= 0 the log density of M has slope of the sign of
    # (a-1)(1-x)(1+kx) - (b-1)x(1+kx) + 2kx(1-x).
    pole_at_0 = (a > 0) & (a <= 1) & (b > 1)
    falling = pole_at_0 & ((odds == 1) | ((odds - 1) * (a + 1) <= a + b - 2))
    rising = (a > 1) & (b > 0) & (b <= 1)
    for rows, p_low, p_high in ((falling, 0.0, level), (rising, 1 - level, 1.0)):
        if np.any(rows):
            low[rows] = beta_quantile(p_low, a[rows], b[rows])
            high[rows] = beta_quantile(p_high, a[rows], b[rows])
    edge = np.flatnonzero(pole_at_0 & ~falling)
    if edge.size:
        low[edge], high[edge] = _scan_hdi(a[edge], b[edge], level, odds)
    rows = np.flatnonzero(peaked)
    for start in range(0, rows.size, _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        low[part], high[part] = _newton_hdi(a[part], b[part], level, odds)
    return low, high


def _one_sided(a, b, level, odds):
    """Shorter of the two one-sided intervals that hold the level."""
    high, low = beta_quantile(level, a, b), beta_quantile(1 - level, a, b)
    lower_width, upper_width = scale_odds(high, odds), 1 - scale_odds(low, odds)
    wrong = np.abs(beta_cdf(high, a, b) - level) > 1e-9
    wrong &= np.abs(beta_cdf(low, a, b) - (1 - level)) <= 1e-9
    lower = (lower_width <= upper_width + 1e-12) & ~wrong
    return np.where(lower, 0.0, low), np.where(lower, high, 1.0)


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
    return tuple(np.take_along_axis(x, best, axis=1)[:, 0] for x in (x_low, x_high))


def beta_mode(a, b, odds=1.0):
    """Mode of M, where odds(M) = `odds` * odds(X) and X ~ Beta(a, b), in the coordinate of M.

    A pole is the mode, of two poles the stronger one; NaN where no value is: a uniform density, two
    poles of equal shapes, two shapes of 0.
    """
    if odds < 1:
        return 1 - beta_mode(b, a, 1 / odds)
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    x = scale_odds(_peak(np.maximum(a, 1.0), np.maximum(b, 1.0), odds - 1.0), odds)
    x = np.where((a < 1) & (a < b), 0.0, x)
    x = np.where((b < 1) & (b < a), 1.0, x)
    return np.where((a == b) & ((a < 1) | ((a == 1) & (odds == 1))), np.nan, x)


def scale_odds(x, odds):
    """Return m with odds(m) = odds * odds(x)."""
    return odds * x / (1 + (odds - 1) * x)


def odds_slope(x, odds):
    """Derivative of `scale_odds`."""
    return odds / (1 + (odds - 1) * x) ** 2


def _newton_hdi(a, b, level, odds):
    """Newton iteration in (logit low, logit high) for one-peaked densities."""
    k = odds - 1.0
    mode = _logit_mode(a, b, k)
    ends, sd = _hdi_start(a, b, level, mode)
    centre, log_norm = np.log(a / b), log_beta_density_at_mean(a, b)
    side = np.array([[-1.0], [1.0]])
    active = np.arange(a.size)
    for _ in range(60):
        p, q, m, here = a[active], b[active], mode[active], ends[:, active]
        terms = _hdi_terms(here, p, q, k, centre[active], log_norm[active])
        below = beta_cdf(expit(here[0]), p, q, complement=expit(-here[0]))
        above = beta_cdf(expit(-here[1]), q, p, complement=expit(here[1]))
        move = newton_step(1.0 - level - below - above, *terms)
        good = np.isfinite(move).all(axis=0)
        there = here + np.where(good, move, 0.0)
        # A step across the mode would change branch: go half way instead.
        there = np.where(side * (there - m) > 0, there, 0.5 * (here + m))
        ends[:, active] = there
        # After a step below 1e-6 sd the quadratic rest is of the order of rounding.
        small = (np.abs(there - here) < 1e-6 * sd[active]).all(axis=0)
        active = active[~(small & good)]
        if active.size == 0:
            break
    low, high = expit(ends)
    if active.size:  # a density so flat near one end that Newton stalls: scan
        low[active], high[active] = _scan_hdi(a[active], b[active], level, odds)
    return low, high


def _hdi_start(a, b, level, mode):
    """Logits of the ends to start from, and the standard deviation of the logit."""
    alpha = 1.0 - level
    cumulants = _logit_cumulants(np.maximum(a, 1.0), np.maximum(b, 1.0))
    mean, sd, g1, *_ = cumulants
    # First-order split of the tail mass between the two sides of a skewed density.
    z_half = ndtri(1 - alpha / 2)
    skew = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
    density = np.exp(-0.5 * z_half**2) / np.sqrt(2 * np.pi)
    mass = np.clip(alpha / 2 - skew * density / 3, 0.02 * alpha, 0.98 * alpha)
    smooth = np.minimum(a, b) >= 8
    bend = np.clip(g1, -2, 2) * (z_half**2 - 1) / 6
    starts = []
    for tail, z in ((mass, -z_half), (mass + level, z_half)):
        with np.errstate(over="ignore", invalid="ignore"):
            expanded = _cornish_fisher_logit(ndtri(tail), cumulants)
        starts.append(np.where(smooth, expanded, mean + sd * (z + bend)))
    return np.stack(
        [np.minimum(starts[0], mode - sd / 2), np.maximum(starts[1], mode + sd / 2)]
    ), sd


def _logit_mode(a, b, k):
    """Logit of the mode of M in the coordinate of X, for shapes above 1 (k = odds - 1)."""
    if k == 0:
        return np.log((a - 1) / (b - 1))
    x = np.clip(_peak(a, b, k), 1e-300, 1 - 1e-16)
    return np.log(x) - log1p(-x)


def _peak(a, b, k):
    """Mode of M in the coordinate of X, for shapes of at least 1: a quadratic equation."""
    if k == 0:
        with np.errstate(invalid="ignore"):
            return (a - 1) / (a + b - 2)
    # k (a + b) x**2 - [k (a + 1) - (a + b - 2)] x - (a - 1) = 0, the root in (0, 1)
    quadratic, linear, constant = k * (a + b), k * (a + 1) - (a + b - 2), a - 1
    root = np.sqrt(linear**2 + 4 * quadratic * constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(linear > 0, (linear + root) / (2 * quadratic), 2 * constant / (root - linear))
    double = (linear == 0) & (constant == 0)  # 0/0: a double root at 0
    return np.where(double, 0.0, np.minimum(x, 1.0))


def _hdi_terms(e, a, b, k, centre, log_norm):
    """Density in the logit, slope and value of the log density of M at x = expit(e)."""
    x, other = expit(e), expit(-e)
    relative = logit_density_drop(e - centre, a, b)
    slope = (a - 1) * other - (b - 1) * x + 2 * k * x * other / (1 + k * x)
    # log f(x) = log density in the logit - log x(1-x); both logs from the logit itself
    log_x, log_other = -np.logaddexp(0, -e), -np.logaddexp(0, e)
    value = relative - log_x - log_other + 2 * log1p(k * x)
    return np.exp(log_norm + relative), slope, value
