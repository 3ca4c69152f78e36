"""Posterior of the difference of two independent posteriors."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import betainc, expit, ndtri

from skuncertain._numerics.beta_pairs import Pair, operation
from skuncertain._numerics.beta_rates import Rates
from skuncertain._numerics.cdf_curves import CdfCurve, difference_integral
from skuncertain._numerics.quadrature import Link
from skuncertain._utils.validation import check_draws, resolve_seed
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior, default_draws
from skuncertain.posteriors._integral import IntegralPosterior
from skuncertain.posteriors._question import check_same_question, shared_question
from skuncertain.posteriors._student_normal import (
    LogitNormalPosterior,
    LogitStudentPosterior,
    NormalPosterior,
    StudentPosterior,
)

_FINE, _ROUGH = 1e-11, 1e-8  # error of curves; the latter where a cdf is a double integral
_SMOOTH = (
    BetaPosterior, IntegralPosterior, StudentPosterior, NormalPosterior, LogitNormalPosterior,
    LogitStudentPosterior,
)  # fmt: skip
_LEAN_NODES = 129


def discordance_posterior(only_a, only_b, rest, shape=(), about=About()):
    """Posterior of P(only b right) - P(only a right), from pseudo-counts of the three outcomes."""
    flat = [np.ravel(np.asarray(part, dtype=float)) for part in (only_a, only_b, rest)]
    only_a, only_b, rest = np.broadcast_arrays(*flat)
    shapes = (only_b, only_a), (only_a + only_b, rest)
    pair = Pair(operation("discordance"), *shapes, Link(-1.0, 1.0))
    return IntegralPosterior(pair, shape, replace(about, range=(-1.0, 1.0), closing=False))


def difference_of(a, b, n_draws=None, random_state=None):
    """Posterior of b - a: exact for Betas, normals, and any two exact single posteriors.

    Both must answer the same question.
    """
    check_same_question([a, b], "b", "a and b must be posteriors of")
    low, high = a.range
    name = a.metric and f"difference in {a.metric}"
    question, _ = shared_question([a.about, b.about])
    about = replace(question, metric=name, range=(low - high, high - low), closing=False)
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
    elif isinstance(a, NormalPosterior) and isinstance(b, NormalPosterior):
        return NormalPosterior(b.loc - a.loc, np.hypot(a.scale, b.scale), about=about)
    if _is_smooth(a) and _is_smooth(b):
        unbounded = any(isinstance(x, StudentPosterior | NormalPosterior) for x in (a, b))
        widest = np.inf if unbounded else high - low
        family = partial(_ByCurves, a, b, Link(-widest, widest))
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
    return isinstance(x, _SMOOTH) and not x.shape and x.std() != 0


def _curve(x):
    """Polynomials through the cdf of a posterior: its values may cost milliseconds each."""
    if isinstance(x, StudentPosterior | NormalPosterior):
        singular, centre, unit = (-np.inf, float(x.loc), np.inf), float(x.loc), float(x.scale)
    else:
        low, high = x.range
        singular = (low, 0.5 * (low + high) if np.isfinite(high) else low + 1.0, high)
        centre, unit = x.mean(), x.std()
        if not np.isfinite([centre, unit]).all():
            centre, unit = x.quantile(0.5), 0.5 * float(np.diff(x.quantile([0.25, 0.75]))[0])
    double = isinstance(getattr(x, "_family", None), Rates)
    return CdfCurve(x.cdf, singular, centre, unit, _ROUGH if double else _FINE)


class _ByCurves:
    """b - a of two exact posteriors: an integral over the cdfs of both."""

    size = 1

    def __init__(self, a, b, link):
        self.link, self.parts = link, (a, b)
        self.curves = _curve(a), _curve(b)
        # To start from: as if both were normal
        (low_a, mid_a, high_a), (low_b, mid_b, high_b) = (
            [curve.quantile(p) for p in (0.25, 0.5, 0.75)] for curve in self.curves
        )
        ends = mid_b - mid_a + np.array([-0.5, 0.5]) * np.hypot(high_a - low_a, high_b - low_b)
        line = link.to_line(link.clip(ends))
        self.centre, self.scale = line.mean(), np.diff(line) / 1.35

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.centre + ndtri(p) * self.scale[rows]

    def cdf(self, t, rows):
        """P(b - a <= t)."""
        return np.clip([difference_integral(*self.curves, value) for value in t], 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        values = [difference_integral(*self.curves, value, density=True) for value in t]
        return np.maximum(values, 0.0)

    def moments(self):
        """Mean and variance."""
        (mean_a, std_a), (mean_b, std_b) = ((part.mean(), part.std()) for part in self.parts)
        with np.errstate(invalid="ignore"):
            return np.array([np.subtract(mean_b, mean_a)]), np.array([std_a**2 + std_b**2])

    def skewness(self):
        """Skewness: third cumulants are subtracted."""
        third = [part.skewness() * part.std() ** 3 for part in self.parts]
        return (third[1] - third[0]) / self.moments()[1] ** 1.5

    def sample(self, rng, size):
        """Draws of shape (size, 1)."""
        a, b = (part.sample(size, rng) for part in self.parts)
        return (b - a)[:, None]
