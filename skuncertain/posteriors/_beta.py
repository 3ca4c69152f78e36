"""Beta and beta-binomial posteriors, for proportions and for metrics made of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.beta import (
    beta_cdf,
    beta_hdi,
    beta_logpdf,
    beta_mode,
    beta_quantile,
    odds_slope,
    scale_odds,
)
from skuncertain._numerics.beta_odds import BetaOdds
from skuncertain._numerics.quadrature import beta_moments, beta_skewness
from skuncertain._utils.validation import as_numbers, check_number, refuse_if
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, fits
from skuncertain.posteriors._integral import IntegralPosterior

LARGEST_SHAPE = 1e100  # sums and squares of shapes must be floats
HALF = 0.5  # Jeffreys' prior on each side of a proportion


class BetaPosterior(Posterior):
    """Beta posterior of a proportion, or of a metric whose odds are a multiple of its odds.

    Parameters
    ----------
    a, b : float or array-like
        Shapes. A shape of 0 is a point mass; both 0 is undefined (NaN).
    odds : float, default=1.0
        The metric M has ``odds(M) = odds * odds(X)`` with X ~ Beta(a, b). F1 is the case 2 with X
        the Jaccard index.
    about : About, default=About()
        Metric name, prior, observed value and the like.

    See Also
    --------
    proportion_posterior : From successes and failures.
    ConfusionCounts.posterior : From a confusion matrix.

    Examples
    --------
    >>> from skuncertain.posteriors import BetaPosterior
    >>> posterior = BetaPosterior(27, 3)
    >>> posterior.mean()
    0.9
    >>> posterior.interval()
    Interval(low=0.772..., high=0.978...)
    """

    def __init__(
        self, a: ArrayLike, b: ArrayLike, *, odds: float = 1.0, about: About = About()
    ) -> None:
        shapes = {
            name: as_numbers(name, given, what=f"shape {name}")
            for name, given in (("a", a), ("b", b))
        }
        for name, shape in shapes.items():
            refuse_if(
                not np.all((shape >= 0) & (shape <= LARGEST_SHAPE)),
                name,
                f"shape {name} must be finite and >= 0 (at most {LARGEST_SHAPE:g}), got {{value}}.",
                shape,
            )
        sizes = [shape.shape for shape in shapes.values()]
        text = f"shapes a and b must fit each other, got arrays of {sizes[0]} and {sizes[1]}."
        refuse_if(not fits(*sizes), "a", text)
        self.a, self.b = np.broadcast_arrays(*shapes.values())
        self.odds = check_number("odds", odds, low=0, high=np.inf, closed=False)
        super().__init__(self.a.shape, about)

    def _describe(self):
        parts = [] if self.shape else [f"a={self.a:g}", f"b={self.b:g}"]
        return parts if self.odds == 1 else [*parts, f"odds={self.odds:g}"]

    def _closes(self):
        return self.a <= 1, self.b <= 1  # the density does not vanish at that end

    def _to_x(self, m):
        return scale_odds(m, 1 / self.odds) if self.odds != 1 else m

    def _to_metric(self, x):
        return scale_odds(x, self.odds) if self.odds != 1 else x

    def _moments(self):
        moments = beta_moments(self.a.ravel(), self.b.ravel(), self.odds)
        return tuple(moment.reshape(self.shape) for moment in moments)

    def _skewness(self):
        return beta_skewness(self.a.ravel(), self.b.ravel(), self.odds).reshape(self.shape)

    def _mode(self):
        return beta_mode(self.a, self.b, self.odds)

    def _pdf(self, x):
        inside = (x >= 0) & (x <= 1)
        z = self._to_x(np.where(inside, x, 0.5))
        with np.errstate(over="ignore", divide="ignore"):
            value = np.exp(beta_logpdf(z, self.a, self.b)) / odds_slope(z, self.odds)
        return np.where(inside, value, 0.0)

    def _cdf(self, x):
        value = beta_cdf(self._to_x(np.clip(x, 0.0, 1.0)), self.a, self.b)
        value = np.where(x < 0, 0.0, np.where(x >= 1, 1.0, value))
        return np.where(np.isnan(x) | ((self.a == 0) & (self.b == 0)), np.nan, value)

    def _quantile(self, q):
        tail = (1,) * q.ndim
        a, b = self.a.reshape(self.shape + tail), self.b.reshape(self.shape + tail)
        return self._to_metric(beta_quantile(q, a, b))

    def _sample(self, size, rng):
        a, b = self.a[..., None], self.b[..., None]
        safe = rng.beta(np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0), size=(*self.shape, size))
        point = np.where((a == 0) & (b == 0), np.nan, (b == 0) * 1.0)
        return self._to_metric(np.where((a > 0) & (b > 0), safe, point))

    def _hdi(self, level):
        low, high = beta_hdi(self.a, self.b, level, self.odds)
        return self._to_metric(low), self._to_metric(high)

    def _ends(self, level, kind):
        low, high = super()._ends(level, kind)
        if self._about.successes_failures is None:
            return low, high
        tail = _tail_of_luck(level, kind, self.a + self.b - 2 * HALF)
        far = self._to_metric(np.exp(-tail)), self._to_metric(-np.expm1(-tail))
        return calibrate_ends(self, (low, high), kind, *far)

    def _members(self, index):
        """The posteriors of a stack that an index selects."""

        def select(values):
            return np.broadcast_to(values, self.shape)[index]

        rows = self._about.successes_failures
        about = replace(
            self._about,
            observed=select(self.observed),
            successes_failures=None if rows is None else tuple(map(select, rows)),
        )
        return BetaPosterior(select(self.a), select(self.b), odds=self.odds, about=about)


def _tail_of_luck(level, kind, n):
    """Minus the logarithm of the rate at which n successes in a row have a tail's probability.

    It is the tail on one side, or both of them for a highest-density interval, which is one-sided.
    """
    tail = (1 - level) / 2 if kind == "eti" else 1 - level
    with np.errstate(divide="ignore"):
        return -np.log(tail) / n


def calibrate_ends(posterior, ends, kind, lucky, unlucky):
    """Ends of an interval where few rows are on one side of the proportion.

    The posterior alone is too sure there. Without a failure the lower end is `lucky`, that of
    Clopper and Pearson; without a success the upper end is `unlucky`. An equal-tailed interval
    with one row on a side reaches the end of the range there.
    """
    (low, high), (least, most) = ends, posterior.range
    hits, misses = posterior.about.successes_failures
    if kind == "eti":
        low, high = np.where(hits <= 1, least, low), np.where(misses <= 1, most, high)
    low = np.where(hits == 0, least, np.where(misses == 0, lucky, low))
    high = np.where(misses == 0, most, np.where(hits == 0, unlucky, high))
    return low, high


class OddsPosterior(IntegralPosterior):
    """Posterior of the odds of a proportion that has a Beta posterior.

    Parameters
    ----------
    rate : BetaPosterior
        Posterior of the proportion, with positive shapes, about the odds.
    """

    def __init__(self, rate):
        super().__init__(BetaOdds(rate.a.ravel(), rate.b.ravel()), rate.shape, rate.about)
        self._n = rate.a + rate.b - 2 * HALF

    def _ends(self, level, kind):
        ends = super()._ends(level, kind)
        if self._about.successes_failures is None:
            return ends
        with np.errstate(divide="ignore", over="ignore"):
            unlucky = np.expm1(_tail_of_luck(level, kind, self._n))
            return calibrate_ends(self, ends, kind, 1 / unlucky, unlucky)


class GroupedProportionPosterior(IntegralPosterior):
    """Posterior of a proportion whose rows come in groups; intervals have calibrated ends.

    Parameters
    ----------
    family : object
        See `IntegralPosterior`.
    n : float
        Rows that the groups are worth where all rows are on one side.
    odds : float
        The odds of the metric are so many times those of the proportion.
    about : About
        What the posterior is about, with the rows on both sides.
    """

    def __init__(self, family, n, odds, about):
        super().__init__(family, (), about)
        self._n, self._odds = n, odds

    def _ends(self, level, kind):
        tail = _tail_of_luck(level, kind, self._n)
        far = (scale_odds(end, self._odds) for end in (np.exp(-tail), -np.expm1(-tail)))
        return calibrate_ends(self, super()._ends(level, kind), kind, *far)


def stack_betas(posteriors, question):
    """Single posteriors with the same odds as one stack about the question that they share."""
    nothing = np.nan, np.nan  # neither 0 nor 1: the ends are those of the posterior
    columns = [(p.a, p.b, p.observed, *(p.about.successes_failures or nothing)) for p in posteriors]
    a, b, observed, hits, misses = np.array(columns, dtype=float).T
    about = replace(
        question,
        observed=observed,
        prior=posteriors[0].prior,
        successes_failures=(hits, misses),
    )
    return BetaPosterior(a, b, odds=posteriors[0].odds, about=about)


def calibrated_beta(hits, misses, odds=1.0, about=About(), rows=None):
    """Posterior of a proportion under the default prior: its intervals have calibrated ends.

    `rows` are the numbers of rows behind `hits` and `misses`, if these are not whole numbers.
    """
    rows = tuple(np.asarray(side) for side in ((hits, misses) if rows is None else rows))
    return BetaPosterior(
        hits + HALF, misses + HALF, odds=odds, about=replace(about, successes_failures=rows)
    )


class BetaBinomialPosterior(Posterior):
    """Distribution of a share k / n of a new sample of n rows, k beta-binomial.

    Parameters
    ----------
    a, b : float or array-like
        Shapes of the posterior of the true share.
    n : int
        Number of new rows.
    about : About, default=About()
        Metric name, prior, observed value and the like.
    """

    def __init__(self, a, b, n, about=About()):
        self.a, self.b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
        self.n = n
        super().__init__(self.a.shape, about)
        k = np.arange(n + 1)
        p, q = self.a[..., None], self.b[..., None]
        safe_p, safe_q = np.where(p > 0, p, 1.0), np.where(q > 0, q, 1.0)
        # From one share to the next: differences of betaln have no digits left at counts of 1e15.
        steps = np.log((n - k[:-1]) / k[1:] * (k[:-1] + safe_p) / (n - k[1:] + safe_q))
        logs = np.zeros((*self.a.shape, n + 1), dtype=np.longdouble)
        np.cumsum(steps, axis=-1, dtype=np.longdouble, out=logs[..., 1:])
        mass = np.exp((logs - logs.max(axis=-1, keepdims=True)).astype(float))
        mass /= mass.sum(axis=-1, keepdims=True)
        mass = np.where((p == 0) & (q > 0), k == 0, mass)
        mass = np.where((q == 0) & (p > 0), k == n, mass)
        self._mass = np.where((p == 0) & (q == 0), np.nan, mass)
        self._cumulated = np.cumsum(self._mass, axis=-1)

    def _describe(self):
        return [f"n={self.n}"]

    def _mean(self):
        return self.a / (self.a + self.b)

    def _std(self):
        total = self.a + self.b
        mean = self.a / total
        return np.sqrt(mean * (1 - mean) * (total + self.n) / (self.n * (total + 1)))

    def _skewness(self):
        a, b, n = self.a, self.b, self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (b - a) / (a + b + 2) * np.sqrt((a + b + 1) / a / b)
            found = found * (a + b + 2 * n) / np.sqrt(n * (n + a + b))
        return np.where((a == 0) | (b == 0), np.nan, found)

    def _mode(self):
        """Likeliest share, the lower one of two neighbours; NaN where others are as likely."""
        top = self._mass >= self._mass.max(axis=-1, keepdims=True) * (1 - 1e-12)
        first = np.argmax(top, axis=-1)
        last = self.n - np.argmax(top[..., ::-1], axis=-1)
        return np.where(top.any(axis=-1) & (last - first <= 1), first / self.n, np.nan)

    def _pdf(self, x):
        k = x * self.n
        nearest = np.clip(np.rint(k), 0, self.n)
        mass = self._look_up(self._mass, nearest.astype(int))
        return np.where(np.abs(k - nearest) < 1e-9 * self.n, mass, 0.0)

    def _look_up(self, table, k):
        k = np.broadcast_to(k, np.broadcast_shapes(k.shape, self.shape))
        table = np.broadcast_to(table, (*k.shape, self.n + 1))
        return np.take_along_axis(table, k[..., None], axis=-1)[..., 0]

    def _cdf(self, x):
        k = np.floor(np.clip(x, -1.0, 2.0) * self.n + 1e-9).astype(int)
        value = self._look_up(self._cumulated, np.clip(k, 0, self.n))
        return np.where(k < 0, 0.0, np.where(k >= self.n, 1.0, value))

    def _quantile(self, q):
        k = np.argmax(self._cumulated[..., None] >= q.ravel() - 1e-12, axis=-2)
        return (k / self.n).reshape(self.shape + q.shape)

    def _sample(self, size, rng):
        rate = rng.beta(self.a[..., None], self.b[..., None], size=(*self.shape, size))
        return rng.binomial(self.n, rate) / self.n

    def _hdi(self, level):
        """Shortest run of shares with at least `level` of the mass."""
        ends = []
        for cumulated in self._cumulated.reshape(-1, self.n + 1):
            before = np.concatenate([[0.0], cumulated[:-1]])
            last = np.searchsorted(cumulated, before + level - 1e-12)
            width = np.where(last <= self.n, last - np.arange(self.n + 1), self.n + 1)
            best = np.argmin(width)
            ends.append((best / self.n, last[best] / self.n))
        return np.moveaxis(np.reshape(ends, (*self.shape, 2)), -1, 0)
