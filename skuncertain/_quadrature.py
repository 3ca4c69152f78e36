"""The one quadrature rule: expectations over a Beta variable, to about 12 digits.

The density of logit X is log-concave and analytic. With logit X = centre + scale * sinh(tau) its
tails fall double-exponentially, so the plain trapezoid in tau converges at a geometric rate for all
shapes from 1e-3 to 1e9. Where an integrand has a kink (an inner probability reaches 0 or 1) the
range of tau is cut there, and the tanh-sinh rule takes care of the end points.
"""

import numpy as np
from scipy.special import expit, log1p

from skuncertain._special import beta_cdf, beta_logpdf, log_beta_density_at_mean

_DROP = 42.0  # exp(-42) = 6e-19: what lies further down does not count
N_NODES = 128
N_CUT = 160


class BetaRule:
    """Nodes and weights for E[g(X)], X ~ Beta(a, b), for many pairs of shapes at once.

    Parameters
    ----------
    a, b : ndarray of shape (lines,)
        Positive shapes.
    """

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.log_odds = np.log(a / b)
        self.log_density = log_beta_density_at_mean(a, b)
        spread = np.sqrt(1 / a + 1 / b)
        low = self._bulk_end(-np.sqrt(2 * _DROP) * spread)
        high = self._bulk_end(np.sqrt(2 * _DROP) * spread)
        centre = np.log((a + 0.5) / (b + 0.5)) - self.log_odds
        self.centre = np.clip(centre, low, high)
        self.scale = np.minimum(np.sqrt(1 / (a + 0.5) + 1 / (b + 0.5)), 2.0)
        self.tau_low = np.arcsinh((low - self.centre) / self.scale)
        self.tau_high = np.arcsinh((high - self.centre) / self.scale)

    def take(self, index):
        """Rule for the lines `index`, without computing anything anew."""
        part = object.__new__(BetaRule)
        part.__dict__ = {name: value[index] for name, value in self.__dict__.items()}
        return part

    def _relative(self, d, a, b):
        """Log density of the logit at distance `d` from log(a/b), less its maximum."""
        mean, rest = a / (a + b), b / (a + b)
        clipped = np.clip(d, -300.0, 300.0)  # beyond, both logs are linear
        left = log1p(rest * np.expm1(-clipped)) + np.maximum(-d - 300.0, 0.0)
        right = log1p(mean * np.expm1(clipped)) + np.maximum(d - 300.0, 0.0)
        return -a * left - b * right

    def _bulk_end(self, d):
        """Where the log density has dropped by _DROP: Newton on a concave function."""
        for _ in range(6):
            x, other = expit(self.log_odds + d), expit(-self.log_odds - d)
            slope = self.a * other - self.b * x
            d = d - (self._relative(d, self.a, self.b) + _DROP) / slope
        return d

    def nodes(self, n=N_NODES, rows=slice(None)):
        """Nodes x, their complements 1 - x, and weights, each of shape (lines, n)."""
        low, high = self.tau_low[rows, None], self.tau_high[rows, None]
        step = (high - low) / (n - 1)
        tau = low + step * np.arange(n)
        return self._at(tau, step, rows)

    def cut_nodes(self, low, high, rows, n=N_CUT):
        """Nodes on low < x < high only, crowded at both ends (tanh-sinh in tau)."""
        ends = self.tau_low[rows], self.tau_high[rows]
        start = np.clip(self._tau(low, rows), *ends)[:, None]
        stop = np.clip(self._tau(high, rows), *ends)[:, None]
        half = np.maximum(stop - start, 0.0) / 2
        u = np.linspace(-3.3, 3.3, n)
        fraction = expit(np.pi * np.sinh(u))
        density = np.pi * np.cosh(u) * fraction * expit(-np.pi * np.sinh(u)) * (u[1] - u[0])
        tau = start + 2 * half * fraction
        return self._at(tau, 2 * half * density, rows)

    def _tau(self, x, rows):
        with np.errstate(divide="ignore"):
            logit = np.log(x) - log1p(-x)
        return np.arcsinh((logit - self.log_odds[rows] - self.centre[rows]) / self.scale[rows])

    def _at(self, tau, step, rows):
        a, b = self.a[rows, None], self.b[rows, None]
        scale = self.scale[rows, None]
        d = self.centre[rows, None] + scale * np.sinh(tau)
        logit = self.log_odds[rows, None] + d
        density = np.exp(self.log_density[rows, None] + self._relative(d, a, b))
        return expit(logit), expit(-logit), density * scale * np.cosh(tau) * step

    def expectation(self, g, low, high, nodes):
        """E[g(X); low < X < high] for arrays `low`, `high` of shape (lines,).

        ``g(x, complement, rows)`` is smooth inside and may have a kink at `low` and `high`.
        """
        with np.errstate(invalid="ignore"):
            inside = (self._tau(low, slice(None)) <= self.tau_low) & (
                self._tau(high, slice(None)) >= self.tau_high
            )
        result = np.zeros(self.a.shape)
        for cut in (False, True):
            rows = np.flatnonzero(inside != cut)
            if rows.size:
                if cut:
                    x, other, weight = self.cut_nodes(low[rows], high[rows], rows, nodes[1])
                else:
                    x, other, weight = self.nodes(nodes[0], rows)
                result[rows] = (weight * g(x, other, rows)).sum(axis=-1)
        return result


