"""The one quadrature rule: expectations over Beta variables, to about 12 digits.

The density of logit X is log-concave and analytic. With logit X = centre + scale * sinh(tau) its
tails fall double-exponentially, so the plain trapezoid in tau converges at a geometric rate for all
shapes from 1e-3 to 1e9. Where an integrand has a kink (an inner probability reaches 0 or 1) the
range of tau is cut there, and the tanh-sinh rule takes care of the end points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import betaincinv, expit, ndtr, ndtri, zeta

from skuncertain._numerics.beta import (
    beta_cdf,
    beta_logpdf,
    log_beta_density_at_mean,
    logit_density_drop,
    odds_slope,
    scale_odds,
)

_DROP = 42.0  # exp(-42) = 6e-19: what lies further down does not count
N_NODES = 128
N_CUT = 160
_N_TABLE = 512
_FLAT = 10.0  # from this shape on the cuts change nothing above 1e-12
_CHUNK = 512  # lines worked on at once


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
        self.x_low = expit(self.log_odds + 0.926 * low)
        self.rest_high = expit(-self.log_odds - 0.926 * high)  # 1 - x: next to 1 it has the digits

    def take(self, index):
        """Rule for the lines `index`, without computing anything anew."""
        part = object.__new__(BetaRule)
        part.__dict__ = {name: value[index] for name, value in self.__dict__.items()}
        return part

    def _bulk(self):
        """Where the log density has dropped by _DROP: Newton on a concave function."""
        reach = np.sqrt(2 * _DROP * (1 / self.a + 1 / self.b))
        d = np.stack([-reach, reach])
        for _ in range(6):
            logit = self.log_odds + d
            slope = self.a * expit(-logit) - self.b * expit(logit)
            step = (logit_density_drop(d, self.a, self.b) + _DROP) / slope
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
        return self._at(low + step * np.arange(n), step, rows)

    def cut_nodes(self, low, high, rows, n=N_CUT):
        """Nodes on low < x < high only, crowded at both ends (tanh-sinh in tau).

        Both ends are pairs of arrays: x and 1 - x.
        """
        ends = self.tau_low[rows], self.tau_high[rows]
        start = np.clip(self._tau(*low, rows), *ends)[:, None]
        stop = np.clip(self._tau(*high, rows), *ends)[:, None]
        half = np.maximum(stop - start, 0.0) / 2
        fraction, density = _tanh_sinh(n)
        return self._at(start + 2 * half * fraction, 2 * half * density, rows)

    def _tau(self, x, other, rows):
        with np.errstate(divide="ignore"):
            logit = np.log(x) - np.log(other)
        return np.arcsinh((logit - self.log_odds[rows] - self.centre[rows]) / self.scale[rows])

    def _at(self, tau, step, rows):
        a, b, scale = (part[rows, None] for part in (self.a, self.b, self.scale))
        d = self.centre[rows, None] + scale * np.sinh(tau)
        logit = self.log_odds[rows, None] + d
        density = np.exp(self.log_density[rows, None] + logit_density_drop(d, a, b))
        return expit(logit), expit(-logit), density * scale * np.cosh(tau) * step

    def whole(self, low, high):
        """Whether (low, high) holds all of the mass that counts."""
        return (low[0] <= self.x_low) & (high[1] <= self.rest_high)

    def expectation(self, g, low, high, nodes, stride=1):
        """E[g(X); low < X < high] for pairs `low`, `high` (x and 1 - x) of arrays (lines,).

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
                ends = (tuple(part[rows] for part in end) for end in (low, high))
                x, other, weight = self.cut_nodes(*ends, rows, nodes[1] // stride)
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
        x, other, first = rule._at(tau, self.step[:, None], slice(None))
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
        rule, line = self.rule, lines[:, None]
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


@dataclass(frozen=True, eq=False)
class Integrand:
    """P(M <= t) given one of the two independent Beta variables that the metric M depends on.

    Given the outer variable x, the event M <= t says that the inner one lies on one side of a
    point, which is inside (0, 1) for ``low < x < high`` and at one end of it elsewhere. One
    integral over x is left, for each of many lines.

    Parameters
    ----------
    t, rows : ndarray of shape (lines,)
        Where to evaluate, and which row of the rule and of the shapes a line belongs to.
    outer : BetaRule
        Rule for the outer variables, one per row.
    inner : tuple of two ndarrays of shape (rows,)
        Shapes of the inner variables.
    solve : callable
        ``solve(t, x, 1 - x, lines)`` returns the point, its complement, and whether M rises with
        the inner variable. It accepts complex `t`: its derivative in t comes from an infinitesimal
        imaginary step.
    low, high : tuple of two ndarrays of shape (lines,)
        Where the point enters and leaves (0, 1): x and 1 - x. Half of the mass of a Beta with a
        small shape may be so near to an end that only one of the two can tell where.
    table : BetaTable, default=None
        Cdf of the inner variables.
    nodes : tuple of int
        Number of nodes of a whole range and of a cut one.
    stride : int, default=1
        Use every `stride`-th node only.
    """

    t: np.ndarray
    rows: np.ndarray
    outer: BetaRule
    inner: tuple[np.ndarray, np.ndarray]
    solve: Callable
    low: tuple[np.ndarray, np.ndarray]
    high: tuple[np.ndarray, np.ndarray]
    table: BetaTable | None = None
    nodes: tuple[int, int] = (N_NODES, N_CUT)
    stride: int = 1

    def cdf(self):
        """P(M <= t) of every line."""
        result = np.empty(self.t.shape)
        for lines in self._chunks():
            outer, low, high = self._range(lines)
            given = partial(self._probability, lines)
            value = outer.expectation(given, low, high, self.nodes, self.stride)
            cut = np.flatnonzero(~outer.whole(low, high))
            if cut.size:
                # Beyond the cuts the inner probability is 0 or 1. It is looked up well inside: at
                # the very ends rounding would leave the solution a hair inside (0, 1).
                (low, low_), (high, high_) = ([part[cut] for part in end] for end in (low, high))
                p, q = outer.a[cut], outer.b[cut]
                beyond = np.stack([0.5 * low, 1.0 - 0.5 * high_], axis=-1)
                other = np.stack([1.0 - 0.5 * low, 0.5 * high_], axis=-1)
                certain = given(beyond, other, cut) > 0.5
                value[cut] += beta_cdf(low, p, q, complement=low_) * certain[:, 0]
                value[cut] += beta_cdf(high_, q, p, complement=high) * certain[:, 1]
            result[lines] = value
        return np.minimum(np.maximum(result, 0.0), 1.0)

    def density(self):
        """Density of M at t of every line."""
        result = np.empty(self.t.shape)
        for lines in self._chunks():
            outer, *ends = self._range(lines)
            given = partial(self._rate, lines)
            result[lines] = outer.expectation(given, *ends, self.nodes, self.stride)
        return result

    def _chunks(self):
        every = np.arange(self.t.size)
        return (every[start : start + _CHUNK] for start in range(0, every.size, _CHUNK))

    def _range(self, lines):
        """Rule of the outer variable, and the ends of the range without kinks."""
        rows = self.rows[lines]
        # An inner cdf that is flat to the tenth order where the point reaches 0 or 1 has no kink.
        flat = np.minimum(self.inner[0][rows], self.inner[1][rows]) >= _FLAT
        ends = [
            tuple(
                np.where(flat, certain, np.minimum(np.maximum(part[lines], 0.0), 1.0))
                for part, certain in zip(end, whole, strict=True)
            )
            for end, whole in ((self.low, (0.0, 1.0)), (self.high, (1.0, 0.0)))
        ]
        return self.outer.take(rows), *ends

    def _probability(self, lines, x, other, part):
        """P(M <= t | x) for some of the lines."""
        lines = lines[part]
        rows = self.rows[lines]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, rest, rising = self.solve(self.t[lines, None], x, other, lines)
        if self.table is None:
            a, b = (shape[rows, None] for shape in self.inner)
            return _inner_probability(point, rest, rising, a, b)
        point, rest = (np.minimum(np.maximum(part, 0.0), 1.0) for part in (point, rest))
        value = self.table.cdf(point, rest, rows)
        return _known(np.where(rising, value, 1.0 - value), rising)

    def _rate(self, lines, x, other, part):
        """Density of M at t given x, for some of the lines."""
        lines = lines[part]
        a, b = (shape[self.rows[lines], None] for shape in self.inner)
        t = self.t[lines, None]
        # Small beside t, whatever its size, so that the error is of the order of rounding
        step = np.maximum(1e-10 * np.abs(t), 1e-290)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            point, rest, _ = self.solve(t + 1j * step, x, other, lines)
            inside = (np.minimum(np.maximum(part.real, 0.0), 1.0) for part in (point, rest))
            value = np.exp(beta_logpdf(next(inside), a, b, complement=next(inside)))
            value = value * (np.abs(point.imag) / step)
        return np.where(np.isfinite(value), value, 0.0)


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


def combine_to_one_peak(variables):
    """Whether a smooth combination of Beta variables surely has one peak, for each row.

    The sum of a one-peaked variable and of log-concave ones has one peak (Ibragimov). A Beta is
    log-concave if both shapes are at least 1, and has two peaks if both are smaller.
    """
    smaller = np.stack([np.minimum(a, b) for a, b in variables])
    larger = np.stack([np.maximum(a, b) for a, b in variables])
    return (np.sum(smaller < 1, axis=0) <= 1) & np.all(larger >= 1, axis=0)


def beta_moments(a, b, odds=1.0):
    """Mean and variance of M with `odds` times the odds of X ~ Beta(a, b), for arrays (rows,)."""
    with np.errstate(invalid="ignore"):
        mean = a / (a + b)
        variance = mean * (b / (a + b)) / (a + b + 1)
    proper = np.flatnonzero((a > 0) & (b > 0)) if odds != 1 else np.empty(0)
    for start in range(0, proper.size, 4096):
        part = proper[start : start + 4096]
        with np.errstate(invalid="ignore"):
            x, _, weight = BetaRule(a[part], b[part]).nodes()
        value = scale_odds(x, odds)
        centre = (weight * value).sum(axis=1) / weight.sum(axis=1)
        spread = (weight * (value - centre[:, None]) ** 2).sum(axis=1)
        # Shapes so different that the rule fails: next to an end, where odds are linear.
        slope = odds_slope(mean[part], odds)
        close = ~np.isfinite(centre)
        variance[part] = np.where(close, variance[part] * slope**2, spread)
        mean[part] = np.where(close, scale_odds(mean[part], odds), centre)
    return mean, variance


def beta_skewness(a, b, odds=1.0):
    """Skewness of M with `odds` times the odds of X ~ Beta(a, b), (rows,); NaN if constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = 2 * (b - a) / (a + b + 2) * np.sqrt((a + b + 1) / a / b)
    skewness[(a == 0) | (b == 0)] = np.nan
    proper = np.flatnonzero((a > 0) & (b > 0)) if odds != 1 else np.empty(0)
    for start in range(0, proper.size, 4096):
        part = proper[start : start + 4096]
        with np.errstate(invalid="ignore"):
            x, _, weight = BetaRule(a[part], b[part]).nodes()
        found = _skewness(scale_odds(x, odds), weight / weight.sum(axis=1, keepdims=True))
        # Where the rule fails M is a multiple of X, or 1 - M of 1 - X: see `beta_moments`.
        skewness[part] = np.where(np.isfinite(found), found, skewness[part])
    return skewness


def power_skewness(*factors):
    """Skewness of a product of factors ((a, b), r, s): u**r (1 - u)**s, which is u, 1/u or odds.

    From the relative steps E[M**(k+1)] / E[M**k] of the moments, which are rational; differences of
    the moments themselves would cancel. Infinite where only the third one is, NaN where the second
    one is infinite, too.
    """
    steps, most = [0.0, 0.0], np.inf
    for (a, b), r, s in factors:
        if (r, s) == (-1, 1):  # the odds of 1 - u
            a, b, r, s = b, a, 1, -1
        most = np.minimum(most, {(1, 0): np.inf, (-1, 0): a, (1, -1): b}[r, s])  # moments below
        for k in (0, 1):
            with np.errstate(divide="ignore", invalid="ignore"):
                own = {
                    (1, 0): b / ((a + b + k + 1) * (a + k)),
                    (-1, 0): b / ((a - k - 2) * (a + b - k - 1)),
                    (1, -1): (a + b - 1) / ((b - k - 2) * (a + k)),
                }[r, s]
                steps[k] = steps[k] + own + steps[k] * own
    first, second = steps
    with np.errstate(invalid="ignore"):
        third = second - first + first**2 + 2 * first * second + first**2 * second
        found = third / np.where(first > 0, first, np.nan) ** 1.5
    return np.where(most > 3, found, np.where(most > 2, np.inf, np.nan))


def _skewness(values, weight):
    """Skewness of values (rows, n) with weights that sum to 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        away = values - (weight * values).sum(axis=1, keepdims=True)
        return (weight * away**3).sum(axis=1) / (weight * away**2).sum(axis=1) ** 1.5


def moments_by_rule(forward, variables, n_nodes):
    """Mean and variance by the product of one-dimensional rules, one row at a time."""
    mean, variance = np.empty((2, variables[0][0].size))
    for row, values, weight in _product_rule(forward, variables, n_nodes):
        mean[row] = (weight * values).sum() / weight.sum()
        variance[row] = (weight * (values - mean[row]) ** 2).sum() / weight.sum()
    return mean, variance


def skewness_by_rule(forward, variables, n_nodes):
    """Skewness by the product of one-dimensional rules, one row at a time."""
    skewness = np.empty(variables[0][0].size)
    for row, values, weight in _product_rule(forward, variables, n_nodes):
        weight = np.broadcast_to(weight, values.shape).ravel()[None]
        skewness[row] = _skewness(values.ravel()[None], weight / weight.sum())[0]
    return skewness


def _product_rule(forward, variables, n_nodes):
    """Yield (row, values, weights) at the nodes of the product of one-dimensional rules."""
    rules = [BetaRule(a, b) for a, b in variables]
    for row in range(variables[0][0].size):
        arguments, weight = [], np.ones(1)
        for axis, (rule, n) in enumerate(zip(rules, n_nodes, strict=True)):
            x, x_, w = (part[0] for part in rule.nodes(n, rows=[row]))
            shape = [1] * len(rules)
            shape[axis] = -1
            arguments += [x.reshape(shape), x_.reshape(shape)]
            weight = weight[..., None] * w
        yield row, forward(*arguments, row), weight[0]


class Link:
    """Monotone map between the range of a metric and the real line."""

    def __init__(self, low, high):
        self.low, self.high = float(low), float(high)
        self.around_zero = self.low < 0 < self.high  # 0 stays 0: floats resolve values next to it
        # Beyond this distance from 0 on the line values are the ends of the range.
        self.limit = 708.0
        self.finest = 1e-290 if self.around_zero else 1.0

    def inside(self, m):
        """Whether values are strictly inside the range."""
        return (m > self.low) & (m < self.high)

    def clip(self, m):
        """Keep rounded values strictly inside the range."""
        return np.clip(m, np.nextafter(self.low, np.inf), np.nextafter(self.high, -np.inf))

    def to_line(self, m):
        """From the range to the real line: a logit, or a logarithm if there is no upper end."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if np.isinf(self.low):
                return np.arcsinh(m)
            if np.isinf(self.high):
                return np.log(m - self.low)
            if self.around_zero:
                return np.log1p(-m / self.low) - np.log1p(-m / self.high)
            return np.log((m - self.low) / (self.high - m))

    def to_range(self, e):
        """From the real line to the range."""
        if np.isinf(self.low):
            return np.sinh(e)
        if np.isinf(self.high):
            return self.low + np.exp(e)
        if self.around_zero:
            end, other = np.where(e < 0, self.low, self.high), np.where(e < 0, self.high, self.low)
            return end * other * np.expm1(-np.abs(e)) / (end * np.exp(-np.abs(e)) - other)
        return self.low + (self.high - self.low) * expit(e)


class Influence:
    """How far each variable moves a metric, and quantiles to start from.

    Parameters
    ----------
    function : callable
        Takes (x, 1 - x) for every variable, and the rows; returns the metric on an unbounded scale.
    variables : list of tuples of two ndarrays of shape (rows,)
        Shapes of the variables.
    """

    def __init__(self, function, variables):
        self.function, self.variables = function, variables
        # Centre and standard deviation of every logit, good enough for a start
        centres = [
            (np.log((a + 0.5) / (b + 0.5)), np.sqrt(zeta(2, a) + zeta(2, b))) for a, b in variables
        ]

        def at(shifted, sign):
            arguments = []
            for index, (centre, sd) in enumerate(centres):
                logit = centre + sign * sd if index == shifted else centre
                arguments += [expit(logit), expit(-logit)]
            return function(*arguments, slice(None))

        with np.errstate(all="ignore"):
            self.centre = at(-1, 0.0)
            signed = [0.5 * (at(k, 1.0) - at(k, -1.0)) for k in range(len(centres))]
            self.moves = [np.abs(move) for move in signed]
            self.scale = np.sqrt(sum(move * move for move in signed))
            self.direction = [move / self.scale for move in signed]

    def quantile(self, p, rows):
        """Value at the likeliest point of the boundary of a half-space with probability `p`.

        With normal variables and a linear metric this is its quantile. Used as a start only, so
        the rare wrong values of scipy's quantile do no harm.
        """
        z, arguments = ndtri(p), []
        with np.errstate(all="ignore"):
            for (a, b), direction in zip(self.variables, self.direction, strict=True):
                shift, p, q = z * direction[rows], a[rows], b[rows]
                arguments += [betaincinv(p, q, ndtr(shift)), betaincinv(q, p, ndtr(-shift))]
            guess = self.function(*arguments, rows)
            return np.where(np.isfinite(guess), guess, self.centre[rows] + z * self.scale[rows])
