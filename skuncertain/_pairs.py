"""Metrics of two independent Beta variables: their posterior is one integral.

A family knows its stack of shapes and answers ``cdf(t, rows)`` and ``density(t, rows)`` for pairs
of a value and a row of the stack; `QuadraturePosterior` turns that into a posterior.
"""

from functools import cached_property

import numpy as np
from scipy.special import betaincinv, betaln, expit, ndtr, ndtri, zeta

from skuncertain._quadrature import N_NODES, BetaRule, conditional_cdf


class Link:
    """Monotone map between the range of a metric and the real line."""

    def __init__(self, low, high):
        self.low, self.high = float(low), float(high)

    def to_line(self, m):
        """From the range to the real line: a logit, or a logarithm if there is no upper end."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if np.isinf(self.high):
                return np.log(m - self.low)
            return np.log((m - self.low) / (self.high - m))

    def to_range(self, e):
        """From the real line to the range."""
        if np.isinf(self.high):
            return self.low + np.exp(e)
        return self.low + (self.high - self.low) * expit(e)


# --------------------------------------------------------------------------------------------------
# Functions of two independent Beta variables u and v


class _Difference:
    """M = u - v: informedness (recall, fpr), markedness (precision, false omission rate)."""

    rising_u, rising_v = True, False

    @staticmethod
    def forward(u, u_, v, v_):
        return u - v

    @staticmethod
    def solve_u(t, v, v_):
        return v + t, v_ - t

    @staticmethod
    def solve_v(t, u, u_):
        return u - t, u_ + t

    @staticmethod
    def cuts_v(t):
        return -t, 1 - t

    @staticmethod
    def cuts_u(t):
        return t, 1 + t

    @staticmethod
    def moments(u, v):
        mean = [a / (a + b) for a, b in (u, v)]
        variance = sum(a * b / ((a + b) ** 2 * (a + b + 1)) for a, b in (u, v))
        return mean[0] - mean[1], variance


class _Mean(_Difference):
    """M = (1 + u - v) / 2: balanced accuracy, macro precision of two classes."""

    @staticmethod
    def forward(u, u_, v, v_):
        return 0.5 * (u + v_)

    @staticmethod
    def solve_u(t, v, v_):
        return v + (2 * t - 1), v_ - (2 * t - 1)

    @staticmethod
    def solve_v(t, u, u_):
        return u - (2 * t - 1), u_ + (2 * t - 1)

    @staticmethod
    def cuts_v(t):
        return 1 - 2 * t, 2 - 2 * t

    @staticmethod
    def cuts_u(t):
        return 2 * t - 1, 2 * t

    @staticmethod
    def moments(u, v):
        mean, variance = _Difference.moments(u, v)
        return 0.5 * (1 + mean), 0.25 * variance


class _Ratio:
    """M = u / v: likelihood ratios."""

    rising_u, rising_v = True, False

    @staticmethod
    def forward(u, u_, v, v_):
        with np.errstate(divide="ignore", over="ignore"):
            return u / v

    @staticmethod
    def solve_u(t, v, v_):
        return t * v, 1 - t * v

    @staticmethod
    def solve_v(t, u, u_):
        return u / t, 1 - u / t

    @staticmethod
    def cuts_v(t):
        return np.zeros_like(t), 1 / t

    @staticmethod
    def cuts_u(t):
        return np.zeros_like(t), t

    @staticmethod
    def moments(u, v):
        return _power_moments((u, 1, 0), (v, -1, 0))


class _Threshold:
    """M = 1 / (1 + sqrt(u / v)): the prevalence threshold, falling in the likelihood ratio."""

    rising_u, rising_v = False, True

    @staticmethod
    def forward(u, u_, v, v_):
        return np.sqrt(v) / (np.sqrt(u) + np.sqrt(v))

    @staticmethod
    def solve_u(t, v, v_):
        return _Ratio.solve_u(((1 - t) / t) ** 2, v, v_)

    @staticmethod
    def solve_v(t, u, u_):
        return _Ratio.solve_v(((1 - t) / t) ** 2, u, u_)

    @staticmethod
    def cuts_v(t):
        return _Ratio.cuts_v(((1 - t) / t) ** 2)

    @staticmethod
    def cuts_u(t):
        return _Ratio.cuts_u(((1 - t) / t) ** 2)

    moments = None  # by quadrature


class _RootProduct:
    """M = sqrt(u v): G-mean (recall, specificity)."""

    rising_u, rising_v = True, True

    @staticmethod
    def forward(u, u_, v, v_):
        return np.sqrt(u * v)

    @staticmethod
    def solve_u(t, v, v_):
        return t * t / v, 1 - t * t / v

    solve_v = solve_u

    @staticmethod
    def cuts_v(t):
        return t * t, np.ones_like(t)

    cuts_u = cuts_v

    @staticmethod
    def moments(u, v):
        return _power_moments((u, 0.5, 0), (v, 0.5, 0))


class _OddsRatio:
    """M = odds(u) / odds(v): the diagnostic odds ratio (recall, fpr)."""

    rising_u, rising_v = True, False

    @staticmethod
    def forward(u, u_, v, v_):
        with np.errstate(divide="ignore", over="ignore"):
            return (u / u_) * (v_ / v)

    @staticmethod
    def solve_u(t, v, v_):
        return t * v / (t * v + v_), v_ / (t * v + v_)

    @staticmethod
    def solve_v(t, u, u_):
        return u / (u + t * u_), t * u_ / (u + t * u_)

    @staticmethod
    def cuts_v(t):
        return np.zeros_like(t), np.ones_like(t)

    cuts_u = cuts_v

    @staticmethod
    def moments(u, v):
        return _power_moments((u, 1, -1), (v, -1, 1))


class FBeta:
    """F-beta of u = Jaccard index and v = fp / (fp + fn), which are independent."""

    rising_u, rising_v, solve_v, moments = True, None, None, None

    def __init__(self, beta):
        self.beta = beta

    def _weight(self, v, v_):
        square = self.beta**2
        return (square * v_ + v) / (1 + square)

    def forward(self, u, u_, v, v_):
        return u / (u + u_ * self._weight(v, v_))

    def solve_u(self, t, v, v_):
        weight = self._weight(v, v_)
        return t * weight / (t * weight + 1 - t), (1 - t) / (t * weight + 1 - t)

    @staticmethod
    def cuts_v(t):
        return np.zeros_like(t), np.ones_like(t)


class _GScore(FBeta):
    """sqrt(precision * recall) of u = Jaccard index and v = fp / (fp + fn)."""

    def __init__(self):
        pass

    def forward(self, u, u_, v, v_):
        return u / np.sqrt((u + u_ * v) * (u + u_ * v_))

    def solve_u(self, t, v, v_):
        k = (1 - t * t) / (t * t)
        ratio = 2 * k / (1 + np.sqrt(1 + 4 * v * v_ * k))  # (1 - u) / u
        return 1 / (1 + ratio), ratio / (1 + ratio)


class OddsDifference:
    """M = f(u) - g(v), where f and g multiply the odds: differences of F1, for example.

    Parameters
    ----------
    odds_u, odds_v : float
        The factors; 1 for a proportion, 2 for F1 through the Jaccard index.
    """

    rising_u, rising_v, moments = True, False, None

    def __init__(self, odds_u, odds_v):
        self.odds_u, self.odds_v = odds_u, odds_v

    @staticmethod
    def _scaled(x, x_, odds):
        """Value with `odds` times the odds of x, and its complement."""
        total = odds * x + x_
        return odds * x / total, x_ / total

    def forward(self, u, u_, v, v_):
        # of the complements where they are smaller, so that small differences keep their digits
        (p, p_), (q, q_) = self._scaled(u, u_, self.odds_u), self._scaled(v, v_, self.odds_v)
        return np.where(np.minimum(p, q) < 0.5, p - q, q_ - p_)

    def solve_u(self, t, v, v_):
        q, q_ = self._scaled(v, v_, self.odds_v)
        return self._scaled(q + t, q_ - t, 1 / self.odds_u)

    def solve_v(self, t, u, u_):
        p, p_ = self._scaled(u, u_, self.odds_u)
        return self._scaled(p - t, p_ + t, 1 / self.odds_v)

    def cuts_v(self, t):
        ends = (np.clip(end, 0.0, 1.0) for end in (-t, 1 - t))
        return tuple(self._scaled(end, 1 - end, 1 / self.odds_v)[0] for end in ends)

    def cuts_u(self, t):
        ends = (np.clip(end, 0.0, 1.0) for end in (t, 1 + t))
        return tuple(self._scaled(end, 1 - end, 1 / self.odds_u)[0] for end in ends)


class _Discordance:
    """M = v (2 u - 1): v is the share of rows on which two models disagree, u who is right."""

    rising_u = True

    @staticmethod
    def rising_v(u):
        return u > 0.5

    @staticmethod
    def forward(u, u_, v, v_):
        return v * (u - u_)

    @staticmethod
    def solve_u(t, v, v_):
        return 0.5 * (1 + t / v), 0.5 * (1 - t / v)

    @staticmethod
    def solve_v(t, u, u_):
        return t / (u - u_), 1 - t / (u - u_)

    @staticmethod
    def cuts_v(t):
        return np.abs(t), np.ones_like(t)

    @staticmethod
    def cuts_u(t):
        middle = 0.5 * (1 + t)
        return np.where(t < 0, 0.0, middle), np.where(t < 0, middle, 1.0)

    @staticmethod
    def moments(u, v):
        (a, b), (c, d) = u, v
        mean = (a - b) / (a + b) * c / (c + d)
        square_u = 1 - 4 * a * b / ((a + b) * (a + b + 1))
        square_v = c * (c + 1) / ((c + d) * (c + d + 1))
        return mean, square_u * square_v - mean**2


OPERATIONS = {
    "difference": _Difference(),
    "discordance": _Discordance(),
    "mean": _Mean(),
    "ratio": _Ratio(),
    "threshold": _Threshold(),
    "root_product": _RootProduct(),
    "odds_ratio": _OddsRatio(),
    "g_score": _GScore(),
}


def _power_moments(*factors):
    """Mean and variance of a product of u**r (1-u)**s; infinite where the integral diverges."""
    moments = []
    for k in (1, 2):
        log_moment = 0.0
        for (a, b), r, s in factors:
            finite = (a + k * r > 0) & (b + k * s > 0)
            p, q = np.where(finite, a + k * r, 1.0), np.where(finite, b + k * s, 1.0)
            log_moment = log_moment + np.where(finite, betaln(p, q) - betaln(a, b), np.inf)
        moments.append(np.exp(log_moment))
    mean, square = moments
    with np.errstate(invalid="ignore"):
        variance = np.where(np.isfinite(square), np.maximum(square - mean**2, 0.0), np.inf)
    return mean, variance


def _spread(a, b):
    """Centre and standard deviation of the logit of Beta(a, b), good enough for a start."""
    return np.log((a + 0.5) / (b + 0.5)), np.sqrt(zeta(2, a) + zeta(2, b))


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
        centres = [_spread(a, b) for a, b in variables]
        everything = slice(None)

        def at(shifted, sign):
            arguments = []
            for index, (centre, sd) in enumerate(centres):
                logit = centre + sign * sd if index == shifted else centre
                arguments += [expit(logit), expit(-logit)]
            return function(*arguments, everything)

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
                shift = z * direction[rows]
                arguments.append(betaincinv(a[rows], b[rows], ndtr(shift)))
                arguments.append(betaincinv(b[rows], a[rows], ndtr(-shift)))
            guess = self.function(*arguments, rows)
            return np.where(np.isfinite(guess), guess, self.centre[rows] + z * self.scale[rows])


class Pair:
    """A metric of two independent Beta variables.

    Parameters
    ----------
    operation : object
        One of ``OPERATIONS`` or an `FBeta`.
    u, v : tuple of two ndarrays of shape (rows,)
        Shapes of the two variables.
    link : Link
        Maps the range of the metric to the real line.
    """

    def __init__(self, operation, u, v, link):
        self.operation, self.u, self.v, self.link = operation, u, v, link
        self.size = u[0].size
        self.influence = Influence(self._on_line, [u, v])
        self.scale = self.influence.scale
        # The outer variable is the one that moves the metric less: seen from the other one, the
        # inner probability would be a step between two nodes.
        self.outer_is_v = np.ones(self.size, dtype=bool)
        if operation.solve_v is not None:
            self.outer_is_v = self.influence.moves[1] <= self.influence.moves[0]

    def _on_line(self, u, u_, v, v_, rows):
        return self.link.to_line(self.operation.forward(u, u_, v, v_))

    @cached_property
    def _rule_u(self):
        return _kept(BetaRule(*self.u))

    @cached_property
    def _rule_v(self):
        return _kept(BetaRule(*self.v))

    def _evaluate(self, t, rows, density):
        result = np.empty(t.shape)
        op = self.operation
        for outer_is_v in (True, False):
            part = np.flatnonzero(self.outer_is_v[rows] == outer_is_v)
            if part.size == 0:
                continue
            index, at = rows[part], t[part]
            u, v = tuple(s[index] for s in self.u), tuple(s[index] for s in self.v)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                low, high = op.cuts_v(at) if outer_is_v else op.cuts_u(at)
            if outer_is_v:
                solve = lambda t, x, x_, _: (*op.solve_u(t, x, x_), op.rising_u)  # noqa: E731
            else:
                rising = op.rising_v if callable(op.rising_v) else lambda _: op.rising_v
                solve = lambda t, x, x_, _: (*op.solve_v(t, x, x_), rising(x))  # noqa: E731,B023
            outer, inner = (self._rule_v, u) if outer_is_v else (self._rule_u, v)
            outer = outer.take(index)
            result[part] = conditional_cdf(at, outer, inner, solve, low, high, density=density)
        return result

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.influence.quantile(p, rows)

    def cdf(self, t, rows):
        """P(M <= t) for values `t` strictly inside the range."""
        return self._evaluate(t, rows, density=False)

    def density(self, t, rows):
        """Density at values `t` strictly inside the range."""
        return self._evaluate(t, rows, density=True)

    def moments(self):
        """Mean and variance of every row."""
        if self.operation.moments is not None:
            return self.operation.moments(self.u, self.v)
        return moments_by_rule(
            lambda u, u_, v, v_, _: self.operation.forward(u, u_, v, v_),
            [self.u, self.v],
            [128, 128],
        )

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        u, v = (rng.beta(*shapes, size=(size, self.size)) for shapes in (self.u, self.v))
        return self.operation.forward(u, 1 - u, v, 1 - v)


def _kept(rule):
    """Rule that has its nodes at hand, unless they are too many."""
    return rule.keep_nodes() if rule.a.size * N_NODES <= 2**21 else rule


def moments_by_rule(forward, variables, n_nodes):
    """Mean and variance by the product of one-dimensional rules, one row at a time."""
    size = variables[0][0].size
    rules = [BetaRule(a, b) for a, b in variables]
    mean, variance = np.empty(size), np.empty(size)
    for row in range(size):
        arguments, weight = [], np.ones(1)
        for axis, (rule, n) in enumerate(zip(rules, n_nodes, strict=True)):
            x, x_, w = (part[0] for part in rule.nodes(n, rows=[row]))
            shape = [1] * len(rules)
            shape[axis] = -1
            arguments += [x.reshape(shape), x_.reshape(shape)]
            weight = weight[..., None] * w
        weight = weight[0]
        values = forward(*arguments, row)
        mean[row] = (weight * values).sum() / weight.sum()
        variance[row] = (weight * (values - mean[row]) ** 2).sum() / weight.sum()
    return mean, variance
