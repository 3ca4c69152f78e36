"""Net benefits: weighted differences of shares, whose distributions are single integrals.

The net benefit TP - w FP and its difference to treating all, w TN - FN, have one form, gain * X -
loss * Y, where X and Y are shares of a Dirichlet. Their sum S is a Beta variable and independent of
U = X / S, which is another one, and

    gain * X - loss * Y <= m    where    U <= (loss + m / S) / (gain + loss).

At a known prevalence the two rates are independent, and one of them takes the place of S.
"""

import numpy as np
from scipy.special import ndtri

from skuncertain._numerics.beta import beta_cdf, beta_quantile
from skuncertain._numerics.quadrature import N_CUT, N_NODES, BetaRule, beta_moments
from skuncertain._numerics.roots import invert_cdf

_NODES = (N_NODES, N_CUT)
_FLAT = 10.0


class _Benefit:
    """What both distributions share: quantiles from `cdf`, by `low`, `high` and moments."""

    def quantile(self, p):
        """Quantile of every row at one probability."""
        mean, scale = self.mean, np.maximum(self.sd, 1e-300)

        def cdf(e, rows):
            m = np.clip(mean[rows] + scale[rows] * e, self.low[rows], self.high[rows])
            return self.cdf(m, rows)

        size = mean.size
        e = invert_cdf(
            cdf, np.full(size, p), np.full(size, ndtri(p)), np.ones(size), tol=1e-10, measured=True
        )
        return np.clip(mean + scale * e, self.low, self.high)

    def interval(self, level):
        """Equal-tailed ends of every row."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


class Contrast(_Benefit):
    """Distribution of gain * X - loss * Y, where (X, Y, rest) is a Dirichlet.

    Parameters
    ----------
    x, y, rest : ndarray of shape (rows,)
        Positive shapes.
    gain, loss : ndarray of shape (rows,)
        Positive weights.
    """

    def __init__(self, x, y, rest, gain, loss):
        self.x, self.y, self.rest, self.gain, self.loss = x, y, rest, gain, loss
        self.sum = BetaRule(x + y, rest)
        # A cdf that is flat to the tenth order where it reaches 0 or 1 has no kink there.
        self.flat = np.minimum(x, y) >= _FLAT
        self.low, self.high = -loss, gain
        total = x + y + rest
        self.mean = (gain * x - loss * y) / total
        square = (gain**2 * x + loss**2 * y) / total
        self.sd = np.sqrt(np.maximum(square - self.mean**2, 0.0) / (total + 1))

    def calibrated(self, level, seen_x, seen_y):
        """Equal-tailed ends; what was not `seen` in any row may be missing altogether.

        Half a pseudo-row of a share that hardly exists would move the end that it draws inwards.
        """
        (low, high), (lowest, highest) = self.interval(level), self.limits(level)
        return (
            np.where(seen_x, low, np.minimum(low, lowest)),
            np.where(seen_y, high, np.maximum(high, highest)),
        )

    def limits(self, level):
        """Lower end without any X, and upper end without any Y."""
        p = (1 + level) / 2
        lowest = -self.loss * beta_quantile(p, self.y, self.rest)
        return lowest, self.gain * beta_quantile(p, self.x, self.rest)

    def given(self, m, s, rows):
        """P(gain * X - loss * Y <= m), given the sum of X and Y, of shape (rows, nodes)."""
        gain, loss = self.gain[rows, None], self.loss[rows, None]
        with np.errstate(divide="ignore", over="ignore"):
            per = np.where(m[:, None] == 0, 0.0, m[:, None] / s)
            below = np.clip((loss + per) / (gain + loss), 0.0, 1.0)
            above = np.clip((gain - per) / (gain + loss), 0.0, 1.0)
        return beta_cdf(below, self.x[rows, None], self.y[rows, None], complement=above)

    def kink(self, m, rows):
        """Sum below which `m` is out of reach; 0 where nobody sees that."""
        kink = np.clip(np.where(m > 0, m / self.gain[rows], -m / self.loss[rows]), 0.0, 1.0)
        return np.where(self.flat[rows], 0.0, kink)

    def cdf(self, m, rows):
        """P(gain * X - loss * Y <= m)."""
        kink, rule = self.kink(m, rows), self.sum.take(rows)
        value = rule.expectation(
            lambda s, _, part: self.given(m[part], s, rows[part]),
            (kink, 1 - kink),
            (np.ones(m.size), np.zeros(m.size)),
            _NODES,
        )
        short = np.where(m > 0, beta_cdf(kink, rule.a, rule.b, complement=1 - kink), 0.0)
        # Where the kink is beyond the mass that counts, the integral was over all of it.
        cut = ~rule.whole((kink, 1 - kink), (np.ones(m.size), np.zeros(m.size)))
        return np.clip(value + np.where(cut, short, 0.0), 0.0, 1.0)


class RateContrast(_Benefit):
    """Distribution of gain * U - loss * V, where U and V are independent Beta variables.

    Parameters
    ----------
    u, v : tuple of two ndarray of shape (rows,)
        Their shapes.
    gain, loss : ndarray of shape (rows,)
        Positive weights.
    """

    def __init__(self, u, v, gain, loss):
        self.u, self.gain, self.loss = u, gain, loss
        self.rule = BetaRule(*v)
        self.low, self.high = -loss, gain
        (mean_u, var_u), (mean_v, var_v) = beta_moments(*u), beta_moments(*v)
        self.mean = gain * mean_u - loss * mean_v
        self.sd = np.sqrt(gain**2 * var_u + loss**2 * var_v)

    def cdf(self, m, rows):
        """P(gain * U - loss * V <= m)."""
        gain, loss, rule = self.gain[rows], self.loss[rows], self.rule.take(rows)
        low, high = np.clip(-m / loss, 0.0, 1.0), np.clip((gain - m) / loss, 0.0, 1.0)

        def given(v, _, part):
            point = (m[part, None] + loss[part, None] * v) / gain[part, None]
            a, b = (shape[rows[part], None] for shape in self.u)
            return beta_cdf(np.clip(point, 0.0, 1.0), a, b)

        ends = (low, 1 - low), (high, 1 - high)
        value = rule.expectation(given, *ends, _NODES)
        sure = beta_cdf(1 - high, rule.b, rule.a, complement=high)  # beyond it U may be anything
        return np.clip(value + np.where(rule.whole(*ends), 0.0, sure), 0.0, 1.0)
