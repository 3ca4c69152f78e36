"""Posterior of the difference of two independent posteriors."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.special import betainc, expit, ndtr, ndtri

from skuncertain._numerics.beta_pairs import Pair, operation
from skuncertain._numerics.beta_rates import Rates
from skuncertain._numerics.quadrature import Link
from skuncertain._utils.validation import check_draws, resolve_seed
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior, default_draws
from skuncertain.posteriors._integral import IntegralPosterior

_NODES = 121  # of the rule over the quantiles of one of the two
_GRID, _COARSE = 257, 129  # points of the splines; fewer where a cdf is a double integral
_LEAN_NODES = 129


def discordance_posterior(only_a, only_b, rest, shape=(), about=About()):
    """Posterior of P(only b right) - P(only a right), from pseudo-counts of the three outcomes."""
    flat = [np.ravel(np.asarray(part, dtype=float)) for part in (only_a, only_b, rest)]
    only_a, only_b, rest = np.broadcast_arrays(*flat)
    shapes = (only_b, only_a), (only_a + only_b, rest)
    pair = Pair(operation("discordance"), *shapes, Link(-1.0, 1.0))
    return IntegralPosterior(pair, shape, replace(about, range=(-1.0, 1.0), closing=False))


def difference_of(a, b, n_draws=None, random_state=None):
    """Posterior of b - a: exact for Betas and F1, and for any two exact single posteriors."""
    low, high = a.range
    name = a.metric and f"difference in {a.metric}"
    about = About(metric=name, range=(low - high, high - low), closing=False)
    shape = np.broadcast_shapes(a.shape, b.shape)
    if isinstance(a, BetaPosterior) and isinstance(b, BetaPosterior):
        shapes = [np.broadcast_to(part, shape).ravel() for part in (b.a, b.b, a.a, a.b)]
        if all(np.all(part > 0) for part in shapes):
            plain = a.odds == b.odds == 1
            names = ("difference",) if plain else ("odds_difference", b.odds, a.odds)
            # Built when it is asked: P(better) alone needs much less, see probability_below.
            pair = partial(
                Pair, operation(*names), tuple(shapes[:2]), tuple(shapes[2:]), Link(-1.0, 1.0)
            )
            return IntegralPosterior(pair, shape, about)
    elif _is_smooth(a) and _is_smooth(b) and np.isfinite([low, high]).all():
        family = partial(_ByQuantiles, a, b, Link(low - high, high - low))
        return IntegralPosterior(family, (), about)
    size = int(np.prod(shape))
    seed = resolve_seed(random_state)
    n_draws = default_draws(4, size) if n_draws is None else check_draws(n_draws, size)
    first, second = (
        x.sample(n_draws, np.random.default_rng(child))
        for x, child in zip((a, b), np.random.SeedSequence(seed).spawn(2), strict=True)
    )
    return DrawsPosterior(second - first, seed=seed, about=about)


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
    peak = p * np.log1p(q / p) + q * np.log1p(p / q)
    density = np.exp(peak - p * np.logaddexp(0, -logit) - q * np.logaddexp(0, logit))
    weight = density * np.cosh(tau)
    # P(the wider one is below)
    below = (weight * betainc(r, s, expit(logit))).sum(axis=1) / weight.sum(axis=1)
    return np.where(flip, 1 - below, below)


def _is_smooth(x):
    """Whether a posterior is a single exact one with a density."""
    return isinstance(x, BetaPosterior | IntegralPosterior) and not x.shape and 0 < x.std() < np.inf


def _rising(values):
    """Where values are above all before them."""
    return np.concatenate([[True], np.diff(np.maximum.accumulate(values)) > 0])


class _Smooth:
    """Splines through the cdf of a posterior: its values cost milliseconds, theirs nothing."""

    def __init__(self, posterior):
        self.link = Link(*posterior.range)
        ends = np.asarray(posterior.quantile([1e-12, 1 - 1e-12]))
        self.ends = self.link.to_line(self.link.clip(ends))
        double = isinstance(getattr(posterior, "_family", None), Rates)
        grid = np.linspace(*self.ends, _COARSE if double else _GRID)
        z = ndtri(np.clip(posterior.cdf(self.link.to_range(grid)), 1e-15, 1 - 1e-15))
        rising = _rising(z)
        if rising.sum() < grid.size // 4:  # nearly all of it is in a small part of the range
            z = np.linspace(-7.0, 7.0, grid.size)
            grid = self.link.to_line(self.link.clip(posterior.quantile(ndtr(z))))
            apart = _rising(grid)
            z, grid, rising = z[apart], grid[apart], apart[apart]
            self.ends = grid[[0, -1]]
        self.forward = make_interp_spline(grid, z, k=5)
        self.slope = self.forward.derivative()
        self.backward = make_interp_spline(z[rising], grid[rising], k=5)
        self.z_ends = z[rising][[0, -1]]

    def _on_line(self, x):
        """Value on the line of the link, and whether it is inside the range."""
        inside = self.link.inside(x)
        middle = 0.5 * (self.link.low + self.link.high)
        return self.link.to_line(np.where(inside, x, middle)), inside

    def cdf(self, x):
        """P(X <= x)."""
        e, inside = self._on_line(x)
        value = ndtr(self.forward(np.clip(e, *self.ends)))
        value = np.where(e < self.ends[0], 0.0, np.where(e > self.ends[1], 1.0, value))
        return np.where(inside, value, x >= self.link.high)

    def pdf(self, x):
        """Density."""
        e, inside = self._on_line(x)
        inside &= (e > self.ends[0]) & (e < self.ends[1])
        at = np.where(inside, x, 0.5 * (self.link.low + self.link.high))
        stretch = (self.link.high - self.link.low) / ((at - self.link.low) * (self.link.high - at))
        e = np.clip(e, *self.ends)
        z = self.forward(e)
        value = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * self.slope(e) * stretch
        return np.where(inside, np.maximum(value, 0.0), 0.0)

    def at_normal(self, z):
        """Quantile at the probability that a standard normal variable has at `z`."""
        return self.link.to_range(self.backward(np.clip(z, *self.z_ends)))


class _ByQuantiles:
    """b - a of two exact posteriors: an integral over the quantiles of the narrower one."""

    size = 1

    def __init__(self, a, b, link):
        self.link = link
        self.a_inside = a.std() >= b.std()  # the wider cdf has no step that nodes could miss
        self.inner, outer = map(_Smooth, (a, b) if self.a_inside else (b, a))
        # A trapezoid rule for a normal variable, of which the outer posterior is a smooth function.
        z = np.linspace(-7.5, 7.5, _NODES)
        self.nodes, self.weight = outer.at_normal(z), np.exp(-0.5 * z * z)
        self.weight /= self.weight.sum()
        self.mean, self.variance = b.mean() - a.mean(), a.std() ** 2 + b.std() ** 2
        self.parts, width = (a, b), link.high - link.low
        share = np.clip((self.mean - link.low) / width, 1e-9, 1 - 1e-9)
        self.centre = np.log(share / (1 - share))
        self.scale = np.array([np.sqrt(self.variance) / width / (share * (1 - share))])

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.centre + ndtri(p) * self.scale[rows]

    def _inner_value(self, t):
        """A = b - t at the nodes of b, or b = a + t at those of a."""
        return self.nodes - t[:, None] if self.a_inside else self.nodes + t[:, None]

    def cdf(self, t, rows):
        """P(b - a <= t)."""
        value = self.inner.cdf(self._inner_value(t))
        return np.clip((1 - value if self.a_inside else value) @ self.weight, 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        return np.asarray(self.inner.pdf(self._inner_value(t))) @ self.weight

    def moments(self):
        """Mean and variance."""
        return np.array([self.mean]), np.array([self.variance])

    def skewness(self):
        """Skewness: third cumulants are subtracted."""
        third = [part.skewness() * part.std() ** 3 for part in self.parts]
        return np.array([(third[1] - third[0]) / self.variance**1.5])

    def sample(self, rng, size):
        """Draws of shape (size, 1)."""
        a, b = (part.sample(size, rng) for part in self.parts)
        return (b - a)[:, None]
