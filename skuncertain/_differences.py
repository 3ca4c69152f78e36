"""Posterior of the difference of two independent posteriors."""

from functools import partial

import numpy as np
from scipy.special import betainc, expit

from skuncertain._distributions import BetaPosterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._pairs import OPERATIONS, Link, OddsDifference, Pair
from skuncertain._posterior import check_draws, default_draws
from skuncertain._quadrature_posterior import QuadraturePosterior
from skuncertain._validation import resolve_seed

_NODES = 96  # of the Gauss rule over the probabilities of one of the two
_LEAN_NODES = 129


def difference_of(a, b, n_draws=None, random_state=None):
    """Posterior of b - a: exact for Betas and F1, and for any two exact single posteriors."""
    low, high = a.range
    info = {
        "metric": a.metric and f"difference in {a.metric}",
        "range": (low - high, high - low),
        "closing": False,
    }
    shape = np.broadcast_shapes(a.shape, b.shape)
    if isinstance(a, BetaPosterior) and isinstance(b, BetaPosterior):
        shapes = [np.broadcast_to(part, shape).ravel() for part in (b.a, b.b, a.a, a.b)]
        if all(np.all(part > 0) for part in shapes):
            odds = (b.odds, a.odds)
            operation = OPERATIONS["difference"] if odds == (1, 1) else OddsDifference(*odds)
            # Built when it is asked: P(better) alone needs much less, see probability_below.
            pair = partial(Pair, operation, tuple(shapes[:2]), tuple(shapes[2:]), Link(-1.0, 1.0))
            return QuadraturePosterior(pair, shape, **info)
    elif a.exact and b.exact and shape == () and np.isfinite([low, high]).all():
        family = _ByQuantiles(a, b, Link(low - high, high - low))
        return QuadraturePosterior(family, (), **info)
    size = int(np.prod(shape))
    seed = resolve_seed(random_state)
    n_draws = default_draws(4, size) if n_draws is None else check_draws(n_draws, size)
    first, second = (
        x.sample(n_draws, np.random.default_rng(child))
        for x, child in zip((a, b), np.random.SeedSequence(seed).spawn(2), strict=True)
    )
    return DrawsPosterior(second - first, seed=seed, **info)


def probability_below(u, v):
    """P(U <= V) of independent Beta variables with shapes ``u = (a, b)`` and ``v``, arrays (rows,).

    One trapezoid rule in tau with logit x = centre + scale sinh(tau) over the narrower variable,
    and nothing else: a single question is answered in a tenth of a millisecond. Shapes must be at
    least 1/2; below, the nodes next to 1 would be rounded onto it.
    """
    (a, b), (c, d) = u, v
    flip = 1 / a + 1 / b <= 1 / c + 1 / d  # then U is the narrower one: P(V > U)
    p, q = np.where(flip, a, c)[:, None], np.where(flip, b, d)[:, None]
    r, s = np.where(flip, c, a)[:, None], np.where(flip, d, b)[:, None]
    scale = np.sqrt(1 / (p + 0.5) + 1 / (q + 0.5))
    # The logit's density falls by a factor e**42 within a Gaussian and an exponential reach.
    low = np.arcsinh(-9.2 - 42 / (p * scale))
    high = np.arcsinh(9.2 + 42 / (q * scale))
    step = (high - low) / (_LEAN_NODES - 1)
    tau = low + step * np.arange(_LEAN_NODES)
    logit = np.log((p + 0.5) / (q + 0.5)) + scale * np.sinh(tau)
    x = expit(logit)
    peak = p * np.log1p(q / p) + q * np.log1p(p / q)
    density = np.exp(peak - p * np.logaddexp(0, -logit) - q * np.logaddexp(0, logit))
    weight = density * np.cosh(tau)
    inner = betainc(r, s, x)
    below = (weight * inner).sum(axis=1) / weight.sum(axis=1)  # P(the wider one is below)
    return np.where(flip, 1 - below, below)


class _ByQuantiles:
    """b - a of two exact posteriors: an integral over the quantiles of the wider one."""

    size = 1

    def __init__(self, a, b, link):
        self.link = link
        self.a_inside = a.std() <= b.std()
        self.inner, outer = (a, b) if self.a_inside else (b, a)
        node, weight = np.polynomial.legendre.leggauss(_NODES)
        self.nodes = np.asarray(outer.quantile(0.5 * (node + 1)))
        self.weight = 0.5 * weight
        self.mean, self.variance = b.mean() - a.mean(), a.std() ** 2 + b.std() ** 2
        self.parts = a, b
        width = link.high - link.low
        share = np.clip((self.mean - link.low) / width, 1e-9, 1 - 1e-9)
        self.start = np.array([np.log(share / (1 - share))])
        self.scale = np.array([np.sqrt(self.variance) / width / (share * (1 - share))])

    def cdf(self, t, rows):
        """P(b - a <= t)."""
        if self.a_inside:  # a >= b - t
            value = 1 - self.inner.cdf(self.nodes - t[:, None])
        else:  # b <= a + t
            value = self.inner.cdf(self.nodes + t[:, None])
        return np.clip(value @ self.weight, 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        x = self.nodes - t[:, None] if self.a_inside else self.nodes + t[:, None]
        return np.asarray(self.inner.pdf(x)) @ self.weight

    def moments(self):
        """Mean and variance."""
        return np.array([self.mean]), np.array([self.variance])

    def sample(self, rng, size):
        """Draws of shape (size, 1)."""
        a, b = (part.sample(size, rng) for part in self.parts)
        return (b - a)[:, None]