def conditional_cdf(
    t, outer, inner, solve, low, high, density=False, nodes=(N_NODES, N_CUT), chunk=2048
):
    """P(M <= t), or its density, for a metric M(outer, inner) of two independent Beta variables.

    Given the outer variable x, the event M <= t says that the inner one lies on one side of a point
    ``solve(t, x, 1 - x, rows)``, which is inside (0, 1) for ``low < x < high`` and at one end of it
    elsewhere. One integral over x is left.

    Parameters
    ----------
    t : ndarray of shape (lines,)
        Where to evaluate.
    outer : BetaRule
        Rule for the outer variable, one line per value.
    inner : tuple of two ndarrays of shape (lines,)
        Shapes of the inner variable.
    solve : callable
        Returns the point, its complement, and whether M rises with the inner variable. It accepts
        complex `t`: its derivative in t comes from an infinitesimal imaginary step.
    low, high : ndarray of shape (lines,)
        Where the point enters and leaves (0, 1).
    density : bool
        Whether to return the density instead of the cdf.
    nodes : tuple of int
        Number of nodes of a whole range and of a cut one.
    chunk : int
        Number of lines worked on at once.

    Returns
    -------
    ndarray of shape (lines,)
        Probabilities or densities.
    """
    lines = t.shape[0]
    if lines > chunk:
        result = np.empty(lines)
        for start in range(0, lines, chunk):
            part = np.arange(start, min(start + chunk, lines))
            result[part] = conditional_cdf(
                t[part],
                outer.take(part),
                tuple(shape[part] for shape in inner),
                lambda t, x, other, rows, part=part: solve(t, x, other, part[rows]),
                low[part],
                high[part],
                density,
                nodes,
            )
        return result
    a, b = inner

    def probability(x, other, rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, rest, rising = solve(t[rows, None], x, other, rows)
        point = np.clip(np.nan_to_num(point, nan=0.0), 0.0, 1.0)
        rest = np.clip(np.nan_to_num(rest, nan=1.0), 0.0, 1.0)
        rising = np.broadcast_to(rising, point.shape)
        p, q = a[rows, None], b[rows, None]
        return beta_cdf(
            np.where(rising, point, rest),
            np.where(rising, p, q),
            np.where(rising, q, p),
            complement=np.where(rising, rest, point),
        )

    def rate(x, other, rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, _rest, _ = solve(t[rows, None] + 1e-100j, x, other, rows)
            slope = np.abs(point.imag) * 1e100
            value = np.exp(beta_logpdf(np.clip(point.real, 0, 1), a[rows, None], b[rows, None]))
            return np.where(np.isfinite(value * slope), value * slope, 0.0)

    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    if density:
        return outer.expectation(rate, low, high, nodes)
    result = outer.expectation(probability, low, high, nodes)
    # Beyond the cuts the inner probability is 0 or 1. It is looked up well inside: at the very ends
    # rounding would leave the solution a hair inside (0, 1).
    beyond = np.stack([0.5 * low, 0.5 * (1.0 + high)], axis=-1)
    certain = probability(beyond, 1.0 - beyond, np.arange(lines)) > 0.5
    result += beta_cdf(low, outer.a, outer.b) * certain[:, 0]
    result += beta_cdf(1 - high, outer.b, outer.a) * certain[:, 1]
    return np.clip(result, 0.0, 1.0)
