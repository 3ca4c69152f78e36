"""Metrics of two independent Beta variables: their posterior is one integral.

A family knows its stack of shapes and answers ``cdf(t, rows)`` and ``density(t, rows)`` for pairs
of a value and a row of the stack; `IntegralPosterior` turns that into a posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaln

from skuncertain._numerics.quadrature import (
    N_CUT,
    N_NODES,
    BetaRule,
    Influence,
    Integrand,
    beta_moments,
    beta_skewness,
    combine_to_one_peak,
    moments_by_rule,
    power_skewness,
    skewness_by_rule,
)

# Nodes of a whole range and of a cut one: for shapes of 1 and more, below, and far below. Measured
# with counts of 0 to 1e9 and priors of 0.02 to 1/2, they leave an error of the cdf of at most
# 3e-10; for an odds ratio 6e-9 with shapes of 0.05 and 4e-7 with 0.02.
_FINER_BELOW = (1.0, 0.3)
_NODES = ((N_NODES, N_CUT), (3 * N_NODES, 3 * N_CUT), (6 * N_NODES, 6 * N_CUT))


@dataclass(frozen=True, eq=False)
class Inverse:
    """One variable (the inner one) as a function of the metric's value t and of the other, x.

    Parameters
    ----------
    solve : callable
        ``solve(t, x, 1 - x)`` returns the inner variable and its complement.
    cuts : callable
        ``cuts(t)`` returns the two values of x between which the solution is inside (0, 1), each
        with its complement.
    rising : bool or callable
        Whether the metric rises with the inner variable; a function of x where it depends on it.
    """

    solve: Callable
    cuts: Callable
    rising: bool | Callable

    def __call__(self, t, x, x_, _lines):
        """What an `Integrand` asks for."""
        return (*self.solve(t, x, x_), self.rising(x) if callable(self.rising) else self.rising)

    def of(self, change, rising):
        """Inverse of a metric that has the value `t` where this one has ``change(t)``."""
        return Inverse(
            lambda t, x, x_: self.solve(change(t), x, x_), lambda t: self.cuts(change(t)), rising
        )


@dataclass(frozen=True, eq=False)
class Operation:
    """A function of two independent Beta variables u and v.

    Parameters
    ----------
    key : tuple
        Arguments of `operation` that give it.
    forward : callable
        ``forward(u, 1 - u, v, 1 - v)``.
    u_given_v, v_given_u : Inverse
        Solutions for one of them; the second may be missing.
    moments : callable, default=None
        ``moments(u, v)`` returns mean and variance from the shapes; by quadrature if missing.
    skewness : callable, default=None
        ``skewness(u, v)`` likewise.
    """

    key: tuple
    forward: Callable
    u_given_v: Inverse
    v_given_u: Inverse | None = None
    moments: Callable | None = None
    skewness: Callable | None = None

    def __reduce__(self):
        return operation, self.key


def operation(name, *parameters):
    """Operation of that name; some have parameters."""
    return _OPERATIONS[name](*parameters) if parameters else _OPERATIONS[name]


def _from_zero(t):
    return np.zeros_like(t), np.ones_like(t)


def _to_one(t):
    return np.ones_like(t), np.zeros_like(t)


def _everywhere(t):
    return _from_zero(t), _to_one(t)


def _difference_moments(u, v):
    (mean_u, variance_u), (mean_v, variance_v) = beta_moments(*u), beta_moments(*v)
    return mean_u - mean_v, variance_u + variance_v


def _difference_skewness(u, v):
    """Third cumulants of independent variables are subtracted."""
    thirds = [beta_skewness(*x) * beta_moments(*x)[1] ** 1.5 for x in (u, v)]
    return (thirds[0] - thirds[1]) / _difference_moments(u, v)[1] ** 1.5


def _mean_moments(u, v):
    mean, variance = _difference_moments(u, v)
    return 0.5 * (1 + mean), 0.25 * variance


def _discordance_moments(u, v):
    (a, b), (c, d) = u, v
    mean = (a - b) / (a + b) * c / (c + d)
    square_u = 1 - 4 * a * b / ((a + b) * (a + b + 1))
    square_v = c * (c + 1) / ((c + d) * (c + d + 1))
    return mean, square_u * square_v - mean**2


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
        return mean, np.where(np.isfinite(square), np.maximum(square - mean**2, 0.0), np.inf)


# A small shape piles up mass next to 0 and 1. Every solution and its complement are written with
# that of x and 1 - x which is the smaller: subtracting it from 1 would lose its digits.


def _shift(t, above, below, x, x_):
    """Return x + t and its complement; `above` is 1 + t, `below` is 1 - t."""
    low = x < 0.5
    return np.where(low, t + x, above - x_), np.where(low, below - x, x_ - t)


_U_OF_DIFFERENCE = Inverse(
    lambda t, v, v_: _shift(t, 1 + t, 1 - t, v, v_), lambda t: ((-t, 1 + t), (1 - t, t)), True
)
_V_OF_DIFFERENCE = Inverse(
    lambda t, u, u_: _shift(-t, 1 - t, 1 + t, u, u_), lambda t: ((t, 1 - t), (1 + t, -t)), False
)
_U_OF_MEAN = Inverse(  # of (1 + u - v) / 2
    lambda t, v, v_: _shift(2 * t - 1, 2 * t, 2 * (1 - t), v, v_),
    lambda t: ((1 - 2 * t, 2 * t), (2 * (1 - t), 2 * t - 1)),
    True,
)
_V_OF_MEAN = Inverse(
    lambda t, u, u_: _shift(1 - 2 * t, 2 * (1 - t), 2 * t, u, u_),
    lambda t: ((2 * t - 1, 2 * (1 - t)), (2 * t, 1 - 2 * t)),
    False,
)
_U_OF_RATIO = Inverse(
    lambda t, v, v_: (t * v, np.where(v < 0.5, 1 - t * v, (1 - t) + t * v_)),
    lambda t: (_from_zero(t), (1 / t, 1 - 1 / t)),
    True,
)
_V_OF_RATIO = Inverse(
    lambda t, u, u_: (u / t, np.where(u < 0.5, 1 - u / t, ((t - 1) + u_) / t)),
    lambda t: (_from_zero(t), (t, 1 - t)),
    False,
)
_ROOT = Inverse(
    lambda t, x, x_: (t / x * t, np.where(x < 0.5, 1 - t / x * t, ((1 - t) * (1 + t) - x_) / x)),
    lambda t: ((t * t, (1 - t) * (1 + t)), _to_one(t)),
    True,
)


def _solve_g_score(t, v, v_):
    k = (1 - t * t) / (t * t)
    ratio = 2 * k / (1 + np.sqrt(1 + 4 * v * v_ * k))  # (1 - u) / u
    return 1 / (1 + ratio), ratio / (1 + ratio)


def _f_beta(beta):
    """F-beta of u = Jaccard index and v = fp / (fp + fn), which are independent."""

    def weight(v, v_):
        return (beta**2 * v_ + v) / (1 + beta**2)

    def solve(t, v, v_):
        total = t * weight(v, v_) + 1 - t
        return t * weight(v, v_) / total, (1 - t) / total

    return Operation(
        key=("f_beta", beta),
        forward=lambda u, u_, v, v_: u / (u + u_ * weight(v, v_)),
        u_given_v=Inverse(solve, _everywhere, True),
    )


def _scaled(x, x_, odds):
    """Value with `odds` times the odds of x, and its complement."""
    total = odds * x + x_
    return odds * x / total, x_ / total


def _odds_difference(odds_u, odds_v):
    """f(u) - g(v), where f and g multiply the odds: by 1 for a proportion, by 2 for F1."""

    def forward(u, u_, v, v_):
        # of the complements where they are smaller, so that small differences keep their digits
        (p, p_), (q, q_) = _scaled(u, u_, odds_u), _scaled(v, v_, odds_v)
        return np.where(np.minimum(p, q) < 0.5, p - q, q_ - p_)

    def inverse(plain, odds_x, odds_inner):
        """Solution of the plain difference between scaled variables."""

        def solve(t, x, x_):
            return _scaled(*plain.solve(t, *_scaled(x, x_, odds_x)), 1 / odds_inner)

        def cuts(t):
            ends = (np.clip(end, 0.0, 1.0) for end in plain.cuts(t))
            return tuple(_scaled(*end, 1 / odds_x) for end in ends)

        return Inverse(solve, cuts, plain.rising)

    return Operation(
        key=("odds_difference", odds_u, odds_v),
        forward=forward,
        u_given_v=inverse(_U_OF_DIFFERENCE, odds_v, odds_u),
        v_given_u=inverse(_V_OF_DIFFERENCE, odds_u, odds_v),
    )


_OPERATIONS = {
    found.key[0]: found
    for found in (
        # Informedness (recall, fpr), markedness (precision, false omission rate)
        Operation(
            key=("difference",),
            forward=lambda u, u_, v, v_: u - v,
            u_given_v=_U_OF_DIFFERENCE,
            v_given_u=_V_OF_DIFFERENCE,
            moments=_difference_moments,
            skewness=_difference_skewness,
        ),
        # Balanced accuracy, macro precision of two classes: (1 + u - v) / 2
        Operation(
            key=("mean",),
            forward=lambda u, u_, v, v_: 0.5 * (u + v_),
            u_given_v=_U_OF_MEAN,
            v_given_u=_V_OF_MEAN,
            moments=_mean_moments,
            skewness=_difference_skewness,
        ),
        # Likelihood ratios
        Operation(
            key=("ratio",),
            forward=np.errstate(divide="ignore", over="ignore")(lambda u, u_, v, v_: u / v),
            u_given_v=_U_OF_RATIO,
            v_given_u=_V_OF_RATIO,
            moments=lambda u, v: _power_moments((u, 1, 0), (v, -1, 0)),
            skewness=lambda u, v: power_skewness((u, 1, 0), (v, -1, 0)),
        ),
        # The prevalence threshold, falling in the likelihood ratio: 1 / (1 + sqrt(u / v))
        Operation(
            key=("threshold",),
            forward=lambda u, u_, v, v_: np.sqrt(v) / (np.sqrt(u) + np.sqrt(v)),
            u_given_v=_U_OF_RATIO.of(lambda t: ((1 - t) / t) ** 2, rising=False),
            v_given_u=_V_OF_RATIO.of(lambda t: ((1 - t) / t) ** 2, rising=True),
        ),
        # G-mean (recall, specificity)
        Operation(
            key=("root_product",),
            forward=lambda u, u_, v, v_: np.sqrt(u * v),
            u_given_v=_ROOT,  # the same in u and in v
            v_given_u=_ROOT,
            moments=lambda u, v: _power_moments((u, 0.5, 0), (v, 0.5, 0)),
        ),
        # The diagnostic odds ratio (recall, fpr)
        Operation(
            key=("odds_ratio",),
            forward=np.errstate(divide="ignore", over="ignore")(
                lambda u, u_, v, v_: (u / u_) * (v_ / v)
            ),
            u_given_v=Inverse(
                lambda t, v, v_: (t * v / (t * v + v_), v_ / (t * v + v_)), _everywhere, True
            ),
            v_given_u=Inverse(
                lambda t, u, u_: (u / (u + t * u_), t * u_ / (u + t * u_)), _everywhere, False
            ),
            moments=lambda u, v: _power_moments((u, 1, -1), (v, -1, 1)),
            skewness=lambda u, v: power_skewness((u, 1, -1), (v, -1, 1)),
        ),
        # v is the share of rows on which two models disagree, u who is right: v (2 u - 1)
        Operation(
            key=("discordance",),
            forward=lambda u, u_, v, v_: v * (u - u_),
            u_given_v=Inverse(
                lambda t, v, v_: (0.5 * (1 + t / v), 0.5 * (1 - t / v)),
                lambda t: ((np.abs(t), 1 - np.abs(t)), _to_one(t)),
                True,
            ),
            v_given_u=Inverse(
                lambda t, u, u_: (t / (u - u_), 1 - t / (u - u_)),
                lambda t: (
                    np.where(t < 0, _from_zero(t), (0.5 * (1 + t), 0.5 * (1 - t))),
                    np.where(t < 0, (0.5 * (1 + t), 0.5 * (1 - t)), _to_one(t)),
                ),
                lambda u: u > 0.5,
            ),
            moments=_discordance_moments,
        ),
        # sqrt(precision * recall) of the independent u = Jaccard index and v = fp / (fp + fn)
        Operation(
            key=("g_score",),
            forward=lambda u, u_, v, v_: u / np.sqrt((u + u_ * v) * (u + u_ * v_)),
            u_given_v=Inverse(_solve_g_score, _everywhere, True),
        ),
    )
} | {"f_beta": _f_beta, "odds_difference": _odds_difference}


class Pair:
    """A metric of two independent Beta variables.

    Parameters
    ----------
    operation : Operation
        The metric as a function of them.
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
        self.one_peaked = combine_to_one_peak([u, v])
        # The outer variable is the one that moves the metric less: seen from the other one, the
        # inner probability would be a step between two nodes.
        self.outer_is_v = np.ones(self.size, dtype=bool)
        if operation.v_given_u is not None:
            self.outer_is_v = self.influence.moves[1] <= self.influence.moves[0]
        # The smaller a shape, the longer a tail, and the farther apart the nodes in it.
        smallest = np.min([*u, *v], axis=0)
        self.fineness = np.sum([smallest < bound for bound in _FINER_BELOW], axis=0)

    def _on_line(self, u, u_, v, v_, rows):
        return self.link.to_line(self.operation.forward(u, u_, v, v_))

    @cached_property
    def _rule_u(self):
        return _with_nodes(BetaRule(*self.u))

    @cached_property
    def _rule_v(self):
        return _with_nodes(BetaRule(*self.v))

    def _evaluate(self, t, rows, integral):
        """Integrals over v where it is the outer variable, over u elsewhere."""
        result, kind = np.empty(t.shape), 2 * self.fineness[rows] + self.outer_is_v[rows]
        for which in np.unique(kind):
            part, nodes = np.flatnonzero(kind == which), _NODES[which // 2]
            if which % 2:
                outer, inner, inverse = self._rule_v, self.u, self.operation.u_given_v
            else:
                outer, inner, inverse = self._rule_u, self.v, self.operation.v_given_u
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                cuts = inverse.cuts(t[part])
            result[part] = integral(
                Integrand(t[part], rows[part], outer, inner, inverse, *cuts, nodes=nodes)
            )
        return result

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.influence.quantile(p, rows)

    def cdf(self, t, rows):
        """P(M <= t) for values `t` strictly inside the range."""
        return self._evaluate(t, rows, Integrand.cdf)

    def density(self, t, rows):
        """Density at values `t` strictly inside the range."""
        return self._evaluate(t, rows, Integrand.density)

    def moments(self):
        """Mean and variance of every row."""
        if self.operation.moments is not None:
            return self.operation.moments(self.u, self.v)
        return moments_by_rule(
            lambda u, u_, v, v_, _: self.operation.forward(u, u_, v, v_),
            [self.u, self.v],
            [128, 128],
        )

    def skewness(self):
        """Skewness of every row."""
        if self.operation.skewness is not None:
            return self.operation.skewness(self.u, self.v)
        return skewness_by_rule(
            lambda u, u_, v, v_, _: self.operation.forward(u, u_, v, v_),
            [self.u, self.v],
            [128, 128],
        )

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        u, v = (rng.beta(*shapes, size=(size, self.size)) for shapes in (self.u, self.v))
        return self.operation.forward(u, 1 - u, v, 1 - v)


def _with_nodes(rule):
    """Rule that has its nodes at hand, unless they are too many."""
    return rule.keep_nodes() if rule.a.size * N_NODES <= 2**21 else rule
