"""Weighted sums of independent Beta variables: balanced accuracy, and averages over folds.

With many errors the characteristic function of the sum dies out, and the cdf is a short cosine
series on an interval that holds all the mass (Fang and Oosterlee's COS method). With hardly any
error the density has a pole at the end of its range and no such series converges: then the terms
are added one at a time, by the quadrature rule, on a grid of the logarithm of the sum.
"""

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.special import ndtri

from skuncertain._numerics.beta import beta_cdf, odds_slope, scale_odds
from skuncertain._numerics.quadrature import (
    N_CUT,
    N_NODES,
    BetaRule,
    beta_moments,
    beta_skewness,
    combine_to_one_peak,
)

_MAX_TERMS = 1024


class BetaSum:
    """Sum over k of w_k M_k, where M_k has the odds of X_k ~ Beta(a_k, b_k) times a factor.

    Parameters
    ----------
    a, b : ndarray of shape (rows, C)
        Positive shapes.
    weights : ndarray of shape (rows, C)
        Weights >= 0 with sum 1.
    link : Link
        Maps the range of the metric to the real line.
    odds : float, default=1.0
        The factor: 1 for proportions, 2 for F1 through the Jaccard index.
    """

    def __init__(self, a, b, weights, link, odds=1.0):
        self.a, self.b, self.weights, self.link, self.odds = a, b, weights, link, odds
        self.size = a.shape[0]
        self.one_peaked = combine_to_one_peak(list(zip(a.T, b.T, strict=True)))
        mean, variance = self.moments()
        centre = np.clip(mean, 1e-12, 1 - 1e-12)
        self.centre = link.to_line(centre)
        self.scale = np.maximum(np.sqrt(variance) / (centre * (1 - centre)), 1e-12)
        self.sums = [_one_sum(*row, odds) for row in zip(a, b, weights, strict=True)]
        self.resolved = all(part is not None for part in self.sums)

    def _of_rows(self, name, t, rows):
        result = np.empty(t.shape)
        for row in np.unique(rows):
            pick = rows == row
            result[pick] = getattr(self.sums[row], name)(t[pick])
        return result

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.centre[rows] + ndtri(p) * self.scale[rows]

    def cdf(self, t, rows):
        """P(sum <= t)."""
        return np.clip(self._of_rows("cdf", t, rows), 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        return np.maximum(self._of_rows("density", t, rows), 0.0)

    def moments(self):
        """Mean and variance of every row."""
        moments = beta_moments(self.a.ravel(), self.b.ravel(), self.odds)
        mean, variance = (moment.reshape(self.a.shape) for moment in moments)
        return (self.weights * mean).sum(axis=1), (self.weights**2 * variance).sum(axis=1)

    def skewness(self):
        """Skewness of every row: third cumulants add."""
        shapes = self.a.ravel(), self.b.ravel(), self.odds
        third = (beta_skewness(*shapes) * beta_moments(*shapes)[1] ** 1.5).reshape(self.a.shape)
        return (self.weights**3 * third).sum(axis=1) / self.moments()[1] ** 1.5

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        draws = scale_odds(rng.beta(self.a, self.b, size=(size, *self.a.shape)), self.odds)
        return np.einsum("src,rc->sr", draws, self.weights)


def _one_sum(a, b, w, odds):
    """Distribution of one sum by the method that converges, or None."""
    used = w > 0
    a, b, w = a[used], b[used], w[used]
    # |E exp(iuX)| falls like u**-min(a, b): with too small a total, do not even try.
    if np.minimum(a, b).sum() > 4:
        series = _CosineSeries(a, b, w, odds)
        if series.remainder < 1e-10:
            return series
    if np.all(a >= 3):
        errors = _LogGrid(b, a, w, 1 / odds)  # few errors: add up the errors
        return _Mirrored(errors) if errors.smooth else None
    if np.all(b >= 3):
        sums = _LogGrid(a, b, w, odds)
        return sums if sums.smooth else None
    return None  # poles at both ends


class _CosineSeries:
    """Sum whose characteristic function dies out: a cosine series (COS method)."""

    def __init__(self, a, b, w, odds):
        total = a + b
        centre = w * scale_odds(a / total, odds)
        spread = w * odds_slope(a / total, odds) * np.sqrt(a * b / (total + 1)) / total
        mean, sd = centre.sum(), np.sqrt((spread**2).sum())
        self.low, high = max(mean - 30 * sd, 0.0), min(mean + 30 * sd, w.sum())
        self.span = high - self.low
        frequency, rule, terms = np.pi / self.span, BetaRule(a, b), 128
        while True:
            # A node must not skip a wave of the highest frequency.
            n = int(np.clip(1.5 * terms * frequency * 18 * spread.max(), N_NODES, 4096))
            x, _, weight = rule.nodes(n)
            shift = w[:, None] * scale_odds(x, odds) - centre[:, None]
            step = np.exp(1j * frequency * shift)
            wave, product = weight.astype(complex), np.empty(terms, dtype=complex)
            for j in range(terms):
                product[j] = np.prod(wave.sum(axis=1))
                wave *= step
            self.remainder = np.abs(product[-16:]).max()
            if self.remainder < 1e-13 or terms >= _MAX_TERMS:
                break
            terms *= 2
        j = np.arange(terms)
        series = 2 / self.span * (product * np.exp(1j * frequency * j * (mean - self.low))).real
        self.constant, self.series, self.order = 0.5 * series[0], series[1:], frequency * j[1:]

    def cdf(self, t):
        x = np.clip(t - self.low, 0.0, self.span)
        return self.constant * x + np.sin(np.outer(x, self.order)) @ (self.series / self.order)

    def density(self, t):
        x = t - self.low
        inside = (x > 0) & (x < self.span)
        return np.where(inside, self.constant + np.cos(np.outer(x, self.order)) @ self.series, 0.0)


class _LogGrid:
    """Sum of few-error terms: log F as a quintic spline of log s, a straight line far down.

    Near zero F is a power of s, whatever the poles of the terms, so that log F is as smooth as it
    can be in log s. The other end of every term must be flat (b >= 3).
    """

    def __init__(self, a, b, w, odds):
        order = np.argsort(a)
        a, b, w = a[order], b[order], w[order]
        unit = np.log(np.min(w * odds / (a + b)))
        self.power, self.top = a[0], w[0]
        for k in range(len(a)):
            previous, reach = None if k == 0 else self._cdf, self.top
            if k:
                self.top, self.power = self.top + w[k], self.power + a[k]
            # Down to 1e-13 of the mass at least, or to where the power law holds.
            low, end = unit - min(23.0, 30.0 / self.power), np.log(self.top)
            fine = max(low + 0.5, unit - 9.0)
            grid = np.concatenate(
                [
                    np.linspace(low, fine, 48, endpoint=False),
                    np.linspace(fine, end, int(np.ceil((end - fine) / 0.03))),
                ]
            )
            s = np.exp(grid)
            s[-1] = self.top
            if previous is None:
                value = beta_cdf(scale_odds(np.minimum(s / w[0], 1.0), 1 / odds), a[0], b[0])
            else:
                value = self._add(s, previous, reach, a[k], b[k], w[k], odds)
            # A term that is known well keeps the sum away from zero: an edge, and no power law.
            self.smooth = bool(value.min() > 1e-250)
            if not self.smooth:
                return
            spline = make_interp_spline(grid, np.log(np.minimum(value, 1.0)), k=5)
            self.spline, self.slope, self.grid = spline, spline.derivative(), (grid[0], grid[-1])

    @staticmethod
    def _add(s, cdf, reach, a, b, w, odds):
        """P(S + w M <= s) from the cdf of S, which lives on (0, reach)."""
        rule = BetaRule(np.full(s.shape, a), np.full(s.shape, b))
        low = scale_odds(np.clip((s - reach) / w, 0.0, 1.0), 1 / odds)
        high = scale_odds(np.clip(s / w, 0.0, 1.0), 1 / odds)

        def conditional_cdf(x, _, rows):
            return cdf(np.maximum(s[rows, None] - w * scale_odds(x, odds), 1e-300))

        ends = (low, 1 - low), (high, 1 - high)
        return rule.expectation(conditional_cdf, *ends, (N_NODES, N_CUT)) + beta_cdf(low, a, b)

    def _cdf(self, s):
        x = np.log(s)
        value = self.spline(np.clip(x, *self.grid)) + self.power * np.minimum(x - self.grid[0], 0)
        return np.where(s >= self.top, 1.0, np.exp(np.minimum(value, 0.0)))

    def cdf(self, t):
        return np.where(t <= 0, 0.0, self._cdf(np.maximum(t, 1e-300)))

    def density(self, t):
        s = np.maximum(t, 1e-300)
        x = np.log(s)
        slope = np.where(x < self.grid[0], self.power, self.slope(np.clip(x, *self.grid)))
        return np.where((t > 0) & (t < self.top), self._cdf(s) * slope / s, 0.0)


class _Mirrored:
    """Distribution of 1 - S."""

    def __init__(self, inner):
        self.inner = inner

    def cdf(self, t):
        return 1.0 - self.inner.cdf(1.0 - t)

    def density(self, t):
        return self.inner.density(1.0 - t)
