"""The one quadrature rule: expectations over a Beta variable, to about 12 digits.

The density of logit X is log-concave and analytic. With logit X = centre + scale * sinh(tau) its
tails fall double-exponentially, so the plain trapezoid in tau converges at a geometric rate for all
shapes from 1e-3 to 1e9. Where an integrand has a kink (an inner probability reaches 0 or 1) the
range of tau is cut there, and the tanh-sinh rule takes care of the end points.
"""

from functools import lru_cache

import numpy as np
from scipy.special import expit, log1p

from skuncertain._special import beta_cdf, beta_logpdf, log_beta_density_at_mean

_DROP = 42.0  # exp(-42) = 6e-19: what lies further down does not count
N_NODES = 128
N_CUT = 160
_N_TABLE = 512
_FLAT = 10.0  # from this shape on the cuts change nothing above 1e-12


@lru_cache(maxsize=32)
def _tanh_sinh(n):
    """Nodes on (0, 1) crowded at both ends, and their weights."""
    u = np.linspace(-3.3, 3.3, n)
    fraction = expit(np.pi * np.sinh(u))
    return fraction, np.pi * np.cosh(u) * fraction * expit(-np.pi * np.sinh(u)) * (u[1] - u[0])


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
        low, high = self._bulk()
        centre = np.log((a + 0.5) / (b + 0.5)) - self.log_odds
        self.centre = np.minimum(np.maximum(centre, low), high)
        self.scale = np.minimum(np.sqrt(1 / (a + 0.5) + 1 / (b + 0.5)), 2.0)
        self.tau_low = np.arcsinh((low - self.centre) / self.scale)
        self.tau_high = np.arcsinh((high - self.centre) / self.scale)
        # A kink further out than this, where the density has dropped by 36 at least, does no harm.
        self.x_low, self.x_high = (expit(self.log_odds + 0.926 * end) for end in (low, high))

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

    def _bulk(self):
        """Where the log density has dropped by _DROP: Newton on a concave function."""
        reach = np.sqrt(2 * _DROP * (1 / self.a + 1 / self.b))
        d = np.stack([-reach, reach])
        for _ in range(6):
            logit = self.log_odds + d
            slope = self.a * expit(-logit) - self.b * expit(logit)
            step = (self._relative(d, self.a, self.b) + _DROP) / slope
            d = d - step
            if np.all(np.abs(step) < 1e-3 * np.abs(d)):
                break
        return d

    def keep_nodes(self, n=N_NODES):
        """Compute the nodes once; rules made by `take` have them, too."""
        self.kept_x, self.kept_other, self.kept_weight = self.nodes(n)
        return self

    def nodes(self, n=N_NODES, rows=slice(None)):
        """Nodes x, their complements 1 - x, and weights, each of shape (lines, n)."""
        if "kept_x" in self.__dict__ and self.kept_x.shape[1] == n:
            return self.kept_x[rows], self.kept_other[rows], self.kept_weight[rows]
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
        fraction, density = _tanh_sinh(n)
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

    def whole(self, low, high):
        """Whether (low, high) holds all of the mass that counts."""
        return (low <= self.x_low) & (high >= self.x_high)

    def expectation(self, g, low, high, nodes, stride=1):
        """E[g(X); low < X < high] for arrays `low`, `high` of shape (lines,).

        ``g(x, complement, rows)`` is smooth inside and may have a kink at `low` and `high`. Of the
        nodes only every `stride`-th is used: half of the digits for half of the price.
        """
        inside = self.whole(low, high)
        result = np.zeros(self.a.shape)
        for cut in (False, True):
            pick = ~inside if cut else inside
            if pick.all():
                rows = slice(None)  # the usual case, without copies
            elif pick.any():
                rows = np.flatnonzero(pick)
            else:
                continue
            if cut:
                x, other, weight = self.cut_nodes(low[rows], high[rows], rows, nodes[1] // stride)
            else:
                x, other, weight = (part[:, ::stride] for part in self.nodes(nodes[0], rows))
                weight = stride * weight if stride > 1 else weight
            result[rows] = np.einsum("ij,ij->i", weight, g(x, other, rows))
        return result


class BetaTable:
    """Cdf of Beta variables by interpolation: five times as fast as ``betainc``.

    In the coordinate of the rule a cdf is smooth whatever the shapes. Its values and its first two
    derivatives at 512 nodes give a polynomial of degree five between each two of them; the error is
    below 1e-12 for shapes of 0.1 and more.

    Parameters
    ----------
    rule : BetaRule
        Of the variables, one line each.
    """

    def __init__(self, rule):
        self.rule = rule
        self.step = (rule.tau_high - rule.tau_low) / (_N_TABLE - 1)
        tau = rule.tau_low[:, None] + self.step[:, None] * np.arange(_N_TABLE)
        every = slice(None)
        x, other, first = rule._at(tau, self.step[:, None], every)
        a, b, scale = (part[:, None] for part in (rule.a, rule.b, rule.scale))
        bend = (a * other - b * x) * scale * np.cosh(tau) + np.tanh(tau)
        second = first * bend * self.step[:, None]
        value = beta_cdf(x, a, b, complement=other)
        # Hermite: values, slopes and curvatures per step at both ends of every step
        f, g = value[:, :-1], value[:, 1:] - value[:, :-1]
        d, e = first[:, :-1], first[:, 1:]
        c, k = 0.5 * second[:, :-1], 0.5 * second[:, 1:]
        third = 10 * g - 6 * d - 4 * e - 3 * c + k
        fourth = -15 * g + 8 * d + 7 * e + 3 * c - 2 * k
        fifth = 6 * g - 3 * (d + e) - c + k
        self.terms = np.stack([f, d, c, third, fourth, fifth], axis=-1).reshape(-1, 6)

    def cdf(self, x, other, lines):
        """P(X <= x) for x of shape (n, nodes), where row i belongs to line ``lines[i]``."""
        rule = self.rule
        line = lines[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            logit = np.log(x) - np.log(other)
            d = (logit - (rule.log_odds + rule.centre)[line]) / rule.scale[line]
        place = (np.arcsinh(d) - rule.tau_low[line]) / self.step[line]
        place = np.minimum(np.maximum(place, 0.0), _N_TABLE - 1 - 1e-9)  # NaN stays
        step = np.where(np.isnan(place), 0.0, place).astype(np.intp)
        terms = np.take(self.terms, line * (_N_TABLE - 1) + step, axis=0)
        u = place - step
        value = terms[..., 5]
        for order in (4, 3, 2, 1, 0):
            value = value * u + terms[..., order]
        return value


def conditional_cdf(
    t, outer, inner, solve, low, high, *,
    density=False, nodes=(N_NODES, N_CUT), stride=1, table=None, chunk=512,
):  # fmt: skip
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
    stride : int
        Use every `stride`-th node only.
    table : tuple of BetaTable and ndarray of shape (lines,), optional
        Cdf of the inner variables, and the line of the table that a line here belongs to.
    chunk : int
        Number of lines worked on at once.

    Returns
    -------
    ndarray of shape (lines,)
        Probabilities or densities.
    """
    lines = t.shape[0]
    if lines > chunk:
        result, every = np.empty(lines), np.arange(lines)
        for start in range(0, lines, chunk):
            part = slice(start, start + chunk)
            result[part] = conditional_cdf(
                t[part],
                outer.take(part),
                tuple(shape[part] for shape in inner),
                lambda t, x, other, rows, own=every[part]: solve(t, x, other, own[rows]),
                low[part],
                high[part],
                density=density,
                nodes=nodes,
                stride=stride,
                table=None if table is None else (table[0], table[1][part]),
            )
        return result
    a, b = inner

    def probability(x, other, rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, rest, rising = solve(t[rows, None], x, other, rows)
        if table is None:
            return _inner_probability(point, rest, rising, a[rows, None], b[rows, None])
        point, rest = (np.minimum(np.maximum(part, 0.0), 1.0) for part in (point, rest))
        value = table[0].cdf(point, rest, table[1][rows])
        return _known(np.where(rising, value, 1.0 - value), rising)

    def rate(x, other, rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, _rest, _ = solve(t[rows, None] + 1e-100j, x, other, rows)
            slope = np.abs(point.imag) * 1e100
            value = np.exp(beta_logpdf(np.clip(point.real, 0, 1), a[rows, None], b[rows, None]))
            return np.where(np.isfinite(value * slope), value * slope, 0.0)

    # An inner cdf that is flat to the tenth order where the point reaches 0 or 1 has no kink there.
    flat = np.minimum(a, b) >= _FLAT
    low = np.where(flat, 0.0, np.minimum(np.maximum(low, 0.0), 1.0))
    high = np.where(flat, 1.0, np.minimum(np.maximum(high, 0.0), 1.0))
    result = outer.expectation(rate if density else probability, low, high, nodes, stride)
    if density:
        return result
    rows = np.flatnonzero(~outer.whole(low, high))
    if rows.size:
        # Beyond the cuts the inner probability is 0 or 1. It is looked up well inside: at the very
        # ends rounding would leave the solution a hair inside (0, 1).
        low, high, p, q = low[rows], high[rows], outer.a[rows], outer.b[rows]
        beyond = np.stack([0.5 * low, 0.5 * (1.0 + high)], axis=-1)
        certain = probability(beyond, 1.0 - beyond, rows) > 0.5
        result[rows] += beta_cdf(low, p, q) * certain[:, 0]
        result[rows] += beta_cdf(1 - high, q, p) * certain[:, 1]
    return np.minimum(np.maximum(result, 0.0), 1.0)


def _inner_probability(point, rest, rising, a, b):
    """P(X <= point) where the metric rises with X ~ Beta(a, b), P(X >= point) elsewhere."""
    if np.ndim(rising):
        below = np.where(rising, point, rest), np.where(rising, a, b), np.where(rising, b, a)
        value = beta_cdf(*below, complement=np.where(rising, rest, point))
    elif rising:
        value = beta_cdf(point, a, b, complement=rest)
    else:
        value = beta_cdf(rest, b, a, complement=point)
    return _known(value, rising)


def _known(value, rising):
    """Replace 0/0, where a node has underflowed: the point is at 0."""
    lost = np.isnan(value)
    return np.where(lost, np.where(rising, 0.0, 1.0), value) if lost.any() else value
